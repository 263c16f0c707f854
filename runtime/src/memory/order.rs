//! Who waits for whom: completions, and the order of readers and writers of an instance. No bytes are moved here, so
//! that a model checker can try every order of steps (`runtime/tests/memory_order_model`).
//!
//! Laws: a transfer starts when the source's last write, the destination's last write and all readers of the
//! destination are complete. It joins both orders in one step: with two, of `a → b` and `b → a` each could come before
//! the other, and both would wait for good.

use super::sync::{Arc, AtomicUsize, Condvar, Mutex, MutexGuard, Ordering};

/// What a completion can fail with.
pub(crate) trait Failure: Clone + Send + 'static {
    /// The work was dropped before it was done.
    fn abandoned() -> Self;
}

/// What hears of a result.
type Callback<E> = Box<dyn FnOnce(&Result<(), E>) + Send>;

/// What is known of work.
enum State<E> {
    Pending(Vec<Callback<E>>),
    Done(Result<(), E>),
}

/// Work and those who wait for it.
struct Cell<E> {
    state: Mutex<State<E>>,
    done: Condvar,
}

/// The end of some work, for those who wait.
pub(crate) struct Completion<E>(Arc<Cell<E>>);

impl<E> Clone for Completion<E> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

/// The end of some work, for the one who does it. Dropped before it is finished, it fails: nobody waits for good.
pub(crate) struct Promise<E: Failure> {
    cell: Option<Arc<Cell<E>>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing under these locks panics.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// New work.
pub(crate) fn promise<E: Failure>() -> (Promise<E>, Completion<E>) {
    let cell = Arc::new(Cell { state: Mutex::new(State::Pending(Vec::new())), done: Condvar::new() });
    (Promise { cell: Some(cell.clone()) }, Completion(cell))
}

impl<E: Failure> Completion<E> {
    /// Work that is done.
    pub(crate) fn done() -> Self {
        Self(Arc::new(Cell { state: Mutex::new(State::Done(Ok(()))), done: Condvar::new() }))
    }

    /// The result, if there is one.
    pub(crate) fn outcome(&self) -> Option<Result<(), E>> {
        match &*lock(&self.0.state) {
            State::Pending(_) => None,
            State::Done(result) => Some(result.clone()),
        }
    }

    /// Whether it is done, well or not.
    pub(crate) fn ready(&self) -> bool {
        self.outcome().is_some()
    }

    /// Waits for the result.
    pub(crate) fn wait(&self) -> Result<(), E> {
        let mut state = lock(&self.0.state);
        loop {
            match &*state {
                State::Done(result) => return result.clone(),
                State::Pending(_) => {
                    state = self.0.done.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
                }
            }
        }
    }

    /// Calls `heard` once, with the result: now if it is there, else on the thread that finishes.
    pub(crate) fn then(&self, heard: impl FnOnce(&Result<(), E>) + Send + 'static) {
        let mut state = lock(&self.0.state);
        let result = match &mut *state {
            State::Pending(callbacks) => return callbacks.push(Box::new(heard)),
            State::Done(result) => result.clone(),
        };
        drop(state);
        heard(&result);
    }
}

impl<E: Failure> Promise<E> {
    /// The work has come to this.
    pub(crate) fn finish(mut self, result: Result<(), E>) {
        if let Some(cell) = self.cell.take() {
            settle(&cell, result);
        }
    }
}

impl<E: Failure> Drop for Promise<E> {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.take() {
            settle(&cell, Err(E::abandoned()));
        }
    }
}

fn settle<E: Failure>(cell: &Cell<E>, result: Result<(), E>) {
    let before = std::mem::replace(&mut *lock(&cell.state), State::Done(result.clone()));
    cell.done.notify_all();
    if let State::Pending(callbacks) = before {
        // Without the lock: a callback may look at the completion.
        callbacks.into_iter().for_each(|heard| heard(&result));
    }
}

/// Calls `start` once all of them are done, well or not, on the thread that finishes the last.
pub(crate) fn when_all<E: Failure>(all: Vec<Completion<E>>, start: impl FnOnce() + Send + 'static) {
    let gate = Arc::new(Gate { left: AtomicUsize::new(all.len() + 1), start: Mutex::new(Some(Box::new(start))) });
    for completion in all {
        let gate = gate.clone();
        completion.then(move |_| gate.step());
    }
    // Its own step: none of the others opens the gate before all are asked.
    gate.step();
}

/// Opens at the last step.
struct Gate {
    left: AtomicUsize,
    start: Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

impl Gate {
    fn step(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            let start = lock(&self.start).take();
            if let Some(start) = start {
                start();
            }
        }
    }
}

/// Why nothing may begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Closed;

/// The order of readers and writers of one instance.
pub(crate) struct Order<E> {
    /// Orders are locked by ascending number.
    id: u64,
    state: Mutex<OrderState<E>>,
}

struct OrderState<E> {
    /// The last write.
    write: Option<Completion<E>>,
    /// Readers that may be under way.
    readers: Vec<Completion<E>>,
    /// The first failure of those that are no longer listed.
    failed: Option<E>,
    closed: bool,
}

/// What closing finds.
pub(crate) enum Closing<E> {
    /// What is to be waited for, and the first failure of readers that ended before.
    First { pending: Vec<Completion<E>>, failed: Option<E> },
    /// It is closed already, or about to be.
    Again,
    /// Something is under way, and the caller may not wait.
    Busy,
}

impl<E: Failure> Order<E> {
    /// An instance that nothing was done to; no two have the same number.
    pub(crate) fn new(id: u64) -> Self {
        let state = OrderState { write: None, readers: Vec::new(), failed: None, closed: false };
        Self { id, state: Mutex::new(state) }
    }

    /// Whether nothing may begin any more.
    pub(crate) fn is_closed(&self) -> bool {
        lock(&self.state).closed
    }

    /// The last write.
    pub(crate) fn last_write(&self) -> Completion<E> {
        lock(&self.state).write.clone().unwrap_or_else(Completion::done)
    }

    /// Adds a reader. It may start when what comes back, the last write, is done.
    pub(crate) fn read(&self, reader: &Completion<E>) -> Result<Completion<E>, Closed> {
        lock(&self.state).read(reader)
    }

    /// Adds a writer. It may start when what comes back, the last write and all readers, is done.
    pub(crate) fn write(&self, writer: &Completion<E>) -> Result<Vec<Completion<E>>, Closed> {
        lock(&self.state).write(writer)
    }

    /// Lets nothing more begin.
    pub(crate) fn close(&self, may_wait: bool) -> Closing<E> {
        let mut state = lock(&self.state);
        if state.closed {
            return Closing::Again;
        }
        state.prune();
        let pending = || state.write.iter().chain(&state.readers);
        if !may_wait && pending().any(|completion| !completion.ready()) {
            return Closing::Busy;
        }
        let (pending, failed) = (pending().cloned().collect(), state.failed.clone());
        state.closed = true;
        Closing::First { pending, failed }
    }
}

/// What a transfer waits for.
pub(crate) struct Admitted<E> {
    /// The last write of the source: if it failed, there is nothing to copy.
    pub(crate) source: Completion<E>,
    /// The last write and the readers of the destination.
    pub(crate) destination: Vec<Completion<E>>,
}

/// Adds a transfer to the orders of both its ends, in one step. They are two instances.
pub(crate) fn admit<E: Failure>(
    source: &Order<E>,
    destination: &Order<E>,
    transfer: &Completion<E>,
) -> Result<Admitted<E>, Closed> {
    let (mut from, mut to);
    if source.id < destination.id {
        from = lock(&source.state);
        to = lock(&destination.state);
    } else {
        to = lock(&destination.state);
        from = lock(&source.state);
    }
    if from.closed || to.closed {
        return Err(Closed);
    }
    Ok(Admitted { source: from.read(transfer)?, destination: to.write(transfer)? })
}

impl<E: Failure> OrderState<E> {
    fn read(&mut self, reader: &Completion<E>) -> Result<Completion<E>, Closed> {
        if self.closed {
            return Err(Closed);
        }
        self.prune();
        self.readers.push(reader.clone());
        Ok(self.write.clone().unwrap_or_else(Completion::done))
    }

    fn write(&mut self, writer: &Completion<E>) -> Result<Vec<Completion<E>>, Closed> {
        if self.closed {
            return Err(Closed);
        }
        self.prune();
        let before = self.write.replace(writer.clone());
        Ok(before.into_iter().chain(self.readers.iter().cloned()).collect())
    }

    /// Drops readers that are done; the first failure stays, for whoever closes.
    fn prune(&mut self) {
        let failed = &mut self.failed;
        self.readers.retain(|reader| match reader.outcome() {
            None => true,
            Some(Ok(())) => false,
            Some(Err(error)) => {
                failed.get_or_insert(error);
                false
            }
        });
    }
}
