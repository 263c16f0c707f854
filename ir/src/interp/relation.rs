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
    /// Nothing can be made of a relation that is not stored.
    #[error("a `{}` relation is not stored: nothing can be made of it", .0.name())]
    NotStored(RelKind),
    /// Loops where sources and destinations are not the same nodes.
    #[error("a relation of {num_src} sources and {num_dst} destinations has no self-loops")]
    Rectangular {
        /// Number of sources.
        num_src: usize,
        /// Number of destinations.
        num_dst: usize,
    },
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

    /// A relation of edges in the order of their numbers, each a source and a destination that exist.
    fn of_edges(num_src: usize, num_dst: usize, edges: &[(i64, i64)], kind: RelKind) -> Relation {
        let mut row_ptr = vec![0i64; num_dst + 1];
        for (_, destination) in edges {
            row_ptr[*destination as usize + 1] += 1;
        }
        for row in 0..num_dst {
            row_ptr[row + 1] += row_ptr[row];
        }
        let mut next = row_ptr.clone();
        let (mut col, mut perm) = (vec![0; edges.len()], vec![0; edges.len()]);
        for (edge, (source, destination)) in edges.iter().enumerate() {
            let at = &mut next[*destination as usize];
            col[*at as usize] = *source;
            perm[*at as usize] = edge as i64;
            *at += 1;
        }
        Relation { num_src, row_ptr, col, perm: kind.numbered().then_some(perm), kind }
    }

    /// The source and destination of each edge, in the order of their numbers.
    fn edges(&self) -> Vec<(i64, i64)> {
        let mut edges = vec![(0, 0); self.num_edges()];
        for row in 0..self.num_dst() {
            for position in self.row(row) {
                edges[self.edge(position)] = (self.col[position], row as i64);
            }
        }
        edges
    }

    /// The kind of a relation made of this one.
    fn made(&self, of_stored: impl FnOnce(RelKind) -> RelKind) -> Result<RelKind, RelationError> {
        match self.kind {
            RelKind::Cells => Err(RelationError::NotStored(self.kind)),
            kind => Ok(of_stored(kind)),
        }
    }

    /// Roles exchanged, the same edge set, each row in ascending order of its edges' numbers.
    /// The transpose of a [`RelKind::Transpose`] is the relation whose edges it numbers.
    ///
    /// # Errors
    /// The relation is not stored.
    pub fn transposed(&self) -> Result<Relation, RelationError> {
        let kind = self.made(|kind| match kind {
            RelKind::Csr => RelKind::Transpose,
            RelKind::Transpose => RelKind::Csr,
            other => other,
        })?;
        let edges: Vec<(i64, i64)> = self.edges().into_iter().map(|(source, to)| (to, source)).collect();
        Ok(Relation::of_edges(self.num_dst(), self.num_src, &edges, kind))
    }

    /// Its edges, then one from each node to itself: each row ends with its own.
    ///
    /// # Errors
    /// The relation is not stored, or has more sources than destinations or fewer.
    pub fn with_self_loops(&self) -> Result<Relation, RelationError> {
        let kind = self.made(|_| RelKind::Joined)?;
        let nodes = self.num_dst();
        if nodes != self.num_src {
            return Err(RelationError::Rectangular { num_src: self.num_src, num_dst: nodes });
        }
        let mut edges = self.edges();
        edges.extend((0..nodes as i64).map(|node| (node, node)));
        Ok(Relation::of_edges(nodes, nodes, &edges, kind))
    }

    /// Both side by side: first the nodes and edges of this one.
    ///
    /// # Errors
    /// One of them is not stored.
    pub fn concat(&self, other: &Relation) -> Result<Relation, RelationError> {
        let second = other.made(|kind| kind)?;
        let kind = self.made(|kind| if kind == second { kind } else { RelKind::Joined })?;
        let (sources, destinations) = (self.num_src as i64, self.num_dst() as i64);
        let mut edges = self.edges();
        edges.extend(other.edges().into_iter().map(|(from, to)| (from + sources, to + destinations)));
        Ok(Relation::of_edges(self.num_src + other.num_src, self.num_dst() + other.num_dst(), &edges, kind))
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
    fn self_loops_end_the_rows_and_have_the_last_numbers() {
        // Node 0 has a loop already, which stays; so do the two edges from 1 to 2.
        let g = Relation::csr(3, vec![0, 1, 1, 4], vec![0, 1, 1, 0]).unwrap();
        let loops = g.with_self_loops().unwrap();
        assert_eq!((loops.row_ptr(), loops.col()), (&[0, 2, 3, 7][..], &[0, 0, 1, 1, 1, 0, 2][..]));
        assert_eq!(loops.perm(), Some(&[0, 4, 5, 1, 2, 3, 6][..]));
        let turned = loops.transposed().unwrap();
        assert_eq!(turned.transposed().unwrap(), loops);
        assert_eq!(g.transposed().unwrap().with_self_loops().unwrap(), turned);
        let twice = loops.with_self_loops().unwrap();
        assert_eq!(twice.perm(), Some(&[0, 4, 7, 5, 8, 1, 2, 3, 6, 9][..]));
        let none = Relation::csr(0, vec![0], vec![]).unwrap().with_self_loops().unwrap();
        assert_eq!((none.row_ptr(), none.num_edges()), (&[0][..], 0));
        let wide = Relation::csr(4, vec![0, 0], vec![]).unwrap();
        assert_eq!(wide.with_self_loops(), Err(RelationError::Rectangular { num_src: 4, num_dst: 1 }));
    }

    #[test]
    fn graphs_side_by_side_keep_their_edges() {
        // graph-and-store.md §1.7: dense(2, 3) and a graph of 3 sources.
        let dense = Relation::csr(2, vec![0, 2, 4, 6], vec![0, 1, 0, 1, 0, 1]).unwrap();
        let second = Relation::csr(3, vec![0, 2, 3], vec![1, 2, 0]).unwrap();
        let both = dense.concat(&second).unwrap();
        assert_eq!((both.num_src(), both.row_ptr()), (5, &[0, 2, 4, 6, 8, 9][..]));
        assert_eq!((both.col(), both.perm()), (&[0, 1, 0, 1, 0, 1, 3, 4, 2][..], None));
        // triangular(4) and dense(2).
        let triangle = Relation::csr(4, vec![0, 1, 3, 6, 10], vec![0, 0, 1, 0, 1, 2, 0, 1, 2, 3]).unwrap();
        let pair = Relation::csr(2, vec![0, 2, 4], vec![0, 1, 0, 1]).unwrap();
        let both = triangle.concat(&pair).unwrap();
        assert_eq!(both.row_ptr(), [0, 1, 3, 6, 10, 12, 14]);
        assert_eq!(both.col(), [0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 4, 5, 4, 5]);
        let turned = both.transposed().unwrap();
        assert_eq!(triangle.transposed().unwrap().concat(&pair.transposed().unwrap()).unwrap(), turned);
        // One of each: numbers of its own, and transposed twice the same.
        let mixed = triangle.concat(&pair.transposed().unwrap()).unwrap();
        assert_eq!(mixed.kind(), RelKind::Joined);
        assert_eq!(mixed.perm(), Some(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 11, 13][..]));
        assert_eq!(mixed.transposed().unwrap().transposed().unwrap(), mixed);
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
