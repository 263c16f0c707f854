//! One bundle with kernels for several CPUs: each target of it that this machine can run, forced in turn, gives what
//! its interpreter says and what the examples and the cookbook expect; the best is chosen where none is forced.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use fastrand::Rng;
use std::collections::BTreeMap;
use std::path::Path;
use testsuite::generator::{GraphShape, inputs, program, random_graph};
use testsuite::lit::{Tools, find, run};
use testsuite::models::{HALVES, TURNED, WALK, WIDE, graph, random, wide_values};
use testsuite::road::{Road, bundle_for, difference, example, levels_here, model};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_backend_llvm::OptLevel;
use tiga_ir::Module;
use tiga_ir::interp::{Tensor, Value};
use tiga_ir::verify::Machine;
use tiga_runtime::{Bundle, Context, RuntimeError};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

const LEVELS: [CpuTarget; 3] = [CpuTarget::X86_64V4, CpuTarget::X86_64V2, CpuTarget::X86_64V3];

/// What a program is run on.
struct Run<'a> {
    program: &'a str,
    values: Vec<Value>,
    dims: Vec<(&'a str, i64)>,
}

/// Runs programs with each target of one bundle: the bits of that target's interpreter, and of its own bundle.
#[track_caller]
fn agrees(module: &Module, options: &CompileOptions, runs: &[Run<'_>]) {
    let fp = options.law.fp;
    let bundle = Bundle::from_bytes(bundle_for(module, &LEVELS, options).unwrap()).unwrap();
    let here = levels_here();
    assert_eq!(bundle.target(), here.last().unwrap().name(), "the best is chosen");
    // Between targets that contract alike, no bit differs.
    let mut known: BTreeMap<(bool, usize), Vec<Tensor>> = BTreeMap::new();
    for target in here {
        let alone = Road::of_domain(module, CompileOptions { target, ..options.clone() }).unwrap();
        let forced = bundle.with_target(target.name()).unwrap();
        assert_eq!(forced.target(), target.name());
        let road = Road { bundle: forced, ..alone.clone() };
        let context = Context::new(2).unwrap();
        let contracts = fp == FpMode::Default && Machine::from(target).fma;
        for (i, Run { program, values, dims }) in runs.iter().enumerate() {
            let got = road.run(program, values, dims, &context).unwrap();
            let expected = road.interpret(program, values, dims).unwrap();
            let own = alone.run(program, values, dims, &context).unwrap();
            assert_eq!((got.len(), own.len()), (expected.len(), expected.len()));
            let others = known.entry((contracts, i)).or_insert_with(|| got.clone());
            assert!(got.iter().zip(others).all(|(got, other)| got.same(other)), "{program} for {target} ({fp:?})");
            for ((got, own), expected) in got.iter().zip(&own).zip(&expected) {
                assert_eq!(difference(got, expected), None, "{program} for {target} ({fp:?})");
                assert_eq!(difference(own, expected), None, "{program} for {target} alone ({fp:?})");
            }
        }
    }
}

#[track_caller]
fn agrees_in_both_modes(module: &Module, runs: &[Run<'_>]) {
    for fp in [FpMode::Strict, FpMode::Default] {
        agrees(module, &CompileOptions::new(CpuTarget::X86_64V3, fp), runs);
    }
}

fn number<T: tiga_ir::interp::Element>(number: T) -> Value {
    Tensor::of(&[], &[number]).unwrap().into()
}

#[test]
fn wide_messages_agree() {
    let module = model("wide.tg", WIDE, &SemaOptions::default()).unwrap();
    let mut rng = Rng::with_seed(11);
    let runs = [1, 3, 16, 37, 64].map(|features| Run {
        program: "wide",
        values: wide_values(&mut rng, 9, 7, features),
        dims: vec![("F", features as i64)],
    });
    agrees_in_both_modes(&module, &runs);
}

#[test]
fn turned_features_agree() {
    let module = model("turned.tg", TURNED, &SemaOptions::default()).unwrap();
    let mut rng = Rng::with_seed(12);
    let runs = [1, 4, 11].map(|features: usize| {
        let x = random(&mut rng, DType::F32, &[8, 3 * features]);
        let values = vec![graph(&mut rng, 8, 8).into(), x, random(&mut rng, DType::F32, &[features])];
        Run { program: "turned", values, dims: vec![("F", features as i64)] }
    });
    agrees_in_both_modes(&module, &runs);
}

/// Level 2 has no conversions of `f16`: they are written out.
#[test]
fn elements_of_two_bytes_agree() {
    let module = model("halves.tg", HALVES, &SemaOptions::default()).unwrap();
    let mut rng = Rng::with_seed(13);
    let g = graph(&mut rng, 40, 40);
    let w = random(&mut rng, DType::BF16, &[g.num_edges()]);
    let values = vec![g.into(), random(&mut rng, DType::F16, &[40]), w, random(&mut rng, DType::F16, &[])];
    agrees_in_both_modes(&module, &[Run { program: "halves", values, dims: Vec::new() }]);
}

#[test]
fn loops_agree() {
    let module = model("walk.tg", WALK, &SemaOptions::default()).unwrap();
    let mut rng = Rng::with_seed(14);
    let values = vec![graph(&mut rng, 20, 20).into(), random(&mut rng, DType::F64, &[20]), number(5i64)];
    agrees_in_both_modes(&module, &[Run { program: "walk", values, dims: Vec::new() }]);
}

/// Those of the examples that the cookbook does not run.
#[test]
fn examples_agree() {
    let mut rng = Rng::with_seed(15);
    let g = graph(&mut rng, 30, 30);
    let edges = g.num_edges();
    let start = (0..30).map(|i| if i == 4 { 0 } else { i64::MAX }).collect::<Vec<_>>();
    let (t, b) = (random(&mut rng, DType::F32, &[30]), random(&mut rng, DType::F32, &[30]));
    let c = random(&mut rng, DType::F32, &[edges]);
    let (a, x) = (random(&mut rng, DType::F64, &[edges]), random(&mut rng, DType::F64, &[30]));
    let examples = [
        ("bfs", vec![g.clone().into(), Tensor::of(&[30], &start).unwrap().into()]),
        ("heat", vec![g.clone().into(), t, b, c]),
        ("pagerank", vec![g.clone().into(), number(0.85f32), number(1e-6f32)]),
        ("spmv", vec![g.into(), a, x]),
    ];
    for (program, values) in examples {
        let module = example(&format!("{program}.tg"), &SemaOptions::default()).unwrap();
        agrees_in_both_modes(&module, &[Run { program, values, dims: Vec::new() }]);
    }
}

/// The kernels of whatever the generator writes take the same arguments for all targets.
#[test]
fn random_programs_agree() {
    let mut options = CompileOptions::new(CpuTarget::X86_64V3, FpMode::Default);
    options.opt = OptLevel::O0;
    for seed in 500..520 {
        let mut rng = Rng::with_seed(seed);
        let generated = program(&mut rng, "p", 12);
        let sources = generated.two_sets().then(|| 1 + rng.usize(0..12));
        let csr = random_graph(&mut rng, GraphShape::ALL[0], 9, sources);
        let inputs = inputs(&mut rng, &generated, &csr);
        let dims = vec![("F", inputs.features as i64)];
        agrees(&generated.module, &options, &[Run { program: "p", values: inputs.values, dims }]);
    }
}

/// The cookbook's tests, as they stand, with one bundle for all targets, of which each is forced.
#[test]
fn the_cookbook_has_its_values_on_every_target() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tools = Tools::new(root, &Path::new(env!("CARGO_TARGET_TMPDIR")).join("targets")).unwrap();
    let pages: Vec<_> = find(root).unwrap().into_iter().filter(|case| case.name.starts_with("cookbook/")).collect();
    assert!(pages.len() >= 10);
    for case in &pages {
        let mut forced = case.clone();
        forced.runs.clear();
        for line in &case.runs {
            let line = line.replace("%tigac %examples", "%tigac --target=x86-64-v2,x86-64-v3,x86-64-v4 %examples");
            let each = levels_here().into_iter().map(|target| format!("%tiga run --target={target} "));
            let each = each.filter(|_| line.contains("%tiga run ")).map(|run| line.replace("%tiga run ", &run));
            forced.runs.extend(each.collect::<Vec<_>>());
            forced.runs.extend((!line.contains("%tiga run ")).then_some(line));
        }
        let all = forced.runs.join("\n");
        assert!(all.contains("%tigac --target=x86-64-v2,") && all.contains("%tiga run --target="), "{all}");
        run(&forced, &tools).unwrap_or_else(|error| panic!("{}: {error}", case.name));
    }
}

/// A bundle whose targets need what they did not need when they were compiled.
fn demanding(demands: &[(&str, &str)]) -> Result<Bundle, RuntimeError> {
    let module = example("spmv.tg", &SemaOptions::default()).unwrap();
    let options = CompileOptions::new(CpuTarget::X86_64V2, FpMode::Default);
    let file = tiga_bundle::Bundle::from_bytes(bundle_for(&module, &LEVELS, &options).unwrap()).unwrap();
    let mut manifest = file.manifest().clone();
    for (name, feature) in demands {
        let target = manifest.targets.iter_mut().find(|target| target.name == *name).unwrap();
        target.features = vec![(*feature).into()];
    }
    let kernels = manifest.targets.iter().map(|t| (t.name.clone(), file.kernels(&t.name).unwrap().to_vec())).collect();
    let plans = vec![file.plan("spmv").unwrap().clone()];
    let contents = tiga_bundle::Contents { manifest, plans, kernels, ir: BTreeMap::new() };
    Bundle::from_bytes(tiga_bundle::write(&contents).unwrap())
}

/// No machine has `mmx3`; `is_x86_feature_detected!` does not know it, and what it does not know is not there.
#[test]
fn what_the_machine_lacks_is_named() {
    let bundle = demanding(&[("x86-64-v3", "mmx3"), ("x86-64-v4", "mmx4")]).unwrap();
    assert_eq!(bundle.target(), "x86-64-v2");
    let refused = bundle.with_target("x86-64-v3").unwrap_err();
    assert_eq!(refused.to_string(), "this machine cannot run the kernels for `x86-64-v3`: mmx3 missing");
    let absent = bundle.with_target("native").unwrap_err();
    let all = "`x86-64-v2`, `x86-64-v3`, `x86-64-v4`";
    assert_eq!(absent.to_string(), format!("the bundle has no kernels for `native`; it has those for {all}"));
    let nothing = demanding(&[("x86-64-v2", "mmx2"), ("x86-64-v3", "mmx3"), ("x86-64-v4", "mmx4")]).unwrap_err();
    let why = "none of which this machine can run: mmx2 missing";
    assert_eq!(nothing.to_string(), format!("the bundle has kernels for {all}, {why}"));
}

#[test]
fn bundles_share_what_they_do_not_choose() {
    let bundle = demanding(&[]).unwrap();
    let forced = bundle.with_target("x86-64-v2").unwrap();
    assert_eq!(forced.manifest(), bundle.manifest());
    assert_eq!(forced.with_target(bundle.target()).unwrap().target(), bundle.target());
}
