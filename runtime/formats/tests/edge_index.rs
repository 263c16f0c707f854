//! `edge_index` arrays: what they mean, how many nodes there are, and each refusal with its position.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::Path;
use tempfile::TempDir;
use tiga_formats::{
    Array, Elements, FileErrorKind, GraphFile, GraphSource, GraphSourceError, Indices, Limits, save_array, save_arrays,
};

const LIMITS: Limits = Limits { memory: 256 << 20 };

fn open(folder: &Path, source: &str) -> Result<GraphFile, String> {
    let source: GraphSource =
        format!("{}/{source}", folder.display()).parse().map_err(|e: GraphSourceError| e.to_string())?;
    source.open(&LIMITS).map_err(|error| error.kind.to_string())
}

fn saved(folder: &Path, shape: &[usize], elements: Elements) {
    save_array(&folder.join("e.npy"), &Array::new(shape.to_vec(), elements).unwrap()).unwrap();
}

#[test]
fn a_column_is_an_edge_from_row_0_to_row_1() {
    let folder = TempDir::new().unwrap();
    let of = [
        Elements::U8(vec![2, 0, 1, 0, 0, 1, 2, 0]),
        Elements::I32(vec![2, 0, 1, 0, 0, 1, 2, 0]),
        Elements::I64(vec![2, 0, 1, 0, 0, 1, 2, 0]),
    ];
    for elements in of {
        let width = elements.array_type().bytes().max(4);
        saved(folder.path(), &[2, 4], elements);
        let file = open(folder.path(), "e.npy").unwrap();
        assert_eq!((file.csr.num_src(), file.csr.row_ptr()), (3, &[0, 2, 3, 4][..]));
        assert_eq!(file.csr.col().iter().collect::<Vec<_>>(), [2, 0, 0, 1]);
        assert_eq!((file.csr.col().width(), file.inputs, file.has_values()), (width, 4, false));
        assert_eq!(file.input_order, Indices::I32(vec![0, 3, 1, 2]));
    }
}

#[test]
fn columns_of_column_major_arrays_are_edges_too() {
    let folder = TempDir::new().unwrap();
    let mut bytes = Vec::new();
    let edges = Array::new(vec![2, 3], Elements::I64(vec![0, 1, 2, 1, 2, 0])).unwrap();
    tiga_formats::npy::write(&mut bytes, &edges).unwrap();
    let at = bytes.windows(5).position(|w| w == b"False").unwrap();
    bytes[at..at + 5].copy_from_slice(b"True ");
    // As it stands in the file: 0 1 | 2 1 | 2 0.
    std::fs::write(folder.path().join("e.npy"), bytes).unwrap();
    let file = open(folder.path(), "e.npy").unwrap();
    assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 1, 3, 3][..], &Indices::I64(vec![2, 0, 2])));
}

#[test]
fn nodes_are_counted_by_whoever_asks_or_by_the_largest() {
    let folder = TempDir::new().unwrap();
    saved(folder.path(), &[2, 2], Elements::I64(vec![0, 4, 1, 0]));
    let ends = |source: &str| open(folder.path(), source).map(|file| (file.csr.num_src(), file.csr.num_dst()));
    assert_eq!(ends("e.npy"), Ok((5, 5)));
    assert_eq!(ends("e.npy:nodes=7"), Ok((7, 7)));
    assert_eq!(ends("e.npy:nodes=5,2"), Ok((5, 2)));
    let outside = "out-of-range source: edge 1 has source 4, expected 0 <= source < 3";
    assert_eq!(ends("e.npy:nodes=3"), Err(outside.into()));
    let outside = "out-of-range destination: edge 0 has destination 1, expected 0 <= destination < 1";
    assert_eq!(ends("e.npy:nodes=5,1"), Err(outside.into()));
    for bad in ["", "x", "-1", "3x3", "3,", "3,4,5", "18446744073709551615", "576460752303423488"] {
        let error = ends(&format!("e.npy:nodes={bad}")).unwrap_err();
        assert!(error.starts_with(&format!("`:nodes={bad}`: expected the number of nodes")), "{error}");
    }
    assert_eq!(ends("e.npy:nodes=100000000000"), Err("needs about 800001 MB of memory, 268 MB may be used".into()));
    saved(folder.path(), &[2, 0], Elements::I32(vec![]));
    assert_eq!((ends("e.npy"), ends("e.npy:nodes=2")), (Ok((0, 0)), Ok((2, 2))));
    std::fs::write(folder.path().join("e.txt"), "0 1\n4 0\n").unwrap();
    assert_eq!((ends("e.txt"), ends("e.txt:nodes=9")), (Ok((5, 5)), Ok((9, 9))));
    assert_eq!(ends("e.txt:nodes=3"), Err("line 2: node `4`, expected an integer from 0 to 2".into()));
    assert_eq!(ends("e.txt:nodes=5,0"), Err("line 1: node `1`, expected an integer of no node: there is none".into()));
    std::fs::write(folder.path().join("e.mtx"), "%%MatrixMarket matrix coordinate pattern general\n2 2 0\n").unwrap();
    let own = "this kind of file says how many nodes there are: `:nodes` is for edge lists and edge_index arrays";
    assert_eq!(ends("e.mtx:nodes=3"), Err(own.into()));
}

#[test]
fn a_name_of_a_file_is_no_option() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("e.txt:nodes=x.txt"), "0 1\n").unwrap();
    assert_eq!(open(folder.path(), "e.txt:nodes=x.txt").unwrap().csr.num_src(), 2);
}

#[test]
fn what_are_no_edges_is_named() {
    let folder = TempDir::new().unwrap();
    let expected = "is no edge_index: expected integers of shape [2, E], row 0 the sources and row 1 the destinations";
    for (shape, elements, message) in [
        (
            &[3, 2][..],
            Elements::I64(vec![0; 6]),
            format!("i64 of shape [3, 2] {expected}; this looks like its transpose"),
        ),
        (&[2, 3], Elements::F32(vec![0.0; 6]), format!("f32 of shape [2, 3] {expected}")),
        (&[4], Elements::I64(vec![0; 4]), format!("i64 of shape [4] {expected}")),
        (&[2, 1], Elements::Bool(vec![0; 2]), format!("bool of shape [2, 1] {expected}")),
    ] {
        saved(folder.path(), shape, elements);
        assert_eq!(open(folder.path(), "e.npy").unwrap_err(), message);
    }
    saved(folder.path(), &[2, 3], Elements::I64(vec![0, 1, -1, 0, 1, 2]));
    let negative = "out-of-range source: edge 2 has source -1, expected 0 <= source < 3";
    assert_eq!(open(folder.path(), "e.npy").unwrap_err(), negative);
    saved(folder.path(), &[2, 1], Elements::I64(vec![0, 2_000_000_000]));
    let sparse = open(folder.path(), "e.npy").unwrap_err();
    assert!(sparse.starts_with("2000000001 nodes, a file of 144 bytes may have 1000144;"), "{sparse}");
    saved(folder.path(), &[2, 1], Elements::I64(vec![0, i64::MAX]));
    assert!(open(folder.path(), "e.npy").unwrap_err().starts_with("9223372036854775808 nodes"));
}

#[test]
fn edges_may_be_a_member_of_an_archive() {
    let folder = TempDir::new().unwrap();
    let edges = Array::new(vec![2, 2], Elements::I64(vec![0, 1, 1, 2])).unwrap();
    save_arrays(&folder.path().join("a.npz"), [("edge_index", &edges), ("x", &Array::vector(Elements::I64(vec![1])))])
        .unwrap();
    assert_eq!(open(folder.path(), "a.npz:edge_index").unwrap().csr.num_dst(), 3);
    assert_eq!(open(folder.path(), "a.npz:edge_index:nodes=4").unwrap().csr.num_dst(), 4);
    assert_eq!(open(folder.path(), "a.npz:edges").unwrap_err(), "has no member `edges`; it has edge_index, x");
    let missing: GraphSource = "no.npy".parse().unwrap();
    assert!(matches!(missing.open(&LIMITS).unwrap_err().kind, FileErrorKind::Input(_)));
}
