//! Every order of steps of completions, readers, writers and closers, as a model checker tries them: the module that the
//! runtime uses, on the checker's locks.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

/// The checker's primitives in place of the standard library's.
mod sync {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
}

#[allow(dead_code, reason = "the runtime uses more of it than a model")]
#[path = "../../src/memory/order.rs"]
mod order;

use loom::cell::Cell;
use loom::thread;
use order::{Admitted, Closing, Completion, Failure, Order, admit, promise, when_all};
use sync::{Arc, AtomicUsize, Ordering};

/// Why work failed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Failed {
    Abandoned,
    Told,
}

impl Failure for Failed {
    fn abandoned() -> Self {
        Failed::Abandoned
    }
}

/// An instance: its order, and one value that the checker watches. Two accesses at once, one of them a write, fail.
struct Body {
    order: Order<Failed>,
    value: Watched,
}

/// `None` once it is given back.
struct Watched(Cell<Option<u32>>);

#[allow(unsafe_code, reason = "whether accesses are ordered is what is tried")]
// SAFETY: the checker stops at the first access that is not ordered.
unsafe impl Sync for Watched {}
#[allow(unsafe_code, reason = "as above")]
// SAFETY: as above.
unsafe impl Send for Watched {}

fn body(id: u64, value: u32) -> Arc<Body> {
    Arc::new(Body { order: Order::new(id), value: Watched(Cell::new(Some(value))) })
}

/// A transfer as the runtime begins it, but that the thread which may start it copies.
fn transfer(from: &Arc<Body>, to: &Arc<Body>) -> Option<Completion<Failed>> {
    let (promise, completion) = promise();
    let Admitted { source, mut destination } = admit(&from.order, &to.order, &completion).ok()?;
    destination.push(source);
    let (from, to) = (from.clone(), to.clone());
    when_all(destination, move || {
        let value = from.value.0.get().expect("a source lives until it is read");
        assert!(to.value.0.get().is_some(), "a destination lives until it is written");
        to.value.0.set(Some(value));
        promise.finish(Ok(()));
    });
    Some(completion)
}

/// Closes as the runtime does.
fn close(body: &Body) {
    let Closing::First { pending, .. } = body.order.close(true) else { return };
    for completion in pending {
        completion.wait().unwrap();
    }
    body.value.0.set(None);
}

/// Tries every order with at most so many threads stopped in their work.
fn all_orders(model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(model);
}

#[test]
fn memory_hierarchy_5_model_who_waits_and_who_is_called_hears_once() {
    all_orders(|| {
        let (promise, completion) = promise::<Failed>();
        let heard = Arc::new(AtomicUsize::new(0));
        let worker = thread::spawn(move || promise.finish(Err(Failed::Told)));
        let count = heard.clone();
        completion.then(move |result| {
            assert_eq!(*result, Err(Failed::Told));
            count.fetch_add(1, Ordering::SeqCst);
        });
        assert_eq!(completion.wait(), Err(Failed::Told));
        worker.join().unwrap();
        assert_eq!(heard.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn memory_hierarchy_5_model_work_that_is_dropped_fails() {
    all_orders(|| {
        let (promise, completion) = promise::<Failed>();
        let worker = thread::spawn(move || drop(promise));
        assert_eq!(completion.wait(), Err(Failed::Abandoned));
        worker.join().unwrap();
    });
}

#[test]
fn memory_hierarchy_5_model_what_waits_for_two_starts_once_after_both() {
    all_orders(|| {
        let (one, first) = promise::<Failed>();
        let (two, second) = promise::<Failed>();
        let started = Arc::new(AtomicUsize::new(0));
        let worker = thread::spawn(move || one.finish(Ok(())));
        let (count, both) = (started.clone(), vec![first.clone(), second.clone()]);
        let asker = thread::spawn(move || {
            when_all(both.clone(), move || {
                assert!(both.iter().all(Completion::ready), "it starts after both");
                count.fetch_add(1, Ordering::SeqCst);
            });
        });
        two.finish(Ok(()));
        worker.join().unwrap();
        asker.join().unwrap();
        assert_eq!(started.load(Ordering::SeqCst), 1);
    });
}

#[test]
fn memory_hierarchy_5_model_opposite_transfers_both_end() {
    all_orders(|| {
        let (a, b) = (body(0, 1), body(1, 2));
        let (from, to) = (b.clone(), a.clone());
        let other = thread::spawn(move || transfer(&from, &to).unwrap());
        let mine = transfer(&a, &b).unwrap();
        let theirs = other.join().unwrap();
        assert_eq!((mine.wait(), theirs.wait()), (Ok(()), Ok(())));
        let values = (a.value.0.get().unwrap(), b.value.0.get().unwrap());
        assert!(values == (1, 1) || values == (2, 2), "{values:?}");
    });
}

#[test]
fn memory_hierarchy_5_model_a_writer_waits_for_readers_and_readers_for_a_writer() {
    all_orders(|| {
        let (a, b, c) = (body(0, 1), body(1, 2), body(2, 3));
        // `b` is read by one while it is written by the other.
        let (from, to) = (b.clone(), c.clone());
        let reader = thread::spawn(move || transfer(&from, &to).unwrap());
        let written = transfer(&a, &b).unwrap();
        let read = reader.join().unwrap();
        assert_eq!((written.wait(), read.wait()), (Ok(()), Ok(())));
        assert_eq!(b.value.0.get(), Some(1));
        assert!(matches!(c.value.0.get(), Some(1 | 2)));
    });
}

#[test]
fn memory_hierarchy_5_model_a_writer_waits_for_a_writer() {
    all_orders(|| {
        let (a, b, c) = (body(0, 1), body(1, 2), body(2, 3));
        let (from, to) = (a.clone(), c.clone());
        let other = thread::spawn(move || transfer(&from, &to).unwrap());
        let mine = transfer(&b, &c).unwrap();
        assert_eq!((other.join().unwrap().wait(), mine.wait()), (Ok(()), Ok(())));
        let last = c.order.last_write();
        assert!(last.ready() && matches!(c.value.0.get(), Some(1 | 2)));
    });
}

#[test]
fn memory_hierarchy_6_model_nothing_is_given_back_while_it_is_used() {
    all_orders(|| {
        let (a, b) = (body(0, 1), body(1, 2));
        let (from, to) = (a.clone(), b.clone());
        let mover = thread::spawn(move || transfer(&from, &to).is_some());
        close(&a);
        close(&b);
        mover.join().unwrap();
        assert_eq!((a.value.0.get(), b.value.0.get()), (None, None));
        assert!(a.order.is_closed() && transfer(&a, &b).is_none());
    });
}

#[test]
fn memory_hierarchy_6_model_of_two_closers_one_is_first() {
    all_orders(|| {
        let a = body(0, 1);
        let other = a.clone();
        let closer = thread::spawn(move || matches!(other.order.close(true), Closing::First { .. }));
        let mine = matches!(a.order.close(true), Closing::First { .. });
        assert!(mine != closer.join().unwrap());
    });
}
