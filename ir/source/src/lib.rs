//! Source files, spans, locations and diagnostics: what every stage says about where it is, and what a command says
//! of its own failure.
//!
//! Stages keep [`Span`]s beside their values; errors become one [`Diagnostic`], rendered by
//! [`Diagnostic::render`]. Nothing here knows any language.

mod diagnostic;
mod file;
pub mod internal;
mod loc;
mod spelling;
mod streams;
mod terminal;

pub use diagnostic::{Diagnostic, Label, Severity, Suggestion};
pub use file::{FileId, Source, Sources, Span};
pub use loc::Loc;
pub use spelling::{nearest, unknown};
pub use streams::{Output, printed, say};
pub use terminal::steers;
