//! Domain functions become host and loops functions, as [`crate::lower::domain`] says.

use crate::lower::domain;
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use tiga_ir::{Level, Module};

/// The way down from the domain level.
pub const PASS: Pass = Pass {
    name: "lower_to_loops",
    about: "domain functions become launches of loops functions on memory",
    levels: &[Level::Domain],
    makes: Some(Level::Loops),
    needed: true,
    run,
};

/// Lowers every domain function.
///
/// # Errors
/// A construct that the lower levels cannot express.
pub fn run(module: &Module, options: &PassOptions, remarks: &mut Remarks) -> Result<Module, PassError> {
    Ok(domain::lower(module, &options.law, remarks)?)
}
