//! Reads and writes by plain calls, one after the other.
#![allow(unsafe_code)]

use super::storage::{Lane, Op};
use rustix::fd::BorrowedFd;
use rustix::io::{Errno, pread, pwrite};
use std::collections::VecDeque;

/// What is to be done; done when its result is asked for.
#[derive(Debug, Default)]
pub(crate) struct CallLane {
    waiting: VecDeque<Op>,
}

// SAFETY: who submits vouches for the memory until the result is there, whichever thread asks for it.
unsafe impl Send for CallLane {}

impl Lane for CallLane {
    unsafe fn submit(&mut self, op: Op) {
        self.waiting.push_back(op);
    }

    fn complete(&mut self) -> (usize, Result<usize, Errno>) {
        let op = self.waiting.pop_front().expect("results are asked for only while something is under way");
        // SAFETY: the file is open until the tag is given back, by the contract of `submit`.
        let file = unsafe { BorrowedFd::borrow_raw(op.file) };
        // SAFETY: initialised, ours alone and of that length, by the contract of `submit`.
        let memory = unsafe { std::slice::from_raw_parts_mut(op.memory, op.bytes) };
        let moved = if op.write { pwrite(file, memory, op.offset) } else { pread(file, memory, op.offset) };
        (op.tag, moved)
    }
}
