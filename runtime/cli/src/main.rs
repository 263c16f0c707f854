//! `tiga`: runs and inspects bundles from the shell.
//!
//! Exit codes: 0 done; 1 the input was refused; 2 the command line makes no sense; 3 a result is not as expected;
//! 101 a bug of the command, of which a report is left.

mod inputs;
mod inspect;
mod run;
mod show;

use clap::{Parser, Subcommand};
use std::process::ExitCode;
use tiga_source::internal;

/// The command, as reports name it.
const TIGA: internal::Command =
    internal::Command { name: "tiga", version: env!("CARGO_PKG_VERSION"), subcommands: &["run", "inspect"] };

/// Runs compiled Tiga programs.
#[derive(Parser)]
#[command(name = "tiga", version, about, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs a program of a bundle.
    Run(Box<run::Run>),
    /// Shows what a bundle holds, without running any of it.
    Inspect(inspect::Inspect),
    /// Fails as a bug of the command would: for the test of what is left behind then.
    #[command(hide = true)]
    InternalError,
}

fn main() -> ExitCode {
    TIGA.report_panics();
    // Without handlers a signal still ends the command; only a temporary would be left.
    let _ = tiga_formats::remove_unfinished_on_signals();
    let result = match Cli::parse().command {
        Command::Run(run) => run.run(),
        Command::Inspect(inspect) => inspect.run(),
        Command::InternalError => panic!("asked for"),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(3),
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
