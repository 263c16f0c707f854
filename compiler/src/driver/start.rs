//! How both commands start and end: their stack, their reports, their exit codes.

use super::Outcome;
use clap::Parser;
use std::process::ExitCode;
use tiga_source::internal::{self, Command};

/// Passes, lowerings and LLVM recurse along chains of instructions, which sources may make long.
const STACK_BYTES: usize = 256 << 20;

/// Reads the command line of this process and does what it says.
pub(super) fn run<C: Parser + 'static>(command: Command, work: fn(C) -> anyhow::Result<Outcome>) -> ExitCode {
    command.report_panics();
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || parsed(command, work)) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(internal::EXIT_CODE)),
        Err(error) => {
            eprintln!("error: cannot start: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parsed<C: Parser + 'static>(command: Command, work: fn(C) -> anyhow::Result<Outcome>) -> ExitCode {
    let cli = match C::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version are printed as errors of kind "help" and "version", which are none.
            let code = if error.use_stderr() { 2 } else { 0 };
            return match error.print() {
                Ok(()) => ExitCode::from(code),
                Err(_) => ExitCode::from(1),
            };
        }
    };
    match work(cli) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Errors) => ExitCode::from(1),
        Ok(Outcome::Internal) => {
            command.report_failed_check();
            ExitCode::from(internal::EXIT_CODE)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
