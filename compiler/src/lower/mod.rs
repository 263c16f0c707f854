//! Lowerings between levels: domain → host and loops → kernel → plan.

pub mod domain;
mod error;
pub mod kernel;
mod law;
pub mod plan;

pub use error::LowerError;
pub use law::ReductionLaw;
