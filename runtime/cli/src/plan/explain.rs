//! `tiga plan explain`.

use super::source::Planned;
use super::{Source, check, shown};
use crate::show::visible;
use anyhow::{Context as _, Error, Result};
use clap::Args;
use std::io::Write;
use tiga_plan::live::tides;

/// The arguments of `tiga plan explain`.
#[derive(Args)]
pub(super) struct Explain {
    #[command(flatten)]
    source: Source,
    /// The body of a loop or branch of a bundle's program, instead of the program itself.
    #[arg(long, value_name = "NAME")]
    body: Option<String>,
}

impl Explain {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<()> {
        let all = self.source.read_to_fit()?;
        let read = chosen(&all, self.body.as_deref())?;
        let place = || check::place(&self.source, read);
        let refused = |error: &dyn std::error::Error| Error::msg(format!("{}: {}", place(), shown(&error.to_string())));
        let bound = check::bound(&read.document).map_err(|error| refused(&error))?;
        // Each line by itself: its end is the only character that a terminal shall obey.
        for line in bound.explain_lines() {
            writeln!(out, "{}", visible(&line))?;
        }
        if self.source.v1 {
            return Ok(());
        }
        let order = bound.execution_order();
        for (space, tide) in tides(&read.document, &bound).map_err(|error| refused(&error))? {
            let at = if tide.peak == 0 { String::new() } else { format!(" at {}", order[tide.peak_at]) };
            let line = format!(
                "memory: {space}: peak {} bytes{at}; {} owned, {} external of {} bytes",
                tide.peak, tide.owned, tide.external, tide.external_bytes
            );
            writeln!(out, "{}", visible(&line))?;
        }
        Ok(())
    }
}

/// The document that is meant: the first one, or the body of a name.
pub(super) fn chosen<'r>(all: &'r [Planned], body: Option<&str>) -> Result<&'r Planned> {
    let Some(body) = body else { return all.first().context("there is no plan") };
    let names = || all.iter().skip(1).map(|read| shown(&read.name)).collect::<Vec<_>>().join(", ");
    let found = all.iter().skip(1).find(|read| read.name == body);
    found.with_context(|| {
        format!("the plan has no body `{body}`; it has {}", if all.len() > 1 { names() } else { "none".into() })
    })
}
