//! `cargo xtask dist`: a tarball and a Debian package of a release, and their trial on bare systems.

use crate::{deb, install, setup, shell, stage, trial};
use anyhow::{Context, Result, ensure};
use rustix::fs::Mode;
use rustix::process::umask;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Take the commands and libraries that cargo has built in this folder, instead of building them for release
    #[arg(long, value_name = "FOLDER")]
    from: Option<PathBuf>,
    /// Install each package on a bare Debian 12 without Rust, run the examples for hosts, remove it, compare all files
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    trial: trial::Options,
}

/// As old as the entries of a bundle, so that the packages of the same binaries have the same bytes.
pub const DATE: &str = "1980-01-01 00:00:00 UTC";

/// What a tarball is called, and the one folder in it.
const NAME: &str = concat!("tiga-", env!("CARGO_PKG_VERSION"), "-x86_64-linux");

/// Writes the packages into the target folder, prints them, and tries them.
pub fn run(options: &Options) -> Result<()> {
    ensure!(options.check || !options.trial.surroundings.given(), "--host-file, --env and --keep are for --check");
    setup::run(if options.check { setup::Need::Trial } else { setup::Need::Packages })?;
    let built = match &options.from {
        Some(folder) => std::path::absolute(folder).context("the folder is no path")?,
        None => install::build()?,
    };
    let out = shell::target_dir().join("dist");
    let [tarball, package] = make(&built, &out)?;
    list(&out, &[&tarball, &package])?;
    if !options.check {
        return Ok(());
    }
    same_again(&built, [&tarball, &package])?;
    trial::run(&tarball, &package, &options.trial)
}

/// Makes them once more for someone whose files are private, or who builds for a group, and compares.
fn same_again(built: &Path, files: [&Path; 2]) -> Result<()> {
    let [private, group] = [0o077, 0o002].map(Mode::from_raw_mode);
    let mask = umask(private);
    if mask == private {
        umask(group);
    }
    let again = make(built, &shell::target_dir().join("dist-again"));
    umask(mask);
    for (file, second) in files.into_iter().zip(again?) {
        shell::run(shell::command("cmp").arg(file).arg(second))?;
    }
    println!("made once more from the same binaries, under another umask: the same bytes");
    Ok(())
}

/// The tarball and the Debian package in a fresh folder.
fn make(built: &Path, out: &Path) -> Result<[PathBuf; 2]> {
    let work = shell::target_dir().join("dist-stage");
    for folder in [out, &work] {
        if folder.exists() {
            fs::remove_dir_all(folder).with_context(|| format!("cannot empty {}", folder.display()))?;
        }
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    let folder = work.join(NAME);
    install::lay_out(built, &folder)?;
    strip(&folder)?;
    let tarball = out.join(format!("{NAME}.tar.gz"));
    pack(&work, &tarball)?;
    let package = deb::make(&folder, &work.join("deb"), out)?;
    Ok([tarball, package])
}

/// Takes out what only debuggers read.
fn strip(folder: &Path) -> Result<()> {
    for (file, flags) in [
        ("bin/tigac", &["--strip-all"][..]),
        ("bin/tiga", &["--strip-all"]),
        ("lib/libtiga.so.1.2", &["--strip-unneeded"]),
        ("lib/libtiga.a", &["--strip-debug", "--enable-deterministic-archives"]),
    ] {
        shell::run(shell::command("strip").args(flags).arg(folder.join(file)))?;
    }
    Ok(())
}

/// The tarball: entries by name, of root, of one date; `gzip` writes neither name nor time.
fn pack(work: &Path, tarball: &Path) -> Result<()> {
    let mut tar = shell::command("tar");
    tar.args(["--create", "--format=ustar", "--sort=name", "--owner=root:0", "--group=root:0", "--mtime", DATE]);
    tar.args(["--use-compress-program=gzip -9n", "--file"]).arg(tarball).arg("--directory").arg(work).arg(NAME);
    shell::run(&mut tar)
}

/// Sizes and checksums, printed and written down.
fn list(out: &Path, files: &[&Path]) -> Result<()> {
    let mut sums = shell::command("sha256sum");
    sums.current_dir(out).args(files.iter().filter_map(|file| file.file_name()));
    let sums = shell::output(&mut sums)?;
    stage::write(&out.join("SHA256SUMS"), &sums)?;
    for (file, sum) in files.iter().zip(sums.lines()) {
        let size = fs::metadata(file).with_context(|| format!("{} is not there", file.display()))?.len();
        println!("{}\n  {size} bytes, SHA-256 {}", file.display(), sum.split(' ').next().unwrap_or_default());
    }
    Ok(())
}
