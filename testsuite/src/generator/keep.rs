//! Inputs cut down to some nodes, edges and features.

use super::Inputs;
use super::program::SECOND_EDGES;
use tiga_abi::{DType, Poly};
use tiga_ir::interp::{Relation, Tensor, Value as Argument};
use tiga_ir::{Func, RelType, Value};

/// What stays of the inputs.
#[derive(Clone)]
pub(super) struct Keep {
    /// Destinations of the first graph.
    pub nodes: Vec<usize>,
    /// Its sources.
    pub sources: Vec<usize>,
    /// Of each graph.
    pub edges: Vec<Vec<usize>>,
    pub features: usize,
}

impl Keep {
    /// Everything; `None` if there is no graph.
    pub fn all(inputs: &Inputs) -> Option<Self> {
        let first = inputs.relations().next()?;
        let edges = inputs.relations().map(|relation| (0..relation.num_edges()).collect()).collect();
        let [nodes, sources] = [first.num_dst(), first.num_src()].map(|n| (0..n).collect());
        Some(Self { nodes, sources, edges, features: inputs.features })
    }

    pub fn inputs(&self, func: &Func, inputs: &Inputs) -> Option<Inputs> {
        let rels = func.params().iter().filter_map(|v| func.body.ty(*v).as_rel());
        let (mut relations, mut kept) = (Vec::new(), self.clone());
        for (i, (rel, relation)) in rels.zip(inputs.relations()).enumerate() {
            let (relation, edges) = self.relation(i, rel, relation)?;
            kept.edges[i] = edges;
            relations.push(relation);
        }
        let mut relations = relations.into_iter();
        let argument = |(param, value): (&Value, &Argument)| match value {
            Argument::Tensor(t) => {
                let extents = func.body.ty(*param).as_tensor()?.extents();
                Some(kept.tensor(&extents, t).into())
            }
            _ => relations.next().map(Argument::from),
        };
        let values = func.params().iter().zip(&inputs.values).map(argument).collect::<Option<_>>()?;
        Some(Inputs { values, features: self.features })
    }

    /// The entities of a set of a graph.
    fn set(&self, set: &str) -> &[usize] {
        if set == "N" { &self.nodes } else { &self.sources }
    }

    /// What stays of a graph, and which edges that are.
    fn relation(&self, index: usize, rel: &RelType, relation: &Relation) -> Option<(Relation, Vec<usize>)> {
        let (sources, rows) = (self.set(&rel.src), self.set(&rel.dst));
        let new = |node: usize| sources.iter().position(|n| *n == node);
        let (mut row_ptr, mut col, mut edges) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for edge in relation.row(*row).filter(|e| self.edges[index].binary_search(e).is_ok()) {
                if let Some(source) = new(relation.source(edge)) {
                    col.push(source as i64);
                    edges.push(edge);
                }
            }
            row_ptr.push(col.len() as i64);
        }
        Some((Relation::csr(sources.len(), row_ptr, col).ok()?, edges))
    }

    fn tensor(&self, extents: &[Poly], tensor: &Tensor) -> Tensor {
        let kept = |(poly, extent): (&Poly, &usize)| match poly.as_symbol().map(|s| &**s) {
            Some("N") => self.nodes.clone(),
            Some("M") => self.sources.clone(),
            Some("E") => self.edges[0].clone(),
            // Its graph may be gone, being unused.
            Some(SECOND_EDGES) => self.edges.get(1).cloned().unwrap_or_else(|| (0..*extent).collect()),
            _ if poly.symbols().iter().any(|s| &**s == "F") => {
                // Sizes of random programs are multiples of F.
                let kept = poly.eval(&|_| Some(self.features as i64)).expect("sizes are small");
                (0..(kept as usize).min(*extent)).collect()
            }
            _ => (0..*extent).collect(),
        };
        let axes: Vec<Vec<usize>> = extents.iter().zip(tensor.shape()).map(kept).collect();
        let mut places = vec![0];
        for (axis, extent) in axes.iter().zip(tensor.shape()) {
            places = places.iter().flat_map(|p| axis.iter().map(move |i| p * extent + i)).collect();
        }
        let elems = places.into_iter().map(|p| tensor.elems()[p]).collect();
        let dtype: DType = tensor.dtype();
        Tensor::new(dtype, axes.iter().map(Vec::len).collect(), elems).expect("one element a place")
    }
}
