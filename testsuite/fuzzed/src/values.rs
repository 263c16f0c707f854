//! What was read, looked at in every way: graphs and arrays keep the laws that their types promise.

use std::cell::RefCell;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use tiga_abi::DType;
use tiga_formats::{Array, Conversion, Csr, GraphFile, Limits, npy};

/// What a reader is told it may use: less than the memory of any machine, so that estimates are held against something.
pub(crate) const LIMITS: Limits = Limits { memory: 64 << 20 };

thread_local! {
    static FOLDER: RefCell<Option<TempDir>> = const { RefCell::new(None) };
}

/// Calls `read` with a file of this ending that holds these bytes.
pub(crate) fn with_file<T>(ending: &str, bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    let path = FOLDER.with_borrow_mut(|folder| {
        let folder = folder.get_or_insert_with(|| TempDir::new().expect("there is a folder for temporary files"));
        folder.path().join(format!("fuzzed.{ending}"))
    });
    fs::write(&path, bytes).expect("temporary files can be written");
    read(&path)
}

/// A graph is sound: its arrays make the same graph, its transpose has the same edges, its values are one an edge.
pub(crate) fn graph_is_sound(graph: &GraphFile) {
    let csr = &graph.csr;
    let again = Csr::from_csr(csr.row_ptr().to_vec(), csr.col().clone(), Some(csr.num_src()));
    assert_eq!(again.as_ref(), Ok(csr), "its own arrays make another graph");
    let edges = csr.num_edges();
    assert_eq!(csr.in_degrees().iter().sum::<i64>(), edges as i64);
    let (transpose, order) = csr.transpose().expect("a small graph has a transpose");
    assert_eq!((transpose.num_edges(), order.len()), (edges, edges));
    assert_eq!(transpose.in_degrees(), csr.out_degrees().expect("a small graph has degrees"));
    assert!(graph.input_order.iter().all(|input| (0..graph.inputs as i64).contains(&input)), "an edge of no line");
    graph.in_input_order();
    for end in [csr.num_src(), csr.num_dst()] {
        (0..end.min(3)).for_each(|node| drop(graph.node_id(node, end)));
    }
    for dtype in DType::ALL {
        match graph.values(dtype) {
            Ok(values) => {
                assert_eq!((values.shape().first(), values.array_type().dtype()), (Some(&edges), Some(dtype)))
            }
            Err(error) => drop(error.to_string()),
        }
    }
}

/// An array is sound: as many elements as its shape says, the same when written and read again.
pub(crate) fn array_is_sound(array: &Array) {
    assert_eq!(array.shape().iter().product::<usize>(), array.len());
    let mut bytes = Vec::new();
    npy::write(&mut bytes, array).expect("an array of few axes can be written");
    let again = npy::read(&*bytes, bytes.len() as u64, &Limits { memory: u64::MAX }).expect("what was written is read");
    assert_eq!(again.shape(), array.shape());
    if again.array_type() == array.array_type() {
        assert_eq!(again.as_bytes(), array.as_bytes());
    }
    for dtype in DType::ALL {
        match array.clone().convert(dtype, Conversion::Exact) {
            Ok(converted) => assert_eq!(converted.shape(), array.shape()),
            Err(error) => drop(error.to_string()),
        }
    }
}
