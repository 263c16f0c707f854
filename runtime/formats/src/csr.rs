//! The graph: a relation source → destination in compressed sparse rows, a row per destination.

use crate::{Indices, WouldNotFit};
use std::ops::Range;

/// A validated graph. Row `i` holds the edges into destination `i`; `col` holds their sources. The order inside a row
/// is the order in which sums run; duplicates are kept, each stored edge is one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Csr {
    num_src: usize,
    row_ptr: Vec<i64>,
    col: Indices,
}

/// Which end of an edge an error speaks of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where the edge begins: a column.
    Source,
    /// Where the edge ends: a row.
    Destination,
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == End::Source { "source" } else { "destination" })
    }
}

/// Why arrays are not a graph. Positions count from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CsrError {
    /// `row_ptr` has no element; it needs one more than there are destinations.
    #[error("row_ptr is empty; it holds one more element than there are destinations")]
    EmptyRowPtr,
    /// The first element is not 0.
    #[error("row_ptr endpoints: row_ptr[0] is {found}, expected 0")]
    Start {
        /// `row_ptr[0]`.
        found: i64,
    },
    /// The last element is not the number of edges.
    #[error("row_ptr endpoints: its last element is {found}, expected {edges}, the number of columns")]
    Last {
        /// The last element.
        found: i64,
        /// The length of `col`.
        edges: usize,
    },
    /// `row_ptr` decreases.
    #[error("row_ptr is not monotonic: row_ptr[{}] is {next} after {previous}", .row + 1)]
    NotMonotonic {
        /// The row whose end lies before its begin.
        row: usize,
        /// `row_ptr[row]`.
        previous: i64,
        /// `row_ptr[row + 1]`.
        next: i64,
    },
    /// The two ends of the edges have different lengths.
    #[error("{sources} sources but {destinations} destinations; an edge needs one of each")]
    EndsDiffer {
        /// The length of `src`.
        sources: usize,
        /// The length of `dst`.
        destinations: usize,
    },
    /// An end that no node has.
    #[error("out-of-range {end}: edge {edge} has {end} {found}, expected 0 <= {end} < {count}")]
    OutOfRange {
        /// Which end.
        end: End,
        /// The position of the edge in the arrays given.
        edge: usize,
        /// The node it names.
        found: i64,
        /// The number of nodes at this end.
        count: usize,
    },
    /// The arrays of the result cannot be allocated.
    #[error("a graph of {nodes} rows does not fit in memory")]
    TooManyRows {
        /// The number of rows.
        nodes: usize,
    },
    /// The edges of the result cannot be allocated.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
}

impl Csr {
    /// A graph from its arrays: `row_ptr` `[num_dst + 1]`, `col` `[num_edges]`. `num_src` defaults to the largest
    /// source plus one, or to the number of destinations if there is no edge; give it to keep isolated sources.
    ///
    /// # Errors
    /// Everything that makes the arrays no graph; nothing is repaired.
    pub fn from_csr(row_ptr: Vec<i64>, col: impl Into<Indices>, num_src: Option<usize>) -> Result<Self, CsrError> {
        let col = col.into();
        let (Some(&first), Some(&last)) = (row_ptr.first(), row_ptr.last()) else {
            return Err(CsrError::EmptyRowPtr);
        };
        if first != 0 {
            return Err(CsrError::Start { found: first });
        }
        if let Some(row) = row_ptr.windows(2).position(|w| w[1] < w[0]) {
            return Err(CsrError::NotMonotonic { row, previous: row_ptr[row], next: row_ptr[row + 1] });
        }
        if usize::try_from(last) != Ok(col.len()) {
            return Err(CsrError::Last { found: last, edges: col.len() });
        }
        let num_src = num_src.unwrap_or_else(|| if col.is_empty() { row_ptr.len() - 1 } else { one_past_max(&col) });
        check_range(&col, num_src, End::Source)?;
        Ok(Self { num_src, row_ptr, col })
    }

    /// A graph from one source and one destination per edge, sorted by destination; the given order is kept within a
    /// row. Node counts default to the largest position plus one, 0 without edges. The second result is the input
    /// order: edge `e` of the graph came from input `order[e]`.
    ///
    /// # Errors
    /// Different lengths, an end out of range, more rows than memory holds.
    pub fn from_coo(
        src: &Indices,
        dst: &Indices,
        num_src: Option<usize>,
        num_dst: Option<usize>,
    ) -> Result<(Self, Indices), CsrError> {
        if src.len() != dst.len() {
            return Err(CsrError::EndsDiffer { sources: src.len(), destinations: dst.len() });
        }
        let num_src = num_src.unwrap_or_else(|| one_past_max(src));
        let num_dst = num_dst.unwrap_or_else(|| one_past_max(dst));
        check_range(src, num_src, End::Source)?;
        check_range(dst, num_dst, End::Destination)?;
        let (row_ptr, order) = counting_sort(dst, num_dst)?;
        let col = src.gather(&order)?;
        Ok((Self { num_src, row_ptr, col }, order))
    }

    /// The same edges with the roles of the ends exchanged, in stable order: within a row the original edge order is
    /// kept. The second result maps edges: edge `p` of the transpose is edge `perm[p]` of this graph, so an edge field
    /// is reached through it.
    ///
    /// # Errors
    /// [`CsrError::TooManyRows`] or [`CsrError::WouldNotFit`] if it cannot be allocated.
    pub fn transpose(&self) -> Result<(Self, Indices), CsrError> {
        let (row_ptr, perm) = counting_sort(&self.col, self.num_src)?;
        let col = self.destinations()?.gather(&perm)?;
        Ok((Self { num_src: self.num_dst(), row_ptr, col }, perm))
    }

    /// The number of sources.
    pub fn num_src(&self) -> usize {
        self.num_src
    }

    /// The number of destinations: rows.
    pub fn num_dst(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// The number of edges.
    pub fn num_edges(&self) -> usize {
        self.col.len()
    }

    /// `[num_dst + 1]`: where each row begins in `col`.
    pub fn row_ptr(&self) -> &[i64] {
        &self.row_ptr
    }

    /// `[num_edges]`: the source of each edge.
    pub fn col(&self) -> &Indices {
        &self.col
    }

    /// The edges of one row. Panics past the last row, as a slice does.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize
    }

    /// `[num_edges]`: the destination of each edge.
    ///
    /// # Errors
    /// [`WouldNotFit`] if the system has no memory for them.
    pub fn destinations(&self) -> Result<Indices, WouldNotFit> {
        let mut out = Indices::zeroed(self.num_edges(), self.num_dst())?;
        for row in 0..self.num_dst() {
            self.row(row).for_each(|e| out.set(e, row));
        }
        Ok(out)
    }

    /// `[num_dst]`: the number of edges into each destination.
    pub fn in_degrees(&self) -> Vec<i64> {
        self.row_ptr.windows(2).map(|w| w[1] - w[0]).collect()
    }

    /// `[num_src]`: the number of edges out of each source.
    ///
    /// # Errors
    /// [`CsrError::TooManyRows`] if `num_src` counters cannot be allocated.
    pub fn out_degrees(&self) -> Result<Vec<i64>, CsrError> {
        let mut out = zeros(self.num_src)?;
        self.col.iter().for_each(|source| out[source as usize] += 1);
        Ok(out)
    }
}

fn one_past_max(indices: &Indices) -> usize {
    indices.iter().max().map_or(0, |max| usize::try_from(max).map_or(0, |max| max + 1))
}

fn check_range(indices: &Indices, count: usize, end: End) -> Result<(), CsrError> {
    let outside = |&(_, v): &(usize, i64)| usize::try_from(v).map_or(true, |v| v >= count);
    match indices.iter().enumerate().find(outside) {
        Some((edge, found)) => Err(CsrError::OutOfRange { end, edge, found, count }),
        None => Ok(()),
    }
}

/// Zeros, or an error where `vec!` would abort.
fn zeros(len: usize) -> Result<Vec<i64>, CsrError> {
    let mut out = Vec::new();
    out.try_reserve_exact(len).map_err(|_| CsrError::TooManyRows { nodes: len })?;
    out.resize(len, 0);
    Ok(out)
}

/// Stable sort of positions `0..keys.len()` by key, all keys below `num_rows`: row starts and the sorted positions.
fn counting_sort(keys: &Indices, num_rows: usize) -> Result<(Vec<i64>, Indices), CsrError> {
    // Counted two places up, so that the element after a row's start is its next free place while sorting, and the
    // start of the next row when all are placed.
    let mut row_ptr = zeros(num_rows.checked_add(2).ok_or(CsrError::TooManyRows { nodes: num_rows })?)?;
    keys.iter().for_each(|key| row_ptr[key as usize + 2] += 1);
    for row in 0..num_rows {
        row_ptr[row + 2] += row_ptr[row + 1];
    }
    let mut order = Indices::zeroed(keys.len(), keys.len())?;
    for (position, key) in keys.iter().enumerate() {
        let next = &mut row_ptr[key as usize + 1];
        order.set(*next as usize, position);
        *next += 1;
    }
    row_ptr.truncate(num_rows + 1);
    Ok((row_ptr, order))
}
