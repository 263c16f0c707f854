//! What the help of TG0906 tells to write is accepted, and means what the missing function would, at its extremes too.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use tiga_ir::interp::{Element, Tensor, Value, run_domain};
use tigac::driver::Front;
use tigac::sema::SemaOptions;

fn front(text: &str) -> Front {
    Front::of_text("model.tg", text.into(), &SemaOptions::default()).unwrap()
}

/// What the help says, if it says anything.
fn instead(signature: &str, call: &str) -> Option<String> {
    let front = front(&format!("{signature} {{ {call} }}"));
    assert_eq!(front.errors(), 1, "{:?}", front.diagnostics);
    let text = front.diagnostics[0].render(&front.sources, false);
    assert!(text.contains("error[TG0906]"), "{text}");
    let help = text.split_once("help: write `")?.1;
    Some(help.rsplit_once('`').unwrap().0.to_owned())
}

fn tensor<T: Element>(shape: &[usize], numbers: &[T]) -> Value {
    Value::Tensor(Tensor::of(shape, numbers).unwrap())
}

/// Takes the help at its word.
#[track_caller]
fn run<T: Element>(signature: &str, call: &str, args: &[Value]) -> Vec<T> {
    let body = instead(signature, call).unwrap();
    let front = front(&format!("{signature} {{ {body} }}"));
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let results = run_domain(&front.analysis.ir, "p", args).unwrap();
    results[0].as_tensor().unwrap().numbers::<T>().unwrap()
}

#[track_caller]
fn near(found: &[f32], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let error = (f64::from(*found) - expected).abs();
        assert!(error <= 1e-6 * expected.abs(), "{found} instead of {expected}");
    }
}

/// Of three values that differ by one.
const SOFTMAX: [f64; 3] = [0.090_030_573_170_380_46, 0.244_728_471_054_797_64, 0.665_240_955_774_821_9];

#[test]
fn softmax_of_large_values_is_no_nan() {
    let large = [1000f32, 1001.0, 1002.0];
    let rows = tensor(&[1, 3], &large);
    near(&run("program p<set N>(x: f32[N, 3]) -> (y: f32[N, 3])", "softmax(x, axis: -1)", &[rows]), &SOFTMAX);
    let vector = tensor(&[3], &large);
    near(&run("program p<F>(x: f32[F]) -> (y: f32[F])", "softmax(x, axis: 0)", &[vector]), &SOFTMAX);
    let column = tensor(&[3, 1, 1], &large);
    near(&run("program p<set N>(x: f32[N, 1, 1]) -> (y: f32[N, 1, 1])", "softmax(x, axis: 0)", &[column]), &SOFTMAX);
}

#[test]
fn log_softmax_of_large_values_is_finite() {
    let rows = tensor(&[1, 3], &[1000f32, 1001.0, 1002.0]);
    let found = run("program p<set N>(v: f32[N, 3]) -> (y: f32[N, 3])", "log_softmax(v, axis: 1)", &[rows]);
    near(&found, &SOFTMAX.map(f64::ln));
}

#[test]
fn variance_of_values_far_from_zero_does_not_cancel() {
    let rows = tensor(&[1, 2], &[10_000f32, 10_001.0]);
    near(&run("program p<set N>(x: f32[N, 2]) -> (y: f32[N])", "variance(x, axis: -1)", &[rows]), &[0.25]);
    let column = tensor(&[2], &[10_000f32, 10_001.0]);
    near(&run("program p<set N>(x: f32[N]) -> (y: f32)", "variance(x)", &[column]), &[0.25]);
}

#[test]
fn conditions_are_reduced() {
    for (bits, any, all) in [([true, false], true, false), ([false; 2], false, false), ([true; 2], true, true)] {
        let signature = "program p<set N>(c: bool[N]) -> (y: bool)";
        assert_eq!(run::<bool>(signature, "any(c)", &[tensor(&[2], &bits)]), [any]);
        assert_eq!(run::<bool>(signature, "all(c)", &[tensor(&[2], &bits)]), [all]);
        let signature = "program p<set N, H>(c: bool[N, H, 2]) -> (y: bool[N, H])";
        assert_eq!(run::<bool>(signature, "any(c, axis: 2)", &[tensor(&[1, 1, 2], &bits)]), [any]);
    }
}

#[test]
fn nothing_is_said_where_it_would_not_be_accepted() {
    let heads = "program p<set N, H, D>(x: f32[N, H, D], n: i64[N, H]) -> (y: f32[N, H, D])";
    for call in [
        "softmax(x, axis: -1)",
        "softmax(x, axis: 1)",
        "log_softmax(x, axis: -1)",
        "variance(x, axis: -1)",
        "softmax(n, axis: -1)",
        "variance(n, axis: -1)",
        "softmax(x, axis: 3)",
        "any(n)",
    ] {
        assert_eq!(instead(heads, call), None, "{call}");
    }
}
