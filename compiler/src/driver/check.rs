//! `tigac check`: finds mistakes and writes nothing.

use super::Outcome;
use super::front::{Front, SemaArgs};
use std::path::PathBuf;

/// The arguments of `tigac check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    sema: SemaArgs,
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    Ok(Front::read(&args.file, &args.sema.options())?.report())
}
