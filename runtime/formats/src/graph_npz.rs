//! Graphs in `.npz` archives: edge ends, CSR arrays, or what SciPy's `save_npz` writes.

use crate::graph::{EdgeValues, GraphFile};
use crate::limits::{TooSparse, WouldNotFit, check_nodes};
use crate::npz::{Npz, NpzError};
use crate::{Array, ArrayError, ArrayType, Csr, CsrError, Elements, Indices, Names, Scalar, room};

/// Why an archive is not a graph.
#[derive(Debug, thiserror::Error)]
pub enum GraphNpzError {
    /// The archive or a member cannot be read.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// No known set of members.
    #[error(
        "holds none of: src, dst; row_ptr, col_idx; or SciPy's csr or coo matrix; it has {}", .found.join(", ")
    )]
    NotAGraph {
        /// The names there are, at most 16 of them.
        found: Vec<String>,
    },
    /// A sparse matrix in a form that is not read.
    #[error("a sparse matrix in `{found}` form is not read; save `A.tocsr()` or `A.tocoo()`")]
    SparseForm {
        /// SciPy's name of the form.
        found: String,
    },
    /// A member has another type or shape than its part needs.
    #[error("member `{member}` is {found} {shape:?}, expected {expected}")]
    Kind {
        /// The member.
        member: &'static str,
        /// Its type.
        found: ArrayType,
        /// Its shape.
        shape: Vec<usize>,
        /// What its part needs.
        expected: &'static str,
    },
    /// A count that is negative or not a number of nodes.
    #[error("member `{member}` is {found}, expected a number of nodes")]
    Count {
        /// The member.
        member: &'static str,
        /// The value.
        found: i64,
    },
    /// The values are not one an edge.
    #[error("member `{member}` has the shape {shape:?}, expected one value for each of the {edges} edges")]
    Values {
        /// The member.
        member: &'static str,
        /// Its shape.
        shape: Vec<usize>,
        /// The number of edges.
        edges: usize,
    },
    /// The row starts are not those of a matrix of this shape.
    #[error("member `shape` claims {claimed} rows, `indptr` has {found}")]
    Rows {
        /// The first number of `shape`.
        claimed: usize,
        /// The rows there are.
        found: usize,
    },
    /// The names are not text.
    #[error("member `names` is not UTF-8 from byte {at} on")]
    NotText {
        /// The first bad byte.
        at: usize,
    },
    /// The names are not one a node.
    #[error("member `names` has {found} lines, expected {expected}, the number of nodes")]
    Names {
        /// The lines.
        found: usize,
        /// The nodes.
        expected: usize,
    },
    /// Far more nodes than the file accounts for.
    #[error(transparent)]
    TooSparse(#[from] TooSparse),
    /// The arrays are no graph.
    #[error(transparent)]
    Csr(#[from] CsrError),
    /// There is no memory for it.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// The values do not stand by the edges.
    #[error(transparent)]
    Array(#[from] ArrayError),
}

/// Reads a graph from the first of these sets of members that is there; others are left alone.
///
/// | members | meaning |
/// |---|---|
/// | `src`, `dst` `[E]`; optional `num_nodes`, or `num_src` and `num_dst` | an edge an element, in input order |
/// | `row_ptr` `[num_dst + 1]`, `col_idx` `[E]`; optional `num_src` | the graph's own arrays |
/// | `format`, `shape`, `data`, `indptr`, `indices` or `row`, `col` | SciPy: entry `(i, j)` is the edge `j -> i` |
///
/// Values are SciPy's `data`, else an optional `values` `[E]` in the same order as the edges. An optional `names` (UTF-8
/// bytes as `u8`) has a line a node.
///
/// # Errors
/// [`GraphNpzError`].
pub(crate) fn read(npz: &mut Npz) -> Result<GraphFile, GraphNpzError> {
    let has = |a, b| npz.contains(a) && npz.contains(b);
    let mut file = if has("src", "dst") {
        read_edges(npz)?
    } else if has("row_ptr", "col_idx") {
        let num_src = count(npz, "num_src")?;
        let csr = read_csr(npz, "row_ptr", "col_idx", num_src)?;
        with_values(npz, csr, None, "values")?
    } else if has("format", "shape") {
        read_scipy(npz)?
    } else {
        return Err(GraphNpzError::NotAGraph { found: npz.names().take(16).map(str::to_owned).collect() });
    };
    if npz.contains("names") {
        file.names = Some(read_names(npz, &file.csr)?);
    }
    Ok(file)
}

fn read_edges(npz: &mut Npz) -> Result<GraphFile, GraphNpzError> {
    let (src, dst) = (indices(npz, "src")?, indices(npz, "dst")?);
    let (num_src, num_dst) = match count(npz, "num_nodes")? {
        Some(nodes) => (Some(nodes), Some(nodes)),
        None => (count(npz, "num_src")?, count(npz, "num_dst")?),
    };
    // Without any count the graph is homogeneous, as an edge list is.
    let implied = |ends: &Indices| ends.iter().max().and_then(|max| usize::try_from(max).ok()).map_or(0, |max| max + 1);
    let nodes = if num_src.is_none() && num_dst.is_none() { implied(&src).max(implied(&dst)) } else { 0 };
    let num_src = num_src.unwrap_or(nodes.max(implied(&src)));
    let num_dst = num_dst.unwrap_or(nodes.max(implied(&dst)));
    read_coo(npz, &src, &dst, (num_src, num_dst), "values")
}

fn read_coo(
    npz: &mut Npz,
    src: &Indices,
    dst: &Indices,
    (num_src, num_dst): (usize, usize),
    values: &'static str,
) -> Result<GraphFile, GraphNpzError> {
    check_nodes(num_src.max(num_dst) as u64, npz.size())?;
    let (csr, order) = Csr::from_coo(src, dst, Some(num_src), Some(num_dst))?;
    with_values(npz, csr, Some(order), values)
}

fn read_csr(
    npz: &mut Npz,
    row_ptr: &'static str,
    col: &'static str,
    num_src: Option<usize>,
) -> Result<Csr, GraphNpzError> {
    let starts = match indices(npz, row_ptr)? {
        Indices::I32(v) => room::collected(v.len(), v.into_iter().map(i64::from))?,
        Indices::I64(v) => v,
    };
    let csr = Csr::from_csr(starts, indices(npz, col)?, num_src)?;
    check_nodes(csr.num_src().max(csr.num_dst()) as u64, npz.size())?;
    Ok(csr)
}

fn read_scipy(npz: &mut Npz) -> Result<GraphFile, GraphNpzError> {
    let (rows, columns) = match indices(npz, "shape")? {
        shape if shape.len() == 2 => (node_count("shape", shape.get(0))?, node_count("shape", shape.get(1))?),
        shape => return Err(kind(&Array::vector(shape.into()), "shape", "two extents")),
    };
    match npz.word("format")?.as_str() {
        "csr" => {
            let csr = read_csr(npz, "indptr", "indices", Some(columns))?;
            if csr.num_dst() != rows {
                return Err(GraphNpzError::Rows { claimed: rows, found: csr.num_dst() });
            }
            with_values(npz, csr, None, "data")
        }
        "coo" => {
            let (dst, src) = (indices(npz, "row")?, indices(npz, "col")?);
            read_coo(npz, &src, &dst, (columns, rows), "data")
        }
        found => Err(GraphNpzError::SparseForm { found: found.to_owned() }),
    }
}

/// Adds the values, which stand in the order that `order` was made from, or in that of the graph.
fn with_values(
    npz: &mut Npz,
    csr: Csr,
    order: Option<Indices>,
    member: &'static str,
) -> Result<GraphFile, GraphNpzError> {
    let edges = csr.num_edges();
    let values = match npz.contains(member).then(|| npz.array(member)).transpose()? {
        Some(array) if array.shape().first() != Some(&edges) => {
            return Err(GraphNpzError::Values { member, shape: array.shape().to_vec(), edges });
        }
        Some(array) => Some(match &order {
            Some(order) => array.gather_rows(order, edges, "edges")?,
            None => array,
        }),
        None => None,
    };
    let input_order = order.map_or_else(|| Indices::identity(edges), Ok)?;
    Ok(GraphFile {
        csr,
        values: values.map(EdgeValues::Array),
        input_order,
        inputs: edges,
        names: None,
        first_id: 0,
        sized_by_ids: false,
    })
}

fn kind(array: &Array, member: &'static str, expected: &'static str) -> GraphNpzError {
    GraphNpzError::Kind { member, found: array.array_type(), shape: array.shape().to_vec(), expected }
}

fn indices(npz: &mut Npz, member: &'static str) -> Result<Indices, GraphNpzError> {
    let array = npz.array(member)?;
    if array.shape().len() != 1 {
        return Err(kind(&array, member, "one-dimensional i32 or i64"));
    }
    match array.into_parts() {
        (_, Elements::I32(v)) => Ok(Indices::I32(v)),
        (_, Elements::I64(v)) => Ok(Indices::I64(v)),
        (_, other) => Err(kind(&Array::vector(other), member, "one-dimensional i32 or i64")),
    }
}

/// A number of nodes, if the archive has the member.
fn count(npz: &mut Npz, member: &'static str) -> Result<Option<usize>, GraphNpzError> {
    if !npz.contains(member) {
        return Ok(None);
    }
    let array = npz.array(member)?;
    match (array.array_type(), array.len()) {
        (ArrayType::I32 | ArrayType::I64, 1) => match array.get(0) {
            Scalar::Int(found) => node_count(member, found).map(Some),
            _ => Err(kind(&array, member, "one integer")),
        },
        _ => Err(kind(&array, member, "one integer")),
    }
}

fn node_count(member: &'static str, found: i64) -> Result<usize, GraphNpzError> {
    usize::try_from(found).map_err(|_| GraphNpzError::Count { member, found })
}

fn read_names(npz: &mut Npz, csr: &Csr) -> Result<Names, GraphNpzError> {
    let array = npz.array("names")?;
    let bytes = match array.into_parts() {
        (shape, Elements::U8(bytes)) if shape.len() == 1 => bytes,
        (_, other) => return Err(kind(&Array::vector(other), "names", "one-dimensional u8")),
    };
    let text = String::from_utf8(bytes).map_err(|e| GraphNpzError::NotText { at: e.utf8_error().valid_up_to() })?;
    let names = Names::from_lines(text)?;
    if names.len() != csr.num_dst() && names.len() != csr.num_src() {
        return Err(GraphNpzError::Names { found: names.len(), expected: csr.num_dst() });
    }
    Ok(names)
}
