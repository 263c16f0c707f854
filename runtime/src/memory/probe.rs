//! A page written and read through a lane: whether direct input and output works where files are to lie.
#![allow(unsafe_code)]

use super::allocation::{Memory, PAGE};
use super::storage::{Lane, Op};
use rustix::fd::{AsRawFd, BorrowedFd};
use rustix::io::Errno;

/// What the page is filled with.
const MARK: u8 = 0xa5;

/// Writes a page at the begin of a file and reads it again.
pub(crate) fn page_by(lane: &mut dyn Lane, file: BorrowedFd<'_>) -> Result<(), Errno> {
    let memory = Memory::pages(PAGE).ok_or(Errno::NOMEM)?;
    let op = |write| Op { write, file: file.as_raw_fd(), offset: 0, memory: memory.address(), bytes: PAGE, tag: 0 };
    let mut run = |write| loop {
        // SAFETY: the page and the file outlive the wait for the result.
        unsafe { lane.submit(op(write)) };
        match lane.complete().1 {
            Err(Errno::INTR) => {}
            Ok(PAGE) => return Ok(()),
            Ok(_) => return Err(Errno::IO),
            Err(error) => return Err(error),
        }
    };
    let fill = |byte| {
        // SAFETY: a page was allocated, and nothing is under way.
        unsafe { memory.address().write_bytes(byte, PAGE) };
    };
    fill(MARK);
    run(true)?;
    fill(0);
    run(false)?;
    // SAFETY: as above.
    let read = unsafe { std::slice::from_raw_parts(memory.address(), PAGE) };
    if read.iter().all(|byte| *byte == MARK) { Ok(()) } else { Err(Errno::IO) }
}
