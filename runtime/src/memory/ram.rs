//! The tier `ram`: main memory of the process.

use super::MemoryError;
use super::allocation::Memory;
use super::backing::{Access, Backing, Driver, HostBytes, Wanted};
use std::ptr::NonNull;
use std::sync::{Mutex, PoisonError};
use tiga_formats::Limits;

/// Gives main memory, whatever the device.
#[derive(Debug)]
pub(crate) struct Ram;

/// Memory that begins with a page.
#[derive(Debug)]
struct RamBacking(Mutex<Option<Memory>>);

impl Driver for Ram {
    fn allocate(&self, wanted: &Wanted) -> Result<Box<dyn Backing>, MemoryError> {
        let bytes = wanted.bytes;
        Limits::room_for(bytes).map_err(|short| MemoryError::OutOfMemory { bytes, available: short.limit })?;
        let memory = usize::try_from(bytes).ok().and_then(Memory::pages);
        let available = || Limits::of_this_machine().memory;
        let memory = memory.ok_or_else(|| MemoryError::OutOfMemory { bytes, available: available() })?;
        Ok(Box::new(RamBacking(Mutex::new(Some(memory)))))
    }
}

impl Backing for RamBacking {
    fn access(&self) -> Option<Access> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let address = NonNull::new(memory.as_ref()?.address())?;
        Some(Access::Host(HostBytes { address }))
    }

    fn release(&self) -> Result<(), MemoryError> {
        let memory = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(memory);
        Ok(())
    }
}
