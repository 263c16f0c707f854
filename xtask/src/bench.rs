//! `cargo xtask bench`: Tiga beside the libraries that a user would otherwise take, in one run.

use crate::{setup, shell};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// What runs, each with the same options.
const SCRIPTS: [&str; 3] = ["bench/spmm.py", "bench/dense.py", "bench/compile.py"];

/// What is measured.
#[derive(clap::Args)]
pub struct Options {
    /// Only cases whose name contains this
    #[arg(value_name = "CASE")]
    only: Option<String>,
    /// Rounds in which each peer runs once
    #[arg(long, value_name = "N")]
    rounds: Option<u32>,
}

/// Builds Tiga, makes a Python environment with its peers, and runs the benchmarks, which check each result first.
pub fn run(options: &Options) -> Result<()> {
    // Plans have no peers: what is measured is how time and memory grow.
    if options.only.as_deref().is_none_or(|only| only == "plan") {
        shell::run(&mut shell::cargo(["run", "--release", "-p", "tiga-plan", "--example", "scale"]))?;
    }
    if options.only.as_deref() == Some("plan") {
        return Ok(());
    }
    setup::run(setup::Need::Bench)?;
    shell::run(&mut shell::cargo(["build", "--release", "-p", "tigac", "-p", "tiga-capi"]))?;
    let out = shell::target_dir().join("bench");
    fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let environment = environment(&out)?;
    let built = shell::target_dir().join("release");
    let library = environment.join("lib");
    for script in SCRIPTS {
        let mut command = shell::command(environment.join("bin/python"));
        command.arg(script).env("TIGA_BENCH_OUT", &out).env("TIGAC", built.join("tigac"));
        command.env("TIGA_LIBRARY", built.join("libtiga.so"));
        // Where the package of MKL puts it, which is none of the loader's places.
        command.env("LD_LIBRARY_PATH", &library).env("MKL_RT", library.join("libmkl_rt.so.3"));
        // Threads that wait by spinning would take the time of whoever runs next.
        command.env("OMP_WAIT_POLICY", "PASSIVE").env("KMP_BLOCKTIME", "0").env("OPENBLAS_THREAD_TIMEOUT", "4");
        if let Some(rounds) = options.rounds {
            command.args(["--rounds", &rounds.to_string()]);
        }
        if let Some(only) = &options.only {
            command.args(["--only", only]);
        }
        shell::run(&mut command)?;
    }
    Ok(())
}

/// A Python environment with the peers, made anew when the list of them changes.
fn environment(out: &Path) -> Result<PathBuf> {
    let (folder, list) = (out.join("venv"), shell::root().join("bench/requirements.txt"));
    let (wanted, kept) = (fs::read(&list).context("cannot read bench/requirements.txt")?, folder.join("peers.txt"));
    if fs::read(&kept).ok() != Some(wanted.clone()) {
        shell::run(shell::command("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        shell::run(shell::command(folder.join("bin/pip")).args(["install", "--quiet", "-r"]).arg(&list))?;
        fs::write(&kept, wanted).with_context(|| format!("cannot write {}", kept.display()))?;
    }
    Ok(folder)
}
