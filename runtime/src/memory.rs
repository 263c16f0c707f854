//! Memory that the plan owns: 64-byte aligned, zeroed. What is asked for is held against what there is.
#![allow(unsafe_code)]

use crate::RuntimeError;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use tiga_formats::Limits;

/// Alignment of all memory the runtime allocates.
const ALIGN: usize = 64;

/// [`Limits::room_for`], where `what` names what the memory is for in the error.
pub(crate) fn check_room(bytes: u64, what: impl FnOnce() -> String) -> Result<(), RuntimeError> {
    Limits::room_for(bytes).map_err(|short| RuntimeError::Memory { what: what(), bytes, available: short.limit })
}

/// An allocation.
#[derive(Debug)]
pub(crate) struct Memory {
    address: NonNull<u8>,
    layout: Option<Layout>,
}

impl Memory {
    /// `bytes` zeroed bytes; `None` if there is not so much.
    pub(crate) fn new(bytes: usize) -> Option<Self> {
        if bytes == 0 {
            // Never dereferenced: a kernel with nothing to do touches nothing.
            return Some(Self { address: NonNull::<Aligned>::dangling().cast(), layout: None });
        }
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        // SAFETY: the layout is not empty.
        let address = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { address, layout: Some(layout) })
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }
}

#[repr(align(64))]
struct Aligned;

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(layout) = self.layout {
            // SAFETY: allocated with this layout, freed once.
            unsafe { dealloc(self.address.as_ptr(), layout) }
        }
    }
}

// SAFETY: a plain allocation; accesses are ordered by the plan.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}
