//! Relations as the interpreters hold them: validated once, by destination, with their edge numbers.

use crate::RelKind;

/// Why arrays are not a relation.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RelationError {
    /// No row pointer at all.
    #[error("the row pointer is empty")]
    NoRowPtr,
    /// The row pointer does not begin with 0 or not end with the number of edges.
    #[error("the row pointer runs from {first} to {last}, expected 0 to {edges}")]
    Endpoints {
        /// Its first word.
        first: i64,
        /// Its last word.
        last: i64,
        /// Number of columns.
        edges: usize,
    },
    /// A row that ends before it begins.
    #[error("row {row} ends before it begins")]
    NotMonotonic {
        /// Which row.
        row: usize,
    },
    /// A source that does not exist.
    #[error("edge {position} has source {source_node}, and there are {num_src} sources")]
    Source {
        /// Which edge.
        position: usize,
        /// Its source.
        source_node: i64,
        /// Number of sources.
        num_src: usize,
    },
    /// Edge numbers that are not a permutation.
    #[error("the edge numbers are no permutation of {edges} edges (position {position})")]
    Permutation {
        /// The first wrong position.
        position: usize,
        /// Number of edges.
        edges: usize,
    },
    /// A relation that is not stored has no transpose.
    #[error("a `{}` relation is not stored and has no transpose", .0.name())]
    NotStored(RelKind),
}

/// A relation `source -> destination`, its edges sorted by destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Relation {
    num_src: usize,
    row_ptr: Vec<i64>,
    col: Vec<i64>,
    /// The edge of each position; `None`: the position itself.
    perm: Option<Vec<i64>>,
    kind: RelKind,
}

/// The long rows of a relation, cut into leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Units {
    /// Rows with more than `leaf` edges, ascending.
    pub long_rows: Vec<i64>,
    /// For each long row the number of its first leaf, then the number of all leaves.
    pub leaf_base: Vec<i64>,
}

impl Units {
    /// The long row (its number, not its row) that a leaf belongs to.
    pub fn long_of(&self, leaf: i64) -> Option<usize> {
        let below = self.leaf_base.partition_point(|base| *base <= leaf);
        (leaf >= 0 && below < self.leaf_base.len()).then(|| below.saturating_sub(1))
    }
}

impl Relation {
    /// A relation by destination, whose edges are numbered in this order.
    ///
    /// # Errors
    /// Arrays that are not one.
    pub fn csr(num_src: usize, row_ptr: Vec<i64>, col: Vec<i64>) -> Result<Relation, RelationError> {
        let relation = Relation { num_src, row_ptr, col, perm: None, kind: RelKind::Csr };
        relation.validate()?;
        Ok(relation)
    }

    /// The transpose of a stored relation, whose edge numbers are `perm`.
    ///
    /// # Errors
    /// Arrays that are not one.
    pub fn transpose(
        num_src: usize,
        row_ptr: Vec<i64>,
        col: Vec<i64>,
        perm: Vec<i64>,
    ) -> Result<Relation, RelationError> {
        let relation = Relation { num_src, row_ptr, col, perm: Some(perm), kind: RelKind::Transpose };
        relation.validate()?;
        Ok(relation)
    }

    /// A relation found through a cell list: as [`Relation::csr`], of the other kind.
    pub(super) fn cells(num_src: usize, row_ptr: Vec<i64>, col: Vec<i64>) -> Relation {
        Relation { num_src, row_ptr, col, perm: None, kind: RelKind::Cells }
    }

    fn validate(&self) -> Result<(), RelationError> {
        let edges = self.col.len();
        let (first, last) = match (self.row_ptr.first(), self.row_ptr.last()) {
            (Some(first), Some(last)) => (*first, *last),
            _ => return Err(RelationError::NoRowPtr),
        };
        if first != 0 || usize::try_from(last) != Ok(edges) {
            return Err(RelationError::Endpoints { first, last, edges });
        }
        if let Some(row) = self.row_ptr.windows(2).position(|w| w[1] < w[0]) {
            return Err(RelationError::NotMonotonic { row });
        }
        let exists = |s: &i64| usize::try_from(*s).is_ok_and(|s| s < self.num_src);
        if let Some(position) = self.col.iter().position(|s| !exists(s)) {
            return Err(RelationError::Source { position, source_node: self.col[position], num_src: self.num_src });
        }
        let Some(perm) = &self.perm else { return Ok(()) };
        let mut seen = vec![false; edges];
        for (position, edge) in perm.iter().enumerate() {
            match usize::try_from(*edge).ok().and_then(|e| seen.get_mut(e)) {
                Some(seen) if !*seen => *seen = true,
                _ => return Err(RelationError::Permutation { position, edges }),
            }
        }
        if perm.len() == edges { Ok(()) } else { Err(RelationError::Permutation { position: perm.len(), edges }) }
    }

    /// Roles exchanged, the same edge set, each row in ascending order of positions.
    /// The transpose of a [`RelKind::Transpose`] is the relation whose edges it numbers.
    ///
    /// # Errors
    /// The relation is not stored.
    pub fn transposed(&self) -> Result<Relation, RelationError> {
        let (kind, order): (RelKind, Vec<usize>) = match (self.kind, &self.perm) {
            (RelKind::Cells, _) => return Err(RelationError::NotStored(self.kind)),
            (_, None) => (RelKind::Transpose, (0..self.num_edges()).collect()),
            (_, Some(perm)) => {
                let mut order = vec![0; perm.len()];
                for (position, edge) in perm.iter().enumerate() {
                    order[*edge as usize] = position;
                }
                (RelKind::Csr, order)
            }
        };
        let mut row_ptr = vec![0i64; self.num_src + 1];
        for source in &self.col {
            row_ptr[*source as usize + 1] += 1;
        }
        for i in 0..self.num_src {
            row_ptr[i + 1] += row_ptr[i];
        }
        let mut next = row_ptr.clone();
        let (mut col, mut edges) = (vec![0; self.col.len()], vec![0; self.col.len()]);
        for position in order {
            let at = &mut next[self.col[position] as usize];
            col[*at as usize] = self.destination(position) as i64;
            edges[*at as usize] = position as i64;
            *at += 1;
        }
        let perm = (kind == RelKind::Transpose).then_some(edges);
        Ok(Relation { num_src: self.num_dst(), row_ptr, col, perm, kind })
    }

    /// How it is stored.
    pub fn kind(&self) -> RelKind {
        self.kind
    }

    /// Number of sources.
    pub fn num_src(&self) -> usize {
        self.num_src
    }

    /// Number of destinations: rows.
    pub fn num_dst(&self) -> usize {
        self.row_ptr.len() - 1
    }

    /// Number of edges.
    pub fn num_edges(&self) -> usize {
        self.col.len()
    }

    /// Where each row begins; then the number of edges.
    pub fn row_ptr(&self) -> &[i64] {
        &self.row_ptr
    }

    /// The source of each position.
    pub fn col(&self) -> &[i64] {
        &self.col
    }

    /// The edge of each position, where it is not the position itself.
    pub fn perm(&self) -> Option<&[i64]> {
        self.perm.as_deref()
    }

    /// The positions of a row, which must exist.
    pub fn row(&self, row: usize) -> std::ops::Range<usize> {
        self.row_ptr[row] as usize..self.row_ptr[row + 1] as usize
    }

    /// The source at a position, which must exist.
    pub fn source(&self, position: usize) -> usize {
        self.col[position] as usize
    }

    /// The edge at a position, which must exist.
    pub fn edge(&self, position: usize) -> usize {
        self.perm.as_ref().map_or(position, |perm| perm[position] as usize)
    }

    /// The destination at a position, which must exist.
    pub fn destination(&self, position: usize) -> usize {
        self.row_ptr.partition_point(|p| *p as usize <= position) - 1
    }

    /// Its long rows at a leaf size (above 0).
    pub fn units(&self, leaf: u64) -> Units {
        let mut units = Units { long_rows: Vec::new(), leaf_base: vec![0] };
        let mut leaves = 0;
        for row in 0..self.num_dst() {
            let degree = self.row(row).len() as u64;
            if degree > leaf {
                leaves += degree.div_ceil(leaf) as i64;
                units.long_rows.push(row as i64);
                units.leaf_base.push(leaves);
            }
        }
        units
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Relation {
        Relation::csr(3, vec![0, 2, 3, 5], vec![0, 1, 1, 0, 1]).unwrap()
    }

    #[test]
    fn transposing_is_stable_and_undone_by_itself() {
        let t = graph().transposed().unwrap();
        assert_eq!((t.row_ptr(), t.col()), (&[0, 2, 5, 5][..], &[0, 2, 0, 1, 2][..]));
        assert_eq!(t.perm(), Some(&[0, 3, 1, 2, 4][..]));
        assert_eq!(t.transposed().unwrap(), graph());
        let crossed = Relation::csr(2, vec![0, 2], vec![1, 0]).unwrap();
        assert_eq!(crossed.transposed().unwrap().transposed().unwrap(), crossed);
    }

    #[test]
    fn isolated_nodes_survive() {
        // graph-and-store.md §1.8
        let g = Relation::csr(4, vec![0, 2, 3], vec![0, 2, 2]).unwrap().transposed().unwrap();
        assert_eq!((g.num_src(), g.row_ptr(), g.col()), (2, &[0, 1, 1, 3, 3][..], &[0, 0, 1][..]));
        let empty = Relation::csr(4, vec![0, 0, 0], vec![]).unwrap().transposed().unwrap();
        assert_eq!(empty.row_ptr(), &[0; 5]);
    }

    #[test]
    fn broken_arrays_are_refused() {
        use RelationError as E;
        assert_eq!(Relation::csr(1, vec![], vec![]), Err(E::NoRowPtr));
        assert_eq!(Relation::csr(1, vec![0, 2], vec![0]), Err(E::Endpoints { first: 0, last: 2, edges: 1 }));
        assert_eq!(Relation::csr(1, vec![0, 2, 1], vec![0]), Err(E::NotMonotonic { row: 1 }));
        assert!(matches!(Relation::csr(1, vec![0, 1], vec![1]), Err(E::Source { position: 0, .. })));
        let twice = Relation::transpose(1, vec![0, 2], vec![0, 0], vec![1, 1]);
        assert_eq!(twice, Err(E::Permutation { position: 1, edges: 2 }));
    }

    #[test]
    fn units_cut_long_rows_only() {
        let g = Relation::csr(1, vec![0, 2, 7, 7, 10], vec![0; 10]).unwrap();
        let units = g.units(2);
        assert_eq!((units.long_rows.as_slice(), units.leaf_base.as_slice()), (&[1, 3][..], &[0, 3, 5][..]));
        let long: Vec<_> = (-1..6).map(|leaf| units.long_of(leaf)).collect();
        assert_eq!(long, [None, Some(0), Some(0), Some(0), Some(1), Some(1), None]);
    }
}
