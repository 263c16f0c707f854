//! The whole road from a domain module to numbers: compiled, packed, opened, run.
#![cfg(feature = "llvm")]
#![allow(clippy::unwrap_used)]

use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
use tiga_formats::{Csr, Indices};
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
    let contents = contents(&compilation, programs, options).unwrap();
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
