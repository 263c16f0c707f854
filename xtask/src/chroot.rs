//! `cargo xtask chroot-check`: proves that a bare Debian 12 with Rust is enough.

use crate::shell;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

#[derive(clap::Args)]
pub struct Options {
    /// Folder for the chroot: must not exist; about 8 GB are needed
    #[arg(long, default_value = "target/chroot")]
    dir: PathBuf,
    #[command(flatten)]
    surroundings: Surroundings,
    /// Only the steps whose command contains this: demo, test, build
    #[arg(long, default_value = "")]
    only: String,
}

/// What a chroot sees of this machine, and what becomes of it.
#[derive(Clone, clap::Args)]
pub struct Surroundings {
    /// A file or folder of this machine to copy into the chroot at the same path: certificates, proxy settings
    #[arg(long = "host-file", value_name = "PATH")]
    host_files: Vec<PathBuf>,
    /// An environment variable of this machine that the chroot sees too
    #[arg(long = "env", value_name = "NAME")]
    variables: Vec<String>,
    /// Leave the chroot for a look afterwards
    #[arg(long)]
    keep: bool,
}

impl Surroundings {
    /// Whether anything is asked for, which only a chroot can give.
    pub fn given(&self) -> bool {
        self.keep || !self.host_files.is_empty() || !self.variables.is_empty()
    }
}

/// What rustc and cargo themselves need, and nothing else.
const PACKAGES: &str = "gcc,libc6-dev,ca-certificates";

/// What is run in the clone, in order. The first two show that no LLVM is needed where none should be.
const STEPS: &[&str] = &[
    "cargo build --quiet -p tigac --no-default-features",
    "cargo build --quiet -p tiga",
    "cargo xtask demo",
    "cargo xtask test",
];

/// Makes the chroot, clones the last commit into it, runs the steps, prints time and disk for each.
pub fn run(options: &Options) -> Result<()> {
    let chroot = Chroot::make(shell::root().join(&options.dir), PACKAGES, &options.surroundings)?;
    chroot.copy(&shell::sysroot()?, Path::new("/opt/rust"))?;
    shell::run(shell::command("git").args(["clone", "--quiet", "--no-hardlinks", "."]).arg(chroot.inside("/tiga")))?;
    let bare = chroot.megabytes()?;
    println!("a bare Debian 12 with Rust: {bare} MB");
    let mut failed = Vec::new();
    for step in STEPS.iter().filter(|step| step.contains(&options.only)) {
        let (before, start) = (chroot.megabytes()?, Instant::now());
        let ok = shell::run(&mut chroot.step("/tiga", step)).is_ok();
        let (seconds, grown) = (start.elapsed().as_secs(), chroot.megabytes()? - before);
        println!("{:<6} {seconds:>5} s {grown:>6} MB  {step}", if ok { "ok" } else { "FAILED" });
        if !ok {
            failed.push(*step);
        }
    }
    ensure!(failed.is_empty(), "failed in the chroot: {}", failed.join("; "));
    Ok(())
}

/// A root file system, unmounted and removed at the end unless it is to be kept.
pub struct Chroot {
    dir: PathBuf,
    variables: Vec<String>,
    keep: bool,
}

impl Chroot {
    /// A bare Debian 12 with some packages more, in a folder that must not exist.
    pub fn make(dir: PathBuf, packages: &str, surroundings: &Surroundings) -> Result<Self> {
        ensure!(!dir.exists(), "{} exists: remove it, or name another folder with --dir", dir.display());
        if let Some(parent) = dir.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        }
        let chroot = Self { dir, variables: surroundings.variables.clone(), keep: surroundings.keep };
        let include = format!("--include={packages}");
        shell::run(shell::command("mmdebstrap").args(["--variant=minbase", &include, "bookworm"]).arg(&chroot.dir))?;
        for (kind, point) in [("proc", "proc"), ("sysfs", "sys")] {
            shell::run(shell::command("mount").args(["-t", kind, kind]).arg(chroot.dir.join(point)))?;
        }
        shell::run(shell::command("mount").args(["--bind", "/dev"]).arg(chroot.dir.join("dev")))?;
        let network = ["/etc/resolv.conf", "/etc/hosts"].map(PathBuf::from);
        for file in network.iter().chain(&surroundings.host_files) {
            chroot.copy(file, file)?;
        }
        Ok(chroot)
    }

    /// Copies a file or folder of this machine to `to`, a path inside the chroot.
    pub fn copy(&self, from: &Path, to: &Path) -> Result<()> {
        let target = self.inside(to);
        let parent = target.parent().expect("an absolute path lies in a folder");
        fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
        shell::run(shell::command("cp").args(["-aLT", "--remove-destination"]).arg(from).arg(target))
    }

    fn inside(&self, path: impl AsRef<Path>) -> PathBuf {
        self.dir.join(path.as_ref().strip_prefix("/").unwrap_or(path.as_ref()))
    }

    /// A command line in one of its folders, in an environment that holds only what is named.
    pub fn step(&self, folder: &str, line: &str) -> Command {
        let mut command = shell::command("chroot");
        command.arg(&self.dir).args(["sh", "-c", &format!("cd {folder} && {line}")]);
        command.env_clear().env("HOME", "/root").env("PATH", "/opt/rust/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("DEBIAN_FRONTEND", "noninteractive");
        for name in &self.variables {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
    }

    /// Disk used by the chroot itself, in MB.
    fn megabytes(&self) -> Result<i64> {
        let output = Command::new("du").arg("-sxm").arg(&self.dir).output().context("`du` did not start")?;
        let text = String::from_utf8_lossy(&output.stdout);
        text.split_whitespace().next().and_then(|word| word.parse().ok()).context("`du` printed no number")
    }
}

impl Drop for Chroot {
    fn drop(&mut self) {
        let mounted = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
        for point in ["dev", "sys", "proc"].map(|point| self.dir.join(point)) {
            if mounted.contains(&format!(" {} ", point.display())) {
                let done = Command::new("umount").arg(&point).status().is_ok_and(|status| status.success());
                // Removing what is still mounted would empty this machine's /dev.
                self.keep |= !done;
            }
        }
        if self.keep {
            eprintln!("the chroot is left at {}", self.dir.display());
        } else if let Err(error) = fs::remove_dir_all(&self.dir) {
            eprintln!("the chroot at {} could not be removed: {error}", self.dir.display());
        }
    }
}
