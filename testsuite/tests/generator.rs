//! What random programs are made of, and how a failing one gets small.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeSet;
use testsuite::differential::{Way, Without};
use testsuite::generator::{Case, Coverage, Generated, GraphShape, inputs, program, random_graph, shrink};
use testsuite::road::{relation, result};
use tiga_abi::CpuTarget;
use tiga_ir::interp::{Relation, Tensor, Value, run_domain};
use tiga_ir::{Module, ops};

#[test]
fn no_cell_is_empty() {
    let mut coverage = Coverage::default();
    for seed in 1..=2000 {
        coverage.merge(&program(&mut fastrand::Rng::with_seed(seed), "p", 6).coverage);
    }
    println!("{coverage}");
    assert!(coverage.empty().is_empty(), "empty cells: {:?}", coverage.empty());
}

fn generated(seed: u64) -> (Generated, fastrand::Rng) {
    let mut rng = fastrand::Rng::with_seed(seed);
    (program(&mut rng, "p", 6), rng)
}

/// What of a graph breaks loops.
fn traits(g: &Relation) -> BTreeSet<&'static str> {
    let rows = || (0..g.num_dst()).map(|row| g.row(row).map(|e| g.source(e)).collect::<Vec<_>>());
    let distinct = |row: &Vec<usize>| row.iter().collect::<BTreeSet<_>>().len();
    let isolated = |(node, row): (usize, &Vec<usize>)| row.is_empty() && !g.col().contains(&(node as i64));
    let rows: Vec<Vec<usize>> = rows().collect();
    let found = [
        ("no nodes", rows.is_empty()),
        ("no edges", !rows.is_empty() && g.num_edges() == 0),
        ("empty row", g.num_edges() > 0 && rows.iter().any(Vec::is_empty)),
        ("isolated node", g.num_edges() > 0 && rows.iter().enumerate().any(isolated)),
        ("duplicate edge", rows.iter().any(|row| distinct(row) < row.len())),
        ("self-loop", rows.iter().enumerate().any(|(node, row)| row.contains(&node))),
        ("row of two leaves", rows.iter().any(|row| row.len() > 512)),
    ];
    found.into_iter().filter(|(_, holds)| *holds).map(|(name, _)| name).collect()
}

fn kinds(tensor: &Tensor) -> BTreeSet<&'static str> {
    let normal = if tensor.dtype() == tiga_abi::DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    let kind = |x: f64| match x {
        x if x.is_nan() => "NaN",
        f64::INFINITY => "∞",
        f64::NEG_INFINITY => "−∞",
        0.0 if x.is_sign_negative() => "−0",
        x if x != 0.0 && x.abs() < normal => "denormal",
        _ => "number",
    };
    tensor.elems().iter().filter(|e| e.dtype().is_float()).map(|e| kind(e.as_f64())).collect()
}

#[test]
fn graphs_and_numbers_have_what_breaks_loops() {
    let (mut graphs, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for seed in 0..200 {
        let (generated, mut rng) = generated(seed);
        let csr = random_graph(&mut rng, GraphShape::ALL[seed as usize % 4], 1 + seed as usize % 12, None);
        graphs.extend(traits(&relation(&csr)));
        for value in &inputs(&mut rng, &generated, &csr).values {
            numbers.extend(value.as_tensor().map(kinds).unwrap_or_default());
        }
    }
    let all =
        ["no nodes", "no edges", "empty row", "isolated node", "duplicate edge", "self-loop", "row of two leaves"];
    assert_eq!(graphs, BTreeSet::from(all));
    assert_eq!(numbers, BTreeSet::from(["NaN", "∞", "−∞", "−0", "denormal", "number"]));
}

fn case(seed: u64) -> Case {
    let (generated, mut rng) = generated(seed);
    let csr = random_graph(&mut rng, GraphShape::Random, 8, generated.two_sets().then_some(5));
    let inputs = inputs(&mut rng, &generated, &csr);
    Case {
        way: Way { optimised: true, small: false, target: CpuTarget::X86_64V2, without: Without::All },
        program: generated.name,
        module: generated.module,
        inputs,
    }
}

#[test]
fn a_case_comes_back_from_its_text() {
    for seed in 0..20 {
        let text = case(seed).to_string();
        let again: Case = text.parse().unwrap();
        assert_eq!(again.to_string(), text);
    }
    assert_eq!("// program: p".parse::<Case>().unwrap_err().to_string(), "the header has no line `// optimised: …`");
    let bad = case(1).to_string().replace("// small: false", "// small: perhaps");
    assert_eq!(bad.parse::<Case>().unwrap_err().to_string(), "cannot read `small: perhaps`");
}

fn values(module: &Module, case: &Case) -> Vec<Tensor> {
    let results = run_domain(module, &case.program, &case.inputs.values);
    results.into_iter().flatten().map(|value| result(value).unwrap()).collect()
}

/// A planted fault: the sum of `f32` takes differences.
fn differs(case: &Case) -> bool {
    let mut faulty = case.module.clone();
    let Some(reducer) = faulty.reducers.get_mut("sum.f32") else { return false };
    for inst in reducer.body.walk(reducer.combine) {
        if reducer.body.inst(inst).op == ops::ADD {
            reducer.body.inst_mut(inst).op = ops::SUB;
        }
    }
    let (good, bad) = (values(&case.module, case), values(&faulty, case));
    assert_eq!(good.len(), bad.len());
    !good.is_empty() && good.iter().zip(&bad).any(|(g, b)| !g.same(b))
}

#[test]
fn a_failing_case_shrinks_to_its_cause() {
    let failing: Vec<Case> = (0..4000).map(case).filter(differs).take(5).collect();
    assert_eq!(failing.len(), 5);
    for case in failing {
        let before = case.to_string();
        let small = shrink(case, differs);
        assert!(differs(&small));
        let func = &small.module.funcs[&small.program];
        let insts = func.body.walk(func.region);
        // The cause may stand in the program that is called.
        let all = small.module.funcs.values().flat_map(|f| f.body.walk(f.region).into_iter().map(|i| f.body.inst(i)));
        let sums = all
            .filter(|data| data.attrs.reducer().is_some_and(|r| &**r == "sum.f32") || data.attrs.targets().is_some());
        assert!(sums.count() >= 1, "{small}");
        let short = |f: &tiga_ir::Func| f.body.walk(f.region).len() <= 6;
        let small_enough = small.module.funcs.values().all(short) && small.module.reducers.len() <= 2;
        assert!(small_enough, "from\n{before}\nto\n{small}");
        assert!(small.inputs.features <= 2, "{small}");
        let edges = |value: &Value| if let Value::Rel(g) = value { g.num_edges() } else { 0 };
        assert!(small.inputs.values.iter().map(edges).sum::<usize>() <= 2, "{small}");
        // A parameter that nothing reads stays where it alone fixes a size: of `f32[N, 2*F]` alone nobody knows F.
        let read = |v: &tiga_ir::Value| insts.iter().any(|i| func.body.inst(*i).operands.contains(v));
        assert!(func.results.len() == 1 && func.params().iter().filter(|v| read(v)).count() <= 3, "{small}");
    }
}
