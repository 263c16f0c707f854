//! `cargo xtask demo`: PageRank, compiled, on the dependency graph of Debian 12's packages.

use crate::{setup, shell};
use anyhow::{Context, Result};

const MODEL: &str = "examples/pagerank.tg";
const GRAPH: &str = "examples/data/debian12-depends.npz";

/// Builds the two commands, compiles the model, runs it; `tiga run` prints the ranking, the time and edges/s.
pub fn run() -> Result<()> {
    setup::run(setup::Need::Llvm)?;
    shell::run(&mut shell::cargo(["build", "--release", "-p", "tigac", "-p", "tiga"]))?;
    let bin = shell::target_dir().join("release");
    let out = shell::target_dir().join("demo");
    std::fs::create_dir_all(&out).with_context(|| format!("cannot create {}", out.display()))?;
    let bundle = out.join("pagerank.tgb");
    shell::run(shell::command(bin.join("tigac")).args([MODEL, "--set", "real=f64", "-o"]).arg(&bundle))?;
    let mut run = shell::command(bin.join("tiga"));
    run.arg("run").arg(&bundle).args(["pagerank", "--graph", &format!("g={GRAPH}")]);
    run.args(["--in", "damping=0.85", "--in", "tol=1e-10", "--repeat", "5", "--top", "rank=10", "-v"]);
    println!("The ten packages that everything in Debian 12 leans on:");
    shell::run(&mut run)
}
