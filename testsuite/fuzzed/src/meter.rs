//! An allocator that counts what a thread holds, and refuses what a test wants it to refuse.
//!
//! It counts only where a program makes [`Meter`] its global allocator; elsewhere [`end`] says 0. Counts are those of one
//! thread: what a target does on another one is not seen.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static STATE: Cell<State> = const { Cell::new(State { held: 0, peak: 0, calls: 0, refuse: None, least: 0, refused: 0 }) };
}

/// What a thread has allocated since [`begin`].
#[derive(Clone, Copy)]
struct State {
    /// Bytes; negative once something older was freed.
    held: isize,
    peak: isize,
    /// Allocations of at least `least` bytes.
    calls: u64,
    /// The one of them that gets no memory.
    refuse: Option<u64>,
    least: usize,
    /// The bytes that it asked for.
    refused: usize,
}

/// What became of the allocations of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// Allocations that were counted.
    pub calls: u64,
    /// The bytes that the refused one asked for; 0 if there was none.
    pub refused: usize,
}

/// The system's allocator, with an eye on it.
pub struct Meter;

/// Begins to count what this thread allocates.
pub fn begin() {
    STATE.set(State { held: 0, peak: 0, calls: 0, refuse: None, least: 0, refused: 0 });
}

/// The most bytes that this thread held at one time since [`begin`].
pub fn end() -> usize {
    STATE.get().peak.unsigned_abs()
}

/// Runs `work`, whose allocation number `refuse` (from 0) of at least `least` bytes gets no memory.
pub fn refusing<T>(refuse: u64, least: usize, work: impl FnOnce() -> T) -> (T, Refusals) {
    STATE.set(State { held: 0, peak: 0, calls: 0, refuse: Some(refuse), least, refused: 0 });
    let value = work();
    let State { calls, refused, .. } = STATE.get();
    begin();
    (value, Refusals { calls, refused })
}

/// Whether `bytes` more may be had, in the place of `old`.
fn admit(bytes: usize, old: usize) -> bool {
    STATE
        .try_with(|cell| {
            let mut state = cell.get();
            if bytes >= state.least {
                state.calls += 1;
                if state.refuse.is_some_and(|refuse| refuse + 1 == state.calls) {
                    state.refused = bytes;
                    cell.set(state);
                    return false;
                }
            }
            state.held += bytes as isize - old as isize;
            state.peak = state.peak.max(state.held);
            cell.set(state);
            true
        })
        .unwrap_or(true)
}

fn freed(bytes: usize) {
    // A thread that ends frees what it holds after its counts are gone.
    let _ = STATE.try_with(|cell| {
        let state = cell.get();
        cell.set(State { held: state.held - bytes as isize, ..state });
    });
}

// SAFETY: all memory is the system allocator's, which is asked for it with the very layouts that came in; a refusal is the
// null pointer that the trait has for it.
unsafe impl GlobalAlloc for Meter {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size(), 0) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if !admit(layout.size(), 0) {
            return std::ptr::null_mut();
        }
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Smaller is what no system refuses.
        if size > layout.size() && !admit(size, layout.size()) {
            return std::ptr::null_mut();
        }
        if size <= layout.size() {
            freed(layout.size() - size);
        }
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        freed(layout.size());
        // SAFETY: the caller keeps the trait's contract.
        unsafe { System.dealloc(pointer, layout) }
    }
}
