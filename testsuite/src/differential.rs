//! One random program, all roads: compiled and run, against the interpreter that defines it.

use crate::generator::{Coverage, Generated, GraphShape, Inputs, inputs, program, random_graph};
use fastrand::Rng;
use rayon::prelude::*;
use tiga_abi::{CpuTarget, FpMode};
use tiga_backend_llvm::OptLevel;
use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
use tiga_formats::Array;
use tiga_ir::interp::{Options, Tensor, Value, run_domain, run_host};
use tiga_ir::{Func, Module, SymKind, print_module};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context, Graph, UnitOrder};
use tigac::pack::{CompileOptions, compile, contents};

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
        report.failures.push(format!("seed {seed}: {difference}\n{}", print_module(&generated.module)));
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

fn one(rng: &mut Rng, generated: &Generated, report: &mut Report) -> Result<(), String> {
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
    let roads = [Road::new(generated, strict)?, Road::new(generated, fast)?];
    for _ in 0..3 {
        let shape = GraphShape::ALL[[0, 0, 0, 1, 1, 2, 3][rng.usize(0..7)]];
        let nodes = 1 + rng.usize(0..12);
        let csr = random_graph(rng, shape, nodes);
        let inputs = inputs(rng, generated, csr);
        for road in &roads {
            road.compare(generated, &inputs, report)?;
        }
    }
    Ok(())
}

/// A program compiled in one mode.
struct Road {
    options: CompileOptions,
    loops: Module,
    bundle: Bundle,
}

impl Road {
    fn new(generated: &Generated, options: CompileOptions) -> Result<Self, String> {
        let compilation = compile(&generated.module, &options).map_err(|e| format!("compiling: {e}"))?;
        let programs = vec![manifest_of(generated.func())];
        let contents = contents(&compilation, programs, &options).map_err(|e| format!("packing: {e}"))?;
        let bytes = tiga_bundle::write(&contents).map_err(|e| format!("writing: {e}"))?;
        let bundle = Bundle::from_bytes(bytes).map_err(|e| format!("opening: {e}"))?;
        Ok(Self { options, loops: compilation.loops, bundle })
    }

    fn compare(&self, generated: &Generated, inputs: &Inputs, report: &mut Report) -> Result<(), String> {
        let expected = match self.options.law.fp {
            FpMode::Strict => run_domain(&generated.module, "p", &inputs.values),
            FpMode::Default => {
                let mut options = Options::default();
                options.sizes.insert("F".into(), inputs.features as i64);
                run_host(&self.loops, "p", &mut inputs.values.clone(), &options)
            }
        };
        let expected = expected.map_err(|e| format!("interpreting {:?}: {e}", self.options.law.fp))?;
        let got = self.run(generated, inputs)?;
        report.runs += 1;
        for ((name, _), (got, expected)) in generated.func().results.iter().zip(got.iter().zip(&expected)) {
            let expected = match expected {
                Value::Buffer(buffer) => buffer.tensor().map_err(|i| format!("{name}[{i}] was never written"))?,
                Value::Tensor(tensor) => tensor.clone(),
                Value::Rel(_) => return Err("a relation as a result".into()),
            };
            if !got.same(&expected) {
                let at = (0..expected.elems().len()).find(|i| !got.elems()[*i].same(expected.elems()[*i]));
                let at = at.unwrap_or(0);
                return Err(format!(
                    "{:?}: {name}[{at}] of {:?} is {}, expected {} (F = {}, {} nodes, {} edges)",
                    self.options.law,
                    expected.shape(),
                    got.elems()[at],
                    expected.elems()[at],
                    inputs.features,
                    inputs.csr.num_dst(),
                    inputs.csr.num_edges(),
                ));
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

    fn run(&self, generated: &Generated, inputs: &Inputs) -> Result<Vec<Tensor>, String> {
        let error = |e: tiga_runtime::RuntimeError| format!("running: {e}");
        let func = generated.func();
        let graph = Graph::new(&inputs.csr).map_err(error)?;
        let context = Context::new(2).map_err(error)?.with_order(UnitOrder::Shuffled(inputs.features as u64 + 1));
        let bytes: Vec<Vec<u64>> = inputs.values.iter().map(aligned).collect();
        let mut call = self.bundle.call("p").map_err(error)?;
        for (i, value) in inputs.values.iter().enumerate() {
            let name = func.param_name(i);
            match value {
                Value::Tensor(tensor) => {
                    let length = tensor.elems().len() * tensor.dtype().bytes();
                    let view = &bytemuck::cast_slice(&bytes[i])[..length];
                    call.input(name, ArrayRef::new(tensor.dtype(), tensor.shape(), view)).map_err(error)?;
                }
                _ => {
                    call.graph(name, &graph).map_err(error)?;
                }
            }
        }
        // A dimension that only results mention is fixed by nobody else.
        let mentioned = |s: &str| func.symbols.contains_key(s);
        if mentioned("F") {
            call.dim("F", inputs.features as i64).map_err(error)?;
        }
        let shapes = call.result_shapes().map_err(error)?;
        let mut arrays: Vec<Array> =
            shapes.iter().map(|(_, d, s)| Array::zeroed(*d, s.clone()).expect("results are small")).collect();
        for ((name, dtype, shape), array) in shapes.iter().zip(&mut arrays) {
            call.output(name, ArrayMut::new(*dtype, shape, array.as_bytes_mut())).map_err(error)?;
        }
        call.run(&context).map_err(error)?;
        drop(call);
        let tensor = |((_, dtype, shape), array): (&(String, _, Vec<usize>), &Array)| {
            Tensor::from_bytes(*dtype, shape, array.as_bytes()).expect("an array has its shape's bytes")
        };
        Ok(shapes.iter().zip(&arrays).map(tensor).collect())
    }
}

/// The bytes of a value, aligned for any element.
fn aligned(value: &Value) -> Vec<u64> {
    let bytes = value.as_tensor().map(Tensor::to_bytes).unwrap_or_default();
    let word = |chunk: &[u8]| {
        let mut word = [0u8; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}

/// What a manifest says of a domain function.
pub fn manifest_of(func: &Func) -> Program {
    let ty = |ty: &tiga_ir::Type| match ty {
        tiga_ir::Type::Rel(r) => Type::Graph { src: r.src.clone(), dst: r.dst.clone(), edges: r.edges.clone() },
        other => {
            let t = other.as_tensor().expect("programs take relations and tensors");
            Type::Tensor { dtype: t.dtype, shape: t.extents() }
        }
    };
    let param = |name: &str, t: &tiga_ir::Type| Param { name: name.into(), doc: String::new(), ty: ty(t) };
    let kind = |k: &SymKind| match k {
        SymKind::Set => SymbolKind::Set,
        SymKind::Edges => SymbolKind::Edges,
        SymKind::Dim | SymKind::Bound(_) => SymbolKind::Dim,
    };
    let symbol = |(name, k): (&tiga_abi::Symbol, &SymKind)| SymbolDecl {
        name: name.clone(),
        kind: kind(k),
        origin: String::new(),
    };
    let params = func.params().iter().enumerate();
    Program {
        name: func.name.to_string(),
        doc: String::new(),
        symbols: func.symbols.iter().map(symbol).collect(),
        params: params.map(|(i, v)| param(func.param_name(i), func.body.ty(*v))).collect(),
        results: func.results.iter().map(|(name, t)| param(name, t)).collect(),
        plan: format!("plans/{}.json", func.name),
    }
}
