//! Bounds on what inlining may make of a file, so that a short text cannot ask for endless work.

use crate::limits::{CODE, REGIONS};
use std::cell::Cell;
use tiga_ir::TypeError;
use tiga_source::Span;

/// Expressions inside each other, calls followed.
const DEPTH: usize = 768;

/// Why a checked program has no function.
#[derive(Debug)]
pub(crate) enum EmitError {
    /// The checker let something pass that the IR refuses.
    Type(Box<TypeError>),
    /// Too many expressions, or too deep ones: where, and which.
    Limit(Span, &'static str),
    /// What should be a number is none before a program runs.
    NotConstant(Span),
}

impl From<TypeError> for EmitError {
    fn from(error: TypeError) -> Self {
        EmitError::Type(Box::new(error))
    }
}

/// What has been written so far.
#[derive(Debug, Default)]
pub(crate) struct Limits {
    written: Cell<usize>,
    depth: Cell<usize>,
    regions: Cell<usize>,
}

impl Limits {
    /// One more expression, inside the ones that were not left.
    pub(super) fn enter(&self, span: Span) -> Result<(), EmitError> {
        self.written.set(self.written.get() + 1);
        if self.written.get() > CODE {
            return Err(EmitError::Limit(span, "large"));
        }
        if self.depth.get() >= DEPTH {
            return Err(EmitError::Limit(span, "deep"));
        }
        self.depth.set(self.depth.get() + 1);
        Ok(())
    }

    pub(super) fn leave(&self) {
        self.depth.set(self.depth.get() - 1);
    }

    /// One more region, inside the ones that were not left.
    pub(super) fn enter_region(&self, span: Span) -> Result<(), EmitError> {
        if self.regions.get() >= REGIONS {
            return Err(EmitError::Limit(span, "deep"));
        }
        self.regions.set(self.regions.get() + 1);
        Ok(())
    }

    pub(super) fn leave_region(&self) {
        self.regions.set(self.regions.get() - 1);
    }
}
