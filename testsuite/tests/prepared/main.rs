//! A prepared program allocates nothing: an allocator counts, over a thousand runs with new numbers and changing sizes,
//! on all threads, and every result is that of an ordinary run, bit for bit.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod counting;

use counting::{Counting, NAME};
use fastrand::Rng;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use testsuite::road::{Road, example, model};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_bundle::{Param, Type};
use tiga_formats::{Csr, Indices};
use tiga_ir::Module;
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Call, Context, Graph, LogLevel, RuntimeError};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

/// Only one test counts at a time, and no other test runs then.
static ALONE: Mutex<()> = Mutex::new(());

const RUNS: usize = 1000;

/// A loop with a branch on a field in it, a branch on a number before it, the transpose, self-loops, temporaries whose
/// lives end at different times, and sums over long rows.
const PATHS: &str = "
message pass(src: {r: f64, d: f64}) -> f64 { edge { src.r / max(src.d, 1.0) } reduce sum }
message wide<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { edge.w * src.x } reduce sum }
program paths<F>(g: graph<N>, r: f64[N], w: f32[g.edges], v: f32[N, F], steps: i64)
    -> (out: f64[N], sums: f32[F], whole: f64) {
    let (d, h) = (f64(out_degree(g)), add_self_loops(g));
    let first = if steps > 2 { r * 2.0 } else { pass(h, src: {r, d}) };
    let last = loop (x = first) for k < steps {
        let y = pass(g, src: {r: x, d});
        if sum(y) > 0.0 { y + x * 0.5 } else { pass(g, src: {r: y, d}) }
    } in x;
    let a = wide(g, src: {x: v}, edge: {w});
    let b = wide(g, src: {x: exp(min(a, 0.0))}, edge: {w});
    (last, sum(a * b, axis: 0), sum(last))
}
";

/// A program with inputs of several sizes.
struct Case {
    bundle: Bundle,
    program: &'static str,
    samples: Vec<Sample>,
}

/// Inputs of one size, which get new numbers for each run, and results of two runs.
struct Sample {
    graphs: Vec<(String, Graph)>,
    /// Where the diagonal of the graph is.
    diagonal: Vec<bool>,
    inputs: Vec<Field>,
    prepared: Vec<Field>,
    ordinary: Vec<Field>,
}

/// An array by its name.
#[derive(Clone)]
struct Field {
    name: String,
    dtype: DType,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

/// A ring whose nodes also have an edge from themselves and from the one behind: symmetric. With `long`, the first row
/// has so many more.
fn graph(nodes: usize, long: usize) -> (Graph, Vec<bool>) {
    let (mut row_ptr, mut col, mut diagonal) = (vec![0i64], Vec::new(), Vec::new());
    for row in 0..nodes {
        let mut add = |source: usize| {
            col.push(source as i32);
            diagonal.push(source == row);
        };
        [row + nodes - 1, row, row + 1].into_iter().for_each(|source| add(source % nodes));
        (0..if row == 0 { long } else { 0 }).for_each(|i| add(i * 7 % nodes));
        row_ptr.push(col.len() as i64);
    }
    (Graph::new(&Csr::from_csr(row_ptr, Indices::I32(col), None).unwrap()).unwrap(), diagonal)
}

impl Case {
    fn new(module: Module, program: &'static str, long: usize, sizes: &[(usize, &[(&str, i64)])]) -> Self {
        let road = Road::of_domain(&module, CompileOptions::new(CpuTarget::Native, FpMode::Default)).unwrap();
        let bundle = road.bundle;
        let samples = sizes.iter().map(|(nodes, dims)| Sample::new(&bundle, program, *nodes, long, dims)).collect();
        Self { bundle, program, samples }
    }

    /// The largest value of each size over all samples.
    fn largest(&self) -> Vec<(String, i64)> {
        let symbols = &self.bundle.manifest().program(self.program).unwrap().symbols;
        let names = symbols.iter().map(|symbol| symbol.name.to_string());
        names.map(|name| (name.clone(), self.samples.iter().map(|s| s.size(self, &name)).max().unwrap())).collect()
    }

    /// Counts allocations over all runs, on a context.
    fn count(&mut self, context: &Context) -> u64 {
        let largest = self.largest();
        let sizes: Vec<(&str, i64)> = largest.iter().map(|(name, value)| (name.as_str(), *value)).collect();
        let mut prepared = self.bundle.prepare(self.program, &sizes, context).unwrap();
        for sample in &self.samples {
            let mut call = prepared.call();
            sample.graphs.iter().for_each(|(name, graph)| _ = call.graph(name, graph).unwrap());
            call.derive().unwrap();
        }
        let (mut rng, mut allocations) = (Rng::with_seed(5), 0);
        for run in 0..RUNS {
            let count = self.samples.len();
            let sample = &mut self.samples[run % count];
            sample.renew(&mut rng);
            let (outcome, counted) = ALLOCATOR.during(|| sample.run(prepared.call(), true, context));
            outcome.unwrap();
            allocations += counted;
            sample.run(self.bundle.call(self.program).unwrap(), false, context).unwrap();
            for (got, expected) in sample.prepared.iter().zip(&sample.ordinary) {
                assert!(got.bytes == expected.bytes, "run {run} of `{}`: `{}` differs", self.program, got.name);
            }
        }
        allocations
    }
}

impl Sample {
    fn new(bundle: &Bundle, program: &str, nodes: usize, long: usize, dims: &[(&str, i64)]) -> Self {
        let program = bundle.manifest().program(program).unwrap();
        let (graph, diagonal) = graph(nodes, long);
        let size = |name: &str| match name {
            "N" => Some(nodes as i64),
            name if name.ends_with(".edges") => Some(graph.num_edges() as i64),
            name => dims.iter().find(|(dim, _)| *dim == name).map(|(_, value)| *value),
        };
        let array = |param: &Param| match &param.ty {
            Type::Graph { .. } => None,
            Type::Tensor { dtype, shape } => {
                let shape: Vec<usize> = shape.iter().map(|extent| extent.eval(&size).unwrap() as usize).collect();
                let bytes = vec![0; dtype.bytes() * shape.iter().product::<usize>()];
                Some(Field { name: param.name.clone(), dtype: *dtype, shape, bytes })
            }
        };
        let graphs = program.params.iter().filter(|param| matches!(param.ty, Type::Graph { .. }));
        let graphs = graphs.map(|param| (param.name.clone(), graph.clone())).collect();
        let inputs = program.params.iter().filter_map(array).collect();
        let [prepared, ordinary] = [(); 2].map(|()| program.results.iter().filter_map(array).collect());
        Self { graphs, diagonal, inputs, prepared, ordinary }
    }

    /// The value of a size of a program.
    fn size(&self, case: &Case, name: &str) -> i64 {
        let program = case.bundle.manifest().program(case.program).unwrap();
        let graph = &self.graphs[0].1;
        match name {
            "N" => graph.num_src() as i64,
            name if name.ends_with(".edges") => graph.num_edges() as i64,
            name => {
                let found = self.inputs.iter().filter_map(|field| {
                    let param = program.params.iter().find(|param| param.name == field.name)?;
                    let Type::Tensor { shape, .. } = &param.ty else { return None };
                    let axis = shape.iter().position(|e| e.as_symbol().is_some_and(|symbol| **symbol == *name))?;
                    Some(field.shape[axis] as i64)
                });
                found.max().unwrap_or_else(|| panic!("`{name}` is no extent"))
            }
        }
    }

    /// New numbers. `a` is a matrix to be solved, `steps` a number of rounds, `tol` a tolerance.
    fn renew(&mut self, rng: &mut Rng) {
        let scale = rng.f64() + 0.5;
        for Field { name, dtype, bytes, .. } in &mut self.inputs {
            let mut number = |i: usize| match name.as_str() {
                "a" if self.diagonal[i] => 2.5 * scale,
                "a" => -scale,
                "tol" => 0.02,
                _ => rng.f64() * 4.0 - 2.0,
            };
            match dtype {
                DType::F64 => fill(bytes, |i| number(i).to_le_bytes()),
                DType::F32 => fill(bytes, |i| (number(i) as f32).to_le_bytes()),
                DType::I64 => fill(bytes, |_| rng.i64(0..6).to_le_bytes()),
                other => panic!("{other} as input"),
            }
        }
    }

    /// Binds everything to a call, and runs it.
    fn run<'a>(&'a mut self, mut call: Call<'a>, prepared: bool, context: &Context) -> Result<(), RuntimeError> {
        for (name, graph) in &self.graphs {
            call.graph(name, graph)?;
        }
        for field in &self.inputs {
            call.input(&field.name, ArrayRef::new(field.dtype, &field.shape, &field.bytes))?;
        }
        let results = if prepared { &mut self.prepared } else { &mut self.ordinary };
        for field in results {
            call.output(&field.name, ArrayMut::new(field.dtype, &field.shape, &mut field.bytes))?;
        }
        call.run(context)
    }
}

/// Writes elements of so many bytes.
fn fill<const BYTES: usize>(bytes: &mut [u8], mut element: impl FnMut(usize) -> [u8; BYTES]) {
    bytes.chunks_exact_mut(BYTES).enumerate().for_each(|(i, place)| place.copy_from_slice(&element(i)));
}

fn paths() -> Module {
    model("paths.tg", PATHS, &SemaOptions::default()).unwrap()
}

fn cases() -> Vec<Case> {
    let of = |name: &str| example(name, &SemaOptions::default()).unwrap();
    let gcn: [(usize, &[(&str, i64)]); 3] = [
        (2600, &[("F", 6), ("H", 5), ("C", 3)]),
        (40, &[("F", 6), ("H", 5), ("C", 3)]),
        (2100, &[("F", 3), ("H", 4), ("C", 1)]),
    ];
    let gat: [(usize, &[(&str, i64)]); 3] = [
        (2300, &[("F", 3), ("H", 2), ("D", 3), ("K", 1), ("C", 4)]),
        (7, &[("F", 2), ("H", 1), ("D", 2), ("K", 1), ("C", 4)]),
        (1500, &[("F", 3), ("H", 2), ("D", 1), ("K", 1), ("C", 2)]),
    ];
    let paths_sizes: [(usize, &[(&str, i64)]); 4] =
        [(2500, &[("F", 4)]), (3, &[("F", 1)]), (2060, &[("F", 3)]), (900, &[("F", 0)])];
    vec![
        Case::new(of("gcn.tg"), "gcn", 1200, &gcn),
        Case::new(of("gat.tg"), "gat", 700, &gat),
        Case::new(of("cg.tg"), "cg", 0, &[(2400, &[]), (5, &[]), (2048, &[])]),
        Case::new(paths(), "paths", 1500, &paths_sizes),
    ]
}

/// Runs something alone, on a thread of which is counted what it allocates.
fn alone(work: impl FnOnce() + Send) {
    let _only = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name(format!("{NAME}test"));
        thread.spawn_scoped(scope, work).unwrap().join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
}

#[test]
fn a_thousand_runs_allocate_nothing() {
    alone(|| {
        for mut case in cases() {
            for context in [Context::on_caller(), Context::new(2).unwrap()] {
                let (program, threads) = (case.program, context.threads());
                let allocations = case.count(&context);
                println!("{program} on {threads} threads: {allocations} allocations in {RUNS} runs");
                assert_eq!(allocations, 0, "{program} on {threads} threads");
            }
        }
    });
}

/// What is counted is counted: ordinary runs allocate, and threads of pools are seen.
#[test]
fn the_counter_counts() {
    alone(|| {
        let context = Context::new(2).unwrap();
        let mut case = Case::new(paths(), "paths", 0, &[(2500, &[("F", 4)])]);
        let sample = &mut case.samples[0];
        sample.renew(&mut Rng::with_seed(1));
        let run = |sample: &mut Sample, context: &Context| {
            sample.run(case.bundle.call("paths").unwrap(), false, context).unwrap();
        };
        run(sample, &context);
        assert!(ALLOCATOR.during(|| run(sample, &context)).1 > 20);
        let here = std::thread::current().id();
        // This thread works too, and would do all the work of a launch before another is up: it waits for one.
        let seen = AtomicBool::new(false);
        let context = context.with_trace(move |span| {
            if !matches!(span.work, tiga_runtime::Work::Chunk { .. }) {
                return;
            }
            if std::thread::current().id() != here {
                drop(std::hint::black_box(vec![0u8; 64 << 20]));
                seen.store(true, SeqCst);
            }
            let begin = Instant::now();
            while !seen.load(SeqCst) && begin.elapsed() < Duration::from_secs(1) {
                std::thread::yield_now();
            }
        });
        let ((), counted) = ALLOCATOR.during(|| {
            let sizes = [("N", 2500), ("g.edges", 7500), ("F", 4)];
            let mut prepared = case.bundle.prepare("paths", &sizes, &Context::new(2).unwrap()).unwrap();
            drop(prepared.call());
        });
        assert!(counted > 10, "preparing allocates");
        let sizes = [("N", 2500), ("g.edges", 7500), ("F", 4)];
        let mut prepared = case.bundle.prepare("paths", &sizes, &context).unwrap();
        let ((), counted) = ALLOCATOR.during(|| sample.run(prepared.call(), true, &context).unwrap());
        assert!(counted > 0, "threads of a pool are seen");
    });
}

/// Refused, with what was prepared and what was given; what fits runs afterwards.
#[test]
fn what_is_beyond_is_refused_by_name() {
    alone(|| {
        let context = Context::new(1).unwrap();
        let sizes: [(usize, &[(&str, i64)]); 2] = [(30, &[("F", 4)]), (10, &[("F", 5)])];
        let mut case = Case::new(paths(), "paths", 3, &sizes);
        let prepare = |sizes: &[(&str, i64)]| case.bundle.prepare("paths", sizes, &context);
        let refused = |outcome: Result<(), RuntimeError>| outcome.unwrap_err().to_string();
        let missing = prepare(&[("N", 30), ("F", 4)]).map(drop);
        assert_eq!(refused(missing), "no input fixes the size `g.edges`: give it a value");
        let unknown = prepare(&[("M", 30)]).map(drop);
        assert_eq!(refused(unknown), "`paths` has no size `M`; it has `F`, `N`, `g.edges`");
        assert!(matches!(prepare(&[("N", -1)]).map(drop), Err(RuntimeError::Negative { .. })));
        let huge = prepare(&[("N", 1 << 46), ("g.edges", 1 << 46), ("F", 1)]).map(drop);
        assert!(matches!(huge, Err(RuntimeError::Memory { .. })), "{huge:?}");
        let all = [("N", 30), ("g.edges", 93), ("F", 4)];
        let mut prepared = prepare(&all).unwrap();
        assert!(prepared.bytes() > 0);
        let [small, wide] = &mut case.samples[..] else { panic!("two samples") };
        small.renew(&mut Rng::with_seed(3));
        let text = refused(small.run(prepared.call(), true, &context));
        let end = "is not yet derived of the graph, and a prepared run makes nothing: derive it before the run";
        assert!(text.ends_with(end), "{text}");
        for sample in [&*small, &*wide] {
            let mut call = prepared.call();
            call.graph("g", &sample.graphs[0].1).unwrap().derive().unwrap();
        }
        let text = refused(wide.run(prepared.call(), true, &context));
        assert_eq!(text, "F is 5 by axis 1 of `v`, but the program is prepared for at most 4");
        let two = Context::new(2).unwrap();
        let text = refused(small.run(prepared.call(), true, &two));
        assert_eq!(text, "the context has 2 threads, but the program is prepared for at most 1");
        small.run(prepared.call(), true, &context).unwrap();
        small.run(case.bundle.call("paths").unwrap(), false, &context).unwrap();
        assert!(small.prepared.iter().zip(&small.ordinary).all(|(a, b)| a.bytes == b.bytes));
        // One call may run again and again, and what is bound to it stays bound to it alone.
        let nothing = refused(prepared.call().run(&context));
        assert!(nothing.starts_with("not bound: `g`, "), "{nothing}");
    });
}

/// Memory, log and cancelling are those of every call.
#[test]
fn a_prepared_call_is_a_call() {
    alone(|| {
        let lines = std::sync::Arc::new(Mutex::new(Vec::new()));
        let told = lines.clone();
        let log = move |_, line: &str| told.lock().unwrap().push(line.to_owned());
        let context = Context::on_caller().with_log(LogLevel::Info, log);
        let mut case = Case::new(paths(), "paths", 3, &[(30, &[("F", 4)])]);
        let mut prepared = case.bundle.prepare("paths", &[("N", 30), ("g.edges", 93), ("F", 4)], &context).unwrap();
        let held = prepared.bytes();
        let sample = &mut case.samples[0];
        sample.renew(&mut Rng::with_seed(3));
        let mut call = prepared.call();
        call.graph("g", &sample.graphs[0].1).unwrap().derive().unwrap();
        sample.run(prepared.call(), true, &context).unwrap();
        let lines = std::mem::take(&mut *lines.lock().unwrap());
        let begin = format!("`paths` with F = 4, N = 30, g.edges = 93 on 1 threads, {held} bytes of temporaries");
        assert_eq!(lines[0], begin);
        assert!(lines[1].starts_with("`paths` is done after "), "{lines:?}");
        let token = tiga_runtime::CancelToken::new();
        token.cancel();
        let mut call = prepared.call();
        call.cancelled_by(&token);
        assert!(matches!(sample.run(call, true, &context), Err(RuntimeError::Cancelled)));
    });
}

/// Bytes that begin so far behind a multiple of 64.
struct Shifted {
    bytes: Vec<u8>,
    begin: usize,
    len: usize,
}

impl Shifted {
    fn new(bytes: &[u8], behind: usize) -> Self {
        let mut all = vec![0xa5; bytes.len() + 128];
        let begin = (64 - all.as_ptr().addr() % 64) % 64 + behind;
        all[begin..begin + bytes.len()].copy_from_slice(bytes);
        Self { bytes: all, begin, len: bytes.len() }
    }

    fn get(&self) -> &[u8] {
        &self.bytes[self.begin..][..self.len]
    }

    fn get_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.begin..][..self.len]
    }
}

/// Borrowed arrays begin at any multiple of their elements, and at nothing else.
#[test]
fn arrays_of_hosts_are_aligned_to_their_elements_and_no_more() {
    alone(|| {
        let context = Context::new(2).unwrap();
        for mut case in cases() {
            let largest = case.largest();
            let sizes: Vec<(&str, i64)> = largest.iter().map(|(name, value)| (name.as_str(), *value)).collect();
            let mut prepared = case.bundle.prepare(case.program, &sizes, &context).unwrap();
            let sample = &mut case.samples[0];
            sample.renew(&mut Rng::with_seed(8));
            let call = case.bundle.call(case.program).unwrap();
            sample.run(call, false, &context).unwrap();
            let shift = |field: &Field| Shifted::new(&field.bytes, field.dtype.bytes());
            let inputs: Vec<Shifted> = sample.inputs.iter().map(shift).collect();
            let bind = |call: Call<'_>| {
                // What is bound lives here only.
                let mut call: Call<'_> = call;
                for (name, graph) in &sample.graphs {
                    call.graph(name, graph).unwrap();
                }
                for (field, array) in sample.inputs.iter().zip(&inputs) {
                    call.input(&field.name, ArrayRef::new(field.dtype, &field.shape, array.get())).unwrap();
                }
                let mut results: Vec<Shifted> = sample.prepared.iter().map(shift).collect();
                for (field, array) in sample.prepared.iter().zip(&mut results) {
                    call.output(&field.name, ArrayMut::new(field.dtype, &field.shape, array.get_mut())).unwrap();
                }
                call.run(&context).unwrap();
                drop(call);
                for (field, got) in sample.ordinary.iter().zip(&results) {
                    assert!(got.get() == field.bytes, "`{}` of `{}` differs", field.name, case.program);
                    let mut outside = got.bytes[..got.begin].iter().chain(&got.bytes[got.begin + got.len..]);
                    assert!(outside.all(|byte| *byte == 0xa5), "{}: written beside", field.name);
                }
            };
            bind(case.bundle.call(case.program).unwrap());
            bind(prepared.call());
            // Half an element further there is none.
            let field = &sample.inputs[0];
            let odd = Shifted::new(&field.bytes, field.dtype.bytes() / 2);
            let mut call = prepared.call();
            let refused = call.input(&field.name, ArrayRef::new(field.dtype, &field.shape, odd.get())).map(drop);
            assert!(matches!(refused, Err(RuntimeError::Alignment(name)) if name == field.name));
        }
        // Strides are refused where the array is made: every second row of a matrix is no array.
        let rows = [0f32; 24].map(f32::to_le_bytes).concat();
        let strided = |strides: &[isize]| ArrayRef::strided("x", DType::F32, &[3, 4], strides, &rows[..48]);
        assert!(strided(&[4, 1]).is_ok());
        for strides in [[8, 1], [1, 3], [4, -1], [0, 1]] {
            assert!(matches!(strided(&strides), Err(RuntimeError::Strides(name)) if name == "x"), "{strides:?}");
        }
    });
}
