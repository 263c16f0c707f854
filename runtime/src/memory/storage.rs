//! How files are read and written: the calls that a back end makes, and the choice between back ends.
#![allow(unsafe_code)]

use super::MemoryError;
use super::allocation::PAGE;
use super::calls::CallLane;
use super::uring::RingLane;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use rustix::fs::{Mode, OFlags, fstat, ftruncate, open, unlink};
use rustix::io::Errno;
use std::fmt;
use std::path::Path;

/// Bytes of a chunk: what is read, written and checked at once.
pub(crate) const CHUNK: usize = 1 << 20;

/// Chunks of one transfer under way at once.
pub(crate) const DEPTH: usize = 4;

/// How files of the tier `nvme` are read and written, as it was found out when the hierarchy was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// By io_uring, past the page cache.
    Direct,
    /// By calls of threads, through the page cache: one of the two is not to be had, for the reason given.
    Buffered(BufferedBecause),
}

/// Why files are read and written through the page cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferedBecause {
    /// It was asked for.
    Asked,
    /// The kernel, or who watches over the process, gives no io_uring.
    NoUring(Errno),
    /// The file system does not read or write past the page cache.
    NoDirect(Errno),
}

impl fmt::Display for Storage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Storage::Direct => f.write_str("io_uring, O_DIRECT"),
            Storage::Buffered(BufferedBecause::Asked) => f.write_str("threads, buffered"),
            Storage::Buffered(BufferedBecause::NoUring(errno)) => write!(f, "threads, buffered (no io_uring: {errno})"),
            Storage::Buffered(BufferedBecause::NoDirect(errno)) => {
                write!(f, "threads, buffered (no O_DIRECT: {errno})")
            }
        }
    }
}

/// Which way of reading and writing files is wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WantedStorage {
    /// io_uring with O_DIRECT where both are to be had, else threads.
    #[default]
    Best,
    /// io_uring with O_DIRECT, or a refusal.
    Direct,
    /// Threads.
    Buffered,
}

/// A read or write of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Op {
    pub(crate) write: bool,
    pub(crate) file: RawFd,
    pub(crate) offset: u64,
    pub(crate) memory: *mut u8,
    pub(crate) bytes: usize,
    /// Given back with the result; below [`DEPTH`].
    pub(crate) tag: usize,
}

/// Where reads and writes are put, and their results found. One thread has it at a time.
pub(crate) trait Lane: Send + fmt::Debug {
    /// Begins a read or write. At most [`DEPTH`] are under way.
    ///
    /// # Safety
    /// File and memory are there, and nobody else touches the memory, until [`Lane::complete`] has given back the tag.
    unsafe fn submit(&mut self, op: Op);

    /// Waits for the end of one that is under way: its tag, and how many bytes were moved.
    fn complete(&mut self) -> (usize, Result<usize, Errno>);
}

/// The calls on files; tests put one between that fails.
pub(crate) trait Files: Send + Sync + fmt::Debug {
    /// How they are done.
    fn storage(&self) -> Storage;

    /// A new file that nobody else has.
    fn create(&self, path: &Path) -> Result<OwnedFd, Errno>;

    /// Gives a file a length: what is added reads as zeros.
    fn set_length(&self, file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno>;

    /// The length of a file.
    fn length(&self, file: BorrowedFd<'_>) -> Result<u64, Errno>;

    /// Removes a file.
    fn remove(&self, path: &Path) -> Result<(), Errno>;

    /// Somewhere to read and write.
    fn lane(&self) -> Result<Box<dyn Lane>, Errno>;

    /// What offsets, lengths and addresses of reads and writes are a multiple of.
    fn alignment(&self) -> usize {
        match self.storage() {
            Storage::Direct => PAGE,
            Storage::Buffered(_) => 1,
        }
    }
}

/// The files of this machine.
#[derive(Debug)]
pub(crate) struct Disk {
    storage: Storage,
}

impl Disk {
    /// Tries what a directory and the kernel can do.
    pub(crate) fn probe(wanted: WantedStorage, directory: &Path) -> Result<Self, MemoryError> {
        let storage = match wanted {
            WantedStorage::Buffered => Storage::Buffered(BufferedBecause::Asked),
            WantedStorage::Best | WantedStorage::Direct => match try_direct(directory) {
                Ok(()) => Storage::Direct,
                Err(BufferedBecause::NoUring(errno) | BufferedBecause::NoDirect(errno))
                    if wanted == WantedStorage::Direct =>
                {
                    return Err(MemoryError::NoDirectStorage(errno));
                }
                Err(because) => Storage::Buffered(because),
            },
        };
        Ok(Self { storage })
    }
}

/// Writes and reads a page: some file systems open what they then do not read.
fn try_direct(directory: &Path) -> Result<(), BufferedBecause> {
    let disk = Disk { storage: Storage::Direct };
    let mut lane = disk.lane().map_err(BufferedBecause::NoUring)?;
    let path = directory.join(format!(".probe-{:032x}", fastrand::u128(..)));
    let tried = disk.create(&path).and_then(|file| super::probe::page_by(&mut *lane, file.as_fd()));
    // Nobody else knows of the file; one that was never made is not there.
    let _ = disk.remove(&path);
    tried.map_err(BufferedBecause::NoDirect)
}

impl Files for Disk {
    fn storage(&self) -> Storage {
        self.storage
    }

    fn create(&self, path: &Path) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let direct = if self.storage == Storage::Direct { OFlags::DIRECT } else { OFlags::empty() };
        open(path, flags | direct, Mode::RUSR | Mode::WUSR)
    }

    fn set_length(&self, file: BorrowedFd<'_>, bytes: u64) -> Result<(), Errno> {
        ftruncate(file, bytes)
    }

    fn length(&self, file: BorrowedFd<'_>) -> Result<u64, Errno> {
        Ok(u64::try_from(fstat(file)?.st_size).unwrap_or(0))
    }

    fn remove(&self, path: &Path) -> Result<(), Errno> {
        unlink(path)
    }

    fn lane(&self) -> Result<Box<dyn Lane>, Errno> {
        Ok(match self.storage {
            Storage::Direct => Box::new(RingLane::new()?),
            Storage::Buffered(_) => Box::new(CallLane::default()),
        })
    }
}
