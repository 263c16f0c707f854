//! Relations made of graphs: with self-loops, and side by side. Each is built once and kept by its first graph.

use crate::graph::{Derived, Mark, Rows, Stored, look};
use crate::memory::{Buffer, check_room};
use crate::{CancelToken, Graph, RuntimeError};
use std::sync::Arc;
use tiga_plan::Relation;

/// A relation that is built.
#[derive(Debug)]
pub(crate) struct Made {
    /// How it is made, its graphs called by their place in it.
    how: String,
    graphs: Vec<Mark>,
    stored: Arc<Stored>,
}

/// A relation of a program's graphs, resolved: looking for what is made of it allocates nothing.
#[derive(Debug)]
pub(crate) struct Key {
    /// How it is made, its graphs called by their place in it.
    how: String,
    /// Its graphs, by their place among the program's parameters.
    graphs: Vec<usize>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// A graph parameter.
    Graph { transposed: bool },
    /// What others make.
    Made(Vec<Key>),
}

impl Key {
    /// Resolves a relation by the places of the program's graphs; `None` if it speaks of one that is not there.
    pub(crate) fn of(relation: &Relation, place: &dyn Fn(&str) -> Option<usize>) -> Option<Self> {
        let graphs = relation.graphs().into_iter().map(place).collect::<Option<Vec<usize>>>()?;
        let kind = match relation {
            Relation::Graph { transposed, .. } => Kind::Graph { transposed: *transposed },
            made => Kind::Made(made.made_of().into_iter().map(|part| Key::of(part, place)).collect::<Option<_>>()?),
        };
        Some(Self { how: without_names(relation, &mut 0).to_string(), graphs, kind })
    }

    /// The graphs themselves, among those that are bound.
    fn leaves<'k>(&'k self, bound: &'k [Option<Graph>]) -> impl Iterator<Item = Option<&'k Graph>> {
        self.graphs.iter().map(|place| bound.get(*place).and_then(Option::as_ref))
    }

    /// The arrays, if they are made. Allocates nothing.
    pub(crate) fn found(&self, bound: &[Option<Graph>]) -> Option<Arc<Stored>> {
        let first = self.leaves(bound).next()??;
        match &self.kind {
            Kind::Graph { transposed } => first.found(*transposed),
            Kind::Made(_) => self.kept(&first.made(), bound),
        }
    }

    /// What is kept of this relation.
    fn kept(&self, made: &[Made], bound: &[Option<Graph>]) -> Option<Arc<Stored>> {
        made.iter().find(|made| made.is(self, bound)).map(|made| made.stored.clone())
    }
}

/// The arrays of a relation, made if they must be; `None` if a graph is not bound, or two sets would be given loops.
pub(crate) fn stored(
    key: &Key,
    bound: &[Option<Graph>],
    cancel: Option<&CancelToken>,
) -> Result<Option<Derived<Stored>>, RuntimeError> {
    let Some(leaves) = key.leaves(bound).collect::<Option<Vec<&Graph>>>() else { return Ok(None) };
    let Some(first) = leaves.first() else { return Ok(None) };
    let made_of = match &key.kind {
        Kind::Graph { transposed } => return first.stored(*transposed, cancel).map(Some),
        Kind::Made(parts) => parts,
    };
    if let Some(parts) = key.found(bound) {
        return Ok(Some(Derived { parts, made: false }));
    }
    // What it is made of may be kept by the same graph: its lock is free until that is there.
    let (mut parts, mut part_made) = (Vec::new(), false);
    for part in made_of {
        match stored(part, bound, cancel)? {
            Some(Derived { parts: part, made }) => {
                parts.push(part);
                part_made |= made;
            }
            None => return Ok(None),
        }
    }
    let mut made = first.made();
    if let Some(parts) = key.kept(&made, bound) {
        return Ok(Some(Derived { parts, made: part_made }));
    }
    let rows = match parts.as_slice() {
        [a] if a.rows.num_src == a.rows.num_dst() => with_loops(&a.rows, cancel)?,
        [a, b] => concat(&a.rows, &b.rows, cancel)?,
        _ => return Ok(None),
    };
    let stored = Arc::new(Stored::new(rows));
    made.retain(|made| !made.graphs.iter().any(Mark::is_gone));
    let graphs = leaves.into_iter().map(Graph::mark).collect();
    made.push(Made { how: key.how.clone(), graphs, stored: stored.clone() });
    Ok(Some(Derived { parts: stored, made: true }))
}

impl Made {
    fn is(&self, key: &Key, bound: &[Option<Graph>]) -> bool {
        let same = |(mark, graph): (&Mark, Option<&Graph>)| graph.is_some_and(|graph| mark.is(graph));
        self.how == key.how
            && self.graphs.len() == key.graphs.len()
            && self.graphs.iter().zip(key.leaves(bound)).all(same)
    }
}

/// The same relation of graphs called 0, 1, …
fn without_names(relation: &Relation, next: &mut usize) -> Relation {
    match relation {
        Relation::Graph { transposed, .. } => {
            let name = next.to_string();
            *next += 1;
            Relation::Graph { name, transposed: *transposed }
        }
        Relation::Loops(inner) => Relation::Loops(Box::new(without_names(inner, next))),
        Relation::Concat(a, b) => {
            let a = without_names(a, next);
            Relation::Concat(Box::new(a), Box::new(without_names(b, next)))
        }
    }
}

/// Room for a relation of so many rows and edges.
fn check(rows: usize, edges: usize, numbered: bool, what: &str) -> Result<(), RuntimeError> {
    let an_edge = if numbered { 12 } else { 4 };
    check_room(8 * (rows as u64 + 1) + an_edge * edges as u64, || format!("{what} of {edges} edges"))
}

/// Each row with its own node at the end. Numbers of loops come after all others.
fn with_loops(rows: &Rows, cancel: Option<&CancelToken>) -> Result<Rows, RuntimeError> {
    let (nodes, edges) = (rows.num_dst(), rows.col.len());
    check(nodes, edges + nodes, true, "a graph with self-loops")?;
    let what = || format!("a graph with self-loops of {} edges", edges + nodes);
    let row_ptr = Buffer::of(rows.row_ptr.iter().enumerate().map(|(row, begin)| begin + row as i64), what)?;
    let (mut col, mut perm) = (Buffer::zeroed(edges + nodes, what)?, Buffer::zeroed(edges + nodes, what)?);
    for row in 0..nodes {
        look(row, cancel)?;
        for position in rows.row_ptr[row] as usize..rows.row_ptr[row + 1] as usize {
            look(position, cancel)?;
            col[position + row] = rows.col[position];
            perm[position + row] = rows.edge(position);
        }
        let last = row_ptr[row + 1] as usize - 1;
        col[last] = row as i32;
        perm[last] = (edges + row) as i64;
    }
    Ok(Rows { num_src: nodes, row_ptr, col, perm: Some(perm) })
}

/// One below the other, the second's nodes and edges numbered after the first's.
fn concat(a: &Rows, b: &Rows, cancel: Option<&CancelToken>) -> Result<Rows, RuntimeError> {
    let (num_src, num_dst) = (a.num_src + b.num_src, a.num_dst() + b.num_dst());
    let nodes = num_src.max(num_dst);
    if i32::try_from(nodes).is_err() {
        return Err(RuntimeError::WideColumns { nodes });
    }
    let (first, edges) = (a.col.len(), a.col.len() + b.col.len());
    let numbered = a.perm.is_some() || b.perm.is_some();
    check(num_dst, edges, numbered, "a graph of two side by side,")?;
    let what = || format!("a graph of two side by side, of {edges} edges");
    let mut row_ptr = Buffer::zeroed(num_dst + 1, what)?;
    row_ptr[..a.row_ptr.len()].copy_from_slice(&a.row_ptr);
    for (place, begin) in row_ptr[a.row_ptr.len()..].iter_mut().zip(&b.row_ptr[1..]) {
        *place = begin + first as i64;
    }
    let mut col = Buffer::zeroed(edges, what)?;
    col[..first].copy_from_slice(&a.col);
    for (position, source) in b.col.iter().enumerate() {
        look(position, cancel)?;
        col[first + position] = source + a.num_src as i32;
    }
    let number =
        |position: usize| if position < first { a.edge(position) } else { b.edge(position - first) + first as i64 };
    let perm = numbered.then(|| Buffer::of((0..edges).map(number), what)).transpose()?;
    Ok(Rows { num_src, row_ptr, col, perm })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_formats::{Csr, Indices};

    fn graph(num_src: usize, row_ptr: &[i64], col: &[i32]) -> Graph {
        Graph::new(&Csr::from_csr(row_ptr.to_vec(), Indices::I32(col.to_vec()), Some(num_src)).unwrap()).unwrap()
    }

    fn built(text: &str, g: &Graph, h: &Graph) -> Option<Arc<Stored>> {
        let place = |name: &str| ["g", "h"].iter().position(|n| *n == name);
        let key = Key::of(&Relation::parse(text).unwrap(), &place)?;
        let bound = [Some(g.clone()), Some(h.clone())];
        let found = key.found(&bound);
        let made = stored(&key, &bound, None).unwrap();
        assert!(found.is_none() || made.as_ref().is_some_and(|derived| !derived.made));
        made.map(|derived| derived.parts)
    }

    #[test]
    fn loops_end_the_rows_and_have_the_last_numbers() {
        let g = graph(3, &[0, 1, 1, 4], &[0, 1, 1, 0]);
        let loops = built("g.loops", &g, &g).unwrap();
        assert_eq!(*loops.rows.row_ptr, [0, 2, 3, 7]);
        assert_eq!(*loops.rows.col, [0, 0, 1, 1, 1, 0, 2]);
        assert_eq!(loops.rows.perm.as_deref(), Some(&[0, 4, 5, 1, 2, 3, 6][..]));
        let turned = built("g.t.loops", &g, &g).unwrap();
        assert_eq!(*turned.rows.row_ptr, [0, 3, 6, 7]);
        assert_eq!(*turned.rows.col, [0, 2, 0, 2, 2, 1, 2]);
        assert_eq!(turned.rows.perm.as_deref(), Some(&[0, 3, 4, 1, 2, 5, 6][..]));
    }

    #[test]
    fn graphs_side_by_side_keep_their_edges() {
        let (dense, second) = (graph(2, &[0, 2, 4, 6], &[0, 1, 0, 1, 0, 1]), graph(3, &[0, 2, 3], &[1, 2, 0]));
        let both = built("cat(g,h)", &dense, &second).unwrap();
        assert_eq!((both.rows.num_src, &*both.rows.row_ptr), (5, &[0, 2, 4, 6, 8, 9][..]));
        assert_eq!((&*both.rows.col, both.rows.perm.as_deref()), (&[0, 1, 0, 1, 0, 1, 3, 4, 2][..], None));
        let turned = built("cat(g.t,h)", &dense, &second).unwrap();
        assert_eq!(turned.rows.perm.as_deref(), Some(&[0, 2, 4, 1, 3, 5, 6, 7, 8][..]));
    }

    #[test]
    fn what_is_made_is_kept_for_the_same_graphs_only() {
        let (g, h) = (graph(2, &[0, 1, 2], &[1, 0]), graph(2, &[0, 0, 1], &[0]));
        let first = built("cat(g,h.loops)", &g, &h).unwrap();
        assert!(Arc::ptr_eq(&first, &built("cat(g,h.loops)", &g.clone(), &h).unwrap()));
        assert!(!Arc::ptr_eq(&first, &built("cat(g,h.loops)", &h, &g).unwrap()));
        assert!(!Arc::ptr_eq(&first, &built("cat(g,h)", &g, &h).unwrap()));
        drop(h);
        let other = graph(2, &[0, 0, 1], &[1]);
        assert!(!Arc::ptr_eq(&first, &built("cat(g,h.loops)", &g, &other).unwrap()));
        assert!(g.made().iter().all(|made| !made.graphs.iter().any(Mark::is_gone)), "of graphs that are gone, nothing");
    }

    #[test]
    fn nodes_of_both_are_counted_before_columns_are_narrowed() {
        let half = graph((1 << 30) + 1, &[0, 0], &[]);
        let key = Key::of(&Relation::parse("cat(g,g)").unwrap(), &|_| Some(0)).unwrap();
        let made = stored(&key, &[Some(half.clone())], None);
        assert!(matches!(made, Err(RuntimeError::WideColumns { nodes }) if nodes == (1 << 31) + 2), "{made:?}");
        assert!(half.made().is_empty());
    }

    #[test]
    fn nothing_is_made_of_what_is_not_there() {
        let (g, wide) = (graph(2, &[0, 1, 2], &[1, 0]), graph(3, &[0, 0], &[]));
        assert!(built("cat(g,x)", &g, &wide).is_none());
        assert!(built("h.loops", &g, &wide).is_none());
        let token = CancelToken::new();
        token.cancel();
        let key = Key::of(&Relation::parse("g.loops").unwrap(), &|_| Some(0)).unwrap();
        assert!(stored(&key, &[None], None).unwrap().is_none(), "not bound");
        let made = stored(&key, &[Some(g.clone())], Some(&token));
        assert!(matches!(made, Err(RuntimeError::Cancelled)));
        assert!(g.made().is_empty());
    }
}
