//! One random program, all roads: compiled and run, against the interpreter that defines it.

use crate::generator::{Coverage, Generated, GraphShape, Inputs, inputs, program, random_graph};
use crate::road::{Road, difference, result};
use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use rayon::prelude::*;
use tiga_abi::{CpuTarget, FpMode};
use tiga_backend_llvm::OptLevel;
use tiga_ir::interp::{Tensor, run_domain};
use tiga_ir::print_module;
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs generated.
    pub programs: usize,
    /// Runs compared.
    pub runs: usize,
    /// Results that are finite and not all equal.
    pub lively: usize,
    /// Results with at least two elements.
    pub results: usize,
    /// Operators covered.
    pub coverage: Coverage,
    /// Differences, each with its program and seed.
    pub failures: Vec<String>,
}

/// Runs `count` programs from a seed, each on three graphs, in both modes.
pub fn campaign(seed: u64, count: usize) -> Report {
    let seeds = (0..count as u64).into_par_iter().map(|index| seed.wrapping_add(index));
    // LLVM and the interpreters recurse along chains of instructions.
    let pool = rayon::ThreadPoolBuilder::new().stack_size(64 << 20).build().expect("threads can be started");
    pool.install(|| seeds.map(of_seed).reduce(Report::default, Report::merge))
}

fn of_seed(seed: u64) -> Report {
    let mut rng = Rng::with_seed(seed);
    let generated = program(&mut rng, 6);
    let mut report = Report { programs: 1, coverage: generated.coverage.clone(), ..Report::default() };
    if let Err(difference) = one(&mut rng, &generated, &mut report) {
        report.failures.push(format!("seed {seed}: {difference:#}\n{}", print_module(&generated.module)));
    }
    report
}

impl Report {
    fn merge(mut self, other: Report) -> Report {
        self.programs += other.programs;
        self.runs += other.runs;
        self.lively += other.lively;
        self.results += other.results;
        self.coverage.merge(&other.coverage);
        self.failures.extend(other.failures);
        self
    }
}

fn one(rng: &mut Rng, generated: &Generated, report: &mut Report) -> Result<()> {
    let mut strict = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Strict);
    let mut fast = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default);
    if rng.bool() {
        (fast.law.row_leaf, fast.law.set_leaf, fast.law.acc) = (2, 2, Some(2));
    }
    // LLVM's passes take most of the time, and must not change a bit: they run on every fourth program.
    let optimised = rng.u8(0..4) == 0;
    for options in [&mut strict, &mut fast] {
        options.opt = if optimised { OptLevel::O } else { OptLevel::O0 };
    }
    let roads = [Road::of_domain(&generated.module, strict)?, Road::of_domain(&generated.module, fast)?];
    for _ in 0..3 {
        let shape = GraphShape::ALL[[0, 0, 0, 1, 1, 2, 3][rng.usize(0..7)]];
        let nodes = 1 + rng.usize(0..12);
        let csr = random_graph(rng, shape, nodes);
        let inputs = inputs(rng, generated, csr);
        for road in &roads {
            compare(road, generated, &inputs, report)?;
        }
    }
    Ok(())
}

fn compare(road: &Road, generated: &Generated, inputs: &Inputs, report: &mut Report) -> Result<()> {
    let law = &road.options.law;
    let dims = [("F", inputs.features as i64)];
    let expected: Vec<Tensor> = match law.fp {
        FpMode::Strict => run_domain(&generated.module, "p", &inputs.values)?.into_iter().map(result).collect(),
        FpMode::Default => road.interpret("p", &inputs.values, &dims),
    }
    .with_context(|| format!("interpreting {:?}", law.fp))?;
    let context = Context::new(2)?.with_order(UnitOrder::Shuffled(inputs.features as u64 + 1));
    let got = road.run("p", &inputs.values, &dims, &context)?;
    report.runs += 1;
    for ((name, _), (got, expected)) in generated.func().results.iter().zip(got.iter().zip(&expected)) {
        if let Some(found) = difference(got, expected) {
            bail!(
                "{law:?}: {name}{found} (shape {:?}, F = {}, {} nodes, {} edges)",
                expected.shape(),
                inputs.features,
                inputs.csr.num_dst(),
                inputs.csr.num_edges(),
            );
        }
        if expected.elems().len() > 1 {
            report.results += 1;
            let finite = expected.elems().iter().all(|e| e.as_f64().is_finite());
            let constant = expected.elems().iter().all(|e| e.same(expected.elems()[0]));
            report.lively += usize::from(finite && !constant);
        }
    }
    Ok(())
}
