//! The kernels of the hand-written programs: the kernel level's interpreter against that of the loops level, bit for bit.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

use fastrand::Rng;
use std::sync::Arc;
use tiga_abi::Symbol;
use tiga_ir::interp::{
    Buffer, KernelCall, KernelMemory, Options, Relation, Tensor, Value, run_host, run_kernel, run_loops,
};
use tiga_ir::{Func, Level, Module, Space, Type, parse_module};
use tigac::lower::kernel::{KernelOptions, lower_func};
use tigac::passes::loops::split_units;

const GAT: &str = include_str!("../../testsuite/programs/gat.tir");
const HUB: &str = include_str!("../../testsuite/programs/hub.tir");
const TRANSPOSED: &str = include_str!("../../testsuite/programs/transposed.tir");

/// A program with leaves of three edges, so that small graphs have long rows.
fn program(text: &str) -> Module {
    parse_module("program.tir", &text.replace("512", "3")).unwrap_or_else(|e| panic!("{e}"))
}

/// Arrays of numbers from −0.5 to 0.5 and graphs, always the same for a seed.
struct Random(Rng);

impl Random {
    fn of_seed(seed: u64) -> Self {
        Random(Rng::with_seed(seed))
    }

    fn tensor(&mut self, shape: &[usize]) -> Value {
        let n = shape.iter().product();
        let numbers: Vec<f32> = (0..n).map(|_| self.0.f32() - 0.5).collect();
        Tensor::of(shape, &numbers).unwrap().into()
    }

    /// Rows of 0 to 9 edges.
    fn graph(&mut self, num_src: usize, num_dst: usize) -> Relation {
        let (mut row_ptr, mut col) = (vec![0], Vec::new());
        for _ in 0..num_dst {
            for _ in 0..self.0.u8(0..10) {
                col.push(self.0.i64(0..num_src as i64));
            }
            row_ptr.push(col.len() as i64);
        }
        Relation::csr(num_src, row_ptr, col).unwrap()
    }
}

fn memory(shape: &[usize]) -> Value {
    Buffer::unwritten(tiga_abi::DType::F32, shape).unwrap().into()
}

/// The values of a function's symbols, from its arguments.
fn sizes(func: &Func, args: &[Value]) -> Vec<(Symbol, i64)> {
    let mut out = Vec::new();
    for (param, arg) in func.params().iter().zip(args) {
        let extents: Vec<i64> = match arg {
            Value::Tensor(t) => t.shape().iter().map(|n| *n as i64).collect(),
            Value::Buffer(b) => b.shape().iter().map(|n| *n as i64).collect(),
            Value::Rel(r) => vec![r.num_src() as i64, r.num_dst() as i64, r.num_edges() as i64],
        };
        let symbols = match func.body.ty(*param) {
            Type::Rel(r) => [&r.src, &r.dst, &r.edges].map(|s| Some(s.clone())).to_vec(),
            Type::Buffer(t) => t.extents().iter().map(|p| p.as_symbol().cloned()).collect(),
            other => panic!("a loops function has a parameter of type {other}"),
        };
        out.extend(symbols.into_iter().zip(extents).filter_map(|(s, n)| s.map(|s| (s, n))));
    }
    out
}

/// An array of a relation.
fn part(rel: &Relation, name: &str, leaf: u64) -> KernelMemory {
    let units = rel.units(leaf);
    let leaves = units.leaf_base.last().copied().unwrap_or(0);
    let numbers = match name {
        "row_ptr" => rel.row_ptr().to_vec(),
        "perm" => rel.perm().unwrap().to_vec(),
        "long_rows" => units.long_rows,
        "leaf_row" => (0..leaves).map(|leaf| units.long_of(leaf).unwrap() as i64).collect(),
        "leaf_base" => units.leaf_base,
        "col" => {
            let col: Vec<i32> = rel.col().iter().map(|c| *c as i32).collect();
            return KernelMemory::lent(&Tensor::of(&[col.len()], &col).unwrap());
        }
        other => panic!("a relation has no `{other}`"),
    };
    KernelMemory::lent(&Tensor::of(&[numbers.len()], &numbers).unwrap())
}

fn lend(value: &Value) -> KernelMemory {
    match value {
        Value::Tensor(t) => KernelMemory::lent(t),
        Value::Buffer(b) => b.into(),
        Value::Rel(_) => panic!("a relation is passed part by part"),
    }
}

/// How many units a function has, and the leaf its relation is cut by.
fn units(func: &Func, args: &[Value]) -> (i64, u64) {
    let main = func.body.block(func.body.entry(func.region)).insts[0];
    let rel = args.iter().find_map(|a| if let Value::Rel(r) = a { Some(r) } else { None });
    let size = |s: &str| sizes(func, args).iter().find(|(name, _)| &**name == s).map(|(_, n)| *n);
    match func.body.inst(main).attrs.space().unwrap() {
        Space::Once => (1, 1),
        Space::Rows(extent) => (extent.eval(&size).unwrap(), 1),
        Space::Blocks(extent, leaf) => ((extent.eval(&size).unwrap() as u64).div_ceil(*leaf) as i64, *leaf),
        Space::Edges => (rel.unwrap().num_edges() as i64, 1),
        Space::Short(leaf) => (rel.unwrap().num_dst() as i64, *leaf),
        Space::Leaves(leaf) => (*rel.unwrap().units(*leaf).leaf_base.last().unwrap(), *leaf),
        Space::Long(leaf) => (rel.unwrap().units(*leaf).long_rows.len() as i64, *leaf),
    }
}

/// Runs a loops function, and each of its kernels that is made for these sizes; their memory must be the same.
fn check(module: &Module, name: &str, args: &mut [Value]) {
    let func = &module.funcs[name];
    let before = args.to_vec();
    run_loops(module, name, args, &Options::default()).unwrap_or_else(|e| panic!("{name}: {e}"));
    let sizes = sizes(func, args);
    let size = |s: &str| sizes.iter().find(|(name, _)| &**name == s).map(|(_, n)| *n);
    let options = KernelOptions { simd_bytes: 16, specialize: vec![("H".into(), 2), ("F".into(), 5)] };
    let mut ran = 0;
    for variant in lower_func(module, func, &options).unwrap_or_else(|e| panic!("{name}: {e}")) {
        let variant = variant.kernel;
        let holds = variant.guard.terms.iter().all(|(p, cmp, n)| cmp.holds(p.eval(&size).unwrap(), *n));
        if !holds {
            continue;
        }
        ran += 1;
        run_variant(&variant, func, &before, args, &sizes);
        // A specialised kernel and the generic one agree; of those for the rows of a table the first match is meant.
        if variant.name.contains(".lt") || variant.name.contains(".eq") {
            break;
        }
    }
    assert!(ran > 0, "{name} has no kernel for these sizes");
}

fn run_variant(kernel: &Func, func: &Func, before: &[Value], after: &[Value], sizes: &[(Symbol, i64)]) {
    let (count, leaf) = units(func, before);
    let (mut sym, mut memory, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for i in 0..kernel.params().len() - 2 {
        let name = kernel.param_name(i);
        let position = |n: &str| (0..func.params().len()).find(|i| func.param_name(*i) == n);
        if matches!(kernel.body.ty(kernel.params()[i]), Type::Tensor(_)) {
            sym.push(sizes.iter().find(|(s, _)| &**s == name).unwrap().1);
        } else if let Some(at) = position(name) {
            places.push((memory.len(), at));
            memory.push(lend(&before[at]));
        } else if let Some((rel, array)) = name.rsplit_once('.') {
            let Value::Rel(rel) = &before[position(rel).unwrap()] else { panic!("`{rel}` is no relation") };
            memory.push(part(rel, array, leaf));
        }
    }
    let mut options = Options::default();
    options.sizes.extend(sizes.iter().cloned());
    // Units are cut anywhere.
    for units in [count / 2..count, 0..count / 2] {
        run_kernel(kernel, KernelCall { sym: &sym, memory: &mut memory, units }, &options)
            .unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
    }
    for (slot, at) in places {
        let Value::Buffer(expected) = &after[at] else { continue };
        let found = memory[slot].buffer(expected.dtype(), expected.shape()).unwrap();
        assert!(found.same(expected), "{}: argument {at}\n{found:?}\n{expected:?}", kernel.name);
    }
}

/// Runs the parts of a split function one after the other; `partials` are allocated between.
fn check_parts(module: &Module, stem: &str, args: &mut Vec<Value>, edges: usize, partials: &[Vec<usize>]) {
    check(module, &format!("{stem}.rows"), args);
    let own = args.len();
    let rows = 2 * (edges / 3);
    args.extend(partials.iter().map(|shape| memory(&[&[rows], shape.as_slice()].concat())));
    check(module, &format!("{stem}.leaves"), args);
    check(module, &format!("{stem}.tree"), args);
    args.truncate(own);
}

#[test]
fn attention_forward_and_backward() {
    let module = split_units::run(&program(GAT)).unwrap();
    let mut random = Random::of_seed(7);
    for (n, h, d) in [(9, 2, 3), (6, 1, 5), (5, 3, 8)] {
        let g = random.graph(n, n);
        let edges = g.num_edges();
        let (nhd, nh) = ([n, h, d], [n, h]);
        let [z, out_bar] = [random.tensor(&nhd), random.tensor(&nhd)];
        let [s, t] = [random.tensor(&nh), random.tensor(&nh)];
        let t_rel: Value = g.transposed().unwrap().into();
        let g: Value = g.into();
        let given = |buffer: &Value| Value::Tensor(buffer.as_buffer().unwrap().tensor().unwrap());
        let mut args = vec![g.clone(), z.clone(), s.clone(), t.clone(), memory(&nhd), memory(&nh), memory(&nh)];
        check_parts(&module, "gat.forward", &mut args, edges, &[vec![h], vec![h], vec![h, d]]);
        let [out, m, l] = [4, 5, 6].map(|i| given(&args[i]));
        let mut args = vec![out, out_bar.clone(), memory(&nh)];
        check(&module, "gat.delta", &mut args);
        let delta = given(&args[2]);
        let shared = [z.clone(), s.clone(), t.clone(), m, l, delta, out_bar.clone()];
        let mut args = [&[t_rel], &shared[..], &[memory(&nhd), memory(&nh)]].concat();
        check_parts(&module, "gat.sources", &mut args, edges, &[vec![h, d], vec![h]]);
        let [z_bar, s_bar] = [8, 9].map(|i| given(&args[i]));
        let mut args = [std::slice::from_ref(&g), &shared[..], &[memory(&nh)]].concat();
        check_parts(&module, "gat.destinations", &mut args, edges, &[vec![h]]);
        let t_bar = given(&args[8]);
        // And all of it is what the host function computes, in units or not.
        for module in [&module, &program(GAT)] {
            let mut args = [g.clone(), z.clone(), s.clone(), t.clone(), out_bar.clone()];
            let results = run_host(module, "gat.value_and_vjp", &mut args, &Options::default()).unwrap();
            assert_eq!(results[1..], [z_bar.clone(), s_bar.clone(), t_bar.clone()]);
        }
    }
}

#[test]
fn units_of_a_hub() {
    let module = program(HUB);
    assert!(module.funcs.values().any(|f| f.level == Level::Host));
    let mut random = Random::of_seed(3);
    for (n, features) in [(12, 1), (9, 5), (7, 70)] {
        let g = random.graph(4, n);
        let (edges, g) = (g.num_edges(), Value::Rel(Arc::new(g)));
        let (x, w, b) = (random.tensor(&[4, features]), random.tensor(&[edges]), random.tensor(&[n]));
        let mut rows = vec![g.clone(), x.clone(), w.clone(), b.clone(), memory(&[n, features])];
        check(&module, "hub.rows", &mut rows);
        let mut leaves = vec![g.clone(), x.clone(), w.clone(), memory(&[2 * (edges / 3), features])];
        check(&module, "hub.leaves", &mut leaves);
        let mut tree = vec![g, b, leaves[3].clone(), rows[4].clone()];
        check(&module, "hub.tree", &mut tree);
        assert!(tree[3].as_buffer().unwrap().tensor().is_ok(), "every row is short or long");
    }
}

#[test]
fn a_transposed_relation() {
    let module = split_units::run(&program(TRANSPOSED)).unwrap();
    let mut random = Random::of_seed(5);
    let g = random.graph(6, 11);
    let edges = g.num_edges();
    let mut args =
        vec![g.transposed().unwrap().into(), random.tensor(&[11]), random.tensor(&[6]), random.tensor(&[edges])];
    args.push(memory(&[6]));
    check_parts(&module, "conduct.rows", &mut args, edges, &[vec![]]);
}
