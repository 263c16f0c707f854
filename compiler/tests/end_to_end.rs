//! The whole road from a domain module to numbers: compiled, packed, opened, run.
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used)]

use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
use tiga_formats::{Csr, Indices};
use tiga_ir::interp::{Options, Relation, Tensor, Value, run_domain, run_host};
use tiga_ir::{Func, SymKind, parse_module};
use tiga_runtime::{ArrayMut, ArrayRef, Bundle, Context, Graph, UnitOrder};
use tigac::pack::{CompileOptions, compile, contents};

const REDUCERS: &str = r#"
reducer @sum.f32 state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) { %r = add %a, %b : f32 yield %r }
  finalize (%s: f32) { yield %s }
}
reducer @sum.f64 state(s: f64 = -0.0) -> (f64 = 0.0) laws(associative, commutative) {
  lift (%x: f64) { yield %x }
  combine (%a: f64, %b: f64) { %r = add %a, %b : f64 yield %r }
  finalize (%s: f64) { yield %s }
}
"#;

const HEAT: &str = r#"
domain @heat<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %T: f32[S, F], %b: f32[D], %c: f32[E]) -> (out: f32[D, F]) {
  %out = apply %g, %T, %b, %c roles(src, dst, edge) targets(row @sum.f32) (%t: f32[F], %b0: f32, %w: f32) {
    %m = mul %w, %t : f32[F]
    yield %m
  } (%total: f32[F], %b0: f32) {
    %o = add %total, %b0 : f32[F]
    yield %o
  } : f32[D, F]
  return %out
}
"#;

const PAGERANK: &str = r#"
domain @pagerank<set N, edges E>(%g: graph<csr, N -> N, E>, %damping: f64, %tol: f64) -> (rank: f64[N], rounds: i64) {
  %len = len dims(i64[N]) : i64
  %n = cast %len to(f64) : f64
  %t = transpose %g : graph<transpose, N -> N, E>
  %deg = degree %t : i64[N]
  %d = cast %deg to(f64) : f64[N]
  %one = const value(f64 1.0) : f64
  %zero = const value(f64 0.0) : f64
  %start = div %one, %n : f64
  %r0 = fill %start dims(f64[N]) : f64[N]
  %inf = const value(f64 inf) : f64
  %k0 = const value(i64 0) : i64
  %r, %delta, %k = while %r0, %inf, %k0 at_most(200) (%r: f64[N], %delta: f64, %k: i64) {
    %go = gt %delta, %tol : bool
    yield %go
  } (%r: f64[N], %delta: f64, %k: i64) {
    %sink = eq %d, %zero : bool[N]
    %lost = select %sink, %r, %zero : f64[N]
    %dangling = reduce_set %lost with(@sum.f64) : f64
    %keep = sub %one, %damping : f64
    %spread = mul %damping, %dangling : f64
    %mass = add %keep, %spread : f64
    %share = div %mass, %n : f64
    %next = apply %g, %r, %d, %damping, %share roles(src, src, param, param) targets(row @sum.f64) (%x: f64, %dx: f64, %da: f64, %ba: f64) {
      %m = div %x, %dx : f64
      yield %m
    } (%total: f64, %da: f64, %ba: f64) {
      %scaled = mul %da, %total : f64
      %o = add %ba, %scaled : f64
      yield %o
    } : f64[N]
    %diff = sub %next, %r : f64[N]
    %size = abs %diff : f64[N]
    %change = reduce_set %size with(@sum.f64) : f64
    %step = const value(i64 1) : i64
    %k1 = add %k, %step : i64
    yield %next, %change, %k1
  } : f64[N], f64, i64
  return %r, %k
}
"#;

/// What a manifest says of a domain function.
fn program(func: &Func) -> Program {
    let ty = |ty: &tiga_ir::Type| match ty {
        tiga_ir::Type::Rel(r) => Type::Graph { src: r.src.clone(), dst: r.dst.clone(), edges: r.edges.clone() },
        other => {
            let t = other.as_tensor().unwrap();
            Type::Tensor { dtype: t.dtype, shape: t.extents() }
        }
    };
    let param = |name: &str, t: &tiga_ir::Type| Param { name: name.into(), doc: String::new(), ty: ty(t) };
    let kind = |k: &SymKind| match k {
        SymKind::Set => SymbolKind::Set,
        SymKind::Edges => SymbolKind::Edges,
        _ => SymbolKind::Dim,
    };
    Program {
        name: func.name.to_string(),
        doc: String::new(),
        symbols: func
            .symbols
            .iter()
            .map(|(name, k)| SymbolDecl { name: name.clone(), kind: kind(k), origin: String::new() })
            .collect(),
        params: func.params().iter().enumerate().map(|(i, v)| param(func.param_name(i), func.body.ty(*v))).collect(),
        results: func.results.iter().map(|(name, t)| param(name, t)).collect(),
        plan: format!("plans/{}.json", func.name),
    }
}

fn bundle(text: &str, options: &CompileOptions) -> Bundle {
    let module = parse_module("test.tir", &[REDUCERS, text].concat()).unwrap();
    let programs = module.funcs.values().map(program).collect();
    let compilation = compile(&module, options).unwrap();
    let contents = contents(std::slice::from_ref(&compilation), programs, options).unwrap();
    Bundle::from_bytes(tiga_bundle::write(&contents).unwrap()).unwrap()
}

fn bytes<T: Copy>(values: &[T], to: impl Fn(T) -> Vec<u8>) -> Vec<u8> {
    values.iter().flat_map(|v| to(*v)).collect()
}

#[test]
fn heat_gives_the_worked_numbers() {
    let csr = Csr::from_csr(vec![0, 2, 3, 5], Indices::I32(vec![0, 2, 1, 0, 1]), Some(3)).unwrap();
    let graph = Graph::new(&csr).unwrap();
    for fp in [FpMode::Strict, FpMode::Default] {
        let bundle = bundle(HEAT, &CompileOptions::new(CpuTarget::X86_64V3, fp));
        let t = bytes(&[1f32, 2., 3.], |v| v.to_le_bytes().to_vec());
        let c = bytes(&[2f32, 3., 4., 5., 6.], |v| v.to_le_bytes().to_vec());
        let b = bytes(&[0.1f32, 0.2, 0.3], |v| v.to_le_bytes().to_vec());
        let mut out = vec![0u8; 12];
        let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(3));
        let mut call = bundle.call("heat").unwrap();
        call.graph("g", &graph).unwrap();
        call.input("T", ArrayRef::new(DType::F32, &[3, 1], &t)).unwrap();
        call.input("b", ArrayRef::new(DType::F32, &[3], &b)).unwrap();
        call.input("c", ArrayRef::new(DType::F32, &[5], &c)).unwrap();
        call.output("out", ArrayMut::new(DType::F32, &[3, 1], &mut out)).unwrap();
        call.run(&context).unwrap();
        drop(call);
        let out: Vec<f32> = out.chunks(4).map(|c| f32::from_le_bytes(c.try_into().unwrap())).collect();
        assert_eq!(out.len(), 3);
        for (got, expected) in out.iter().zip([11.1f32, 8.2, 17.3]) {
            assert!((got - expected).abs() < 1e-5, "{out:?}");
        }
    }
}

#[test]
fn pagerank_gives_the_worked_numbers() {
    let csr = Csr::from_csr(vec![0, 1, 2, 3, 3], Indices::I32(vec![2, 0, 1]), Some(4)).unwrap();
    let graph = Graph::new(&csr).unwrap();
    let bundle = bundle(PAGERANK, &CompileOptions::new(CpuTarget::Native, FpMode::Default));
    let (damping, tol) = (0.85f64.to_le_bytes(), 1e-12f64.to_le_bytes());
    let (mut rank, mut rounds) = (vec![0u8; 32], vec![0u8; 8]);
    let context = Context::new(1).unwrap();
    let mut call = bundle.call("pagerank").unwrap();
    call.graph("g", &graph).unwrap();
    call.input("damping", ArrayRef::new(DType::F64, &[], &damping)).unwrap();
    call.input("tol", ArrayRef::new(DType::F64, &[], &tol)).unwrap();
    call.output("rank", ArrayMut::new(DType::F64, &[4], &mut rank)).unwrap();
    call.output("rounds", ArrayMut::new(DType::I64, &[], &mut rounds)).unwrap();
    call.run(&context).unwrap();
    drop(call);
    let rank: Vec<f64> = rank.chunks(8).map(|c| f64::from_le_bytes(c.try_into().unwrap())).collect();
    assert_eq!(rank.len(), 4);
    for (got, expected) in rank.iter().zip([0.317460317, 0.317460317, 0.317460317, 0.047619048]) {
        assert!((got - expected).abs() < 1e-8, "{rank:?}");
    }
    assert!((2..200).contains(&i64::from_le_bytes(rounds.try_into().unwrap())));
}

#[test]
fn a_width_of_two_dimensions_chooses_its_variant() {
    const WIDE: &str = r#"
domain @wide<set N, edges E, dim F, dim H>(%g: graph<csr, N -> N, E>, %x: f32[N, H, F]) -> (y: f32[N, H, F]) {
  %y = apply %g, %x roles(src) targets(row @sum.f32) (%v: f32[H, F]) {
    yield %v
  } : f32[N, H, F]
  return %y
}
"#;
    let csr = Csr::from_csr(vec![0, 1, 3], Indices::I32(vec![1, 0, 1]), Some(2)).unwrap();
    let graph = Graph::new(&csr).unwrap();
    let bundle = bundle(WIDE, &CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default));
    assert!(bundle.manifest().kernels.iter().any(|k| k.variants.iter().any(|v| v.guard.to_string() == "F*H < 64")));
    for (h, f) in [(1, 1), (2, 3), (9, 11)] {
        let x: Vec<f32> = (0..2 * h * f).map(|i| i as f32).collect();
        let input = bytes(&x, |v| v.to_le_bytes().to_vec());
        let mut out = vec![0u8; input.len()];
        let mut call = bundle.call("wide").unwrap();
        call.graph("g", &graph).unwrap();
        call.input("x", ArrayRef::new(DType::F32, &[2, h, f], &input)).unwrap();
        call.output("y", ArrayMut::new(DType::F32, &[2, h, f], &mut out)).unwrap();
        call.run(&Context::new(1).unwrap()).unwrap();
        drop(call);
        let row = h * f;
        let expected: Vec<f32> = (0..row).map(|i| x[row + i]).chain((0..row).map(|i| x[i] + x[row + i])).collect();
        assert_eq!(out, bytes(&expected, |v| v.to_le_bytes().to_vec()), "H = {h}, F = {f}");
    }
}

/// A reducer without an identity, and two values in one message, on a graph between two sets.
const PROPER: &str = r#"
reducer @product state(p: f32) -> (f32 = -7.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) { %r = mul %a, %b : f32 yield %r }
  finalize (%s: f32) { yield %s }
}
domain @p<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %x: f32[S, F], %w: f32[E]) -> (product: f32[D, F], sum: f32[D, F], all: f32[F]) {
  %p, %s = apply %g, %x, %w roles(src, edge) targets(row @product, row @sum.f32) (%t: f32[F], %c: f32) {
    %m = mul %c, %t : f32[F]
    yield %t, %m
  } : f32[D, F], f32[D, F]
  %all = reduce_set %x with(@product) : f32[F]
  return %p, %s, %all
}
"#;

/// A reducer that minds the order, on the transpose of a graph between two sets.
const TURNED: &str = r#"
reducer @last state(x: f32) -> (f32 = -1.0) laws(associative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) { yield %b }
  finalize (%s: f32) { yield %s }
}
domain @p<set S, set D, edges E>(%g: graph<csr, S -> D, E>, %y: f32[D], %w: f32[E]) -> (last: f32[S]) {
  %t = transpose %g : graph<transpose, D -> S, E>
  %l = apply %t, %y, %w roles(src, edge) targets(row @last) (%v: f32, %c: f32) {
    %m = mul %c, %v : f32
    yield %m
  } : f32[S]
  return %l
}
"#;

/// A value that starts two carried ones, and one that every round of an outer loop starts an inner loop with.
const LOOPS: &str = r#"
domain @p<set N>(%x: f32[N], %n: i64) -> (a: f32[N], b: f32[N], c: f32[N]) {
  %two = const value(f32 2.0) : f32
  %start = add %x, %two : f32[N]
  %a, %b = repeat %n, %start, %start (%k: i64, %u: f32[N], %v: f32[N]) {
    %s = add %u, %v : f32[N]
    %d = sub %u, %two : f32[N]
    yield %s, %d
  } : f32[N], f32[N]
  %again = mul %x, %two : f32[N]
  %c = repeat %n, %x (%k: i64, %u: f32[N]) {
    %w = repeat %n, %again (%k2: i64, %v: f32[N]) {
      %v1 = add %v, %two : f32[N]
      yield %v1
    } : f32[N]
    %r = add %u, %w : f32[N]
    yield %r
  } : f32[N]
  return %a, %b, %c
}
"#;

/// A program compiled under `options` has the bits of the interpreter that defines it: the domain level in strict
/// mode, the loops level else.
#[track_caller]
fn agrees(text: &str, csr: Option<&Csr>, values: &[Value], options: &CompileOptions) {
    let module = parse_module("test.tir", &[REDUCERS, text].concat()).unwrap();
    let compilation = compile(&module, options).unwrap();
    let expected = match options.law.fp {
        FpMode::Strict => run_domain(&module, "p", values).unwrap(),
        FpMode::Default => run_host(&compilation.loops, "p", &mut values.to_vec(), &Options::default()).unwrap(),
    };
    let tensor = |v: &Value| v.as_buffer().map_or_else(|| v.as_tensor().unwrap().clone(), |b| b.tensor().unwrap());
    let func = &module.funcs["p"];
    let contents = contents(std::slice::from_ref(&compilation), vec![program(func)], options).unwrap();
    let bundle = Bundle::from_bytes(tiga_bundle::write(&contents).unwrap()).unwrap();
    let graph = csr.map(|csr| Graph::new(csr).unwrap());
    let arrays: Vec<Vec<u8>> = values.iter().map(|v| v.as_tensor().map_or(Vec::new(), Tensor::to_bytes)).collect();
    let mut call = bundle.call("p").unwrap();
    for (i, (value, array)) in values.iter().zip(&arrays).enumerate() {
        match value.as_tensor() {
            Some(t) => call.input(func.param_name(i), ArrayRef::new(t.dtype(), t.shape(), array)).unwrap(),
            None => call.graph(func.param_name(i), graph.as_ref().unwrap()).unwrap(),
        };
    }
    let shapes = call.result_shapes().unwrap();
    let bytes = |shape: &[usize], dtype: &DType| vec![0u8; shape.iter().product::<usize>() * dtype.bytes()];
    let mut results: Vec<Vec<u8>> = shapes.iter().map(|(_, dtype, shape)| bytes(shape, dtype)).collect();
    for ((name, dtype, shape), result) in shapes.iter().zip(&mut results) {
        call.output(name, ArrayMut::new(*dtype, shape, result)).unwrap();
    }
    call.run(&Context::new(2).unwrap().with_order(UnitOrder::Shuffled(5))).unwrap();
    drop(call);
    assert_eq!(shapes.len(), expected.len(), "under {:?}", options.law);
    for (((name, dtype, shape), result), expected) in shapes.iter().zip(&results).zip(&expected) {
        let (got, expected) = (Tensor::from_bytes(*dtype, shape, result).unwrap(), tensor(expected));
        assert!(got.same(&expected), "{name} under {:?}: {got:?}, expected {expected:?}", options.law);
    }
}

fn floats(shape: &[usize]) -> Value {
    let count = shape.iter().product();
    let numbers: Vec<f32> = (0..count).map(|i| ((i * 7 % 5) as f32).mul_add(0.25, 0.625)).collect();
    Tensor::of(shape, &numbers).unwrap().into()
}

/// A law of each kind: strict, by width, and two small trees.
fn laws() -> Vec<CompileOptions> {
    let mut laws = vec![CompileOptions::new(CpuTarget::X86_64V3, FpMode::Strict)];
    for (leaf, acc) in [(512, None), (2, Some(2)), (3, Some(4))] {
        let mut options = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default);
        (options.law.row_leaf, options.law.set_leaf, options.law.acc) = (leaf, leaf, acc);
        options.specialize = vec![("F".into(), 4)];
        laws.push(options);
    }
    laws
}

/// A graph from `sources`, whose row `i` is `row_ptr[i]..row_ptr[i + 1]`, for the runtime and for the interpreter.
fn between(sources: usize, row_ptr: &[i64]) -> (Csr, Value) {
    let edges = row_ptr[row_ptr.len() - 1] as usize;
    let col = || (0..edges).map(|e| e * e % sources);
    let indices = Indices::I32(col().map(|c| c as i32).collect());
    let relation = Relation::csr(sources, row_ptr.to_vec(), col().map(|c| c as i64).collect()).unwrap();
    (Csr::from_csr(row_ptr.to_vec(), indices, Some(sources)).unwrap(), relation.into())
}

#[test]
fn reducers_without_identity_equal_their_interpreters() {
    // More rows than sources: a kernel that takes the one for the other leaves rows out.
    let (csr, relation) = between(3, &[0, 0, 1, 3, 6, 11, 51]);
    for features in [1, 3, 4, 9] {
        let values = [relation.clone(), floats(&[3, features]), floats(&[51])];
        for options in laws() {
            agrees(PROPER, Some(&csr), &values, &options);
        }
    }
}

#[test]
fn reducers_that_mind_the_order_equal_their_interpreters_on_a_transpose() {
    let (csr, relation) = between(11, &[0, 0, 13, 24, 49]);
    for options in laws() {
        agrees(TURNED, Some(&csr), &[relation.clone(), floats(&[4]), floats(&[49])], &options);
    }
}

#[test]
fn loops_keep_the_values_that_others_need() {
    let rounds = Tensor::of(&[], &[3i64]).unwrap();
    for options in &laws()[..2] {
        agrees(LOOPS, None, &[floats(&[5]), rounds.clone().into()], options);
    }
}
