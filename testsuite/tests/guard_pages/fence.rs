//! An allocator that fences memory off: while it is on, every allocation has a page of its own that either ends or
//! begins where nothing may be read or written, and memory that was freed may not be touched again.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PAGE: usize = 4096;
/// Address space set aside; none of it is ever used twice.
const ARENA: usize = 1 << 38;

/// Which end of an allocation meets the fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The first byte after it.
    End = 1,
    /// The last byte before it.
    Begin = 2,
}

/// The allocator; ordinary until it is switched on.
pub struct Fence {
    side: AtomicU8,
    base: AtomicUsize,
    next: AtomicUsize,
}

static SWITCH: Mutex<()> = Mutex::new(());

/// The allocator is on while this lives.
pub struct On<'f> {
    fence: &'f Fence,
    _only: MutexGuard<'static, ()>,
}

impl Drop for On<'_> {
    fn drop(&mut self) {
        self.fence.side.store(0, SeqCst);
    }
}

impl Fence {
    pub const fn new() -> Self {
        Fence { side: AtomicU8::new(0), base: AtomicUsize::new(0), next: AtomicUsize::new(0) }
    }

    /// Fences off what is allocated from now on.
    pub fn on(&self, side: Side) -> On<'_> {
        let only = SWITCH.lock().unwrap_or_else(PoisonError::into_inner);
        if self.base.load(SeqCst) == 0 {
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
            // SAFETY: a fresh mapping that nothing else knows of.
            let base = unsafe { libc::mmap(std::ptr::null_mut(), ARENA, libc::PROT_NONE, flags, -1, 0) };
            assert_ne!(base, libc::MAP_FAILED, "no address space");
            self.next.store(base as usize + PAGE, SeqCst);
            self.base.store(base as usize, SeqCst);
        }
        self.side.store(side as u8, SeqCst);
        On { fence: self, _only: only }
    }

    fn holds(&self, address: usize) -> bool {
        let base = self.base.load(SeqCst);
        base != 0 && (base..base + ARENA).contains(&address)
    }
}

/// Makes whole pages accessible or not.
fn protect(begin: usize, end: usize, access: i32) -> bool {
    // SAFETY: the pages lie in the arena, and belong to one allocation.
    unsafe { libc::mprotect(begin as *mut libc::c_void, end - begin, access) == 0 }
}

// SAFETY: allocations in the arena are disjoint, of whole pages that are never given out again; others are the system's.
unsafe impl GlobalAlloc for Fence {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let side = self.side.load(SeqCst);
        if side == 0 || layout.align() > PAGE {
            // SAFETY: passed on.
            return unsafe { System.alloc(layout) };
        }
        let bytes = layout.size().next_multiple_of(PAGE);
        let begin = self.next.fetch_add(bytes + PAGE, SeqCst);
        if !self.holds(begin + bytes) || !protect(begin, begin + bytes, libc::PROT_READ | libc::PROT_WRITE) {
            return std::ptr::null_mut();
        }
        let last = (begin + bytes - layout.size()) & !(layout.align() - 1);
        (if side == Side::End as u8 { last } else { begin }) as *mut u8
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        if !self.holds(address as usize) {
            // SAFETY: passed on; it is not ours.
            return unsafe { System.dealloc(address, layout) };
        }
        let begin = address as usize & !(PAGE - 1);
        let end = (address as usize + layout.size()).next_multiple_of(PAGE);
        protect(begin, end, libc::PROT_NONE);
    }
}
