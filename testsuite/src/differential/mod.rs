//! Random programs on all roads: compiled and run, against the interpreters that define them.

mod judge;
mod text;
mod tiers;

pub use judge::{Fault, Judge, Tally, Way, Without};
pub use tiers::Tiered;

use crate::generator::{Case, Coverage, Generated, GraphShape, inputs, program, random_graph, shrink};
use fastrand::Rng;
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tiga_ir::Module;

/// Operations of a program.
const SIZE: usize = 6;
/// Graphs a program runs on.
const GRAPHS: usize = 3;
/// Programs that are compiled together: starting LLVM and the linker costs as much as compiling a few.
const BATCH: usize = 12;

/// What a campaign found.
#[derive(Debug, Default)]
pub struct Report {
    /// Programs generated.
    pub programs: usize,
    /// What was compared.
    pub tally: Tally,
    /// Operators covered.
    pub coverage: Coverage,
    /// What went wrong, by seed.
    pub failures: BTreeMap<u64, Fault>,
}

impl Report {
    /// Adds what another campaign found.
    pub fn merge(mut self, other: Report) -> Report {
        self.programs += other.programs;
        self.tally += other.tally;
        self.coverage.merge(&other.coverage);
        self.failures.extend(other.failures);
        self
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { runs, results, lively, checked, tiered } = self.tally;
        let share = 100 * lively / results.max(1);
        write!(f, "{} programs, {runs} runs, {} failures; ", self.programs, self.failures.len())?;
        write!(f, "{lively} of {results} results ({share} %) finite and not constant; ")?;
        let percent = |part: usize| 100.0 * part as f64 / checked.all().max(1) as f64;
        let (equal, within) = (percent(checked.equal), percent(checked.within));
        write!(f, "of {} default elements {equal:.1} % equal and {within:.1} % within a bound", checked.all())?;
        write!(f, " of the domain interpreter's, {:.1} % excluded; ", percent(checked.excluded))?;
        let Tiered { runs, spilled, written } = tiered;
        write!(f, "{runs} runs within budgets, {spilled} of them moved {written} bytes out")
    }
}

/// Runs the programs of `count` seeds from `seed` on, each on three graphs, in both modes.
pub fn campaign(seed: u64, count: usize) -> Report {
    let mut ways: BTreeMap<Way, Vec<u64>> = BTreeMap::new();
    for seed in (0..count as u64).map(|index| seed.wrapping_add(index)) {
        ways.entry(Way::of(seed)).or_default().push(seed);
    }
    let chunks = |(way, seeds): (&Way, &Vec<u64>)| -> Vec<(Way, Vec<u64>)> {
        seeds.chunks(BATCH).map(|seeds| (*way, seeds.to_vec())).collect()
    };
    let batches: Vec<(Way, Vec<u64>)> = ways.iter().flat_map(chunks).collect();
    on_all_cores(&batches)
}

/// Threads of their own instead of a pool: a worker that waits for another pool, as each run of a program does, takes
/// up the next batch meanwhile, and in the end all batches are in memory at once.
fn on_all_cores(batches: &[(Way, Vec<u64>)]) -> Report {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut report = Report::default();
        while let Some((way, seeds)) = batches.get(next.fetch_add(1, Ordering::Relaxed)) {
            report = report.merge(batch(*way, seeds));
        }
        report
    };
    thread::scope(|scope| {
        // LLVM and the interpreters recurse along chains of instructions.
        let start = || thread::Builder::new().stack_size(64 << 20).spawn_scoped(scope, work);
        let cores = thread::available_parallelism().map_or(1, NonZero::get);
        let threads: Vec<_> = (0..cores).map(|_| start().expect("threads can be started")).collect();
        let reports = threads.into_iter().map(|thread| thread.join().expect("a batch catches panics"));
        reports.fold(Report::default(), Report::merge)
    })
}

/// The program of a seed, and what draws its inputs.
fn of_seed(seed: u64) -> (Generated, Rng) {
    let mut rng = Rng::with_seed(seed);
    let generated = program(&mut rng, &format!("p{seed}"), SIZE);
    (generated, rng)
}

fn batch(way: Way, seeds: &[u64]) -> Report {
    let mut report = Report::default();
    let mut all = Module::new();
    let mut programs = Vec::new();
    for seed in seeds {
        let (generated, rng) = of_seed(*seed);
        report.programs += 1;
        report.coverage.merge(&generated.coverage);
        all.reducers.extend(generated.module.reducers.clone());
        all.funcs.extend(generated.module.funcs.clone());
        programs.push((*seed, generated, rng));
    }
    let together = guarded(|| Judge::new(&all, way));
    for (seed, generated, mut rng) in programs {
        let alone;
        let judge = match &together {
            Ok(judge) => judge,
            // One of them is to blame: each is tried alone.
            Err(_) => match guarded(|| Judge::new(&generated.module, way)) {
                Ok(judge) => {
                    alone = judge;
                    &alone
                }
                Err(fault) => {
                    report.failures.insert(seed, fault);
                    continue;
                }
            },
        };
        match guarded(|| runs(judge, &generated, &mut rng, seed % 2 == 0)) {
            Ok(tally) => report.tally += tally,
            Err(fault) => drop(report.failures.insert(seed, fault)),
        }
    }
    if let (Err(fault), true) = (together, report.failures.is_empty()) {
        report.failures.insert(seeds[0], Fault::Together { last: seeds[seeds.len() - 1], fault: Box::new(fault) });
    }
    report
}

/// A panic is a fault like others: it must not end a campaign.
fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
        Err(Fault::Panic(text.unwrap_or_default()))
    })
}

/// Runs on all graphs, on the first one within budgets, too, if they are wanted: they take as long as all else.
fn runs(judge: &Judge, generated: &Generated, rng: &mut Rng, budgets: bool) -> Result<Tally, Fault> {
    let mut tally = Tally::default();
    for graph in 0..GRAPHS {
        let inputs = drawn(generated, rng);
        tally += judge.run(&generated.name, &inputs)?;
        if graph == 0 && budgets {
            tally.tiered += judge.run_in_tiers(&generated.name, &inputs, rng.u64(..))?;
        }
    }
    Ok(tally)
}

fn drawn(generated: &Generated, rng: &mut Rng) -> crate::generator::Inputs {
    let shape = GraphShape::ALL[[0, 0, 0, 1, 1, 2, 3][rng.usize(0..7)]];
    let nodes = 1 + rng.usize(0..12);
    let sources = generated.two_sets().then(|| 1 + rng.usize(0..12));
    let csr = random_graph(rng, shape, nodes, sources);
    inputs(rng, generated, &csr)
}

/// The smallest case found that fails as the program of a seed does; `None` if that does not fail alone.
pub fn shrunk(seed: u64) -> Option<Case> {
    let way = Way::of(seed);
    let (generated, mut rng) = of_seed(seed);
    for _ in 0..GRAPHS {
        let inputs = drawn(&generated, &mut rng);
        let case = Case { way, program: generated.name.clone(), module: generated.module.clone(), inputs };
        if let Err(fault) = guarded(|| case.judge()) {
            let same = |case: &Case| guarded(|| case.judge()).is_err_and(|f| f.kind() == fault.kind());
            return Some(shrink(case, same));
        }
    }
    None
}

/// Shrinks the program of a seed, writes the case into a folder, and says so.
pub fn written(seed: u64, fault: &Fault, folder: &str) -> String {
    let Some(case) = shrunk(seed) else { return format!("seed {seed}: {fault}") };
    let path = Path::new(folder).join(format!("seed-{seed}.tir"));
    match std::fs::write(&path, format!("// seed {seed}: {}\n{case}", first_line(fault))) {
        Ok(()) => format!("seed {seed}: {fault}\n  shrunk: {}", path.display()),
        Err(e) => format!("seed {seed}: {fault}\n  not written ({e}):\n{case}"),
    }
}

fn first_line(fault: &Fault) -> String {
    fault.to_string().lines().next().unwrap_or_default().to_owned()
}
