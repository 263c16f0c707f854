//! The end of a transfer, for hosts: to be asked, waited for, or called back by.

use super::io_workers::is_worker;
use super::{MemoryError, order};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The end of a transfer. Copies of it are the same end.
#[derive(Clone)]
pub struct Completion(pub(crate) order::Completion<MemoryError>);

impl Completion {
    /// Whether it has ended, well or not.
    pub fn ready(&self) -> bool {
        self.0.ready()
    }

    /// The result, if it has ended.
    pub fn outcome(&self) -> Option<Result<(), MemoryError>> {
        self.0.outcome()
    }

    /// Waits for the end.
    ///
    /// # Errors
    /// Why the transfer failed. [`MemoryError::InsideCallback`] where a callback would have to wait.
    pub fn wait(&self) -> Result<(), MemoryError> {
        match self.0.outcome() {
            Some(result) => result,
            None if is_worker() => Err(MemoryError::InsideCallback),
            None => self.0.wait(),
        }
    }

    /// Calls `heard` once with the result: now if it is there, else at the end, on a thread of the hierarchy. A callback
    /// may begin transfers and close what nothing is under way for; it may not wait. What it panics with is dropped,
    /// once the message is out.
    pub fn then(&self, heard: impl FnOnce(&Result<(), MemoryError>) + Send + 'static) {
        self.0.then(move |result| {
            // Others hear of the same end, and must.
            let _ = catch_unwind(AssertUnwindSafe(|| heard(result)));
        });
    }
}

impl fmt::Debug for Completion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Completion").field(&self.0.outcome()).finish()
    }
}
