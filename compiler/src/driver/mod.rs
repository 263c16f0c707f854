//! The command line of `tigac`: what is asked for, and the exit codes.
//!
//! 0: done; 1: errors in the input; 2: a command line that says nothing sensible; 101: a bug of the compiler, of which
//! a report is left.

mod check;
mod codegen;
mod compile;
mod eval;
mod explain;
mod front;
mod inputs;
#[cfg(feature = "llvm")]
mod refusal;
mod report;

pub use front::{Front, FrontError};
pub use report::INTERNAL;

use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;

/// The Tiga compiler: computation on graphs, from a model to a bundle.
#[derive(Debug, Parser)]
#[command(name = "tigac", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compile: compile::Args,
    /// Show what an error code means.
    #[arg(long, value_name = "CODE", value_parser = explain::page, exclusive = true)]
    explain: Option<&'static str>,
    /// Fails as a bug of the compiler would: for the test of what is left behind then.
    #[arg(long, exclusive = true, hide = true)]
    internal_error: bool,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look for mistakes in a model.
    Check(check::Args),
    /// Run a program in the reference interpreter.
    Eval(eval::Args),
}

/// What a command that ran to its end says about its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is wrong with it.
    Done,
    /// Errors were shown.
    Errors,
    /// The compiler itself is at fault.
    Internal,
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    report::install();
    let cli = match Cli::try_parse() {
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
    if let Some(page) = cli.explain {
        return match std::io::stdout().write_all(page.as_bytes()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(_) => ExitCode::from(1),
        };
    }
    assert!(!cli.internal_error, "asked for");
    let outcome = match cli.command {
        Some(Command::Check(args)) => check::run(&args),
        Some(Command::Eval(args)) => eval::run(&args),
        None => compile::run(&cli.compile),
    };
    match outcome {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Errors) => ExitCode::from(1),
        Ok(Outcome::Internal) => {
            report::internal();
            ExitCode::from(INTERNAL)
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
