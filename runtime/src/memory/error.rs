//! Refusals and failures of the memory hierarchy: what was found, what was expected.

use super::order::Failure;
use rustix::io::Errno;
use std::fmt;
use std::path::PathBuf;
use tiga_abi::{Device, DeviceError, Tier, TierError};

/// What was asked of the system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoOperation {
    /// Making a directory.
    CreateDirectory,
    /// Locking a directory.
    Lock,
    /// Making a file.
    Create,
    /// Setting the length of a file.
    SetLength,
    /// Asking for the length of a file.
    Length,
    /// Reading.
    Read,
    /// Writing.
    Write,
    /// Removing a file or directory.
    Remove,
}

impl fmt::Display for IoOperation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IoOperation::CreateDirectory => "make directory",
            IoOperation::Lock => "lock",
            IoOperation::Create => "make",
            IoOperation::SetLength => "set the length of",
            IoOperation::Length => "ask the length of",
            IoOperation::Read => "read",
            IoOperation::Write => "write",
            IoOperation::Remove => "remove",
        })
    }
}

/// Which instance an error is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Its logical name.
    pub name: String,
    /// Its version.
    pub version: u64,
    /// Where it lies.
    pub tier: Tier,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` version {} in {}", self.name, self.version, self.tier)
    }
}

/// Why an instance could not be made, moved, read, written or ended.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MemoryError {
    /// A word that names no tier.
    #[error(transparent)]
    UnknownTier(#[from] TierError),
    /// A word that names no device.
    #[error(transparent)]
    UnknownDevice(#[from] DeviceError),
    /// A tier where a runtime gives no memory.
    #[error("`{0}` memory is kernel/transport managed: a hierarchy gives none")]
    Managed(Tier),
    /// An instance without a name.
    #[error("the logical name is empty")]
    EmptyName,
    /// A version below zero.
    #[error("the version must be non-negative, found {0}")]
    NegativeVersion(i64),
    /// A capacity below zero.
    #[error("the capacity must be non-negative, found {0} bytes")]
    NegativeCapacity(i64),
    /// A budget below zero.
    #[error("the budget of {tier} must be non-negative, found {bytes} bytes")]
    NegativeBudget {
        /// Whose budget.
        tier: Tier,
        /// What was given.
        bytes: i64,
    },
    /// Two budgets for a tier, perhaps under two of its names.
    #[error("two budgets for {0}")]
    BudgetTwice(Tier),
    /// A hierarchy without threads for transfers.
    #[error("a hierarchy needs at least one I/O worker")]
    NoWorkers,
    /// More than the budget of a tier. Nothing was allocated.
    #[error("{tier} capacity exceeded: {wanted} > {budget} bytes")]
    Budget {
        /// The tier.
        tier: Tier,
        /// Live bytes with those asked for.
        wanted: u128,
        /// Bytes that may be live at once.
        budget: u64,
    },
    /// A tier or a device that this version cannot drive.
    #[error("{tier} memory on {device} is unsupported: this version has no driver for it")]
    Unsupported {
        /// The tier.
        tier: Tier,
        /// The device.
        device: Device,
    },
    /// More main memory than there is.
    #[error("an instance needs {bytes} bytes of memory, {available} may be used")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that the machine has to give.
        available: u64,
    },
    /// The hierarchy is closed.
    #[error("the memory hierarchy has been closed")]
    HierarchyClosed,
    /// The instance is closed.
    #[error("closed physical instance: {0}")]
    Closed(Identity),
    /// An instance of another hierarchy.
    #[error("{0} belongs to another memory hierarchy")]
    Foreign(Identity),
    /// A transfer of an instance into itself.
    #[error("source and destination must be distinct, both are {0}")]
    NotDistinct(Identity),
    /// A transfer between two values.
    #[error("a transfer must preserve logical identity and version: {from} into {to}")]
    OtherIdentity {
        /// Whence.
        from: Identity,
        /// Whither.
        to: Identity,
    },
    /// A transfer between two sizes.
    #[error("a transfer needs equal capacity: {source_bytes} bytes into {destination_bytes}")]
    UnequalCapacity {
        /// Capacity of the source.
        source_bytes: u64,
        /// Capacity of the destination.
        destination_bytes: u64,
    },
    /// No live instance of that name.
    #[error("no live instance of `{name}`{}", .tier.map_or(String::new(), |tier| format!(" in {tier}")))]
    NotFound {
        /// What was asked for.
        name: String,
        /// The only tier that was looked at.
        tier: Option<Tier>,
    },
    /// Bytes outside of an instance.
    #[error("{bytes} bytes at {offset} do not lie within the {capacity} bytes of {instance}")]
    OutOfBounds {
        /// Which instance.
        instance: Identity,
        /// Where they begin.
        offset: u64,
        /// How many.
        bytes: u64,
        /// Bytes that the instance has.
        capacity: u64,
    },
    /// A file that no longer has the length of its instance.
    #[error("short hierarchical transfer: {} has {found} bytes, {expected} expected", .path.display())]
    ShortFile {
        /// The file.
        path: PathBuf,
        /// Its bytes.
        found: u64,
        /// Bytes of the instance.
        expected: u64,
    },
    /// Fewer bytes were moved than asked for, and no more could be.
    #[error("short storage transfer: cannot {operation} {}: {found} of {expected} bytes", .path.display())]
    ShortTransfer {
        /// Reading or writing.
        operation: IoOperation,
        /// The file.
        path: PathBuf,
        /// Bytes moved.
        found: u64,
        /// Bytes of the chunk, rounded up to what direct output takes.
        expected: u64,
    },
    /// Bytes in a file that are not those which were written.
    #[error("{} is damaged: checksum {found:08x}, {expected:08x} expected, in {bytes} bytes at {offset}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where the chunk begins.
        offset: u64,
        /// Its bytes.
        bytes: u64,
        /// Checksum of what was read.
        found: u32,
        /// Checksum of what was written.
        expected: u32,
    },
    /// No space is left for a file.
    #[error("disk full: cannot {operation} {}: {errno}", .path.display())]
    DiskFull {
        /// What was tried.
        operation: IoOperation,
        /// The file.
        path: PathBuf,
        /// What the system said: no space, or no quota.
        errno: Errno,
    },
    /// The system refused.
    #[error("cannot {operation} {}: {errno}", .path.display())]
    Io {
        /// What was tried.
        operation: IoOperation,
        /// The file or directory.
        path: PathBuf,
        /// What the system said.
        errno: Errno,
    },
    /// io_uring and direct input and output were demanded and are not to be had.
    #[error("io_uring with O_DIRECT is unsupported here: {0}")]
    NoDirectStorage(Errno),
    /// The threads of the hierarchy could not be started.
    #[error("cannot start {threads} I/O workers: {errno}")]
    Threads {
        /// How many.
        threads: usize,
        /// What the system said.
        errno: Errno,
    },
    /// The source of a transfer holds nothing: the transfer that was to fill it failed.
    #[error("{instance} was not filled: {cause}")]
    NotFilled {
        /// The source.
        instance: Identity,
        /// Why it was not filled.
        cause: Box<MemoryError>,
    },
    /// A callback of a completion asked to wait: it runs on a thread that others wait for.
    #[error("a callback of a completion may not wait for pending transfers")]
    InsideCallback,
    /// The work was dropped before it was done: a mistake inside of the library.
    #[error("a transfer was dropped before it was done")]
    Abandoned,
}

impl Failure for MemoryError {
    fn abandoned() -> Self {
        MemoryError::Abandoned
    }
}

impl MemoryError {
    /// What an error of the system means.
    pub(crate) fn of_system(operation: IoOperation, path: impl Into<PathBuf>, errno: Errno) -> Self {
        let path = path.into();
        match errno {
            Errno::NOSPC | Errno::DQUOT => MemoryError::DiskFull { operation, path, errno },
            errno => MemoryError::Io { operation, path, errno },
        }
    }
}

/// The number in an error of the standard library.
pub(crate) fn errno(error: &std::io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}
