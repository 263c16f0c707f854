//! `tigac fmt`: writes models in the one layout.

use super::front::{FrontError, read_model};
use super::output::{is_standard, print};
use super::report::ReportArgs;
use super::{Outcome, output};
use anyhow::{Context, Result};
use similar::TextDiff;
use std::io::Read;
use std::path::{Path, PathBuf};
use tiga_source::{Sources, say};
use tiga_syntax::{FormatError, format};

/// Lines around a difference that are shown with it.
const CONTEXT: usize = 3;

/// The arguments of `tigac fmt`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The models, which are rewritten; `-` reads the standard input and prints it formatted.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write nothing: print what would change, and exit with 1 if anything would.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
    let mut worst = Outcome::Done;
    for file in &args.files {
        let outcome = args.one(file).or_else(|error| {
            // The other files are formatted all the same.
            let outcome = args.report.refusal(error).unwrap_or_else(|error| {
                say(format_args!("error: {error:#}"));
                Outcome::Errors
            });
            anyhow::Ok(outcome)
        })?;
        worst = worst.max(outcome);
    }
    Ok(worst)
}

impl Args {
    fn one(&self, path: &Path) -> Result<Outcome> {
        let standard = is_standard(path);
        let text = if standard { standard_input()? } else { read_model(path)? };
        let name = if standard { "<stdin>".into() } else { path.to_string_lossy() };
        let mut sources = Sources::new();
        let file = sources.add(&name, text).ok_or_else(|| FrontError::TooLarge(path.into()))?;
        let text = sources.file(file).text();
        let formatted = match format(file, text) {
            Ok(formatted) => formatted,
            Err(FormatError::Syntax(errors)) => return Ok(self.report.show(&sources, &errors)),
            Err(error @ FormatError::Changed) => {
                return Ok(self.report.bug(&anyhow::Error::from(error).context(name.into_owned())));
            }
        };
        let changed = formatted != text;
        if self.check {
            if changed {
                print(difference(&name, text, &formatted).as_bytes())?;
            }
            return Ok(if changed { Outcome::Errors } else { Outcome::Done });
        }
        if standard {
            print(formatted.as_bytes())?;
        } else if changed {
            output::write(Some(path), formatted.as_bytes())?;
            self.report.progress(format_args!("formatted `{name}`"));
        }
        Ok(Outcome::Done)
    }
}

fn standard_input() -> Result<String> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).context("cannot read the standard input")?;
    Ok(text)
}

/// What would change, as `diff -u` shows it.
fn difference(name: &str, text: &str, formatted: &str) -> String {
    let diff = TextDiff::from_lines(text, formatted);
    let header = format!("{name} (formatted)");
    diff.unified_diff().context_radius(CONTEXT).header(name, &header).to_string()
}
