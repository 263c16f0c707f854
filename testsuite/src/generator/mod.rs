//! Random well-typed domain programs with inputs for them, and what they covered.

mod coverage;
mod graph;
mod inputs;
mod program;
mod region;

pub use coverage::{Coverage, Site};
pub use graph::{GraphShape, random_graph};
pub use inputs::{Inputs, inputs};
pub use program::{Generated, program};
