//! Passes of the loops level.

pub mod split_units;
