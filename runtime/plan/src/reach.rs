//! Whether one task is complete before another starts, by clocks of the longest chains of dependencies.
//!
//! Tasks are cut into chains, in each of which every task waits for the one before. A task knows how far along each
//! chain it waits; so a task of a chain is asked about in one step, however long ago it was. Clocks are kept for as many
//! of the longest chains as a bounded table has room for; who asks about a task of another one has to walk.

use crate::dag::Dag;

/// Entries of the table of clocks: 64 MiB.
const ROOM: usize = 16 << 20;

/// The clocks of a task graph.
pub(crate) struct Reach {
    /// The chain of each task and its place in it, from 1.
    places: Vec<(usize, u32)>,
    /// Chains that somebody waits for: the first ones.
    awaited: usize,
    /// Those of them that have a column in the table.
    columns: usize,
    /// By task, then by column: the last place of the chain that is complete when the task is.
    clocks: Vec<u32>,
}

impl Reach {
    pub(crate) fn new(dag: &Dag) -> Self {
        Self::within(dag, ROOM)
    }

    fn within(dag: &Dag, room: usize) -> Self {
        let (places, awaited) = chains(dag);
        let columns = awaited.min(room / dag.len().max(1));
        let mut clocks = vec![0_u32; columns * dag.len()];
        for &task in dag.order() {
            for &earlier in dag.dependencies(task) {
                for column in 0..columns {
                    let before = clocks[earlier * columns + column];
                    let own = &mut clocks[task * columns + column];
                    *own = before.max(*own);
                }
            }
            let (chain, place) = places[task];
            if chain < columns {
                clocks[task * columns + chain] = place;
            }
        }
        Reach { places, awaited, columns, clocks }
    }

    /// Whether `earlier` is complete before `task` starts; `None` if no clock tells.
    pub(crate) fn before(&self, earlier: usize, task: usize) -> Option<bool> {
        let (chain, place) = self.places[earlier];
        if chain >= self.awaited {
            return Some(false);
        }
        let clock = (chain < self.columns).then(|| self.clocks[task * self.columns + chain])?;
        Some(earlier != task && clock >= place)
    }
}

/// The chain of each task with its place in it, the longest chains first, and how many of them somebody waits for.
fn chains(dag: &Dag) -> (Vec<(usize, u32)>, usize) {
    // How long the longest way from a task to an end is: a chain goes on where most is still to come.
    let mut heights = vec![0_u32; dag.len()];
    let mut next: Vec<Option<usize>> = vec![None; dag.len()];
    for &task in dag.order().iter().rev() {
        for &earlier in dag.dependencies(task) {
            if next[earlier].is_none() || heights[earlier] <= heights[task] {
                heights[earlier] = heights[task] + 1;
                next[earlier] = Some(task);
            }
        }
    }
    let mut chain_of: Vec<Option<(usize, u32)>> = vec![None; dag.len()];
    let (mut lengths, mut awaited): (Vec<u32>, Vec<bool>) = (Vec::new(), Vec::new());
    for &start in dag.order() {
        let mut task = Some(start).filter(|task| chain_of[*task].is_none());
        if task.is_some() {
            lengths.push(0);
            awaited.push(next[start].is_some());
        }
        let chain = lengths.len().saturating_sub(1);
        while let Some(now) = task {
            lengths[chain] += 1;
            chain_of[now] = Some((chain, lengths[chain]));
            task = next[now].filter(|next| chain_of[*next].is_none());
        }
    }
    // A task that nobody waits for may be a chain of its own: it is before nobody, and needs no clock.
    let mut longest: Vec<usize> = (0..lengths.len()).collect();
    longest.sort_by_key(|chain| std::cmp::Reverse((awaited[*chain], lengths[*chain])));
    let mut ranks = vec![0; lengths.len()];
    longest.into_iter().enumerate().for_each(|(rank, chain)| ranks[chain] = rank);
    let placed = chain_of.into_iter().map(|place| {
        let (chain, place) = place.expect("each task begins a chain or goes on with one");
        (ranks[chain], place)
    });
    (placed.collect(), awaited.into_iter().filter(|awaited| *awaited).count())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(500))]
        #[test]
        fn clocks_say_what_walking_finds(
            edges in prop::collection::vec(0..100_u32, 30 * 30), density in 0..40_u32, room in 0..1000_usize,
        ) {
            let waits = |task: usize| (0..task).filter(|other| edges[task * 30 + other] < density).collect();
            let dag = Dag::new((0..30).map(waits).collect()).unwrap();
            let (whole, part) = (Reach::new(&dag), Reach::within(&dag, room));
            for task in 0..30 {
                let ancestors: Vec<usize> = dag.ancestors(task).collect();
                for other in 0..30 {
                    let expected = ancestors.contains(&other);
                    prop_assert_eq!(whole.before(other, task), Some(expected));
                    prop_assert!(part.before(other, task).is_none_or(|found| found == expected));
                }
            }
        }
    }

    #[test]
    fn a_chain_goes_on_past_its_side_ends() {
        // 0 → 2 → 4, with the ends 1 and 3 on the way.
        let dag = Dag::new(vec![vec![], vec![0], vec![0], vec![2], vec![2]]).unwrap();
        let (places, count) = chains(&dag);
        assert_eq!(count, 1);
        assert_eq!([places[0], places[2]], [(0, 1), (0, 2)]);
    }
}
