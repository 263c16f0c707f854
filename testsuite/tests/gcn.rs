//! The graph convolution of the cookbook on real graphs, from the raw graph and raw features, in one bundle.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use testsuite::lit::Tools;
use tiga_abi::DType;
use tiga_formats::{Array, Conversion, Elements, Limits, open_array, save_array};

const LIMITS: Limits = Limits { memory: 256 << 20 };

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

/// A folder with the bundle of the model.
fn compiled(test: &str) -> PathBuf {
    compiled_from(test, "../examples/gcn.tg")
}

fn compiled_from(test: &str, model: &str) -> PathBuf {
    let folder = TOOLS.scratch(test).unwrap();
    let model = format!("{}/{model}", env!("CARGO_MANIFEST_DIR"));
    TOOLS.succeeds(&folder, "tigac", &[&model, "-o", "gcn.tgb"]);
    folder
}

fn f32s(path: &Path) -> Vec<f32> {
    f32s_of(open_array(path.to_str().unwrap(), &LIMITS).unwrap())
}

fn f32s_of(array: Array) -> Vec<f32> {
    match array.into_parts().1 {
        Elements::F32(v) => v,
        other => panic!("{} instead of f32", other.array_type()),
    }
}

fn i64s(path: &Path) -> Vec<i64> {
    let array = open_array(path.to_str().unwrap(), &LIMITS).unwrap();
    match array.convert(DType::I64, Conversion::Widening).unwrap().into_parts().1 {
        Elements::I64(v) => v,
        other => panic!("{} instead of i64", other.array_type()),
    }
}

/// The greatest score of each row, the first one of equals.
fn predicted(scores: &[f32], classes: usize) -> Vec<i64> {
    let best = |row: &[f32]| {
        let greatest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        row.iter().position(|s| *s == greatest).unwrap() as i64
    };
    scores.chunks(classes).map(best).collect()
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn cora_has_the_scores_and_the_accuracy_of_the_oracle() {
    on_cora(compiled("gcn-cora"));
}

#[test]
fn self_loops_as_edges_give_the_same_scores() {
    on_cora(compiled_from("gcn-cora-self-loops", "run/inputs/gcn-self-loops.tg"));
}

fn on_cora(folder: PathBuf) {
    let Some(data) = TOOLS.data_for("gcn on cora") else { return };
    let cora = data.join("cora");
    let at = |name: &str| cora.join(name).display().to_string();
    let inputs = [
        ("--graph", format!("g={}", at("adj.mtx"))),
        ("--in", format!("x={}", at("features.npy"))),
        ("--in", format!("w0={}", at("gcn_w0.npy"))),
        ("--in", format!("w1={}", at("gcn_w1.npy"))),
    ];
    let inputs: Vec<&str> = inputs.iter().flat_map(|(flag, value)| [*flag, value]).collect();
    let expected = at("gcn_logits_f64.npy");
    let check = ["--expect", &expected, "--rtol", "1e-4", "--atol", "1e-5", "--out", "logits.npy"];
    let text = TOOLS.succeeds(&folder, "tiga", &[&["run", "gcn.tgb"], &inputs[..], &check].concat());
    assert!(text.contains("logits: as expected: 0 of 18956"), "{text}");
    let found = predicted(&f32s(&folder.join("logits.npy")), 7);
    let labels = i64s(&cora.join("labels.npy"));
    let test = json(&cora.join("split.json"))["test"].as_array().unwrap().clone();
    let right = test.iter().filter(|i| found[i.as_u64().unwrap() as usize] == labels[i.as_u64().unwrap() as usize]);
    let accuracy = right.count() as f64 / test.len() as f64;
    assert_eq!(Some(accuracy), json(&cora.join("gcn_expected.json"))["test_accuracy"].as_f64());
}

/// The model with its weights, fields and scores in f16 or bf16: how far its scores are from those of the oracle, and
/// how many predictions differ.
#[test]
fn cora_in_halves_stays_within_their_precision() {
    let Some(data) = TOOLS.data_for("gcn on cora in halves") else { return };
    let cora = data.join("cora");
    let expected = open_array(cora.join("gcn_logits_f64.npy").to_str().unwrap(), &LIMITS).unwrap();
    let expected = f32s_of(expected.convert(DType::F32, Conversion::Nearest).unwrap());
    let size = expected.iter().fold(0f32, |most, x| most.max(x.abs()));
    let model = std::fs::read_to_string(format!("{}/../examples/gcn.tg", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (dtype, roundoff) in [(DType::F16, 2f32.powi(-11)), (DType::BF16, 2f32.powi(-8))] {
        let folder = TOOLS.scratch(&format!("gcn-{dtype}")).unwrap();
        std::fs::write(folder.join("gcn.tg"), model.replace("f32", dtype.name())).unwrap();
        TOOLS.succeeds(&folder, "tigac", &["gcn.tg", "-o", "gcn.tgb"]);
        for name in ["w0", "w1"] {
            let weights = open_array(cora.join(format!("gcn_{name}.npy")).to_str().unwrap(), &LIMITS).unwrap();
            let rounded = weights.convert(dtype, Conversion::Nearest).unwrap();
            save_array(&folder.join(format!("{name}.npy")), &rounded).unwrap();
        }
        let graph = format!("g={}", cora.join("adj.mtx").display());
        let features = format!("x={}", cora.join("features.npy").display());
        let inputs = ["--graph", &graph, "--in", &features, "--in", "w0=w0.npy", "--in", "w1=w1.npy"];
        TOOLS.succeeds(&folder, "tiga", &[&["run", "gcn.tgb"], &inputs[..], &["--out", "logits.npy"]].concat());
        let found = open_array(folder.join("logits.npy").to_str().unwrap(), &LIMITS).unwrap();
        let found = f32s_of(found.convert(DType::F32, Conversion::Widening).unwrap());
        let error = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0f32, f32::max);
        let different = predicted(&found, 7).iter().zip(predicted(&expected, 7)).filter(|(a, b)| *a != b).count();
        println!("{dtype}: error at most {error} of scores up to {size}, {different} of 2708 predictions differ");
        assert!(error <= 4.0 * roundoff * size && different <= 27, "{dtype}: {error} of {size}, {different}");
    }
}

/// Random features and weights of `nodes` nodes: 9 features, 5 hidden, 3 classes.
fn random_inputs(folder: &Path, nodes: usize) {
    let mut random = fastrand::Rng::with_seed(7);
    for (name, rows, columns) in [("x", nodes, 9), ("w0", 9, 5), ("w1", 5, 3)] {
        let numbers = (0..rows * columns).map(|_| random.f32() - 0.25).collect();
        save_array(
            &folder.join(format!("{name}.npy")),
            &Array::new(vec![rows, columns], Elements::F32(numbers)).unwrap(),
        )
        .unwrap();
    }
}

/// The bundle and the reference interpreter on the same inputs: the scores, which must be finite and agree.
fn scores(folder: &Path, graph: &str, nodes: usize) -> Vec<f32> {
    random_inputs(folder, nodes);
    let graph = format!("g={graph}");
    let inputs = ["--graph", &graph, "--in", "x=x.npy", "--in", "w0=w0.npy", "--in", "w1=w1.npy"];
    let model = format!("{}/../examples/gcn.tg", env!("CARGO_MANIFEST_DIR"));
    TOOLS.succeeds(folder, "tigac", &[&["eval", model.as_str()], &inputs[..], &["--out", "eval.npy"]].concat());
    let check = ["--expect", "eval.npy", "--rtol", "1e-5", "--atol", "1e-6", "--out", "logits.npy"];
    TOOLS.succeeds(folder, "tiga", &[&["run", "gcn.tgb"], &inputs[..], &check].concat());
    let scores = f32s(&folder.join("logits.npy"));
    assert_eq!(scores.len(), nodes * 3);
    assert!(scores.iter().all(|s| s.is_finite()), "{scores:?}");
    scores
}

#[test]
fn the_same_bundle_runs_on_another_graph_with_other_widths() {
    let Some(data) = TOOLS.data_for("gcn on ego-facebook") else { return };
    let folder = compiled("gcn-facebook");
    let scores = scores(&folder, &data.join("ego-facebook/adj.mtx").display().to_string(), 4039);
    assert!(scores.iter().any(|s| *s != scores[0]));
}

#[test]
fn an_isolated_node_has_scores_of_its_own() {
    let folder = compiled("gcn-isolated");
    // Node 4 has no edge: its scores are relu(x w0) w1 of its own normalised features.
    std::fs::write(
        folder.join("five.mtx"),
        "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 1\n",
    )
    .unwrap();
    let scores = scores(&folder, "five.mtx", 5);
    let [x, w0, w1] = ["x", "w0", "w1"].map(|name| f32s(&folder.join(format!("{name}.npy"))));
    let own = &x[4 * 9..];
    let total = own.iter().sum::<f32>().max(1.0);
    let hidden = |h: usize| (0..9).map(|f| own[f] / total * w0[f * 5 + h]).sum::<f32>().max(0.0);
    for class in 0..3 {
        let expected: f32 = (0..5).map(|h| hidden(h) * w1[h * 3 + class]).sum();
        assert!((scores[4 * 3 + class] - expected).abs() < 1e-5, "{} instead of {expected}", scores[4 * 3 + class]);
    }
}
