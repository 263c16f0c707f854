//! Moves bytes: between two instances, or between one and the caller's memory. Several chunks are under way at once.
#![allow(unsafe_code)]

use super::allocation::PAGE;
use super::backing::{Access, HostBytes};
use super::nvme::{Chunk, SpillFile, chunk, chunks};
use super::staging::Staging;
use super::storage::{CHUNK, DEPTH, Lane, Op};
use super::{IoOperation, MemoryError};
use rustix::io::Errno;
use std::sync::Arc;

/// What a worker moves bytes with.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) lane: Box<dyn Lane>,
    pub(crate) staging: Staging,
}

/// A chunk under way.
struct Flight {
    chunk: Chunk,
    write: bool,
    file: Arc<SpillFile>,
    memory: *mut u8,
    /// Bytes moved.
    done: usize,
    /// Of what is written.
    sum: u32,
}

/// How a chunk stands after one of its reads or writes.
enum Step {
    Again,
    Done,
}

impl Desk {
    /// Copies all bytes of an instance into another one.
    ///
    /// # Safety
    /// Both ends have so many bytes; until this returns nobody else touches the destination or changes the source.
    pub(crate) unsafe fn copy(&mut self, from: &Access, to: &Access, capacity: u64) -> Result<(), MemoryError> {
        for file in [from, to].into_iter().filter_map(Access::file) {
            file.check_length()?;
        }
        if let (Access::Host(from), Access::Host(to)) = (from, to) {
            // SAFETY: two allocations of so many bytes, by the contract.
            unsafe { std::ptr::copy_nonoverlapping(from.address.as_ptr(), to.address.as_ptr(), capacity as usize) };
            return Ok(());
        }
        // SAFETY: by the contract.
        let copied = unsafe { self.copy_chunks(from, to, capacity) };
        let restored = to.file().map_or(Ok(()), |file| file.restore_length());
        copied.and(restored)
    }

    unsafe fn copy_chunks(&mut self, from: &Access, to: &Access, capacity: u64) -> Result<(), MemoryError> {
        let mut flights: [Option<Flight>; DEPTH] = Default::default();
        let (mut next, mut first) = (0, Ok(()));
        loop {
            for (tag, flight) in flights.iter_mut().enumerate().filter(|(_, flight)| flight.is_none()) {
                if next == chunks(capacity) || first.is_err() {
                    break;
                }
                let place = self.staging.place(tag);
                // SAFETY: nothing is under way in the place; the rest by the contract.
                let begun = unsafe { begin(from, to, chunk(next, capacity), place) };
                // SAFETY: as above.
                unsafe { self.lane.submit(begun.op(tag)) };
                *flight = Some(begun);
                next += 1;
            }
            if flights.iter().all(Option::is_none) {
                return first;
            }
            // Also after a failure: what is under way uses the memory.
            let (tag, moved) = self.lane.complete();
            let Some(flight) = flights.get_mut(tag).filter(|flight| flight.is_some()) else { continue };
            let Some(current) = flight.as_mut() else { continue };
            // SAFETY: the read or write of this chunk has ended.
            match unsafe { advance(current, moved, to) } {
                // SAFETY: as above.
                Ok(Step::Again) => unsafe { self.lane.submit(current.op(tag)) },
                Ok(Step::Done) => *flight = None,
                Err(error) => {
                    *flight = None;
                    first = first.and(Err(error));
                }
            }
        }
    }

    /// Fills the caller's memory from a file.
    pub(crate) fn fetch(&mut self, file: &Arc<SpillFile>, part: Part, bytes: &mut [u8]) -> Result<(), MemoryError> {
        file.check_length()?;
        for (chunk, within, mine) in part.pieces(bytes.len()) {
            let read = self.load(file, chunk)?;
            bytes[mine].copy_from_slice(&read[within]);
        }
        Ok(())
    }

    /// Changes a part of a file to the caller's bytes.
    pub(crate) fn patch(&mut self, file: &Arc<SpillFile>, part: Part, bytes: &[u8]) -> Result<(), MemoryError> {
        file.check_length()?;
        let mut pieces = part.pieces(bytes.len());
        let patched = pieces.try_for_each(|(chunk, within, mine)| {
            if within.len() < chunk.bytes {
                self.load(file, chunk)?;
            }
            let place = self.staging.place(0);
            // SAFETY: the place has so many bytes, nothing is under way there.
            let whole = unsafe { std::slice::from_raw_parts_mut(place, chunk.bytes) };
            whole[within].copy_from_slice(&bytes[mine]);
            let sum = crc32fast::hash(whole);
            // SAFETY: as above.
            unsafe { pad(place, chunk.bytes, file) };
            self.run(Flight { chunk, write: true, file: file.clone(), memory: place, done: 0, sum })
        });
        patched.and(file.restore_length())
    }

    /// Reads a chunk into the first place.
    fn load(&mut self, file: &Arc<SpillFile>, chunk: Chunk) -> Result<&[u8], MemoryError> {
        let place = self.staging.place(0);
        self.run(Flight { chunk, write: false, file: file.clone(), memory: place, done: 0, sum: 0 })?;
        // SAFETY: the place has so many bytes, nothing is under way there.
        Ok(unsafe { std::slice::from_raw_parts(place, chunk.bytes) })
    }

    /// Moves one chunk to its end.
    fn run(&mut self, mut flight: Flight) -> Result<(), MemoryError> {
        loop {
            // SAFETY: a place of this worker's staging, which nothing else uses now.
            unsafe { self.lane.submit(flight.op(0)) };
            if let Step::Done = flight.moved(self.lane.complete().1)? {
                return flight.settle().map(drop);
            }
        }
    }
}

impl Access {
    fn file(&self) -> Option<&Arc<SpillFile>> {
        match self {
            Access::Host(_) => None,
            Access::File(file) => Some(file),
        }
    }
}

/// Where the caller's bytes lie in an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) offset: u64,
    pub(crate) capacity: u64,
}

impl Part {
    /// Each chunk of `bytes` bytes: which part of it, which part of the caller's bytes.
    fn pieces(self, bytes: usize) -> impl Iterator<Item = (Chunk, std::ops::Range<usize>, std::ops::Range<usize>)> {
        let end = self.offset + bytes as u64;
        let first = self.offset / CHUNK as u64;
        let last = if bytes == 0 { first } else { end.div_ceil(CHUNK as u64) };
        (first..last).map(move |index| {
            let chunk = chunk(index, self.capacity);
            let (from, to) = (self.offset.max(chunk.offset), end.min(chunk.offset + chunk.bytes as u64));
            let within = (from - chunk.offset) as usize..(to - chunk.offset) as usize;
            (chunk, within, (from - self.offset) as usize..(to - self.offset) as usize)
        })
    }
}

/// The first read or write of a chunk: straight from or into main memory where alignment permits.
///
/// # Safety
/// Nothing is under way in the place, which has room for a chunk; the ends have the chunk.
unsafe fn begin(from: &Access, to: &Access, chunk: Chunk, place: *mut u8) -> Flight {
    let host = |host: &HostBytes| host.address.as_ptr().wrapping_add(chunk.offset as usize);
    match (from, to) {
        (Access::File(file), to) => {
            let direct = match to {
                Access::Host(to) => Some(host(to)).filter(|address| file.takes(*address, chunk.bytes)),
                Access::File(_) => None,
            };
            Flight { chunk, write: false, file: file.clone(), memory: direct.unwrap_or(place), done: 0, sum: 0 }
        }
        (Access::Host(from), Access::File(file)) => {
            let source = host(from);
            // SAFETY: the chunk lies within the source, which nobody changes.
            let sum = crc32fast::hash(unsafe { std::slice::from_raw_parts(source, chunk.bytes) });
            let direct = file.takes(source, chunk.bytes);
            if !direct {
                // SAFETY: the place has room for a chunk, and is no part of an instance.
                unsafe {
                    place.copy_from_nonoverlapping(source, chunk.bytes);
                    pad(place, chunk.bytes, file);
                }
            }
            let memory = if direct { source } else { place };
            Flight { chunk, write: true, file: file.clone(), memory, done: 0, sum }
        }
        (Access::Host(_), Access::Host(_)) => unreachable!("main memory is copied without chunks"),
    }
}

/// Zeros behind bytes that are written rounded up.
///
/// # Safety
/// The place has room for a chunk, and nothing is under way there.
unsafe fn pad(place: *mut u8, bytes: usize, file: &SpillFile) {
    const { assert!(CHUNK.is_multiple_of(PAGE)) };
    // SAFETY: rounded up, a chunk is no longer than CHUNK, which is a multiple of every alignment.
    unsafe { place.wrapping_add(bytes).write_bytes(0, file.rounded(bytes) - bytes) };
}

/// Goes on with a chunk after one of its reads or writes.
///
/// # Safety
/// Nothing of the chunk is under way; the destination has the chunk.
unsafe fn advance(flight: &mut Flight, moved: Result<usize, Errno>, to: &Access) -> Result<Step, MemoryError> {
    if let Step::Again = flight.moved(moved)? {
        return Ok(Step::Again);
    }
    let sum = flight.settle()?;
    if flight.write {
        return Ok(Step::Done);
    }
    match to {
        Access::Host(to) => {
            let address = to.address.as_ptr().wrapping_add(flight.chunk.offset as usize);
            if address != flight.memory {
                // SAFETY: from staging, which is no part of an instance, into a chunk of the destination.
                unsafe { address.copy_from_nonoverlapping(flight.memory, flight.chunk.bytes) };
            }
            Ok(Step::Done)
        }
        Access::File(file) => {
            // SAFETY: what goes from file to file lies in staging.
            unsafe { pad(flight.memory, flight.chunk.bytes, file) };
            let (chunk, memory) = (flight.chunk, flight.memory);
            *flight = Flight { chunk, write: true, file: file.clone(), memory, done: 0, sum };
            Ok(Step::Again)
        }
    }
}

impl Flight {
    /// What is left to be read or written.
    fn op(&self, tag: usize) -> Op {
        Op {
            write: self.write,
            file: self.file.descriptor(),
            offset: self.chunk.offset + self.done as u64,
            memory: self.memory.wrapping_add(self.done),
            bytes: self.file.rounded(self.chunk.bytes) - self.done,
            tag,
        }
    }

    fn operation(&self) -> IoOperation {
        if self.write { IoOperation::Write } else { IoOperation::Read }
    }

    /// A read or write has ended. One that moved less goes on from there, once: what comes to nothing is short.
    fn moved(&mut self, moved: Result<usize, Errno>) -> Result<Step, MemoryError> {
        let moved = match moved {
            Err(Errno::INTR) => return Ok(Step::Again),
            Err(errno) => return Err(self.file.failed(self.operation())(errno)),
            Ok(moved) => moved,
        };
        // What is read past the end of a file is not there; what is written there has to be.
        let needed = if self.write { self.file.rounded(self.chunk.bytes) } else { self.chunk.bytes };
        if self.done + moved >= needed {
            return Ok(Step::Done);
        }
        let resumed = self.file.resumable(self.done + moved);
        if resumed == self.done {
            return Err(self.file.short(self.operation(), self.done + moved, needed));
        }
        self.done = resumed;
        Ok(Step::Again)
    }

    /// All bytes are moved: notes the checksum of what was written, checks that of what was read; that of the chunk.
    fn settle(&self) -> Result<u32, MemoryError> {
        if self.write {
            self.file.set_sum(self.chunk, self.sum);
            return Ok(self.sum);
        }
        // SAFETY: so many bytes were read there, and nothing of the chunk is under way.
        let bytes = unsafe { std::slice::from_raw_parts(self.memory, self.chunk.bytes) };
        self.file.check_sum(self.chunk, bytes)
    }
}
