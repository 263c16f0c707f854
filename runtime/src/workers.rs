//! Threads that run kernels: a pool of their own, or the thread that calls.

use crate::RuntimeError;
use std::thread::{Builder, JoinHandle};

/// Who runs units.
#[derive(Debug)]
pub(crate) enum Workers {
    /// A pool.
    Pool(Pool),
    /// The thread that calls, alone.
    Caller,
}

/// A thread pool whose threads have ended when it is gone: a host may then unload the library.
#[derive(Debug)]
pub(crate) struct Pool {
    // Before `threads`: they end when the pool is dropped.
    pub(crate) rayon: rayon::ThreadPool,
    _threads: Threads,
}

/// Threads that are waited for.
#[derive(Debug, Default)]
struct Threads(Vec<JoinHandle<()>>);

impl Drop for Threads {
    fn drop(&mut self) {
        for thread in self.0.drain(..) {
            // A worker that panicked has handed its panic to the caller already.
            let _ = thread.join();
        }
    }
}

impl Pool {
    /// A pool of `threads` workers; 0 means one for each core.
    pub(crate) fn new(threads: usize) -> Result<Self, RuntimeError> {
        let mut started = Threads::default();
        let builder = rayon::ThreadPoolBuilder::new().num_threads(threads).spawn_handler(|worker| {
            let name = format!("tiga-{}", worker.index());
            started.0.push(Builder::new().name(name).spawn(|| worker.run())?);
            Ok(())
        });
        let rayon = builder.build().map_err(|e| RuntimeError::Threads { threads, reason: e.to_string() })?;
        Ok(Self { rayon, _threads: started })
    }
}

impl Workers {
    /// How many threads run units at once.
    pub(crate) fn count(&self) -> usize {
        match self {
            Workers::Pool(pool) => pool.rayon.current_num_threads(),
            Workers::Caller => 1,
        }
    }
}
