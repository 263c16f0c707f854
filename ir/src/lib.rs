//! The SSA container, its levels, and the definition of math functions.

pub mod math;
