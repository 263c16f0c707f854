//! Which task of a body may start next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tiga_plan::dag::Dag;

/// The order in which tasks that may start are started, where memory has tiers. Nothing of it can show in results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TaskOrder {
    /// Transfers as soon as they may, beside other tasks; those in execution order.
    #[default]
    Free,
    /// Each task is complete before the next one starts, in execution order.
    Serial,
    /// Any task that may start, by a seed: for tests.
    Shuffled(u64),
}

/// The tasks of a body that are left.
#[derive(Debug)]
pub(crate) struct Ready<'d> {
    dag: &'d Dag,
    /// By task, how many it still waits for.
    open: Vec<usize>,
    /// Tasks that may start: a rank, then the place in execution order, the least first.
    ready: BinaryHeap<Reverse<(u64, usize)>>,
    order: TaskOrder,
    /// Tasks that are not complete.
    left: usize,
    state: u64,
}

impl<'d> Ready<'d> {
    /// Nothing has started. `early` says which tasks go before others.
    pub(crate) fn new(dag: &'d Dag, order: TaskOrder, early: &dyn Fn(usize) -> bool) -> Self {
        let open: Vec<usize> = (0..dag.len()).map(|task| dag.dependencies(task).len()).collect();
        let state = if let TaskOrder::Shuffled(seed) = order { seed | 1 } else { 1 };
        let mut ready = Self { dag, open, ready: BinaryHeap::new(), order, left: dag.len(), state };
        for task in (0..dag.len()).filter(|task| dag.dependencies(*task).is_empty()) {
            ready.push(task, early);
        }
        ready
    }

    /// A task that may start; it is not offered again.
    pub(crate) fn next(&mut self) -> Option<usize> {
        self.ready.pop().map(|Reverse((_, place))| self.dag.order()[place])
    }

    /// A task is complete: others may start.
    pub(crate) fn complete(&mut self, task: usize, early: &dyn Fn(usize) -> bool) {
        self.left -= 1;
        for later in self.dag.dependents(task) {
            self.open[later] -= 1;
            if self.open[later] == 0 {
                self.push(later, early);
            }
        }
    }

    /// Whether all tasks are complete.
    pub(crate) fn is_done(&self) -> bool {
        self.left == 0
    }

    fn push(&mut self, task: usize, early: &dyn Fn(usize) -> bool) {
        let rank = match self.order {
            TaskOrder::Free => u64::from(!early(task)),
            TaskOrder::Serial => 0,
            TaskOrder::Shuffled(_) => self.random(),
        };
        self.ready.push(Reverse((rank, self.dag.position(task))));
    }

    /// xorshift (Marsaglia 2003).
    fn random(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(order: TaskOrder) -> Vec<usize> {
        let dag = Dag::new(vec![vec![], vec![0], vec![0], vec![1], vec![]]).unwrap();
        let early = |task: usize| task == 4;
        let mut ready = Ready::new(&dag, order, &early);
        let mut done = Vec::new();
        while let Some(task) = ready.next() {
            done.push(task);
            ready.complete(task, &early);
        }
        assert!(ready.is_done());
        done
    }

    #[test]
    fn tasks_start_when_all_they_wait_for_are_complete() {
        assert_eq!(run(TaskOrder::Serial), [0, 4, 1, 2, 3]);
        assert_eq!(run(TaskOrder::Free), [4, 0, 1, 2, 3]);
        let orders: std::collections::BTreeSet<Vec<usize>> =
            (0..200).map(|s| run(TaskOrder::Shuffled(s * 77))).collect();
        assert!(orders.len() > 5, "{orders:?}");
        for order in orders {
            let at = |task| order.iter().position(|other| *other == task);
            assert!(at(0) < at(1) && at(0) < at(2) && at(1) < at(3), "{order:?}");
        }
    }
}
