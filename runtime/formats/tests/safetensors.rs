//! `.safetensors` files: each element type, and each refusal with what was found.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use std::path::Path;
use tempfile::TempDir;
use tiga_formats::{Array, Elements, Limits, open_array};

const LIMITS: Limits = Limits { memory: 256 << 20 };

fn write(folder: &Path, header: &str, body: &[u8]) -> String {
    let path = folder.join("a.safetensors");
    std::fs::write(&path, [&(header.len() as u64).to_le_bytes(), header.as_bytes(), body].concat()).unwrap();
    path.display().to_string()
}

fn message(header: &str, body: &[u8]) -> String {
    let folder = TempDir::new().unwrap();
    let path = write(folder.path(), header, body);
    open_array(&format!("{path}:x"), &LIMITS).unwrap_err().kind.to_string()
}

#[test]
fn each_type_is_read_where_it_has_an_equal_value() {
    let folder = TempDir::new().unwrap();
    for (dtype, bytes, elements) in [
        ("BOOL", vec![0, 1], Elements::Bool(vec![0, 1])),
        ("U8", vec![0, 255], Elements::U8(vec![0, 255])),
        ("I8", vec![0x80, 1], Elements::I32(vec![-128, 1])),
        ("I16", vec![0, 0x80, 1, 0], Elements::I32(vec![-32768, 1])),
        ("U16", vec![0xff, 0xff, 1, 0], Elements::I32(vec![65535, 1])),
        ("I32", [(-5i32).to_le_bytes(), 7i32.to_le_bytes()].concat(), Elements::I32(vec![-5, 7])),
        ("U32", [u32::MAX.to_le_bytes(), [0; 4]].concat(), Elements::I64(vec![u32::MAX.into(), 0])),
        ("I64", [i64::MIN.to_le_bytes(), [0; 8]].concat(), Elements::I64(vec![i64::MIN, 0])),
        // 1.5 and the least number above zero.
        ("F16", vec![0x00, 0x3e, 0x01, 0x00], Elements::F16([1.5, 2.0f32.powi(-24)].map(half::f16::from_f32).to_vec())),
        (
            "BF16",
            vec![0xc0, 0x3f, 0x80, 0xff],
            Elements::BF16([1.5, f32::NEG_INFINITY].map(half::bf16::from_f32).to_vec()),
        ),
        ("F32", [0.1f32.to_le_bytes(), (-0.0f32).to_le_bytes()].concat(), Elements::F32(vec![0.1, -0.0])),
        ("F64", [0.1f64.to_le_bytes(), 1e300f64.to_le_bytes()].concat(), Elements::F64(vec![0.1, 1e300])),
    ] {
        let end = bytes.len() + 3;
        let header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":[2,1],"data_offsets":[3,{end}]}}}}"#);
        let path = write(folder.path(), &header, &[&[9, 9, 9], &bytes[..], &[9]].concat());
        let expected = Array::new(vec![2, 1], elements).unwrap();
        assert_eq!(open_array(&format!("{path}:x"), &LIMITS).unwrap(), expected, "{dtype}");
        // The only array needs no name.
        assert_eq!(open_array(&path, &LIMITS).unwrap(), expected, "{dtype}");
    }
}

#[test]
fn arrays_are_told_apart_by_name() {
    let folder = TempDir::new().unwrap();
    let header = r#"{"__metadata__":{"a":"b"},"conv1.weight":{"dtype":"I32","shape":[],"data_offsets":[0,4]},
        "b:c":{"dtype":"I32","shape":[0,7],"data_offsets":[4,4]}}  "#;
    let path = write(folder.path(), header, &[7, 0, 0, 0]);
    let array = open_array(&format!("{path}:conv1.weight"), &LIMITS).unwrap();
    assert_eq!((array.shape(), array.elements()), (&[][..], &Elements::I32(vec![7])));
    let error = open_array(&path, &LIMITS).unwrap_err().kind.to_string();
    assert_eq!(error, "name one of its arrays as FILE:NAME; it has b:c, conv1.weight");
    let error = open_array(&format!("{path}:x"), &LIMITS).unwrap_err().kind.to_string();
    assert_eq!(error, "has no array `x`; it has b:c, conv1.weight");
    assert_eq!(open_array(&format!("{path}:b:c"), &LIMITS).unwrap().shape(), [0, 7]);
}

#[test]
fn refusals_say_what_was_found() {
    let entry = |dtype: &str, shape: &str, offsets: &str| {
        message(&format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#), &[2; 8])
    };
    for (found, expected) in [
        (
            entry("F8_E4M3", "[8]", "[0,8]"),
            "array `x`: elements of type `F8_E4M3` are not read (BOOL, I8 to I64, U8 to U32, F16, BF16, F32, F64 are)",
        ),
        (entry("F32", "[3]", "[0,8]"), "array `x`: its offsets hold 8 bytes, its shape and type ask for 12"),
        (entry("F32", "[2]", "[8,0]"), "array `x`: its offsets hold 0 bytes, its shape and type ask for 8"),
        (entry("F32", "[2]", "[4,12]"), "array `x` ends at byte 12 behind the header, the file has 8 there"),
        (
            entry("F32", "[2]", "[18446744073709551607,18446744073709551615]"),
            "array `x` ends at byte 18446744073709551615 behind the header, the file has 8 there",
        ),
        (
            entry("F32", "[4294967296,4294967296]", "[0,8]"),
            "array `x`: the shape [4294967296, 4294967296] is too large",
        ),
        (entry("BOOL", "[8]", "[0,8]"), "array `x`: element 0 of a bool array is the byte 2, expected 0 or 1"),
        (entry("F32", "[-1]", "[0,8]"), "header, line 1, column 31: invalid value: integer `-1`, expected usize"),
        (
            message("[]", &[]),
            "header, line 1, column 0: invalid type: sequence, expected an object with an entry for each array",
        ),
        (message(r#"{"x":1}"#, &[]), "header, line 1, column 6: invalid type: integer `1`, expected struct Entry"),
        (message("{", &[]), "header, line 1, column 1: EOF while parsing an object"),
        (message(r#"{"x":{"dtype":"F32"}}"#, &[]), "header, line 1, column 20: missing field `shape`"),
        (
            message(
                r#"{"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]}}"#,
                &[],
            ),
            "header, line 1, column 105: two arrays are named `x`",
        ),
    ] {
        assert_eq!(found, expected);
    }
    let long = message(&format!(r#"{{"x":"{}"}}"#, "\u{7f}é".repeat(1000)), &[]);
    assert!(long.len() < 700 && long.ends_with('…'), "{long}");
}

#[test]
fn sizes_that_are_none_are_refused() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.safetensors");
    let open = |bytes: &[u8]| {
        std::fs::write(&path, bytes).unwrap();
        open_array(path.to_str().unwrap(), &LIMITS).unwrap_err().kind.to_string()
    };
    assert_eq!(open(b"abc"), "is no .safetensors file: it has 3 bytes, and eight say how long its header is");
    assert_eq!(open(&[&9u64.to_le_bytes()[..], b"{}"].concat()), "the header claims 9 bytes, at most 2 are possible");
    assert_eq!(open(&[&2u64.to_le_bytes()[..], b"{}"].concat()), "holds no array");
    let header = r#"{"x":{"dtype":"U8","shape":[9],"data_offsets":[0,9]}}"#;
    let path = write(folder.path(), header, &[1; 9]);
    let error = open_array(&path, &Limits { memory: 64 }).unwrap_err().kind.to_string();
    assert!(error.starts_with("needs about 1 MB of memory"), "{error}");
}
