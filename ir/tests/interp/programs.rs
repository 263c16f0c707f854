//! The worked programs written by hand on the loops level, against naive computations in Rust.

use crate::*;
use tiga_ir::interp::{ErrorKind, Options, run_domain, run_host, run_loops};
use tiga_ir::print_module;
use tiga_ir::verify::{Machine, verify};

const GAT: &str = include_str!("../../../testsuite/programs/gat.tir");
const MLP: &str = include_str!("../../../testsuite/programs/mlp.tir");
const HUB: &str = include_str!("../../../testsuite/programs/hub.tir");
const TRANSPOSED: &str = include_str!("../../../testsuite/programs/transposed.tir");
const LENNARD_JONES: &str = include_str!("../../../testsuite/programs/lennard_jones.tir");

fn parse(text: &str) -> Module {
    parse_module("program.tir", text).unwrap_or_else(|e| panic!("{e}"))
}

/// The same program with every reduction as a plain left fold.
fn folded(text: &str) -> Module {
    let module = parse(text);
    let mut out = String::new();
    for line in print_module(&module).lines() {
        match (line.find(" shape(leaf "), line.find(" over(")) {
            (Some(from), Some(to)) if from < to => {
                out += &format!("{} shape(leaf inf, acc 1){}\n", &line[..from], &line[to..]);
            }
            _ => out += &format!("{line}\n"),
        }
    }
    assert!(!out.contains("leaf 512"), "{out}");
    parse(&out)
}

fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|x| f64::from(*x)).collect()
}

/// The gradient of `f` by central differences.
fn differences(f: &dyn Fn(&[f64]) -> f64, at: &[f64]) -> Vec<f32> {
    let step = 1e-5;
    let moved = |i: usize, by: f64| {
        let mut x = at.to_vec();
        x[i] += by;
        f(&x)
    };
    (0..at.len()).map(|i| ((moved(i, step) - moved(i, -step)) / (2.0 * step)) as f32).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[test]
fn every_program_verifies_prints_and_parses_back() {
    for text in [GAT, MLP, HUB, TRANSPOSED, LENNARD_JONES] {
        let module = parse(text);
        verify(&module, Machine::FULL).unwrap_or_else(|e| panic!("{e}"));
        let once = print_module(&module);
        assert_eq!(once, print_module(&parse(&once)));
    }
}

/// Softmax attention over the in-neighbours, with two passes over each row.
fn gat(g: &Relation, (h, d): (usize, usize), z: &[f64], s: &[f64], t: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; g.num_dst() * h * d];
    for row in 0..g.num_dst() {
        for head in 0..h {
            let score = |p: usize| {
                let x = s[g.source(p) * h + head] + t[row * h + head];
                if x > 0.0 { x } else { 0.2 * x }
            };
            let m = g.row(row).map(score).fold(f64::NEG_INFINITY, f64::max);
            let l: f64 = g.row(row).map(|p| (score(p) - m).exp()).sum();
            for p in g.row(row) {
                let a = (score(p) - m).exp() / l;
                for k in 0..d {
                    out[(row * h + head) * d + k] += a * z[(g.source(p) * h + head) * d + k];
                }
            }
        }
    }
    out
}

#[test]
fn gat_forward_is_the_domain_and_close_to_two_passes() {
    let mut random = Random::of_seed(11);
    let (n, h, d) = (24, 3, 4);
    let g = random.graph(n, n, 6, 5);
    let inputs: Vec<Vec<f32>> = [n * h * d, n * h, n * h].iter().map(|len| random.f32s(*len)).collect();
    let shapes = [vec![n, h, d], vec![n, h], vec![n, h]];
    let mut args = vec![g.clone().into()];
    args.extend(inputs.iter().zip(&shapes).map(|(x, shape)| tensor(shape, x)));
    let expected = run_domain(&parse(GAT), "gat", &args).unwrap();
    args.extend([unwritten::<f32>(&shapes[0]), unwritten::<f32>(&shapes[1]), unwritten::<f32>(&shapes[1])]);
    run_loops(&folded(GAT), "gat.forward", &mut args, &Options::default()).unwrap();
    for (found, expected) in args[4..].iter().zip(&expected) {
        assert_bits(&numbers(found), &numbers::<f32>(expected));
    }
    run_loops(&parse(GAT), "gat.forward", &mut args, &Options::default()).unwrap();
    let [z, s, t] = [0, 1, 2].map(|i| wide(&inputs[i]));
    let naive: Vec<f32> = gat(&g, (h, d), &z, &s, &t).iter().map(|x| *x as f32).collect();
    assert_close(&numbers(&args[4]), &naive, 1e-5);
    // Rows without edges: 0, with the identity as their state.
    let empty = (0..n).find(|row| g.row(*row).is_empty()).expect("some row is empty");
    assert_eq!(numbers::<f32>(&args[5])[empty * h], f32::NEG_INFINITY);
    assert_eq!(numbers::<f32>(&args[4])[empty * h * d].to_bits(), 0);
}

#[test]
fn gat_gradient_is_that_of_differences() {
    let mut random = Random::of_seed(5);
    let (n, h, d) = (7, 2, 3);
    let g = random.graph(n, n, 4, 0);
    let [z, s, t, ob] = [n * h * d, n * h, n * h, n * h * d].map(|len| random.f32s(len));
    let mut args = vec![
        g.clone().into(),
        tensor(&[n, h, d], &z),
        tensor(&[n, h], &s),
        tensor(&[n, h], &t),
        tensor(&[n, h, d], &ob),
    ];
    let options = Options { shuffle: Some(3), ..Options::default() };
    let results = run_host(&parse(GAT), "gat.value_and_vjp", &mut args, &options).unwrap();
    let [z, s, t, ob] = [z, s, t, ob].map(|x| wide(&x));
    let value = |z: &[f64], s: &[f64], t: &[f64]| dot(&gat(&g, (h, d), z, s, t), &ob);
    assert_close(&numbers(&results[1]), &differences(&|z| value(z, &s, &t), &z), 1e-4);
    assert_close(&numbers(&results[2]), &differences(&|s| value(&z, s, &t), &s), 1e-4);
    assert_close(&numbers(&results[3]), &differences(&|t| value(&z, &s, t), &t), 1e-4);
}

/// Sizes and inputs of the perceptron on edges.
struct Mlp {
    g: Relation,
    f: usize,
    h: usize,
    o: usize,
    /// h, x, w1, b1, w2.
    inputs: [Vec<f32>; 5],
    out_bar: Vec<f32>,
}

impl Mlp {
    fn new(seed: u64) -> Self {
        let mut random = Random::of_seed(seed);
        let (n, f, h, o) = (6, 2, 4, 3);
        let g = random.graph(n, n, 4, 0);
        let inputs = [n * f, g.num_edges() * f, 3 * f * h, h, h * o].map(|len| random.f32s(len));
        Mlp { out_bar: random.f32s(n * o), g, f, h, o, inputs }
    }

    fn forward(&self, [node, edge, w1, b1, w2]: [&[f64]; 5]) -> Vec<f64> {
        let (f, h, o) = (self.f, self.h, self.o);
        let mut out = vec![0.0; self.g.num_dst() * o];
        for p in 0..self.g.num_edges() {
            let (j, d) = (self.g.source(p), self.g.destination(p));
            let u = [&node[j * f..(j + 1) * f], &node[d * f..(d + 1) * f], &edge[p * f..(p + 1) * f]].concat();
            for k in 0..h {
                let r = (b1[k] + (0..3 * f).map(|i| u[i] * w1[i * h + k]).sum::<f64>()).max(0.0);
                (0..o).for_each(|i| out[d * o + i] += r * w2[k * o + i]);
            }
        }
        out
    }

    /// The gradient with respect to one input.
    fn gradient(&self, which: usize) -> Vec<f32> {
        let wide_inputs = self.inputs.each_ref().map(|x| wide(x));
        let value = |x: &[f64]| {
            let mut inputs = wide_inputs.each_ref().map(Vec::as_slice);
            inputs[which] = x;
            dot(&self.forward(inputs), &wide(&self.out_bar))
        };
        differences(&value, &wide_inputs[which])
    }

    /// The arguments that all functions begin with; `split` views w1 as three parts.
    fn args(&self, split: bool) -> Vec<Value> {
        let (n, e, f, h, o) = (self.g.num_dst(), self.g.num_edges(), self.f, self.h, self.o);
        let [node, edge, w1, b1, w2] = &self.inputs;
        let w1 = if split { tensor(&[3, f, h], w1) } else { tensor(&[3 * f, h], w1) };
        vec![self.g.clone().into(), tensor(&[n, f], node), tensor(&[e, f], edge), w1, field(b1), tensor(&[h, o], w2)]
    }
}

#[test]
fn edge_mlp_forward_is_the_domain_and_close_to_naive() {
    let mlp = Mlp::new(21);
    let mut args = mlp.args(false);
    let expected = run_domain(&parse(MLP), "mlp", &args).unwrap();
    args.push(unwritten::<f32>(&[mlp.g.num_dst(), mlp.o]));
    run_loops(&folded(MLP), "mlp.forward", &mut args, &Options::default()).unwrap();
    assert_bits(&numbers(&args[6]), &numbers::<f32>(&expected[0]));
    let inputs = mlp.inputs.each_ref().map(|x| wide(x));
    let naive: Vec<f32> = mlp.forward(inputs.each_ref().map(Vec::as_slice)).iter().map(|x| *x as f32).collect();
    assert_close(&numbers(&args[6]), &naive, 1e-5);
}

#[test]
fn edge_mlp_gradient_is_that_of_differences() {
    let mlp = Mlp::new(22);
    let (n, e) = (mlp.g.num_dst(), mlp.g.num_edges());
    let module = parse(MLP);
    let options = Options { shuffle: Some(1), ..Options::default() };
    let run = |name: &str, rel: Option<Relation>, split: bool, rest: Vec<Value>| {
        let mut args = mlp.args(split);
        if let Some(rel) = rel {
            args[0] = rel.into();
        }
        args.push(tensor(&[n, mlp.o], &mlp.out_bar));
        args.extend(rest);
        run_loops(&module, name, &mut args, &options).unwrap();
        args.split_off(7)
    };
    let x_bar = run("mlp.edges", None, true, vec![unwritten::<f32>(&[e, mlp.f])]);
    assert_close(&numbers(&x_bar[0]), &mlp.gradient(1), 1e-4);
    let by_dst = run("mlp.destinations", None, true, vec![unwritten::<f32>(&[n, mlp.f])]);
    let by_dst = by_dst[0].as_buffer().unwrap().tensor().unwrap();
    let both = vec![by_dst.into(), unwritten::<f32>(&[n, mlp.f])];
    let h_bar = run("mlp.sources", Some(mlp.g.transposed().unwrap()), true, both);
    assert_close(&numbers(&h_bar[1]), &mlp.gradient(0), 1e-4);
    let shapes = [vec![3 * mlp.f, mlp.h], vec![mlp.h], vec![mlp.h, mlp.o]];
    let params = run("mlp.params", None, false, shapes.iter().map(|s| unwritten::<f32>(s)).collect());
    for (found, which) in params.iter().zip([2, 3, 4]) {
        assert_close(&numbers(found), &mlp.gradient(which), 1e-4);
    }
    // Totals over leaves of two edges: other bits, the same numbers.
    let small = parse(&MLP.replace("leaf 65536", "leaf 2"));
    let mut args = mlp.args(false);
    args.push(tensor(&[n, mlp.o], &mlp.out_bar));
    args.extend(shapes.iter().map(|s| unwritten::<f32>(s)));
    run_loops(&small, "mlp.params", &mut args, &options).unwrap();
    assert_close(&numbers(&args[7]), &numbers::<f32>(&params[0]), 1e-5);
}

#[test]
fn a_hub_has_the_same_bits_in_units_and_whole() {
    let mut random = Random::of_seed(77);
    for (leaf, features) in [(512, 1), (512, 3), (2, 1), (3, 5), (7, 64)] {
        let text = HUB.replace("512", &leaf.to_string());
        let module = parse(&text);
        let mut g = random.graph(50, 30, 5, 9);
        // The hub: a row of some thousand edges.
        let hub: Vec<i64> = (0..2_000).map(|_| random.below(50) as i64).collect();
        let row_ptr = [g.row_ptr(), &[(g.num_edges() + hub.len()) as i64]].concat();
        g = Relation::csr(50, row_ptr, [g.col(), &hub].concat()).unwrap();
        let inputs = [
            g.clone().into(),
            tensor(&[50, features], &random.f32s(50 * features)),
            field(&random.f32s(g.num_edges())),
            field(&random.f32s(31)),
        ];
        let mut whole = inputs.to_vec();
        whole.push(unwritten::<f32>(&[31, features]));
        run_loops(&module, "hub.whole", &mut whole, &Options::default()).unwrap();
        for seed in 1..4 {
            let options = Options { shuffle: Some(seed), ..Options::default() };
            let found = run_host(&module, "hub", &mut inputs.to_vec(), &options).unwrap();
            assert_bits(&numbers(&found[0]), &numbers::<f32>(&whole[4]));
        }
    }
}

#[test]
fn a_transposed_relation_reads_edge_fields_by_edge() {
    let module = parse(TRANSPOSED);
    let mut random = Random::of_seed(13);
    let (s, d) = (9, 12);
    let g = random.graph(s, d, 5, 0);
    let (y, b, w) = (random.f32s(d), random.f32s(s), random.f32s(g.num_edges()));
    // By hand: over the edges in the relation's own order, which is each transposed row's order too.
    let mut sums = vec![-0.0f32; s];
    for p in 0..g.num_edges() {
        sums[g.source(p)] += w[p] * y[g.destination(p)];
    }
    let isolated: Vec<bool> = (0..s).map(|j| !g.col().contains(&(j as i64))).collect();
    let expected: Vec<f32> = (0..s).map(|j| if isolated[j] { 0.0 + b[j] } else { sums[j] + b[j] }).collect();
    let mut args = vec![g.into(), field(&y), field(&b), field(&w)];
    let domain = run_domain(&module, "conduct", &args).unwrap();
    assert_bits(&numbers(&domain[0]), &expected);
    let host = run_host(&folded(TRANSPOSED), "conduct.host", &mut args, &Options::default()).unwrap();
    assert_bits(&numbers(&host[0]), &expected);
    let host = run_host(&module, "conduct.host", &mut args, &Options::default()).unwrap();
    assert_close(&numbers(&host[0]), &expected, 1e-6);
}

/// Cells of the cutoff's size in a unit square box, three cells an axis.
fn cell_list(pos: &[f32], reverse: bool) -> (Vec<i64>, Vec<i64>) {
    let cell = |p: &[f32]| p.iter().fold(0, |c, x| c * 3 + ((x + 0.5) * 3.0) as usize);
    let mut ids: Vec<i64> = (0..pos.len() as i64 / 3).collect();
    if reverse {
        ids.reverse();
    }
    ids.sort_by_key(|i| cell(&pos[*i as usize * 3..][..3]));
    let below = |c: usize| ids.iter().filter(|i| cell(&pos[**i as usize * 3..][..3]) < c).count() as i64;
    ((0..=27).map(below).collect(), ids)
}

#[test]
fn lennard_jones_through_cells_is_that_of_all_pairs() {
    let module = parse(LENNARD_JONES);
    let n = 40;
    let pos = Random::of_seed(3).f32s(3 * n);
    let (cutoff, eps, sig) = (1.0f32 / 3.0, 0.7f32, 0.1f32);
    let mut expected = 0.0f64;
    for i in 0..n {
        for j in (0..n).filter(|j| *j != i) {
            let r2: f32 = (0..3).map(|k| (pos[j * 3 + k] - pos[i * 3 + k]).powi(2)).sum();
            if r2 <= cutoff * cutoff {
                let s6 = (f64::from(sig) / f64::from(r2).sqrt()).powi(6);
                expected += 0.5 * 4.0 * f64::from(eps) * (s6 * s6 - s6);
            }
        }
    }
    let energy = |reverse: bool| {
        let (cell_ptr, ids) = cell_list(&pos, reverse);
        let mut args = vec![tensor(&[n, 3], &pos), field(&cell_ptr), field(&ids)];
        args.extend([scalar(cutoff), scalar(eps), scalar(sig)]);
        numbers::<f32>(&run_host(&module, "energy", &mut args, &Options::default()).unwrap()[0])
    };
    assert_close(&energy(false), &[expected as f32], 1e-5);
    // The order of the list cannot show.
    assert_bits(&energy(true), &energy(false));
    let twice = vec![0i64; n];
    let mut args = vec![tensor(&[n, 3], &pos), field(&[0, n as i64]), field(&twice)];
    args.extend([scalar(cutoff), scalar(eps), scalar(sig)]);
    let error = run_host(&module, "energy", &mut args, &Options::default()).unwrap_err();
    assert_eq!(*error.kind, ErrorKind::Cells { point: 0, times: n });
}
