//! Runs passes one after the other; the verifiers look at what each leaves, and a failure names the pass.

use super::{Remarks, Verdict};
use crate::lower::kernel::KernelOptions;
use crate::lower::{LowerError, ReductionLaw};
use std::fmt;
use std::io::{self, Write};
use std::time::{Duration, Instant};
use tiga_abi::{CpuTarget, FpMode, Symbol};
use tiga_ir::verify::{Machine, Violations, verify};
use tiga_ir::{Level, Module, TypeError, print_module};
use tiga_source::Loc;

/// A step from module to module.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name, that of its file.
    pub name: &'static str,
    /// What it does, for `--list-passes`.
    pub about: &'static str,
    /// Levels of the functions it reads; others it leaves alone. The runner refuses it if there are others only.
    pub levels: &'static [Level],
    /// The level of the functions it makes of them, if that is another one.
    pub makes: Option<Level>,
    /// Whether passes after it rely on it, or the bits of a mode; others only make programs faster, and may be left out.
    pub needed: bool,
    /// What it does.
    pub run: fn(&Module, &PassOptions, &mut Remarks) -> Result<Module, PassError>,
}

impl Pass {
    /// How the command line calls it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }
}

/// What passes may depend on besides the module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassOptions {
    /// The floating-point mode and the shapes of reductions.
    pub law: ReductionLaw,
    /// What kernels are made for.
    pub kernel: KernelOptions,
    /// What the machine has.
    pub machine: Machine,
}

impl PassOptions {
    /// A mode with its start values, for 32-byte vectors on a machine that has everything.
    pub fn new(fp: FpMode) -> Self {
        let kernel = KernelOptions { simd_bytes: 32, specialize: Vec::new() };
        Self { law: ReductionLaw::new(fp), kernel, machine: Machine::FULL }
    }

    /// The same for a target.
    pub fn for_target(target: CpuTarget, fp: FpMode) -> Self {
        let mut options = Self::new(fp);
        options.kernel.simd_bytes = target.simd_bytes();
        options.machine = Machine::from(target);
        options
    }
}

/// Why a pass stopped.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PassError {
    /// It built something ill-typed: our bug.
    #[error("it built an ill-typed instruction: {0}")]
    Type(#[from] TypeError),
    /// The level below cannot express something yet.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// A call whose code, written out, is too much.
    #[error("{loc}: a call of {callee} makes a program that is too {excess} when its calls are inlined")]
    Limit {
        /// The program that is called.
        callee: Symbol,
        /// In which way.
        excess: Excess,
        /// The call.
        loc: Loc,
    },
}

/// In which way code is too much.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// Too many instructions.
    Large,
    /// Too many loops, branches and messages inside each other.
    Deep,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Excess::Large => "large",
            Excess::Deep => "deep",
        })
    }
}

/// Why a pipeline stopped.
#[derive(Debug, thiserror::Error)]
pub enum PipelineError {
    /// The module broke laws before the first pass.
    #[error("the module breaks laws:\n{0}")]
    Input(Violations),
    /// A pass that would find nothing: it stands too early or too late.
    #[error("pass `{pass}`: the module has no {} function", .levels.iter().map(|l| l.name()).collect::<Vec<_>>().join(" or "))]
    Level {
        /// Its flag.
        pass: String,
        /// The levels that it reads.
        levels: &'static [Level],
    },
    /// A pass refused.
    #[error("pass `{pass}`: {error}")]
    Pass {
        /// Its flag.
        pass: String,
        /// Why.
        error: PassError,
    },
    /// A pass left a module that breaks laws: our bug.
    #[error("pass `{pass}` left a module that breaks laws:\n{violations}")]
    Broken {
        /// Its flag.
        pass: String,
        /// Which.
        violations: Violations,
    },
    /// What was asked for could not be printed.
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

/// After which passes the module is printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Printing {
    /// None.
    #[default]
    Nothing,
    /// Those with these flags.
    After(Vec<String>),
    /// All.
    Everything,
}

/// What is looked at while a pipeline runs, and what is left out of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    /// What is printed.
    pub print: Printing,
    /// Whether the time of each pass is printed.
    pub time: bool,
    /// Which remarks are printed.
    pub remarks: Vec<Verdict>,
    /// Passes that are left out, by their flags.
    pub skip: Vec<String>,
    /// The lowest level wanted: the pass that would make a lower one, and all after it, are left out.
    pub stop_after: Option<Level>,
}

impl Watch {
    /// Whether passes are to run for what can be seen of them, wanted or not.
    pub fn shows(&self) -> bool {
        self.time || self.print != Printing::Nothing || self.stop_after.is_some() || !self.remarks.is_empty()
    }
}

/// [`Watch`] on the command line.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct WatchArgs {
    /// Print the module after these passes, on the standard error stream.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = known_pass)]
    print_after: Vec<String>,
    /// Print the module after every pass.
    #[arg(long)]
    print_after_all: bool,
    /// Print the time that each pass takes, and LLVM and the linker, on the standard error stream.
    #[arg(long)]
    time_passes: bool,
    /// Print what passes did (passed), and what they could have done (missed), and why, on the standard error stream;
    /// both, if neither is named.
    #[arg(long, value_name = "KIND", value_delimiter = ',', num_args = 0..=1, require_equals = true)]
    #[arg(default_missing_value = "passed,missed")]
    remarks: Vec<Verdict>,
    /// Leave out these passes, of those that only make programs faster.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = optional_pass)]
    skip_pass: Vec<String>,
    /// Stop at this level (domain, host, loops or kernel) and print the module.
    #[arg(long, value_name = "LEVEL", value_parser = known_level)]
    stop_after: Option<Level>,
}

impl WatchArgs {
    /// Whether a module is printed instead of what comes after it.
    pub fn stops(&self) -> bool {
        self.stop_after.is_some()
    }

    /// What the arguments ask for.
    pub fn watch(&self) -> Watch {
        let print = match (self.print_after_all, self.print_after.as_slice()) {
            (true, _) => Printing::Everything,
            (false, []) => Printing::Nothing,
            (false, flags) => Printing::After(flags.to_vec()),
        };
        Watch {
            print,
            time: self.time_passes,
            remarks: self.remarks.clone(),
            skip: self.skip_pass.clone(),
            stop_after: self.stop_after,
        }
    }
}

fn known_pass(text: &str) -> Result<String, super::UnknownPass> {
    super::named(text).map(|pass| pass.flag())
}

/// The flag of a pass that may be left out: what it leaves is of the level that it found.
///
/// # Errors
/// There is no such pass; programs cannot do without it.
pub fn optional_pass(text: &str) -> Result<String, String> {
    let optional = || super::ALL.iter().filter(|pass| !pass.needed).map(Pass::flag).collect();
    match super::named(text) {
        Ok(pass) if pass.needed => Err("programs cannot do without it".to_owned()),
        Ok(pass) => Ok(pass.flag()),
        Err(_) => Err(super::UnknownPass::among(text, optional()).to_string()),
    }
}

fn known_level(text: &str) -> Result<Level, String> {
    let names = Level::ALL.map(Level::name);
    Level::ALL.into_iter().find(|l| l.name() == text).ok_or_else(|| format!("there are {}", names.join(", ")))
}

/// Runs passes in order, and the verifiers before the first and after each; `out` takes what is printed.
///
/// # Errors
/// [`PipelineError`].
pub fn run(
    module: Module,
    passes: &[Pass],
    options: &PassOptions,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<Module, PipelineError> {
    verify(&module, options.machine).map_err(PipelineError::Input)?;
    let mut module = module;
    let mut times: Vec<(String, Duration)> = Vec::new();
    let mut remarks = Remarks::default();
    let wanted =
        |pass: &Pass| watch.stop_after.is_none_or(|level| pass.makes.is_none_or(|makes| makes <= lowest(level)));
    let skipped = |pass: &Pass| watch.skip.contains(&pass.flag());
    for pass in passes.iter().take_while(|pass| wanted(pass)).filter(|pass| !skipped(pass)) {
        let flag = pass.flag();
        if !finds(pass, &module) {
            return Err(PipelineError::Level { pass: flag, levels: pass.levels });
        }
        let start = Instant::now();
        module = (pass.run)(&module, options, &mut remarks)
            .map_err(|error| PipelineError::Pass { pass: flag.clone(), error })?;
        times.push((flag.clone(), start.elapsed()));
        let print = match &watch.print {
            Printing::Nothing => false,
            Printing::After(flags) => flags.contains(&flag),
            Printing::Everything => true,
        };
        if print {
            write!(out, "// after {flag}\n{}", print_module(&module))?;
        }
        let broken = |violations| PipelineError::Broken { pass: flag, violations };
        verify(&module, options.machine).map_err(broken)?;
    }
    if let Printing::After(flags) = &watch.print {
        for flag in flags.iter().filter(|flag| times.iter().all(|(ran, _)| ran != *flag)) {
            writeln!(out, "// {flag} did not run")?;
        }
    }
    for remark in remarks.iter().filter(|remark| watch.remarks.contains(&remark.verdict)) {
        writeln!(out, "{remark}")?;
    }
    if watch.time {
        for (flag, time) in times {
            print_time(out, &flag, time)?;
        }
    }
    Ok(module)
}

/// A line of what took which time.
pub(crate) fn print_time(out: &mut dyn Write, what: &str, time: Duration) -> std::io::Result<()> {
    writeln!(out, "{:>10.3} ms  {what}", time.as_secs_f64() * 1e3)
}

/// Whether a pass has something to read. Host functions may stand without loops functions: a program that returns what
/// it is given launches nothing. A module without functions has nothing on any level.
fn finds(pass: &Pass, module: &Module) -> bool {
    let reads = |level: Level| pass.levels.contains(&level) || pass.levels.contains(&lowest(level));
    module.funcs.is_empty() || module.funcs.values().any(|func| reads(func.level))
}

/// Host and loops functions are made together.
fn lowest(level: Level) -> Level {
    if level == Level::Host { Level::Loops } else { level }
}
