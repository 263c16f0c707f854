//! How much code a text may ask for: calls let a short one ask for endless work.

/// Expressions that sema writes, and instructions once programs are inlined, over all programs of a file.
pub(crate) const CODE: usize = 200_000;
/// Loops, branches and messages inside each other: what the text form of the IR reads back.
pub(crate) const REGIONS: usize = 60;
