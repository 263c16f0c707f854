//! The threads that move bytes: so many, named, and gone when the hierarchy is closed.

use super::error::errno;
use super::staging::Staging;
use super::storage::Files;
use super::transfer::Desk;
use super::{IoOperation, MemoryError};
use std::cell::Cell;
use std::collections::VecDeque;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

/// Work for one of the threads.
pub(crate) type Job = Box<dyn FnOnce(&mut Desk) + Send>;

/// A queue and the threads that serve it.
#[derive(Debug)]
pub(crate) struct IoWorkers {
    queue: Arc<Queue>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<QueueState>,
    news: Condvar,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Queue").field("jobs", &self.lock().jobs.len()).finish_non_exhaustive()
    }
}

thread_local! {
    static SERVES: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread moves bytes: it must not wait for others that do.
pub(crate) fn is_worker() -> bool {
    SERVES.get()
}

impl IoWorkers {
    /// Starts so many threads, each with a lane of its own.
    pub(crate) fn start(count: usize, files: &dyn Files, directory: &Path) -> Result<Self, MemoryError> {
        let workers = Self { queue: Arc::default(), threads: Mutex::default() };
        for number in 0..count {
            let started = desk(files, directory).and_then(|desk| workers.spawn(number, desk, count));
            if let Err(error) = started {
                workers.stop();
                return Err(error);
            }
        }
        Ok(workers)
    }

    fn spawn(&self, number: usize, desk: Desk, threads: usize) -> Result<(), MemoryError> {
        let queue = self.queue.clone();
        let thread = Builder::new().name(format!("tiga-io-{number}")).spawn(move || queue.serve(desk));
        let thread = thread.map_err(|error| MemoryError::Threads { threads, errno: errno(&error) })?;
        self.threads.lock().unwrap_or_else(PoisonError::into_inner).push(thread);
        Ok(())
    }

    /// Puts up work; it is dropped when the threads are gone.
    pub(crate) fn submit(&self, job: Job) {
        let mut state = self.queue.lock();
        if !state.closed {
            state.jobs.push_back(job);
            drop(state);
            self.queue.news.notify_one();
        }
    }

    /// Waits for all work to be done and for the threads to end; nothing happens the second time.
    pub(crate) fn stop(&self) {
        self.queue.lock().closed = true;
        self.queue.news.notify_all();
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads.into_iter().filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A worker catches what its work panics with.
            let _ = thread.join();
        }
    }
}

fn desk(files: &dyn Files, directory: &Path) -> Result<Desk, MemoryError> {
    let lane = files.lane().map_err(|errno| MemoryError::of_system(IoOperation::Create, directory, errno))?;
    Ok(Desk { lane, staging: Staging::new()? })
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // Nothing under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(&self, mut desk: Desk) {
        SERVES.set(true);
        while let Some(job) = self.next() {
            // A callback of the host may panic; its message is out, and who waits for the transfer has its result.
            let _ = catch_unwind(AssertUnwindSafe(|| job(&mut desk)));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
