//! The command `tiga-opt`: reads a module in text form, verifies it, runs passes, prints it.
//!
//! Exit codes: 0 done; 1 errors in the input, or a pass that refuses; 2 a command line that says nothing sensible.

use anyhow::{Context, Result};
use clap::Parser;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tiga_abi::{FpMode, Symbol};
use tiga_ir::verify::verify;
use tiga_ir::{parse_module, print_module};
use tigac::passes::{self, Pass, PassOptions, WatchArgs};
use tigac::pipeline;

/// Runs passes on a module of Tiga's intermediate representation.
#[derive(Debug, Parser)]
#[command(name = "tiga-opt", version)]
struct Cli {
    /// The module (.tir); `-` is the standard input.
    #[arg(value_name = "FILE", required_unless_present = "list_passes")]
    file: Option<PathBuf>,
    /// Passes to run, in order; --list-passes says which there are.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = passes::named, conflicts_with = "pipeline")]
    pass: Vec<Pass>,
    /// Run the pipeline that `tigac` runs.
    #[arg(long)]
    pipeline: bool,
    /// Only verify; print nothing.
    #[arg(long, conflicts_with_all = ["pass", "pipeline", "output"])]
    verify_only: bool,
    /// List the passes.
    #[arg(long)]
    list_passes: bool,
    /// Where the module goes instead of the standard output.
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Floating point: default (fixed trees, fused multiply-add) or strict (the plain left fold).
    #[arg(long, value_name = "MODE", value_parser = fp_mode, default_value = "default")]
    fp: FpMode,
    /// Edges in a leaf of a row, entities in a leaf of a set.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    leaf: Option<u64>,
    /// Accumulators in a leaf, whatever the width.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    acc: Option<u32>,
    /// Bytes of a vector register.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(8..=64))]
    simd_bytes: u32,
    /// Adds kernels for a feature extent.
    #[arg(long, value_name = "DIM=N", value_delimiter = ',', value_parser = extent)]
    specialize: Vec<(Symbol, i64)>,
    /// The machine has no fused multiply-add.
    #[arg(long)]
    no_fma: bool,
    #[command(flatten)]
    watch: WatchArgs,
}

fn fp_mode(text: &str) -> Result<FpMode, String> {
    match text {
        "default" => Ok(FpMode::Default),
        "strict" => Ok(FpMode::Strict),
        _ => Err("there are default and strict".to_owned()),
    }
}

fn extent(text: &str) -> Result<(Symbol, i64), String> {
    let parsed = text.split_once('=').and_then(|(dim, value)| Some((dim.into(), value.parse().ok()?)));
    parsed.filter(|(_, value)| *value >= 0).ok_or_else(|| "expected DIM=N, as in F=16".to_owned())
}

impl Cli {
    fn options(&self) -> PassOptions {
        let mut options = PassOptions::new(self.fp);
        if let Some(leaf) = self.leaf {
            (options.law.row_leaf, options.law.set_leaf) = (leaf, leaf);
        }
        options.law.acc = self.acc;
        options.kernel.simd_bytes = self.simd_bytes;
        options.kernel.specialize.clone_from(&self.specialize);
        options.machine.fma = !self.no_fma;
        options
    }

    fn run(&self) -> Result<()> {
        let mut out = std::io::stdout();
        if self.list_passes {
            for pass in passes::ALL {
                writeln!(out, "{:<18} {}", pass.flag(), pass.about)?;
            }
            return Ok(());
        }
        let file = self.file.as_deref().context("no file is given")?;
        let module = parse_module(&file.to_string_lossy(), &read(file)?)?;
        let options = self.options();
        if self.verify_only {
            return Ok(verify(&module, options.machine)?);
        }
        let passes = if self.pipeline { pipeline::of(self.fp) } else { &self.pass };
        let module = passes::run(module, passes, &options, &self.watch.watch(), &mut std::io::stderr())?;
        let text = print_module(&module);
        match &self.output {
            Some(path) => std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display())),
            None => out.write_all(text.as_bytes()).context("cannot write to the standard output"),
        }
    }
}

fn read(file: &Path) -> Result<String> {
    if file == Path::new("-") {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read the standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))
}

fn main() -> ExitCode {
    match Cli::parse().run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(1)
        }
    }
}
