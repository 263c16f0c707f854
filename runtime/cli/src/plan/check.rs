//! `tiga plan check`.

use super::source::Planned;
use super::{Source, shown};
use anyhow::{Error, Result, bail};
use clap::Args;
use std::io::Write;
use tiga_plan::Phase;
use tiga_plan::bind::{BindError, Bound, bind};
use tiga_plan::document::Document;
use tiga_plan::strict::{self, Finding, Severity};
use tiga_source::say;

/// What the options alone do not say.
const DETAILS: &str = "\
Without --v1 a plan is also held against rules that the format leaves to the run: arguments of
reserved symbols, two names for one memory, releases before the last use, spelling of memory spaces,
keys that stand twice. Each finding has a name, error[use-after-release]; warnings and notes do not
make the plan a bad one.

Exit codes: 0 the plan may run, 1 it may not, 2 usage.";

/// Findings that are shown of one document.
const SHOWN: usize = 20;

/// The arguments of `tiga plan check`.
#[derive(Args)]
#[command(after_help = DETAILS)]
pub(super) struct Check {
    #[command(flatten)]
    source: Source,
}

impl Check {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let all = self.source.read_to_fit()?;
        let mut bad = 0;
        for read in &all {
            let place = place(&self.source, read);
            let findings = if self.source.v1 { Vec::new() } else { findings(read) };
            tell(&findings);
            let errors = findings.iter().filter(|finding| finding.severity() == Severity::Error).count();
            bad += errors;
            match bound(&read.document) {
                Ok(bound) if errors == 0 => writeln!(out, "ok: {}{}", name(read), counts(&read.document, &bound))?,
                Ok(_) => {}
                Err(error) => return Err(Error::msg(format!("{place}: {}", shown(&error.to_string())))),
            }
        }
        match bad {
            0 => Ok(()),
            1 => bail!("{}: 1 error", self.source.name()),
            _ => bail!("{}: {bad} errors", self.source.name()),
        }
    }
}

/// Whatever the symbol, it is executable: a plan is judged without the kernels.
pub(super) fn bound(document: &Document) -> Result<Bound<'_, ()>, BindError> {
    bind(document, &mut |_| Ok(Some(())))
}

/// How messages call one document of several.
pub(super) fn place(source: &Source, read: &Planned) -> String {
    if read.name.is_empty() { source.name() } else { format!("{}: {}", source.name(), shown(&read.name)) }
}

fn name(read: &Planned) -> String {
    if read.name.is_empty() { String::new() } else { format!("{}: ", shown(&read.name)) }
}

fn findings(read: &Planned) -> Vec<Finding> {
    let mut all = read.findings.clone();
    all.extend(strict::check(&read.document));
    all
}

/// The first findings, on the standard error stream.
fn tell(findings: &[Finding]) {
    for finding in findings.iter().take(SHOWN) {
        say(format_args!("{}[{}]: {}", finding.severity().name(), finding.code(), shown(&finding.to_string())));
    }
    if findings.len() > SHOWN {
        say(format_args!("note: {} more findings", findings.len() - SHOWN));
    }
}

fn counts(document: &Document, bound: &Bound<'_, ()>) -> String {
    let count = |number: usize, one: &str| format!("{number} {one}{}", if number == 1 { "" } else { "s" });
    let tasks = document.invocations.len();
    let edges: usize = document.invocations.iter().map(|task| task.depends_on.len()).sum();
    let first = document.invocations.iter().filter(|task| task.phase == Phase::Materialize).count();
    let dependencies = if edges == 1 { "1 dependency".into() } else { format!("{edges} dependencies") };
    format!(
        "{} ({first} materialize), {dependencies}, {}, {}, snapshot {}, structure {}",
        count(tasks, "invocation"),
        count(document.resources.len(), "resource"),
        count(bound.terminals().len(), "terminal"),
        bound.snapshot_version(),
        bound.structure_hash()
    )
}
