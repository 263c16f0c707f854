//! The command line of `tigac`: what is asked for, and the exit codes.
//!
//! 0: done; 1: errors in the input; 2: a command line that says nothing sensible; 101: a bug of the compiler, of which
//! a report is left.

mod about;
mod check;
mod codegen;
mod compile;
mod eval;
mod explain;
mod fatal;
mod fmt;
mod front;
mod header;
mod inputs;
mod json;
pub mod opt;
mod options;
mod output;
mod refusal;
mod report;
mod schedule;
mod start;
mod targets;

pub use front::{Front, FrontError};

use clap::{Parser, Subcommand};
use std::path::Path;
use std::process::ExitCode;
use tiga_source::{internal, nearest};

/// The Tiga compiler: computation on graphs, from a model to a bundle.
#[derive(Debug, Parser)]
#[command(name = "tigac", version, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
#[command(disable_version_flag = true, override_usage = "tigac [OPTIONS] <FILE>\n       tigac <COMMAND>")]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    compile: compile::Args,
    /// Show what an error code means.
    #[arg(long, value_name = "CODE", value_parser = explain::page, exclusive = true)]
    explain: Option<&'static str>,
    /// List what there is.
    #[arg(long, value_name = "WHAT", value_enum, exclusive = true)]
    print: Option<about::List>,
    /// Print the version; with --verbose, also what it was built with, and for.
    #[arg(short = 'V', long)]
    version: bool,
    /// Fails as a bug of the compiler or of LLVM would: for the test of what is left behind then.
    #[arg(long, value_name = "WHERE", exclusive = true, hide = true, num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "check", value_enum)]
    internal_error: Option<fatal::Place>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Look for mistakes in a model.
    Check(check::Args),
    /// Run a program in the reference interpreter.
    Eval(eval::Args),
    /// Show what becomes of a model's programs: launches, kernels, decisions.
    ExplainSchedule(schedule::Args),
    /// Write models in the usual layout.
    Fmt(fmt::Args),
    /// Print what a shell needs to complete command lines.
    Completions(about::CompletionArgs),
    /// Print the manual page, or write one for each command.
    Man(about::ManArgs),
}

/// What a command that ran to its end says about its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Nothing is wrong with it.
    Done,
    /// Errors were shown.
    Errors,
    /// The compiler itself is at fault.
    Internal,
}

/// The command, as reports name it.
const TIGAC: internal::Command = internal::Command {
    name: "tigac",
    version: env!("CARGO_PKG_VERSION"),
    subcommands: &["check", "eval", "explain-schedule", "fmt", "completions", "man"],
};

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    fatal::report_llvm();
    start::run(TIGAC, stranger, Cli::run)
}

/// What is wrong with a first word that is no option, no command and no file; one with a dot or slash means a file.
fn stranger(word: &str) -> Option<String> {
    let commands: Vec<&str> = TIGAC.subcommands.iter().copied().chain(["help"]).collect();
    let named = word.starts_with('-') || word.contains(['.', '/']) || commands.contains(&word);
    let path = Path::new(word);
    if named || word.is_empty() || (path.exists() && !path.is_dir()) {
        return None;
    }
    // A folder of such a name is not what is meant.
    if matches!(word, "run" | "inspect") {
        return Some(format!("`tigac` has no command `{word}`: bundles are for `tiga {word}`"));
    }
    if path.is_dir() {
        return None;
    }
    let hint = nearest(word, commands).map_or(String::new(), |near| format!("; did you mean `tigac {near}`?"));
    Some(format!("no such command or file: `{word}`{hint}"))
}

impl Cli {
    fn run(self) -> anyhow::Result<Outcome> {
        if let Some(page) = self.explain {
            output::print(page.as_bytes())?;
            return Ok(Outcome::Done);
        }
        if let Some(place) = self.internal_error {
            place.fail();
            panic!("asked for");
        }
        if let Some(what) = self.print {
            about::list(what)?;
            return Ok(Outcome::Done);
        }
        if self.version {
            about::version(self.compile.report.is_verbose())?;
            return Ok(Outcome::Done);
        }
        match self.command {
            Some(Command::Check(args)) => check::run(&args),
            Some(Command::Eval(args)) => eval::run(&args),
            Some(Command::ExplainSchedule(args)) => schedule::run(&args),
            Some(Command::Fmt(args)) => fmt::run(&args),
            Some(Command::Completions(args)) => about::completions(&args).map(|()| Outcome::Done),
            Some(Command::Man(args)) => about::man(&args).map(|()| Outcome::Done),
            None => compile::run(&self.compile),
        }
    }
}
