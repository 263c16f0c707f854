//! Which blocks of a region come before which on every way: what a use may rely on.

use crate::{Block, Body, Region};
use indexmap::IndexMap;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::graph::{DiGraph, NodeIndex};

/// The dominator tree of a region.
pub(super) struct Dominance {
    nodes: IndexMap<Block, NodeIndex>,
    tree: Dominators<NodeIndex>,
}

impl Dominance {
    /// Of a region's jumps; those out of the region are left out.
    pub(super) fn new(body: &Body, region: Region) -> Self {
        let mut graph = DiGraph::<(), ()>::new();
        let blocks = &body.region(region).blocks;
        let nodes: IndexMap<Block, NodeIndex> = blocks.iter().map(|block| (*block, graph.add_node(()))).collect();
        for block in blocks {
            for inst in &body.block(*block).insts {
                for (target, _) in &body.inst(*inst).targets {
                    if let Some(node) = nodes.get(target) {
                        graph.add_edge(nodes[block], *node, ());
                    }
                }
            }
        }
        let tree = simple_fast(&graph, nodes[&body.entry(region)]);
        Dominance { nodes, tree }
    }

    /// The block that is entered first.
    pub(super) fn entry(&self) -> Block {
        *self.nodes.keys().next().expect("a region has an entry")
    }

    /// Whether the block belongs to the region.
    pub(super) fn contains(&self, block: Block) -> bool {
        self.nodes.contains_key(&block)
    }

    /// Whether a way leads to the block.
    pub(super) fn reaches(&self, block: Block) -> bool {
        self.tree.dominators(self.nodes[&block]).is_some()
    }

    /// Whether every way to `block` leads through `first`; also true of a block that no way leads to.
    pub(super) fn dominates(&self, first: Block, block: Block) -> bool {
        let Some(mut all) = self.tree.dominators(self.nodes[&block]) else { return true };
        all.any(|node| node == self.nodes[&first])
    }
}
