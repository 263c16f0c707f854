//! The Debian package: the same files below /usr, with what dpkg wants to know of them.

use crate::{dist, shell, stage};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

const CONTROL: &str = include_str!("../install/control");

/// The linker that `tigac` starts: nothing that is linked shows it.
const STARTED: &str = "lld-22";

/// What is called otherwise in Debian: from, to, below /usr. The package manager undoes what it does, so the script for
/// that stays out.
const MOVES: &[(&str, Option<&str>)] =
    &[("share/tiga/uninstall.sh", None), ("share/zsh/site-functions", Some("share/zsh/vendor-completions"))];

/// What Debian looks for beside the licence's text.
const COPYRIGHT: (&str, &str) = (include_str!("../install/copyright"), "share/doc/tiga/copyright");

/// Makes the package in `out` from what was laid out for the tarball, by way of `work`.
pub fn make(laid_out: &Path, work: &Path, out: &Path) -> Result<PathBuf> {
    let usr = work.join("root/usr");
    fs::create_dir_all(&usr).with_context(|| format!("cannot create {}", usr.display()))?;
    for part in ["bin", "lib", "include", "share"] {
        shell::run(shell::command("cp").arg("-a").arg(laid_out.join(part)).arg(&usr))?;
    }
    for (from, to) in MOVES {
        let from = usr.join(from);
        let done = match to {
            None => fs::remove_file(&from),
            Some(to) => fs::rename(&from, usr.join(to)),
        };
        done.with_context(|| format!("cannot move {}", from.display()))?;
    }
    let example = usr.join(stage::RUST_EXAMPLE.1);
    stage::write(&example, &stage::read(&example)?.replace("@PREFIX@", "/usr"))?;
    stage::write(&usr.join(COPYRIGHT.1), COPYRIGHT.0)?;
    shell::run(shell::command("gzip").args(["-9nr"]).arg(usr.join("share/man/man1")))?;
    describe(work, &usr)?;
    stage::modes(&work.join("root"), &usr.join("bin"))?;
    let name = format!("tiga_{}_amd64.deb", env!("CARGO_PKG_VERSION"));
    let package = out.join(name);
    let mut build = shell::command("dpkg-deb");
    build.args(["--build", "--root-owner-group"]).arg(work.join("root")).arg(&package);
    // Times later than this, which all are, become this.
    build.env("SOURCE_DATE_EPOCH", seconds()?);
    shell::run(&mut build)?;
    Ok(package)
}

/// The files of dpkg's own: what the package is and needs, checksums, and that the loader's cache changes.
fn describe(work: &Path, usr: &Path) -> Result<()> {
    let root = work.join("root");
    let files: Vec<PathBuf> = stage::walk(usr)?.into_iter().filter(|path| path.is_file()).collect();
    let below = |path: &Path| path.strip_prefix(&root).expect("it was found there").to_owned();
    let plain = files.iter().filter(|path| !path.is_symlink());
    let mut sums = shell::command("md5sum");
    let sums = shell::output(sums.current_dir(&root).args(plain.clone().map(|path| below(path))))?;
    let size = plain.map(|path| Ok(fs::metadata(path)?.len().div_ceil(1024))).sum::<Result<u64>>()?;
    let words = [
        ("@VERSION@", env!("CARGO_PKG_VERSION").to_owned()),
        ("@SIZE@", size.to_string()),
        ("@DEPENDS@", format!("{}, {STARTED}", needed(work, usr)?)),
    ];
    let control = words.iter().fold(CONTROL.to_owned(), |text, (word, value)| text.replace(word, value));
    let version = env!("CARGO_PKG_VERSION");
    for (name, text) in [
        ("control", control.as_str()),
        ("md5sums", &sums),
        ("shlibs", &format!("libtiga 1 tiga (>= {version})\n")),
        ("triggers", "activate-noawait ldconfig\n"),
    ] {
        stage::write(&root.join("DEBIAN").join(name), text)?;
    }
    Ok(())
}

/// The packages that the programs and the library are linked with, in the versions that have what they use.
fn needed(work: &Path, usr: &Path) -> Result<String> {
    // It reads the names of a source package's binaries, and looks at nothing else of it.
    stage::write(&work.join("debian/control"), "Source: tiga\n\nPackage: tiga\nArchitecture: amd64\n")?;
    let mut command = shell::command("dpkg-shlibdeps");
    command.current_dir(work).arg("-O");
    command.args(["bin/tigac", "bin/tiga", "lib/libtiga.so.1.2"].map(|file| usr.join(file)));
    let line = shell::output(&mut command)?;
    let depends = line.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    Ok(depends.context("dpkg-shlibdeps names no packages")?.to_owned())
}

/// The one date of all files, in seconds.
fn seconds() -> Result<String> {
    let text = shell::output(shell::command("date").args(["-d", dist::DATE, "+%s"]))?;
    Ok(text.trim_end().to_owned())
}
