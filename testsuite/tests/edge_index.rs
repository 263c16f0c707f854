//! Cora's graph as an `edge_index` array gives the scores of its Matrix Market file, with its edges in any order.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use testsuite::lit::Tools;
use tiga_formats::{Array, Elements, GraphFile, Limits, open_graph, save_array};

static TOOLS: LazyLock<Tools> = LazyLock::new(|| {
    Tools::new(Path::new(env!("CARGO_MANIFEST_DIR")), Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap()
});

/// Saves a graph's edges in the order of `positions`, with a weight for each.
fn save_edges(folder: &Path, name: &str, graph: &GraphFile, positions: &[usize], weights: &[f32]) {
    let dst = graph.csr.destinations().unwrap();
    let row = |of: &tiga_formats::Indices| positions.iter().map(|p| of.get(*p)).collect::<Vec<_>>();
    let edges = [row(graph.csr.col()), row(&dst)].concat();
    let edges = Array::new(vec![2, positions.len()], Elements::I64(edges)).unwrap();
    save_array(&folder.join(format!("{name}.npy")), &edges).unwrap();
    let weights = positions.iter().map(|p| weights[*p]).collect();
    save_array(&folder.join(format!("{name}-w.npy")), &Array::vector(Elements::F32(weights))).unwrap();
}

/// Runs the model and compares its scores with a file.
fn run(folder: &Path, cora: &Path, graph: &str, weights: &str, expected: &str, rtol: &str) {
    let at = |name: &str| cora.join(name).display().to_string();
    let inputs = [
        ("--graph", format!("g={graph}")),
        ("--in", format!("w={weights}")),
        ("--in", format!("x={}", at("features.npy"))),
        ("--in", format!("w0={}", at("gcn_w0.npy"))),
        ("--in", format!("w1={}", at("gcn_w1.npy"))),
    ];
    let inputs: Vec<&str> = inputs.iter().flat_map(|(flag, value)| [*flag, value]).collect();
    let check = if expected.is_empty() { vec!["--out", "scores.npy"] } else { vec!["--expect", expected] };
    let tolerance = if expected.is_empty() { vec![] } else { vec!["--rtol", rtol, "--atol", rtol] };
    TOOLS.succeeds(folder, "tiga", &[&["run", "gcn.tgb"], &inputs[..], &check, &tolerance].concat());
}

fn compiled() -> PathBuf {
    let folder = TOOLS.scratch("edge-index").unwrap();
    let model = concat!(env!("CARGO_MANIFEST_DIR"), "/run/inputs/weighted-gcn.tg");
    TOOLS.succeeds(&folder, "tigac", &[model, "-o", "gcn.tgb"]);
    folder
}

#[test]
fn edges_in_any_order_give_the_scores_of_cora() {
    let Some(data) = TOOLS.data_for("edge_index on cora") else { return };
    let (cora, folder) = (data.join("cora"), compiled());
    let mtx = cora.join("adj.mtx");
    let graph = open_graph(&mtx, &Limits::of_this_machine()).unwrap();
    let edges = graph.csr.num_edges();
    let in_order: Vec<usize> = (0..edges).collect();
    let mut random = fastrand::Rng::with_seed(3);
    let mut permuted = in_order.clone();
    random.shuffle(&mut permuted);
    let (mtx, right) = (mtx.display().to_string(), cora.join("gcn_logits_f64.npy").display().to_string());

    // With weights of 1 the scores are those of the oracle.
    save_edges(&folder, "ones", &graph, &permuted, &vec![1.0; edges]);
    run(&folder, &cora, "ones.npy", "ones-w.npy:input-order", &right, "1e-4");
    run(&folder, &cora, &mtx, "ones-w.npy", &right, "1e-4");

    let weights: Vec<f32> = (0..edges).map(|_| random.f32() + 0.5).collect();
    save_edges(&folder, "in-order", &graph, &in_order, &weights);
    save_edges(&folder, "permuted", &graph, &permuted, &weights);
    run(&folder, &cora, &mtx, "in-order-w.npy", "", "");
    // The same edges in the same order are the same sums.
    run(&folder, &cora, "in-order.npy", "in-order-w.npy:input-order", "scores.npy", "0");
    run(&folder, &cora, "in-order.npy:nodes=2708", "in-order-w.npy", "scores.npy", "0");
    run(&folder, &cora, "permuted.npy", "permuted-w.npy:input-order", "scores.npy", "1e-5");
}
