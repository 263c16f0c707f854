//! The command line of `tiga-opt`: reads a module in text form, verifies it, runs passes, prints it.
//!
//! Exit codes: 0 done; 1 errors in the input, or a pass that refuses; 2 a command line that says nothing sensible; 101
//! a bug of the compiler, such as a pass that leaves a module that breaks laws, of which a report is left.

use super::options::PassArgs;
use super::output::{check_distinct, is_standard, print, write};
use super::{Outcome, refusal, start};
use crate::passes::{self, Pass, PassOptions, WatchArgs};
use crate::pipeline;
use anyhow::{Context, Result};
use clap::Parser;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tiga_ir::verify::verify;
use tiga_ir::{parse_module, print_module};
use tiga_source::internal;

/// The command, as reports name it.
const TIGA_OPT: internal::Command =
    internal::Command { name: "tiga-opt", version: env!("CARGO_PKG_VERSION"), subcommands: &[] };

/// Runs passes on a module of Tiga's intermediate representation.
#[derive(Debug, Parser)]
#[command(name = "tiga-opt", version)]
#[command(after_help = "Exit codes: 0 done; 1 errors in the module, or a pass that refuses; 2 a command line that \
                        makes no sense; 101 a bug of the compiler, of which a report is left")]
struct Cli {
    /// The module (.tir); `-` is the standard input.
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    /// Passes to run, in order; --list-passes says which there are.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = passes::named, conflicts_with = "pipeline")]
    pass: Vec<Pass>,
    /// Run the pipeline that `tigac` runs.
    #[arg(long)]
    pipeline: bool,
    /// Only verify; print nothing.
    #[arg(long, conflicts_with_all = NOT_WHEN_VERIFYING)]
    verify_only: bool,
    /// List the passes.
    #[arg(long, exclusive = true)]
    list_passes: bool,
    /// Where the module goes; without it, or for `-`, to the standard output.
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    #[command(flatten)]
    passes: PassArgs,
    /// Edges in a leaf of a row, entities in a leaf of a set.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    leaf: Option<u64>,
    /// Accumulators in a leaf, whatever the width.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    acc: Option<u32>,
    /// Bytes of a vector register.
    #[arg(long, value_name = "N", default_value_t = 32, value_parser = clap::value_parser!(u32).range(8..=64))]
    simd_bytes: u32,
    /// The machine has no fused multiply-add.
    #[arg(long)]
    no_fma: bool,
    /// The machine has no conversions of f16.
    #[arg(long)]
    no_f16c: bool,
    #[command(flatten)]
    watch: WatchArgs,
    /// Fails as a bug of the compiler would: for the test of what is left behind then.
    #[arg(long, exclusive = true, hide = true)]
    internal_error: bool,
}

/// Options that say something to passes, of which `--verify-only` runs none.
const NOT_WHEN_VERIFYING: [&str; 12] = [
    "pass",
    "pipeline",
    "output",
    "fp",
    "specialize",
    "leaf",
    "acc",
    "simd_bytes",
    "print_after",
    "print_after_all",
    "time_passes",
    "stop_after",
];

impl Cli {
    fn options(&self) -> PassOptions {
        let mut options = PassOptions::new(self.passes.fp());
        if let Some(leaf) = self.leaf {
            (options.law.row_leaf, options.law.set_leaf) = (leaf, leaf);
        }
        options.law.acc = self.acc;
        options.kernel.simd_bytes = self.simd_bytes;
        options.kernel.specialize = self.passes.specialize();
        options.machine.fma = !self.no_fma;
        options.machine.f16c = !self.no_f16c;
        options
    }

    fn run(&self) -> Result<Outcome> {
        if self.list_passes {
            let mut list = String::new();
            for pass in passes::ALL {
                writeln!(list, "{:<18} {}", pass.flag(), pass.about)?;
            }
            print(list.as_bytes())?;
            return Ok(Outcome::Done);
        }
        let file = self.file.as_deref().context("no file is given")?;
        let input = Some(file).filter(|path| !is_standard(path));
        let output = self.output.as_deref().filter(|path| !is_standard(path));
        check_distinct(input.as_slice(), output.as_slice())?;
        let module = parse_module(&file.to_string_lossy(), &read(file)?)?;
        let options = self.options();
        if self.verify_only {
            verify(&module, options.machine)?;
            return Ok(Outcome::Done);
        }
        let passes = if self.pipeline { pipeline::PASSES } else { &self.pass };
        let done = passes::run(module, passes, &options, &self.watch.watch(), &mut std::io::stderr());
        let module = match done.map_err(anyhow::Error::from) {
            Ok(module) => module,
            Err(error) if matches!(refusal::of(&error), refusal::Fault::Bug) => return Ok(refusal::bug(&error)),
            Err(error) => return Err(error),
        };
        write(output, print_module(&module).as_bytes())?;
        Ok(Outcome::Done)
    }
}

fn read(file: &Path) -> Result<String> {
    if is_standard(file) {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).context("cannot read the standard input")?;
        return Ok(text);
    }
    std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))
}

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    start::run::<Cli>(
        TIGA_OPT,
        |_| None,
        |cli| {
            assert!(!cli.internal_error, "asked for");
            cli.run()
        },
    )
}
