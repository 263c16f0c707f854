//! Memory of a worker that chunks pass through: as much as chunks may be under way, and no more.

use super::allocation::Memory;
use super::storage::{CHUNK, DEPTH};
use super::{IoOperation, MemoryError};
use rustix::io::Errno;

/// A place for each chunk under way, each aligned to pages.
#[derive(Debug)]
pub(crate) struct Staging {
    memory: Memory,
}

impl Staging {
    /// The places; the system gives their pages as they are first used.
    pub(crate) fn new() -> Result<Self, MemoryError> {
        let memory = Memory::pages(CHUNK * DEPTH);
        let none = || MemoryError::of_system(IoOperation::Read, "staging memory", Errno::NOMEM);
        Ok(Self { memory: memory.ok_or_else(none)? })
    }

    /// The place of that number, of [`CHUNK`] bytes.
    pub(crate) fn place(&mut self, number: usize) -> *mut u8 {
        self.memory.address().wrapping_add(number % DEPTH * CHUNK)
    }
}
