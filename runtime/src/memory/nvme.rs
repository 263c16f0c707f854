//! The tier `nvme`: a file for each instance, with a checksum for each of its chunks.

use super::backing::{Access, Backing, Driver, Wanted};
use super::storage::{CHUNK, Files};
use super::{IoOperation, MemoryError};
use rustix::fd::{AsFd, AsRawFd, OwnedFd, RawFd};
use rustix::io::{Errno, retry_on_intr};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use tiga_formats::Limits;

/// Makes files in a directory.
#[derive(Debug)]
pub(crate) struct Nvme {
    pub(crate) directory: PathBuf,
    pub(crate) files: Arc<dyn Files>,
}

/// A file that has the length of its instance, but for holes reads as what was written.
#[derive(Debug)]
pub(crate) struct SpillFile {
    path: PathBuf,
    file: OwnedFd,
    bytes: u64,
    files: Arc<dyn Files>,
    /// Of each chunk, what its bytes are to add up to.
    sums: Mutex<Vec<u32>>,
}

/// A file until it is removed.
#[derive(Debug)]
struct NvmeBacking {
    path: PathBuf,
    files: Arc<dyn Files>,
    file: Mutex<Option<Arc<SpillFile>>>,
}

/// A part of an instance: [`CHUNK`] bytes, or what is left of it at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub(crate) index: u64,
    pub(crate) offset: u64,
    pub(crate) bytes: usize,
}

/// The chunk of that number.
pub(crate) fn chunk(index: u64, capacity: u64) -> Chunk {
    let offset = index * CHUNK as u64;
    Chunk { index, offset, bytes: capacity.saturating_sub(offset).min(CHUNK as u64) as usize }
}

/// How many chunks there are.
pub(crate) fn chunks(capacity: u64) -> u64 {
    capacity.div_ceil(CHUNK as u64)
}

impl Driver for Nvme {
    fn allocate(&self, wanted: &Wanted) -> Result<Box<dyn Backing>, MemoryError> {
        let name = format!("{:032x}.v{}.{}.bin", fastrand::u128(..), wanted.version, wanted.id);
        let path = self.directory.join(name);
        let failed = |operation| {
            let path = path.clone();
            move |errno| MemoryError::of_system(operation, path, errno)
        };
        let sums = sums_of_zeros(wanted.bytes)?;
        let file = retry_on_intr(|| self.files.create(&path)).map_err(failed(IoOperation::Create))?;
        if let Err(errno) = retry_on_intr(|| self.files.set_length(file.as_fd(), wanted.bytes)) {
            // The first failure is the one to tell.
            let _ = retry_on_intr(|| self.files.remove(&path));
            return Err(failed(IoOperation::SetLength)(errno));
        }
        let files = self.files.clone();
        let spill = SpillFile { path: path.clone(), file, bytes: wanted.bytes, files, sums: Mutex::new(sums) };
        Ok(Box::new(NvmeBacking { path, files: self.files.clone(), file: Mutex::new(Some(Arc::new(spill))) }))
    }
}

/// Checksums of a file that is one hole.
fn sums_of_zeros(bytes: u64) -> Result<Vec<u32>, MemoryError> {
    let count = usize::try_from(chunks(bytes)).unwrap_or(usize::MAX);
    let mut sums = Vec::new();
    let needed = (count as u64).saturating_mul(size_of::<u32>() as u64);
    let refused = |available| MemoryError::OutOfMemory { bytes: needed, available };
    Limits::room_for(needed).map_err(|short| refused(short.limit))?;
    sums.try_reserve_exact(count).map_err(|_| refused(Limits::of_this_machine().memory))?;
    let zeros = |bytes: usize| crc32fast::hash(&vec![0; bytes]);
    if count > 1 {
        sums.resize(count - 1, zeros(CHUNK));
    }
    if count > 0 {
        sums.push(zeros(chunk(count as u64 - 1, bytes).bytes));
    }
    Ok(sums)
}

impl Backing for NvmeBacking {
    fn access(&self) -> Option<Access> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.clone().map(Access::File)
    }

    fn path(&self) -> Option<&Path> {
        Some(&self.path)
    }

    fn release(&self) -> Result<(), MemoryError> {
        let file = self.file.lock().unwrap_or_else(PoisonError::into_inner).take();
        if file.is_none() {
            return Ok(());
        }
        match retry_on_intr(|| self.files.remove(&self.path)) {
            // Somebody was faster; it is gone, which is what was wanted.
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(MemoryError::of_system(IoOperation::Remove, &self.path, errno)),
        }
    }
}

impl SpillFile {
    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    /// What a chunk's bytes are rounded up to when they are read or written.
    pub(crate) fn rounded(&self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.files.alignment())
    }

    /// Whether bytes at an address can be read or written without being copied.
    pub(crate) fn takes(&self, address: *mut u8, bytes: usize) -> bool {
        let alignment = self.files.alignment();
        address.addr().is_multiple_of(alignment) && bytes.is_multiple_of(alignment)
    }

    /// Where to go on after so many bytes.
    pub(crate) fn resumable(&self, bytes: usize) -> usize {
        bytes - bytes % self.files.alignment()
    }

    /// Refuses a file that has another length than its instance.
    pub(crate) fn check_length(&self) -> Result<(), MemoryError> {
        let found = retry_on_intr(|| self.files.length(self.file.as_fd())).map_err(self.failed(IoOperation::Length))?;
        if found == self.bytes {
            return Ok(());
        }
        Err(MemoryError::ShortFile { path: self.path.clone(), found, expected: self.bytes })
    }

    /// Takes off what the last write was rounded up by.
    pub(crate) fn restore_length(&self) -> Result<(), MemoryError> {
        if self.rounded(self.bytes as usize) as u64 == self.bytes {
            return Ok(());
        }
        let set = || self.files.set_length(self.file.as_fd(), self.bytes);
        retry_on_intr(set).map_err(self.failed(IoOperation::SetLength))
    }

    /// A chunk has been written.
    pub(crate) fn set_sum(&self, chunk: Chunk, sum: u32) {
        if let Some(place) = self.sums.lock().unwrap_or_else(PoisonError::into_inner).get_mut(chunk.index as usize) {
            *place = sum;
        }
    }

    /// The checksum of a chunk that was read, if it is what was written.
    pub(crate) fn check_sum(&self, chunk: Chunk, bytes: &[u8]) -> Result<u32, MemoryError> {
        let found = crc32fast::hash(bytes);
        let expected = self.sums.lock().unwrap_or_else(PoisonError::into_inner).get(chunk.index as usize).copied();
        match expected {
            Some(expected) if expected != found => Err(MemoryError::Damaged {
                path: self.path.clone(),
                offset: chunk.offset,
                bytes: chunk.bytes as u64,
                found,
                expected,
            }),
            _ => Ok(found),
        }
    }

    /// What an error of the system means for this file.
    pub(crate) fn failed(&self, operation: IoOperation) -> impl Fn(Errno) -> MemoryError + '_ {
        move |errno| MemoryError::of_system(operation, &self.path, errno)
    }

    /// Fewer bytes than asked for.
    pub(crate) fn short(&self, operation: IoOperation, found: usize, expected: usize) -> MemoryError {
        let (found, expected) = (found as u64, expected as u64);
        MemoryError::ShortTransfer { operation, path: self.path.clone(), found, expected }
    }
}
