//! `tiga`: runs and inspects bundles from the shell.
//!
//! Exit codes: 0 done; 1 the input was refused; 2 the command line makes no sense; 3 a result is not as expected;
//! 101 a bug of the command, of which a report is left. A signal ends it as one: 130 after Ctrl-C, to a shell.

mod about;
mod bench;
mod bound;
mod given;
mod inputs;
mod names;
mod outputs;
mod rows;
mod run;
mod tiers;
mod trace;

use anyhow::{Error, Result};
use clap::{Parser, Subcommand};
use std::io::Write;
use std::process::ExitCode;
use tiga::{inspect, plan, show};
use tiga_source::{Output, internal, printed, say};

/// The command, as reports name it.
const TIGA: internal::Command = internal::Command {
    name: "tiga",
    version: env!("CARGO_PKG_VERSION"),
    subcommands: &["run", "bench", "inspect", "plan", "completions", "man"],
};

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
    /// Times a program of a bundle, and a copy of as many bytes beside it.
    Bench(Box<bench::Bench>),
    /// Shows what a bundle holds, without running any of it.
    Inspect(inspect::Inspect),
    /// Checks, explains or draws a plan, without running any of it.
    Plan(Box<plan::Plan>),
    /// Prints what a shell needs to complete command lines.
    Completions(about::Completions),
    /// Prints the manual page, or writes one for each command.
    Man(about::Man),
    /// Fails as a bug of the command would: for the test of what is left behind then.
    #[command(hide = true)]
    InternalError,
}

fn main() -> ExitCode {
    TIGA.report_panics();
    // Without handlers a signal still ends the command; only a temporary would be left.
    let _ = tiga_formats::remove_unfinished_on_signals();
    match run() {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("error: {}", text(&error)));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut out = Output::standard();
    let good = match cli.command {
        Command::Run(run) => run.run(&mut out),
        Command::Bench(bench) => bench.run(&mut out).map(|()| true),
        Command::Inspect(inspect) => inspect.run(&mut out),
        Command::Plan(plan) => plan.run(&mut out),
        Command::Completions(completions) => completions.run(&mut out).map(|()| true),
        Command::Man(man) => man.run(&mut out).map(|()| true),
        Command::InternalError => panic!("asked for"),
    };
    // What was printed before an error comes before it.
    let flushed = out.flush();
    let good = good?;
    flushed?;
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// Prints the help that was asked for, or what is wrong with the command line.
fn usage(error: &clap::Error) -> Result<ExitCode> {
    let written = error.print();
    if error.use_stderr() {
        return Ok(ExitCode::from(2));
    }
    printed(written, ())?;
    Ok(ExitCode::SUCCESS)
}

/// An error with its causes. Many name their cause themselves: nothing is said twice. Causes quote files: a terminal
/// obeys none of it.
fn text(error: &Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    show::visible(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::Context as _;

    #[test]
    fn a_cause_is_told_once() {
        let error = Err::<(), _>(std::io::Error::other("no disk")).context("cannot read: no disk").context("a.tgb");
        assert_eq!(text(&error.unwrap_err()), "a.tgb: cannot read: no disk");
        assert_eq!(text(&Error::msg("unknown key `\u{1b}[2J`")), "unknown key `\\u{1b}[2J`");
    }
}
