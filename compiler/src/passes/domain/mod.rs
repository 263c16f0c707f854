//! Passes on domain functions.

pub mod inline;
