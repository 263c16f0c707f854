//! How a command shows what it finds: for readers, a line each, or as JSON; with or without colour; how much of it.

use super::front::INTERNAL;
use super::{Outcome, json, refusal};
use std::io::IsTerminal;
use tiga_source::{Diagnostic, Severity, Sources, say};

/// Of more findings, only this many are shown.
const SHOWN: usize = 100;

/// What is said, and how, on the standard error stream.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ReportArgs {
    /// How mistakes are shown.
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "human")]
    error_format: ErrorFormat,
    /// Whether mistakes are shown in colour; `auto` does on a terminal, unless the variable NO_COLOR is set.
    #[arg(long, value_name = "WHEN", value_enum, default_value = "auto")]
    color: Color,
    /// Say what is done.
    #[arg(short, long)]
    verbose: bool,
    /// Show errors only: no warnings, and no advice after them.
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

/// How findings are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ErrorFormat {
    /// With the guilty lines, for readers.
    Human,
    /// A line each: `file:line:column: error[CODE]: message`.
    Short,
    /// A JSON object a line, as rustc writes them (docs/diagnostics.schema.json).
    Json,
}

/// When findings are coloured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Color {
    /// Where a terminal shows them.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ReportArgs {
    /// Shows findings, and how many errors there are.
    pub(super) fn show(&self, sources: &Sources, diagnostics: &[Diagnostic]) -> Outcome {
        let wanted = |d: &&Diagnostic| !self.quiet || d.severity == Severity::Error;
        let diagnostics: Vec<&Diagnostic> = diagnostics.iter().filter(wanted).collect();
        let colored = self.colored();
        for diagnostic in diagnostics.iter().take(SHOWN) {
            match self.error_format {
                ErrorFormat::Human => say(diagnostic.render(sources, colored) + "\n"),
                ErrorFormat::Short => say(short(diagnostic, sources)),
                ErrorFormat::Json => say(json::finding(diagnostic, sources)),
            }
        }
        if diagnostics.len() > SHOWN {
            self.advice("warning", &format!("{} more findings are not shown", diagnostics.len() - SHOWN));
        }
        let mut codes: Vec<&str> =
            diagnostics.iter().filter(|d| d.severity == Severity::Error).map(|d| d.code).collect();
        match codes.len() {
            0 => return Outcome::Done,
            1 => self.advice("error", "aborting due to 1 previous error"),
            n => self.advice("error", &format!("aborting due to {n} previous errors")),
        }
        codes.sort_unstable();
        codes.dedup();
        let more = if let [only] = codes.as_slice() {
            refusal::more(only)
        } else {
            let all = codes.join(", ");
            let first = codes[0];
            format!(
                "These errors have explanations: {all}.\n\
                 For more information about one of them, try `tigac --explain {first}`."
            )
        };
        self.advice(json::FAILURE_NOTE, &more);
        if codes.contains(&INTERNAL) { Outcome::Internal } else { Outcome::Errors }
    }

    /// What is said after all findings, at a level of JSON's.
    fn advice(&self, level: &str, text: &str) {
        match self.error_format {
            _ if self.quiet => {}
            ErrorFormat::Json => say(json::message(level, text, &format!("{}\n", prefixed(level, text)))),
            ErrorFormat::Human if level == "error" => say(prefixed(level, text) + "\n"),
            ErrorFormat::Human | ErrorFormat::Short => say(prefixed(level, text)),
        }
    }

    /// Whether colours are wanted: explicitly, or by a terminal.
    fn colored(&self) -> bool {
        let unwanted = || std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        match self.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => std::io::stderr().is_terminal() && !unwanted(),
        }
    }

    /// Whether more is to be said than usual.
    pub(super) fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Says what was done, to those who asked.
    pub(super) fn progress(&self, text: impl std::fmt::Display) {
        if self.verbose {
            say(text);
        }
    }

    /// Shows a bug of the compiler, which has a code and no place.
    pub(super) fn bug(&self, error: &anyhow::Error) -> Outcome {
        match self.error_format {
            ErrorFormat::Human | ErrorFormat::Short => refusal::bug(error),
            ErrorFormat::Json => {
                let text = format!("internal error: {error:#}");
                say(json::coded(INTERNAL, &text, &format!("error[{INTERNAL}]: {text}\n")));
                self.advice(json::FAILURE_NOTE, &refusal::more(INTERNAL));
                Outcome::Internal
            }
        }
    }

    /// An error that is no finding in a file: as JSON it is shown here, else by whoever runs the command.
    ///
    /// # Errors
    /// The same one, where it was not shown.
    pub(super) fn refusal(&self, error: anyhow::Error) -> anyhow::Result<Outcome> {
        match self.error_format {
            ErrorFormat::Human | ErrorFormat::Short => Err(error),
            ErrorFormat::Json => {
                let text = format!("{error:#}");
                say(json::message("error", &text, &format!("error: {text}\n")));
                Ok(Outcome::Errors)
            }
        }
    }
}

fn prefixed(level: &str, text: &str) -> String {
    match level {
        "error" => format!("error: {text}"),
        _ => text.to_owned(),
    }
}

/// A finding on one line.
fn short(diagnostic: &Diagnostic, sources: &Sources) -> String {
    let Diagnostic { code, message, primary, .. } = diagnostic;
    let file = sources.file(primary.span.file);
    let (line, column) = file.line_col(primary.span.start);
    format!("{}:{line}:{column}: {}[{code}]: {message}", file.name(), json::level(diagnostic.severity))
}
