//! What every backend offers.

use crate::Module;
use tiga_abi::Symbol;

/// Spells kernel functions for a machine; it sees neither the plan nor the levels above, so it decides nothing.
pub trait Backend {
    /// Compiled kernels.
    type Artifact;
    /// Why there are none.
    type Error: std::error::Error;

    /// Its name in options and manifests.
    fn name(&self) -> &'static str;

    /// Compiles functions of the kernel level.
    ///
    /// # Errors
    /// Functions that are no kernels, instructions that the target does not have: never a panic.
    fn compile(&self, module: &Module, kernels: &[Symbol]) -> Result<Self::Artifact, Self::Error>;
}
