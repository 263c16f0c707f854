//! A graph file opened: the graph, its edge values, and how its edges stand in the file.

use crate::number::{NotOfType, Words};
use crate::{Array, ArrayError, Conversion, ConvertError, Csr, Elements, Indices, WouldNotFit};
use std::borrow::Cow;
use tiga_abi::DType;

/// What a graph file holds. Edge fields follow the order of the graph's edges, not of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphFile {
    /// The graph.
    pub csr: Csr,
    /// One value an edge, if the file has them.
    pub(crate) values: Option<EdgeValues>,
    /// `[num_edges]`: which line or entry of the file each edge stands in; the two edges of a symmetric entry share it.
    pub input_order: Indices,
    /// The number of lines or entries that hold edges.
    pub inputs: usize,
    /// One name a node, if the file has them.
    pub names: Option<crate::Names>,
    /// What the file calls its first node: 0, or 1 in Matrix Market files.
    pub first_id: u64,
    /// Whether it is an edge list or an edge_index without `:nodes`: there are as many nodes, at both ends, as the
    /// largest number needs.
    pub sized_by_ids: bool,
}

/// Edge values as the file has them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum EdgeValues {
    /// Text: its type is that of whoever asks.
    Text(TextValues),
    /// An array in the order of the graph's edges.
    Array(Array),
}

/// One number a line of the file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextValues {
    pub(crate) words: Words,
    /// Whether edges into a row from a later column have the negated value.
    pub(crate) negate_above_diagonal: bool,
}

/// Why there are no edge values of the type asked for.
#[derive(Debug, thiserror::Error)]
pub enum ValuesError {
    /// The file has none.
    #[error("the file has no edge values")]
    None,
    /// A value is not a number of this type.
    #[error(transparent)]
    NotOfType(#[from] NotOfType),
    /// The values are an array of another type.
    #[error(transparent)]
    Convert(#[from] ConvertError),
    /// The value opposite a skew-symmetric entry is none of this type.
    #[error("the negated value at row {}, column {} is not a number of type {dtype}", .row + 1, .column + 1)]
    NotNegatable {
        /// Row, from 0.
        row: i64,
        /// Column, from 0.
        column: i64,
        /// The type asked for.
        dtype: DType,
    },
    /// There is no memory for them.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
}

impl GraphFile {
    /// What the file calls node `node` of an end with `count` nodes: its name or its number.
    pub fn node_id(&self, node: usize, count: usize) -> Cow<'_, str> {
        match self.names.as_ref().filter(|names| names.len() == count).and_then(|names| names.get(node)) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned((self.first_id + node as u64).to_string()),
        }
    }

    /// Whether the file has edge values.
    pub fn has_values(&self) -> bool {
        self.values.is_some()
    }

    /// `[num_edges, …]`: the edge values in the order of the graph's edges. Text is read in `dtype`
    /// directly, rounded once; an array is converted if every value has an equal one.
    ///
    /// # Errors
    /// [`ValuesError`].
    pub fn values(&self, dtype: DType) -> Result<Array, ValuesError> {
        match self.values.as_ref().ok_or(ValuesError::None)? {
            EdgeValues::Array(array) => Ok(array.converted(dtype, Conversion::Exact)?),
            EdgeValues::Text(text) => {
                let in_file = Array::vector(text.words.parse(dtype)?);
                let by_edge = match in_file.gather_rows(&self.input_order, self.inputs, "values in the file") {
                    Ok(by_edge) => by_edge,
                    Err(ArrayError::WouldNotFit(error)) => return Err(error.into()),
                    Err(error) => unreachable!("a reader keeps one word a line: {error}"),
                };
                if text.negate_above_diagonal { self.negate_above_diagonal(by_edge, dtype) } else { Ok(by_edge) }
            }
        }
    }

    /// The values of a skew-symmetric file, whose lines stand for the edges below the diagonal.
    fn negate_above_diagonal(&self, by_edge: Array, dtype: DType) -> Result<Array, ValuesError> {
        let (shape, mut elements) = by_edge.into_parts();
        for (edge, row) in self.csr.destinations()?.iter().enumerate() {
            if row >= self.csr.col().get(edge) {
                continue;
            }
            let negated = match &mut elements {
                Elements::Bool(v) | Elements::U8(v) => v[edge] == 0,
                Elements::I32(v) => v[edge].checked_neg().map(|n| v[edge] = n).is_some(),
                Elements::I64(v) => v[edge].checked_neg().map(|n| v[edge] = n).is_some(),
                Elements::F16(v) => {
                    v[edge] = -v[edge];
                    true
                }
                Elements::BF16(v) => {
                    v[edge] = -v[edge];
                    true
                }
                Elements::F32(v) => {
                    v[edge] = -v[edge];
                    true
                }
                Elements::F64(v) => {
                    v[edge] = -v[edge];
                    true
                }
            };
            if !negated {
                return Err(ValuesError::NotNegatable { row, column: self.csr.col().get(edge), dtype });
            }
        }
        Ok(Array::new(shape, elements).expect("the number of elements did not change"))
    }

    /// Whether edge `i` stands in line `i` of the file.
    pub fn in_input_order(&self) -> bool {
        self.inputs == self.csr.num_edges() && self.input_order.iter().eq(0..self.inputs as i64)
    }

    /// Rows given one a line of the file, in the order of the graph's edges.
    ///
    /// # Errors
    /// [`ArrayError::Leading`] unless there is one row a line.
    pub fn from_input_order(&self, rows: &Array) -> Result<Array, ArrayError> {
        rows.gather_rows(&self.input_order, self.inputs, "lines with edges in the graph file")
    }
}
