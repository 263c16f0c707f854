//! Passes on loops functions.

pub mod contract;
pub mod lower_to_kernels;
pub mod split_units;
