//! What stops a compilation after analysis: limits are shown like mistakes, at the place that the IR names.

use super::{Front, Outcome};
use crate::lower::LowerError;
use crate::lower::plan::PlanError;
use crate::pack::CompileError;
use crate::passes::{PassError, PipelineError};
use tiga_backend_llvm::LlvmError;

/// Shows why there is no bundle.
///
/// # Errors
/// What says nothing about the model comes back: a missing linker, a CPU, a full disk.
pub(super) fn show(error: CompileError, front: &Front) -> anyhow::Result<Outcome> {
    match &error {
        CompileError::Lower(limit @ LowerError::Unsupported { .. })
        | CompileError::Plan(PlanError::Lower(limit @ LowerError::Unsupported { .. }))
        | CompileError::Pipeline(PipelineError::Pass {
            error: PassError::Lower(limit @ LowerError::Unsupported { .. }),
            ..
        }) => Ok(front.show(&[front.limit(limit)])),
        CompileError::Llvm(
            LlvmError::Cpu(_) | LlvmError::NoLinker { .. } | LlvmError::Linker { .. } | LlvmError::Io { .. },
        )
        | CompileError::Pipeline(PipelineError::Print(_)) => Err(error.into()),
        CompileError::Lower(_) | CompileError::Plan(_) | CompileError::Pipeline(_) | CompileError::Llvm(_) => {
            eprintln!("error: {:#}\n", anyhow::Error::from(error));
            Ok(Outcome::Internal)
        }
    }
}
