//! Results are a function of program and inputs alone: not of threads, the order of units, the variant of a kernel, the
//! folder, user, time zone or locale of the compiler.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use fastrand::Rng;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use testsuite::lit::Tools;
use testsuite::road::{Road, difference, example, model, relation};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_formats::{Csr, Indices};
use tiga_ir::Module;
use tiga_ir::interp::{Tensor, Value};
use tiga_runtime::{Context, UnitOrder};
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

/// Sums, means and maxima along features.
const WIDE: &str = "
message added<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { edge.w * src.x } reduce sum }
message averaged<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { edge.w * src.x } reduce mean }
message greatest<F>(src: {x: f32[F]}, edge: {w: f32}) -> f32[F] { edge { edge.w * src.x } reduce max }

program wide<F>(g: graph, x: f32[g.src, F], w: f32[g.edges])
    -> (total: f32[g.dst, F], average: f32[g.dst, F], most: f32[g.dst, F]) {
    (added(g, src: {x}, edge: {w}), averaged(g, src: {x}, edge: {w}), greatest(g, src: {x}, edge: {w}))
}
";

/// Reductions over a set.
const OVER_SET: &str = "
program over_set<set P, F>(x: f32[P, F], y: f64[P]) -> (total: f32[F], average: f64, most: f64, product: f64) {
    (sum(x, axis: 0), mean(y), max(y), prod(1 + y / 10000))
}
";

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

/// The default shape, and one of leaves of two elements with two accumulators.
fn laws(target: CpuTarget) -> [CompileOptions; 2] {
    let start = CompileOptions::new(target, FpMode::Default);
    let mut tiny = start.clone();
    (tiny.law.row_leaf, tiny.law.set_leaf, tiny.law.acc) = (2, 2, Some(2));
    [start, tiny]
}

/// A graph with a hub of more than three leaves, rows of a few edges, and empty ones.
fn hub(nodes: usize) -> Csr {
    let mut rng = Rng::with_seed(7);
    let mut node = || rng.usize(0..nodes) as i32;
    let (mut src, mut dst) = (Vec::new(), Vec::new());
    for i in 0..2000 + nodes / 2 {
        src.push(node());
        dst.push(if i < 2000 { 3 } else { node() });
    }
    let (csr, _) = Csr::from_coo(&Indices::I32(src), &Indices::I32(dst), Some(nodes), Some(nodes)).unwrap();
    assert!(csr.row(3).len() > 3 * 512 && (0..nodes).any(|row| csr.row(row).is_empty()));
    csr
}

fn random(rng: &mut Rng, dtype: DType, shape: &[usize]) -> Value {
    let count = shape.iter().product();
    let elements = (0..count).map(|_| tiga_ir::Scalar::from_f64(dtype, rng.f64() * 4.0 - 2.0)).collect();
    Tensor::new(dtype, shape.to_vec(), elements).unwrap().into()
}

/// Every way to cut units among workers gives the bytes of the loops interpreter.
fn same_for_all_cuts(module: &Module, program: &str, values: &[Value], dims: &[(&str, i64)]) {
    let cuts = [1, 2, 3, 7].map(|threads| (threads, UnitOrder::Ascending)).into_iter();
    let cuts = cuts.chain([1, 2, 3, 4].map(|seed| (3, UnitOrder::Shuffled(seed * 77_777))));
    let cuts: Vec<Context> = cuts.map(|(threads, order)| Context::new(threads).unwrap().with_order(order)).collect();
    for options in laws(CpuTarget::Native) {
        let road = Road::of_domain(module, options).unwrap();
        let expected = road.interpret(program, values, dims).unwrap();
        for context in &cuts {
            let got = road.run(program, values, dims, context).unwrap();
            assert_eq!(got.len(), expected.len());
            for (i, (got, expected)) in got.iter().zip(&expected).enumerate() {
                let found = difference(got, expected);
                assert!(
                    found.is_none(),
                    "{program}: {context:?}, {:?}: result {i}{}",
                    road.options.law,
                    found.unwrap()
                );
                assert_eq!(got.to_bytes(), expected.to_bytes(), "zeros and NaN too");
            }
        }
    }
}

#[test]
fn pagerank_has_the_same_bytes_for_all_cuts() {
    // 13,000 nodes: the sums over nodes have more than three leaves too.
    let real = SemaOptions { set: BTreeMap::from([("real".into(), DType::F64)]) };
    let module = example("pagerank.tg", &real).unwrap();
    let number = |x: f64| Value::from(Tensor::of(&[], &[x]).unwrap());
    let values = [relation(&hub(13_000)).into(), number(0.85), number(1e-3)];
    same_for_all_cuts(&module, "pagerank", &values, &[]);
}

#[test]
fn wide_messages_have_the_same_bytes_for_all_cuts() {
    let module = model("wide.tg", WIDE, &SemaOptions::default()).unwrap();
    let csr = hub(300);
    for features in [1, 5, 16, 70] {
        let mut rng = Rng::with_seed(features as u64);
        let x = random(&mut rng, DType::F32, &[csr.num_src(), features]);
        let w = random(&mut rng, DType::F32, &[csr.num_edges()]);
        let values = [relation(&csr).into(), x, w];
        same_for_all_cuts(&module, "wide", &values, &[("F", features as i64)]);
    }
}

#[test]
fn reductions_over_a_set_have_the_same_bytes_for_all_cuts() {
    let module = model("over_set.tg", OVER_SET, &SemaOptions::default()).unwrap();
    let count = 3 * 4096 + 77;
    for features in [1, 3] {
        let mut rng = Rng::with_seed(5);
        let values = [random(&mut rng, DType::F32, &[count, features]), random(&mut rng, DType::F64, &[count])];
        same_for_all_cuts(&module, "over_set", &values, &[("F", features as i64)]);
    }
}

#[test]
fn generic_and_specialised_kernels_have_the_same_bytes() {
    let module = model("wide.tg", WIDE, &SemaOptions::default()).unwrap();
    let csr = hub(300);
    let context = Context::new(2).unwrap();
    for options in laws(CpuTarget::X86_64V3) {
        let mut special = options.clone();
        special.specialize = vec![("F".into(), 16), ("F".into(), 70)];
        let roads = [options, special].map(|options| Road::of_domain(&module, options).unwrap());
        for features in [16, 70] {
            let size = |s: &str| Some(if s == "F" { features } else { 1000 });
            let chosen = roads.each_ref().map(|road| {
                let kernels = &road.bundle.manifest().kernels;
                kernels.iter().map(|k| k.select(&size).unwrap().guard.to_string()).collect::<Vec<_>>()
            });
            assert_ne!(chosen[0], chosen[1], "no kernel is specialised");
            let mut rng = Rng::with_seed(3);
            let x = random(&mut rng, DType::F32, &[csr.num_src(), features as usize]);
            let values = [relation(&csr).into(), x, random(&mut rng, DType::F32, &[csr.num_edges()])];
            let results = roads.each_ref().map(|road| road.run("wide", &values, &[("F", features)], &context).unwrap());
            assert_eq!(results[0].len(), results[1].len());
            for (generic, special) in results[0].iter().zip(&results[1]) {
                assert_eq!(generic.to_bytes(), special.to_bytes(), "F = {features}");
            }
        }
    }
}

/// One place to compile from: a folder and its surroundings.
struct Place {
    folder: PathBuf,
    environment: [(&'static str, &'static str); 5],
}

impl Place {
    fn new(name: &str, environment: [(&'static str, &'static str); 5]) -> Self {
        let folder = TOOLS.scratch(&format!("determinism-{name}")).unwrap();
        let folder = fs::canonicalize(folder).unwrap();
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
        fs::copy(examples.join("pagerank.tg"), folder.join("pagerank.tg")).unwrap();
        Self { folder, environment }
    }

    /// Every form that can be emitted, by its name.
    fn emit(&self, model: &Path) -> BTreeMap<&'static str, Vec<u8>> {
        let mut forms = BTreeMap::new();
        let kinds = ["ast", "ir", "llvm-ir", "asm", "obj", "bundle"].map(|kind| (kind, kind, "x86-64-v3"));
        let several = ("bundle of several", "bundle", "x86-64-v4,x86-64-v2,x86-64-v3");
        for (name, kind, target) in kinds.into_iter().chain([several]) {
            let mut command: Command = TOOLS.command("tigac");
            command.current_dir(&self.folder).envs(self.environment);
            command.arg(model).args([&format!("--target={target}"), &format!("--emit={kind}=out")]);
            let output = command.output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            forms.insert(name, fs::read(self.folder.join("out")).unwrap());
        }
        forms
    }
}

fn holds(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

#[test]
fn emitted_files_are_the_same_from_everywhere_and_name_no_place() {
    let one = [("TZ", "UTC"), ("LC_ALL", "C"), ("USER", "mallory-one"), ("LOGNAME", "mallory-one"), ("HOME", "/")];
    let other = [
        ("TZ", "Pacific/Kiritimati"),
        ("LC_ALL", "de_DE.UTF-8"),
        ("USER", "mallory-two"),
        ("LOGNAME", "mallory-two"),
        ("HOME", "/nonexistent-home"),
    ];
    let places = [Place::new("here", one), Place::new("there/deeper", other)];
    let relative = Path::new("pagerank.tg");
    let forms = [
        places[0].emit(relative),
        places[1].emit(relative),
        places[0].emit(&places[0].folder.join(relative)),
        places[1].emit(&places[1].folder.join(relative)),
    ];
    let root = fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
    let root = root.to_str().unwrap();
    let folders = places.each_ref().map(|p| p.folder.to_str().unwrap());
    for (i, emitted) in forms.iter().enumerate() {
        for (kind, bytes) in emitted {
            assert!(!bytes.is_empty() && bytes == &forms[0][kind], "{kind} of run {i} differs");
            for part in [root, folders[0], folders[1], "mallory-", "nonexistent-home", ".cargo/registry"] {
                assert!(!holds(bytes, part), "{kind} holds `{part}`");
            }
        }
    }
}

#[test]
fn the_tools_of_archives_accept_a_bundle() {
    let place = Place::new("archive", [("TZ", "UTC"); 5]);
    place.emit(Path::new("pagerank.tg"));
    let output = Command::new("unzip").arg("-t").arg(place.folder.join("out")).output();
    let output = output.expect("unzip is installed by the set-up");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains("No errors detected"), "{text}");
    // The manifest, a plan, kernels and their code for three targets, the list of checksums.
    assert_eq!(text.matches(" OK\n").count(), 9, "{text}");
}
