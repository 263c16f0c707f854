//! Section 6 and example 7.5: closing, failures told late, callbacks.

use super::hooked::{Call, Gate, Verdict, content, filled, make, open, pattern};
use crate::memory::{Hierarchy, MemoryError, WantedStorage};
use rustix::io::Errno;
use std::sync::{Arc, mpsc};
use std::time::Duration;
use tiga_abi::Tier;

fn gated() -> (Hierarchy, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    (open(Hierarchy::options(), WantedStorage::Buffered, gate.judge()), gate)
}

/// Every write of a file fails.
fn failing(errno: Errno) -> (Hierarchy, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let judge = move |call| match call {
        Call::Write(_) => Verdict::Fail(errno),
        _ => Verdict::Pass,
    };
    let options = Hierarchy::options().nvme_directory(folder.path()).budget(Tier::Ram, 4).budget(Tier::Nvme, 4);
    (open(options, WantedStorage::Buffered, Arc::new(judge)), folder)
}

#[test]
fn memory_hierarchy_6_closing_waits_for_readers_and_is_done_once() {
    let (memory, gate) = gated();
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    memory.transfer(&a, &b).unwrap();
    std::thread::scope(|scope| {
        let closers = [(); 2].map(|()| scope.spawn(|| a.close().unwrap()));
        gate.reached_by(1);
        std::thread::sleep(Duration::from_millis(30));
        assert!(closers.iter().all(|closer| !closer.is_finished()), "the second waits for the first");
        assert_eq!(memory.live_bytes(Tier::Ram), 100, "counted until it is given back");
        gate.open();
    });
    assert_eq!((memory.live_bytes(Tier::Ram), a.address()), (0, None));
    a.close().unwrap();
    assert_eq!(content(&b), pattern(100, 1));
}

#[test]
fn memory_hierarchy_6_closing_waits_for_the_last_write_and_removes_the_file() {
    let (memory, gate) = gated();
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    let path = b.path().unwrap().to_owned();
    let completion = memory.transfer(&a, &b).unwrap();
    std::thread::scope(|scope| {
        let closer = scope.spawn(|| b.close().unwrap());
        gate.reached_by(1);
        assert!(!closer.is_finished() && path.exists());
        while memory.latest("x", Some(Tier::Nvme)).is_ok() {
            std::thread::yield_now();
        }
        gate.open();
    });
    assert!(completion.ready() && !path.exists());
    assert_eq!(memory.live_bytes(Tier::Nvme), 0);
}

#[test]
fn memory_hierarchy_6_a_failed_wait_is_told_once_all_is_released() {
    for end in 0..2 {
        let (memory, folder) = failing(Errno::IO);
        let ends = [filled(&memory, 4, 1), make(&memory, Tier::Nvme, 4)];
        let completion = memory.transfer(&ends[0], &ends[1]).unwrap();
        let error = ends[end].close().unwrap_err();
        assert!(matches!(error, MemoryError::Io { errno: Errno::IO, .. }), "{error}");
        assert_eq!(Err(error.clone()), completion.wait());
        assert_eq!(memory.live_bytes(ends[end].tier()), 0);
        assert_eq!(ends[end].close(), Ok(()), "told once");
        assert_eq!(memory.close(), Err(error), "by the other end");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        memory.close().unwrap();
    }
}

#[test]
fn memory_hierarchy_6_a_hierarchy_closes_past_failures_and_tells_the_first() {
    let removals = std::sync::atomic::AtomicUsize::new(0);
    let judge = move |call| match call {
        Call::Remove if removals.fetch_add(1, std::sync::atomic::Ordering::SeqCst) < 2 => Verdict::Fail(Errno::PERM),
        _ => Verdict::Pass,
    };
    let parent = tempfile::tempdir().unwrap();
    let memory = open(Hierarchy::options().private_below(parent.path()), WantedStorage::Buffered, Arc::new(judge));
    let files = [(); 3].map(|()| make(&memory, Tier::Nvme, 8));
    let hot = make(&memory, Tier::Ram, 8);
    let error = memory.close().unwrap_err();
    assert!(matches!(&error, MemoryError::Io { path, .. } if Some(path.as_path()) == files[0].path()), "{error}");
    assert_eq!((memory.live_bytes(Tier::Nvme), memory.live_bytes(Tier::Ram)), (0, 0));
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0, "with all that is in it");
    assert_eq!(memory.close(), Ok(()));
    assert!(matches!(memory.transfer(&files[0], &hot), Err(MemoryError::Closed(_))));
    let request = crate::memory::Request::new("x", 0, Tier::Ram, 1);
    assert_eq!(memory.allocate(&request).unwrap_err(), MemoryError::HierarchyClosed);
}

#[test]
fn memory_hierarchy_7_5_source_close_during_a_delayed_transfer() {
    let (memory, gate) = gated();
    let (a, b) = (filled(&memory, 100, 7), make(&memory, Tier::Nvme, 100));
    memory.transfer(&a, &b).unwrap();
    std::thread::scope(|scope| {
        let closer = scope.spawn(|| a.close().unwrap());
        gate.reached_by(1);
        assert!(!closer.is_finished());
        gate.open();
    });
    assert_eq!(std::fs::read(b.path().unwrap()).unwrap(), pattern(100, 7));
}

#[test]
fn memory_hierarchy_7_5_an_injected_failure_is_told_by_close() {
    let (memory, folder) = failing(Errno::NOSPC);
    let (a, b) = (filled(&memory, 4, 1), make(&memory, Tier::Nvme, 4));
    memory.transfer(&a, &b).unwrap();
    let error = memory.close().unwrap_err();
    assert!(matches!(error, MemoryError::DiskFull { errno: Errno::NOSPC, .. }), "{error}");
    assert!(error.to_string().starts_with("disk full: cannot write "), "{error}");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    assert_eq!((memory.live_bytes(Tier::Ram), memory.live_bytes(Tier::Nvme)), (0, 0));
}

#[test]
fn memory_hierarchy_5_callbacks_hear_once_whenever_they_ask() {
    let (memory, gate) = gated();
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    let (say, hear) = mpsc::channel();
    let completion = memory.transfer(&a, &b).unwrap();
    for number in 0..2 {
        let say = say.clone();
        completion.then(move |result| say.send((number, result.clone())).unwrap());
    }
    completion.then(|_| panic!("as asked"));
    let last = say.clone();
    completion.then(move |result| last.send((2, result.clone())).unwrap());
    assert!(hear.try_recv().is_err());
    gate.open();
    completion.wait().unwrap();
    completion.then(move |result| say.send((3, result.clone())).unwrap());
    let mut heard: Vec<_> = hear.iter().collect();
    heard.sort_by_key(|(number, _)| *number);
    assert_eq!(heard, [0, 1, 2, 3].map(|number| (number, Ok(()))));
}

#[test]
fn memory_hierarchy_5_callbacks_drive_a_chain_and_may_close_but_not_wait() {
    let gate = Arc::new(Gate::default());
    // With another thread the next transfer may have ended before it is asked for, and nobody would have to wait.
    let memory = Arc::new(open(Hierarchy::options().io_workers(1), WantedStorage::Buffered, gate.judge()));
    let (a, b, c) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100), make(&memory, Tier::Ram, 100));
    let (say, hear) = mpsc::channel();
    let (hierarchy, source, from, to) = (memory.clone(), a.clone(), b.clone(), c.clone());
    memory.transfer(&a, &b).unwrap().then(move |_| {
        let next = hierarchy.transfer(&from, &to).unwrap();
        let busy = [to.wait(), from.close(), to.read(0, &mut [0]), to.write(0, &[0]), hierarchy.close()];
        let closed = source.close();
        next.then(move |result| say.send((busy, closed, result.clone())).unwrap());
    });
    gate.open();
    let (busy, closed, result) = hear.recv().unwrap();
    assert_eq!(busy, [(); 5].map(|()| Err(MemoryError::InsideCallback)));
    assert_eq!((closed, result), (Ok(()), Ok(())));
    assert_eq!((content(&c), memory.live_bytes(Tier::Ram)), (pattern(100, 1), 100));
    gate.shut();
    gate.open();
    memory.close().unwrap();
}

#[test]
fn memory_hierarchy_6_a_hierarchy_that_its_own_callback_drops_is_closed() {
    let parent = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let memory = open(Hierarchy::options().private_below(parent.path()), WantedStorage::Buffered, gate.judge());
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    let completion = memory.transfer(&a, &b).unwrap();
    let (say, hear) = mpsc::channel();
    completion.then(move |_| {
        drop(memory);
        say.send(()).unwrap();
    });
    gate.open();
    hear.recv().unwrap();
    assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    assert!(matches!(a.write(0, &[0]), Err(MemoryError::Closed(_))));
}

#[test]
fn memory_hierarchy_3_row_5_a_file_that_cannot_get_its_length_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let judge = |call| match call {
        Call::SetLength => Verdict::Fail(Errno::FBIG),
        _ => Verdict::Pass,
    };
    let memory = open(Hierarchy::options().nvme_directory(folder.path()), WantedStorage::Buffered, Arc::new(judge));
    let error = memory.allocate(&crate::memory::Request::new("x", 0, Tier::Nvme, 8)).unwrap_err();
    assert!(error.to_string().starts_with("cannot set the length of "), "{error}");
    assert_eq!((std::fs::read_dir(folder.path()).unwrap().count(), memory.live_bytes(Tier::Nvme)), (0, 0));
    assert_eq!(memory.peak_bytes(Tier::Nvme), 8, "what was attempted");
}

#[test]
fn memory_hierarchy_6_what_is_used_while_a_callback_drops_the_hierarchy_is_given_back_later() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Arc::new(Gate::default());
    let options = Hierarchy::options().nvme_directory(folder.path()).io_workers(2);
    let memory = open(options, WantedStorage::Buffered, gate.judge());
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    let (hot, other) = (filled(&memory, 100, 1), make(&memory, Tier::Ram, 100));
    let held = memory.transfer(&a, &b).unwrap();
    gate.reached_by(1);
    let dropped = memory.transfer(&hot, &other).unwrap();
    let (say, hear) = mpsc::channel();
    let opener = gate.clone();
    // Should the transfer have ended before it is asked, this thread would drop the hierarchy, and wait: so it may.
    dropped.then(move |_| {
        let opened = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            opener.open();
        });
        drop(memory);
        opened.join().unwrap();
        say.send(()).unwrap();
    });
    hear.recv().unwrap();
    assert_eq!((held.wait(), dropped.wait()), (Ok(()), Ok(())));
    assert_eq!((a.address(), other.address()), (None, None));
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
