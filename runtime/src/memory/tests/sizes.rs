//! Every size that alignment, chunks and pages could get wrong, by both ways of reading and writing files.

use super::hooked::{both, content, filled, make, pattern};
use crate::memory::Hierarchy;
use crate::memory::storage::CHUNK;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use tiga_abi::Tier;

const SIZES: [usize; 14] =
    [0, 1, 511, 512, 513, 4095, 4096, 4097, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 17, 5 * CHUNK, 9 * CHUNK + 4097];

#[test]
fn memory_hierarchy_5_sizes_go_to_files_between_files_and_back() {
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        for bytes in SIZES {
            let (a, d) = (filled(&memory, bytes, 5), make(&memory, Tier::Ram, bytes));
            let [b, c] = [(); 2].map(|()| make(&memory, Tier::Nvme, bytes));
            for (from, to) in [(&a, &b), (&b, &c), (&c, &d)] {
                memory.transfer(from, to).unwrap();
            }
            d.wait().unwrap();
            assert!(content(&d) == pattern(bytes, 5), "{bytes} bytes, {}", memory.storage());
            let file = std::fs::read(c.path().unwrap()).unwrap();
            assert!(file == pattern(bytes, 5), "{bytes} bytes, {}", memory.storage());
            [a, b, c, d].iter().try_for_each(crate::Instance::close).unwrap();
        }
        memory.close().unwrap();
    }
}

#[test]
fn memory_hierarchy_5_a_file_that_was_never_written_reads_as_zeros() {
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        for bytes in SIZES {
            let (cold, hot) = (make(&memory, Tier::Nvme, bytes), filled(&memory, bytes, 1));
            memory.transfer(&cold, &hot).unwrap();
            assert!(content(&hot).iter().all(|byte| *byte == 0), "{bytes} bytes, {}", memory.storage());
        }
    }
}

#[test]
fn memory_hierarchy_3_any_part_may_be_written_and_read() {
    let mut rng = fastrand::Rng::with_seed(7);
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).open().unwrap();
        for (tier, bytes) in [(Tier::Ram, CHUNK + 17), (Tier::Nvme, 2 * CHUNK + 4097), (Tier::Nvme, 600)] {
            let instance = make(&memory, tier, bytes);
            let mut expected = vec![0; bytes];
            for _ in 0..40 {
                let offset = rng.usize(..=bytes);
                let most = if rng.bool() { 10 } else { bytes };
                let part = rng.usize(..=(bytes - offset).min(most));
                let new: Vec<u8> = (0..part).map(|_| rng.u8(..)).collect();
                instance.write(offset as u64, &new).unwrap();
                expected[offset..offset + part].copy_from_slice(&new);
                let offset = rng.usize(..=bytes);
                let mut read = vec![0; rng.usize(..=bytes - offset)];
                instance.read(offset as u64, &mut read).unwrap();
                assert!(read == expected[offset..offset + read.len()]);
            }
            assert!(content(&instance) == expected);
            for (offset, part) in [(bytes as u64, 1), (u64::MAX, 1), (0, bytes + 1)] {
                assert!(matches!(instance.write(offset, &vec![0; part]), Err(crate::MemoryError::OutOfBounds { .. })));
            }
        }
    }
}

/// Threads that allocate, transfer, check and close what they like.
#[test]
fn memory_hierarchy_5_many_transfers_and_closes_at_random() {
    const BYTES: usize = 10_000;
    for wanted in both() {
        let memory = Hierarchy::options().storage(wanted).io_workers(3).open().unwrap();
        let pool: Vec<Mutex<Option<crate::Instance>>> = (0..6).map(|_| Mutex::default()).collect();
        let moved = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for seed in 0..4 {
                let (memory, pool, moved) = (&memory, &pool, &moved);
                scope.spawn(move || {
                    let mut rng = fastrand::Rng::with_seed(seed);
                    for _ in 0..150 {
                        // Every value ever written is of one byte: a copy that was torn shows.
                        let mine = filled_with(memory, BYTES, rng.u8(..));
                        let tier = if rng.bool() { Tier::Ram } else { Tier::Nvme };
                        let new = make(memory, tier, BYTES);
                        memory.transfer(&mine, &new).unwrap();
                        let (from, to) = (rng.usize(..pool.len()), rng.usize(..pool.len()));
                        let old = pool[from].lock().unwrap().replace(new);
                        let [a, b] = [from, to].map(|at| pool[at].lock().unwrap().clone());
                        if let (Some(a), Some(b), true) = (a, b, from != to) {
                            // Somebody may have closed either.
                            moved.fetch_add(usize::from(memory.transfer(&a, &b).is_ok()), SeqCst);
                            let mut bytes = vec![0; BYTES];
                            if b.read(0, &mut bytes).is_ok() {
                                assert!(bytes.iter().all(|byte| *byte == bytes[0]), "torn");
                            }
                        }
                        old.map_or(Ok(()), |old| old.close()).unwrap();
                        mine.close().unwrap();
                    }
                });
            }
        });
        assert!(moved.into_inner() > 50);
        memory.close().unwrap();
        assert_eq!((memory.live_bytes(Tier::Ram), memory.live_bytes(Tier::Nvme)), (0, 0));
    }
}

fn filled_with(memory: &Hierarchy, bytes: usize, byte: u8) -> crate::Instance {
    let instance = make(memory, Tier::Ram, bytes);
    instance.write(0, &vec![byte; bytes]).unwrap();
    instance
}
