//! The formatter: a text in, the same text in the one layout out, with every comment.

use crate::parser::{Parsed, parse};
use crate::print::print_with_comments;
use crate::token::Comment;
use tiga_source::{Diagnostic, FileId};

/// Why a text was not formatted.
#[derive(Debug, thiserror::Error)]
pub enum FormatError {
    /// It has syntax errors, and warnings among them.
    #[error("it has syntax errors")]
    Syntax(Vec<Diagnostic>),
    /// The result would not say the same: a bug of the formatter.
    #[error("formatting would change what the text says")]
    Changed,
}

/// Formats a text: the same tree and the same comments, in the one layout; what is formatted stays as it is.
///
/// `file` is what the text was added to `Sources` as.
///
/// # Errors
/// [`FormatError`]; the text is then to be left alone.
pub fn format(file: FileId, text: &str) -> Result<String, FormatError> {
    let parsed = parse(file, text);
    if parsed.has_errors() {
        return Err(FormatError::Syntax(parsed.errors));
    }
    let formatted = print_with_comments(&parsed.module, file, text);
    // Whoever formats a file has no other copy of it: what was printed is read back before it counts.
    let again = parse(file, &formatted);
    let faithful = !again.has_errors() && again.module.same(&parsed.module) && same_comments(&again, &parsed);
    if faithful { Ok(formatted) } else { Err(FormatError::Changed) }
}

fn same_comments(left: &Parsed, right: &Parsed) -> bool {
    let said = |comment: &Comment| (comment.kind, comment.text.clone());
    left.comments.iter().map(said).eq(right.comments.iter().map(said))
}
