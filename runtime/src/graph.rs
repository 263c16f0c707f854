//! Graph handles: a validated CSR relation, and the structures derived from it, built once.

use crate::memory::{Buffer, check_room};
use crate::relations::Made;
use crate::{CancelToken, RuntimeError};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tiga_formats::{Csr, Indices};

/// A structure that belongs to a graph.
#[derive(Debug)]
pub(crate) struct Derived<T> {
    /// Its arrays.
    pub(crate) parts: Arc<T>,
    /// Whether this call made it, or something that it is made of.
    pub(crate) made: bool,
}

/// A graph, validated. Cheap to clone; derived structures are shared by the clones.
#[derive(Clone, Debug)]
pub struct Graph {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    plain: Arc<Stored>,
    transposed: Mutex<Option<Arc<Stored>>>,
    /// What is made of this graph first, and perhaps of others.
    made: Mutex<Vec<Made>>,
}

/// A relation with what is derived from it alone.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) rows: Rows,
    /// By size of leaf.
    units: Mutex<BTreeMap<i64, Arc<Units>>>,
}

/// Rows by destination.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) num_src: usize,
    pub(crate) row_ptr: Buffer<i64>,
    pub(crate) col: Buffer<i32>,
    /// The number of the edge at each position, where it is not the position. Ascending in each row.
    pub(crate) perm: Option<Buffer<i64>>,
}

/// Rows longer than a leaf, and their leaves.
#[derive(Debug)]
pub(crate) struct Units {
    pub(crate) long_rows: Vec<i64>,
    pub(crate) leaf_base: Vec<i64>,
    pub(crate) leaf_row: Vec<i64>,
}

impl Graph {
    /// A graph from a validated CSR.
    ///
    /// # Errors
    /// More than 2^31 − 1 sources or destinations: kernels have 32-bit columns, of the transpose too. Short memory.
    pub fn new(csr: &Csr) -> Result<Self, RuntimeError> {
        let nodes = csr.num_src().max(csr.num_dst());
        if i32::try_from(nodes).is_err() {
            return Err(RuntimeError::WideColumns { nodes });
        }
        let (rows, edges) = (csr.num_dst() as u64 + 1, csr.num_edges() as u64);
        let what = || format!("a graph of {edges} edges");
        check_room(8 * rows + 4 * edges, what)?;
        let col = match csr.col() {
            Indices::I32(col) => Buffer::of(col.iter().copied(), what),
            Indices::I64(col) => Buffer::of(col.iter().map(|c| *c as i32), what),
        }?;
        let row_ptr = Buffer::of(csr.row_ptr().iter().copied(), what)?;
        let plain = Arc::new(Stored::new(Rows { num_src: csr.num_src(), row_ptr, col, perm: None }));
        let inner = Inner { plain, transposed: Mutex::new(None), made: Mutex::new(Vec::new()) };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Sources.
    pub fn num_src(&self) -> usize {
        self.inner.plain.rows.num_src
    }

    /// Destinations.
    pub fn num_dst(&self) -> usize {
        self.inner.plain.rows.row_ptr.len() - 1
    }

    /// Edges.
    pub fn num_edges(&self) -> usize {
        self.inner.plain.rows.col.len()
    }

    /// The graph or its transpose, if it is made. Allocates nothing.
    pub(crate) fn found(&self, transposed: bool) -> Option<Arc<Stored>> {
        if !transposed {
            return Some(self.inner.plain.clone());
        }
        self.inner.transposed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The graph or its transpose, which is made once. Nothing is kept of one that was cancelled.
    pub(crate) fn stored(
        &self,
        transposed: bool,
        cancel: Option<&CancelToken>,
    ) -> Result<Derived<Stored>, RuntimeError> {
        let plain = &self.inner.plain;
        if let Some(parts) = self.found(transposed) {
            return Ok(Derived { parts, made: false });
        }
        // A poisoned lock means that a builder panicked; it holds either nothing or a finished structure.
        let mut slot = self.inner.transposed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stored) = &*slot {
            return Ok(Derived { parts: stored.clone(), made: false });
        }
        // Two starts a row, while it is built, and a column and a number an edge.
        let (nodes, edges) = (plain.rows.num_src as u64, plain.rows.col.len() as u64);
        check_room(16 * (nodes + 1) + 12 * edges, || format!("the transpose of a graph of {edges} edges"))?;
        let parts = slot.insert(Arc::new(Stored::new(plain.rows.transpose(cancel)?))).clone();
        Ok(Derived { parts, made: true })
    }

    /// What is made of this graph first. The lock is held by who looks for something, and while it is built.
    pub(crate) fn made(&self) -> MutexGuard<'_, Vec<Made>> {
        self.inner.made.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells whether a graph is this one, without keeping this one.
    pub(crate) fn mark(&self) -> Mark {
        Mark(Arc::downgrade(&self.inner))
    }
}

/// A graph that may be gone.
#[derive(Clone, Debug)]
pub(crate) struct Mark(Weak<Inner>);

impl Mark {
    /// Whether it is this graph. The address of one that is gone is not used again while its mark is there.
    pub(crate) fn is(&self, graph: &Graph) -> bool {
        std::ptr::eq(self.0.as_ptr(), Arc::as_ptr(&graph.inner))
    }

    pub(crate) fn is_gone(&self) -> bool {
        self.0.strong_count() == 0
    }
}

impl Stored {
    pub(crate) fn new(rows: Rows) -> Self {
        Self { rows, units: Mutex::new(BTreeMap::new()) }
    }

    /// The long rows and their leaves, if they are made. Allocates nothing.
    pub(crate) fn found_units(&self, leaf: i64) -> Option<Arc<Units>> {
        self.units.lock().unwrap_or_else(PoisonError::into_inner).get(&leaf).cloned()
    }

    /// The long rows and their leaves, which are made once for each size of leaf.
    pub(crate) fn units(&self, leaf: i64, cancel: Option<&CancelToken>) -> Result<Derived<Units>, RuntimeError> {
        let rows = &self.rows;
        let mut units = self.units.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(units) = units.get(&leaf) {
            return Ok(Derived { parts: units.clone(), made: false });
        }
        // A row that is cut has more than `leaf` edges: there are at most twice as many leaves as full ones.
        let leaves = 2 * (rows.col.len() as u64 / leaf.unsigned_abs().max(1));
        check_room(48 * leaves, || format!("the division of a graph of {} edges", rows.col.len()))?;
        let new = Arc::new(rows.units(leaf, cancel)?);
        Ok(Derived { parts: units.entry(leaf).or_insert(new).clone(), made: true })
    }
}

/// Rows or edges between two looks at a token.
const PART: usize = 1 << 18;

/// Fails at the end of a part if the token asks for it.
pub(crate) fn look(position: usize, cancel: Option<&CancelToken>) -> Result<(), RuntimeError> {
    match cancel {
        Some(token) if position.is_multiple_of(PART) => token.check(),
        _ => Ok(()),
    }
}

impl Rows {
    pub(crate) fn num_dst(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// The number of the edge at a position, which must exist.
    pub(crate) fn edge(&self, position: usize) -> i64 {
        self.perm.as_ref().map_or(position as i64, |perm| perm[position])
    }

    /// The stable transpose of a graph: within a row, edges keep the order of the original traversal.
    fn transpose(&self, cancel: Option<&CancelToken>) -> Result<Rows, RuntimeError> {
        let (num_dst, edges) = (self.num_dst(), self.col.len());
        let what = || format!("the transpose of a graph of {edges} edges");
        let mut row_ptr = Buffer::zeroed(self.num_src + 1, what)?;
        for (edge, col) in self.col.iter().enumerate() {
            look(edge, cancel)?;
            row_ptr[*col as usize + 1] += 1;
        }
        for i in 0..self.num_src {
            row_ptr[i + 1] += row_ptr[i];
        }
        let mut next = Buffer::of(row_ptr.iter().copied(), what)?;
        let mut col = Buffer::zeroed(edges, what)?;
        let mut perm = Buffer::zeroed(edges, what)?;
        for row in 0..num_dst {
            for edge in self.row_ptr[row]..self.row_ptr[row + 1] {
                look(edge as usize, cancel)?;
                let place: &mut i64 = &mut next[self.col[edge as usize] as usize];
                col[*place as usize] = row as i32;
                perm[*place as usize] = edge;
                *place += 1;
            }
        }
        Ok(Rows { num_src: num_dst, row_ptr, col, perm: Some(perm) })
    }

    fn units(&self, leaf: i64, cancel: Option<&CancelToken>) -> Result<Units, RuntimeError> {
        let mut units = Units { long_rows: Vec::new(), leaf_base: vec![0], leaf_row: Vec::new() };
        for row in 0..self.row_ptr.len() - 1 {
            look(row, cancel)?;
            let degree = self.row_ptr[row + 1] - self.row_ptr[row];
            if degree > leaf {
                let number = units.long_rows.len() as i64;
                let leaves = (degree as u64).div_ceil(leaf as u64);
                units.long_rows.push(row as i64);
                units.leaf_row.extend(std::iter::repeat_n(number, leaves as usize));
                units.leaf_base.push(units.leaf_row.len() as i64);
            }
        }
        Ok(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        let csr = Csr::from_csr(vec![0, 2, 3, 5], Indices::I32(vec![0, 2, 1, 0, 1]), Some(3)).unwrap();
        Graph::new(&csr).unwrap()
    }

    fn plain(graph: &Graph) -> Arc<Stored> {
        graph.stored(false, None).unwrap().parts
    }

    #[test]
    fn the_transpose_is_stable_and_remembers_edges() {
        let stored = graph().stored(true, None).unwrap().parts;
        let rows = &stored.rows;
        assert_eq!(*rows.row_ptr, [0, 2, 4, 5]);
        assert_eq!(*rows.col, [0, 2, 1, 2, 0]);
        assert_eq!(rows.perm.as_deref(), Some(&[0, 3, 2, 4, 1][..]));
    }

    #[test]
    fn whoever_makes_a_structure_is_told_so() {
        let graph = graph();
        let stored = |transposed| graph.stored(transposed, None).unwrap();
        assert!(!stored(false).made && stored(true).made && !stored(true).made);
        let units = |leaf| stored(true).parts.units(leaf, None).unwrap();
        assert!(units(1).made && !units(1).made && units(2).made);
    }

    #[test]
    fn nothing_is_kept_of_what_was_cancelled() {
        let (graph, token) = (graph(), CancelToken::new());
        token.cancel();
        assert!(matches!(graph.stored(true, Some(&token)), Err(RuntimeError::Cancelled)));
        assert!(matches!(plain(&graph).units(1, Some(&token)), Err(RuntimeError::Cancelled)));
        assert_eq!(*graph.stored(true, Some(&CancelToken::new())).unwrap().parts.rows.col, [0, 2, 1, 2, 0]);
        assert_eq!(plain(&graph).units(1, None).unwrap().parts.long_rows, [0, 2]);
    }

    #[test]
    fn wide_columns_are_narrowed_if_they_can_be() {
        let wide = |source, num_src| {
            let csr = Csr::from_csr(vec![0, 1], Indices::I64(vec![source]), Some(num_src)).unwrap();
            Graph::new(&csr)
        };
        assert_eq!(*plain(&wide(2, 3).unwrap()).rows.col, [2]);
        assert!(matches!(wide(1 << 31, (1 << 31) + 1), Err(RuntimeError::WideColumns { .. })));
    }

    #[test]
    fn long_rows_are_cut_into_leaves() {
        let units = plain(&graph()).units(1, None).unwrap().parts;
        assert_eq!(units.long_rows, [0, 2]);
        assert_eq!(units.leaf_base, [0, 2, 4]);
        assert_eq!(units.leaf_row, [0, 0, 1, 1]);
        assert!(plain(&graph()).units(2, None).unwrap().parts.long_rows.is_empty());
    }
}
