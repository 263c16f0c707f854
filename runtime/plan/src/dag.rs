//! Tasks and the order that their dependencies leave open.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, Reversed};
use std::collections::{BinaryHeap, VecDeque};

/// Tasks `0..len` in declaration order with their dependencies, proven free of cycles.
#[derive(Clone, Debug)]
pub struct Dag {
    /// An edge runs from a task to one that waits for it.
    graph: DiGraph<(), ()>,
    dependencies: Vec<Vec<usize>>,
    order: Vec<usize>,
    /// The inverse of `order`.
    position: Vec<usize>,
}

/// Dependencies that cannot be met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The tasks of one cycle, in declaration order.
    pub tasks: Vec<usize>,
}

impl Dag {
    /// Orders tasks: first in, first out, starting with those that wait for nothing in declaration
    /// order; the tasks that a finished one frees follow in declaration order.
    ///
    /// # Errors
    /// A cycle, also that of a task which waits for itself.
    pub fn new(dependencies: Vec<Vec<usize>>) -> Result<Self, Cycle> {
        let edges = dependencies.iter().map(Vec::len).sum();
        let mut graph = DiGraph::with_capacity(dependencies.len(), edges);
        for _ in &dependencies {
            graph.add_node(());
        }
        let mut dependents = vec![Vec::new(); dependencies.len()];
        for (task, waits_for) in dependencies.iter().enumerate() {
            for &other in waits_for {
                graph.add_edge(NodeIndex::new(other), NodeIndex::new(task), ());
                dependents[other].push(task);
            }
        }
        let order = fifo(&dependencies, &dependents);
        if order.len() < dependencies.len() {
            return Err(Cycle { tasks: first_cycle(&graph) });
        }
        let mut position = vec![0; order.len()];
        for (place, &task) in order.iter().enumerate() {
            position[task] = place;
        }
        Ok(Dag { graph, dependencies, order, position })
    }

    /// How many tasks there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there is no task.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The execution order.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// Where a task stands in the execution order.
    pub fn position(&self, task: usize) -> usize {
        self.position[task]
    }

    /// What a task waits for, as given.
    pub fn dependencies(&self, task: usize) -> &[usize] {
        &self.dependencies[task]
    }

    /// The tasks that wait for this one, in no particular order.
    pub fn dependents(&self, task: usize) -> impl Iterator<Item = usize> {
        self.graph.neighbors(NodeIndex::new(task)).map(NodeIndex::index)
    }

    /// Tasks that nobody waits for, in declaration order.
    pub fn terminals(&self) -> Vec<usize> {
        self.graph.externals(petgraph::Direction::Outgoing).map(NodeIndex::index).collect()
    }

    /// The tasks that are complete before `task` starts, each once, those latest in execution order first.
    pub fn ancestors(&self, task: usize) -> impl Iterator<Item = usize> {
        // Every dependency stands earlier in the order, so copies of one task leave the heap side by side.
        let mut heap = BinaryHeap::new();
        let mut next = Some(task);
        std::iter::from_fn(move || {
            if let Some(task) = next.take() {
                heap.extend(self.dependencies[task].iter().map(|dependency| self.position[*dependency]));
            }
            let place = heap.pop()?;
            while heap.peek() == Some(&place) {
                heap.pop();
            }
            next = Some(self.order[place]);
            next
        })
    }

    /// All tasks that are complete before `task` starts, and all that start after it is complete.
    pub(crate) fn related(&self, task: usize) -> Vec<bool> {
        let mut related = vec![false; self.len()];
        let (start, back) = (NodeIndex::new(task), Reversed(&self.graph));
        let mut walk = Dfs::new(&self.graph, start);
        while let Some(node) = walk.next(&self.graph) {
            related[node.index()] = true;
        }
        let mut walk = Dfs::new(back, start);
        while let Some(node) = walk.next(back) {
            related[node.index()] = true;
        }
        related
    }
}

fn fifo(dependencies: &[Vec<usize>], dependents: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = dependencies.iter().map(Vec::len).collect();
    let mut queue: VecDeque<usize> = (0..open.len()).filter(|task| open[*task] == 0).collect();
    let mut order = Vec::with_capacity(open.len());
    while let Some(task) = queue.pop_front() {
        order.push(task);
        for &next in &dependents[task] {
            open[next] -= 1;
            if open[next] == 0 {
                queue.push_back(next);
            }
        }
    }
    order
}

fn first_cycle(graph: &DiGraph<(), ()>) -> Vec<usize> {
    let components = kosaraju_scc(graph).into_iter();
    let cyclic = components.filter(|nodes| nodes.len() > 1 || graph.contains_edge(nodes[0], nodes[0]));
    let mut cycles: Vec<Vec<usize>> = cyclic.map(|nodes| nodes.into_iter().map(NodeIndex::index).collect()).collect();
    cycles.iter_mut().for_each(|tasks| tasks.sort_unstable());
    cycles.into_iter().min().expect("a graph without a topological order has a cycle")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_first_in_first_out() {
        let diamond = Dag::new(vec![vec![1, 2], vec![3], vec![3], vec![]]).unwrap();
        assert_eq!(diamond.order(), [3, 1, 2, 0]);
        assert_eq!(diamond.terminals(), [0]);
        let late = Dag::new(vec![vec![1], vec![], vec![]]).unwrap();
        assert_eq!(late.order(), [1, 2, 0]);
        assert_eq!(late.terminals(), [0, 2]);
    }

    #[test]
    fn ancestors_come_once_and_latest_first() {
        let diamond = Dag::new(vec![vec![1, 2], vec![3], vec![3], vec![]]).unwrap();
        assert!(diamond.ancestors(0).eq([2, 1, 3]));
        assert_eq!(diamond.ancestors(3).count(), 0);
    }

    #[test]
    fn a_cycle_is_named() {
        assert_eq!(Dag::new(vec![vec![], vec![2], vec![1], vec![1]]).unwrap_err().tasks, [1, 2]);
        assert_eq!(Dag::new(vec![vec![0]]).unwrap_err().tasks, [0]);
    }

    #[test]
    fn long_chains_do_not_recurse() {
        let chain: Vec<Vec<usize>> = (0..100_000_usize).map(|i| i.checked_sub(1).into_iter().collect()).collect();
        let dag = Dag::new(chain.clone()).unwrap();
        assert!(dag.ancestors(99_999).eq((0..99_999).rev()));
        let mut ring = chain;
        ring[0].push(99_999);
        assert_eq!(Dag::new(ring).unwrap_err().tasks.len(), 100_000);
    }
}
