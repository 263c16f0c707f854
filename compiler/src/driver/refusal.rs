//! What stops a compilation after analysis: limits are shown like mistakes, at the place that the IR names, and bugs
//! with their code.

use super::front::INTERNAL;
use super::report::ReportArgs;
use super::{Front, Outcome};
use crate::lower::LowerError;
#[cfg(feature = "llvm")]
use crate::lower::plan::PlanError;
#[cfg(feature = "llvm")]
use crate::pack::CompileError;
use crate::passes::{Excess, PassError, PipelineError};
#[cfg(feature = "llvm")]
use tiga_backend_llvm::LlvmError;
use tiga_source::{Diagnostic, Loc, Span, say};

/// Whose fault it is.
pub(super) enum Fault<'e> {
    /// The model is correct, and asks for what is not supported yet.
    Limit(&'e LowerError),
    /// The model is correct, and becomes too much once calls of this program, here, are written out.
    Excess(&'e str, Excess, &'e Loc),
    /// The module that the passes got breaks laws: that of whoever wrote it.
    Module,
    /// Ours.
    Bug,
    /// It says nothing about the model: a missing linker, a CPU, a full disk.
    Outside,
}

/// Shows why there is no output.
///
/// # Errors
/// What says nothing about the model comes back.
pub(super) fn show(error: anyhow::Error, front: &Front, report: &ReportArgs) -> anyhow::Result<Outcome> {
    match of(&error) {
        Fault::Limit(limit) => Ok(report.show(&front.sources, &[front.limit(limit)])),
        Fault::Excess(callee, excess, loc) => {
            let start = Span { end: front.module.span.start, ..front.module.span };
            let span = front.analysis.places.get(loc).copied().unwrap_or(start);
            Ok(report.show(&front.sources, &[too_much(callee, excess, span)]))
        }
        // Analysis wrote the module.
        Fault::Module | Fault::Bug => Ok(report.bug(&error)),
        Fault::Outside => Err(error),
    }
}

/// Programs that call programs are too much, as functions that call functions are.
fn too_much(callee: &str, excess: Excess, span: Span) -> Diagnostic {
    Diagnostic::error("TG0411", format!("a program is too {excess} when its calls of `{callee}` are inlined"), span)
        .label("too much code with this call")
        .help("each call is written out: repeat with `loop`, or run the programs one after the other")
}

/// Shows a bug of the compiler with its code, as text.
pub(super) fn bug(error: &anyhow::Error) -> Outcome {
    say(bug_text(error));
    Outcome::Internal
}

fn bug_text(error: &anyhow::Error) -> String {
    format!("error[{INTERNAL}]: internal error: {error:#}\n\n{}\n", more(INTERNAL))
}

/// Where the page of a code is.
pub(super) fn more(code: &str) -> String {
    format!("For more information about this error, try `tigac --explain {code}`.")
}

/// Whose fault an error of the passes or of code generation is.
pub(super) fn of(error: &anyhow::Error) -> Fault<'_> {
    if let Some(error) = error.downcast_ref::<PipelineError>() {
        return of_passes(error);
    }
    #[cfg(feature = "llvm")]
    if let Some(error) = error.downcast_ref::<CompileError>() {
        return of_compilation(error);
    }
    Fault::Outside
}

fn of_passes(error: &PipelineError) -> Fault<'_> {
    match error {
        PipelineError::Pass { error: PassError::Lower(error), .. } => of_lowering(error),
        PipelineError::Pass { error: PassError::Limit { callee, excess, loc }, .. } => {
            Fault::Excess(callee, *excess, loc)
        }
        PipelineError::Level { .. } | PipelineError::Input(_) => Fault::Module,
        PipelineError::Pass { error: PassError::Type(_), .. } | PipelineError::Broken { .. } => Fault::Bug,
        PipelineError::Print(_) => Fault::Outside,
    }
}

fn of_lowering(error: &LowerError) -> Fault<'_> {
    match error {
        LowerError::Unsupported { .. } => Fault::Limit(error),
        LowerError::Taken { .. } => Fault::Module,
        LowerError::Type(_) => Fault::Bug,
    }
}

#[cfg(feature = "llvm")]
fn of_compilation(error: &CompileError) -> Fault<'_> {
    match error {
        CompileError::Pipeline(error) => of_passes(error),
        CompileError::Lower(error) | CompileError::Plan(PlanError::Lower(error)) => of_lowering(error),
        CompileError::Llvm(
            LlvmError::Cpu(_) | LlvmError::NoLinker { .. } | LlvmError::Linker { .. } | LlvmError::Io { .. },
        ) => Fault::Outside,
        CompileError::Plan(_) | CompileError::Llvm(_) | CompileError::Kernels(_) | CompileError::Plans => Fault::Bug,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_ir::TypeError;
    use tiga_ir::verify::Violations;

    fn pass(error: PassError) -> anyhow::Error {
        PipelineError::Pass { pass: "cse".into(), error }.into()
    }

    fn ill_typed() -> TypeError {
        TypeError::Arity { op: "add", expected: 2, found: 1 }
    }

    #[test]
    fn a_bug_has_a_code_that_has_a_page() {
        let broken = PipelineError::Broken { pass: "cse".into(), violations: Violations(Vec::new()) };
        for error in [broken.into(), pass(ill_typed().into()), pass(LowerError::from(ill_typed()).into())] {
            assert!(matches!(of(&error), Fault::Bug), "{error}");
            let text = bug_text(&error);
            assert!(text.starts_with("error[TG0999]: internal error: pass `cse`"), "{text}");
            assert!(text.contains("try `tigac --explain TG0999`"), "{text}");
        }
    }

    #[cfg(feature = "llvm")]
    #[test]
    fn what_llvm_refuses_is_a_bug_and_a_machine_without_linker_is_none() {
        let refused = LlvmError::Llvm { action: "verify", message: "no".into() };
        assert!(matches!(of(&CompileError::from(refused).into()), Fault::Bug));
        assert!(matches!(of(&CompileError::from(LlvmError::Cpu("fma")).into()), Fault::Outside));
        let plan = CompileError::Plan(PlanError::Lower(ill_typed().into()));
        assert!(matches!(of(&plan.into()), Fault::Bug));
    }

    #[test]
    fn limits_and_modules_that_break_laws_are_no_bugs() {
        let limit = LowerError::Unsupported { what: "this", loc: Loc::unknown() };
        assert!(matches!(of(&pass(limit.into())), Fault::Limit(_)));
        assert!(matches!(of(&PipelineError::Input(Violations(Vec::new())).into()), Fault::Module));
        assert!(matches!(of(&anyhow::anyhow!("no file")), Fault::Outside));
    }
}
