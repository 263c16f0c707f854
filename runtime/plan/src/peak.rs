//! How many bytes live at once: in one order of the tasks, and in the worst of all that their dependencies allow.

use crate::dag::Dag;
use petgraph::algo::dinics;
use petgraph::graph::{DiGraph, NodeIndex};
use std::collections::BTreeSet;

/// Bytes that a task allocates as it starts and that a task frees as it is complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Life {
    /// How many.
    pub(crate) bytes: u64,
    /// The tasks of which the first to start allocates them, ascending.
    pub(crate) writers: Vec<usize>,
    /// The task that frees them, which waits for all who use them or is the only one; `None` if they live to the end.
    pub(crate) release: Option<usize>,
}

/// The most bytes at once when tasks run one after the other in execution order; `None` beyond 64 bits.
pub(crate) fn in_execution_order(dag: &Dag, lives: &[Life]) -> Option<u64> {
    let mut begins = vec![0u64; dag.len()];
    let mut ends = vec![0u64; dag.len()];
    for life in lives {
        let first = life.writers.iter().map(|task| dag.position(*task)).min()?;
        begins[first] = begins[first].checked_add(life.bytes)?;
        if let Some(release) = life.release {
            let place = dag.position(release);
            ends[place] = ends[place].checked_add(life.bytes)?;
        }
    }
    let (mut live, mut peak) = (0u64, 0u64);
    for (begin, end) in begins.into_iter().zip(ends) {
        live = live.checked_add(begin)?;
        peak = peak.max(live);
        live -= end;
    }
    Some(peak)
}

/// The most bytes at once, whichever tasks run at the same time and in whatever order; `None` beyond 64 bits.
///
/// Two lives never meet if one is released before the other can begin, and lives of which any two can meet can all
/// meet at once. So the worst moment is the heaviest antichain of "is released before", which by Dilworth's theorem is
/// the least number of bytes with which all lives can be served if released bytes are handed on along dependencies.
/// What can be handed on is a maximum flow: from each release to each beginning that waits for it. It is exact, but
/// for lives with several first writers, where it may be too large.
pub(crate) fn in_any_order(dag: &Dag, lives: &[Life]) -> Option<u64> {
    let all = lives.iter().try_fold(0u64, |sum, life| sum.checked_add(life.bytes))?;
    let mut network: DiGraph<(), u64> = DiGraph::with_capacity(2 * dag.len() + 2, 4 * dag.len());
    for _ in 0..2 * dag.len() + 2 {
        network.add_node(());
    }
    let (source, sink) = (NodeIndex::new(2 * dag.len()), NodeIndex::new(2 * dag.len() + 1));
    let start = |task: usize| NodeIndex::new(2 * task);
    let complete = |task: usize| NodeIndex::new(2 * task + 1);
    for task in 0..dag.len() {
        network.add_edge(start(task), complete(task), all);
        for &earlier in dag.dependencies(task) {
            network.add_edge(complete(earlier), start(task), all);
        }
    }
    for life in lives.iter().filter(|life| life.bytes > 0) {
        if let Some(release) = life.release {
            network.add_edge(source, complete(release), life.bytes);
        }
        let first = first_writers(dag, &life.writers);
        let begin = match first[..] {
            [only] => start(only),
            // Whoever of them starts first allocates: only what all of them wait for is surely complete.
            _ => {
                let begin = network.add_node(());
                for earlier in common_ancestors(dag, &first) {
                    network.add_edge(complete(earlier), begin, all);
                }
                begin
            }
        };
        network.add_edge(begin, sink, life.bytes);
    }
    let (handed_on, _) = dinics(&network, source, sink);
    Some(all - handed_on)
}

/// Those of these tasks that wait for none of the others.
pub(crate) fn first_writers(dag: &Dag, writers: &[usize]) -> Vec<usize> {
    if writers.len() < 2 {
        return writers.to_vec();
    }
    let among: BTreeSet<usize> = writers.iter().copied().collect();
    let floor = writers.iter().map(|task| dag.position(*task)).min().unwrap_or(0);
    let later = |task: &usize| {
        let near = dag.ancestors(*task).take_while(|earlier| dag.position(*earlier) >= floor);
        near.into_iter().any(|earlier| among.contains(&earlier))
    };
    writers.iter().copied().filter(|task| !later(task)).collect()
}

/// The tasks that all of these wait for, but for those that others of them wait for.
fn common_ancestors(dag: &Dag, tasks: &[usize]) -> Vec<usize> {
    let mut sets = tasks.iter().map(|task| dag.ancestors(*task).collect::<BTreeSet<_>>());
    let first = sets.next().unwrap_or_default();
    let common = sets.fold(first, |common, set| common.intersection(&set).copied().collect());
    let last = |task: &usize| !dag.dependents(*task).any(|later| common.contains(&later));
    common.iter().copied().filter(last).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn life(bytes: u64, writers: &[usize], release: Option<usize>) -> Life {
        Life { bytes, writers: writers.to_vec(), release }
    }

    #[test]
    fn two_chains_may_meet_at_their_worst() {
        // a writes 5, b frees it; c writes 7, d frees it; nothing orders the two.
        let dag = Dag::new(vec![vec![], vec![0], vec![], vec![2]]).unwrap();
        let lives = [life(5, &[0], Some(1)), life(7, &[2], Some(3))];
        assert_eq!(in_any_order(&dag, &lives), Some(12));
        let ordered = Dag::new(vec![vec![], vec![0], vec![1], vec![2]]).unwrap();
        assert_eq!(in_any_order(&ordered, &lives), Some(7));
        assert_eq!(in_execution_order(&ordered, &lives), Some(7));
    }

    #[test]
    fn a_tasks_own_memory_lives_beside_what_it_writes() {
        let dag = Dag::new(vec![vec![], vec![0]]).unwrap();
        let lives = [life(5, &[0], None), life(3, &[0], Some(0)), life(4, &[1], Some(1))];
        assert_eq!(in_any_order(&dag, &lives), Some(9));
        assert_eq!(in_execution_order(&dag, &lives), Some(9));
    }

    #[test]
    fn more_than_64_bits_are_not_counted() {
        let dag = Dag::new(vec![vec![]]).unwrap();
        assert_eq!(in_any_order(&dag, &[life(u64::MAX, &[0], None), life(1, &[0], None)]), None);
        assert_eq!(in_execution_order(&dag, &[life(u64::MAX, &[0], None), life(1, &[0], None)]), None);
    }

    /// Tasks that wait for earlier ones, with lives that begin at one or two tasks and end at or after them.
    fn case() -> impl Strategy<Value = (Vec<Vec<usize>>, Vec<Life>)> {
        let waits = prop::collection::vec(prop::collection::vec(any::<prop::sample::Index>(), 0..3), 1..7);
        let index = any::<prop::sample::Index>;
        let lives = prop::collection::vec((1..20u64, index(), any::<bool>()), 0..5);
        (waits, lives).prop_map(|(waits, lives)| {
            let mut dag: Vec<Vec<usize>> = Vec::new();
            for own in waits {
                let earlier: BTreeSet<usize> =
                    if dag.is_empty() { BTreeSet::new() } else { own.iter().map(|i| i.index(dag.len())).collect() };
                dag.push(earlier.into_iter().collect());
            }
            let tasks = dag.len();
            let mut all = Vec::new();
            for (bytes, at, own) in lives {
                let writer = at.index(tasks);
                // Its release is a task of its own, which waits for the writer.
                let release = if own {
                    writer
                } else {
                    dag.push(vec![writer]);
                    dag.len() - 1
                };
                all.push(life(bytes, &[writer], Some(release)));
            }
            (dag, all)
        })
    }

    /// Tries every set of started and complete tasks that the dependencies allow.
    fn brute_force(waits: &[Vec<usize>], lives: &[Life]) -> u64 {
        let tasks = waits.len();
        let mut peak = 0;
        let states = 3usize.pow(u32::try_from(tasks).unwrap());
        for code in 0..states {
            // 0 waiting, 1 running, 2 complete
            let state: Vec<usize> = (0..tasks).map(|t| code / 3usize.pow(t as u32) % 3).collect();
            if (0..tasks).any(|t| state[t] > 0 && waits[t].iter().any(|earlier| state[*earlier] < 2)) {
                continue;
            }
            let live = |life: &&Life| {
                life.writers.iter().any(|w| state[*w] > 0) && life.release.is_none_or(|release| state[release] < 2)
            };
            peak = peak.max(lives.iter().filter(live).map(|life| life.bytes).sum());
        }
        peak
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]
        #[test]
        fn the_worst_order_is_found((waits, lives) in case()) {
            let dag = Dag::new(waits.clone()).unwrap();
            let found = in_any_order(&dag, &lives).unwrap();
            prop_assert_eq!(found, brute_force(&waits, &lives));
            prop_assert!(in_execution_order(&dag, &lives).unwrap() <= found);
        }
    }
}
