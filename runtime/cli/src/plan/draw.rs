//! `tiga plan draw`.

use super::explain::chosen;
use super::picture::draw;
use super::source::Planned;
use super::{Source, check, shown};
use anyhow::{Context as _, Error, Result, bail};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use tiga_abi::Budget;
use tiga_formats::{check_writable, file_identity, write_file};

/// What the options alone do not say.
const DETAILS: &str = "\
Above, each task stands in the lane of the memory that it writes, behind what it waits for; its number
is its place in the order of execution. Below, for each tier, the bytes that the plan owns while each
task runs: a resource lives from the first task that touches it to its release, or to the end.";

/// The arguments of `tiga plan draw`.
#[derive(Args)]
#[command(after_help = DETAILS)]
pub(super) struct Draw {
    #[command(flatten)]
    source: Source,
    /// The body of a loop or branch of a bundle's program, instead of the program itself.
    #[arg(long, value_name = "NAME")]
    body: Option<String>,
    /// Where the picture goes; the standard output if left out.
    #[arg(short, long = "out", value_name = "FILE.svg")]
    out: Option<PathBuf>,
}

impl Draw {
    pub(super) fn run(&self, out: &mut dyn Write) -> Result<()> {
        if let Some(path) = &self.out {
            self.check_target(path)?;
        }
        let all = self.source.read()?;
        let read = chosen(&all, self.body.as_deref())?;
        let picture = self.picture(read)?;
        match &self.out {
            Some(path) => Ok(write_file(path, |file| file.write_all(picture.as_bytes()))?),
            None => Ok(out.write_all(picture.as_bytes())?),
        }
    }

    fn picture(&self, read: &Planned) -> Result<String> {
        let refused = |error: &dyn std::error::Error| {
            Error::msg(format!("{}: {}", check::place(&self.source, read), shown(&error.to_string())))
        };
        let bound = check::bound(&read.document).map_err(|error| refused(&error))?;
        let name = if read.name.is_empty() { self.source.short_name() } else { read.name.clone() };
        let limits = self.source.budget.iter().flat_map(Budget::limits);
        let budgets = limits.map(|(tier, bytes)| (tier.name().to_owned(), bytes)).collect();
        draw(&name, &read.document, &bound, &budgets).map_err(|error| refused(&error))
    }

    /// The file can be written, and is not the one that is read.
    fn check_target(&self, path: &Path) -> Result<()> {
        let option = || format!("-o {}", path.display());
        check_writable(path).map_err(|error| error.kind).with_context(option)?;
        match self.source.path() {
            Some(source) if file_identity(source) == file_identity(path) => {
                bail!("{}: the file would replace the plan, which is read", option())
            }
            _ => Ok(()),
        }
    }
}
