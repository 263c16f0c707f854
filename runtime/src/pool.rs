//! A pool of threads that is handed work without allocating: a job lies on the stack of the thread that calls, which
//! works on it too.
#![allow(unsafe_code)]

use crate::RuntimeError;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, yield_now};

/// How often a thread that has nothing to do lets others go before it sleeps: the next kernel is soon there.
const PATIENCE: usize = 32;

/// Jobs at once for which the board has room from the start.
const JOBS: usize = 64;

/// A thread pool whose threads have ended when it is gone: a host may then unload the library.
#[derive(Debug)]
pub(crate) struct Pool {
    board: Arc<Board>,
    threads: Vec<JoinHandle<()>>,
}

/// Where jobs are put up and found.
#[derive(Debug)]
struct Board {
    state: Mutex<State>,
    /// Workers sleep here until there is work.
    work: Condvar,
    /// Who waits for a job sleeps here until it is done.
    done: Condvar,
    /// Jobs put up so far: idle workers look at it without the lock.
    put_up: AtomicUsize,
}

#[derive(Debug)]
struct State {
    /// Jobs whose callers wait, the oldest first.
    jobs: Vec<Listed>,
    /// Threads that are up.
    serving: usize,
    closed: bool,
}

/// A job on the stack of its caller, who takes it off the list before it is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listed(NonNull<Job<'static>>);
// SAFETY: a job may be used by several threads at once, and lives while it is on the list.
unsafe impl Send for Listed {}

/// Pieces of work.
struct Job<'w> {
    work: &'w (dyn Fn(usize, usize) + Sync),
    pieces: usize,
    /// The next piece that nobody has begun; beyond `pieces` when there is none.
    next: AtomicUsize,
    /// Workers that may still touch the job; changed under the board's lock.
    inside: AtomicUsize,
    /// What a worker panicked with.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
}

thread_local! {
    /// The board that this thread works for, and its number there.
    static WORKER: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

impl Pool {
    /// So many workers, of which whoever calls [`Pool::run`] is the first: on a machine whose cores are all asked for,
    /// one that only waited would be a core's time lost until others have woken up.
    pub(crate) fn new(threads: usize) -> Result<Self, RuntimeError> {
        let state = State { jobs: Vec::with_capacity(JOBS), serving: 0, closed: false };
        let (work, done) = Default::default();
        let board = Arc::new(Board { state: Mutex::new(state), work, done, put_up: AtomicUsize::new(0) });
        let mut pool = Self { board, threads: Vec::new() };
        for number in 1..threads {
            let board = pool.board.clone();
            let started = Builder::new().name(format!("tiga-{number}")).spawn(move || board.serve(number));
            // Dropping the pool ends those that were started.
            let started = started.map_err(|e| RuntimeError::Threads { threads, reason: e.to_string() })?;
            pool.threads.push(started);
        }
        // Until a thread is up it allocates, which would fall into the first run.
        let mut state = pool.board.lock();
        while state.serving + 1 < threads {
            state = pool.board.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        drop(state);
        Ok(pool)
    }

    pub(crate) fn threads(&self) -> usize {
        self.threads.len() + 1
    }

    /// The number of the worker that this thread is; `None` for one of the host, also while it works.
    pub(crate) fn current(&self) -> Option<usize> {
        let (board, number) = WORKER.get();
        (board == Arc::as_ptr(&self.board).addr()).then_some(number)
    }

    /// Does all pieces, and returns when they are done. A worker of this very pool does them itself: it must not wait
    /// for others that may wait for it. What a piece panics with comes out here.
    pub(crate) fn run(&self, pieces: usize, work: &(dyn Fn(usize, usize) + Sync)) {
        if let Some(number) = self.current() {
            return (0..pieces).for_each(|piece| work(number, piece));
        }
        let (next, inside) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let job = Job { work, pieces, next, inside, panic: Mutex::new(None) };
        let listed = Listed(NonNull::from(&job).cast());
        self.board.lock().jobs.push(listed);
        self.board.put_up.fetch_add(1, Ordering::Release);
        if pieces <= self.threads.len() {
            (1..pieces).for_each(|_| self.board.work.notify_one());
        } else {
            self.board.work.notify_all();
        }
        job.work_off(0);
        self.board.wait_for(&job, listed);
        if let Some(panic) = job.panic.into_inner().unwrap_or_else(PoisonError::into_inner) {
            resume_unwind(panic);
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.board.lock().closed = true;
        self.board.put_up.fetch_add(1, Ordering::Release);
        self.board.work.notify_all();
        for thread in self.threads.drain(..) {
            // A worker catches what its work panics with.
            let _ = thread.join();
        }
    }
}

impl Board {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing under the lock panics.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The life of a worker.
    fn serve(&self, number: usize) {
        WORKER.set((std::ptr::from_ref(self).addr(), number));
        let mut state = self.lock();
        state.serving += 1;
        self.done.notify_all();
        loop {
            if let Some(job) = state.open_job() {
                job.inside.fetch_add(1, Ordering::Relaxed);
                drop(state);
                job.work_off(number);
                state = self.lock();
                // The caller may be gone as soon as the lock is free.
                if job.inside.fetch_sub(1, Ordering::Relaxed) == 1 {
                    self.done.notify_all();
                }
                continue;
            }
            if state.closed {
                return;
            }
            let seen = self.put_up.load(Ordering::Acquire);
            drop(state);
            let news = (0..PATIENCE).any(|_| {
                yield_now();
                self.put_up.load(Ordering::Acquire) != seen
            });
            state = self.lock();
            if !news && state.open_job().is_none() && !state.closed {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    /// Waits until nobody can touch a job any more, and takes it off the list.
    fn wait_for(&self, job: &Job<'_>, listed: Listed) {
        for _ in 0..PATIENCE {
            yield_now();
            if !job.is_open() && job.inside.load(Ordering::Relaxed) == 0 {
                break;
            }
        }
        let mut state = self.lock();
        // A worker that has found the job is inside of it before the lock is free.
        while job.is_open() || job.inside.load(Ordering::Relaxed) > 0 {
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.jobs.retain(|other| *other != listed);
    }
}

impl State {
    /// The oldest job of which there is something left to begin.
    fn open_job<'j>(&self) -> Option<&'j Job<'j>> {
        // SAFETY: on the list, so its caller waits. The reference is used under the lock, and while `inside` keeps the
        // caller waiting.
        self.jobs.iter().map(|listed| unsafe { listed.0.cast::<Job<'j>>().as_ref() }).find(|job| job.is_open())
    }
}

impl Job<'_> {
    fn is_open(&self) -> bool {
        self.next.load(Ordering::Relaxed) < self.pieces
    }

    /// Does pieces until none is left to begin.
    fn work_off(&self, worker: usize) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            if let Err(panic) = catch_unwind(AssertUnwindSafe(|| (self.work)(worker, piece))) {
                self.next.store(self.pieces, Ordering::Relaxed);
                self.panic.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(panic);
            }
        }
    }
}

impl fmt::Debug for Job<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("pieces", &self.pieces).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn every_piece_is_done_once_by_a_worker() {
        for threads in [1, 2, 5] {
            let pool = Pool::new(threads).unwrap();
            for pieces in [1, 2, 3, 40] {
                let (seen, others) = (AtomicU64::new(0), AtomicUsize::new(0));
                pool.run(pieces, &|worker, piece| {
                    assert_eq!(seen.fetch_or(1 << piece, Ordering::Relaxed) & (1 << piece), 0, "{piece}");
                    others.fetch_add(usize::from(pool.current().unwrap_or(0) != worker), Ordering::Relaxed);
                });
                assert_eq!((seen.into_inner(), others.into_inner()), ((1 << pieces) - 1, 0));
            }
        }
    }

    #[test]
    fn several_callers_share_the_threads() {
        let (pool, sum) = (Pool::new(2).unwrap(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..500 {
                        pool.run(7, &|_, piece| _ = sum.fetch_add(piece, Ordering::Relaxed));
                    }
                });
            }
        });
        assert_eq!(sum.into_inner(), 4 * 500 * 21);
    }

    #[test]
    fn a_worker_that_asks_its_own_pool_does_the_work() {
        let (pool, count) = (Pool::new(2).unwrap(), AtomicUsize::new(0));
        pool.run(4, &|_, _| pool.run(3, &|_, _| _ = count.fetch_add(1, Ordering::Relaxed)));
        assert_eq!(count.into_inner(), 12);
    }

    #[test]
    fn a_panic_comes_out_at_the_caller_and_the_pool_lives_on() {
        let pool = Pool::new(2).unwrap();
        let run = || pool.run(50, &|_, piece| assert_ne!(piece, 3, "as asked"));
        assert!(catch_unwind(AssertUnwindSafe(run)).is_err());
        let count = AtomicUsize::new(0);
        pool.run(50, &|_, _| _ = count.fetch_add(1, Ordering::Relaxed));
        assert_eq!(count.into_inner(), 50);
    }
}
