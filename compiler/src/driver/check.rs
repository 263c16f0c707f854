//! `tigac check`: finds mistakes and writes nothing.

use super::Outcome;
use super::front::{Front, SemaArgs};
use super::report::ReportArgs;
use std::path::PathBuf;

/// The arguments of `tigac check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    sema: SemaArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let checked = Front::read(&args.file, &args.sema.options());
    checked.map_or_else(
        |error| args.report.refusal(error.into()),
        |front| Ok(args.report.show(&front.sources, &front.diagnostics)),
    )
}
