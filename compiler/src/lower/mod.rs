//! Lowerings between levels: domain → host and loops → kernel → plan.

pub mod domain;
mod error;
pub mod kernel;
mod law;
pub mod plan;

pub use error::LowerError;
pub use law::ReductionLaw;

use tiga_ir::{Func, Module};

/// Adds a function under a name that no other one has.
///
/// # Errors
/// [`LowerError::Taken`].
pub(crate) fn add(module: &mut Module, func: Func) -> Result<(), LowerError> {
    let (name, loc) = (func.name.clone(), func.loc.clone());
    match module.add(func) {
        None => Ok(()),
        Some(_) => Err(LowerError::Taken { name, loc }),
    }
}
