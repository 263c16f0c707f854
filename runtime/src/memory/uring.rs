//! Reads and writes by io_uring: several under way at once, of one thread.
#![allow(unsafe_code)]

use super::storage::{DEPTH, Lane, Op};
use io_uring::{IoUring, opcode, types};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::time::Duration;

/// How long to leave a kernel alone that has no room just now.
const PAUSE: Duration = Duration::from_millis(1);

/// A ring.
pub(crate) struct RingLane {
    ring: IoUring,
    /// Entries that the kernel has.
    flying: usize,
    /// Those that it did not take, with why.
    refused: VecDeque<(usize, Errno)>,
    /// The ring holds an entry that was refused: it must not be used again.
    spoiled: bool,
}

impl fmt::Debug for RingLane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RingLane").field("flying", &self.flying).finish_non_exhaustive()
    }
}

impl RingLane {
    /// A ring with room for [`DEPTH`] entries.
    pub(crate) fn new() -> Result<Self, Errno> {
        Ok(Self { ring: ring()?, flying: 0, refused: VecDeque::new(), spoiled: false })
    }

    /// A new ring for a spoiled one, once the kernel is done with what it took.
    fn renew(&mut self) -> Result<(), Errno> {
        if self.spoiled && self.flying == 0 {
            self.ring = ring()?;
            self.spoiled = false;
        }
        if self.spoiled { Err(Errno::BUSY) } else { Ok(()) }
    }

    fn put(&mut self, op: Op) -> Result<(), Errno> {
        self.renew()?;
        let file = types::Fd(op.file);
        let bytes = u32::try_from(op.bytes).map_err(|_| Errno::INVAL)?;
        let entry = if op.write {
            opcode::Write::new(file, op.memory, bytes).offset(op.offset).build()
        } else {
            opcode::Read::new(file, op.memory, bytes).offset(op.offset).build()
        };
        // SAFETY: file and memory are there until the tag is given back, by the contract of `submit`.
        if unsafe { self.ring.submission().push(&entry.user_data(op.tag as u64)) }.is_err() {
            return Err(Errno::BUSY);
        }
        loop {
            match self.ring.submit().map_err(|error| errno(&error)) {
                Ok(_) => {
                    self.flying += 1;
                    return Ok(());
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN | Errno::BUSY) => std::thread::sleep(PAUSE),
                Err(error) => {
                    self.spoiled = true;
                    return Err(error);
                }
            }
        }
    }
}

fn ring() -> Result<IoUring, Errno> {
    IoUring::new(DEPTH.next_power_of_two() as u32).map_err(|error| errno(&error))
}

fn errno(error: &io::Error) -> Errno {
    super::error::errno(error)
}

impl Lane for RingLane {
    unsafe fn submit(&mut self, op: Op) {
        if let Err(error) = self.put(op) {
            self.refused.push_back((op.tag, error));
        }
    }

    fn complete(&mut self) -> (usize, Result<usize, Errno>) {
        if let Some((tag, error)) = self.refused.pop_front() {
            return (tag, Err(error));
        }
        loop {
            if let Some(entry) = self.ring.completion().next() {
                self.flying -= 1;
                let moved = usize::try_from(entry.result()).map_err(|_| Errno::from_raw_os_error(-entry.result()));
                return (entry.user_data() as usize, moved);
            }
            // A spoiled ring would take its entry after all, had it to be entered; what it took before ends by itself.
            let entered = if self.spoiled { Err(Errno::AGAIN) } else { self.wait() };
            if matches!(entered, Err(error) if error != Errno::INTR) {
                std::thread::sleep(PAUSE);
            }
        }
    }
}

impl RingLane {
    fn wait(&self) -> Result<(), Errno> {
        self.ring.submit_and_wait(1).map(drop).map_err(|error| errno(&error))
    }
}
