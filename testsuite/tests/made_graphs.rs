//! Graphs that programs make of graphs: with self-loops, side by side, turned; on all roads, against edge lists by hand.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use testsuite::road::{Road, difference, model, relation, result};
use tiga_abi::{CpuTarget, FpMode};
use tiga_formats::{Csr, Indices};
use tiga_ir::Module;
use tiga_ir::interp::{Tensor, Value, run_domain};
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{parse_module, print_module};
use tiga_plan::{Task, TaskKind};
use tiga_runtime::{Context, UnitOrder};
use tigac::lower::plan;
use tigac::pack::{CompileOptions, compile};
use tigac::sema::SemaOptions;

/// A reducer that knows the order of its messages, and a message that checks the positions it is told.
const ORDER: &str = "
reducer digits(x: i64) -> i64 {
    state { v: i64 = 0, p: i64 = 1 }
    lift { {v: x + 1, p: 10} }
    combine(a, b) { {v: a.v * b.p + b.v, p: a.p * b.p} }
    finalize(s) { s.v }
    empty 0
    laws associative
}
message order(src: {k: i64}) -> i64 { edge { src.k } reduce digits }
message numbers(src: {}) -> i64 { edge { edge.index } reduce digits }
message ends(src: {}) -> edges (i64, i64, i64) { edge { (edge.index, src.index, dst.index) } }
message weigh(src: {x: f64}, edge: {w: f64}) -> f64 { edge { edge.w * src.x } reduce sum }
";

const LOOPS: &str = "
fn both(g: graph<N>, x: f64[N], w: f64[g.edges]) -> f64[N] {
    weigh(transpose(g), src: {x: weigh(g, src: {x}, edge: {w})}, edge: {w})
}
program p(g: graph<N>, x: f64[N], w: f64[g.edges], n: i64) -> (
    by_source: i64[N], by_number: i64[N], back: i64[N], turned: i64[N], twice: i64[N], degrees: i64[N], count: i64,
    at: bool, from: i64[g.edges], ends_at: i64[g.edges], y: f64[N], z: f64[N], round: f64[N],
) {
    let h = add_self_loops(g);
    let k = iota(N);
    let i = iota(h.edges);
    let own = where(i < len(g.edges), w[i], 0.5);
    let (number, s, d) = ends(h, src: {});
    let hh = add_self_loops(h);
    {
        by_source: order(h, src: {k}),
        by_number: numbers(h, src: {}),
        back: numbers(transpose(h), src: {}),
        turned: numbers(add_self_loops(transpose(g)), src: {}),
        twice: order(transpose(transpose(hh)), src: {k}),
        degrees: in_degree(h) * 100 + out_degree(h),
        count: len(h.edges) * 1000 + len(hh.edges),
        at: all(number == i),
        from: s[iota(g.edges)],
        ends_at: d[iota(g.edges)],
        y: weigh(h, src: {x}, edge: {w: own}),
        z: both(h, x, own),
        round: loop (r = x) for j < n { if j == 0 { weigh(h, src: {x: r}, edge: {w: own}) } else { r } } in r,
    }
}
";

const SIDE_BY_SIDE: &str = "
program p(a: graph<N>, b: graph<U -> I>, x: f64[N], z: f64[U], w: f64[a.edges]) -> (
    order_a: i64[N], order_b: i64[I], mixed_a: i64[N], mixed_b: i64[U], twice: i64[N], back: i64[U], y: f64[I],
    sizes: i64, at: bool,
) {
    let h = concat_graphs(a, b);
    let mixed = concat_graphs(a, transpose(b));
    let aa = add_self_loops(concat_graphs(a, a));
    let o = order(h, src: {k: iota(h.src)});
    let m = numbers(mixed, src: {});
    let t = order(aa, src: {k: iota(aa.nodes)});
    let s = iota(h.src);
    let i = iota(h.edges);
    let y = weigh(h, src: {x: where(s < len(N), x[s], z[s - len(N)])}, edge: {w: where(i < len(a.edges), w[i], 2.0)});
    let (number, _, _) = ends(transpose(h), src: {});
    {
        order_a: o[iota(N)],
        order_b: o[iota(I) + len(N)],
        mixed_a: m[iota(N)],
        mixed_b: m[iota(U) + len(N)],
        twice: t[iota(N) + len(N)],
        back: numbers(transpose(h), src: {})[iota(U) + len(N)],
        y: y[iota(I) + len(N)],
        sizes: len(h.src) * 10000 + len(h.dst) * 100 + len(h.edges) + len(aa.edges) * 1000000,
        at: all(number == i),
    }
}
";

/// Edges in the order of their numbers.
#[derive(Clone)]
struct Edges {
    sources: usize,
    destinations: usize,
    list: Vec<(usize, usize)>,
}

impl Edges {
    fn of(sources: usize, rows: &[&[usize]]) -> Edges {
        let list = rows.iter().enumerate().flat_map(|(row, sources)| sources.iter().map(move |s| (*s, row)));
        Edges { sources, destinations: rows.len(), list: list.collect() }
    }

    fn csr(&self) -> Csr {
        let row = |row: usize| self.list.iter().filter(move |(_, d)| *d == row).map(|(s, _)| *s as i32);
        let starts = (0..=self.destinations).map(|end| (0..end).map(|d| row(d).count() as i64).sum());
        let col = (0..self.destinations).flat_map(row).collect();
        Csr::from_csr(starts.collect(), Indices::I32(col), Some(self.sources)).unwrap()
    }

    fn with_loops(&self) -> Edges {
        let list = self.list.iter().copied().chain((0..self.sources).map(|n| (n, n))).collect();
        Edges { list, ..*self }
    }

    fn turned(&self) -> Edges {
        let list = self.list.iter().map(|(s, d)| (*d, *s)).collect();
        Edges { sources: self.destinations, destinations: self.sources, list }
    }

    fn beside(&self, other: &Edges) -> Edges {
        let second = other.list.iter().map(|(s, d)| (s + self.sources, d + self.destinations));
        Edges {
            sources: self.sources + other.sources,
            destinations: self.destinations + other.destinations,
            list: self.list.iter().copied().chain(second).collect(),
        }
    }

    /// What `digits` makes of something of each edge, by destination.
    fn digits(&self, of: impl Fn(usize, usize) -> usize) -> Vec<i64> {
        let mut out = vec![0i64; self.destinations];
        for (number, (source, destination)) in self.list.iter().enumerate() {
            let digit = of(number, *source) as i64 + 1;
            out[*destination] = out[*destination].wrapping_mul(10).wrapping_add(digit);
        }
        out
    }

    fn weighed(&self, x: &[f64], w: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; self.destinations];
        for ((source, destination), w) in self.list.iter().zip(w) {
            out[*destination] += w * x[*source];
        }
        out
    }
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|i| ((i * 7 % 5) as f64).mul_add(0.25, 0.5)).collect()
}

fn field<T: tiga_ir::interp::Element>(values: &[T]) -> Tensor {
    Tensor::of(&[values.len()], values).unwrap()
}

fn graph(edges: &Edges) -> Value {
    relation(&edges.csr()).into()
}

/// The results of `p` by the domain interpreter; both modes, with leaves of two edges, must agree with theirs.
fn results(text: &str, values: &[Value]) -> Vec<Tensor> {
    let module = module(text);
    let domain = run_domain(&module, "p", values).unwrap();
    let domain: Vec<Tensor> = domain.into_iter().map(|value| result(value).unwrap()).collect();
    for fp in [FpMode::Strict, FpMode::Default] {
        let mut options = CompileOptions::new(CpuTarget::X86_64V3, fp);
        (options.law.row_leaf, options.law.set_leaf) = (2, 2);
        let road = Road::of_domain(&module, options).unwrap();
        let loops = road.interpret("p", values, &[]).unwrap();
        let context = Context::new(2).unwrap().with_order(UnitOrder::Shuffled(3));
        let run = road.run("p", values, &[], &context).unwrap();
        let expected = if fp == FpMode::Strict { &domain } else { &loops };
        for (i, (got, expected)) in run.iter().zip(expected).enumerate() {
            assert_eq!(difference(got, expected), None, "result {i}, {fp:?}");
        }
    }
    domain
}

/// The module of a model, which is verified and comes back from its text.
fn module(text: &str) -> Module {
    let module = model("made.tg", &[ORDER, text].concat(), &SemaOptions::default()).unwrap();
    verify(&module, Machine::FULL).unwrap();
    let printed = print_module(&module);
    assert_eq!(print_module(&parse_module("made.tir", &printed).unwrap()), printed);
    module
}

/// With a loop that is there already, duplicates, an isolated node; without edges; without nodes; a hub.
fn squares() -> Vec<Edges> {
    vec![
        Edges::of(4, &[&[0, 2, 1, 1], &[], &[0, 2, 2], &[]]),
        Edges::of(3, &[&[], &[], &[]]),
        Edges::of(0, &[]),
        Edges::of(2, &[&[1, 0, 1, 0, 1, 1, 0], &[0]]),
    ]
}

#[test]
fn self_loops_come_after_the_edges_of_their_rows() {
    for g in squares() {
        let (nodes, edges) = (g.sources, g.list.len());
        let (x, w) = (numbers(nodes), numbers(edges));
        let n = Tensor::of(&[], &[2i64]).unwrap();
        let out = results(LOOPS, &[graph(&g), field(&x).into(), field(&w).into(), n.into()]);
        let h = g.with_loops();
        let own: Vec<f64> = w.iter().copied().chain(std::iter::repeat_n(0.5, nodes)).collect();
        let ints = |i: usize| out[i].numbers::<i64>().unwrap();
        let floats = |i: usize| out[i].numbers::<f64>().unwrap();
        assert_eq!(ints(0), h.digits(|_, source| source));
        assert_eq!(ints(1), h.digits(|number, _| number));
        assert_eq!(ints(2), h.turned().digits(|number, _| number));
        assert_eq!(ints(3), ints(2), "loops of the transpose are the transpose of loops");
        assert_eq!(ints(4), h.with_loops().digits(|_, source| source));
        let degree = |of: &Edges, node: usize| of.list.iter().filter(|(_, d)| *d == node).count() as i64;
        let degrees = (0..nodes).map(|n| degree(&h, n) * 100 + degree(&h.turned(), n));
        assert_eq!(ints(5), degrees.collect::<Vec<_>>());
        assert_eq!(ints(6), [(edges + nodes) as i64 * 1000 + (edges + 2 * nodes) as i64]);
        assert_eq!(out[7].elems()[0], tiga_ir::Scalar::Bool(true));
        assert_eq!(ints(8), g.list.iter().map(|(s, _)| *s as i64).collect::<Vec<_>>());
        assert_eq!(ints(9), g.list.iter().map(|(_, d)| *d as i64).collect::<Vec<_>>());
        assert_eq!(floats(10), h.weighed(&x, &own));
        assert_eq!(floats(11), h.turned().weighed(&h.weighed(&x, &own), &own));
        assert_eq!(floats(12), floats(10));
    }
}

#[test]
fn graphs_side_by_side_have_the_nodes_and_edges_of_the_first_first() {
    let second = [
        Edges::of(3, &[&[1, 2], &[0]]),
        Edges::of(1, &[&[], &[0, 0, 0, 0]]),
        Edges::of(0, &[&[], &[]]),
        Edges::of(2, &[]),
    ];
    for (a, b) in squares().into_iter().zip(second) {
        let (x, z, w) = (numbers(a.sources), numbers(b.sources), numbers(a.list.len()));
        let values = [graph(&a), graph(&b), field(&x).into(), field(&z).into(), field(&w).into()];
        let out = results(SIDE_BY_SIDE, &values);
        let nodes = a.sources;
        let (h, mixed, aa) = (a.beside(&b), a.beside(&b.turned()), a.beside(&a).with_loops());
        let ints = |i: usize| out[i].numbers::<i64>().unwrap();
        let order = h.digits(|_, source| source);
        assert_eq!([ints(0), ints(1)].concat(), order);
        assert_eq!([ints(2), ints(3)].concat(), mixed.digits(|number, _| number));
        assert_eq!(ints(4), aa.digits(|_, source| source)[nodes..]);
        assert_eq!(ints(5), h.turned().digits(|number, _| number)[nodes..]);
        let xz: Vec<f64> = x.iter().chain(&z).copied().collect();
        let weights: Vec<f64> = w.iter().copied().chain(std::iter::repeat_n(2.0, b.list.len())).collect();
        assert_eq!(out[6].numbers::<f64>().unwrap(), h.weighed(&xz, &weights)[nodes..]);
        let sizes = h.sources * 10000 + h.destinations * 100 + h.list.len() + aa.list.len() * 1_000_000;
        assert_eq!(ints(7), [sizes as i64]);
        assert_eq!(out[8].elems()[0], tiga_ir::Scalar::Bool(true));
    }
}

/// The transpose of loops is made as the loops of a transpose are, and nothing is made twice.
#[test]
fn a_plan_makes_each_graph_once() {
    let options = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default);
    let compilation = compile(&module(LOOPS), &options).unwrap();
    let plan = plan::lower(&compilation.loops, &compilation.loops.funcs["p"], &compilation.kernels).unwrap();
    let made = |task: &Task| match &task.kind {
        TaskKind::BuildTranspose { relation } => Some(format!("{relation}.t")),
        TaskKind::BuildJoined { relation } => Some(relation.clone()),
        _ => None,
    };
    let mut made: Vec<String> = plan.root.tasks.values().filter_map(made).collect();
    made.sort();
    assert_eq!(made, ["g.loops", "g.loops.loops", "g.t", "g.t.loops"]);
    let sizes = |name: &str| Some(if name == "N" { 3 } else { 10 });
    let bytes = |name: &str| {
        let resource = plan.resources.values().find(|resource| resource.name == name).unwrap();
        resource.capacity.eval(&sizes).unwrap()
    };
    assert_eq!([bytes("g.loops.col"), bytes("g.loops.perm"), bytes("g.loops.row_ptr")], [4 * 13, 8 * 13, 8 * 4]);
}

/// graph-and-store.md §3: two complete graphs of two nodes, `x` = [1, 2, 3, 4].
#[test]
fn sums_over_two_complete_graphs() {
    let text = "
message total(src: {x: f64}) -> f64 { edge { src.x } reduce sum }
program p(a: graph<N>, x: f64[N], z: f64[N]) -> (first: f64[N], second: f64[N]) {
    let h = concat_graphs(a, a);
    let s = iota(h.nodes);
    let y = total(h, src: {x: where(s < len(N), x[s], z[s - len(N)])});
    (y[iota(N)], y[iota(N) + len(N)])
}";
    let dense = Edges::of(2, &[&[0, 1], &[0, 1]]);
    let out = results(text, &[graph(&dense), field(&[1.0, 2.0]).into(), field(&[3.0, 4.0]).into()]);
    assert_eq!(out[0].numbers::<f64>().unwrap(), [3.0, 3.0]);
    assert_eq!(out[1].numbers::<f64>().unwrap(), [7.0, 7.0]);
}
