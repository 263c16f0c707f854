//! Memory of the runtime's own: 64-byte aligned, zeroed, in huge pages where it is large. What is asked for is held
//! against what there is. Kernels know nothing of it: arrays of callers have none of this.
#![allow(unsafe_code)]

use crate::RuntimeError;
use bytemuck::Pod;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::fmt::Debug;
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;
use std::sync::Arc;
use tiga_formats::Limits;

/// Alignment of all memory the runtime allocates.
const ALIGN: usize = 64;

/// A page, and what direct input and output is aligned to.
pub(crate) const PAGE: usize = 4096;

/// A huge page.
const HUGE_PAGE: usize = 2 << 20;

/// From here on memory is mapped in whole huge pages: what the last one wastes is little then.
const LARGE: usize = 4 * HUGE_PAGE;

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
    layout: Layout,
    owner: Owner,
}

/// Who takes memory back.
#[derive(Debug)]
enum Owner {
    /// There is none.
    Nobody,
    /// The process's allocator.
    Process,
    /// The system: it is mapped.
    System,
    /// The host.
    Host(Arc<dyn Allocator>),
}

impl Memory {
    /// `bytes` zeroed bytes, from the host if it gives memory; `None` if there is not so much.
    pub(crate) fn new(bytes: usize, allocator: Option<&Arc<dyn Allocator>>) -> Option<Self> {
        let layout = Layout::from_size_align(bytes, ALIGN).ok()?;
        let (address, owner) = match allocator {
            // Never dereferenced: a kernel with nothing to do touches nothing.
            _ if bytes == 0 => (NonNull::<Aligned>::dangling().cast(), Owner::Nobody),
            Some(allocator) => {
                let memory =
                    Self { address: allocator.allocate(layout)?, layout, owner: Owner::Host(allocator.clone()) };
                if !memory.address.addr().get().is_multiple_of(ALIGN) {
                    return None;
                }
                // SAFETY: the allocator vouches for the whole layout.
                unsafe { memory.address.write_bytes(0, bytes) };
                return Some(memory);
            }
            None if bytes >= LARGE => return map(bytes),
            // SAFETY: the layout is not empty.
            None => (NonNull::new(unsafe { alloc_zeroed(layout) })?, Owner::Process),
        };
        Some(Self { address, layout, owner })
    }

    /// `bytes` zeroed bytes that begin with a page and end with one: files are read into them without a copy.
    pub(crate) fn pages(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.checked_next_multiple_of(PAGE)?, PAGE).ok()?;
        match bytes {
            0 => Self::new(0, None),
            LARGE.. => map(bytes),
            // SAFETY: the layout is not empty.
            _ => Some(Self { address: NonNull::new(unsafe { alloc_zeroed(layout) })?, layout, owner: Owner::Process }),
        }
    }

    pub(crate) fn address(&self) -> *mut u8 {
        self.address.as_ptr()
    }
}

/// Whole huge pages at a multiple of their size, which the system zeroes as they are first touched.
fn map(bytes: usize) -> Option<Memory> {
    let layout = Layout::from_size_align(bytes.checked_next_multiple_of(HUGE_PAGE)?, HUGE_PAGE).ok()?;
    let all = layout.size().checked_add(HUGE_PAGE)?;
    // SAFETY: a fresh mapping that nothing else knows of.
    let start = unsafe {
        mmap_anonymous(std::ptr::null_mut(), all, ProtFlags::READ | ProtFlags::WRITE, MapFlags::PRIVATE).ok()?
    };
    let before = start.cast::<u8>().align_offset(HUGE_PAGE);
    let address = start.cast::<u8>().wrapping_add(before);
    let end = address.wrapping_add(layout.size());
    for (rest, bytes) in [(start.cast(), before), (end, HUGE_PAGE - before)] {
        if bytes > 0 {
            // SAFETY: whole pages of this mapping, outside of what is kept. One that stays costs address space only.
            let _ = unsafe { munmap(rest.cast(), bytes) };
        }
    }
    // SAFETY: the pages are ours and untouched. A system that has no huge pages says so, and all is as it was.
    let _ = unsafe { madvise(address.cast(), layout.size(), Advice::LinuxHugepage) };
    Some(Memory { address: NonNull::new(address)?, layout, owner: Owner::System })
}

/// Asks for huge pages in large memory that others own and nobody has touched yet.
pub(crate) fn advise<T>(untouched: &mut [std::mem::MaybeUninit<T>]) {
    let bytes = size_of_val(untouched);
    let address = untouched.as_mut_ptr().cast::<u8>();
    let before = address.align_offset(HUGE_PAGE);
    if bytes >= LARGE && before < bytes {
        let whole = (bytes - before) / HUGE_PAGE * HUGE_PAGE;
        // SAFETY: whole pages inside the memory; the advice changes no byte.
        let _ = unsafe { madvise(address.wrapping_add(before).cast(), whole, Advice::LinuxHugepage) };
    }
}

#[repr(align(64))]
struct Aligned;

impl Drop for Memory {
    fn drop(&mut self) {
        match &self.owner {
            Owner::Nobody => {}
            // SAFETY: allocated with this layout, freed once.
            Owner::Process => unsafe { dealloc(self.address.as_ptr(), self.layout) },
            Owner::System => {
                // SAFETY: mapped with this size, and given back once. What the system keeps is lost, not wrong.
                let _ = unsafe { munmap(self.address.as_ptr().cast(), self.layout.size()) };
            }
            // SAFETY: allocated by this owner with this layout, given back once.
            Owner::Host(host) => unsafe { host.release(self.address, self.layout) },
        }
    }
}

// SAFETY: a plain allocation; accesses are ordered by the plan, and an allocator may be called from any thread.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// An array of fixed length in memory of the runtime's own.
#[derive(Debug)]
pub(crate) struct Buffer<T> {
    memory: Memory,
    len: usize,
    elements: std::marker::PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// Zeros; [`RuntimeError::Memory`] if there are not so many.
    pub(crate) fn zeroed(len: usize, what: impl FnOnce() -> String) -> Result<Self, RuntimeError> {
        let bytes = len.checked_mul(size_of::<T>());
        match bytes.and_then(|bytes| Memory::new(bytes, None)) {
            Some(memory) => Ok(Self { memory, len, elements: std::marker::PhantomData }),
            None => {
                let (bytes, available) = (bytes.map_or(u64::MAX, |b| b as u64), Limits::of_this_machine().memory);
                Err(RuntimeError::Memory { what: what(), bytes, available })
            }
        }
    }

    /// The elements of an iterator of known length.
    pub(crate) fn of(
        elements: impl ExactSizeIterator<Item = T>,
        what: impl FnOnce() -> String,
    ) -> Result<Self, RuntimeError> {
        let mut buffer = Self::zeroed(elements.len(), what)?;
        buffer.iter_mut().zip(elements).for_each(|(place, element)| *place = element);
        Ok(buffer)
    }
}

impl<T> Deref for Buffer<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: so many elements were allocated, aligned wider than any of them; zeros are elements.
        unsafe { std::slice::from_raw_parts(self.memory.address().cast(), self.len) }
    }
}

impl<T> DerefMut for Buffer<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.memory.address().cast(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_memory_is_zeroed_and_begins_where_huge_pages_do() {
        for bytes in [LARGE, LARGE + 1, LARGE + HUGE_PAGE + 4096] {
            let memory = Memory::new(bytes, None).unwrap();
            assert!(memory.address().addr().is_multiple_of(HUGE_PAGE), "{bytes}");
            // SAFETY: so many bytes were asked for.
            let all = unsafe { std::slice::from_raw_parts_mut(memory.address(), bytes) };
            assert!(all.iter().all(|byte| *byte == 0));
            all.fill(1);
        }
        assert!(Memory::new(isize::MAX as usize - 63, None).is_none());
    }

    #[test]
    fn small_memory_is_aligned_to_cache_lines() {
        for bytes in [0, 1, 65, LARGE - 1] {
            let memory = Memory::new(bytes, None).unwrap();
            assert!(memory.address().addr().is_multiple_of(ALIGN), "{bytes}");
        }
        let buffer = Buffer::of([1i32, 2, 3].into_iter(), String::new).unwrap();
        assert_eq!(*buffer, [1, 2, 3]);
    }

    #[test]
    fn advice_touches_whole_pages_only() {
        let mut memory: Vec<u8> = Vec::with_capacity(LARGE + 12_345);
        advise(&mut memory.spare_capacity_mut()[1..]);
        memory.resize(LARGE + 12_345, 7);
        assert!(memory.iter().all(|byte| *byte == 7));
    }
}
