//! `tiga run`.

use crate::inputs::Inputs;
use crate::inspect::{guarded, refuse_model};
use crate::names;
use crate::outputs::{Expected, Source, Target, Top, TopOption, expected, file_of, targets};
use crate::rows::{Labels, row_ids};
use crate::show;
use crate::trace::Trace;
use anyhow::{Context as _, Error, Result, bail};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tiga_abi::DType;
use tiga_bundle::Program;
use tiga_formats::{
    Array, Counted, GraphSource, INPUTS_HELP, Limits, Named, RowIds, Tolerance, array_path, compare, is_table,
    save_array, save_table, split_member,
};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Call, Context, Origin, RuntimeError};

/// What the options alone do not say.
const DETAILS: &str = "\
Results are printed to the standard output unless --out, --expect or --top is given: type, shape and
the first 8 elements. --out writes an array to a .npy file; to a .tsv file, a line a row, which begins
with the node or the two ends of the edge as the graph's file calls them, or the name that --labels
gives.

Exit codes: 0 done, 1 error, 2 usage, 3 a result is not as expected, 101 internal error,
130 interrupted.";

#[derive(Args)]
#[command(after_help = format!("{INPUTS_HELP}\n\n{DETAILS}"))]
#[command(override_usage = "tiga run [OPTIONS] <BUNDLE.tgb> [PROGRAM]")]
pub(crate) struct Run {
    /// The bundle.
    #[arg(value_name = "BUNDLE.tgb")]
    bundle: PathBuf,
    /// The program; may be left out if the bundle has only one.
    program: Option<String>,
    /// Binds a graph: .mtx, .npz, an edge list (.txt .tsv .csv .edges .el), or an array [2, E] of edges (.npy,
    /// .npz:NAME, .safetensors:NAME).
    #[arg(long = "graph", value_name = "G=FILE")]
    graphs: Vec<Named<GraphSource>>,
    /// Binds an array or number: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, a number, or G.values for a graph's edge values; with
    /// `:input-order` behind a file, an edge field has a row for each line of its graph's file.
    #[arg(long = "in", value_name = "X=FILE|NUMBER|G.values")]
    inputs: Vec<Named>,
    /// Gives a dimension that no input fixes.
    #[arg(long = "dim", value_name = "F=N")]
    dims: Vec<Counted>,
    /// Writes a result to a file, .npy or .tsv; the name may be left out if there is only one.
    #[arg(long = "out", value_name = "[RESULT=]FILE")]
    outputs: Vec<String>,
    /// Runs the kernels for this target of the bundle; the best that this machine can run if left out.
    #[arg(long, value_name = "CPU")]
    target: Option<String>,
    /// Worker threads; one for each core if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
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
}

/// A program with all that is bound to it.
struct Bound<'a> {
    bundle: &'a Bundle,
    program: &'a Program,
    inputs: &'a Inputs,
    dims: &'a [Counted],
    trace: &'a Trace,
}

impl Run {
    /// Whether all results are as expected.
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<bool> {
        refuse_model(&self.bundle)?;
        let trace = Trace::begin(self.trace.as_deref())?;
        let file = || self.bundle.display().to_string();
        let bundle = trace.step("load", file, || self.open()).with_context(file)?;
        let program = self.program(&bundle)?;
        names::check(program, &self.graphs, &self.inputs, &self.dims)?;
        let sources = self.sources(program)?;
        let targets = targets(program, &self.outputs, &sources)?;
        trace.check_apart(&sources, &targets)?;
        let good = self.run_program(out, &bundle, program, &targets, &trace);
        trace.finish(&self.bundle, &program.name, good)
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
        let inputs = Inputs::read(program, &self.graphs, &self.inputs, trace)?;
        let bound = Bound { bundle, program, inputs: &inputs, dims: &self.dims, trace };
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
        let context = trace.watch(Context::new(self.threads.unwrap_or(0).into())?);
        let Runs { results, mut times } = bound.execute(self.repeat.unwrap_or(1), &shapes, &context)?;
        let array = |name: &str| array_of(&results, name);
        save(targets, &results, trace, ids)?;
        if self.verbose {
            describe(out, &bound, &results, &context)?;
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

    fn open(&self) -> Result<Bundle, RuntimeError> {
        let bundle = Bundle::open(&self.bundle)?;
        self.target.as_ref().map_or(Ok(bundle.clone()), |target| bundle.with_target(target))
    }

    fn program<'b>(&self, bundle: &'b Bundle) -> Result<&'b Program> {
        let programs = &bundle.manifest().programs;
        let names = || programs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
        match (&self.program, programs.as_slice()) {
            (_, []) => bail!("{}: the bundle has no program", self.bundle.display()),
            (Some(name), _) => match bundle.manifest().program(name) {
                Some(program) => Ok(program),
                None => bail!("the bundle has no program `{name}`; it has {}", names()),
            },
            (None, [only]) => Ok(only),
            (None, _) => bail!("the bundle has several programs, name one: {}", names()),
        }
    }

    /// The files that are read, whether or not they are there.
    fn sources(&self, program: &Program) -> Result<Vec<Source>> {
        let mut out = vec![Source { path: self.bundle.clone(), option: "the bundle".into() }];
        for Named { name, value } in &self.graphs {
            let option = format!("--graph {name}={value}");
            out.extend(value.path().map(|path| Source { path: path.into(), option }));
        }
        for Named { name, value } in &self.inputs {
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

impl<'a> Bound<'a> {
    fn call(&self) -> Result<Call<'a>, RuntimeError> {
        let mut call = self.bundle.call(&self.program.name)?;
        for (name, open) in &self.inputs.graphs {
            call.graph(name, &open.graph)?;
        }
        for (name, (dtype, array)) in &self.inputs.arrays {
            call.input(name, ArrayRef::new(*dtype, array.shape(), array.as_bytes()))?;
        }
        for Counted { name, value } in self.dims {
            call.dim(name, *value)?;
        }
        Ok(call)
    }

    /// Types and shapes of the results, which those expected have, and which there is memory for.
    fn shapes(&self, expected: &[Expected]) -> Result<Vec<(String, DType, Vec<usize>)>> {
        let shapes = self.call().and_then(|call| call.result_shapes()).map_err(|error| self.by_options(error))?;
        for one in expected {
            let of = shapes.iter().find(|(name, ..)| *name == one.result);
            let (name, dtype, shape) = of.expect("results have the program's names");
            if one.array.shape() != shape {
                bail!("{}: expected {dtype}{shape:?} for `{name}`, found {:?}", one.option, one.array.shape());
            }
        }
        let all = shapes.iter().fold(0_u64, |sum, (_, dtype, shape)| sum.saturating_add(bytes(*dtype, shape)));
        if let Err(short) = Limits::room_for(all) {
            bail!(too_large(&shapes, all, short.limit));
        }
        Ok(shapes)
    }

    fn execute(&self, repeat: u32, shapes: &[(String, DType, Vec<usize>)], context: &Context) -> Result<Runs> {
        let mut times = Vec::new();
        let mut results = Vec::new();
        for _ in 0..repeat {
            // Those of the run before go first: there may be no memory for both.
            results.clear();
            let call = self.trace.step("bind", || self.program.name.clone(), || self.call());
            let mut call = call.map_err(|error| self.by_options(error))?;
            for (name, dtype, shape) in shapes {
                let array = Array::zeroed(*dtype, shape.clone()).ok_or_else(|| {
                    let one = [(name.clone(), *dtype, shape.clone())];
                    Error::msg(too_large(&one, bytes(*dtype, shape), Limits::of_this_machine().memory))
                })?;
                results.push((name.clone(), array));
            }
            for ((name, array), (_, dtype, shape)) in results.iter_mut().zip(shapes) {
                call.output(name, ArrayMut::new(*dtype, shape, array.as_bytes_mut()))?;
            }
            let start = Instant::now();
            call.run(context).map_err(|error| self.by_options(error))?;
            times.push(start.elapsed());
        }
        Ok(Runs { results, times })
    }

    /// A refusal of the runtime in the words of the command line.
    fn by_options(&self, error: RuntimeError) -> Error {
        match error {
            RuntimeError::Unbound(size) => {
                anyhow::anyhow!("no input fixes the size `{size}`: give it with --dim {size}=N")
            }
            RuntimeError::Conflict { symbol, first, first_origin, second, second_origin } => {
                let place = |origin: &Origin, value| match origin {
                    Origin::Given => format!("--dim {symbol}={value}"),
                    other => other.to_string(),
                };
                let (one, other) = (place(&first_origin, first), place(&second_origin, second));
                let advice = [&first_origin, &second_origin].into_iter().find_map(|origin| self.count_nodes(origin));
                anyhow::anyhow!("{symbol} is {first} by {one}, but {second} by {other}{}", advice.unwrap_or_default())
            }
            other => other.into(),
        }
    }

    /// How to say the number of nodes, where a size comes of a file that does not.
    fn count_nodes(&self, origin: &Origin) -> Option<String> {
        let Origin::Graph { what: "sources" | "destinations", parameter } = origin else { return None };
        let file = &self.inputs.graphs.get(parameter)?.file;
        if !file.sized_by_ids {
            return None;
        }
        let from_zero =
            file.csr.num_dst() == 0 || !file.csr.row(0).is_empty() || file.csr.col().iter().any(|source| source == 0);
        Some(if from_zero {
            format!(
                "; the file of `{parameter}` does not say how many nodes there are: :nodes=N behind its name does, \
                 or :nodes=N,M for N sources and M destinations"
            )
        } else {
            format!("; no edge in the file of `{parameter}` has node 0: nodes are numbered from 0, not from 1")
        })
    }
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

/// Bytes of an array; as many as can be said if they are more.
fn bytes(dtype: DType, shape: &[usize]) -> u64 {
    let zero = shape.contains(&0);
    let count = shape.iter().fold(u64::from(!zero), |count, extent| count.saturating_mul(*extent as u64));
    count.saturating_mul(dtype.bytes() as u64)
}

/// `all` bytes of results, of which `available` may be used.
fn too_large(results: &[(String, DType, Vec<usize>)], all: u64, available: u64) -> String {
    let largest = results.iter().max_by_key(|(_, dtype, shape)| bytes(*dtype, shape));
    let (name, dtype, shape) = largest.expect("what needs memory is a result");
    match results {
        [_] => format!("the result `{name}`: {dtype}{shape:?} needs {all} bytes of memory, {available} may be used"),
        _ => format!(
            "the results need {all} bytes of memory, {available} may be used; the largest is `{name}`: {dtype}{shape:?}"
        ),
    }
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
