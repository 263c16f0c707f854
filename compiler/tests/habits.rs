//! What is said to whoever writes as in NumPy, PyTorch or Rust: what is meant is named, and what is suggested compiles.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use tiga_source::Diagnostic;
use tigac::driver::Front;
use tigac::sema::SemaOptions;

fn front(text: &str) -> Front {
    Front::of_text("model.tg", text.to_owned(), &SemaOptions::default()).unwrap()
}

/// The only finding, and how it is shown.
#[track_caller]
fn only(text: &str) -> (Diagnostic, String) {
    let front = front(text);
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    let shown = shown.join("\n");
    assert_eq!(front.diagnostics.len(), 1, "{shown}");
    (front.diagnostics[0].clone(), shown)
}

/// Demands texts in what is said.
#[track_caller]
fn says(text: &str, parts: &[&str]) {
    let (_, shown) = only(text);
    for part in parts {
        assert!(shown.contains(part), "{part} is missing from\n{shown}");
    }
}

/// Demands that the suggestion makes a right model of a wrong one.
#[track_caller]
fn mends(text: &str, mended: &str) {
    let (finding, shown) = only(text);
    let [suggestion] = finding.suggestions.as_slice() else { panic!("no suggestion\n{shown}") };
    let (start, end) = (suggestion.span.start as usize, suggestion.span.end as usize);
    let new = format!("{}{}{}", &text[..start], suggestion.replacement, &text[end..]);
    assert!(new.contains(mended), "`{mended}` is not in\n{new}\n{shown}");
    let front = front(&new);
    let errors: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    assert!(errors.is_empty(), "{new}\n{}", errors.join("\n"));
}

/// A program over features.
fn program(result: &str, body: &str) -> String {
    format!("program p<set N>(h: f32[N, 4]) -> (y: {result}) {{ {body} }}\n")
}

/// A message of one value.
fn message(result: &str, rest: &str) -> String {
    format!("message m(src: {{h: f32}}) -> {result} {{ edge {{ src.h }} {rest} }}\n")
}

#[test]
fn an_axis_is_named() {
    for (body, mended) in [
        ("argmax(h)", "argmax(h, axis: -1)"),
        ("argmax(h, -1)", "argmax(h, axis: -1)"),
        ("argmax(h, dim: -1)", "argmax(h, axis: -1)"),
        ("argmin(h, dims: 1)", "argmin(h, axis: 1)"),
    ] {
        mends(&program("i64[N]", body), mended);
    }
    for (result, body, mended) in [
        ("f32[N]", "sum(h)", "sum(h, axis: -1)"),
        ("f32[N]", "mean(h, 1)", "mean(h, axis: 1)"),
        ("f32[N, 4]", "softmax(h, -1)", "softmax(h, axis: -1)"),
        ("f32[N, 4]", "cumsum(h, -1)", "cumsum(h, axis: -1)"),
        ("f32[N, 2]", "slice(h, 0, 2, 1)", "slice(h, 0, 2, axis: 1)"),
        ("f32[N]", "take(h, 0, -1)", "take(h, 0, axis: -1)"),
    ] {
        mends(&program(result, body), mended);
    }
    says(&program("i64[N]", "argmax(h)"), &["without an axis, `argmax` reduces over `N`"]);
    // Where a sum over the last axis has another shape than what is wanted, it is not what was meant.
    let (finding, shown) = only(&program("f32[N, 2]", "sum(h)"));
    assert!(finding.suggestions.is_empty() && !shown.contains("axis: -1"), "{shown}");
    // Of a field without features nothing is said of axes.
    let (_, shown) = only("program p<set N>(h: f32[N]) -> (y: f32[N]) { sum(h) }\n");
    assert!(!shown.contains("axis"), "{shown}");
}

#[test]
fn shapes_and_parts_of_axes() {
    mends(&program("f32[N, 2, 2]", "reshape(h, 2, 2)"), "reshape(h, [2, 2])");
    says(&program("f32[N, 2, 2]", "reshape(h, 1 + 1, 2)"), &["the new extents are one list"]);
    mends(&program("f32[N]", "h.0"), "take(h, 0, axis: -1)");
    says(&program("f32[N]", "(h + h).0"), &["`take(…, 0, axis: -1)` does"]);
    for body in ["h[:, 0:2]", "h[0:2]", "h[..., 0]", "h[:]"] {
        if body.contains(':') {
            says(&program("f32[N, 2]", body), &["TG0004", "`slice(x, begin, end, axis: -1)`"]);
        }
    }
}

#[test]
fn a_slice_of_constants_is_certainly_outside() {
    says(&program("f32[N, 3]", "slice(h, 3, 6)"), &["do not lie in", "ends at 6, and the axis has 4 elements"]);
    says(&program("f32[N, 3]", "slice(h, 5, 5)"), &["ends at 5, and the axis has 4 elements"]);
    says(&program("f32[N, 2]", "slice(h, 3, 1)"), &["do not lie in", "begins at 3, after its end at 1"]);
    let sizes = "program p<set N, F>(h: f32[N, F]) -> (y: f32[N, 2]) { slice(h, 0, 2) }\n";
    says(sizes, &["must lie in an axis of `F`", "not known to lie there"]);
}

#[test]
fn reducers_and_functions_have_their_names_here() {
    for (habit, mended) in
        [("add", "sum"), ("average", "mean"), ("maximum", "max"), ("mul", "prod"), ("var", "variance")]
    {
        mends(&message("f32", &format!("reduce {habit}")), &format!("reduce {mended}"));
    }
    for (result, body, mended) in [
        ("f32[N, 8]", "cat(h, h)", "concat(h, h)"),
        ("f32[N, 2, 2]", "view(h, [2, 2])", "reshape(h"),
        ("f32[N, 4]", "maximum(h, 0.0)", "max(h, 0.0)"),
    ] {
        mends(&program(result, body), mended);
    }
}

#[test]
fn top_is_a_reducer_with_its_number_in_angles() {
    says(&program("f32[N, 3]", "top<3>(h)"), &["TG0012", "`top<K>` is a reducer and stands after `reduce`"]);
    says(&program("f32[N, 3]", "top(h, 3)"), &["TG0107", "`top<K>` is a reducer"]);
    let (finding, shown) = only(&program("f32[N, 3]", "relu<3>(h)"));
    assert!(finding.suggestions.is_empty() && shown.contains("`relu(…)`"), "{shown}");
    mends("program p(a: f32) -> (y: bool) { 0.0 < a > 1.0 }\n", "0.0 < a && a > 1.0");
    mends(&message("(f32[3], i64[3])", "reduce top(3)"), "reduce top<3>");
    says(&message("f32", "reduce sum(h)"), &["a reducer is only named"]);
    let pair = "message m(src: {h: f32}) -> ((f32[3], i64[3]), (f32[3], i64[3])) {\n    \
                edge { (src.h, src.h) }\n    reduce top<3>\n}\n";
    says(pair, &["(top<3>, top<3>)"]);
    let names = message("f32[3]", "reduce top<3> node(best, at) { best }");
    says(&names, &["TG0303", "gives one value, a tuple of 2", "`node(best) { best.0 }`"]);
    mends(&message("f32[3]", "reduce top<3> node(best) { best }"), "{ best.0 }");
    mends(&message("i64[3]", "reduce top<3> node(best) { best }"), "{ best.1 }");
}

#[test]
fn of_two_parts_that_both_fit_none_is_suggested() {
    let (finding, shown) =
        only("message m(src: {k: i64}) -> i64[3] { edge { src.k } reduce top<3> node(best) { best } }\n");
    assert!(finding.suggestions.is_empty() && shown.contains("found `(i64[3], i64[3])`"), "{shown}");
}

#[test]
fn a_reducer_with_a_symbol_for_its_number_is_reported_once() {
    let text = "message m<K>(src: {h: f32}) -> (f32[K], i64[K]) { edge { src.h } reduce top<K> }\n\
                program p(g: graph<N>, h: f32[N]) -> (y: f32[N, 3]) { let (y, at) = m(g, src: {h}); y }\n";
    says(text, &["TG0315"]);
}

#[test]
fn a_node_function_asks_for_a_reducer() {
    mends(&message("f32", "node(v) { v }"), "reduce sum node(v)");
    says(&message("f32", ""), &["-> edges f32"]);
    let two = "message m(src: {h: f32}) -> f32 { edge { (src.h, src.h > 0.0) } node(a, b) { a + f32(b) } }\n";
    mends(two, "reduce (sum, any) node(a, b)");
    let help = "the node function sees the reduced values, `dst` and the message's parameters";
    says(&message("f32", "reduce sum node(v) { v + src.h }"), &["TG0101", help]);
    says(&message("f32", "reduce sum node(v) { v + f32(src.index) }"), &["TG0308", help]);
}

#[test]
fn fields_of_another_record_are_shown_it() {
    let program = |call: &str| {
        format!(
            "message of_edges(edge: {{w: f32}}) -> f32 {{ edge {{ edge.w }} reduce sum }}\n\
             message of_nodes(src: {{w: f32}}) -> f32 {{ edge {{ src.w }} reduce sum }}\n\
             program p(g: graph, e: f32[g.edges], s: f32[g.src], d: f32[g.dst]) -> (y: f32[g.dst]) {{ {call} }}\n"
        )
    };
    says(&program("of_nodes(g, src: {w: e})"), &["TG0307", "a field of edges is read as one of `edge: {…}`"]);
    says(&program("of_edges(g, edge: {w: s})"), &["TG0307", "a field of nodes is read as one of `src: {…}`"]);
    says(&program("of_nodes(g, src: {w: d})"), &["TG0307", "`transpose(g)` exchanges the two"]);
    let (_, shown) = only(&program("of_nodes(g, src: {w: e})"));
    assert!(!shown.contains("transpose"), "{shown}");
}

#[test]
fn a_function_that_takes_a_field_declares_its_set() {
    let unit = "fn unit<F>(x: f32[F]) -> f32[F] { x / sqrt(dot(x, x)) }\n";
    says(
        &format!("{unit}{}", program("f32[N, 4]", "unit(h)")),
        &["TG0203", "to take a field, `unit` declares its set: `unit<set N, F>` and `x: f32[N, F]`"],
    );
    // One mistake: what its result would be is not known.
    let half = "fn half(x: f32) -> f32 { x / 2.0 }\nprogram p<set N>(h: f32[N]) -> (y: f32[N]) { half(h) }\n";
    says(half, &["expected `f32`, found `f32[N]`", "`half<set N>` and `x: f32[N]`"]);
    let edges = "fn half(x: f32) -> f32 { x / 2.0 }\n\
                 program p(g: graph<N>, w: f32[g.edges]) -> (y: f32[g.edges]) { half(w) }\n";
    says(edges, &["`half<set E>` and `x: f32[E]`"]);
    // The name of the set may be another size in the callee.
    let taken = "fn unit<N>(x: f32[N]) -> f32[N] { x / sqrt(dot(x, x)) }\n";
    says(&format!("{taken}{}", program("f32[N, 4]", "unit(h)")), &["`unit<set S, N>` and `x: f32[S, N]`"]);
    // A wrong argument that is no field leaves the result as it is.
    let wrong = "fn half(x: f32) -> f32 { x / 2.0 }\nprogram p(n: i64) -> (y: f64) { half(n) }\n";
    assert_eq!(front(wrong).errors(), 2);
}

#[test]
fn members_of_arrays_are_functions_here() {
    for (body, help) in [
        ("h.sum(0)", "`sum(h)` over the set, `sum(h, axis: -1)` over an axis"),
        ("(h + h).argmax()", "`argmax(…, axis: -1)` over an axis"),
        ("h.softmax(1)", "it is a function: `softmax(h, …)`"),
        ("h.view(2, 2)", "`reshape(x, [H, D])`"),
        ("h.T", "`transpose_axes(h, i, j)`"),
        ("h.shape", "`len(N)`"),
    ] {
        says(&program("f32[N]", body), &["TG0105", help]);
    }
    says(&program("f32[N]", "h.length"), &["TG0105"]);
}

#[test]
fn conversions_have_the_name_of_the_type() {
    mends("program p<set N>(k: i64[N]) -> (y: f32[N]) { float(k) }\n", "{ f32(k) }");
    mends("program p<set N>(k: f32[N]) -> (y: i64[N]) { long(k) }\n", "{ i64(k) }");
    says("program p<set N>(k: i64[N]) -> (y: f32[N]) { float(k, 1) }\n", &["TG0107"]);
}

#[test]
fn products_of_matrices_are_an_operator() {
    let product = |w: &str, body: &str| {
        format!("program p<set N, F, G>(h: f32[N, F], w: f32[{w}]) -> (y: f32[N, G]) {{ {body} }}\n")
    };
    says(&product("F, G", "matmul(h, w)"), &["TG0107", "`a @ b` multiplies by a matrix or a vector"]);
    says(&product("G, F", "h @ w"), &["TG0212", "`transpose_axes(w, 0, 1)`"]);
    let (_, shown) = only(&product("G, G", "h @ w"));
    assert!(!shown.contains("transpose_axes"), "{shown}");
}

#[test]
fn a_field_of_another_name_is_given_under_the_right_one() {
    let call = |fields: &str, given: &str| {
        format!(
            "message m(src: {{{fields}}}) -> f32 {{ edge {{ src.feature }} reduce sum }}\n\
             program p(g: graph<N>, features: f32[N], x: f32[N]) -> (y: f32[N]) {{ m(g, src: {given}) }}\n"
        )
    };
    mends(&call("feature: f32", "{features}"), "src: {feature: features}");
    mends(&call("feature: f32", "{features: x + 1.0}"), "src: {feature: x + 1.0}");
    mends(&call("feature: f32", "{x}"), "src: {feature: x}");
    mends(&call("feature: f32", "{x: features}"), "src: {feature: features}");
    // Of two fields without a value either may be meant; a record with a name is written elsewhere.
    for (fields, given) in [("feature: f32, weight: f32", "{x}"), ("feature: f32, weight: f32", "{z: x}")] {
        let (finding, shown) = only(&call(fields, given));
        assert!(finding.suggestions.is_empty() && shown.contains("TG0306"), "{shown}");
    }
    // Of two that the message does not read, neither is said to be the one.
    let front = front(&call("feature: f32", "{x, z: x}"));
    assert!(front.diagnostics.len() == 2 && front.diagnostics.iter().all(|d| d.suggestions.is_empty()));
    let named = call("feature: f32", "r").replace("{ m(", "{ let r = {features}; m(");
    let (finding, shown) = only(&named);
    assert!(finding.suggestions.is_empty() && shown.contains("TG0306"), "{shown}");
}

#[test]
fn clauses_begin_with_their_words() {
    let clauses = |clauses: &str| format!("message m(src: {{h: f32}}) -> f32 {{ {clauses} }}\n");
    says(&clauses("{ src.h } reduce sum"), &["TG0004", "each clause begins with its word"]);
    says(&clauses("edge { src.h } reduce sum { 1.0 }"), &["TG0004", "each clause begins with its word"]);
    says(&clauses("edge { src.h } reduce sum node { 1.0 }"), &["TG0004", "`node(total) { … }`"]);
    mends("program p(g: Graph<N>, x: f32[N]) -> (y: f32[N]) { x }\n", "g: graph<N>");
    says(&program("f32[N]", "sum(h, axis=-1)"), &["TG0018", "sum(h, axis: -1)"]);
    says(&program("f32[N]", "for i in 0..10 { h }"), &["TG0004", "for i < 10"]);
}

#[test]
fn an_axis_has_its_name_and_its_sign_at_once() {
    // The name that is kept for reading on is reported too.
    let front = front(&program("f32[N]", "sum(h, dim=-1)"));
    assert!(front.diagnostics.iter().any(|d| d.suggestions.iter().any(|s| s.replacement == "axis: ")));
}

#[test]
fn sets_and_records_are_declared() {
    let dense = |generics: &str, call: &str| {
        format!(
            "fn dense<{generics}>(x: f32[N, F], w: f32[F, H]) -> f32[N, H] {{ x @ w }}\n\
             program p(g: graph<N>, x: f32[N, 4], w: f32[4, 3]) -> (y: f32[N, 3]) {{ {call} }}\n"
        )
    };
    says(&dense("N, F, H", "dense(x, w)"), &["TG0209", "declare it as `<set N>`"]);
    let message =
        |params: &str, value: &str| format!("message m({params}) -> f32 {{ edge {{ {value} }} reduce sum }}\n");
    says(&message("src: {h: f32}", "src.h * edge.w"), &["TG0101", "add `edge: {…}` to its parameters"]);
    says(&message("src: {h: f32}", "src.h * dst.h"), &["TG0101", "add `dst: {…}` to its parameters"]);
    says(
        "message m(src: {h: f32}) -> f32 { edge { src.h } reduce sum node(t) { t + src.h } }\n",
        &["node function sees"],
    );
    says("program p(g: graph<N>, w: f32[E]) -> (y: f32[N]) { fill(N, 0.0) }\n", &["TG0104", "`g.edges`"]);
}

#[test]
fn matrices_are_not_multiplied_by_a_star() {
    let product =
        |body: &str| format!("program p<set N, F, H>(x: f32[N, F], w: f32[F, H]) -> (y: f32[N, H]) {{ {body} }}\n");
    says(&product("x * w"), &["TG0202", "`x @ w`"]);
    says(&product("dot(x, w)"), &["TG0202", "`x @ w`"]);
    says(&product("w @ x"), &["TG0212", "the other way round they fit: `x @ w`"]);
    says(&product("x @ transpose(w)"), &["TG0203", "`transpose_axes(w, 0, 1)`"]);
}

#[test]
fn a_number_meets_what_it_is_computed_with() {
    mends("program p(g: graph<N>, x: i64[N], z: f32[N]) -> (y: f32[N]) { z + (x + 1.5) }\n", "f32(x) + 1.5");
}

#[test]
fn what_is_advised_for_functions_of_other_libraries_compiles() {
    for (habit, result, advised) in [
        ("elu(h)", "f32[N, 4]", "where(x > 0, x, exp(x) - 1)"),
        ("gelu(h)", "f32[N, 4]", "x / (1 + exp(-1.702 * x))"),
        ("log1p(h)", "f32[N, 4]", "log(1 + x)"),
        ("zeros_like(h)", "f32[N, 4]", "0 * x"),
        ("norm(h)", "f32[N]", "sqrt(sum(x * x, axis: -1))"),
        ("clamp(h, 0.0, 1.0)", "f32[N, 4]", "min(max(x, low), high)"),
    ] {
        says(&program(result, habit), &["TG0107", advised]);
        let body = format!("let (x, low, high) = (h, 0.0, 1.0); {advised}");
        let right = front(&program(result, &body));
        let shown: Vec<String> = right.diagnostics.iter().map(|d| d.render(&right.sources, false)).collect();
        assert!(shown.is_empty(), "{advised}\n{}", shown.join("\n"));
    }
}
