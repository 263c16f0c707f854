//! Completions and manual pages, made from the command line's own description.

use crate::Cli;
use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// The arguments of `tiga completions`.
#[derive(clap::Args)]
pub(crate) struct Completions {
    /// The shell that reads them.
    #[arg(value_enum)]
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<()> {
        // The generator panics where it cannot write.
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "tiga", &mut text);
        Ok(out.write_all(&text)?)
    }
}

/// The arguments of `tiga man`.
#[derive(clap::Args)]
pub(crate) struct Man {
    /// Where a page for each command goes; without it, the page of `tiga` goes to the standard output.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

impl Man {
    pub(crate) fn run(&self, out: &mut impl Write) -> Result<()> {
        match &self.folder {
            Some(folder) => clap_mangen::generate_to(Cli::command(), folder)
                .with_context(|| format!("cannot write pages in `{}`", folder.display())),
            None => Ok(clap_mangen::Man::new(Cli::command()).render(out)?),
        }
    }
}
