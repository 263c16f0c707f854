//! Random graphs with everything that breaks loops: isolated nodes, empty rows, duplicates, self-loops, hubs, nothing.

use fastrand::Rng;
use tiga_formats::{Csr, Indices};

/// What a graph looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphShape {
    /// Any edges between a few nodes: duplicates, self-loops, isolated nodes.
    Random,
    /// One destination with nearly all edges.
    Hub,
    /// Nodes without edges.
    NoEdges,
    /// No nodes at all.
    Nothing,
}

impl GraphShape {
    /// All shapes.
    pub const ALL: [GraphShape; 4] = [GraphShape::Random, GraphShape::Hub, GraphShape::NoEdges, GraphShape::Nothing];
}

/// A graph of a shape on `nodes` nodes (fewer if the shape says so), or from as many `sources` if there are two sets.
pub fn random_graph(rng: &mut Rng, shape: GraphShape, nodes: usize, sources: Option<usize>) -> Csr {
    let sources = sources.unwrap_or(nodes);
    let (sources, nodes, edges) = match shape {
        GraphShape::Random => (sources, nodes, rng.usize(0..=nodes * 3)),
        GraphShape::Hub => (sources, nodes, 1200 + rng.usize(0..200)),
        GraphShape::NoEdges => (sources, nodes, 0),
        GraphShape::Nothing => (0, 0, 0),
    };
    let node = |rng: &mut Rng, nodes: usize| if nodes == 0 { 0 } else { rng.usize(0..nodes) as i32 };
    let hub = node(rng, nodes);
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    for _ in 0..edges {
        src.push(node(rng, sources));
        dst.push(if shape == GraphShape::Hub && rng.u8(0..16) > 0 { hub } else { node(rng, nodes) });
    }
    let (csr, _) = Csr::from_coo(&Indices::I32(src), &Indices::I32(dst), Some(sources), Some(nodes))
        .expect("edges lie between nodes");
    csr
}

/// A graph between given numbers of nodes, with a few edges if there are nodes.
pub(super) fn second_graph(rng: &mut Rng, sources: usize, nodes: usize) -> Csr {
    let edges = if sources.min(nodes) == 0 { 0 } else { rng.usize(0..=nodes * 3) };
    let mut ends = |nodes: usize| Indices::I32((0..edges).map(|_| rng.usize(0..nodes) as i32).collect());
    let (src, dst) = (ends(sources), ends(nodes));
    Csr::from_coo(&src, &dst, Some(sources), Some(nodes)).expect("edges lie between nodes").0
}
