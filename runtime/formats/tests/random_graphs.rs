//! Sorting, transposing and counting against lists of edges, on random graphs with every degenerate shape.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tiga_formats::{Array, Csr, Elements, Indices};

/// A graph as it may be drawn: node counts, and edges `(src, dst)` in input order.
#[derive(Clone, Debug)]
struct Drawn {
    num_src: usize,
    num_dst: usize,
    edges: Vec<(i64, i64)>,
}

/// Isolated nodes, empty rows, duplicates, self-loops, a hub; no nodes on either side, no edges.
fn drawn() -> impl Strategy<Value = Drawn> {
    (0..12usize, 0..12usize, any::<bool>()).prop_flat_map(|(num_src, num_dst, hub)| {
        let most = if num_src == 0 || num_dst == 0 { 0 } else { 40 };
        let edge = (0..num_src.max(1) as i64, 0..num_dst.max(1) as i64);
        let edges = proptest::collection::vec((edge, 0..3u8), 0..=most);
        edges.prop_map(move |edges| {
            let to_hub = |((src, dst), dice): ((i64, i64), u8)| if hub && dice > 0 { (src, 0) } else { (src, dst) };
            Drawn { num_src, num_dst, edges: edges.into_iter().map(to_hub).collect() }
        })
    })
}

fn check(test: impl Fn(&Drawn, &Csr, &Indices) -> Result<(), TestCaseError>) {
    let config = Config { cases: 2000, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    );
    let run = runner.run(&drawn(), |graph| {
        let (src, dst): (Vec<i64>, Vec<i64>) = graph.edges.iter().copied().unzip();
        let narrow = |v: &[i64]| Indices::I32(v.iter().map(|n| *n as i32).collect());
        // Both widths, so that neither path is left out.
        let ends =
            if src.len() % 2 == 0 { (narrow(&src), narrow(&dst)) } else { (Indices::I64(src), Indices::I64(dst)) };
        let (csr, order) = Csr::from_coo(&ends.0, &ends.1, Some(graph.num_src), Some(graph.num_dst))?;
        test(&graph, &csr, &order)
    });
    run.unwrap_or_else(|error| panic!("{error}"));
}

/// `(src, dst)` of each edge of a graph in its order.
fn listed(csr: &Csr) -> Vec<(i64, i64)> {
    csr.col().iter().zip(csr.destinations().expect("a small graph fits into memory").iter()).collect()
}

#[test]
fn sorting_is_a_stable_sort_by_destination() {
    check(|graph, csr, order| {
        let mut expected: Vec<(usize, (i64, i64))> = graph.edges.iter().copied().enumerate().collect();
        expected.sort_by_key(|(_, (_, dst))| *dst);
        prop_assert_eq!(listed(csr), expected.iter().map(|(_, edge)| *edge).collect::<Vec<_>>());
        prop_assert_eq!(order.iter().collect::<Vec<_>>(), expected.iter().map(|(i, _)| *i as i64).collect::<Vec<_>>());
        prop_assert_eq!((csr.num_src(), csr.num_dst()), (graph.num_src, graph.num_dst));
        let copy = Csr::from_csr(csr.row_ptr().to_vec(), csr.col().clone(), Some(graph.num_src));
        prop_assert_eq!(copy.as_ref(), Ok(csr));
        Ok(())
    });
}

#[test]
fn transposing_is_a_stable_sort_by_source() {
    check(|graph, csr, _| {
        let (transposed, perm) = csr.transpose()?;
        let mut expected: Vec<(usize, (i64, i64))> = listed(csr).into_iter().enumerate().collect();
        expected.sort_by_key(|(_, (src, _))| *src);
        prop_assert_eq!((transposed.num_src(), transposed.num_dst()), (graph.num_dst, graph.num_src));
        let swapped: Vec<(i64, i64)> = expected.iter().map(|(_, (src, dst))| (*dst, *src)).collect();
        prop_assert_eq!(listed(&transposed), swapped);
        prop_assert_eq!(perm.iter().collect::<Vec<_>>(), expected.iter().map(|(e, _)| *e as i64).collect::<Vec<_>>());
        Ok(())
    });
}

#[test]
fn degrees_count_edges() {
    check(|graph, csr, _| {
        let count = |end: fn(&(i64, i64)) -> i64, nodes: usize| -> Vec<i64> {
            (0..nodes).map(|n| graph.edges.iter().filter(|e| end(e) == n as i64).count() as i64).collect()
        };
        prop_assert_eq!(csr.in_degrees(), count(|e| e.1, graph.num_dst));
        prop_assert_eq!(csr.out_degrees()?, count(|e| e.0, graph.num_src));
        Ok(())
    });
}

/// An edge list and a general Matrix Market file of the same edges give the same graph, values and input order.
#[test]
fn text_files_give_the_edges_written() {
    let limits = tiga_formats::Limits { memory: 1 << 30 };
    check(|graph, csr, order| {
        let n = graph.edges.len();
        let mut text =
            format!("%%MatrixMarket matrix coordinate integer general\n{} {} {n}\n", csr.num_dst(), csr.num_src());
        graph.edges.iter().enumerate().for_each(|(i, (src, dst))| text += &format!("{} {} {i}\n", dst + 1, src + 1));
        let file = tiga_formats::matrix_market::read(text.as_bytes(), text.len() as u64, &limits).unwrap();
        prop_assert_eq!(file.csr.row_ptr(), csr.row_ptr());
        prop_assert_eq!(listed(&file.csr), listed(csr));
        prop_assert_eq!(&file.input_order, order);
        let values = file.values(tiga_abi::DType::I64).unwrap();
        prop_assert_eq!(values.elements(), &Elements::I64(order.iter().collect()));
        let in_file = Array::vector(Elements::I64((0..n as i64).collect()));
        prop_assert_eq!(file.from_input_order(&in_file).unwrap(), values);
        Ok(())
    });
}
