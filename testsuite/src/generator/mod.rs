//! Random well-typed domain programs with inputs for them, and what they covered.

mod case;
mod control;
mod coverage;
mod graph;
mod inputs;
mod keep;
mod message;
mod moved;
mod own;
mod pattern;
mod program;
mod region;
mod shrink;
mod writer;

pub use case::{Case, CaseError};
pub use coverage::{Coverage, Site};
pub use graph::{GraphShape, random_graph};
pub use inputs::{Inputs, inputs};
pub use program::{Generated, program};
pub use shrink::shrink;
