//! Passes keep what a program computes: after each one, the interpreters give the same bits; a contracted sum is
//! rounded once.
#![allow(clippy::unwrap_used)]

use tiga_abi::FpMode;
use tiga_ir::interp::{Options, Relation, Tensor, Value, run_domain, run_host};
use tiga_ir::{Level, Module, parse_module};
use tigac::passes::{PassOptions, Watch, run};
use tigac::pipeline;

const MODEL: &str = "
reducer @sum state(s: f32 = -0.0) -> (f32 = 0.0) laws(associative, commutative) {
  lift (%x: f32) { yield %x }
  combine (%a: f32, %b: f32) {
    %r = add %a, %b : f32
    yield %r
  }
  finalize (%s: f32) { yield %s }
}
domain @scale<set V, dim K>(%x: f32[V, K], %by: f32) -> (y: f32[V, K], n: i64) {
  %one = const value(f32 1.0) : f32
  %ones = fill %one dims(f32[V, K]) : f32[V, K]
  %m = mul %x, %by : f32[V, K]
  %y = add %m, %ones : f32[V, K]
  %n = len dims(i64[K]) : i64
  return %y, %n
}
domain @hop<set V, edges E, dim K>(%g: graph<csr, V -> V, E>, %x: f32[V, K], %w: f32[E]) -> (y: f32[V, K]) {
  %y = apply %g, %x, %w roles(src, edge) targets(row @sum) (%p: f32[K], %c: f32) {
    %m = mul %p, %c : f32[K]
    yield %m
  } : f32[V, K]
  return %y
}
domain @main<set N, edges E, dim F>(%g: graph<csr, N -> N, E>, %w: f32[E], %x: f32[N, F], %k: f32) -> (scaled: f32[N, F], width: i64, p: f32[N, F], q: f32[N, F], chosen: f32[N, F], walked: f32[N, F], left: f32[N, F], less: f32[N, F], more: f32[N, F]) {
  %scaled, %width = call %x, %k callee(@scale) : f32[N, F], i64
  %p = sub %x, %k : f32[N, F]
  %q = sub %k, %x : f32[N, F]
  %zero = const value(f32 0.0) : f32
  %positive = gt %k, %zero : bool
  %chosen = if %positive {
    %a = sin %x : f32[N, F]
    yield %a
  } {
    %b = sin %x : f32[N, F]
    %c = neg %b : f32[N, F]
    yield %c
  } : f32[N, F]
  %none = const value(i64 0) : i64
  %walked, %unused, %rounds = while %x, %k, %none at_most(9) (%v: f32[N, F], %dead: f32, %n: i64) {
    %three = const value(i64 3) : i64
    %go = lt %n, %three : bool
    yield %go
  } (%v: f32[N, F], %dead: f32, %n: i64) {
    %next = call %g, %v, %w callee(@hop) : f32[N, F]
    %deader = mul %dead, %dead : f32
    %once = const value(i64 1) : i64
    %m = add %n, %once : i64
    yield %next, %deader, %m
  } : f32[N, F], f32, i64
  %product = mul %x, %k : f32[N, F]
  %left = sub %scaled, %product : f32[N, F]
  %square = mul %x, %x : f32[N, F]
  %less = sub %square, %k : f32[N, F]
  %more = add %square, %k : f32[N, F]
  return %scaled, %width, %p, %q, %chosen, %walked, %left, %less, %more
}
";

/// Elements whose products are not exact.
const X: [f32; 6] = [0.1, -1.7, 3.3, 1e-3, -0.0, 7.7];
const K: [f32; 2] = [1.1, -0.3];

fn inputs(k: f32) -> [Value; 4] {
    let graph = Relation::csr(3, vec![0, 2, 2, 5], vec![1, 2, 0, 1, 1]).unwrap();
    let field = |shape: &[usize], x: &[f32]| Value::from(Tensor::of(shape, x).unwrap());
    [graph.into(), field(&[5], &[0.3, 1.9, -0.7, 2.1, 0.9]), field(&[3, 2], &X), field(&[], &[k])]
}

/// The results of `main`: by the domain interpreter while there is a domain function, then by that of host functions.
fn results(module: &Module, k: f32) -> Vec<Tensor> {
    let args = inputs(k);
    let values = match module.funcs["main"].level {
        Level::Domain => run_domain(module, "main", &args).unwrap(),
        _ => run_host(module, "main", &mut args.to_vec(), &Options::default()).unwrap(),
    };
    let tensor = |value| match value {
        Value::Tensor(tensor) => tensor,
        Value::Buffer(buffer) => buffer.tensor().unwrap(),
        Value::Rel(_) => panic!("no result is a relation"),
    };
    values.into_iter().map(tensor).collect()
}

fn step(module: Module, pass: tigac::passes::Pass, fp: FpMode) -> Module {
    run(module, &[pass], &PassOptions::new(fp), &Watch::default(), &mut std::io::sink()).unwrap()
}

#[test]
fn in_strict_mode_every_pass_keeps_every_bit() {
    let mut module = parse_module("main.tir", MODEL).unwrap();
    let expected = K.map(|k| results(&module, k));
    for pass in pipeline::PASSES {
        module = step(module, *pass, FpMode::Strict);
        for (k, expected) in K.iter().zip(&expected) {
            let results = results(&module, *k);
            assert_eq!(results.len(), expected.len(), "after {}", pass.name);
            for (i, (got, expected)) in results.iter().zip(expected).enumerate() {
                assert!(got.same(expected), "after {}: result {i} is {got:?}, not {expected:?}", pass.name);
            }
        }
    }
}

#[test]
fn contracted_sums_are_rounded_once_and_shared_products_are_not_contracted() {
    let mut module = parse_module("main.tir", MODEL).unwrap();
    for pass in pipeline::PASSES {
        module = step(module, *pass, FpMode::Default);
    }
    for k in K {
        let results = results(&module, k);
        let numbers = |i: usize| results[i].numbers::<f32>().unwrap();
        let map = |f: &dyn Fn(f32) -> f32| X.map(f).to_vec();
        // The product is used twice, in `scaled` and in `left`: it stays one.
        assert_eq!(numbers(0), map(&|x| x * k + 1.0));
        assert_eq!(numbers(7), map(&|x| x * x - k));
        assert_eq!(numbers(8), map(&|x| x * x + k));
        assert_eq!(numbers(6), map(&|x| (x * k + 1.0) - x * k));
    }
}

#[test]
fn differences_are_contracted_with_their_sign() {
    const DIFFERENCES: &str = "
domain @main<set N, edges E, dim F>(%g: graph<csr, N -> N, E>, %w: f32[E], %x: f32[N, F], %k: f32) -> (a: f32[N, F], b: f32[N, F]) {
  %m = mul %x, %k : f32[N, F]
  %a = sub %x, %m : f32[N, F]
  %n = mul %x, %x : f32[N, F]
  %b = sub %n, %k : f32[N, F]
  return %a, %b
}
";
    let mut module = parse_module("main.tir", DIFFERENCES).unwrap();
    for pass in pipeline::PASSES {
        module = step(module, *pass, FpMode::Default);
    }
    for k in K {
        let results = results(&module, k);
        assert_eq!(results[0].numbers::<f32>().unwrap(), X.map(|x| (-x).mul_add(k, x)).to_vec());
        assert_eq!(results[1].numbers::<f32>().unwrap(), X.map(|x| x.mul_add(x, -k)).to_vec());
    }
}
