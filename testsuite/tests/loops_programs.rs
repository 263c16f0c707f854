//! The hand-written programs of the loops level that must run: compiled by the pipeline and compared bit for bit with
//! the loops interpreter, for several cuts of the units. In strict mode that is the interpreter of what is written; else
//! products are contracted, and it is that of the module which the pipeline made.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use fastrand::Rng;
use testsuite::road::{Road, difference, result};
use tiga_abi::{CpuTarget, FpMode};
use tiga_ir::interp::{Options, Relation, Tensor, Value, run_domain, run_host};
use tiga_ir::{Level, Module, ops, parse_module};
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;

const GAT: &str = include_str!("../programs/gat.tir");
const HUB: &str = include_str!("../programs/hub.tir");
const TRANSPOSED: &str = include_str!("../programs/transposed.tir");

const GAT_HOST: &str = "
host @gat.run<set N, edges E, dim H, dim D>(%g: graph<csr, N -> N, E>, %z: buf<f32[N, H, D]>, %s: buf<f32[N, H]>, %t: buf<f32[N, H]>) -> (out: buf<f32[N, H, D]>, m: buf<f32[N, H]>, l: buf<f32[N, H]>) {
  %out = alloc dims(f32[N, H, D]) : buf<f32[N, H, D]>
  %m = alloc dims(f32[N, H]) : buf<f32[N, H]>
  %l = alloc dims(f32[N, H]) : buf<f32[N, H]>
  launch %g, %z, %s, %t, %out, %m, %l callee(@gat.forward)
  return %out, %m, %l
}
";

const HUB_HOST: &str = "
host @hub.one<set S, set D, edges E, dim F>(%g: graph<csr, S -> D, E>, %x: buf<f32[S, F]>, %w: buf<f32[E]>, %b: buf<f32[D]>) -> (out: buf<f32[D, F]>) {
  %out = alloc dims(f32[D, F]) : buf<f32[D, F]>
  launch %g, %x, %w, %b, %out callee(@hub.whole)
  return %out
}
";

/// One host function of a text, with what it launches.
fn program(text: &str, host: &str) -> Module {
    let all = parse_module("program.tir", text).unwrap();
    let func = &all.funcs[host];
    let launches = func.body.walk(func.region).into_iter().filter(|i| func.body.inst(*i).op == ops::LAUNCH);
    let callees: Vec<_> = launches.map(|i| func.body.inst(i).attrs.callee().unwrap().clone()).collect();
    let mut module = Module { reducers: all.reducers.clone(), ..Module::new() };
    for (name, f) in &all.funcs {
        if name == &func.name || (f.level == Level::Loops && callees.contains(name)) {
            module.add(f.clone());
        }
    }
    module
}

/// A relation with a hub of more than three leaves, rows of a few edges, and empty ones.
fn hub(num_src: usize, num_dst: usize) -> Relation {
    let mut rng = Rng::with_seed(11);
    let (mut row_ptr, mut col) = (vec![0], Vec::new());
    for row in 0..num_dst {
        let degree = if row == 2 { 1700 } else { [0, 1, 2, 7, 40][rng.usize(0..5)] };
        col.extend((0..degree).map(|_| rng.i64(0..num_src as i64)));
        row_ptr.push(col.len() as i64);
    }
    Relation::csr(num_src, row_ptr, col).unwrap()
}

fn random(rng: &mut Rng, shape: &[usize]) -> Value {
    let numbers: Vec<f32> = (0..shape.iter().product()).map(|_| rng.f32() * 4.0 - 2.0).collect();
    Tensor::of(shape, &numbers).unwrap().into()
}

fn cuts() -> [Context; 3] {
    let shuffled = |seed| Context::new(3).unwrap().with_order(UnitOrder::Shuffled(seed));
    [Context::new(1).unwrap(), shuffled(5), shuffled(91)]
}

#[track_caller]
fn same(got: &[Tensor], expected: &[Tensor], what: &str) {
    assert_eq!(got.len(), expected.len());
    for (i, (got, expected)) in got.iter().zip(expected).enumerate() {
        assert_eq!(difference(got, expected), None, "{what}: result {i}");
    }
}

/// A host function with what it launches, and the same compiled for two targets in the two modes.
struct Compiled {
    host: &'static str,
    module: Module,
    roads: [Road; 2],
}

const WAYS: [(CpuTarget, FpMode); 2] = [(CpuTarget::X86_64V3, FpMode::Strict), (CpuTarget::Native, FpMode::Default)];

impl Compiled {
    fn of(text: &str, host: &'static str) -> Compiled {
        let module = program(text, host);
        let roads = WAYS.map(|(target, fp)| {
            let options = CompileOptions::new(target, fp);
            Road::of_loops(&module, options).unwrap_or_else(|e| panic!("{host}: {e:#}"))
        });
        Compiled { host, module, roads }
    }

    /// Every cut gives the bits of the interpreter: in strict mode those of what was written. Gives these.
    #[track_caller]
    fn run(&self, values: &[Value]) -> Vec<Tensor> {
        let written = run_host(&self.module, self.host, &mut values.to_vec(), &Options::default()).unwrap();
        let written: Vec<Tensor> = written.into_iter().map(|v| result(v).unwrap()).collect();
        for road in &self.roads {
            let made = road.interpret(self.host, values, &[]).unwrap();
            if road.options.law.fp == FpMode::Strict {
                same(&made, &written, "what the pipeline made");
            }
            same(&road.interpret_split(self.host, values, &[]).unwrap(), &made, "split into units");
            for context in &cuts() {
                same(&road.run(self.host, values, &[], context).unwrap(), &made, self.host);
            }
        }
        written
    }
}

/// Relation, z, s, t of the attention.
fn attention(heads: usize, width: usize) -> Vec<Value> {
    let (n, mut rng) = (60, Rng::with_seed(heads as u64 * 100 + width as u64));
    let shapes = [vec![n, heads, width], vec![n, heads], vec![n, heads]];
    let fields = shapes.map(|shape| random(&mut rng, &shape));
    [Value::from(hub(n, n))].into_iter().chain(fields).collect()
}

#[test]
fn graph_attention_forward() {
    let compiled = Compiled::of(&[GAT, GAT_HOST].concat(), "gat.run");
    for (heads, width) in [(1, 1), (3, 5), (8, 16), (2, 17)] {
        let values = attention(heads, width);
        let results = compiled.run(&values);
        // The domain function folds in one leaf, so it is close only.
        let domain = run_domain(&parse_module("gat.tir", GAT).unwrap(), "gat", &values).unwrap();
        assert_eq!(results.len(), domain.len());
        for (got, expected) in results.iter().zip(domain) {
            let (got, expected) = (got.numbers::<f32>().unwrap(), result(expected).unwrap().numbers::<f32>().unwrap());
            assert_eq!(got.len(), expected.len());
            assert!(got.iter().zip(&expected).all(|(g, e)| g == e || (g - e).abs() <= 1e-4 * e.abs().max(1.0)));
        }
    }
}

#[test]
fn graph_attention_with_its_gradient() {
    let compiled = Compiled::of(GAT, "gat.value_and_vjp");
    for (heads, width) in [(1, 4), (3, 5)] {
        let mut values = attention(heads, width);
        values.push(random(&mut Rng::with_seed(1), &[60, heads, width]));
        compiled.run(&values);
    }
}

fn hub_values(features: usize) -> Vec<Value> {
    let mut rng = Rng::with_seed(features as u64);
    let g = hub(40, 30);
    let shapes = [vec![40, features], vec![g.num_edges()], vec![30]];
    let fields = shapes.map(|shape| random(&mut rng, &shape));
    [Value::from(g)].into_iter().chain(fields).collect()
}

#[test]
fn a_hub_split_by_hand_and_by_the_compiler() {
    let by_hand = Compiled::of(HUB, "hub");
    let by_compiler = Compiled::of(&[HUB, HUB_HOST].concat(), "hub.one");
    for features in [0, 1, 5, 16, 64, 67] {
        let values = hub_values(features);
        same(&by_hand.run(&values), &by_compiler.run(&values), "units by hand and by the compiler");
    }
}

#[test]
fn a_transposed_relation_with_a_field_of_edges() {
    let mut rng = Rng::with_seed(3);
    // Sources become rows: the transpose of a relation with a hub of sources.
    let g = hub(40, 30).transposed().unwrap();
    let col: Vec<i64> = g.col().to_vec();
    let g = Relation::csr(g.num_src(), g.row_ptr().to_vec(), col).unwrap();
    let (s, d, e) = (g.num_src(), g.num_dst(), g.num_edges());
    let fields = [vec![d], vec![s], vec![e]].map(|shape| random(&mut rng, &shape));
    let values: Vec<Value> = [Value::from(g)].into_iter().chain(fields).collect();
    let results = Compiled::of(TRANSPOSED, "conduct.host").run(&values);
    let domain = run_domain(&parse_module("t.tir", TRANSPOSED).unwrap(), "conduct", &values).unwrap();
    let domain = result(domain.into_iter().next().unwrap()).unwrap();
    let (got, expected) = (results[0].numbers::<f32>().unwrap(), domain.numbers::<f32>().unwrap());
    assert_eq!(got.len(), expected.len());
    assert!(got.iter().zip(&expected).all(|(g, e)| (g - e).abs() <= 1e-3 * e.abs().max(1.0)));
}
