//! The worked forward values of the specification of graphs and messages, row by row: each a model compiled in both
//! modes and run, and evaluated by the domain interpreter. The mean of a row without edges is 0.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use testsuite::road::{Road, difference, model, result};
use tiga_abi::{CpuTarget, FpMode};
use tiga_ir::interp::{Relation, Tensor, Value, run_domain};
use tiga_runtime::Context;
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// The graph of the first table.
fn g() -> Value {
    graph(3, &[0, 2, 3, 5], &[0, 2, 1, 0, 1])
}

fn graph(num_src: usize, row_ptr: &[i64], col: &[i64]) -> Value {
    Relation::csr(num_src, row_ptr.to_vec(), col.to_vec()).unwrap().into()
}

fn field(numbers: &[f64]) -> Value {
    tensor(&[numbers.len()], numbers)
}

fn tensor(shape: &[usize], numbers: &[f64]) -> Value {
    Tensor::of(shape, numbers).unwrap().into()
}

fn scalar<T: tiga_ir::interp::Element>(number: T) -> Value {
    Tensor::of(&[], &[number]).unwrap().into()
}

/// Runs the program `p` of a model every way there is; its only result must be `expected`.
#[track_caller]
fn gives(text: &str, values: &[Value], expected: &[f64]) {
    gives_within(1e-14, text, values, expected);
}

/// The same to a relative tolerance.
#[track_caller]
fn gives_within(tolerance: f64, text: &str, values: &[Value], expected: &[f64]) {
    let module = model("worked.tg", text, &SemaOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let domain = result(run_domain(&module, "p", values).unwrap().swap_remove(0)).unwrap();
    close(&domain, expected, tolerance, "domain interpreter");
    for fp in [FpMode::Strict, FpMode::Default] {
        let road = Road::of_domain(&module, CompileOptions::new(CpuTarget::Native, fp)).unwrap();
        let got = road.run("p", values, &[], &Context::new(2).unwrap()).unwrap().swap_remove(0);
        close(&got, expected, tolerance, "compiled");
        let same = if fp == FpMode::Strict {
            domain.clone()
        } else {
            road.interpret("p", values, &[]).unwrap().swap_remove(0)
        };
        assert_eq!(difference(&got, &same), None, "{fp:?}");
    }
}

#[track_caller]
fn close(got: &Tensor, expected: &[f64], tolerance: f64, how: &str) {
    let got: Vec<f64> = got.numbers().unwrap();
    assert_eq!(got.len(), expected.len(), "{how}");
    for (g, e) in got.iter().zip(expected) {
        assert!((g - e).abs() <= tolerance * e.abs().max(1.0), "{how}: {got:?} instead of {expected:?}");
    }
}

const WEIGHTED: &str = "
message m(src: {x: f64}, edge: {w: f64}) -> f64 { edge { edge.w * src.x } reduce sum }
program p(g: graph, x: f64[g.src], w: f64[g.edges]) -> (out: f64[g.dst]) { m(g, src: {x}, edge: {w}) }
";

const WEIGHTED_PLUS: &str = "
message m(src: {x: f64}, dst: {b: f64}, edge: {w: f64}) -> f64 {
    edge { edge.w * src.x }
    reduce sum
    node(total) { total + dst.b }
}
program p(g: graph, x: f64[g.src], w: f64[g.edges], b: f64[g.dst]) -> (out: f64[g.dst]) {
    m(g, src: {x}, dst: {b}, edge: {w})
}
";

const MEAN: &str = "
message m(src: {x: f64}) -> f64 { edge { src.x } reduce mean }
program p(g: graph, x: f64[g.src]) -> (out: f64[g.dst]) { m(g, src: {x}) }
";

const PRODUCT: &str = "
message m(src: {x: f64}) -> f64 { edge { src.x } reduce prod }
program p(g: graph, x: f64[g.src]) -> (out: f64[g.dst]) { m(g, src: {x}) }
";

#[test]
fn weighted_sum_plus_b() {
    let [x, w, b] = [&[1., 2., 3.][..], &[2., 3., 4., 5., 6.], &[0.1, 0.2, 0.3]].map(field);
    gives(WEIGHTED_PLUS, &[g(), x, w, b], &[11.1, 8.2, 17.3]);
}

#[test]
fn weighted_sum_plus_b_with_equal_weights() {
    let [x, w, b] = [&[1., 2., 3.][..], &[0.5; 5], &[0.1, 0.2, 0.3]].map(field);
    gives(WEIGHTED_PLUS, &[g(), x, w, b], &[2.1, 1.2, 1.8]);
}

#[test]
fn weighted_differences() {
    let text = "
message m(src: {x: f64}, dst: {x: f64}, edge: {w: f64}) -> f64 { edge { edge.w * (src.x - dst.x) } reduce sum }
program p(g: graph<N>, x: f64[N], w: f64[g.edges]) -> (out: f64[N]) { m(g, src: {x}, dst: {x}, edge: {w}) }
";
    let [x, w] = [&[1., 2., 4.][..], &[2., 3., 4., 5., 6.]].map(field);
    gives(text, &[g(), x, w], &[9., 0., -27.]);
}

#[test]
fn weighted_sum_of_two_features() {
    let text = "
message m<F>(src: {x: f64[F]}, edge: {w: f64[1]}) -> f64[F] { edge { sum(edge.w, axis: 0) * src.x } reduce sum }
program p<F>(g: graph, x: f64[g.src, F], w: f64[g.edges, 1]) -> (out: f64[g.dst, F]) { m(g, src: {x}, edge: {w}) }
";
    let x = tensor(&[3, 2], &[1., 2., 3., 4., 5., 6.]);
    let w = tensor(&[5, 1], &[0.5, 1., 2., 1.5, 0.25]);
    gives(text, &[g(), x, w], &[5.5, 7., 6., 8., 2.25, 4.]);
}

#[test]
fn mean_of_sources() {
    gives(MEAN, &[g(), field(&[1., 2., 4.])], &[2.5, 2., 1.5]);
}

#[test]
fn mean_of_two_features() {
    let text = "
message m<F>(src: {x: f64[F]}) -> f64[F] { edge { src.x } reduce mean }
program p<F>(g: graph, x: f64[g.src, F]) -> (out: f64[g.dst, F]) { m(g, src: {x}) }
";
    gives(text, &[g(), tensor(&[3, 2], &[1., 2., 3., 4., 5., 6.])], &[3., 4., 3., 4., 2., 3.]);
}

#[test]
fn weighted_sum_with_an_empty_row() {
    let graph = graph(2, &[0, 2, 3, 3], &[0, 1, 1]);
    gives(WEIGHTED, &[graph, field(&[2., 3.]), field(&[4., 5., 2.])], &[23., 6., 0.]);
}

#[test]
fn weighted_sum_between_two_sets() {
    let graph = graph(2, &[0, 2, 3], &[0, 1, 0]);
    gives(WEIGHTED, &[graph, field(&[2., 3.]), field(&[1., 2., 4.])], &[8., 8.]);
}

#[test]
fn product_with_an_empty_row() {
    gives(PRODUCT, &[graph(3, &[0, 2, 2, 5], &[0, 1, 0, 1, 2]), field(&[2., 3., 5.])], &[6., 1., 30.]);
}

#[test]
fn mean_with_an_empty_row_is_0_there() {
    gives(MEAN, &[graph(3, &[0, 2, 2, 4], &[0, 2, 0, 1]), field(&[2., 4., 8.])], &[5., 0., 3.]);
}

#[test]
fn product_with_another_empty_row() {
    gives(PRODUCT, &[graph(3, &[0, 2, 2, 4], &[0, 2, 0, 1]), field(&[2., 4., 8.])], &[16., 1., 8.]);
}

#[test]
fn heat_on_a_ring_of_four() {
    let text = "
message flux(src: {u: f64}, dst: {u: f64}, edge: {c: f64}) -> f64 {
    edge { edge.c * (src.u - dst.u) }
    reduce sum
    node(total) { dst.u + 0.1 * total }
}
program p(g: graph<N>, u: f64[N], c: f64[g.edges]) -> (out: f64[N]) { flux(g, src: {u}, dst: {u}, edge: {c}) }
";
    let ring = graph(4, &[0, 2, 4, 6, 8], &[3, 1, 0, 2, 1, 3, 2, 0]);
    gives(text, &[ring, field(&[0., 1., 0.5, -0.5]), field(&[1.; 8])], &[0.05, 0.85, 0.45, -0.35]);
}

const STEPS: &str = "
message share(src: {r: f64, d: f64}, dst: {base: f64}, damping: f64) -> f64 {
    edge { src.r / src.d }
    reduce sum
    node(total) { dst.base + damping * total }
}
program p(g: graph<N>, damping: f64, steps: i64) -> (rank: f64[N]) {
    let n = f64(len(N));
    let d = f64(out_degree(g));
    loop (r = fill(N, 1.0 / n)) for i < steps {
        let dangling = sum(where(d == 0, r, 0));
        share(g, src: {r, d}, dst: {base: fill(N, (1 - damping + damping * dangling) / n)}, damping)
    } in r
}
";

#[test]
fn pagerank_one_step() {
    let graph = graph(4, &[0, 1, 2, 3, 3], &[2, 0, 1]);
    gives(STEPS, &[graph, scalar(0.85), scalar(1i64)], &[0.303125, 0.303125, 0.303125, 0.090625]);
}

#[test]
fn pagerank_twenty_steps() {
    let graph = graph(4, &[0, 1, 2, 3, 3], &[2, 0, 1]);
    // The worked values are given to seven places.
    let expected = [0.3174603, 0.3174603, 0.3174603, 0.0476190];
    gives_within(5e-8, STEPS, &[graph, scalar(0.85), scalar(20i64)], &expected);
}

#[test]
fn sum_over_two_dense_blocks() {
    let text = "
message m(src: {x: f64}) -> f64 { edge { src.x } reduce sum }
program p(g: graph, x: f64[g.src]) -> (out: f64[g.dst]) { m(g, src: {x}) }
";
    let graph = graph(4, &[0, 2, 4, 6, 8], &[0, 1, 0, 1, 2, 3, 2, 3]);
    gives(text, &[graph, field(&[1., 2., 3., 4.])], &[3., 3., 7., 7.]);
}

#[test]
fn five_point_mean_on_a_periodic_grid() {
    let at = |r: i64, c: i64| r.rem_euclid(5) * 5 + c.rem_euclid(5);
    let neighbours = |i: i64| [(0, 0), (0, 1), (0, -1), (1, 0), (-1, 0)].map(|(r, c)| at(i / 5 + r, i % 5 + c));
    let col: Vec<i64> = (0..25).flat_map(neighbours).collect();
    let row_ptr: Vec<i64> = (0..=25).map(|i| 5 * i).collect();
    let x: Vec<f64> = (0..25).map(f64::from).collect();
    let expected: Vec<f64> = (0..25).map(|i| neighbours(i).map(|n| n as f64).iter().sum::<f64>() / 5.0).collect();
    assert_eq!((expected[12], expected[0]), (12.0, 6.0), "the worked values");
    gives(MEAN, &[graph(25, &row_ptr, &col), field(&x)], &expected);
}

#[test]
fn product_of_two_matrices() {
    let text = "program p<A, B, C>(x: f64[A, B], y: f64[B, C]) -> (out: f64[A, C]) { x @ y }\n";
    let x = tensor(&[2, 3], &[1., 2., 3., 4., 5., 6.]);
    let y = tensor(&[3, 2], &[2., 1., 0., 3., 4., -1.]);
    gives(text, &[x, y], &[14., 4., 32., 13.]);
}
