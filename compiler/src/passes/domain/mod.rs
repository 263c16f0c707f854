//! Passes on domain functions.

pub mod inline;
pub mod lower_to_loops;
