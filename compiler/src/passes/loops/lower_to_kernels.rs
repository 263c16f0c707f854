//! Loops functions get kernels, as [`crate::lower::kernel`] says.

use crate::lower::{self, kernel};
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use tiga_ir::{Level, Module};

/// The way down from the loops level.
pub const PASS: Pass = Pass {
    name: "lower_to_kernels",
    about: "adds the kernels of each loops function, the generic one last",
    levels: &[Level::Loops],
    makes: Some(Level::Kernel),
    needed: true,
    run,
};

/// Adds the kernels to what they are made of, with no more than the machine has.
///
/// # Errors
/// A construct that kernels cannot express; a kernel whose name another function has.
pub fn run(module: &Module, options: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    let mut out = module.clone();
    for kernel::Variant { mut kernel, .. } in kernel::lower(module, &options.kernel)? {
        if !options.machine.f16c {
            kernel::expand_halves(&mut kernel)?;
        }
        lower::add(&mut out, kernel)?;
    }
    Ok(out)
}
