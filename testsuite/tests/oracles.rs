//! Real graphs with their known answers, through the library and through the commands. `TIGA_DATA` names the folder of
//! the data; `TIGA_DATA_REQUIRED=1` makes it obligatory.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;
use testsuite::lit::Tools;
use testsuite::road::{Road, example, relation};
use tiga_abi::{CpuTarget, DType, FpMode};
use tiga_formats::{Array, Conversion, Elements, GraphFile, Limits, open_array, open_graph, save_array};
use tiga_ir::interp::{Tensor, Value};
use tiga_runtime::Context;
use tigac::pack::CompileOptions;
use tigac::sema::SemaOptions;

const LIMITS: Limits = Limits { memory: 256 << 20 };

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

fn graph(path: PathBuf) -> GraphFile {
    open_graph(&path, &LIMITS).unwrap()
}

fn array(path: &Path) -> Array {
    open_array(path.to_str().unwrap(), &LIMITS).unwrap()
}

fn f64s(array: Array) -> Vec<f64> {
    match array.into_parts().1 {
        Elements::F64(v) => v,
        other => panic!("{} instead of f64", other.array_type()),
    }
}

fn i64s(array: Array) -> Vec<i64> {
    match array.convert(DType::I64, Conversion::Widening).unwrap().into_parts().1 {
        Elements::I64(v) => v,
        other => panic!("{} instead of i64", other.array_type()),
    }
}

fn vector<T: tiga_ir::interp::Element>(numbers: &[T]) -> Value {
    Tensor::of(&[numbers.len()], numbers).unwrap().into()
}

fn scalar(number: f64) -> Value {
    Tensor::of(&[], &[number]).unwrap().into()
}

/// An example compiled in both modes.
fn roads(name: &str, real: Option<DType>) -> [Road; 2] {
    let options =
        SemaOptions { set: real.map(|dtype| ("real".to_owned(), dtype)).into_iter().collect::<BTreeMap<_, _>>() };
    let module = example(name, &options).unwrap();
    [FpMode::Strict, FpMode::Default]
        .map(|fp| Road::of_domain(&module, CompileOptions::new(CpuTarget::Native, fp)).unwrap())
}

/// Runs a command of the project and gives what it printed; it must end with `code`.
fn command(folder: &Path, name: &str, arguments: &[&str], code: i32) -> String {
    let output: Output = TOOLS.command(name).args(arguments).current_dir(folder).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{name} {arguments:?}\n{text}");
    text
}

/// The largest difference of two files.
fn max_error(got: &Path, expected: &Path) -> f64 {
    let (got, expected) = (f64s(array(got)), f64s(array(expected)));
    assert_eq!(got.len(), expected.len());
    got.iter().zip(expected).map(|(g, e)| (g - e).abs()).fold(0.0, f64::max)
}

/// The path of an example.
fn example_path(name: &str) -> String {
    format!("{}/../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A folder with the bundle `m.tgb` of an example.
fn compiled(test: &str, name: &str, arguments: &[&str]) -> PathBuf {
    let folder = TOOLS.scratch(test).unwrap();
    command(&folder, "tigac", &[&[example_path(name).as_str(), "-o", "m.tgb"], arguments].concat(), 0);
    folder
}

#[test]
fn pagerank_of_ego_facebook_is_the_oracle_after_99_rounds() {
    let Some(data) = TOOLS.data_for("pagerank") else { return };
    let file = graph(data.join("ego-facebook/adj.mtx"));
    let oracle = f64s(array(&data.join("oracles/ego_facebook_pagerank_f64.npy")));
    let values = [relation(&file.csr).into(), scalar(0.85), scalar(1e-10)];
    for road in roads("pagerank.tg", Some(DType::F64)) {
        let results = road.run("pagerank", &values, &[], &Context::new(2).unwrap()).unwrap();
        let rank: Vec<f64> = results[0].numbers().unwrap();
        assert_eq!(rank.len(), oracle.len());
        let error = rank.iter().zip(&oracle).map(|(r, o)| (r - o).abs()).fold(0.0, f64::max);
        assert!(error <= 1e-9, "{:?}: {error:e}", road.options.law.fp);
        assert_eq!(results[1].numbers::<i64>().unwrap(), [99], "{:?}", road.options.law.fp);
    }
}

#[test]
fn the_command_gives_the_pagerank_of_ego_facebook() {
    let Some(data) = TOOLS.data_for("the pagerank command") else { return };
    let folder = compiled("oracles-pagerank", "pagerank.tg", &["--set", "real=f64"]);
    let graph = format!("g={}", data.join("ego-facebook/adj.mtx").display());
    let expected = format!("rank={}", data.join("oracles/ego_facebook_pagerank_f64.npy").display());
    let run = ["run", "m.tgb", "pagerank", "--graph", &graph, "--in", "damping=0.85", "--in", "tol=1e-10", "-v"];
    let check = ["--out", "rank=rank.npy", "--expect", &expected];
    let text = command(&folder, "tiga", &[&run[..], &check, &["--atol", "1e-9"]].concat(), 0);
    for part in ["rank: as expected: 0 of 4039", "rounds: 99", "target: native", "kernel pagerank."] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
    let error = max_error(&folder.join("rank.npy"), Path::new(&expected["rank=".len()..]));
    assert!(error <= 1e-9, "{error:e}");
    // The reference interpreter says the same, on the same files.
    let model = example_path("pagerank.tg");
    let eval = ["eval", &model, "pagerank", "--set", "real=f64", "--graph", &graph, "--in", "damping=0.85", "--in"];
    let outputs = ["tol=1e-10", "--out", "rank=eval.npy", "--out", "rounds=rounds.npy"];
    command(&folder, "tigac", &[&eval[..], &outputs].concat(), 0);
    let error = max_error(&folder.join("eval.npy"), Path::new(&expected["rank=".len()..]));
    assert!(error <= 1e-9, "{error:e}");
    assert_eq!(i64s(array(&folder.join("rounds.npy"))), [99]);
    // The sums differ in their order, so nothing agrees to the last bit: the worst element is shown.
    let text = command(&folder, "tiga", &[&run[..], &check].concat(), 3);
    for part in ["rank: NOT as expected: ", "worst at [", "got ", "expected ", "ulps"] {
        assert!(text.contains(part), "`{part}` is missing:\n{text}");
    }
}

/// |A|·|x|, what rounding errors of A·x are measured by.
fn scale(file: &GraphFile, a: &[f64], x: &[f64]) -> Vec<f64> {
    let term = |e: usize| (a[e] * x[file.csr.col().get(e) as usize]).abs();
    (0..file.csr.num_dst()).map(|row| file.csr.row(row).map(term).sum()).collect()
}

#[test]
fn bcsstk16_times_x_is_the_oracle() {
    let Some(data) = TOOLS.data_for("bcsstk16") else { return };
    let matrix = data.join("matrix-market/bcsstk16.mtx");
    let file = graph(matrix.clone());
    let a = f64s(file.values(DType::F64).unwrap());
    let x_path = data.join("oracles/bcsstk16_x_f64.npy");
    let x = f64s(array(&x_path));
    let oracle = f64s(array(&data.join("oracles/bcsstk16_Ax_f64.npy")));
    let size = scale(&file, &a, &x);
    let check = |y: &[f64], how: &str| {
        assert_eq!(y.len(), oracle.len());
        for (i, (y, expected)) in y.iter().zip(&oracle).enumerate() {
            assert!((y - expected).abs() <= 1e-12 * size[i], "{how}: row {i}: {y} instead of {expected}");
        }
    };
    let values = [relation(&file.csr).into(), vector(&a), vector(&x)];
    for road in roads("spmv.tg", None) {
        let results = road.run("spmv", &values, &[], &Context::new(2).unwrap()).unwrap();
        check(&results[0].numbers::<f64>().unwrap(), "library");
    }
    let folder = compiled("oracles-spmv", "spmv.tg", &[]);
    let (graph, x) = (format!("g={}", matrix.display()), format!("x={}", x_path.display()));
    let expected = data.join("oracles/bcsstk16_Ax_f64.npy");
    let run = ["run", "m.tgb", "--graph", &graph, "--in", "a=g.values", "--in", &x, "--out", "y.npy"];
    let expect = ["--expect", expected.to_str().unwrap(), "--rtol", "1e-9", "--atol", "1e-3"];
    let text = command(&folder, "tiga", &[&run[..], &expect].concat(), 0);
    assert!(text.contains("y: as expected: 0 of 4884"), "{text}");
    check(&f64s(array(&folder.join("y.npy"))), "command");
    let model = example_path("spmv.tg");
    let eval = ["eval", &model, "--graph", &graph, "--in", "a=g.values", "--in", &x, "--out", "y.npy"];
    command(&folder, "tigac", &eval, 0);
    check(&f64s(array(&folder.join("y.npy"))), "interpreter");
}

#[test]
fn breadth_first_search_of_ego_facebook_is_the_oracle() {
    let Some(data) = TOOLS.data_for("bfs") else { return };
    let file = graph(data.join("ego-facebook/adj.mtx"));
    let oracle_path = data.join("oracles/ego_facebook_bfs_from_0.npy");
    let oracle = i64s(array(&oracle_path));
    let mut start = vec![i64::MAX; file.csr.num_dst()];
    start[0] = 0;
    for road in roads("bfs.tg", None) {
        let values = [relation(&file.csr).into(), vector(&start)];
        let results = road.run("bfs", &values, &[], &Context::new(2).unwrap()).unwrap();
        assert_eq!(results[0].numbers::<i64>().unwrap(), oracle);
    }
    let folder = compiled("oracles-bfs", "bfs.tg", &[]);
    save_array(&folder.join("start.npy"), &Array::vector(Elements::I64(start))).unwrap();
    let graph = format!("g={}", data.join("ego-facebook/adj.mtx").display());
    let expected = format!("distance={}", oracle_path.display());
    let run = ["run", "m.tgb", "bfs", "--graph", &graph, "--in", "start=start.npy", "--expect", &expected];
    let text = command(&folder, "tiga", &run, 0);
    assert!(text.contains("distance: as expected: 0 of 4039"), "{text}");
    let model = example_path("bfs.tg");
    let eval = ["eval", &model, "bfs", "--graph", &graph, "--in", "start=start.npy", "--out", "distance=d.npy"];
    command(&folder, "tigac", &eval, 0);
    assert_eq!(i64s(array(&folder.join("d.npy"))), oracle);
}
