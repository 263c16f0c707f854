//! The text form (`.tir`), the same for all levels: printing and parsing back changes nothing.

mod attrs;
mod lexer;
mod parser;
mod printer;

pub use parser::parse_module;
pub(crate) use printer::Names;
pub use printer::{print_func, print_module};

use tiga_source::Loc;

/// Why a `.tir` text is not a module.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{loc}: {kind}")]
pub struct ParseError {
    /// Where.
    pub loc: Loc,
    /// What.
    pub kind: ParseErrorKind,
}

/// What is wrong with a `.tir` text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParseErrorKind {
    /// A character that begins no token.
    #[error("`{0}` begins no token")]
    Character(String),
    /// Another token than the grammar wants.
    #[error("expected {expected}, found {found}")]
    Expected {
        /// What the grammar wants.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A name that nothing declares.
    #[error("`{0}` is not declared")]
    Undeclared(String),
    /// A name declared twice.
    #[error("`{0}` is declared twice")]
    Duplicate(String),
    /// Regions nested too deep.
    #[error("regions are nested deeper than {0}")]
    Nesting(usize),
}
