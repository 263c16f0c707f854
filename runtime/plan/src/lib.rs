//! Plans: when and where the kernels of a program run.
//!
//! A [`Template`] is what the compiler makes and a bundle stores: loops, owners, roles, symbolic
//! capacities. [`instantiate`](instantiate::instantiate) turns it, once sizes are known, into
//! executable-bundle-plan documents of version 1, each checked by the hazard law before it runs.
//! Imports neither the compiler nor the IR.

pub mod allocate;
pub mod bind;
pub mod dag;
pub mod document;
mod explain;
mod few;
pub mod hazard;
pub mod instantiate;
pub mod json;
pub mod live;
pub mod passes;
mod peak;
mod print;
mod reach;
mod relation;
pub mod reserved;
#[cfg(test)]
mod sample;
pub mod strict;
pub mod submit;
mod template;
mod template_json;
pub mod verify;

pub use relation::Relation;
pub use template::*;
pub use template_json::{TEMPLATE_SCHEMA, TemplateError};
