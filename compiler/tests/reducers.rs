//! Reducers declared in a file and those of the language that are written in it: values in the domain interpreter.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

mod evaluated;

use evaluated::{graph, module, tensor};
use tiga_ir::interp::{Tensor, Value};
use tigac::driver::Front;
use tigac::sema::SemaOptions;

/// The results of program `p`, whose first argument is the graph.
#[track_caller]
fn run(text: &str, args: &[Value]) -> Vec<Tensor> {
    evaluated::run(text, &[&[graph()], args].concat())
}

#[track_caller]
fn close(found: &Tensor, expected: &[f64]) {
    let found = found.numbers::<f32>().unwrap();
    let near = |(a, b): (&f32, &f64)| (f64::from(*a) - b).abs() < 1e-6 || f64::from(*a) == *b;
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}, not {expected:?}");
}

const AVERAGE: &str = "reducer average(x: f32) -> (f32, i64) {
    state { total: f32 = 0, n: i64 = 0 }
    lift { {n: 1, total: x} }
    combine(a, b) { {total: a.total + b.total, n: a.n + b.n} }
    finalize(s) { (s.total / f32(s.n), s.n) }
    empty (-1, 0)
    laws associative, commutative
}
";

#[test]
fn a_reducer_with_two_results_is_a_tuple() {
    let text = format!(
        "{AVERAGE}message m(src: {{x: f32}}) -> (f32, i64) {{ edge {{ src.x }} reduce average }}
program p(g: graph<N>, x: f32[N]) -> (mean: f32[N], n: i64[N]) {{ m(g, src: {{x}}) }}"
    );
    let out = run(&text, &[tensor(&[4], &[1f32, 2.0, 5.0, 9.0])]);
    close(&out[0], &[3.0, -1.0, 4.0, 9.0]);
    assert_eq!(out[1].numbers::<i64>().unwrap(), [2, 0, 3, 1]);
}

#[test]
fn the_node_function_takes_the_tuple_apart() {
    let text = format!(
        "{AVERAGE}message m(src: {{x: f32}}) -> f32 {{ edge {{ src.x }} reduce average node(s) {{ s.0 * f32(s.1) }} }}
program p(g: graph<N>, x: f32[N]) -> (total: f32[N]) {{ m(g, src: {{x}}) }}"
    );
    close(&run(&text, &[tensor(&[4], &[1f32, 2.0, 5.0, 9.0])])[0], &[6.0, 0.0, 12.0, 9.0]);
}

#[test]
fn reducers_are_mapped_along_extra_axes_and_their_extents_have_names_of_their_own() {
    // D of the reducer is 2·F of the program, and the program's D is another extent.
    let text =
        "message m<D, E>(src: {s: f32[D], v: f32[D, E]}) -> f32[D, E] { edge { (src.s, src.v) } reduce online_softmax }
program p<D, F>(g: graph<N>, s: f32[N, D], v: f32[N, D, 2*F], w: f32[F]) -> (y: f32[N, D, 2*F]) { m(g, src: {s, v}) }";
    let s: Vec<f32> = vec![0.0, 1.0, 2.0, f32::NEG_INFINITY, 0.5, 0.5, -1.0, f32::NEG_INFINITY];
    let v: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let w = tensor(&[1], &[0f32]);
    let out = run(text, &[tensor(&[4, 2], &s), tensor(&[4, 2, 2], &v), w]);
    let mut expected = Vec::new();
    for row in [vec![0usize, 2], vec![], vec![1, 0, 3], vec![3]] {
        for head in 0..2 {
            let weight = |j: &usize| f64::from(s[j * 2 + head]).exp();
            let sum: f64 = row.iter().map(weight).sum();
            for d in 0..2 {
                let value = |j: &usize| weight(j) * f64::from(v[j * 4 + head * 2 + d]);
                let total: f64 = row.iter().map(value).sum();
                expected.push(if sum == 0.0 { 0.0 } else { total / sum });
            }
        }
    }
    close(&out[0], &expected);
}

#[test]
fn reducers_of_the_language_have_their_values() {
    let text = "message m(src: {x: f32}) -> (f32, f32, bool, bool) {
    edge { (src.x, src.x, src.x > 4, src.x > 0) }
    reduce (logsumexp, variance, any, all)
}
program p(g: graph<N>, x: f32[N]) -> (l: f32[N], v: f32[N], any: bool[N], all: bool[N]) { m(g, src: {x}) }";
    let out = run(text, &[tensor(&[4], &[1f32, -2.0, 5.0, 3.0])]);
    let log = |x: &[f64]| x.iter().map(|x| x.exp()).sum::<f64>().ln();
    close(&out[0], &[log(&[1.0, 5.0]), f64::NEG_INFINITY, log(&[-2.0, 1.0, 3.0]), 3.0]);
    close(&out[1], &[4.0, 0.0, 38.0 / 9.0, 0.0]);
    assert_eq!(out[2].numbers::<bool>().unwrap(), [true, false, false, false]);
    assert_eq!(out[3].numbers::<bool>().unwrap(), [true, true, false, true]);
}

#[test]
fn dot_sums_over_the_last_axis_of_fields_and_in_messages() {
    let text = "message m<F>(src: {x: f32[F]}, dst: {x: f32[F]}) -> f32 { edge { dot(src.x, dst.x) } reduce sum }
program p<F>(g: graph<N>, x: f32[N, F]) -> (y: f32[N], z: f32[N]) { (m(g, src: {x}, dst: {x}), dot(x, x)) }";
    let out = run(text, &[tensor(&[4, 2], &[1f32, 2.0, 3.0, -1.0, 0.0, 5.0, 2.0, 2.0])]);
    close(&out[0], &[5.0 + 10.0, 0.0, -5.0 + 10.0 + 10.0, 8.0]);
    close(&out[1], &[5.0, 10.0, 25.0, 8.0]);
}

#[test]
fn a_step_starts_from_the_declared_state_and_minds_the_order() {
    let text = "reducer horner(x: f32) -> f32 {
    state { v: f32 = 1 }
    step(s, x) { {v: s.v * 10 + x} }
    combine(a, b) { a }
    finalize(s) { s.v }
    empty 0
}
message m(src: {x: f32}) -> f32 { edge { src.x } reduce horner }
program p(g: graph<N>, x: f32[N]) -> (y: f32[N]) { m(g, src: {x}) }";
    close(&run(text, &[tensor(&[4], &[1f32, 2.0, 5.0, 9.0])])[0], &[115.0, 0.0, 1219.0, 19.0]);
}

#[test]
fn reducers_of_the_language_work_in_double_precision_and_hide_behind_those_of_a_file() {
    let text = "reducer any(x: f64) -> f64 {
    state { v: f64 = 0 }
    lift { {v: x} }
    combine(a, b) { {v: max(a.v, b.v)} }
    finalize(s) { s.v }
    empty 7
    laws associative, commutative
}
message m(src: {x: f64}) -> (f64, f64) { edge { (src.x, src.x) } reduce (any, logsumexp) }
program p(g: graph<N>, x: f64[N]) -> (y: f64[N], z: f64[N]) { m(g, src: {x}) }";
    let out = run(text, &[tensor(&[4], &[1f64, 2.0, 5.0, 9.0])]);
    assert_eq!(out[0].numbers::<f64>().unwrap(), [5.0, 7.0, 9.0, 9.0]);
    assert!((out[1].numbers::<f64>().unwrap()[0] - (1f64.exp() + 5f64.exp()).ln()).abs() < 1e-14);
}

/// The diagnostics of a file with a reducer.
#[track_caller]
fn refused(reducer: &str, code: &str, part: &str) {
    let front = Front::of_text("model.tg", reducer.into(), &SemaOptions::default()).unwrap();
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    let all = shown.join("\n");
    assert!(shown.len() == 1 && all.contains(code) && all.contains(part), "{all}");
}

#[test]
fn a_step_that_is_not_combine_is_refused_with_an_example() {
    let reducer = |step: &str, laws: &str| {
        format!(
            "reducer r(x: f32) -> f32 {{
    state {{ total: f32 = 0 }}
    lift {{ {{total: x}} }}
    step(s, x) {{ {{total: s.total + {step}}} }}
    combine(a, b) {{ {{total: a.total + b.total}} }}
    finalize(s) {{ s.total }}
    empty 0
    {laws}
}}
program p(x: f32) -> (y: f32) {{ x }}"
        )
    };
    refused(&reducer("2 * x", "laws associative, commutative"), "TG0313", "`combine(s, lift(x))` is {total:");
    module(&reducer("x", "laws associative, commutative"));
    // Unless it is associative a row is one piece, and `step` may be anything.
    module(&reducer("2 * x", ""));
    module(&reducer("2 * x", "laws commutative"));
}

#[test]
fn laws_are_tried_on_states_of_several_messages() {
    // Of states of one message each no more than three meet, and no count is above three.
    refused(
        "reducer r(x: f32) -> f32 {
    state { total: f32 = 0, n: i64 = 0 }
    lift { {total: x, n: 1} }
    combine(a, b) { {total: a.total + b.total + where(a.n + b.n > 3, 1, 0), n: a.n + b.n} }
    finalize(s) { s.total }
    empty 0
    laws associative, commutative
}
program p(x: f32) -> (y: f32) { x }",
        "TG0313",
        "`r` is not associative",
    );
}

#[test]
fn laws_that_cannot_be_tried_are_no_laws() {
    let reducer = |size: &str| {
        format!(
            "reducer r<D>(x: f32[D], y: f32[{size}]) -> f32[D] {{
    state {{ s: f32[D] = 0 }}
    lift {{ {{s: x}} }}
    combine(a, b) {{ {{s: a.s + b.s}} }}
    finalize(s) {{ s.s }}
    empty 0
    laws associative, commutative
}}
program p(x: f32) -> (y: f32) {{ x }}"
        )
    };
    module(&reducer("D - 3"));
    refused(&reducer("D - 100"), "TG0313", "cannot be tried");
}

/// The laws are those of the algebra: what an `f16` rounds neither breaks them nor hides that they are broken.
#[test]
fn laws_of_halves_are_tried_without_their_rounding() {
    let reducer = |half: &str, combined: &str| {
        format!(
            "reducer r<D>(x: {half}, y: {half}[D]) -> ({half}, {half}[D]) {{
    state {{ s: {half} = 0, t: {half}[D] = 0 }}
    lift {{ {{s: x, t: exp({half}(f32(y)))}} }}
    combine(a, b) {{ {{s: {combined}, t: a.t + b.t}} }}
    finalize(s) {{ (s.s, s.t) }}
    empty (0, 0)
    laws associative, commutative
}}
program p(x: f32) -> (y: f32) {{ x }}"
        )
    };
    for half in ["f16", "bf16"] {
        module(&reducer(half, "a.s + b.s"));
        refused(&reducer(half, "a.s + 1.01 * b.s"), "TG0313", "this does not hold");
    }
}

/// In the type of the messages 2048 + 1 would be 2048 (of bf16, 256 + 1 would be 256), and a row loses all that is small.
#[test]
fn reducers_of_the_language_sum_halves_in_single_precision() {
    for (half, big, expected) in [("f16", 2048.0, 683.5), ("bf16", 256.0, 86.0)] {
        let text = format!(
            "message m(src: {{s: {half}, v: {half}[1]}}) -> {half}[1] {{ edge {{ (src.s, src.v) }} reduce online_softmax }}
program p(g: graph<N>, v: f32[N, 1]) -> (y: f32[N, 1]) {{ f32(m(g, src: {{s: fill(N, {half}(0)), v: {half}(v)}})) }}"
        );
        close(&run(&text, &[tensor(&[4, 1], &[1f32, big, 5.0, 1.0])])[0], &[3.0, 0.0, expected, 1.0]);
    }
}

#[test]
fn the_state_fixes_all_extents() {
    let reducer = "reducer spread<D>(x: f32[D]) -> f32[D] {
    state { n: f32 = 0 }
    lift { {n: 1} }
    combine(a, b) { {n: a.n + b.n} }
    finalize(s) { fill([D], s.n) }
    empty 0
    laws associative, commutative
}
program p(x: f32) -> (y: f32) { x }";
    refused(reducer, "TG0209", "no part of the state fixes it");
}
