//! Why a lowering stopped.

use tiga_ir::TypeError;
use tiga_source::Loc;

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
