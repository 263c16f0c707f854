//! Why a lowering stopped.

use tiga_abi::Symbol;
use tiga_ir::{Op, TypeError, ops};
use tiga_source::{Diagnostic, Loc, Span};

/// A lowering cannot go on. On verified input only [`LowerError::Unsupported`] is possible, and, if names were chosen by
/// hand, [`LowerError::Taken`].
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
    /// Two functions, parameters or sizes would have one name.
    #[error("{loc}: the name {name} is taken")]
    Taken {
        /// The name.
        name: Symbol,
        /// What was to have it.
        loc: Loc,
    },
}

impl LowerError {
    /// An op that has no form on the level below.
    pub fn operation(op: Op, loc: &Loc) -> LowerError {
        LowerError::Unsupported { what: words(op), loc: loc.clone() }
    }

    /// Its code.
    pub const fn code(&self) -> &'static str {
        match self {
            LowerError::Unsupported { .. } => "TG0914",
            LowerError::Type(_) | LowerError::Taken { .. } => "TG0999",
        }
    }

    /// Its place in the source.
    pub fn loc(&self) -> Option<&Loc> {
        match self {
            LowerError::Unsupported { loc, .. } | LowerError::Taken { loc, .. } => Some(loc),
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
            LowerError::Type(_) | LowerError::Taken { .. } => {
                Diagnostic::error(self.code(), format!("internal error: {self}"), span)
            }
        }
    }
}

/// What users call ops; the place of a finding says the rest.
const WORDS: [(Op, &str); 14] = [
    (ops::APPLY, "a message at this place"),
    (ops::REDUCE_SET, "a reduction over a set at this place"),
    (ops::REDUCE_AXIS, "a reduction over an axis at this place"),
    (ops::MATMUL, "a matrix product at this place"),
    (ops::WHILE, "a loop at this place"),
    (ops::REPEAT, "a loop at this place"),
    (ops::IF, "a branch at this place"),
    (ops::CALL, "a call at this place"),
    (ops::TRANSPOSE, "a transposed graph at this place"),
    (ops::ADD_SELF_LOOPS, "a graph with self-loops at this place"),
    (ops::CONCAT_GRAPHS, "a graph of two side by side at this place"),
    (ops::DEGREE, "a degree at this place"),
    (ops::LEN, "a length at this place"),
    (ops::FILL, "a field of one value at this place"),
];

fn words(op: Op) -> &'static str {
    WORDS.iter().find(|(one, _)| *one == op).map_or("an operation of this kind", |(_, words)| words)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_is_called_in_words() {
        for op in ops::ALL {
            let text = LowerError::operation(*op, &Loc::unknown()).to_string();
            assert!(!text.contains(&format!(" {} cannot", op.name())), "{text}");
            assert!(words(*op).starts_with("a") && words(*op).contains(' '), "{text}");
        }
    }
}
