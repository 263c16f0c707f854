//! Files that ask a test before every call: to hold it, to fail it, to count it.
#![allow(unsafe_code)]

use crate::memory::storage::{DEPTH, Disk, Files, Lane, Op, Storage, WantedStorage};
use crate::memory::{Hierarchy, HierarchyOptions, Instance, Request};
use rustix::fd::{BorrowedFd, OwnedFd};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};
use tiga_abi::Tier;

/// A call on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Call {
    Create,
    SetLength,
    Length,
    Remove,
    Lane,
    Read(usize),
    Write(usize),
}

/// What becomes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Pass,
    Fail(Errno),
    /// A read or write moves a few bytes, and nothing when it goes on.
    Short,
    /// A read or write moves a half.
    Half,
}

/// What a test says to a call.
pub(super) type Judge = Arc<dyn Fn(Call) -> Verdict + Send + Sync>;

/// The files of this machine behind a judge.
pub(super) struct Hooked {
    disk: Disk,
    judge: Judge,
}

impl std::fmt::Debug for Hooked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.disk.fmt(f)
    }
}

impl Hooked {
    fn ask(&self, call: Call) -> Result<(), Errno> {
        match (self.judge)(call) {
            Verdict::Fail(errno) => Err(errno),
            _ => Ok(()),
        }
    }
}

impl Files for Hooked {
    fn storage(&self) -> Storage {
        self.disk.storage()
    }

    fn create(&self, path: &Path) -> Result<OwnedFd, Errno> {
        self.ask(Call::Create).and_then(|()| self.disk.create(path))
    }

    fn set_length(&self, file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
        self.ask(Call::SetLength).and_then(|()| self.disk.set_length(file, bytes))
    }

    fn length(&self, file: BorrowedFd<'_>) -> Result<u64, Errno> {
        self.ask(Call::Length).and_then(|()| self.disk.length(file))
    }

    fn remove(&self, path: &Path) -> Result<(), Errno> {
        self.ask(Call::Remove).and_then(|()| self.disk.remove(path))
    }

    fn lane(&self) -> Result<Box<dyn Lane>, Errno> {
        self.ask(Call::Lane)?;
        let (inner, judge) = (self.disk.lane()?, self.judge.clone());
        Ok(Box::new(HookedLane { inner, judge, ended: VecDeque::new(), stuck: [false; DEPTH] }))
    }
}

struct HookedLane {
    inner: Box<dyn Lane>,
    judge: Judge,
    /// Never begun.
    ended: VecDeque<(usize, Result<usize, Errno>)>,
    /// What goes on with this tag moves nothing.
    stuck: [bool; DEPTH],
}

impl std::fmt::Debug for HookedLane {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}

impl Lane for HookedLane {
    unsafe fn submit(&mut self, mut op: Op) {
        if std::mem::take(&mut self.stuck[op.tag]) {
            return self.ended.push_back((op.tag, Ok(0)));
        }
        let call = if op.write { Call::Write(op.bytes) } else { Call::Read(op.bytes) };
        match (self.judge)(call) {
            Verdict::Pass => {}
            Verdict::Fail(errno) => return self.ended.push_back((op.tag, Err(errno))),
            Verdict::Short => {
                self.stuck[op.tag] = true;
                return self.ended.push_back((op.tag, Ok(op.bytes.min(16) / 2)));
            }
            Verdict::Half => op.bytes = (op.bytes / 2).next_multiple_of(4096).min(op.bytes),
        }
        // SAFETY: the contract of the caller.
        unsafe { self.inner.submit(op) };
    }

    fn complete(&mut self) -> (usize, Result<usize, Errno>) {
        self.ended.pop_front().unwrap_or_else(|| self.inner.complete())
    }
}

/// A hierarchy whose files are judged.
pub(super) fn open(options: HierarchyOptions, wanted: WantedStorage, judge: Judge) -> Hierarchy {
    try_open(options, wanted, judge).unwrap()
}

/// The same, which may fail.
pub(super) fn try_open(
    options: HierarchyOptions,
    wanted: WantedStorage,
    judge: Judge,
) -> Result<Hierarchy, crate::MemoryError> {
    options.open_with(|directory| Ok(Arc::new(Hooked { disk: Disk::probe(wanted, directory)?, judge })))
}

/// Both ways of reading and writing files, as far as this machine has them.
pub(super) fn both() -> Vec<WantedStorage> {
    let mut both = vec![WantedStorage::Buffered, WantedStorage::Direct];
    both.retain(|wanted| match Hierarchy::options().storage(*wanted).open() {
        Ok(_) => true,
        Err(error) => {
            println!("not tried here: {error}");
            false
        }
    });
    both
}

/// An instance of `x`, version 0.
pub(super) fn make(memory: &Hierarchy, tier: Tier, bytes: usize) -> Instance {
    memory.allocate(&Request::new("x", 0, tier, bytes as i64)).unwrap()
}

/// Main memory with a pattern that no two places of a chunk share.
pub(super) fn filled(memory: &Hierarchy, bytes: usize, seed: u8) -> Instance {
    let instance = make(memory, Tier::Ram, bytes);
    instance.write(0, &pattern(bytes, seed)).unwrap();
    instance
}

/// The pattern.
pub(super) fn pattern(bytes: usize, seed: u8) -> Vec<u8> {
    (0..bytes).map(|at| (at % 251) as u8 ^ (at >> 20) as u8 ^ seed).collect()
}

/// All bytes.
pub(super) fn content(instance: &Instance) -> Vec<u8> {
    let mut bytes = vec![0xee; instance.capacity() as usize];
    instance.read(0, &mut bytes).unwrap();
    bytes
}

/// Lets calls through, or holds them.
#[derive(Default)]
pub(super) struct Gate {
    state: Mutex<(bool, usize)>,
    changed: Condvar,
}

impl Gate {
    /// Holds reads and writes until it is opened; after that nothing.
    pub(super) fn judge(self: &Arc<Self>) -> Judge {
        let gate = self.clone();
        Arc::new(move |call| {
            if matches!(call, Call::Read(_) | Call::Write(_)) {
                let mut state = gate.state.lock().unwrap();
                state.1 += 1;
                gate.changed.notify_all();
                while !state.0 {
                    state = gate.changed.wait(state).unwrap();
                }
            }
            Verdict::Pass
        })
    }

    pub(super) fn open(&self) {
        self.state.lock().unwrap().0 = true;
        self.changed.notify_all();
    }

    pub(super) fn shut(&self) {
        *self.state.lock().unwrap() = (false, 0);
    }

    /// Waits until so many calls have come to it since it was shut.
    pub(super) fn reached_by(&self, calls: usize) {
        let mut state = self.state.lock().unwrap();
        while state.1 < calls {
            state = self.changed.wait(state).unwrap();
        }
    }
}
