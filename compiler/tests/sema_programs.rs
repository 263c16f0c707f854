//! Programs become domain functions that print, parse back the same, and mean what they say.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use tiga_abi::DType;
use tiga_ir::interp::{Element, Relation, Tensor, Value, run_domain};
use tiga_ir::{Module, SymKind, parse_module, print_module};
use tigac::driver::Front;
use tigac::sema::SemaOptions;

#[track_caller]
fn front_with(text: &str, options: &SemaOptions) -> Front {
    let front = Front::of_text("model.tg", text.into(), options).unwrap();
    let shown: Vec<String> = front.diagnostics.iter().map(|d| d.render(&front.sources, false)).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    let printed = print_module(&front.analysis.ir);
    let again = print_module(&parse_module("model.tir", &printed).unwrap_or_else(|e| panic!("{e}\n{printed}")));
    assert_eq!(printed, again, "printing is no fixed point");
    front
}

#[track_caller]
fn module(text: &str) -> Module {
    front_with(text, &SemaOptions::default()).analysis.ir
}

fn tensor<T: Element>(shape: &[usize], numbers: &[T]) -> Value {
    Value::Tensor(Tensor::of(shape, numbers).unwrap())
}

fn scalar<T: Element>(number: T) -> Value {
    tensor(&[], &[number])
}

/// row_ptr [0,2,3,5], col [0,2,1,0,1]: language.md's graph.
fn graph() -> Value {
    Value::from(Relation::csr(3, vec![0, 2, 3, 5], vec![0, 2, 1, 0, 1]).unwrap())
}

#[track_caller]
fn run(module: &Module, program: &str, args: &[Value]) -> Vec<Tensor> {
    let results = run_domain(module, program, args).unwrap_or_else(|e| panic!("{e}\n{}", print_module(module)));
    let tensors = results.into_iter().map(|v| match v {
        Value::Tensor(t) => t,
        other => panic!("{other:?}"),
    });
    tensors.collect()
}

#[track_caller]
fn is<T: Element + PartialEq + std::fmt::Debug>(found: &Tensor, expected: &[T]) {
    assert_eq!(found.numbers::<T>().as_deref(), Some(expected), "{found:?}");
}

#[test]
fn heat_has_the_values_of_the_language_page() {
    let module = module(include_str!("../../examples/heat.tg"));
    let args = [
        graph(),
        tensor(&[3], &[1f32, 2.0, 3.0]),
        tensor(&[3], &[0.1f32, 0.2, 0.3]),
        tensor(&[5], &[2f32, 3.0, 4.0, 5.0, 6.0]),
    ];
    is(&run(&module, "heat", &args)[0], &[11.1f32, 8.2, 17.3]);
}

#[test]
fn pagerank_in_either_precision_sums_to_one() {
    let text = include_str!("../../examples/pagerank.tg");
    let ranks = run(&module(text), "pagerank", &[graph(), scalar(0.85f32), scalar(1e-6f32)]);
    let sum: f32 = ranks[0].numbers::<f32>().unwrap().iter().sum();
    assert!((sum - 1.0).abs() < 1e-5, "{ranks:?}");
    let mut options = SemaOptions::default();
    options.set.insert("real".into(), DType::F64);
    let double = front_with(text, &options).analysis.ir;
    let ranks = run(&double, "pagerank", &[graph(), scalar(0.85f64), scalar(1e-12f64)]);
    let sum: f64 = ranks[0].numbers::<f64>().unwrap().iter().sum();
    assert!((sum - 1.0).abs() < 1e-12, "{ranks:?}");
}

#[test]
fn bfs_counts_the_edges_of_shortest_paths() {
    let module = module(include_str!("../../examples/bfs.tg"));
    // A path 0 → 1 → 2 and a node 3 that nothing reaches.
    let path = Value::from(Relation::csr(4, vec![0, 0, 1, 2, 2], vec![0, 1]).unwrap());
    let results = run(&module, "bfs", &[path, tensor(&[4], &[0i64, i64::MAX, i64::MAX, i64::MAX])]);
    is(&results[0], &[0i64, 1, 2, i64::MAX]);
    is(&results[1], &[3i64]);
}

const GCN: &str = "\
message aggregate<F>(src: {h: f32[F], d: f32}, dst: {h: f32[F], d: f32}) -> f32[F] {
    edge        { src.h * src.d }
    reduce sum
    node(total) { (total + dst.h * dst.d) * dst.d }
}
program gcn<F, H, C>(g: graph<N>, x: f32[N, F], w0: f32[F, H], w1: f32[H, C]) -> (logits: f32[N, C]) {
    let xn = x / max(sum(x, axis: -1), 1.0);
    let d  = rsqrt(f32(in_degree(g)) + 1.0);
    let t0 = xn @ w0;
    let h  = relu(aggregate(g, src: {h: t0, d}, dst: {h: t0, d}));
    let t1 = h @ w1;
    aggregate(g, src: {h: t1, d}, dst: {h: t1, d})
}
";

#[test]
fn graph_convolution_infers_a_dimension_at_each_message() {
    // Features align at the end, so a value for each entity meets features as it is.
    let module = module(GCN);
    let printed = print_module(&module);
    assert!(printed.contains("f32[N, C]") && printed.contains("reduce_axis %x with(@sum.f32) axis(0)"), "{printed}");
    let args = [
        graph(),
        tensor(&[3, 2], &[1f32, 1.0, 2.0, 0.0, 0.0, 4.0]),
        tensor(&[2, 2], &[1f32, 0.0, 0.0, 1.0]),
        tensor(&[2, 1], &[1f32, 1.0]),
    ];
    let found = run(&module, "gcn", &args);
    assert_eq!(found[0].shape(), [3, 1]);
}

#[test]
fn conjugate_gradient_solves_a_small_system() {
    let module = module(
        "message lap(src: {x: f64}, dst: {x: f64}, edge: {w: f64}) -> f64 { edge { edge.w * (dst.x - src.x) } reduce sum }
program cg(g: graph<N>, w: f64[g.edges], b: f64[N], tol: f64) -> (x: f64[N], rounds: i64) {
    loop (x = fill(N, 0.0), r = b, p = b, rr = sum(b * b), k = 0) while rr > tol * tol, at most 1000 {
        let q = lap(g, src: {x: p}, dst: {x: p}, edge: {w});
        let a = rr / sum(p * q);
        let r2 = r - a * q;  let n = sum(r2 * r2);
        (x + a * p, r2, r2 + (n / rr) * p, n, k + 1)
    } in (x, k)
}",
    );
    // A path of three nodes, both directions; b sums to 0.
    let path = Value::from(Relation::csr(3, vec![0, 1, 3, 4], vec![1, 0, 2, 1]).unwrap());
    let w = tensor(&[4], &[1f64; 4]);
    let found = run(&module, "cg", &[path, w, tensor(&[3], &[1f64, 0.0, -1.0]), scalar(1e-12)]);
    let x = found[0].numbers::<f64>().unwrap();
    assert!((x[0] - x[1] - 1.0).abs() < 1e-9 && (x[1] - x[2] - 1.0).abs() < 1e-9, "{x:?}");
}

#[test]
fn fields_of_a_record_go_by_name() {
    let module = module(
        "message m(src: {x: f32, y: f32}) -> f32 { edge { src.x - src.y } reduce sum }
program p(g: graph<N>, a: f32[N], b: f32[N]) -> (d: f32[N]) { m(g, src: {y: a, x: b}) }",
    );
    let (a, b) = (tensor(&[3], &[1f32, 2.0, 3.0]), tensor(&[3], &[10f32, 40.0, 90.0]));
    is(&run(&module, "p", &[graph(), a, b])[0], &[96f32, 38.0, 47.0]);
}

#[test]
fn one_field_feeds_two_graphs_over_a_shared_set() {
    let front = front_with(
        "message total<F>(src: {x: f32[F]}) -> f32[F] { edge { src.x } reduce sum }
program rate<set U, set I, F>(buys: graph<U -> I>, likes: graph<U>, x: f32[U, F]) -> (score: f32[I, F]) {
    total(buys, src: {x: x + total(likes, src: {x})})
}",
        &SemaOptions::default(),
    );
    let func = &front.analysis.ir.funcs["rate"];
    let symbols: Vec<(&str, &SymKind)> = func.symbols.iter().map(|(n, k)| (&**n, k)).collect();
    use SymKind::{Dim, Edges, Set};
    let expected = [("U", &Set), ("I", &Set), ("F", &Dim), ("buys.edges", &Edges), ("likes.edges", &Edges)];
    assert_eq!(symbols, expected);
}

#[test]
fn a_transposed_relation_reads_the_same_edge_field() {
    let text = include_str!("../../examples/heat.tg").to_owned()
        + "program back(g: graph<N>, y: f32[N], b: f32[N], w: f32[g.edges]) -> (out: f32[N]) {
    let t = transpose(g);
    conduct(t, src: {T: y}, dst: {b}, edge: {c: w})
}
fn turned(g: graph, y: f32[g.dst], w: f32[g.edges]) -> f32[g.src] {
    conduct(transpose(g), src: {T: y}, dst: {b: fill(g.src, 0.0)}, edge: {c: w})
}
program through_a_function(g: graph<N>, y: f32[N], w: f32[g.edges]) -> (out: f32[N]) { turned(g, y, w) }
";
    let module = module(&text);
    let args = [graph(), tensor(&[3], &[1f32; 3]), tensor(&[3], &[0f32; 3]), tensor(&[5], &[2f32, 3.0, 4.0, 5.0, 6.0])];
    is(&run(&module, "back", &args)[0], &[7f32, 10.0, 3.0]);
    let args = [graph(), tensor(&[3], &[1f32; 3]), tensor(&[5], &[2f32, 3.0, 4.0, 5.0, 6.0])];
    is(&run(&module, "through_a_function", &args)[0], &[7f32, 10.0, 3.0]);
}

#[test]
fn programs_call_programs_declared_later_and_take_their_results_apart() {
    let module = module(
        "program outer(g: graph<N>, x: f32[N]) -> (y: f32[N], d: i64) {
    let (twice, most) = inner(g, f: x);
    let r = inner(g, f: twice);
    (r.double, most + r.most + len(g.edges))
}
/// Twice a field.
program inner(h: graph<M>, f: f32[M]) -> (double: f32[M], most: i64) { (2 * f, max(in_degree(h))) }",
    );
    assert_eq!(module.funcs.keys().map(|k| &**k).collect::<Vec<_>>(), ["inner", "outer"]);
    let found = run(&module, "outer", &[graph(), tensor(&[3], &[1f32, 2.0, 3.0])]);
    is(&found[0], &[4f32, 8.0, 12.0]);
    is(&found[1], &[9i64]);
}

#[test]
fn every_reducer_has_its_value_for_an_empty_row() {
    let module = module(
        "message all(src: {x: f32}, edge: {n: i64}) -> (f32, f32, f32, f32, f32, i64, i64, i64) {
    edge { (src.x, src.x, src.x, src.x, src.x, edge.n, edge.n > 0, edge.n) }
    reduce (sum, mean, max, min, prod, sum, count, max)
}
program p(g: graph<N>, x: f32[N], n: i64[g.edges])
    -> (s: f32[N], a: f32[N], u: f32[N], l: f32[N], p: f32[N], i: i64[N], c: i64[N], m: i64[N]) {
    all(g, src: {x}, edge: {n})
}",
    );
    let one_row = Value::from(Relation::csr(2, vec![0, 2, 2], vec![0, 1]).unwrap());
    let found = run(&module, "p", &[one_row, tensor(&[2], &[3f32, 5.0]), tensor(&[2], &[7i64, -1])]);
    is(&found[0], &[8f32, 0.0]);
    is(&found[1], &[4f32, 0.0]);
    is(&found[2], &[5f32, f32::NEG_INFINITY]);
    is(&found[3], &[3f32, f32::INFINITY]);
    is(&found[4], &[15f32, 1.0]);
    is(&found[5], &[6i64, 0]);
    is(&found[6], &[2i64, 0]);
    is(&found[7], &[7i64, i64::MIN]);
}

#[test]
fn literals_take_the_type_they_meet() {
    let module = module(
        "const half: f64 = 0.5
const width: i64 = 2 + 1
program p(x: f64, n: i32, v: f32[width]) -> (a: f64, b: i32, c: f32, d: i64, e: f64, f: f32[3]) {
    let k = 3;
    (x * k + half, n + 1, sum(v * 2, axis: 0), i64(1.9), f64(0.1), fill(3, 1) + v)
}",
    );
    let args = [scalar(2f64), scalar(4i32), tensor(&[3], &[1f32, 2.0, 3.0])];
    let found = run(&module, "p", &args);
    is(&found[0], &[6.5f64]);
    is(&found[1], &[5i32]);
    is(&found[2], &[12f32]);
    is(&found[3], &[1i64]);
    is(&found[4], &[0.1f64]);
    is(&found[5], &[2f32, 3.0, 4.0]);
}

#[test]
fn loops_and_branches_carry_tuples_and_records() {
    let module = module(
        "program fib(n: i64) -> (a: i64, even: bool) {
    let (a, b) = loop (s = {cur: 0, next: 1}) for i < n { {cur: s.next, next: s.cur + s.next} } in (s.cur, s.next);
    let r = if a % 2 == 0 { {v: a, w: true} } else if b > 1000 { {v: -1, w: false} } else { {v: a, w: false} };
    (r.v, r.w)
}
program early(n: i64) -> (k: i64) { loop (k = n) while k > 1, at most 3 { k / 2 } in k }",
    );
    let found = run(&module, "fib", &[scalar(10i64)]);
    is(&found[0], &[55i64]);
    is(&found[1], &[false]);
    is(&run(&module, "early", &[scalar(1000i64)])[0], &[125i64]);
}

#[test]
fn functions_are_generic_in_sets_and_dimensions() {
    let module = module(
        "fn norm<set P, F>(x: f32[P, F]) -> f32[P] { sqrt(sum(x * x, axis: -1)) }
fn dim<F>(x: f32[F]) -> i64 { F }
message near<F>(src: {p: f32[F]}, dst: {p: f32[F]}, w: f32[F, 2*F]) -> f32[2*F] {
    edge { (dst.p - src.p) @ w + f32(dim(src.p)) }
    reduce mean
    node(m) { leaky_relu(m, 0.1) }
}
program p<D>(g: graph<U -> I>, a: f32[U, D], b: f32[I, D], w: f32[D, 2*D]) -> (x: f32[U], y: f32[I], z: f32[I, 2*D]) {
    (norm(a), norm(b), near(g, w: w, src: {p: a}, dst: {p: b}))
}",
    );
    let g = Value::from(Relation::csr(1, vec![0, 1], vec![0]).unwrap());
    let args = [g, tensor(&[1, 1], &[3f32]), tensor(&[1, 1], &[-4f32]), tensor(&[1, 2], &[1f32, -1.0])];
    let found = run(&module, "p", &args);
    is(&found[0], &[3f32]);
    is(&found[1], &[4f32]);
    is(&found[2], &[0.1f32 * -6.0, 8.0]);
}

#[test]
fn programs_tell_their_docs_symbols_and_origins() {
    let front = front_with(include_str!("../../examples/pagerank.tg"), &SemaOptions::default());
    let info = &front.analysis.programs[0];
    assert_eq!((info.name.as_str(), info.doc.as_str()), ("pagerank", "Ranks that sum to 1."));
    assert_eq!(info.params[1].doc, "The chance to follow an edge, such as 0.85.");
    let origins: Vec<&str> = info.symbols.iter().map(|s| s.origin.as_str()).collect();
    assert_eq!(origins, ["set `N` of `g: graph<N>`", "the edges of `g: graph<N>`"]);
    assert_eq!(info.results.iter().map(|r| &*r.name).collect::<Vec<_>>(), ["rank", "rounds"]);
}

#[test]
fn every_elementwise_op_that_is_no_operator_can_be_called() {
    for op in tiga_ir::ops::ALL.iter().filter(|op| op.0.elementwise().is_some()) {
        let name = op.0.name();
        let spelled_otherwise = [
            "add", "sub", "mul", "div", "rem", "neg", "fma", "eq", "ne", "lt", "le", "gt", "ge", "and", "or", "xor",
            "not", "shl", "shr", "sar", "select", "cast", "bitcast",
        ];
        let arity = op.0.elementwise().unwrap().arity();
        let args = ["x", "x", "x"][..arity].join(", ");
        let text = format!("program p(x: f32) -> (y: f32) {{ {name}({args}) }}");
        let front = Front::of_text("model.tg", text, &SemaOptions::default()).unwrap();
        assert_eq!(front.errors() > 0, spelled_otherwise.contains(&name), "{name}: {:?}", front.diagnostics);
    }
}

#[test]
fn deep_and_long_texts_are_refused_or_work_but_never_overflow() {
    let deep = format!("program p(x: f32) -> (y: f32) {{ {}x{} }}", "(1 + ".repeat(120), ")".repeat(120));
    module(&deep);
    let mut chain = "fn f0(x: f32) -> f32 { x }\n".to_owned();
    for i in 1..5000 {
        chain += &format!("fn f{i}(x: f32) -> f32 {{ f{}(x) }}\n", i - 1);
    }
    chain += "program p(x: f32) -> (y: f32) { f4999(x) }";
    let front = Front::of_text("model.tg", chain, &SemaOptions::default()).unwrap();
    assert_eq!(front.diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), ["TG0411"]);
}
