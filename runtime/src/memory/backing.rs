//! What a tier has to do: give memory, say how its bytes are reached, take it back.

use super::MemoryError;
use super::nvme::SpillFile;
use std::fmt::Debug;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

/// What is asked of a tier.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Number of the instance; no two of a hierarchy have the same.
    pub(crate) id: u64,
    pub(crate) version: u64,
    pub(crate) bytes: u64,
}

/// A tier that gives memory. To add one: a file in this folder, its row in `open.rs`, and, if its bytes are reached in a
/// way of their own, an [`Access`] with its arms in `transfer.rs`.
pub(crate) trait Driver: Send + Sync + Debug {
    /// Memory that reads as zeros. What a failure left behind is gone.
    fn allocate(&self, wanted: &Wanted) -> Result<Box<dyn Backing>, MemoryError>;
}

/// Memory of one instance.
pub(crate) trait Backing: Send + Sync + Debug {
    /// How its bytes are reached; `None` once it is released.
    fn access(&self) -> Option<Access>;

    /// The file that it is.
    fn path(&self) -> Option<&Path> {
        None
    }

    /// Gives it back; nothing happens the second time. Nobody uses it any more, even if this fails.
    fn release(&self) -> Result<(), MemoryError>;
}

/// How the bytes of an instance are reached.
#[derive(Clone, Debug)]
pub(crate) enum Access {
    /// Where they lie in main memory.
    Host(HostBytes),
    /// By reading and writing a file.
    File(Arc<SpillFile>),
}

/// Bytes in main memory, which live until their instance is released.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostBytes {
    pub(crate) address: NonNull<u8>,
}

// SAFETY: a plain address. Who reads and writes there is ordered by `order.rs`.
#[allow(unsafe_code)]
unsafe impl Send for HostBytes {}
// SAFETY: as above.
#[allow(unsafe_code)]
unsafe impl Sync for HostBytes {}
