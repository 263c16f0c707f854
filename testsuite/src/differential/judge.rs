//! Compiled programs beside the interpreters that define them.

use super::text::{fixed_point, verified_outside};
use super::tiers::{Tiered, tiered};
use crate::bound::{Checked, Unbounded, bounds, compare};
use crate::generator::Inputs;
use crate::road::{Road, difference, levels_here, result};
use fastrand::Rng;
use std::fmt;
use std::ops::AddAssign;
use std::str::FromStr;
use tiga_abi::{CpuTarget, FpMode};
use tiga_backend_llvm::OptLevel;
use tiga_ir::Module;
use tiga_ir::interp::{Tensor, run_domain};
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;
use tigac::passes::{self, Pass};

/// How a program is compiled: a function of its seed, so that it fails alone as it did among others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// With LLVM's passes. They take most of the time, and must not change a bit: one program in eight.
    pub optimised: bool,
    /// Leaves of two elements with two accumulators, so that trees stand on small graphs too.
    pub small: bool,
    /// The CPU: level 3 for half of the programs, level 2 for a quarter, level 4 for a quarter where the machine has it.
    pub target: CpuTarget,
    /// Passes that are left out.
    pub without: Without,
}

/// Passes that are left out of those that only make programs faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Without {
    /// None.
    Nothing,
    /// One, by its name.
    One(&'static str),
    /// All.
    All,
}

/// The passes that may be left out.
fn optional() -> impl Iterator<Item = &'static Pass> {
    passes::ALL.iter().filter(|pass| !pass.needed)
}

impl Without {
    /// Nothing for half of the programs; each pass alone and all together for as many of the others.
    fn drawn(rng: &mut Rng) -> Self {
        let alone = optional().map(|pass| Without::One(pass.name));
        let some: Vec<Without> = alone.chain([Without::All]).collect();
        some.get(rng.usize(0..2 * some.len())).copied().unwrap_or(Without::Nothing)
    }

    fn flags(self) -> Vec<String> {
        let out = |pass: &&Pass| match self {
            Without::Nothing => false,
            Without::One(name) => pass.name == name,
            Without::All => true,
        };
        optional().filter(out).map(Pass::flag).collect()
    }
}

impl fmt::Display for Without {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Without::Nothing => "nothing",
            Without::One(name) => name,
            Without::All => "all",
        })
    }
}

impl FromStr for Without {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let one = || optional().find(|pass| pass.name == text).map(|pass| Without::One(pass.name));
        match text {
            "nothing" => Ok(Without::Nothing),
            "all" => Ok(Without::All),
            _ => one().ok_or(()),
        }
    }
}

impl Way {
    /// The way of a seed.
    pub fn of(seed: u64) -> Self {
        let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let (optimised, small) = (rng.u8(0..8) == 0, rng.bool());
        let drawn =
            [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V3, CpuTarget::X86_64V4][rng.usize(0..4)];
        let target = if levels_here().contains(&drawn) { drawn } else { CpuTarget::X86_64V3 };
        Self { optimised, small, target, without: Without::drawn(&mut rng) }
    }

    fn options(self, fp: FpMode) -> CompileOptions {
        let mut options = CompileOptions::new(self.target, fp);
        options.opt = if self.optimised { OptLevel::O } else { OptLevel::O0 };
        options.watch.skip = self.without.flags();
        if self.small {
            (options.law.row_leaf, options.law.set_leaf, options.law.acc) = (2, 2, Some(2));
        }
        options
    }
}

/// What went wrong with a program.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// Some stage refuses it.
    #[error("not compiled: {0:#}")]
    Compile(anyhow::Error),
    /// Its text does not come back.
    #[error("text of the {level} level: {what}")]
    Text {
        /// Which level.
        level: &'static str,
        /// What comes back.
        what: String,
    },
    /// LLVM's tool refuses its LLVM module.
    #[error("opt-22 -passes=verify: {0}")]
    Llvm(String),
    /// An interpreter or the runtime refuses the call.
    #[error("not run ({fp:?}): {error:#}")]
    Run {
        /// The mode.
        fp: FpMode,
        /// Why.
        error: anyhow::Error,
    },
    /// Another result than its interpreter's.
    #[error("{fp:?}: {result}{found} ({inputs})")]
    Bits {
        /// The mode.
        fp: FpMode,
        /// Which result.
        result: String,
        /// Where, and what was expected.
        found: String,
        /// The sizes of the inputs.
        inputs: String,
    },
    /// A default result beyond its bound, or no bound.
    #[error("default against the domain interpreter: {result}{found} ({inputs})")]
    Bound {
        /// Which result.
        result: String,
        /// Where, and what was expected.
        found: String,
        /// The sizes of the inputs.
        inputs: String,
    },
    /// Another result where memory is short, or more memory than was planned.
    #[error("in tiers: {error:#} ({inputs})")]
    Tiers {
        /// What is wrong.
        error: anyhow::Error,
        /// The sizes of the inputs.
        inputs: String,
    },
    /// A panic.
    #[error("panic: {0}")]
    Panic(String),
    /// Programs that compile alone, but not together.
    #[error("together with the programs up to {last}: {fault}")]
    Together {
        /// The last seed.
        last: u64,
        /// What went wrong.
        fault: Box<Fault>,
    },
}

impl Fault {
    /// Which stage speaks: the shrinker must not slip from one fault to another.
    pub fn kind(&self) -> (&'static str, Option<FpMode>) {
        match self {
            Fault::Compile(_) => ("compile", None),
            Fault::Text { level, .. } => (level, None),
            Fault::Llvm(_) => ("llvm", None),
            Fault::Run { fp, .. } => ("run", Some(*fp)),
            Fault::Bits { fp, .. } => ("bits", Some(*fp)),
            Fault::Bound { .. } => ("bound", None),
            Fault::Tiers { .. } => ("tiers", None),
            Fault::Panic(_) => ("panic", None),
            Fault::Together { .. } => ("together", None),
        }
    }
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Runs of compiled programs.
    pub runs: usize,
    /// Results with at least two elements.
    pub results: usize,
    /// Those of them that are finite and not all equal.
    pub lively: usize,
    /// Elements of default results against the domain interpreter.
    pub checked: Checked,
    /// Runs where memory is short.
    pub tiered: Tiered,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        self.runs += other.runs;
        self.results += other.results;
        self.lively += other.lively;
        self.checked += other.checked;
        self.tiered += other.tiered;
    }
}

/// Programs of a domain module, compiled in both modes.
#[derive(Debug)]
pub struct Judge {
    module: Module,
    strict: Road,
    default: Road,
}

impl Judge {
    /// Compiles the programs; every module on the way must come back from its text, and LLVM's must be valid.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn new(module: &Module, way: Way) -> Result<Self, Fault> {
        fixed_point("domain", module)?;
        let road = |fp| {
            let road = Road::of_domain(module, way.options(fp)).map_err(Fault::Compile)?;
            fixed_point("loops", &road.whole)?;
            fixed_point("split loops", &road.loops)?;
            fixed_point("kernel", &road.kernels)?;
            verified_outside(&road.llvm_ir)?;
            Ok(road)
        };
        Ok(Self { module: module.clone(), strict: road(FpMode::Strict)?, default: road(FpMode::Default)? })
    }

    /// Runs a program in both modes: strict gives the bits of the domain interpreter, the default those of the loops
    /// interpreter, and the two modes are no further apart than the bound.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn run(&self, program: &str, inputs: &Inputs) -> Result<Tally, Fault> {
        let refused = |fp| move |error: anyhow::Error| Fault::Run { fp, error };
        let dims = [("F", inputs.features as i64)];
        let order = UnitOrder::Shuffled(inputs.features as u64 + 1);
        let context = Context::new(2).map_err(|e| refused(FpMode::Strict)(e.into()))?.with_order(order);
        let domain = run_domain(&self.module, program, &inputs.values).map_err(anyhow::Error::from);
        let domain: anyhow::Result<Vec<Tensor>> = domain.and_then(|values| values.into_iter().map(result).collect());
        let domain = domain.map_err(refused(FpMode::Strict))?;
        let loops = self.default.interpret(program, &inputs.values, &dims).map_err(refused(FpMode::Default))?;
        let mut tally = Tally::default();
        let mut results = Vec::new();
        for (road, expected) in [(&self.strict, &domain), (&self.default, &loops)] {
            let fp = road.options.law.fp;
            results = road.run(program, &inputs.values, &dims, &context).map_err(refused(fp))?;
            tally += self.same(fp, program, inputs, &results, expected)?;
            let spare = inputs.features as i64 % 3;
            let prepared = road.run_prepared((program, spare), &inputs.values, &dims, &context).map_err(refused(fp))?;
            self.same(fp, program, inputs, &prepared, expected)?;
        }
        tally.checked = self.bounded(program, inputs, &domain, &results)?;
        Ok(tally)
    }

    /// Runs a program within budgets of main memory: the same bits, and no more memory than was planned.
    ///
    /// # Errors
    /// [`Fault`].
    pub fn run_in_tiers(&self, program: &str, inputs: &Inputs, seed: u64) -> Result<Tiered, Fault> {
        let dims = [("F", inputs.features as i64)];
        let fault = |error| Fault::Tiers { error, inputs: inputs.to_string() };
        let loops = self.default.interpret(program, &inputs.values, &dims).map_err(fault)?;
        tiered(&self.default, program, inputs, &loops, seed).map_err(fault)
    }

    /// The results of the default mode against those of the domain interpreter.
    fn bounded(&self, program: &str, inputs: &Inputs, domain: &[Tensor], got: &[Tensor]) -> Result<Checked, Fault> {
        let fault = |result: &str, found: String| {
            let (result, inputs) = (result.to_owned(), inputs.to_string());
            Fault::Bound { result, found, inputs }
        };
        let mut checked = Checked::default();
        let fields = match bounds(&self.module, program, &inputs.values, &|symbol| inputs.size(symbol)) {
            Ok(fields) => fields,
            Err(Unbounded::Choice) => {
                checked.excluded = got.iter().map(|t| t.elems().len()).sum();
                return Ok(checked);
            }
            Err(unknown) => return Err(fault("", unknown.to_string())),
        };
        let results = &self.module.funcs[program].results;
        for (what, count) in [("bounds", fields.len()), ("expected results", domain.len()), ("results", got.len())] {
            if count != results.len() {
                return Err(fault("", format!("{count} {what} of {}", results.len())));
            }
        }
        let names = results.iter().map(|(name, _)| name);
        for (((name, field), domain), got) in names.zip(&fields).zip(domain).zip(got) {
            let values = field.elems.iter().map(|e| e.value).collect();
            let own =
                Tensor::new(domain.dtype(), field.shape.clone(), values).map_err(|e| fault(name, e.to_string()))?;
            if let Some(found) = difference(&own, domain) {
                return Err(fault(name, format!("{found} (the value beside the bound)")));
            }
            checked += compare(field, got).map_err(|found| fault(name, found))?;
        }
        Ok(checked)
    }

    fn same(
        &self,
        fp: FpMode,
        program: &str,
        inputs: &Inputs,
        got: &[Tensor],
        expected: &[Tensor],
    ) -> Result<Tally, Fault> {
        let mut tally = Tally { runs: 1, ..Tally::default() };
        let results = &self.module.funcs[program].results;
        for (what, count) in [("results", got.len()), ("expected results", expected.len())] {
            if count != results.len() {
                let found = format!("{count} {what} of {}", results.len());
                return Err(Fault::Bits { fp, result: String::new(), found, inputs: inputs.to_string() });
            }
        }
        for ((name, _), (got, expected)) in results.iter().zip(got.iter().zip(expected)) {
            if let Some(found) = difference(got, expected) {
                return Err(Fault::Bits { fp, result: name.to_string(), found, inputs: inputs.to_string() });
            }
            if expected.elems().len() > 1 {
                tally.results += 1;
                let finite = expected.elems().iter().all(|e| e.as_f64().is_finite());
                let constant = expected.elems().iter().all(|e| e.same(expected.elems()[0]));
                tally.lively += usize::from(finite && !constant);
            }
        }
        Ok(tally)
    }
}
