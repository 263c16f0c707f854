//! Section 5: refusals of transfers, the order of readers and writers, chunks.

use super::hooked::{Call, Gate, Verdict, both, content, filled, make, open, pattern};
use crate::memory::storage::{CHUNK, DEPTH};
use crate::memory::{Hierarchy, MemoryError, Request, WantedStorage};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tiga_abi::Tier;

/// Long enough for a transfer that does not wait to have ended.
const WHILE: Duration = Duration::from_millis(30);

/// A hierarchy with a gate that is shut.
fn gated(workers: usize) -> (Hierarchy, Arc<Gate>) {
    let gate = Arc::new(Gate::default());
    (open(Hierarchy::options().io_workers(workers), WantedStorage::Buffered, gate.judge()), gate)
}

#[test]
fn memory_hierarchy_5_refusal_1_either_end_is_closed() {
    let memory = Hierarchy::options().open().unwrap();
    let (a, b) = (make(&memory, Tier::Ram, 4), make(&memory, Tier::Nvme, 8));
    a.close().unwrap();
    for (from, to) in [(&a, &b), (&b, &a), (&a, &a)] {
        let error = memory.transfer(from, to).unwrap_err();
        assert!(error.to_string().starts_with("closed physical instance: `x` version 0 in ram"), "{error}");
    }
    assert!(matches!(a.write(0, &[1]), Err(MemoryError::Closed(_))));
    assert!(matches!(a.read(0, &mut [1]), Err(MemoryError::Closed(_))));
}

#[test]
fn memory_hierarchy_5_refusal_2_both_are_the_same_object() {
    let memory = Hierarchy::options().open().unwrap();
    let a = make(&memory, Tier::Ram, 4);
    let error = memory.transfer(&a, &a.clone()).unwrap_err();
    assert!(matches!(error, MemoryError::NotDistinct(_)) && error.to_string().contains("distinct"), "{error}");
}

#[test]
fn memory_hierarchy_5_refusal_3_and_4_identity_comes_before_capacity() {
    let memory = Hierarchy::options().open().unwrap();
    let get = |name, version, bytes| memory.allocate(&Request::new(name, version, Tier::Ram, bytes)).unwrap();
    let a = get("a", 1, 4);
    for other in [get("b", 1, 8), get("a", 2, 8)] {
        let error = memory.transfer(&a, &other).unwrap_err();
        assert!(error.to_string().contains("preserve logical identity and version"), "{error}");
    }
    let error = memory.transfer(&a, &get("a", 1, 8)).unwrap_err();
    assert_eq!(error, MemoryError::UnequalCapacity { source_bytes: 4, destination_bytes: 8 });
    assert!(error.to_string().contains("equal capacity"), "{error}");
    assert!(a.ready(), "a refusal is no transfer");
}

#[test]
fn memory_hierarchy_5_refusal_of_another_hierarchys_instance() {
    let [one, two] = [(); 2].map(|()| Hierarchy::options().open().unwrap());
    let (a, b) = (make(&one, Tier::Ram, 4), make(&two, Tier::Ram, 4));
    assert!(matches!(one.transfer(&a, &b), Err(MemoryError::Foreign(_))));
    assert!(matches!(two.transfer(&a, &b), Err(MemoryError::Foreign(_))));
}

#[test]
fn memory_hierarchy_5_order_the_caller_is_not_held() {
    let (memory, gate) = gated(1);
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    let completion = memory.transfer(&a, &b).unwrap();
    gate.reached_by(1);
    assert!(!completion.ready() && !b.ready() && a.ready());
    gate.open();
    completion.wait().unwrap();
    assert!(completion.ready() && b.ready());
    assert_eq!(content(&b), pattern(100, 1));
}

#[test]
fn memory_hierarchy_5_order_1_a_transfer_starts_after_the_last_write_of_its_source() {
    let (memory, gate) = gated(2);
    let (a, b, c) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100), make(&memory, Tier::Ram, 100));
    memory.transfer(&a, &b).unwrap();
    let second = memory.transfer(&b, &c).unwrap();
    gate.reached_by(1);
    std::thread::sleep(WHILE);
    assert!(!second.ready());
    gate.open();
    second.wait().unwrap();
    assert_eq!(content(&c), pattern(100, 1));
}

#[test]
fn memory_hierarchy_5_order_2_a_transfer_starts_after_the_last_write_of_its_destination() {
    let (memory, gate) = gated(2);
    let (a, b, c) = (filled(&memory, 100, 1), filled(&memory, 100, 2), make(&memory, Tier::Ram, 100));
    let cold = make(&memory, Tier::Nvme, 100);
    memory.transfer(&a, &cold).unwrap();
    let second = memory.transfer(&b, &cold).unwrap();
    memory.transfer(&cold, &c).unwrap();
    gate.reached_by(1);
    std::thread::sleep(WHILE);
    assert!(!second.ready());
    gate.open();
    assert_eq!(content(&c), pattern(100, 2));
}

#[test]
fn memory_hierarchy_5_order_3_a_transfer_starts_after_all_readers_of_its_destination() {
    let (memory, gate) = gated(3);
    let (b, other) = (filled(&memory, 100, 1), filled(&memory, 100, 2));
    let readers = [make(&memory, Tier::Nvme, 100), make(&memory, Tier::Nvme, 100)];
    for reader in &readers {
        memory.transfer(&b, reader).unwrap();
    }
    let overwritten = memory.transfer(&other, &b).unwrap();
    gate.reached_by(2);
    std::thread::sleep(WHILE);
    assert!(!overwritten.ready(), "both readers run at once, and the writer waits");
    gate.open();
    overwritten.wait().unwrap();
    for reader in &readers {
        assert_eq!(content(reader), pattern(100, 1));
    }
    assert_eq!(content(&b), pattern(100, 2));
}

#[test]
fn memory_hierarchy_5_order_3_opposite_transfers_both_end() {
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        let (a, b) = (filled(&memory, 5000, 1), make(&memory, Tier::Nvme, 5000));
        std::thread::scope(|scope| {
            for (from, to) in [(&a, &b), (&b, &a)] {
                let memory = &memory;
                scope.spawn(move || (0..200).for_each(|_| drop(memory.transfer(from, to).unwrap())));
            }
        });
        a.wait().and(b.wait()).unwrap();
        memory.close().unwrap();
    }
}

#[test]
fn memory_hierarchy_5_order_direct_writes_and_reads_have_their_turn_too() {
    let (memory, gate) = gated(2);
    let (a, b) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100));
    memory.transfer(&a, &b).unwrap();
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| a.write(0, &pattern(100, 9)).unwrap());
        std::thread::sleep(WHILE);
        assert!(!writer.is_finished());
        gate.open();
    });
    assert_eq!(content(&b), pattern(100, 1));
}

#[test]
fn memory_hierarchy_5_failure_a_transfer_from_what_was_not_filled_copies_nothing() {
    let armed = Arc::new(AtomicUsize::new(1));
    let judge = armed.clone();
    let fail = move |call| match call {
        Call::Write(_) if judge.swap(0, SeqCst) == 1 => Verdict::Fail(rustix::io::Errno::IO),
        _ => Verdict::Pass,
    };
    let memory = open(Hierarchy::options(), WantedStorage::Buffered, Arc::new(fail));
    let (a, b, c) = (filled(&memory, 100, 1), make(&memory, Tier::Nvme, 100), make(&memory, Tier::Ram, 100));
    let first = memory.transfer(&a, &b).unwrap();
    let second = memory.transfer(&b, &c).unwrap();
    let error = second.wait().unwrap_err();
    let MemoryError::NotFilled { instance, cause } = &error else { panic!("{error}") };
    assert_eq!((instance.tier, Err((**cause).clone())), (Tier::Nvme, first.wait()));
    let mut bytes = [0; 4];
    assert!(matches!(b.read(0, &mut bytes), Err(MemoryError::NotFilled { .. })));
    // Filled again, it can be read again.
    memory.transfer(&a, &b).unwrap().wait().unwrap();
    memory.transfer(&b, &c).unwrap().wait().unwrap();
    assert_eq!(content(&c), pattern(100, 1));
    assert!(memory.close().is_err(), "what failed on the way is told once more");
}

#[test]
fn memory_hierarchy_5_chunks_have_a_mebibyte_and_few_are_under_way() {
    for wanted in both() {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let seen = calls.clone();
        let note = move |call| {
            seen.lock().unwrap().push(call);
            Verdict::Pass
        };
        let memory = open(Hierarchy::options().io_workers(1), wanted, Arc::new(note));
        let bytes = 2 * DEPTH * CHUNK + 17;
        let (a, b, c) = (filled(&memory, bytes, 3), make(&memory, Tier::Nvme, bytes), make(&memory, Tier::Nvme, bytes));
        memory.transfer(&a, &b).unwrap().wait().unwrap();
        memory.transfer(&b, &c).unwrap().wait().unwrap();
        assert!(content(&c) == pattern(bytes, 3));
        let calls = calls.lock().unwrap();
        let count = |wanted: fn(&Call) -> bool| calls.iter().filter(|call| wanted(call)).count();
        assert_eq!(count(|call| matches!(call, Call::Write(CHUNK))), 4 * DEPTH);
        assert_eq!(count(|call| matches!(call, Call::Write(bytes) if *bytes != CHUNK)), 2);
        assert_eq!(count(|call| matches!(call, Call::Read(CHUNK))), 4 * DEPTH);
        assert_eq!(count(|call| matches!(call, Call::Read(bytes) | Call::Write(bytes) if *bytes > CHUNK)), 0);
        // All places of a worker are used before the first result is looked at.
        let first = calls.iter().position(|call| matches!(call, Call::Write(_))).unwrap();
        assert!(calls[first..first + DEPTH].iter().all(|call| matches!(call, Call::Write(_))));
    }
}

#[test]
fn memory_hierarchy_5_a_file_of_another_length_is_refused() {
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        let (a, b) = (filled(&memory, 5000, 3), make(&memory, Tier::Nvme, 5000));
        memory.transfer(&a, &b).unwrap().wait().unwrap();
        for length in [4999, 0, 5001] {
            let file = std::fs::File::options().write(true).open(b.path().unwrap()).unwrap();
            file.set_len(length).unwrap();
            for (from, to) in [(&a, &b), (&b, &a)] {
                let error = memory.transfer(from, to).unwrap().wait().unwrap_err();
                assert!(
                    matches!(&error, MemoryError::ShortFile { found, expected: 5000, .. } if *found == length)
                        || matches!(error, MemoryError::NotFilled { .. }),
                    "{error}"
                );
            }
        }
        assert!(memory.close().unwrap_err().to_string().starts_with("short hierarchical transfer"));
    }
}

#[test]
fn memory_hierarchy_5_a_damaged_file_is_noticed() {
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        let bytes = CHUNK + 5000;
        let (a, b, c) = (filled(&memory, bytes, 3), make(&memory, Tier::Nvme, bytes), make(&memory, Tier::Ram, bytes));
        memory.transfer(&a, &b).unwrap().wait().unwrap();
        let file = std::fs::File::options().write(true).open(b.path().unwrap()).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, b"?", CHUNK as u64 + 4999).unwrap();
        file.sync_all().unwrap();
        let error = memory.transfer(&b, &c).unwrap().wait().unwrap_err();
        let found = matches!(&error, MemoryError::Damaged { offset, bytes: 5000, .. } if *offset == CHUNK as u64);
        assert!(found && error.to_string().contains("is damaged: checksum"), "{error}");
        let mut read = [0; 8];
        b.read(0, &mut read).unwrap();
        assert!(matches!(b.read(CHUNK as u64, &mut read), Err(MemoryError::Damaged { .. })));
    }
}
