//! Functions that move, join or look up elements, positions, and results per edge: values in the domain interpreter.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod evaluated;

use evaluated::{graph, run, tensor};
use tiga_ir::interp::Element;

/// One expression of `x: f32[N, 2, 3]`, which holds 0 to 11, of `v: f32[N, 3]` and of `i: i64[N]`.
#[track_caller]
fn value<T: Element>(ty: &str, expression: &str) -> Vec<T> {
    let text = format!("program p<set N>(x: f32[N, 2, 3], v: f32[N, 3], i: i64[N]) -> (y: {ty}) {{ {expression} }}");
    let x: Vec<f32> = (0..12).map(|i| i as f32).collect();
    let args = [tensor(&[2, 2, 3], &x), tensor(&[2, 3], &[1f32, 2.0, 4.0, 3.0, -1.0, 0.5]), tensor(&[2], &[1i64, -1])];
    run(&text, &args)[0].numbers().unwrap()
}

#[test]
fn axes_are_cut_joined_and_exchanged() {
    assert_eq!(value::<f32>("f32[N, 2, 1]", "slice(x, 1, 2)"), [1.0, 4.0, 7.0, 10.0]);
    assert_eq!(value::<f32>("f32[N, 1, 3]", "slice(x, 1, 2, axis: 1)"), [3.0, 4.0, 5.0, 9.0, 10.0, 11.0]);
    let turned = [0.0, 3.0, 1.0, 4.0, 2.0, 5.0, 6.0, 9.0, 7.0, 10.0, 8.0, 11.0];
    assert_eq!(value::<f32>("f32[N, 3, 2]", "transpose_axes(x, 1, -1)"), turned);
    assert_eq!(value::<f32>("f32[N, 3]", "cumsum(v)"), [1.0, 3.0, 7.0, 3.0, 2.0, 2.5]);
    let sums = [0.0, 1.0, 2.0, 3.0, 5.0, 7.0, 6.0, 7.0, 8.0, 15.0, 17.0, 19.0];
    assert_eq!(value::<f32>("f32[N, 2, 3]", "cumsum(x, axis: 1)"), sums);
    let kept: Vec<f32> = (0..12).map(|i| i as f32).collect();
    assert_eq!(value::<f32>("f32[N, 3, 2]", "reshape(x, [3, 2])"), kept);
    assert_eq!(value::<f32>("f32[N, 6]", "reshape(x, [N, 6])"), kept);
    let joined = [1.0, 2.0, 4.0, 2.0, 4.0, 8.0, 1.0, 3.0, -1.0, 0.5, 6.0, -2.0, 1.0, 3.0];
    assert_eq!(value::<f32>("f32[N, 7]", "concat(v, 2 * v, slice(v, 0, 1))"), joined);
}

#[test]
fn indices_look_up_and_find_nothing_outside() {
    assert_eq!(value::<f32>("f32[N, 3]", "v[i]"), [3.0, -1.0, 0.5, 0.0, 0.0, 0.0]);
    assert_eq!(value::<f32>("f32[N]", "take(v, i)"), [2.0, 0.0]);
    assert_eq!(value::<f32>("f32[N, 3]", "take(x, i, axis: 1)"), [3.0, 4.0, 5.0, 0.0, 0.0, 0.0]);
    assert_eq!(value::<f32>("f32[N, 2]", "take(v, iota(2) + 1)"), [2.0, 4.0, -1.0, 0.5]);
    assert_eq!(value::<bool>("bool[N, 3]", "one_hot(i, 3)"), [false, true, false, false, false, false]);
    assert_eq!(value::<i64>("i64[N]", "iota(N)"), [0, 1]);
    assert_eq!(value::<f32>("f32[N, 2]", "let t = fill([3, 2], 7.0); t[i]"), [7.0, 7.0, 0.0, 0.0]);
}

#[test]
fn reductions_find_positions_and_truth() {
    assert_eq!(value::<i64>("i64[N]", "argmax(v, axis: -1)"), [2, 0]);
    assert_eq!(value::<i64>("i64[3]", "argmin(v)"), [0, 1, 1]);
    assert_eq!(value::<i64>("i64[N]", "argmax(v * nan, axis: -1)"), [0, 0]);
    assert_eq!(value::<i64>("i64[N]", "argmax(fill([N, 0], 1.0), axis: -1)"), [-1, -1]);
    assert_eq!(value::<bool>("bool[N]", "all(v > 0, axis: -1)"), [true, false]);
    assert_eq!(value::<bool>("bool[3]", "any(v < 0)"), [false, true, false]);
    assert_eq!(value::<f32>("f32[3]", "variance(v)"), [1.0, 2.25, 3.0625]);
}

#[test]
fn softmax_adds_up_to_one() {
    let sums = value::<f32>("f32[N, 2]", "sum(softmax(x, axis: -1), axis: -1)");
    assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-6), "{sums:?}");
    let sums = value::<f32>("f32[N, 3]", "sum(exp(log_softmax(x, axis: 1)), axis: 1)");
    assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-6), "{sums:?}");
    let sums = value::<f32>("f32[3]", "sum(softmax(v, axis: 0))");
    assert!(sums.iter().all(|s| (s - 1.0).abs() < 1e-6), "{sums:?}");
    // Overflow of `exp` does not show.
    assert_eq!(value::<f32>("f32[N]", "sum(softmax(1000 * v, axis: -1), axis: -1)"), [1.0, 1.0]);
}

#[test]
fn products_entity_by_entity() {
    assert_eq!(value::<f32>("f32[N, 2]", "x @ v"), [10.0, 31.0, 15.0, 22.5]);
    let gram = [5.0, 14.0, 14.0, 50.0, 149.0, 212.0, 212.0, 302.0];
    assert_eq!(value::<f32>("f32[N, 2, 2]", "x @ transpose_axes(x, 1, 2)"), gram);
    assert_eq!(value::<f32>("f32[N]", "fill(3, 1.0) @ v"), [7.0, 2.5]);
}

#[test]
fn products_of_vectors() {
    assert_eq!(value::<f32>("f32[N, 3]", "cross(v, fill([N, 3], 1.0))"), [-2.0, 3.0, -1.0, -1.5, -2.5, 4.0]);
    let outer = [10.0, -1.0, 5.5, -1.0, 5.0, 7.5, 5.5, 7.5, 16.25];
    assert_eq!(value::<f32>("f32[3, 3]", "contract(v, v)"), outer);
}

#[test]
fn a_message_without_a_reducer_gives_a_field_of_edges() {
    let text = "message m(src: {x: f32}, dst: {x: f32}, edge: {w: f32}) -> edges (f32, i64) {
    edge { (edge.w * (src.x - dst.x), 100 * edge.index + 10 * src.index + dst.index) }
}
program p(g: graph<N>, x: f32[N], w: f32[g.edges]) -> (d: f32[g.edges], at: i64[g.edges], t: i64[g.edges]) {
    let (d, at) = m(g, src: {x}, dst: {x}, edge: {w});
    let (_, t) = m(transpose(g), src: {x}, dst: {x}, edge: {w});
    (d, at, t)
}";
    let x = tensor(&[4], &[1f32, 2.0, 5.0, 9.0]);
    let w = tensor(&[6], &[1f32, 1.0, 2.0, 1.0, 1.0, 3.0]);
    let out = run(text, &[graph(), x, w]);
    assert_eq!(out[0].numbers::<f32>().unwrap(), [0.0, 4.0, -6.0, -4.0, 4.0, 0.0]);
    assert_eq!(out[1].numbers::<i64>().unwrap(), [0, 120, 212, 302, 432, 533]);
    assert_eq!(out[2].numbers::<i64>().unwrap(), [0, 102, 221, 320, 423, 533]);
}

#[test]
fn reducers_ask_for_positions() {
    let text = "reducer latest(x: f32) -> (f32, i64) {
    state { x: f32 = 0, at: i64 = -1, from: i64 = -1 }
    lift { {x, at: edge.index, from: src.index} }
    combine(a, b) { b }
    finalize(s) { (s.x, 10 * s.at + s.from) }
    empty (0, -1)
    laws associative
}
message m<F>(src: {x: f32, y: f32[F]}, dst: {x: f32}) -> (f32, i64, i64[F], i64, f32) {
    edge { (src.x, src.y, dst.x, src.x) }
    reduce (latest, argmax, argmin, first)
    node(l, y, d, f) { (l.0, l.1, y, d + dst.index, f) }
}
program p<F>(g: graph<N>, x: f32[N], y: f32[N, F])
    -> (x1: f32[N], at: i64[N], best: i64[N, F], d: i64[N], f: f32[N]) { m(g, src: {x, y}, dst: {x}) }";
    let x = tensor(&[4], &[1f32, 2.0, 5.0, 9.0]);
    let y = tensor(&[4, 2], &[3f32, 0.0, f32::NAN, 1.0, 3.0, 1.0, 2.0, 5.0]);
    let out = run(text, &[graph(), x, y]);
    assert_eq!(out[0].numbers::<f32>().unwrap(), [5.0, 0.0, 9.0, 9.0]);
    assert_eq!(out[1].numbers::<i64>().unwrap(), [12, -1, 43, 53]);
    assert_eq!(out[2].numbers::<i64>().unwrap(), [0, 1, -1, -1, 2, 4, 5, 5]);
    assert_eq!(out[3].numbers::<i64>().unwrap(), [0, 0, 4, 8]);
    assert_eq!(out[4].numbers::<f32>().unwrap(), [1.0, 0.0, 2.0, 9.0]);
}

#[test]
fn the_greatest_few_and_where_they_stand() {
    let text = "message m<F>(src: {x: f32, y: f32[F]}) -> ((f32[2], i64[2]), f32) {
    edge { (src.x, src.x) }
    reduce (top<2>, max)
}
message n<F>(src: {y: f32[F]}) -> f32[F] { edge { src.y } reduce top<2> node(t) { sum(t.0, axis: -1) + f32(sum(t.1, axis: -1)) } }
program p<F>(g: graph<N>, x: f32[N], y: f32[N, F]) -> (v: f32[N, 2], at: i64[N, 2], m: f32[N], s: f32[N, F]) {
    let (t, m) = m(g, src: {x, y});
    (t.0, t.1, m, n(g, src: {y}))
}";
    let x = tensor(&[4], &[1f32, 2.0, 1.0, f32::NAN]);
    let y = tensor(&[4, 2], &[3f32, 0.0, 7.0, 1.0, 3.0, 1.0, 2.0, 5.0]);
    let out = run(text, &[graph(), x, y]);
    let v = out[0].numbers::<f32>().unwrap();
    assert_eq!(v[..4], [1.0, 1.0, f32::NEG_INFINITY, f32::NEG_INFINITY]);
    assert!(v[4].is_nan() && v[5] == 2.0 && v[6].is_nan() && v[7] == f32::NEG_INFINITY, "{v:?}");
    assert_eq!(out[1].numbers::<i64>().unwrap(), [0, 1, -1, -1, 4, 2, 5, -1]);
    assert_eq!(out[3].numbers::<f32>().unwrap()[..2], [3.0 + 3.0 + 1.0, 0.0 + 1.0 + 1.0]);
}

#[test]
fn a_slice_is_one_whatever_its_caller_calls_the_sizes() {
    let text = "message drop<F>(src: {x: f32[F]}) -> f32[F] { edge { slice(src.x, 0, F) } reduce sum }
program p<M>(g: graph<N>, x: f32[N, M - 1], w: f32[M]) -> (y: f32[N, M - 1]) { drop(g, src: {x}) }";
    let out = run(text, &[graph(), tensor(&[4, 1], &[1f32, 2.0, 3.0, 4.0]), tensor(&[2], &[0f32, 0.0])]);
    assert_eq!(out[0].numbers::<f32>().unwrap(), [4.0, 0.0, 7.0, 4.0]);
}
