//! Where kernels run: a thread pool, and how units are handed out.

use crate::RuntimeError;

/// The order in which units are handed to workers. Nothing of it can show in results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitOrder {
    /// Contiguous runs, ascending.
    Ascending,
    /// Runs of random length in random order, by a seed: for tests.
    Shuffled(u64),
}

/// A thread pool with its settings.
#[derive(Debug)]
pub struct Context {
    pub(crate) pool: rayon::ThreadPool,
    pub(crate) order: UnitOrder,
}

impl Context {
    /// A pool of `threads` workers; 0 means one for each core.
    ///
    /// # Errors
    /// The threads cannot be started.
    pub fn new(threads: usize) -> Result<Self, RuntimeError> {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|i| format!("tiga-{i}"))
            .build()
            .map_err(|e| RuntimeError::Threads { threads, reason: e.to_string() })?;
        Ok(Self { pool, order: UnitOrder::Ascending })
    }

    /// The same with another order of units.
    pub fn with_order(mut self, order: UnitOrder) -> Self {
        self.order = order;
        self
    }

    /// Workers in the pool.
    pub fn threads(&self) -> usize {
        self.pool.current_num_threads()
    }
}
