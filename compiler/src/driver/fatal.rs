//! Where a command may fail, and what it leaves behind when LLVM ends the process.

use clap::ValueEnum;

/// A place to fail at, for the test of what is left behind then.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Place {
    /// A check of our own.
    Check,
    /// LLVM, which says that it gives up.
    #[cfg(feature = "llvm")]
    Llvm,
    /// LLVM, which crashes.
    #[cfg(feature = "llvm")]
    LlvmCrash,
}

impl Place {
    /// Fails there, if it is outside of this crate.
    pub(super) fn fail(self) {
        #[cfg(feature = "llvm")]
        match self {
            Place::Check => {}
            Place::Llvm => tiga_backend_llvm::fail(tiga_backend_llvm::Failure::Refusal),
            Place::LlvmCrash => tiga_backend_llvm::fail(tiga_backend_llvm::Failure::Crash),
        }
    }
}

/// Has LLVM's ends of the process reported.
#[cfg(feature = "llvm")]
pub(super) fn report_llvm() {
    // Where the system has no pipe and no thread for it, LLVM ends the process in its own way.
    let _ = tiga_backend_llvm::on_fatal(report, tiga_source::internal::EXIT_CODE.into());
}

#[cfg(not(feature = "llvm"))]
pub(super) fn report_llvm() {}

/// Says which kernels it was about; the report, which others read, only what was done to them.
#[cfg(feature = "llvm")]
fn report(fatal: &tiga_backend_llvm::Fatal) {
    use tiga_backend_llvm::{Fatal, llvm_version};
    tiga_source::say(format_args!("{fatal}"));
    let (version, Fatal { stage, signal, .. }) = (llvm_version(), fatal);
    super::TIGAC.report_fatal(&format!("LLVM {version} failed to {stage}: signal {signal}"));
}
