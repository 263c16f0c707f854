//! The graphs whose arrays are written down: sections 1.1, 1.2 and 1.8 of the graph model.

use tiga_formats::{Csr, CsrError, End, Indices};

fn csr(row_ptr: &[i64], col: &[i32], num_src: Option<usize>) -> Result<Csr, CsrError> {
    Csr::from_csr(row_ptr.to_vec(), col.to_vec(), num_src)
}

fn coo(src: &[i64], dst: &[i64], num_src: Option<usize>, num_dst: Option<usize>) -> Result<(Csr, Indices), CsrError> {
    Csr::from_coo(&src.to_vec().into(), &dst.to_vec().into(), num_src, num_dst)
}

#[test]
fn from_csr_defaults_its_sources() {
    assert_eq!(csr(&[0, 2, 3], &[0, 4, 1], None).unwrap().num_src(), 5);
    assert_eq!(csr(&[0, 0, 0, 0], &[], None).unwrap().num_src(), 3);
    let isolated = csr(&[0, 2, 3], &[0, 2, 2], Some(4)).unwrap();
    assert_eq!((isolated.num_src(), isolated.num_dst(), isolated.num_edges()), (4, 2, 3));
    assert_eq!(csr(&[0], &[], None).unwrap().num_dst(), 0);
}

#[test]
fn from_csr_refuses_each_broken_law_by_name() {
    assert_eq!(csr(&[], &[], None), Err(CsrError::EmptyRowPtr));
    assert_eq!(csr(&[1, 2], &[0, 0], None), Err(CsrError::Start { found: 1 }));
    assert_eq!(csr(&[0, 3], &[0, 0], None), Err(CsrError::Last { found: 3, edges: 2 }));
    assert_eq!(csr(&[0, -1], &[], None), Err(CsrError::NotMonotonic { row: 0, previous: 0, next: -1 }));
    let decreasing = csr(&[0, 2, 1, 2], &[0, 0], None);
    assert_eq!(decreasing, Err(CsrError::NotMonotonic { row: 1, previous: 2, next: 1 }));
    let outside = |edge, found, count| Err(CsrError::OutOfRange { end: End::Source, edge, found, count });
    assert_eq!(csr(&[0, 2], &[0, 3], Some(3)), outside(1, 3, 3));
    assert_eq!(csr(&[0, 2], &[-1, 0], None), outside(0, -1, 1));
    assert_eq!(csr(&[0, 1], &[0], Some(0)), outside(0, 0, 0));
    let text = outside(1, 3, 3).unwrap_err().to_string();
    assert_eq!(text, "out-of-range source: edge 1 has source 3, expected 0 <= source < 3");
    assert!(csr(&[0, i64::MAX], &[0], None).is_err() && csr(&[0, 1], &[i32::MAX], None).is_ok());
    let wide = Csr::from_csr(vec![0, 1], vec![i64::MAX], None).unwrap();
    assert!(matches!(wide.transpose(), Err(CsrError::TooManyRows { .. })));
    assert!(matches!(wide.out_degrees(), Err(CsrError::TooManyRows { .. })));
}

#[test]
fn from_coo_sorts_stably_by_destination() {
    let (graph, order) = coo(&[3, 1, 2, 0, 1], &[2, 0, 2, 1, 0], Some(4), Some(4)).unwrap();
    assert_eq!(graph.row_ptr(), [0, 2, 3, 5, 5]);
    assert_eq!(graph.col(), &Indices::I64(vec![1, 1, 0, 3, 2]));
    assert_eq!(order, Indices::I32(vec![1, 4, 3, 0, 2]));
    assert_eq!(graph.in_degrees(), [2, 1, 2, 0]);
    assert_eq!(graph.out_degrees().unwrap(), [1, 2, 1, 1]);
    assert_eq!(graph.destinations().unwrap(), Indices::I32(vec![0, 0, 1, 2, 2]));
}

#[test]
fn from_coo_defaults_and_refusals() {
    let (empty, order) = coo(&[], &[], None, None).unwrap();
    assert_eq!((empty.num_src(), empty.num_dst(), empty.num_edges(), order.len()), (0, 0, 0, 0));
    let (graph, _) = coo(&[5], &[2], None, None).unwrap();
    assert_eq!((graph.num_src(), graph.num_dst()), (6, 3));
    assert_eq!(coo(&[1, 2], &[0], None, None), Err(CsrError::EndsDiffer { sources: 2, destinations: 1 }));
    let outside = |end, edge, found, count| Err(CsrError::OutOfRange { end, edge, found, count });
    assert_eq!(coo(&[0, 4], &[0, 0], Some(4), None), outside(End::Source, 1, 4, 4));
    assert_eq!(coo(&[0, 0], &[0, 9], None, Some(9)), outside(End::Destination, 1, 9, 9));
    assert_eq!(coo(&[0], &[-1], None, None), outside(End::Destination, 0, -1, 0));
    assert!(matches!(coo(&[0], &[i64::MAX - 1], None, None), Err(CsrError::TooManyRows { .. })));
}

#[test]
fn transpose_keeps_isolated_nodes_and_the_edge_order() {
    let (transposed, perm) = csr(&[0, 2, 3], &[0, 2, 2], Some(4)).unwrap().transpose().unwrap();
    assert_eq!((transposed.num_src(), transposed.num_dst()), (2, 4));
    assert_eq!(transposed.row_ptr(), [0, 1, 1, 3, 3]);
    assert_eq!(transposed.col(), &Indices::I32(vec![0, 0, 1]));
    assert_eq!(perm, Indices::I32(vec![0, 1, 2]));
    let (empty, _) = csr(&[0, 0, 0], &[], Some(4)).unwrap().transpose().unwrap();
    assert_eq!(empty.row_ptr(), [0, 0, 0, 0, 0]);
}
