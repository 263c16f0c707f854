//! Stopping a run from outside of it.

use crate::RuntimeError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Asks runs to stop; its clones are one token. Once cancelled it stays so: make a new one for the next run.
///
/// A run looks at its token between units of work: tasks, rounds of loops, about a millisecond of a kernel's units,
/// parts of a structure that is derived from a graph. A unit that runs is not interrupted.
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
}

impl CancelToken {
    /// A token that asks for nothing yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks all runs with this token to stop. May be called from any thread, and from a signal handler.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked for.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed)
    }

    /// Fails once it was asked for.
    pub(crate) fn check(&self) -> Result<(), RuntimeError> {
        if self.is_cancelled() { Err(RuntimeError::Cancelled) } else { Ok(()) }
    }
}
