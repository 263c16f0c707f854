//! Why a lowering stopped.

use tiga_ir::TypeError;
use tiga_source::{Diagnostic, Loc, Span};

/// A lowering cannot go on. On verified input only [`LowerError::Unsupported`] is possible.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// The lowering built something ill-typed: our bug.
    #[error("the lowering built an ill-typed instruction: {0}")]
    Type(#[from] TypeError),
    /// The level below cannot express it yet.
    #[error("{loc}: {what} cannot be compiled yet")]
    Unsupported {
        /// The construct.
        what: &'static str,
        /// Where it stands.
        loc: Loc,
    },
}

impl LowerError {
    /// Its code.
    pub const fn code(&self) -> &'static str {
        match self {
            LowerError::Unsupported { .. } => "TG0914",
            LowerError::Type(_) => "TG0999",
        }
    }

    /// Its place in the source.
    pub fn loc(&self) -> Option<&Loc> {
        match self {
            LowerError::Unsupported { loc, .. } => Some(loc),
            LowerError::Type(_) => None,
        }
    }

    /// The finding at a place.
    pub fn at(&self, span: Span) -> Diagnostic {
        match self {
            LowerError::Unsupported { what, .. } => {
                Diagnostic::error(self.code(), format!("{what} cannot be compiled yet"), span)
                    .label("this version has no kernel for it")
                    .note("the program is correct: `tigac eval` runs it")
            }
            LowerError::Type(error) => Diagnostic::error(self.code(), format!("internal error: {error}"), span),
        }
    }
}
