//! Matrix Market and edge lists: what they mean, and each refusal with its line.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use tiga_abi::DType;
use tiga_formats::edge_list::{self, EdgeListError, EdgeListOptions};
use tiga_formats::matrix_market::{self, MatrixMarketError};
use tiga_formats::{Array, Elements, GraphFile, Indices, Limits, LineError};

const LIMITS: Limits = Limits { memory: 256 << 20 };

fn mtx(text: &str) -> Result<GraphFile, MatrixMarketError> {
    matrix_market::read(text.as_bytes(), text.len() as u64, &LIMITS)
}

fn edges(text: &str) -> Result<GraphFile, EdgeListError> {
    edge_list::read(text.as_bytes(), text.len() as u64, &EdgeListOptions::default(), &LIMITS)
}

fn f64s(file: &GraphFile) -> Vec<f64> {
    match file.values(DType::F64).unwrap().into_parts().1 {
        Elements::F64(v) => v,
        other => panic!("{other:?}"),
    }
}

#[test]
fn entry_i_j_is_the_edge_j_to_i() {
    let text = "%%MatrixMarket MATRIX Coordinate Real General\r\n% note\r\n\r\n2 3 3\r\n2 3 0.5\r\n%mid\r\n1\t2  -1e2\r\n 2 1 4 ";
    let file = mtx(text).unwrap();
    assert_eq!((file.csr.num_src(), file.csr.num_dst(), file.inputs), (3, 2, 3));
    assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 1, 3][..], &Indices::I32(vec![1, 2, 0])));
    assert_eq!((f64s(&file), &file.input_order), (vec![-100.0, 0.5, 4.0], &Indices::I32(vec![1, 0, 2])));
}

#[test]
fn symmetric_entries_off_the_diagonal_are_two_edges() {
    let file = mtx("%%MatrixMarket matrix coordinate integer symmetric\n3 3 3\n2 1 7\n2 2 8\n3 2 9\n").unwrap();
    // Row order: the file's own entries first, then the mirrored ones.
    assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 1, 4, 5][..], &Indices::I32(vec![1, 0, 1, 2, 1])));
    assert_eq!(file.values(DType::I32).unwrap().elements(), &Elements::I32(vec![7, 7, 8, 9, 9]));
    assert_eq!((file.input_order.clone(), file.inputs), (Indices::I32(vec![0, 0, 1, 2, 2]), 3));
    let rows = Array::new(vec![3, 2], Elements::F32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
    let permuted = file.from_input_order(&rows).unwrap();
    assert_eq!(permuted.shape(), [5, 2]);
    assert_eq!(permuted.elements(), &Elements::F32(vec![1.0, 2.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 5.0, 6.0]));
    assert!(file.from_input_order(&permuted).is_err());
}

#[test]
fn skew_symmetric_entries_are_negated_above_the_diagonal() {
    let file = mtx("%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1.5\n3 1 -2\n").unwrap();
    assert_eq!((file.csr.col(), f64s(&file)), (&Indices::I32(vec![1, 2, 0, 0]), vec![-1.5, 2.0, 1.5, -2.0]));
    let ints = mtx("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n2 1 -2147483648\n").unwrap();
    assert!(ints.values(DType::I32).is_err() && ints.values(DType::I64).is_ok());
}

#[test]
fn a_pattern_has_no_values() {
    let file = mtx("%%MatrixMarket matrix coordinate pattern general\n1 1 2\n1 1\n1 1\n").unwrap();
    assert_eq!((file.csr.num_edges(), file.has_values()), (2, false));
    assert!(file.values(DType::F64).is_err());
    let none = mtx("%%MatrixMarket matrix coordinate pattern symmetric\n0 0 0\n").unwrap();
    assert_eq!((none.csr.num_src(), none.csr.num_dst(), none.csr.num_edges()), (0, 0, 0));
}

#[test]
fn values_are_read_in_the_type_asked_for() {
    // Read through f64 this would round twice and end one float higher.
    let file = mtx("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1.00000017881393432617187499\n").unwrap();
    assert_eq!(file.values(DType::F32).unwrap().elements(), &Elements::F32(vec![1.000_000_1]));
    assert!(file.values(DType::I64).is_err());
}

fn refused(head: &str, body: &str) -> String {
    mtx(&format!("%%MatrixMarket matrix coordinate {head}\n{body}")).unwrap_err().to_string()
}

#[test]
fn matrix_market_refusals_name_the_line() {
    for (text, message) in [
        ("", "line 1: expected `%%MatrixMarket matrix coordinate <field> <symmetry>`, found ``"),
        (
            "%%MatrixMarket vector coordinate real general",
            "line 1: `vector` files are not read; expected one of matrix",
        ),
        ("%%MatrixMarket matrix array real general", "line 1: `array` files are not read; expected one of coordinate"),
    ] {
        assert_eq!(mtx(text).unwrap_err().to_string(), message);
    }
    for (head, body, message) in [
        ("complex general", "", "line 1: `complex` files are not read; expected one of real, integer, pattern"),
        (
            "real hermitian",
            "",
            "line 1: `hermitian` files are not read; expected one of general, symmetric, skew-symmetric",
        ),
        ("real general", "% only\n", "line 2: the file ends before its size line"),
        ("real general", "1 1\n", "line 2: expected `rows columns entries`, found `1 1`"),
        ("real general", "1 -1 1\n", "line 2: expected `rows columns entries`, found `1 -1 1`"),
        ("real symmetric", "2 3 0\n", "line 2: a symmetric matrix of 2 rows and 3 columns"),
        ("real general", "2147483648 1 0\n", "line 2: 2147483648 rows or columns, at most 2147483647 are read"),
        ("real general", "1 1 1000\n", "line 2: claims 1000 entries, the file holds at most 14"),
        ("real general", "2 2 2\n1 1 1\n", "line 3: the file ends after 1 of 2 entries"),
        ("real general", "2 2 1\n1 1 1\n%\n\n1 2 1\n", "line 6: more than the 1 entries that the size line claims"),
        ("real general", "2 2 1\n1 1\n", "line 3: 2 words, expected row column value"),
        ("pattern general", "2 2 1\n1 1 1\n", "line 3: 3 words, expected row column"),
        ("real general", "2 2 1\n1 1 1 1 1\n", "line 3: 5 words, expected row column value"),
        ("real general", "2 2 1\n0 1 1\n", "line 3: row `0`, expected 1 to 2"),
        ("real general", "2 2 1\n1 3 1\n", "line 3: column `3`, expected 1 to 2"),
        ("real general", "2 2 1\n1 1.0 1\n", "line 3: column `1.0`, expected 1 to 2"),
        ("real general", "2 2 1\n+1 1 1\n", "line 3: row `+1`, expected 1 to 2"),
        ("real general", "2 2 1\n99999999999999999999 1 1\n", "line 3: row `99999999999999999999`, expected 1 to 2"),
        (
            "real general",
            "2 2 1\n1 1 1e999\n",
            "line 3: `1e999` is not a real number (decimal, within the range of f64)",
        ),
        ("integer general", "2 2 1\n1 1 1.5\n", "line 3: `1.5` is not an integer of at most 64 bits"),
        (
            "pattern symmetric",
            "2 2 1\n1 2\n",
            "line 3: row 1, column 2 is not below the diagonal, where a symmetric file has its entries",
        ),
        (
            "real skew-symmetric",
            "2 2 1\n1 1 1\n",
            "line 3: row 1, column 1 is not below the diagonal, where a symmetric file has its entries",
        ),
    ] {
        assert_eq!(refused(head, body), message, "{body:?}");
    }
}

#[test]
fn matrix_market_refuses_by_estimate_before_the_body() {
    let sparse = refused("pattern general", "2000000 2 1\n1 1\n");
    assert!(sparse.starts_with("2000000 nodes, a file of 65 bytes may have 1000065;"), "{sparse}");
    let text = "%%MatrixMarket matrix coordinate pattern general\n1000000 1 1\nnot read";
    let error = matrix_market::read(text.as_bytes(), text.len() as u64, &Limits { memory: 1_000_000 }).unwrap_err();
    assert_eq!(error.to_string(), "needs about 9 MB of memory, 1 MB may be used");
}

#[test]
fn lines_end_somewhere() {
    let long = format!("%%MatrixMarket matrix coordinate real general\n%{}\n", "x".repeat(70_000));
    assert!(matches!(mtx(&long), Err(MatrixMarketError::Line(LineError::TooLong { line: 2 }))));
    assert!(matches!(edges(&"1".repeat(70_000)), Err(EdgeListError::Line(LineError::TooLong { line: 1 }))));
    let message = refused("real general", &format!("2 2 1\n{} 1 1\n", "\u{7}é".repeat(60)));
    assert!(message.len() < 400 && message.contains("\\u{7}é") && message.contains('…'), "{message}");
}

#[test]
fn edge_lists_take_three_separators_and_two_comments() {
    let file = edges("# c\n% c\n3 1\n\n0,2\n 1\t1 \r\n3 , 1").unwrap();
    assert_eq!((file.csr.num_src(), file.csr.num_dst()), (4, 4));
    assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 0, 3, 4, 4][..], &Indices::I32(vec![3, 1, 3, 0])));
    assert_eq!((file.has_values(), file.input_order), (false, Indices::I32(vec![0, 2, 3, 1])));
    let weighted = edges("1 0 2.5\n0 0 -1\n").unwrap();
    assert_eq!((weighted.csr.col(), f64s(&weighted)), (&Indices::I32(vec![1, 0]), vec![2.5, -1.0]));
    assert_eq!(edges("# nothing\n").unwrap().csr.num_dst(), 0);
}

#[test]
fn edge_list_refusals_name_the_line() {
    for (text, message) in [
        ("0 1\n0 1 2\n", "line 2: 3 words, expected source destination"),
        ("0 1 2\n0 1\n", "line 2: 2 words, expected source destination value"),
        ("0\n", "line 1: 1 words, expected source destination"),
        ("0 1 2 3\n", "line 1: 4 words, expected source destination value"),
        ("0 -1\n", "line 1: node `-1`, expected an integer from 0 to 2147483646"),
        ("a b\n", "line 1: node `a`, expected an integer from 0 to 2147483646"),
        ("0 2147483647\n", "line 1: node `2147483647`, expected an integer from 0 to 2147483646"),
        ("0 1 x\n", "line 1: `x` is not a real number (decimal, within the range of f64)"),
    ] {
        assert_eq!(edges(text).unwrap_err().to_string(), message);
    }
    let sparse = edges("0 2000000000\n").unwrap_err();
    assert!(matches!(sparse, EdgeListError::TooSparse(_)), "{sparse}");
    let large = "0 1\n".repeat(1000);
    let error =
        edge_list::read(large.as_bytes(), large.len() as u64, &EdgeListOptions::default(), &Limits { memory: 1000 })
            .unwrap_err();
    assert!(matches!(error, EdgeListError::WouldNotFit(_)), "{error}");
}

#[test]
fn csv_files_have_headers_and_one_delimiter_a_line() {
    let weighted = edges("Source;Target;Weight\n0;1;2.5\n2;0;-1\n").unwrap();
    assert_eq!((weighted.csr.num_dst(), f64s(&weighted)), (3, vec![-1.0, 2.5]));
    let quoted = edges("# made by hand\n\"id_1\",\"id_2\"\n\"0\",\"1\"\n").unwrap();
    assert_eq!((quoted.csr.num_edges(), quoted.inputs), (1, 1));
    assert_eq!(edges("a\tb\n0\t1\n").unwrap().csr.num_edges(), 1);
    assert_eq!(edges("from to\n").unwrap().csr.num_edges(), 0);
    for (text, message) in [
        ("dst,src\n0,1\n", "line 1: the header has the destination first; an edge is read as source destination"),
        ("0,,1\n", "line 1: field 2 is empty"),
        ("0,1,\n", "line 1: field 3 is empty"),
        ("0;1;2,5\n", "line 1: `2,5` is not a real number (decimal, within the range of f64)"),
        ("0,1\na,b\n", "line 2: node `a`, expected an integer from 0 to 2147483646"),
        ("0,\"1\n", "line 1: field 2 has a quote in it or a delimiter between quotes, which is not read"),
        ("0,1 2\n", "line 1: node `1 2`, expected an integer from 0 to 2147483646"),
    ] {
        assert_eq!(edges(text).unwrap_err().to_string(), message);
    }
}

#[test]
fn names_are_numbered_as_they_come() {
    let named = |text: &str| {
        let options = EdgeListOptions { named: true, ..EdgeListOptions::default() };
        edge_list::read(text.as_bytes(), text.len() as u64, &options, &LIMITS)
    };
    let file = named("source,target\nnew york,rome\nrome,oslo\n\"oslo\",new york\nrome,rome\n").unwrap();
    assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 1, 3, 4][..], &Indices::I32(vec![2, 0, 1, 1])));
    assert_eq!(file.names.unwrap().iter().collect::<Vec<_>>(), ["new york", "rome", "oslo"]);
    let numbers = named("4000000000 17 0.5\n17 -3 1\n").unwrap();
    assert_eq!(numbers.names.as_ref().unwrap().iter().collect::<Vec<_>>(), ["4000000000", "17", "-3"]);
    assert_eq!(f64s(&numbers), [0.5, 1.0]);
    assert_eq!(named("").unwrap().names.unwrap().len(), 0);
    // What stands between the names of the first line does so on every line.
    let tabs = named("Paris\tRome\nWashington, D.C.\tParis\n").unwrap();
    assert_eq!(tabs.names.unwrap().iter().collect::<Vec<_>>(), ["Paris", "Rome", "Washington, D.C."]);
    assert_eq!(named("a,b\nc\td\n").unwrap_err().to_string(), "line 2: 1 words, expected source destination");
    // A first line that is far longer than the others says nothing of how many follow.
    let long = format!("0{}1\n{}", " ".repeat(60_000), "0 1\n".repeat(40_000));
    let error =
        edge_list::read(long.as_bytes(), long.len() as u64, &EdgeListOptions::default(), &Limits { memory: 100_000 });
    assert!(matches!(error.unwrap_err(), EdgeListError::WouldNotFit(_)));
    let many: String = (0..3000).map(|i| format!("a{i} b{i}\n")).collect();
    let options = EdgeListOptions { named: true, ..EdgeListOptions::default() };
    let error = edge_list::read(many.as_bytes(), many.len() as u64, &options, &Limits { memory: 200_000 }).unwrap_err();
    assert!(matches!(error, EdgeListError::WouldNotFit(_)), "{error}");
}

#[test]
fn names_are_text() {
    let options = EdgeListOptions { named: true, ..EdgeListOptions::default() };
    let error = edge_list::read(&b"a b\n\xff c\n"[..], 8, &options, &LIMITS).unwrap_err();
    assert_eq!(error.to_string(), "line 2: node `\u{fffd}` is not UTF-8");
}
