//! A place in a file that outlives the file's text: what IR, objects and traces carry.

use std::fmt;
use std::sync::Arc;

/// `file:line:column`, one-based; line 0 means "no place".
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Loc {
    file: Arc<str>,
    line: u32,
    column: u32,
}

impl Loc {
    /// A place.
    pub fn new(file: Arc<str>, line: u32, column: u32) -> Self {
        Self { file, line, column }
    }

    /// The place of what the compiler made itself.
    pub fn unknown() -> Self {
        Self { file: "".into(), line: 0, column: 0 }
    }

    /// Whether this is a real place.
    pub fn is_known(&self) -> bool {
        self.line != 0
    }

    /// The file's name.
    pub fn file(&self) -> &Arc<str> {
        &self.file
    }

    /// One-based line.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// One-based column, in characters.
    pub fn column(&self) -> u32 {
        self.column
    }
}

impl fmt::Display for Loc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_known() { write!(f, "{}:{}:{}", self.file, self.line, self.column) } else { f.write_str("unknown") }
    }
}
