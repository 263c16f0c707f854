//! How both commands start and end: their stack, their reports, their exit codes.

use super::Outcome;
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use std::io::Write;
use std::process::ExitCode;
use tiga_source::internal::{self, Command};
use tiga_source::{printed, say};

/// Passes, lowerings and LLVM recurse along chains of instructions, which sources may make long.
const STACK_BYTES: usize = 256 << 20;

/// The exit code of a command line that makes no sense.
const USAGE: u8 = 2;

/// Reads the command line of this process and does what it says, unless `stranger` says why its first word means
/// nothing.
pub(super) fn run<C: Parser + 'static>(
    command: Command,
    stranger: fn(&str) -> Option<String>,
    work: fn(C) -> anyhow::Result<Outcome>,
) -> ExitCode {
    command.report_panics();
    // Without handlers a signal still ends the command; only a temporary would be left.
    let _ = tiga_formats::remove_unfinished_on_signals();
    match std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || parsed(command, stranger, work)) {
        Ok(thread) => thread.join().unwrap_or(ExitCode::from(internal::EXIT_CODE)),
        Err(error) => {
            say(format_args!("error: cannot start: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn parsed<C: Parser + 'static>(
    command: Command,
    stranger: fn(&str) -> Option<String>,
    work: fn(C) -> anyhow::Result<Outcome>,
) -> ExitCode {
    let first = std::env::args_os().nth(1);
    let stray = first.and_then(|word| stranger(word.to_str()?));
    let done = match C::try_parse() {
        Ok(cli) => match stray {
            Some(text) => return nonsense(&text),
            None => work(cli),
        },
        Err(error) if error.use_stderr() => return refused(command, error, stray),
        // Help and version are printed as errors of kind "help" and "version", which are none.
        Err(error) => {
            let written = error.print().and_then(|()| std::io::stdout().flush());
            printed(written, ()).map(|()| Outcome::Done).map_err(Into::into)
        }
    };
    match done {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::Errors) => ExitCode::from(1),
        Ok(Outcome::Internal) => {
            command.report_failed_check();
            ExitCode::from(internal::EXIT_CODE)
        }
        Err(error) => {
            say(format_args!("error: {error:#}"));
            ExitCode::from(1)
        }
    }
}

/// A command line that makes no sense. Of what clap says, advice to make an option a file is left out.
fn refused(command: Command, mut error: clap::Error, stray: Option<String>) -> ExitCode {
    // Behind a file, clap takes every word for a command.
    let conflict = error.kind() == ErrorKind::ArgumentConflict;
    if let (true, Some(ContextValue::String(word))) = (conflict, error.get(ContextKind::InvalidSubcommand))
        && !command.subcommands.contains(&word.as_str())
    {
        let extra = || format!("unexpected argument '{word}' found: there is one file for each run");
        return nonsense(&stray.unwrap_or_else(extra));
    }
    if error.kind() == ErrorKind::UnknownArgument {
        error.remove(ContextKind::Suggested);
    }
    // Where the message cannot be written, the exit code still says it.
    let _ = error.print();
    ExitCode::from(USAGE)
}

/// Says why a command line makes no sense.
fn nonsense(text: &str) -> ExitCode {
    say(format_args!("error: {text}\n\nFor more information, try '--help'."));
    ExitCode::from(USAGE)
}
