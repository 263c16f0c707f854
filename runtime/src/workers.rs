//! Threads that run kernels: a pool of their own, or the thread that calls.

use crate::RuntimeError;
use crate::pool::Pool;

/// Who runs pieces of work.
#[derive(Debug)]
pub(crate) enum Workers {
    /// A pool.
    Pool(Pool),
    /// The thread that calls, alone.
    Caller,
}

impl Workers {
    /// A pool of `threads` workers; 0 means one for each core.
    pub(crate) fn pool(threads: usize) -> Result<Self, RuntimeError> {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        Pool::new(if threads == 0 { cores() } else { threads }).map(Self::Pool)
    }

    /// How many threads run pieces at once.
    pub(crate) fn count(&self) -> usize {
        match self {
            Workers::Pool(pool) => pool.threads(),
            Workers::Caller => 1,
        }
    }

    /// The number of the worker that this thread is; `None` for one of the host, also while it works.
    pub(crate) fn current(&self) -> Option<usize> {
        match self {
            Workers::Pool(pool) => pool.current(),
            Workers::Caller => None,
        }
    }

    /// Does the pieces `0..pieces`, in any order and several at once; `work` is given the worker's number and the
    /// piece's. Allocates nothing.
    pub(crate) fn run(&self, pieces: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        match self {
            Workers::Pool(pool) if pieces > 1 => pool.run(pieces, work),
            _ => {
                let worker = self.current().unwrap_or(0);
                (0..pieces).for_each(|piece| work(worker, piece));
            }
        }
    }
}
