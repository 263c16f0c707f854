//! Passes on loops functions.

pub mod contract;
pub mod split_units;
