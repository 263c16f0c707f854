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

/// A graph of a shape on `nodes` nodes (fewer if the shape says so).
pub fn random_graph(rng: &mut Rng, shape: GraphShape, nodes: usize) -> Csr {
    let (nodes, edges) = match shape {
        GraphShape::Random => (nodes, rng.usize(0..=nodes * 3)),
        GraphShape::Hub => (nodes, 1200 + rng.usize(0..200)),
        GraphShape::NoEdges => (nodes, 0),
        GraphShape::Nothing => (0, 0),
    };
    let node = |rng: &mut Rng| if nodes == 0 { 0 } else { rng.usize(0..nodes) as i32 };
    let hub = node(rng);
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    for _ in 0..edges {
        src.push(node(rng));
        dst.push(if shape == GraphShape::Hub && rng.u8(0..16) > 0 { hub } else { node(rng) });
    }
    let (csr, _) = Csr::from_coo(&Indices::I32(src), &Indices::I32(dst), Some(nodes), Some(nodes))
        .expect("edges lie between nodes");
    csr
}
