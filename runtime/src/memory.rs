//! Memory that the plan owns: 64-byte aligned, zeroed. What is asked for is held against what there is.
#![allow(unsafe_code)]

use crate::RuntimeError;
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt::Debug;
use std::ptr::NonNull;
use std::sync::Arc;
use tiga_formats::Limits;

/// Alignment of all memory the runtime allocates.
const ALIGN: usize = 64;

/// The host's own memory for temporaries and scratch, see [`crate::Context::with_allocator`]. Asked by the thread that
/// runs and by workers, so from several threads at once.
///
/// # Safety
/// An address that [`Allocator::allocate`] gives is valid for reads and writes of the whole layout, and nobody else's,
/// until [`Allocator::release`] takes it back.
pub unsafe trait Allocator: Send + Sync + Debug {
    /// `layout.size()` bytes (never 0) at a multiple of `layout.align()`; they need not be zeroed. `None` if there is
    /// not so much.
    fn allocate(&self, layout: Layout) -> Option<NonNull<u8>>;

    /// Takes memory back.
    ///
    /// # Safety
    /// The address came from [`Allocator::allocate`] with the same layout, and is given back once.
    unsafe fn release(&self, address: NonNull<u8>, layout: Layout);
}

/// [`Limits::room_for`], where `what` names what the memory is for in the error.
pub(crate) fn check_room(bytes: u64, what: impl FnOnce() -> String) -> Result<(), RuntimeError> {
    Limits::room_for(bytes).map_err(|short| RuntimeError::Memory { what: what(), bytes, available: short.limit })
}

/// An allocation.
#[derive(Debug)]
pub(crate) struct Memory {
    address: NonNull<u8>,
    layout: Option<Layout>,
    /// Whose it is; the system's if nobody's.
    owner: Option<Arc<dyn Allocator>>,
}

impl Memory {
    /// `bytes` zeroed bytes, from the host if it gives memory; `None` if there is not so much.
    pub(crate) fn new(bytes: usize, allocator: Option<&Arc<dyn Allocator>>) -> Option<Self> {
        if bytes == 0 {
            // Never dereferenced: a kernel with nothing to do touches nothing.
            return Some(Self { address: NonNull::<Aligned>::dangling().cast(), layout: None, owner: None });
        }
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        let Some(allocator) = allocator else {
            // SAFETY: the layout is not empty.
            let address = NonNull::new(unsafe { alloc_zeroed(layout) })?;
            return Some(Self { address, layout: Some(layout), owner: None });
        };
        let address = allocator.allocate(layout)?;
        let memory = Self { address, layout: Some(layout), owner: Some(allocator.clone()) };
        if !address.addr().get().is_multiple_of(ALIGN) {
            return None;
        }
        // SAFETY: the allocator vouches for the whole layout.
        unsafe { address.write_bytes(0, bytes) };
        Some(memory)
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }
}

#[repr(align(64))]
struct Aligned;

impl Drop for Memory {
    fn drop(&mut self) {
        let Some(layout) = self.layout else { return };
        match &self.owner {
            // SAFETY: allocated by this owner with this layout, given back once.
            Some(owner) => unsafe { owner.release(self.address, layout) },
            // SAFETY: allocated with this layout, freed once.
            None => unsafe { dealloc(self.address.as_ptr(), layout) },
        }
    }
}

// SAFETY: a plain allocation; accesses are ordered by the plan, and an allocator may be called from any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}
