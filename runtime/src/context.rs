//! Where kernels run, where their memory comes from, and what is logged and traced.

use crate::hooks::Log;
use crate::trace::{Span, Trace};
use crate::workers::Workers;
use crate::{Allocator, Hierarchy, LogLevel, RuntimeError, TaskOrder};
use std::sync::{Arc, Mutex, PoisonError};

/// The order in which units are handed to workers. Nothing of it can show in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitOrder {
    /// Contiguous runs, ascending.
    Ascending,
    /// Runs of random length in random order, by a seed: for tests.
    Shuffled(u64),
}

/// Workers with their settings. There may be several at once; each has workers of its own.
#[derive(Debug)]
pub struct Context {
    pub(crate) workers: Workers,
    pub(crate) order: UnitOrder,
    pub(crate) allocator: Option<Arc<dyn Allocator>>,
    pub(crate) hierarchy: Option<Arc<Hierarchy>>,
    pub(crate) tasks: TaskOrder,
    pub(crate) log: Option<Log>,
    pub(crate) trace: Option<Trace>,
}

impl Context {
    /// `threads` workers, of which whoever calls is one and the others wait in a pool; 0 means one for each core.
    /// Dropping it waits until they have ended.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, RuntimeError> {
        Ok(Self::with_workers(Workers::pool(threads)?))
    }

    /// No pool: everything runs on the thread that calls.
    pub fn on_caller() -> Self {
        Self::with_workers(Workers::Caller)
    }

    fn with_workers(workers: Workers) -> Self {
        Self {
            workers,
            order: UnitOrder::Ascending,
            allocator: None,
            hierarchy: None,
            tasks: TaskOrder::Free,
            log: None,
            trace: None,
        }
    }

    /// The same with another order of units.
    pub fn with_order(mut self, order: UnitOrder) -> Self {
        self.order = order;
        self
    }

    /// The same with the host's memory for temporaries and scratch. What is derived from a graph belongs to the graph
    /// and does not come from there.
    pub fn with_allocator(mut self, allocator: Arc<dyn Allocator>) -> Self {
        self.allocator = Some(allocator);
        self
    }

    /// The same with memory in tiers: what plans own are instances in this hierarchy, and plans are made to fit into
    /// its budgets, by copies that leave main memory and come back. The host's allocator is asked for
    /// scratch memory of kernels only. Prepared programs
    /// refuse to run here: they have their memory already.
    pub fn with_hierarchy(mut self, hierarchy: Arc<Hierarchy>) -> Self {
        self.hierarchy = Some(hierarchy);
        self
    }

    /// The memory in tiers, if there is any.
    pub fn hierarchy(&self) -> Option<&Hierarchy> {
        self.hierarchy.as_deref()
    }

    /// The same with another order of tasks, where memory has tiers.
    pub fn with_task_order(mut self, order: TaskOrder) -> Self {
        self.tasks = order;
        self
    }

    /// The same with a sink for log lines up to a level, called on the thread that runs.
    pub fn with_log(mut self, level: LogLevel, sink: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        self.log = Some(Log { level, sink: Arc::new(sink) });
        self
    }

    /// The same with a sink for spans, called as each ends, on the thread that did the work: on several at once.
    /// Without one, nobody looks at a clock.
    pub fn with_trace(mut self, sink: impl Fn(&Span<'_>) + Send + Sync + 'static) -> Self {
        self.trace = Some(Trace::new(sink));
        self
    }

    /// How many threads run units at once.
    pub fn threads(&self) -> usize {
        self.workers.count()
    }

    /// Copies on all threads, each its part, as kernels are run: what the machine's memory gives at most.
    ///
    /// # Panics
    /// The two are not of one length.
    pub fn copy(&self, from: &[u8], to: &mut [u8]) {
        assert_eq!(from.len(), to.len(), "a copy has the length of what is copied");
        let part = from.len().div_ceil(self.threads() * 8).max(1 << 16);
        let parts: Vec<_> = from.chunks(part).zip(to.chunks_mut(part)).map(Mutex::new).collect();
        self.workers.run(parts.len(), &|_, piece| {
            let mut part = parts[piece].lock().unwrap_or_else(PoisonError::into_inner);
            let (from, to) = &mut *part;
            to.copy_from_slice(from);
        });
    }

    /// Logs a line if anyone listens.
    pub(crate) fn log(&self, level: LogLevel, line: impl FnOnce() -> String) {
        if let Some(log) = self.log.as_ref().filter(|log| level <= log.level) {
            (log.sink)(level, &line());
        }
    }
}
