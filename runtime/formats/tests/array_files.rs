//! `.npy` and `.npz`: what is written comes back, what NumPy and SciPy write is read, the rest is refused by name.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tiga_abi::DType;
use tiga_formats::npy::NpyError;
use tiga_formats::npz::NpzError;
use tiga_formats::{
    Array, Elements, FileErrorKind, GraphNpzError, Indices, InputError, Limits, npy, npz, open_array, open_graph,
    save_array, save_arrays,
};

const LIMITS: Limits = Limits { memory: 256 << 20 };

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

fn read(bytes: &[u8]) -> Result<Array, NpyError> {
    npy::read(bytes, bytes.len() as u64, &LIMITS)
}

/// A file with this header text and body.
fn file(version: u8, header: &str, body: &[u8]) -> Vec<u8> {
    let mut out = b"\x93NUMPY".to_vec();
    out.extend([version, 0]);
    match version {
        1 => out.extend((header.len() as u16).to_le_bytes()),
        _ => out.extend((header.len() as u32).to_le_bytes()),
    }
    [&out, header.as_bytes(), body].concat()
}

fn header(descr: &str, shape: &str) -> String {
    format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n")
}

#[test]
fn what_is_written_comes_back() {
    let folder = TempDir::new().unwrap();
    for (i, (shape, elements)) in [
        (vec![2, 3], Elements::F32(vec![0.5, -0.0, f32::INFINITY, 1e-40, 3.0, 4.0])),
        (vec![3], Elements::F64(vec![0.1, f64::MAX, -2.0])),
        (vec![], Elements::I64(vec![i64::MIN])),
        (vec![1, 1, 2], Elements::I32(vec![i32::MIN, 7])),
        (vec![4], Elements::Bool(vec![0, 1, 1, 0])),
        (vec![2, 1], Elements::U8(vec![0, 255])),
        (vec![0, 5], Elements::F32(vec![])),
        (vec![0], Elements::I64(vec![])),
    ]
    .into_iter()
    .enumerate()
    {
        let array = Array::new(shape, elements).unwrap();
        let path = folder.path().join(format!("{i}.npy"));
        save_array(&path, &array).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!((bytes.len() - array.as_bytes().len()) % 64, 0);
        assert_eq!(open_array(path.to_str().unwrap(), &LIMITS).unwrap(), array);
    }
}

#[test]
fn the_bytes_are_those_numpy_writes() {
    let mut out = Vec::new();
    npy::write(&mut out, &Array::new(vec![2, 1], Elements::I32(vec![1, 2])).unwrap()).unwrap();
    let text = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1), }";
    assert_eq!(out, file(1, &format!("{text:<117}\n"), &[1, 0, 0, 0, 2, 0, 0, 0]));
}

/// More than one block of them.
#[test]
fn bf16_is_written_as_the_f32_it_is() {
    let numbers: Vec<f32> = (0..40_001_u16).map(|i| half::bf16::from_bits(i).to_f32()).collect();
    let halves = numbers.iter().map(|x| half::bf16::from_f32(*x)).collect();
    let [mut narrow, mut wide] = [Vec::new(), Vec::new()];
    npy::write(&mut narrow, &Array::vector(Elements::BF16(halves))).unwrap();
    npy::write(&mut wide, &Array::vector(Elements::F32(numbers))).unwrap();
    assert!(narrow == wide);
}

#[test]
fn versions_orders_and_widths_are_read() {
    for version in [1, 2, 3] {
        let array = read(&file(version, &header("<i4", "(2,)"), &[1, 0, 0, 0, 2, 0, 0, 0])).unwrap();
        assert_eq!(array, Array::vector(Elements::I32(vec![1, 2])));
    }
    let reordered = open_array(fixture("fortran_big_endian.npy").to_str().unwrap(), &LIMITS).unwrap();
    assert_eq!(reordered, Array::new(vec![2, 3, 4], Elements::I32((0..24).collect())).unwrap());
    for (descr, body, elements) in [
        ("|i1", &[0xff][..], Elements::I32(vec![-1])),
        ("<u2", &[0xff, 0xff], Elements::I32(vec![65_535])),
        (">u4", &[0xff, 0xff, 0xff, 0xfe], Elements::I64(vec![4_294_967_294])),
        (">f4", &[0x3f, 0x80, 0, 0], Elements::F32(vec![1.0])),
        (">i8", &[0, 0, 0, 0, 0, 0, 1, 0], Elements::I64(vec![256])),
    ] {
        assert_eq!(read(&file(1, &header(descr, "(1,)"), body)).unwrap().elements(), &elements, "{descr}");
    }
    let spaced = "{\"shape\" : ( ) ,'fortran_order':True,'descr':'|b1'}";
    assert_eq!(read(&file(1, spaced, &[1])).unwrap(), Array::new(vec![], Elements::Bool(vec![1])).unwrap());
}

#[test]
fn npy_refusals_say_where() {
    let body = |n: usize| vec![0; n];
    for (bytes, message) in [
        (b"PK\x03\x04....".to_vec(), "does not begin with \\x93NUMPY: not an .npy file"),
        (file(4, "", &[]), "version 4.0 of the .npy format is not known (known: 1.0, 2.0, 3.0)"),
        (b"\x93NUMPY\x01\x00\xff\xff{".to_vec(), "the header claims 65535 bytes, at most 1 are possible"),
        (b"\x93NUMPY\x02\x00\xff\xff\xff\xff{".to_vec(), "the header claims 4294967295 bytes, at most 1 are possible"),
        (file(1, "", &[]), "header, byte 10: expected `{`"),
        (file(1, "{'descr': 3", &[]), "header, byte 20: expected a quoted type"),
        (file(1, "{'descr': '<f8", &[]), "header, byte 20: expected the closing quote"),
        (file(1, "{'x': 3}", &[]), "header, byte 11: expected one each of the keys descr, fortran_order and shape"),
        (
            file(1, "{'descr': '<f8', 'descr': '<f8'}", &[]),
            "header, byte 27: expected one each of the keys descr, fortran_order and shape",
        ),
        (file(1, "{'descr': '<f8'}", &[]), "header, byte 26: expected all of the keys descr, fortran_order and shape"),
        (file(1, "{'fortran_order': Maybe}", &[]), "header, byte 33: expected True or False"),
        (file(1, &header("<f8", "(-1,)"), &[]), "header, byte 61: expected an extent"),
        (file(1, &header("<f8", "(1 2)"), &[]), "header, byte 63: expected `,` or `)`"),
        (file(1, &(header("<f8", "(0,)") + "x"), &[]), "header, byte 68: expected nothing but white space after `}`"),
        (file(1, &header("<f8", &format!("({})", "1,".repeat(65))), &body(8)), "more than 64 axes"),
        (file(1, &header("<f8", "(9223372036854775807, 3)"), &[]), "the shape [9223372036854775807, 3] is too large"),
        (
            file(1, &header("<f8", "(0, 9223372036854775807, 3)"), &[]),
            "the shape [0, 9223372036854775807, 3] is too large",
        ),
        (file(1, &header("<f8", "(1000000000000,)"), &[]), "the body has 0 bytes, the header asks for 8000000000000"),
        (file(1, &header("<f8", "(2,)"), &body(15)), "the body has 15 bytes, the header asks for 16"),
        (file(1, &header("<f8", "(2,)"), &body(17)), "the body has 17 bytes, the header asks for 16"),
        (file(1, &header("|b1", "(2,)"), &[1, 2]), "element 1 of a bool array is the byte 2, expected 0 or 1"),
    ] {
        assert_eq!(read(&bytes).unwrap_err().to_string(), message);
    }
    for descr in ["<c8", "<f1", "<U3", "|O", "<M8[s]", "", "f8", "<f", "<u8", "|f8", "<f99999999999999999999", "é"] {
        let error = read(&file(1, &header(descr, "(1,)"), &body(8))).unwrap_err();
        assert!(matches!(error, NpyError::ElementType { .. }), "{descr}: {error}");
    }
    let stored = read(&file(1, &header(">f2", "(1,)"), &[0x3e, 0x00])).unwrap();
    assert_eq!(stored.elements(), &Elements::F16(vec![half::f16::from_f32(1.5)]));
    let structure = "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}";
    assert!(matches!(read(&file(1, structure, &body(8))), Err(NpyError::ElementType { .. })));
}

#[test]
fn archives_hold_arrays_by_name() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npz");
    let (x, y) = (Array::vector(Elements::F64(vec![1.5])), Array::new(vec![2, 1], Elements::U8(vec![3, 4])).unwrap());
    save_arrays(&path, [("x", &x), ("weights/y", &y)]).unwrap();
    let spec = |member: &str| format!("{}{member}", path.display());
    assert_eq!(open_array(&spec(":x"), &LIMITS).unwrap(), x);
    assert_eq!(open_array(&spec(":weights/y"), &LIMITS).unwrap(), y);
    let message = |member| open_array(&spec(member), &LIMITS).unwrap_err().kind.to_string();
    assert_eq!(message(":z"), "has no member `z`; it has x, weights/y");
    assert_eq!(message(""), "name one of its arrays as FILE:NAME; it has x, weights/y");
    let first = std::fs::read(&path).unwrap();
    save_arrays(&path, [("x", &x), ("weights/y", &y)]).unwrap();
    assert_eq!(first, std::fs::read(&path).unwrap());
    assert!(save_arrays(&path, [("x", &x), ("x", &y)]).is_err());
    assert_eq!(first, std::fs::read(&path).unwrap());
    save_arrays(&path, [("only", &y)]).unwrap();
    assert_eq!(open_array(&spec(""), &LIMITS).unwrap(), y);
}

#[test]
fn what_is_no_file_is_refused() {
    let kind = |spec: &str| open_array(spec, &LIMITS).unwrap_err().kind;
    assert!(matches!(kind("no/such.npy"), FileErrorKind::Input(InputError::Io(_))));
    assert!(matches!(kind("no/such.npz:x"), FileErrorKind::Npz(NpzError::Input(InputError::Io(_)))));
    assert!(matches!(kind("picture.png"), FileErrorKind::UnknownFormat { .. }));
    assert!(matches!(open_graph(Path::new("g"), &LIMITS).unwrap_err().kind, FileErrorKind::UnknownFormat { .. }));
    let folder = TempDir::new().unwrap();
    let directory = folder.path().join("d.npy");
    std::fs::create_dir(&directory).unwrap();
    assert!(matches!(kind(directory.to_str().unwrap()), FileErrorKind::Input(InputError::NotARegularFile)));
    let error = open_array(fixture("fortran_big_endian.npy").to_str().unwrap(), &Limits { memory: 100 }).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::WouldNotFit(_)), "{error}");
}

#[test]
fn a_changed_element_breaks_the_checksum() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.npz");
    save_arrays(&path, [("x", &Array::vector(Elements::F64(vec![1.25, 2.5])))]).unwrap();
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(8).position(|w| w == 1.25f64.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let error = open_array(path.to_str().unwrap(), &LIMITS).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::Npz(NpzError::Damaged { .. })), "{error}");
}

#[test]
fn a_bomb_is_refused_by_its_claim() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("bomb.npz");
    let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
    let options = zip::write::SimpleFileOptions::DEFAULT.compression_method(zip::CompressionMethod::Deflated);
    archive.start_file("x.npy", options).unwrap();
    let size = 64 << 20;
    archive.write_all(&file(1, &header("|u1", &format!("({size},)")), &vec![0; size])).unwrap();
    archive.finish().unwrap();
    let error = open_array(path.to_str().unwrap(), &LIMITS).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::Npz(NpzError::Bomb { .. })), "{error}");
}

#[test]
fn graphs_of_numpy_and_scipy_are_read() {
    let edges = open_graph(&fixture("edges.npz"), &LIMITS).unwrap();
    assert_eq!((edges.csr.row_ptr(), edges.csr.col()), (&[0, 2, 3, 5, 5][..], &Indices::I64(vec![1, 1, 0, 3, 2])));
    let values = edges.values(DType::F32).unwrap();
    assert_eq!(values.elements(), &Elements::F32(vec![2.0, 5.0, 4.0, 1.0, 3.0]));
    assert_eq!(edges.values(DType::I32).unwrap().elements(), &Elements::I32(vec![2, 5, 4, 1, 3]));
    assert_eq!(edges.names.unwrap().iter().collect::<Vec<_>>(), ["a", "b", "c", "δ"]);
    for name in ["scipy_csr.npz", "scipy_coo.npz"] {
        let file = open_graph(&fixture(name), &LIMITS).unwrap();
        assert_eq!((file.csr.num_src(), file.csr.num_dst()), (4, 3), "{name}");
        assert_eq!((file.csr.row_ptr(), file.csr.col()), (&[0, 2, 2, 4][..], &Indices::I32(vec![1, 3, 0, 2])));
        assert_eq!(file.values(DType::F64).unwrap().elements(), &Elements::F64(vec![1.5, 2.0, 3.0, -4.0]));
    }
    let error = open_graph(&fixture("scipy_csc.npz"), &LIMITS).unwrap_err();
    assert!(matches!(error.kind, FileErrorKind::GraphNpz(GraphNpzError::SparseForm { .. })), "{error}");
}

#[test]
fn edges_without_a_count_are_among_one_set_of_nodes() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.npz");
    let ends = |numbers: &[i64]| Array::vector(Elements::I64(numbers.to_vec()));
    let [low, high, six] = [ends(&[0, 1]), ends(&[3, 0]), ends(&[6])];
    let counts = |members: &[(&str, &Array)]| {
        save_arrays(&path, members.iter().copied()).unwrap();
        let csr = open_graph(&path, &LIMITS).unwrap().csr;
        (csr.num_src(), csr.num_dst())
    };
    assert_eq!(counts(&[("src", &low), ("dst", &high)]), (4, 4));
    assert_eq!(counts(&[("src", &high), ("dst", &low)]), (4, 4));
    assert_eq!(counts(&[("src", &low), ("dst", &high), ("num_nodes", &six)]), (6, 6));
    // With a count of one end there are two sets.
    assert_eq!(counts(&[("src", &low), ("dst", &high), ("num_dst", &six)]), (2, 6));
    assert_eq!(counts(&[("src", &high), ("dst", &low), ("num_src", &six)]), (6, 2));
}

#[test]
fn the_demonstration_graph_has_names() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data/debian12-depends.npz");
    let file = open_graph(&path, &LIMITS).unwrap();
    assert_eq!((file.csr.num_src(), file.csr.num_dst(), file.csr.num_edges()), (63_681, 63_681, 245_116));
    let names = file.names.unwrap();
    let most = file.csr.in_degrees().iter().enumerate().max_by_key(|(_, degree)| **degree).unwrap().0;
    assert_eq!((names.len(), names.get(most)), (63_681, Some("libc6")));
}

/// The refusal of an archive of these arrays.
fn refused(arrays: &[(&str, Elements)]) -> String {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("g.npz");
    let arrays: Vec<(&str, Array)> = arrays.iter().map(|(name, e)| (*name, Array::vector(e.clone()))).collect();
    let mut bytes = Cursor::new(Vec::new());
    npz::write(&mut bytes, arrays.iter().map(|(name, array)| (*name, array))).unwrap();
    std::fs::write(&path, bytes.into_inner()).unwrap();
    open_graph(&path, &LIMITS).unwrap_err().kind.to_string()
}

#[test]
fn graph_archives_are_refused_by_member() {
    let i64s = |v: &[i64]| Elements::I64(v.to_vec());
    let csr = |row_ptr: &[i64], col: &[i64]| [("row_ptr", i64s(row_ptr)), ("col_idx", i64s(col))];
    let with = |name, elements| [&csr(&[0, 1, 2], &[0, 1])[..], &[(name, elements)]].concat();
    for (arrays, message) in [
        (vec![("x", i64s(&[]))], "holds none of: src, dst; row_ptr, col_idx; or SciPy's csr or coo matrix; it has x"),
        (csr(&[0, 2, 1, 2], &[0, 0]).to_vec(), "row_ptr is not monotonic: row_ptr[2] is 1 after 2"),
        (csr(&[0, 5], &[0]).to_vec(), "row_ptr endpoints: its last element is 5, expected 1, the number of columns"),
        (csr(&[0, 1], &[-4]).to_vec(), "out-of-range source: edge 0 has source -4, expected 0 <= source < 0"),
        (with("num_src", i64s(&[1])), "out-of-range source: edge 1 has source 1, expected 0 <= source < 1"),
        (with("num_src", i64s(&[-1])), "member `num_src` is -1, expected a number of nodes"),
        (with("num_src", i64s(&[1, 2])), "member `num_src` is i64 [2], expected one integer"),
        (with("num_src", Elements::F64(vec![2.0])), "member `num_src` is f64 [1], expected one integer"),
        (with("values", i64s(&[1])), "member `values` has the shape [1], expected one value for each of the 2 edges"),
        (with("names", i64s(&[1])), "member `names` is i64 [1], expected one-dimensional u8"),
        (with("names", Elements::U8(b"a\n\xff".to_vec())), "member `names` is not UTF-8 from byte 2 on"),
        (with("names", Elements::U8(b"a".to_vec())), "member `names` has 1 lines, expected 2, the number of nodes"),
        (
            vec![("src", i64s(&[0])), ("dst", Elements::F32(vec![0.0]))],
            "member `dst` is f32 [1], expected one-dimensional i32 or i64",
        ),
        (vec![("src", i64s(&[0, 1])), ("dst", i64s(&[0]))], "2 sources but 1 destinations; an edge needs one of each"),
    ] {
        assert_eq!(refused(&arrays), message);
    }
    for sparse in [
        with("num_src", i64s(&[1 << 60])),
        csr(&[0, 1], &[i64::MAX]).to_vec(),
        vec![("src", i64s(&[0])), ("dst", i64s(&[i64::MAX]))],
        vec![("src", i64s(&[0])), ("dst", i64s(&[0])), ("num_nodes", i64s(&[1 << 40]))],
    ] {
        let message = refused(&sparse);
        assert!(message.contains("number the nodes densely"), "{message}");
    }
}

#[test]
fn what_is_shorter_than_any_array_is_none() {
    for text in ["", "a", "1 2 3\n"] {
        assert!(matches!(read(text.as_bytes()).unwrap_err(), NpyError::Magic), "{text}");
    }
}

#[test]
fn memory_is_checked_for_what_an_array_becomes() {
    let array = |descr: &str, fortran: &str| {
        let header = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': (100, 100), }}");
        file(1, &header, &vec![0; 10_000 * if descr.ends_with('1') { 1 } else { 4 }])
    };
    let fits = |bytes: &[u8], memory| npy::read(bytes, bytes.len() as u64, &Limits { memory }).is_ok();
    // One byte in the file is four in memory; another order is a copy.
    for (descr, fortran, memory) in [("|u1", "False", 10_000), ("|i1", "False", 40_000), ("<f4", "True", 80_000)] {
        let bytes = array(descr, fortran);
        assert!(fits(&bytes, memory) && !fits(&bytes, memory - 1), "{descr} {fortran}");
    }
}
