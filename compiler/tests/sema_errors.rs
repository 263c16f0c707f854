//! Each mistake gives exactly its code, with the caret under the guilty text; one mistake gives one error.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeMap;
use tiga_source::Severity;
use tigac::driver::Front;
use tigac::sema::SemaOptions;

/// A program with the findings it must give.
struct Case {
    title: String,
    /// Code and guilty text of each, in order.
    findings: Vec<(String, String)>,
    text: String,
}

/// Cases are separated by lines of `----`; each begins with lines `TG0101 guilty text`.
fn cases(text: &str) -> Vec<Case> {
    let mut out = Vec::new();
    for chunk in text.split("----\n").filter(|c| !c.trim().is_empty()) {
        let heads = chunk.lines().take_while(|l| l.starts_with("TG"));
        let findings: Vec<(String, String)> =
            heads.map(|l| l.split_once(' ').map(|(c, t)| (c.into(), t.into())).unwrap()).collect();
        let text: Vec<&str> = chunk.lines().skip(findings.len()).collect();
        out.push(Case { title: chunk.lines().next().unwrap().into(), findings, text: text.join("\n") });
    }
    out
}

fn run(name: &str, text: &str) -> usize {
    let cases = cases(text);
    let mut failures = Vec::new();
    for case in &cases {
        let front = Front::of_text(name, case.text.clone(), &SemaOptions::default()).unwrap();
        let found: Vec<(String, String)> = front
            .diagnostics
            .iter()
            .filter(|d| d.severity == Severity::Error)
            .map(|d| (d.code.to_owned(), front.sources.text(d.primary.span).to_owned()))
            .collect();
        if found != case.findings {
            let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
            failures.push(format!("== {}\n{}\nfound {found:?}\n{}", case.title, case.text, shown.join("\n")));
        }
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    cases.len()
}

#[test]
fn carets_stand_under_the_guilty_text() {
    let count = run("names.tg", include_str!("cases/names.txt"))
        + run("types.tg", include_str!("cases/types.txt"))
        + run("messages.tg", include_str!("cases/messages.txt"))
        + run("control.tg", include_str!("cases/control.txt"));
    assert!(count >= 60, "only {count} cases");
}

/// The rendered text of the only finding.
fn rendered(text: &str) -> String {
    let front = Front::of_text("model.tg", text.into(), &SemaOptions::default()).unwrap();
    assert_eq!(front.errors(), 1, "{:?}", front.diagnostics);
    front.diagnostics[0].render(&front.sources, false)
}

#[test]
fn a_shape_mismatch_names_both_shapes_and_both_places() {
    let text = rendered("program p<set N, F, H>(x: f32[N, F], b: f32[H]) -> (y: f32[N, F]) {\n    x + b\n}\n");
    for part in [
        "error[TG0202]: shapes do not match: `f32[N, F]` and `f32[H]`",
        "model.tg:2:7",
        "`x` declared here with type `f32[N, F]`",
        "`b` declared here with type `f32[H]`",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
}

#[test]
fn an_unknown_field_lists_the_fields_and_the_nearest_spelling() {
    let text = rendered("message m(src: {heat: f32, w: f32}) -> f32 { edge { src.haet } reduce sum }\n");
    for part in ["has no field `haet`", "its fields are `heat`, `w`", "a field with a similar name exists", "heat"] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
}

#[test]
fn an_argument_says_what_fixed_the_dimension() {
    let text = rendered(
        "fn dots<F>(x: f32[F], y: f32[F]) -> f32 { sum(x * y, axis: 0) }\n\
         program p<A, B>(a: f32[A], b: f32[B]) -> (y: f32) {\n    dots(a, b)\n}\n",
    );
    for part in ["expected `f32[A]`, found `f32[B]`", "`F` is `A` here", "parameter `y`: `f32[F]`"] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
}

#[test]
fn every_mistake_of_a_file_is_reported_once() {
    let text = "\
fn f(x: f32) -> f32 { x + unknown1 }
message m(src: {x: f32}) -> f32 { edge { src.y } reduce sum }
program a(g: graph<N>, x: f32[N]) -> (y: f32[N]) { m(g, src: {x: unknown2}) + f(1.0) + missing(x) }
program b(x: f32) -> (y: f64) { let z = unknown3; let w = z + 1; x }
program c(x: f32) -> (y: f32) { x }
";
    let front = Front::of_text("model.tg", text.into(), &SemaOptions::default()).unwrap();
    let mut by_code: BTreeMap<&str, usize> = BTreeMap::new();
    for d in &front.diagnostics {
        *by_code.entry(d.code).or_default() += 1;
    }
    let expected = BTreeMap::from([("TG0101", 3), ("TG0105", 1), ("TG0107", 1), ("TG0203", 1)]);
    assert_eq!(by_code, expected);
    assert!(front.analysis.ir.funcs.is_empty());
}

#[test]
fn a_syntax_error_hides_nothing_in_other_items() {
    let text = "fn f(x: f32) -> f32 { x + }\nprogram p(x: f32) -> (y: f32) { f(x) + unknown }\n";
    let front = Front::of_text("model.tg", text.into(), &SemaOptions::default()).unwrap();
    let codes: Vec<&str> = front.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes.len(), 2, "{codes:?}");
    assert!(codes[0].starts_with("TG00") && codes[1] == "TG0101", "{codes:?}");
}

#[test]
fn a_conversion_that_may_lose_something_says_what() {
    let types = ["i32", "i64", "f32", "f64"];
    for (from, to, says) in [
        ("i64", "f32", Some("up to 2^24")),
        ("i32", "f32", Some("up to 2^24")),
        ("i64", "f64", Some("up to 2^53")),
        ("f64", "f32", Some("24 of the 53")),
        ("f32", "i64", Some("drops the fraction")),
        ("i64", "i32", Some("last 32 bits")),
        ("i32", "i64", None),
        ("i32", "f64", None),
        ("f32", "f64", None),
    ] {
        let text = rendered(&format!("program p(x: {from}) -> (y: {to}) {{\n    x\n}}\n"));
        assert!(text.contains(&format!("{to}(x)")), "{text}");
        assert_eq!(text.matches("= note: ").count(), usize::from(says.is_some()), "{text}");
        assert!(says.is_none_or(|says| text.contains(says)), "{text}");
    }
    // An operator converts towards floats, and says so too.
    for (i, a) in types.iter().enumerate() {
        for b in &types[i + 1..] {
            let text = rendered(&format!("program p(x: {a}, y: {b}) -> (z: {b}) {{\n    x * y\n}}\n"));
            let exact = matches!((*a, *b), ("i32", "i64" | "f64") | ("f32", "f64"));
            assert!(text.contains(&format!("{b}(x)")), "{text}");
            assert_eq!(text.contains("= note: "), !exact, "{text}");
        }
    }
}

/// Demands texts in what is said of a model, and others that are not said.
#[track_caller]
fn advises(text: &str, parts: &[&str], never: &[&str]) {
    let said = rendered(text);
    for part in parts {
        assert!(said.contains(part), "{part} is missing from\n{said}");
    }
    for part in never {
        assert!(!said.contains(part), "{part} is said in\n{said}");
    }
}

#[test]
fn a_field_without_its_record_is_shown_with_it() {
    let one = "message m(src: {rank: f32}, rang: f32) -> f32 { edge { 2.0 * rank } reduce sum }\n";
    advises(one, &["`src` has a field of this name", "2.0 * src.rank"], &["similar name"]);
    let two = "message m(src: {x: f32}, dst: {x: f32}) -> f32 { edge { 2.0 * x } reduce sum }\n";
    advises(two, &["help: fields of this name are `src.x` and `dst.x`"], &["similar name"]);
    // The node function sees no `src`.
    let hidden = "message m(src: {x: f32}) -> f32 { edge { src.x } reduce sum node(s) { s * x } }\n";
    advises(hidden, &["cannot find value `x`"], &["has a field of this name"]);
}

#[test]
fn an_assignment_is_answered_with_let() {
    let text = "program p(x: f32) -> (y: f32) {\n    x = x + 1.0;\n    x\n}\n";
    advises(text, &["cannot assign to `x`", "values do not change; name a new one: `let x = …`"], &["=="]);
    let last = "program p(x: f32) -> (y: f32) {\n    x = x + 1.0\n}\n";
    advises(last, &["cannot assign to `x`"], &["==", "let` statement"]);
    let compared = "program p(x: f32) -> (y: f32) { if x = 2.0 { x } else { 1.0 } }\n";
    advises(compared, &["equality is `==`"], &["cannot assign"]);
}

#[test]
fn names_of_one_letter_and_the_item_itself_are_not_suggested() {
    let set = "program p<F>(x: f32[N, F]) -> (y: f32) { 1.0 }\n";
    advises(set, &["declare a set with `<set N>` or `graph<N>`"], &["similar name"]);
    let letter = "program p(x: f32) -> (y: f32) { z }\n";
    advises(letter, &["cannot find value `z`"], &["similar name"]);
    for item in ["program diffuses(x: f32) -> (y: f32)", "fn diffuses(x: f32) -> f32"] {
        advises(&format!("{item} {{ diffuse(x) }}\n"), &["cannot find function `diffuse`"], &["similar name"]);
    }
    let other = "fn diffuses(x: f32) -> f32 { x }\nprogram p(x: f32) -> (y: f32) { diffuse(x) }\n";
    advises(other, &["a function with a similar name exists"], &[]);
    advises(
        "const half: f32 = hal\nprogram p() -> (y: f32) { half }\n",
        &["cannot find value `hal`"],
        &["similar name"],
    );
}

#[test]
fn an_integer_is_converted_to_the_float_it_meets() {
    let program =
        |body: &str| format!("program p<set N>(x: f32[N], w: f64[N], d: i64[N]) -> (y: f32[N]) {{ {body} }}\n");
    for body in ["x / sqrt(d)", "sqrt(d) * -x", "(x + 1.0) * exp(sqrt(d))"] {
        advises(&program(body), &["(f32(d))"], &["f64(d)"]);
    }
    advises(&program("w * sqrt(d)"), &["sqrt(f64(d))"], &["f32(d)"]);
    for body in ["sqrt(d)", "x * half(sqrt(d))"] {
        let text = program(body) + "fn half(w: f64) -> f32 { f32(w) }\n";
        advises(&text, &["convert it: `f32(d)` or `f64(d)`"], &[]);
    }
}

#[test]
fn numbers_with_suffixes_are_told_that_there_are_none() {
    for number in ["2.0f", "1f32", "3u8", "1UL", "7i64"] {
        advises(&format!("program p(x: f32) -> (y: f32) {{ x + {number} }}\n"), &["numbers have no suffix"], &[]);
    }
    advises("program p(x: f32) -> (y: f32) { x + 1st }\n", &["names do not begin with a digit"], &["suffix"]);
}

#[test]
fn softmax_of_features_asks_for_its_axis() {
    let text = "program p<set N, F>(h: f32[N, F]) -> (y: f32[N, F]) { softmax(h) }\n";
    advises(text, &["which axis adds up to one?", "over the last one, write `softmax(h, axis: -1)`"], &[]);
    let field = "program p<set N>(h: f32[N]) -> (y: f32[N]) { log_softmax(h) }\n";
    advises(field, &["over the last one, write `log_softmax(h, axis: -1)`"], &[]);
}
