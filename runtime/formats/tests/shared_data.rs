//! Real files and their known answers. `TIGA_DATA` names their folder; `TIGA_DATA_REQUIRED=1` makes them obligatory.

use std::path::PathBuf;
use tiga_abi::DType;
use tiga_formats::{Array, Elements, GraphFile, Limits, open_array, open_graph};

const LIMITS: Limits = Limits { memory: 256 << 20 };

/// The folder of a test's files, or a note that the test was skipped.
fn data(test: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = std::env::var_os("TIGA_DATA").map_or_else(beside, PathBuf::from);
    if folder.is_dir() {
        return Some(folder);
    }
    assert_ne!(std::env::var("TIGA_DATA_REQUIRED").as_deref(), Ok("1"), "{} is missing", folder.display());
    println!("{test}: skipped, {} is missing", folder.display());
    None
}

fn array(path: PathBuf) -> Array {
    open_array(path.to_str().expect("a UTF-8 path"), &LIMITS).expect("a readable array")
}

fn f64s(array: Array) -> Vec<f64> {
    match array.into_parts().1 {
        Elements::F64(v) => v,
        other => panic!("{} instead of f64", other.array_type()),
    }
}

#[test]
fn every_graph_is_read() {
    let Some(data) = data("every_graph_is_read") else { return };
    for (file, nodes, edges, values) in [
        ("cora/adj.mtx", 2708, 2 * 5278, false),
        ("ego-facebook/adj.mtx", 4039, 2 * 88_234, false),
        ("matrix-market/bcsstk01.mtx", 48, 2 * 224 - 48, true),
        ("matrix-market/bcsstk16.mtx", 4884, 290_378, true),
        ("matrix-market/fs_183_1.mtx", 183, 1069, true),
        ("matrix-market/west0067.mtx", 67, 299, true),
    ] {
        let GraphFile { csr, .. } = &open_graph(&data.join(file), &LIMITS).unwrap();
        assert_eq!((csr.num_src(), csr.num_dst(), csr.num_edges()), (nodes, nodes, edges), "{file}");
        assert_eq!(open_graph(&data.join(file), &LIMITS).unwrap().has_values(), values, "{file}");
    }
}

#[test]
fn bcsstk16_times_x_is_the_oracle() {
    let Some(data) = data("bcsstk16_times_x_is_the_oracle") else { return };
    let file = open_graph(&data.join("matrix-market/bcsstk16.mtx"), &LIMITS).unwrap();
    let a = f64s(file.values(DType::F64).unwrap());
    let x = f64s(array(data.join("oracles/bcsstk16_x_f64.npy")));
    let oracle = f64s(array(data.join("oracles/bcsstk16_Ax_f64.npy")));
    assert_eq!((x.len(), oracle.len()), (file.csr.num_src(), file.csr.num_dst()));
    for (row, expected) in oracle.iter().enumerate() {
        let terms = || file.csr.row(row).map(|e| a[e] * x[file.csr.col().get(e) as usize]);
        let (sum, size): (f64, f64) = (terms().sum(), terms().map(f64::abs).sum());
        assert!((sum - expected).abs() <= 1e-12 * size, "row {row}: {sum} instead of {expected}");
    }
}

#[test]
fn ego_facebook_hops_are_the_oracle() {
    let Some(data) = data("ego_facebook_hops_are_the_oracle") else { return };
    let file = open_graph(&data.join("ego-facebook/adj.mtx"), &LIMITS).unwrap();
    let Elements::I32(oracle) = array(data.join("oracles/ego_facebook_bfs_from_0.npy")).into_parts().1 else {
        panic!("hops are i32")
    };
    let mut hops = vec![i32::MAX; file.csr.num_dst()];
    hops[0] = 0;
    loop {
        let nearest = |row: usize| {
            let through = |e| hops[file.csr.col().get(e) as usize].saturating_add(1);
            file.csr.row(row).map(through).min().unwrap_or(i32::MAX).min(hops[row])
        };
        let next: Vec<i32> = (0..hops.len()).map(nearest).collect();
        if next == hops {
            break;
        }
        hops = next;
    }
    assert_eq!(hops, oracle);
}
