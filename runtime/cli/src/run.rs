//! `tiga run`.

use crate::inputs::{Inputs, dims};
use crate::inspect::guarded;
use crate::show;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tiga_bundle::Program;
use tiga_formats::{Array, Limits, Named, Names, Tolerance, compare, open_array, save_array};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context};

#[derive(Args)]
pub(crate) struct Run {
    /// The bundle.
    #[arg(value_name = "BUNDLE.tgb")]
    bundle: PathBuf,
    /// The program; may be left out if the bundle has only one.
    program: Option<String>,
    /// Binds a graph: .mtx, .npz, or an edge list (.txt .tsv .csv .edges .el).
    #[arg(long = "graph", value_name = "G=FILE")]
    graphs: Vec<Named>,
    /// Binds an array or number: a .npy file, FILE.npz:NAME, a number, or G.values for a graph's edge values.
    #[arg(long = "in", value_name = "X=FILE|NUMBER|G.values")]
    inputs: Vec<Named>,
    /// Gives a dimension that no input fixes.
    #[arg(long = "dim", value_name = "F=N")]
    dims: Vec<Named>,
    /// Writes a result to a file; the name may be left out if there is only one.
    #[arg(long = "out", value_name = "[RESULT=]FILE.npy")]
    outputs: Vec<String>,
    /// Worker threads; one for each core if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Compares a result with a file, and fails if an element is off by more than atol + rtol·|expected|.
    #[arg(long = "expect", value_name = "[RESULT=]FILE.npy")]
    expected: Vec<String>,
    /// Relative tolerance of --expect.
    #[arg(long, default_value_t = 0.0, requires = "expected")]
    rtol: f64,
    /// Absolute tolerance of --expect.
    #[arg(long, default_value_t = 0.0, requires = "expected")]
    atol: f64,
    /// Runs so many times, and prints the time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    repeat: Option<u32>,
    /// Prints the N largest entries of a result, with the graph's names if its file has them.
    #[arg(long, value_name = "RESULT=N")]
    top: Option<Named>,
    /// Names the target, the kernels and their variants.
    #[arg(short, long)]
    verbose: bool,
}

/// The results of the last run, and how long each run took.
struct Runs {
    results: Vec<(String, Array)>,
    times: Vec<Duration>,
}

impl Run {
    /// Whether all results are as expected.
    pub(crate) fn run(&self) -> Result<bool> {
        let bundle = Bundle::open(&self.bundle).with_context(|| self.bundle.display().to_string())?;
        let program = self.program(&bundle)?;
        let outputs = self.files(program, &self.outputs)?;
        let expected = self.files(program, &self.expected)?;
        let top = self.top.as_ref().map(|named| top_of(program, named)).transpose()?;
        let inputs = Inputs::read(program, &self.graphs, &self.inputs)?;
        let context = Context::new(self.threads.unwrap_or(0).into())?;
        let Runs { results, mut times } = self.execute(&bundle, program, &inputs, &context)?;
        if self.verbose {
            describe(&bundle, program, &results, &inputs, &context);
        }
        let array = |name: &str| &results.iter().find(|(n, _)| n == name).expect("results have the program's names").1;
        for (name, path) in &outputs {
            save_array(path, array(name))?;
        }
        if let Some((name, count)) = top {
            let names = inputs.graphs.values().find_map(|g| g.file.names.as_ref());
            let names: Option<&Names> = names.filter(|n| n.len() == array(name).len());
            show::top(name, array(name), count, names)?;
        } else if outputs.is_empty() && expected.is_empty() {
            results.iter().for_each(|(name, array)| show::result(name, array));
        }
        if self.repeat.is_some() {
            let edges = inputs.graphs.values().map(|g| g.graph.num_edges()).sum();
            show::timing(&mut times, edges, rounds(&results));
        }
        let mut good = true;
        for (name, path) in &expected {
            good &= self.check(name, array(name), path)?;
        }
        Ok(good)
    }

    fn program<'b>(&self, bundle: &'b Bundle) -> Result<&'b Program> {
        let programs = &bundle.manifest().programs;
        let names = || programs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
        match (&self.program, programs.as_slice()) {
            (Some(name), _) => match bundle.manifest().program(name) {
                Some(program) => Ok(program),
                None => bail!("the bundle has no program `{name}`; it has {}", names()),
            },
            (None, [only]) => Ok(only),
            (None, _) => bail!("the bundle has several programs, name one: {}", names()),
        }
    }

    /// `[RESULT=]FILE` with the result it means.
    fn files(&self, program: &Program, given: &[String]) -> Result<Vec<(String, PathBuf)>> {
        let mut out = Vec::new();
        for text in given {
            let known = |name: &str| program.results.iter().any(|r| r.name == name);
            match text.split_once('=') {
                Some((name, file)) if known(name) => out.push((name.to_owned(), PathBuf::from(file))),
                Some((name, _)) if !Path::new(text).exists() && !name.contains(['/', '.']) => {
                    bail!("`{}` has no result `{name}`; it has {}", program.name, results(program))
                }
                _ => match program.results.as_slice() {
                    [only] => out.push((only.name.clone(), PathBuf::from(text))),
                    _ => bail!("`{text}`: the program has several results, say which: {}", results(program)),
                },
            }
        }
        Ok(out)
    }

    fn execute(&self, bundle: &Bundle, program: &Program, inputs: &Inputs, context: &Context) -> Result<Runs> {
        let mut times = Vec::new();
        let mut results = Vec::new();
        for _ in 0..self.repeat.unwrap_or(1) {
            let mut call = bundle.call(&program.name)?;
            for (name, open) in &inputs.graphs {
                call.graph(name, &open.graph)?;
            }
            for (name, (dtype, array)) in &inputs.arrays {
                call.input(name, ArrayRef::new(*dtype, array.shape(), array.as_bytes()))?;
            }
            for (name, value) in dims(&self.dims)? {
                call.dim(name, value)?;
            }
            let mut arrays = Vec::new();
            for (name, dtype, shape) in call.result_shapes()? {
                let array = Array::zeroed(dtype, shape.clone());
                let array =
                    array.with_context(|| format!("the result `{name}` of shape {shape:?} does not fit in memory"))?;
                arrays.push((name, dtype, array));
            }
            for (name, dtype, array) in &mut arrays {
                let shape = array.shape().to_vec();
                call.output(name, ArrayMut::new(*dtype, &shape, array.as_bytes_mut()))?;
            }
            let start = Instant::now();
            call.run(context)?;
            times.push(start.elapsed());
            drop(call);
            results = arrays.into_iter().map(|(name, _, array)| (name, array)).collect();
        }
        Ok(Runs { results, times })
    }

    fn check(&self, name: &str, got: &Array, path: &Path) -> Result<bool> {
        let expected = open_array(&path.to_string_lossy(), &Limits::of_this_machine())?;
        let found = compare(got, &expected, Tolerance { rtol: self.rtol, atol: self.atol })?;
        let verdict = if found.beyond == 0 { "as expected" } else { "NOT as expected" };
        println!(
            "{name}: {verdict}: {} of {} elements off, max abs error {:.3e}",
            found.beyond, found.count, found.max_abs_error
        );
        for (what, pair) in [("first", &found.first), ("worst", &found.worst)] {
            if let (Some(pair), true) = (pair, found.beyond > 0) {
                let ulps = pair.ulps.map_or_else(String::new, |ulps| format!(", {ulps} ulps"));
                println!("  {what} at {:?}: got {}, expected {}{ulps}", pair.index, pair.got, pair.expected);
            }
        }
        Ok(found.beyond == 0)
    }
}

fn results(program: &Program) -> String {
    program.results.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(", ")
}

fn top_of<'n>(program: &Program, named: &'n Named) -> Result<(&'n str, usize)> {
    if !program.results.iter().any(|r| r.name == named.name) {
        bail!("--top: `{}` has no result `{}`; it has {}", program.name, named.name, results(program));
    }
    Ok((&named.name, named.value.parse().with_context(|| format!("--top {}: `{}`", named.name, named.value))?))
}

/// The rounds of an iteration, if the program says them.
fn rounds(results: &[(String, Array)]) -> Option<i64> {
    let rounds = results.iter().find(|(name, array)| name == "rounds" && array.len() == 1);
    rounds.and_then(|(_, array)| array.get(0).to_string().parse().ok())
}

fn describe(bundle: &Bundle, program: &Program, results: &[(String, Array)], inputs: &Inputs, context: &Context) {
    println!("target: {}, {} threads", bundle.target(), context.threads());
    for (name, open) in &inputs.graphs {
        let g = &open.graph;
        println!("graph {name}: {} sources, {} destinations, {} edges", g.num_src(), g.num_dst(), g.num_edges());
    }
    for kernel in bundle.manifest().kernels.iter().filter(|k| k.symbol.starts_with(&format!("{}.", program.name))) {
        let variants: Vec<String> = kernel.variants.iter().map(guarded).collect();
        println!("kernel {}: {}", kernel.symbol, variants.join(", "));
    }
    if let Some(rounds) = rounds(results) {
        println!("rounds: {rounds}");
    }
}
