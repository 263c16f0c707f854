//! `tiga run`.

use crate::bound::{Bound, bytes, result};
use crate::given::Given;
use crate::inspect::{guarded, refuse_model};
use crate::outputs::{Expected, Source, Target, Top, TopOption, expected, file_of, targets};
use crate::rows::{Labels, row_ids};
use crate::show;
use crate::tiers::{self, Tiers};
use crate::trace::Trace;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tiga_abi::DType;
use tiga_bundle::Program;
use tiga_formats::{
    Array, INPUTS_HELP, Limits, Named, RowIds, Tolerance, array_path, compare, is_table, save_array, save_table,
    split_member,
};
use tiga_runtime::{ArrayMut, Bundle, Context, MemoryUse};

/// What the options alone do not say.
const DETAILS: &str = "\
Results are printed to the standard output unless --out, --expect or --top is given: type, shape and
the first 8 elements. --out writes an array to a .npy file; to a .tsv file, a line a row, which
begins with the node or the two ends of the edge as the graph's file calls them, or the name that
--labels gives.

Exit codes: 0 done, 1 error, 2 usage, 3 a result is not as expected, 101 internal error,
130 interrupted.";

#[derive(Args)]
#[command(after_help = format!("{INPUTS_HELP}\n\n{DETAILS}"))]
#[command(override_usage = "tiga run [OPTIONS] <BUNDLE.tgb> [PROGRAM]")]
pub(crate) struct Run {
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    tiers: Tiers,
    /// Writes a result to a file, .npy or .tsv; the name may be left out if there is only one.
    #[arg(long = "out", value_name = "[RESULT=]FILE")]
    outputs: Vec<String>,
    /// Compares a result with a file, and fails if an element is off by more than atol + rtol·|expected|.
    #[arg(long = "expect", value_name = "[RESULT=]FILE.npy")]
    expected: Vec<String>,
    /// Relative tolerance of --expect.
    #[arg(long, default_value_t = 0.0, requires = "expected", allow_negative_numbers = true, value_parser = tolerance)]
    rtol: f64,
    /// Absolute tolerance of --expect.
    #[arg(long, default_value_t = 0.0, requires = "expected", allow_negative_numbers = true, value_parser = tolerance)]
    atol: f64,
    /// Runs so many times, and prints the time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Prints the N largest entries of a result, with the names or numbers that the graph's file has for them.
    #[arg(long, value_name = "[RESULT=]N")]
    top: Option<TopOption>,
    /// Names the rows of results in --top and in .tsv files: a text with a line for each; of a result over edges, the
    /// nodes at their ends.
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Writes what the run did and when, for Perfetto: tasks, kernels, the chunks of each worker, files.
    #[arg(long, value_name = "FILE.json")]
    trace: Option<PathBuf>,
    /// Names the target, the kernels and their variants.
    #[arg(short, long)]
    verbose: bool,
}

fn tolerance(text: &str) -> Result<f64, &'static str> {
    let number = text.parse::<f64>().ok().filter(|t| t.is_finite() && *t >= 0.0);
    number.ok_or("expected a finite number ≥ 0")
}

/// The results of the last run, and how long each run took.
struct Runs {
    results: Vec<(String, Array)>,
    times: Vec<Duration>,
    used: Option<MemoryUse>,
}

impl Run {
    /// Whether all results are as expected.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<bool> {
        refuse_model(&self.given.bundle)?;
        let trace = Trace::begin(self.trace.as_deref())?;
        let bundle = self.given.open(&trace)?;
        let program = self.given.program(&bundle)?;
        let sources = self.sources(program)?;
        let targets = targets(program, &self.outputs, &sources)?;
        trace.check_apart(&sources, &targets)?;
        let good = self.run_program(out, &bundle, program, &targets, &trace);
        trace.finish(&self.given.bundle, &program.name, good)
    }

    fn run_program(
        &self,
        out: &mut dyn Write,
        bundle: &Bundle,
        program: &Program,
        targets: &[Target],
        trace: &Trace,
    ) -> Result<bool> {
        let expected = expected(program, &self.expected, trace)?;
        let top = self.top.as_ref().map(|given| Top::of(program, given)).transpose()?;
        if self.labels.is_some() && top.is_none() && !targets.iter().any(|target| is_table(&target.path)) {
            bail!("--labels: no row is named: it goes with --top or with --out FILE.tsv");
        }
        let labels = self.labels.as_deref().map(Labels::read).transpose()?;
        let inputs = self.given.read(program, trace)?;
        let bound = Bound { bundle, program, inputs: &inputs, dims: &self.given.dims };
        let shapes = bound.shapes(&expected)?;
        let ids = |result: &str| {
            let shape = shapes.iter().find(|(name, ..)| name == result).map(|(_, _, shape)| shape);
            let rows = shape.and_then(|shape| shape.first()).copied().unwrap_or(1);
            row_ids(program, &inputs, labels.as_ref(), result, rows)
        };
        if let Some(top) = &top {
            check_ranking(top.result, &shapes)?;
            ids(top.result)?;
        }
        targets.iter().filter(|target| is_table(&target.path)).try_for_each(|target| ids(&target.result).map(drop))?;
        let context = trace.watch(self.tiers.context(self.given.context()?)?);
        let Runs { results, mut times, used } = execute(&bound, self.repeat.unwrap_or(1), &shapes, &context, trace)?;
        let array = |name: &str| array_of(&results, name);
        save(targets, &results, trace, ids)?;
        if self.verbose {
            describe(out, &bound, &results, &context)?;
            used.as_ref().map_or(Ok(()), |used| tiers::describe(out, used, &context))?;
        }
        if let Some(Top { result, count }) = top {
            show::top(out, array(result), count, ids(result)?)?;
        } else if targets.is_empty() && expected.is_empty() {
            for (name, array) in &results {
                show::result(out, name, array)?;
            }
        }
        if self.repeat.is_some() {
            let edges = inputs.graphs.values().map(|g| g.graph.num_edges()).sum();
            show::timing(out, &mut times, edges, rounds(&results))?;
        }
        let mut good = true;
        for one in &expected {
            good &= trace.step("compare", || one.option.clone(), || self.check(out, one, array(&one.result)))?;
        }
        Ok(good)
    }

    /// The files that are read, whether or not they are there.
    fn sources(&self, program: &Program) -> Result<Vec<Source>> {
        let mut out = vec![Source { path: self.given.bundle.clone(), option: "the bundle".into() }];
        for Named { name, value } in &self.given.graphs {
            let option = format!("--graph {name}={value}");
            out.extend(value.path().map(|path| Source { path: path.into(), option }));
        }
        for Named { name, value } in &self.given.inputs {
            let option = format!("--in {name}={value}");
            out.extend(array_path(value).map(|path| Source { path: path.into(), option }));
        }
        if let Some(path) = &self.labels {
            out.push(Source { path: path.clone(), option: format!("--labels {}", path.display()) });
        }
        for text in &self.expected {
            let path = split_member(file_of(program, text)?).0.into();
            out.push(Source { path, option: format!("--expect {text}") });
        }
        Ok(out)
    }

    fn check(&self, out: &mut dyn Write, expected: &Expected, got: &Array) -> Result<bool> {
        let tolerance = Tolerance { rtol: self.rtol, atol: self.atol };
        let found = compare(got, &expected.array, tolerance).with_context(|| expected.option.clone())?;
        let verdict = if found.beyond == 0 { "as expected" } else { "NOT as expected" };
        writeln!(
            out,
            "{}: {verdict}: {} of {} elements off, max abs error {:.3e}",
            expected.result, found.beyond, found.count, found.max_abs_error
        )?;
        for (what, pair) in [("first", &found.first), ("worst", &found.worst)] {
            if let (Some(pair), true) = (pair, found.beyond > 0) {
                // A file with more digits than the result's type has can be off by less than one.
                let ulps = pair.ulps.filter(|ulps| *ulps > 0);
                let ulps = ulps.map_or_else(String::new, |ulps| format!(", {ulps} ulps"));
                writeln!(out, "  {what} at {:?}: got {}, expected {}{ulps}", pair.index, pair.got, pair.expected)?;
            }
        }
        Ok(found.beyond == 0)
    }
}

/// Runs a program so many times.
fn execute(
    bound: &Bound<'_>,
    repeat: u32,
    shapes: &[(String, DType, Vec<usize>)],
    context: &Context,
    trace: &Trace,
) -> Result<Runs> {
    let mut times = Vec::new();
    let mut results = Vec::new();
    let mut used = None;
    for _ in 0..repeat {
        // Those of the run before go first: there may be no memory for both.
        results.clear();
        let call = trace.step("bind", || bound.program.name.clone(), || bound.call());
        let mut call = call.map_err(|error| bound.by_options(error))?;
        for (name, dtype, shape) in shapes {
            results.push((name.clone(), result(name, *dtype, shape)?));
        }
        for ((name, array), (_, dtype, shape)) in results.iter_mut().zip(shapes) {
            call.output(name, ArrayMut::new(*dtype, shape, array.as_bytes_mut()))?;
        }
        let start = Instant::now();
        call.run(context).map_err(|error| bound.by_options(error))?;
        times.push(start.elapsed());
        used = call.memory_use().cloned();
    }
    Ok(Runs { results, times, used })
}

/// The array of a result.
fn array_of<'r>(results: &'r [(String, Array)], name: &str) -> &'r Array {
    &results.iter().find(|(n, _)| n == name).expect("results have the program's names").1
}

/// Writes results, before anything is printed: what was computed outlives a standard output that is full.
fn save<'i>(
    targets: &[Target],
    results: &[(String, Array)],
    trace: &Trace,
    ids: impl Fn(&str) -> Result<RowIds<'i>>,
) -> Result<()> {
    for Target { result, path } in targets {
        let (array, ids) = (array_of(results, result), is_table(path).then(|| ids(result)).transpose()?);
        trace.step(
            "write",
            || format!("--out {result}={}", path.display()),
            || match ids {
                Some(ids) => save_table(path, result, array, ids),
                None => save_array(path, array),
            },
        )?;
    }
    Ok(())
}

/// A ranking holds a position for each element, and sorting half of them once more.
fn check_ranking(name: &str, shapes: &[(String, DType, Vec<usize>)]) -> Result<()> {
    let elements = shapes.iter().find(|(n, ..)| n == name).map_or(0, |(_, _, shape)| bytes(DType::Bool, shape));
    Limits::room_for(elements.saturating_mul(12)).with_context(|| format!("--top {name}"))
}

/// The rounds of an iteration, if the program says them.
fn rounds(results: &[(String, Array)]) -> Option<i64> {
    let rounds = results.iter().find(|(name, array)| name == "rounds" && array.len() == 1);
    rounds.and_then(|(_, array)| array.get(0).to_string().parse().ok())
}

fn describe(out: &mut dyn Write, bound: &Bound<'_>, results: &[(String, Array)], context: &Context) -> Result<()> {
    writeln!(out, "target: {}, {} threads", bound.bundle.target(), context.threads())?;
    for (name, open) in &bound.inputs.graphs {
        let g = &open.graph;
        writeln!(out, "graph {name}: {} sources, {} destinations, {} edges", g.num_src(), g.num_dst(), g.num_edges())?;
    }
    let program = format!("{}.", bound.program.name);
    for kernel in bound.bundle.manifest().kernels.iter().filter(|k| k.symbol.starts_with(&program)) {
        let variants: Vec<String> = kernel.variants.iter().map(guarded).collect();
        writeln!(out, "kernel {}: {}", kernel.symbol, variants.join(", "))?;
    }
    if let Some(rounds) = rounds(results) {
        writeln!(out, "rounds: {rounds}")?;
    }
    Ok(())
}
