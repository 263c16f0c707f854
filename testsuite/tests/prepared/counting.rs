//! An allocator that counts what is asked of it by threads whose names begin as those of the runtime's workers do: the
//! others belong to the harness.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

/// How the names of threads begin that are counted.
pub const NAME: &str = "tiga-";

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
        if !self.on.load(SeqCst) {
            return;
        }
        let mut name = [0u8; 16];
        // SAFETY: the system writes the name of this thread, of at most so many bytes.
        unsafe { libc::prctl(libc::PR_GET_NAME, name.as_mut_ptr()) };
        if name.starts_with(NAME.as_bytes()) {
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
