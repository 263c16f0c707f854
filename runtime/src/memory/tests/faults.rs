//! Every call on files fails once, in every way: the error is clear, and nothing is left behind.
//!
//! Descriptors and threads are those of a process, so what counts them runs in one of its own.

use super::hooked::{Call, Judge, Verdict, both, content, filled, make, pattern, try_open};
use crate::memory::storage::CHUNK;
use crate::memory::{Hierarchy, MemoryError, WantedStorage};
use rustix::io::Errno;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};
use tiga_abi::Tier;

const BYTES: usize = CHUNK + 17;

/// What one call comes to.
const FAULTS: [Verdict; 8] = [
    Verdict::Fail(Errno::IO),
    Verdict::Fail(Errno::NOSPC),
    Verdict::Fail(Errno::DQUOT),
    Verdict::Fail(Errno::NOMEM),
    Verdict::Fail(Errno::ACCESS),
    Verdict::Fail(Errno::INTR),
    Verdict::Short,
    Verdict::Half,
];

/// One call, by its number, is judged; what was judged, and whether its number was reached.
struct Fault {
    judge: Judge,
    fired: Arc<AtomicBool>,
    reached: Arc<AtomicBool>,
}

fn fault(number: usize, verdict: Verdict) -> Fault {
    let (calls, fired, reached) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)), Arc::default());
    let (hit, seen): (_, Arc<AtomicBool>) = (fired.clone(), Arc::clone(&reached));
    let judge = move |call| {
        if calls.fetch_add(1, SeqCst) != number {
            return Verdict::Pass;
        }
        seen.store(true, SeqCst);
        let moves = matches!(call, Call::Read(_) | Call::Write(_));
        match verdict {
            Verdict::Short | Verdict::Half if !moves => Verdict::Pass,
            // What makes or ends a lane is not asked again.
            Verdict::Fail(Errno::INTR) if call == Call::Lane => Verdict::Pass,
            verdict => {
                hit.store(true, SeqCst);
                verdict
            }
        }
    };
    Fault { judge: Arc::new(judge), fired, reached }
}

/// Main memory to a file, to another one, back; a part of the file changed. What came back, or the first failure.
fn scenario(parent: &Path, wanted: WantedStorage, judge: Judge) -> Result<Vec<u8>, MemoryError> {
    let memory = try_open(Hierarchy::options().private_below(parent), wanted, judge)?;
    let moved = || {
        let (a, d) = (filled(&memory, BYTES, 5), make(&memory, Tier::Ram, BYTES));
        let request = crate::memory::Request::new("x", 0, Tier::Nvme, BYTES as i64);
        let (b, c) = (memory.allocate(&request)?, memory.allocate(&request)?);
        for (from, to) in [(&a, &b), (&b, &c), (&c, &d)] {
            memory.transfer(from, to)?;
        }
        d.wait()?;
        c.write(7, b"patch")?;
        b.close()?;
        Ok(content(&d))
    };
    let (moved, closed) = (moved(), memory.close());
    assert_eq!((memory.live_bytes(Tier::Ram), memory.live_bytes(Tier::Nvme)), (0, 0));
    match moved {
        Ok(bytes) => closed.map(|()| bytes),
        Err(error) => Err(error),
    }
}

/// The innermost cause.
fn root(error: &MemoryError) -> &MemoryError {
    match error {
        MemoryError::NotFilled { cause, .. } => root(cause),
        other => other,
    }
}

fn is_told(error: &MemoryError, verdict: Verdict) -> bool {
    match (verdict, root(error)) {
        (Verdict::Fail(wanted @ (Errno::NOSPC | Errno::DQUOT)), MemoryError::DiskFull { errno, .. }) => {
            wanted == *errno
        }
        (Verdict::Fail(wanted), MemoryError::Io { errno, .. }) => wanted == *errno,
        (Verdict::Short, MemoryError::ShortTransfer { found, expected, .. }) => found < expected,
        _ => false,
    }
}

fn count(folder: &str) -> usize {
    std::fs::read_dir(folder).unwrap().count()
}

/// Threads of the kernel that serve a ring go a moment after it.
fn settles(folder: &str, before: usize) -> bool {
    let begun = Instant::now();
    while count(folder) > before && begun.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    count(folder) <= before
}

#[test]
#[ignore = "counts what a process has: run by the test below, alone"]
fn counted() {
    let parent = tempfile::tempdir().unwrap();
    for wanted in both() {
        let (descriptors, threads) = (count("/proc/self/fd"), count("/proc/self/task"));
        for verdict in FAULTS {
            let mut told = 0;
            for number in 0.. {
                let Fault { judge, fired, reached } = fault(number, verdict);
                let result = scenario(parent.path(), wanted, judge);
                let fatal = !matches!(verdict, Verdict::Fail(Errno::INTR) | Verdict::Half);
                match result {
                    Ok(bytes) => {
                        assert!(bytes == pattern(BYTES, 5), "{verdict:?} of call {number}");
                        assert!(!(fired.load(SeqCst) && fatal), "{verdict:?} of call {number} was not told");
                    }
                    Err(error) => {
                        assert!(fatal && is_told(&error, verdict), "{verdict:?} of call {number}: {error}");
                        told += 1;
                    }
                }
                assert_eq!(count(parent.path().to_str().unwrap()), 0, "{verdict:?} of call {number} left files");
                assert!(settles("/proc/self/fd", descriptors), "{verdict:?} of call {number} left descriptors");
                assert!(settles("/proc/self/task", threads), "{verdict:?} of call {number} left threads");
                if !reached.load(SeqCst) {
                    println!("{wanted:?}: {verdict:?} of {number} calls, {told} told");
                    break;
                }
            }
        }
    }
}

#[test]
fn memory_hierarchy_5_faults_of_every_call_are_told_and_leave_nothing() {
    let mut alone = std::process::Command::new(std::env::current_exe().unwrap());
    alone.args(["--exact", "--ignored", "--nocapture", "--test-threads=1", "memory::tests::faults::counted"]);
    let output = alone.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && said.contains("1 passed"));
}
