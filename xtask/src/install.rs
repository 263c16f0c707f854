//! `cargo xtask install`: what ships, below one folder; and out of it again.

use crate::{setup, shell, stage};
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Where to: gets bin, lib, include and share
    #[arg(long)]
    prefix: PathBuf,
    /// Take the commands and libraries that cargo has built in this folder, instead of building them for release
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// Remove what an installation put there, and the folders it made
    #[arg(long, conflicts_with = "from")]
    uninstall: bool,
}

/// What `install.sh` copies and what undoes it; the first lies beside the folders, the second among what is installed.
const SCRIPTS: &[(&str, &str)] =
    &[("xtask/install/install.sh", "install.sh"), ("xtask/install/uninstall.sh", "share/tiga/uninstall.sh")];

/// What an installation has put below the prefix, written before anything else.
const LIST: &str = "share/tiga/installed.txt";

/// Builds, lays out in the target folder, and has the script install that a tarball has too.
pub fn run(options: &Options) -> Result<()> {
    let prefix = std::path::absolute(&options.prefix).context("the prefix is no path")?;
    if options.uninstall {
        let list = prefix.join(LIST);
        ensure!(list.exists(), "nothing is installed in {}: no {}", prefix.display(), list.display());
        // Not the prefix's own copy, which an installation that broke off may lack.
        return shell::run(shell::command("sh").arg(shell::root().join(SCRIPTS[1].0)).arg(prefix));
    }
    let built = match &options.from {
        Some(folder) => std::path::absolute(folder).context("the folder is no path")?,
        None => build()?,
    };
    let folder = shell::target_dir().join("stage");
    lay_out(&built, &folder)?;
    shell::run(shell::command("sh").arg(folder.join(SCRIPTS[0].1)).arg(prefix))
}

/// Builds everything for release; the folder it lies in then.
pub fn build() -> Result<PathBuf> {
    setup::run(setup::Need::Llvm)?;
    shell::run(&mut shell::cargo(["build", "--release", "-p", "tigac", "-p", "tiga", "-p", "tiga-capi"]))?;
    Ok(shell::target_dir().join("release"))
}

/// A fresh folder with what ships and the scripts that install and uninstall it.
pub fn lay_out(built: &Path, folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    for (from, to) in SCRIPTS {
        stage::copy(&shell::root().join(from), &folder.join(to))?;
    }
    stage::make(built, folder)
}
