//! Memory of the runtime: plain allocations, and the hierarchy of tiers with budgets and transfers.
//!
//! A tier is a file here (`ram.rs`, `nvme.rs`) and a row in `open.rs`; its budget, its names and the order of transfers
//! need nothing else.

mod allocation;
mod backing;
mod calls;
mod completion;
mod error;
mod hierarchy;
mod instance;
mod io_workers;
mod ledger;
mod nvme;
mod open;
mod order;
mod probe;
mod ram;
mod reservation;
mod spill;
mod staging;
mod storage;
mod sync;
mod transfer;
mod uring;

#[cfg(test)]
mod tests;

pub use allocation::Allocator;
pub(crate) use allocation::{Buffer, Memory, advise, check_room};
pub use completion::Completion;
pub use error::{Identity, IoOperation, MemoryError};
pub use hierarchy::Hierarchy;
pub use instance::{Instance, Request};
pub(crate) use io_workers::is_worker;
pub use open::HierarchyOptions;
pub(crate) use reservation::Reservation;
pub use spill::Cleaned;
pub use storage::{BufferedBecause, Storage, WantedStorage};
