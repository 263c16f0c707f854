//! An allocator that counts what is asked of it by any thread but the process's first one, which belongs to the harness.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// The system's allocator, and how often it was called.
pub struct Counting {
    on: AtomicBool,
    calls: AtomicU64,
}

impl Counting {
    pub const fn new() -> Self {
        Counting { on: AtomicBool::new(false), calls: AtomicU64::new(0) }
    }

    /// How often memory was asked for, given back or resized while `work` ran.
    pub fn during<T>(&self, work: impl FnOnce() -> T) -> (T, u64) {
        let before = self.calls.load(SeqCst);
        self.on.store(true, SeqCst);
        let done = work();
        self.on.store(false, SeqCst);
        (done, self.calls.load(SeqCst) - before)
    }

    fn count(&self) {
        // SAFETY: both only ask the system for a number.
        if self.on.load(SeqCst) && unsafe { libc::gettid() != libc::getpid() } {
            self.calls.fetch_add(1, SeqCst);
        }
    }
}

// SAFETY: passes everything on.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count();
        // SAFETY: passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count();
        // SAFETY: passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, address: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.count();
        // SAFETY: passed on.
        unsafe { System.realloc(address, layout, size) }
    }

    unsafe fn dealloc(&self, address: *mut u8, layout: Layout) {
        self.count();
        // SAFETY: passed on.
        unsafe { System.dealloc(address, layout) }
    }
}
