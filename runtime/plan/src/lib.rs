//! Plans: when and where the kernels of a program run.
//!
//! A [`Template`] is what the compiler makes and a bundle stores: loops, owners, roles, symbolic
//! capacities. [`instantiate`](instantiate::instantiate) turns it, once sizes are known, into
//! executable-bundle-plan documents of version 1, each checked by the hazard law before it runs.
//! Imports neither the compiler nor the IR.

mod template;

pub use template::*;
