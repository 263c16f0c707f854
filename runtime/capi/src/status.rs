//! The numbers of errors. A number never means anything else, even when what it meant is gone.

use tiga_bundle::BundleError;
use tiga_formats::CsrError;
use tiga_runtime::{MemoryError, RuntimeError};

/// What a call came to. Numbers are never reused; those of later versions may be new ones.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tiga_status {
    /// Done.
    TIGA_OK = 0,
    /// A pointer is null that may not be.
    TIGA_NULL = 1,
    /// An argument that no call takes: a text that is not UTF-8, an unknown number, a negative extent.
    TIGA_ARGUMENT = 2,
    /// A mistake inside of the library; the handles of the call may only be freed.
    TIGA_INTERNAL = 3,
    /// A file cannot be read.
    TIGA_FILE = 10,
    /// Bytes that are no bundle, a damaged one, or one of another version.
    TIGA_BUNDLE = 11,
    /// No kernels that this machine can run, or no such target.
    TIGA_TARGET = 12,
    /// The kernels cannot be loaded.
    TIGA_LOAD = 13,
    /// No such program.
    TIGA_NO_PROGRAM = 14,
    /// No such input, result or size.
    TIGA_NO_PARAMETER = 15,
    /// A name is bound twice.
    TIGA_BOUND_TWICE = 16,
    /// Inputs or results are not bound.
    TIGA_MISSING = 17,
    /// A graph where an array is expected, or the other way round.
    TIGA_KIND = 18,
    /// Another element type.
    TIGA_DTYPE = 19,
    /// Another number of axes.
    TIGA_RANK = 20,
    /// A size with two values.
    TIGA_CONFLICT = 21,
    /// A size that nothing fixes.
    TIGA_UNBOUND = 22,
    /// A size beyond what can be computed with.
    TIGA_SIZE = 23,
    /// An array whose bytes do not have its shape.
    TIGA_BYTES = 24,
    /// An array that is not aligned to its elements.
    TIGA_ALIGNMENT = 25,
    /// An array that is not contiguous in C order.
    TIGA_STRIDES = 26,
    /// A result that shares memory with another array.
    TIGA_OVERLAP = 27,
    /// A graph with more nodes than 32-bit columns can name.
    TIGA_WIDE_COLUMNS = 28,
    /// A size below zero.
    TIGA_NEGATIVE = 29,
    /// A bool that is neither 0 nor 1.
    TIGA_BOOL = 30,
    /// More memory than there is.
    TIGA_MEMORY = 31,
    /// The host's allocator gave nothing.
    TIGA_ALLOCATOR = 32,
    /// Cancelled; results are incomplete.
    TIGA_CANCELLED = 33,
    /// A plan that cannot run here.
    TIGA_PLAN = 34,
    /// Threads cannot be started.
    TIGA_THREADS = 35,
    /// Arrays that are no graph.
    TIGA_GRAPH = 36,
    /// More than what a call is prepared for: a size, threads, memory.
    TIGA_PREPARED = 37,
    /// A graph without what a prepared call derives of it.
    TIGA_NOT_DERIVED = 38,
    /// No such tier or device, or one in which no memory is given.
    TIGA_TIER = 39,
    /// More than the budget of a tier.
    TIGA_BUDGET = 40,
    /// A hierarchy or an instance that is closed.
    TIGA_CLOSED = 41,
    /// A transfer between two that are not the same value, or of an instance into itself.
    TIGA_TRANSFER = 42,
    /// No live instance of that name.
    TIGA_NOT_FOUND = 43,
    /// A file of a hierarchy cannot be made, read, written or removed, or is damaged.
    TIGA_STORAGE = 44,
    /// No space is left for a file of a hierarchy.
    TIGA_DISK_FULL = 45,
    /// An instance that a failed transfer was to fill.
    TIGA_NOT_FILLED = 46,
    /// A callback asks to wait for what it is called by.
    TIGA_INSIDE_CALLBACK = 47,
}

use tiga_status::*;

/// All numbers with their names, in ascending order.
pub const STATUSES: [(tiga_status, &str); 42] = {
    macro_rules! rows {
        ($($status:ident),*) => { [$(($status, stringify!($status))),*] };
    }
    rows!(
        TIGA_OK,
        TIGA_NULL,
        TIGA_ARGUMENT,
        TIGA_INTERNAL,
        TIGA_FILE,
        TIGA_BUNDLE,
        TIGA_TARGET,
        TIGA_LOAD,
        TIGA_NO_PROGRAM,
        TIGA_NO_PARAMETER,
        TIGA_BOUND_TWICE,
        TIGA_MISSING,
        TIGA_KIND,
        TIGA_DTYPE,
        TIGA_RANK,
        TIGA_CONFLICT,
        TIGA_UNBOUND,
        TIGA_SIZE,
        TIGA_BYTES,
        TIGA_ALIGNMENT,
        TIGA_STRIDES,
        TIGA_OVERLAP,
        TIGA_WIDE_COLUMNS,
        TIGA_NEGATIVE,
        TIGA_BOOL,
        TIGA_MEMORY,
        TIGA_ALLOCATOR,
        TIGA_CANCELLED,
        TIGA_PLAN,
        TIGA_THREADS,
        TIGA_GRAPH,
        TIGA_PREPARED,
        TIGA_NOT_DERIVED,
        TIGA_TIER,
        TIGA_BUDGET,
        TIGA_CLOSED,
        TIGA_TRANSFER,
        TIGA_NOT_FOUND,
        TIGA_STORAGE,
        TIGA_DISK_FULL,
        TIGA_NOT_FILLED,
        TIGA_INSIDE_CALLBACK
    )
};

impl tiga_status {
    /// Its name in C.
    pub(crate) fn name(self) -> &'static str {
        STATUSES.iter().find(|(status, _)| *status == self).map_or("TIGA_INTERNAL", |(_, name)| name)
    }
}

/// What went wrong: the number, and a sentence.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: tiga_status,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(status: tiga_status, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }

    /// A pointer that may not be null.
    pub(crate) fn null(what: &str) -> Self {
        Self::new(TIGA_NULL, format!("`{what}` is null"))
    }

    /// The same of a parameter.
    pub(crate) fn of(self, parameter: &str) -> Self {
        Self::new(self.status, format!("`{parameter}`: {}", self.message))
    }

    /// An argument that no call takes.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(TIGA_ARGUMENT, message)
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        let status = match &error {
            RuntimeError::Bundle(inner) if matches!(**inner, BundleError::Io(_)) => TIGA_FILE,
            RuntimeError::Bundle(_) => TIGA_BUNDLE,
            RuntimeError::NoTarget { .. } | RuntimeError::TargetAbsent { .. } | RuntimeError::TargetUnfit { .. } => {
                TIGA_TARGET
            }
            RuntimeError::Load { .. } | RuntimeError::Keep(_) => TIGA_LOAD,
            RuntimeError::NoProgram { .. } => TIGA_NO_PROGRAM,
            RuntimeError::NoParameter { .. } => TIGA_NO_PARAMETER,
            RuntimeError::BoundTwice(_) => TIGA_BOUND_TWICE,
            RuntimeError::Missing(_) => TIGA_MISSING,
            RuntimeError::Kind { .. } => TIGA_KIND,
            RuntimeError::DType { .. } => TIGA_DTYPE,
            RuntimeError::Rank { .. } => TIGA_RANK,
            RuntimeError::Conflict { .. } => TIGA_CONFLICT,
            RuntimeError::Unbound(_) => TIGA_UNBOUND,
            RuntimeError::Size(_) => TIGA_SIZE,
            RuntimeError::Bytes { .. } => TIGA_BYTES,
            RuntimeError::Alignment(_) => TIGA_ALIGNMENT,
            RuntimeError::Strides(_) => TIGA_STRIDES,
            RuntimeError::Overlap { .. } => TIGA_OVERLAP,
            RuntimeError::WideColumns { .. } => TIGA_WIDE_COLUMNS,
            RuntimeError::Negative { .. } => TIGA_NEGATIVE,
            RuntimeError::Bool { .. } => TIGA_BOOL,
            RuntimeError::Memory { .. } => TIGA_MEMORY,
            RuntimeError::Budget(_) => TIGA_BUDGET,
            RuntimeError::Tiers(inner) => memory_status(inner),
            RuntimeError::Allocator { .. } => TIGA_ALLOCATOR,
            RuntimeError::Cancelled => TIGA_CANCELLED,
            RuntimeError::Plan { .. } => TIGA_PLAN,
            RuntimeError::Threads { .. } => TIGA_THREADS,
            RuntimeError::PreparedSize { .. }
            | RuntimeError::PreparedThreads { .. }
            | RuntimeError::PreparedBytes { .. }
            | RuntimeError::PreparedTiers(_) => TIGA_PREPARED,
            RuntimeError::NotDerived { .. } => TIGA_NOT_DERIVED,
        };
        Self::new(status, error.to_string())
    }
}

impl From<MemoryError> for Failure {
    fn from(error: MemoryError) -> Self {
        Self::new(memory_status(&error), error.to_string())
    }
}

fn memory_status(error: &MemoryError) -> tiga_status {
    match error {
        MemoryError::UnknownTier(_) | MemoryError::UnknownDevice(_) | MemoryError::Managed(_) => TIGA_TIER,
        MemoryError::Unsupported { .. } => TIGA_TIER,
        MemoryError::EmptyName | MemoryError::NegativeVersion(_) | MemoryError::NegativeCapacity(_) => TIGA_ARGUMENT,
        MemoryError::NegativeBudget { .. } | MemoryError::BudgetTwice(_) | MemoryError::NoWorkers => TIGA_ARGUMENT,
        MemoryError::OutOfBounds { .. } => TIGA_ARGUMENT,
        MemoryError::Budget { .. } => TIGA_BUDGET,
        MemoryError::OutOfMemory { .. } => TIGA_MEMORY,
        MemoryError::HierarchyClosed | MemoryError::Closed(_) => TIGA_CLOSED,
        MemoryError::Foreign(_) | MemoryError::NotDistinct(_) => TIGA_TRANSFER,
        MemoryError::OtherIdentity { .. } | MemoryError::UnequalCapacity { .. } => TIGA_TRANSFER,
        MemoryError::NotFound { .. } => TIGA_NOT_FOUND,
        MemoryError::ShortFile { .. } | MemoryError::ShortTransfer { .. } | MemoryError::Damaged { .. } => TIGA_STORAGE,
        MemoryError::Io { .. } | MemoryError::NoDirectStorage(_) => TIGA_STORAGE,
        MemoryError::DiskFull { .. } => TIGA_DISK_FULL,
        MemoryError::Threads { .. } => TIGA_THREADS,
        MemoryError::NotFilled { .. } => TIGA_NOT_FILLED,
        MemoryError::InsideCallback => TIGA_INSIDE_CALLBACK,
        MemoryError::Abandoned => TIGA_INTERNAL,
    }
}

impl From<CsrError> for Failure {
    fn from(error: CsrError) -> Self {
        let status = if matches!(error, CsrError::TooManyRows { .. }) { TIGA_MEMORY } else { TIGA_GRAPH };
        Self::new(status, error.to_string())
    }
}
