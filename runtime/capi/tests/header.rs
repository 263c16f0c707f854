//! The committed header is what the sources say; numbers and names of errors stay for good.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::Path;
use tiga::STATUSES;

/// Sources in the order in which the header presents them.
const SOURCES: [&str; 12] = [
    "version",
    "border",
    "status",
    "error",
    "array",
    "bundle",
    "graph",
    "context",
    "cancel",
    "call",
    "hierarchy",
    "instance",
];

fn generated() -> String {
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(crate_root.join("cbindgen.toml")).unwrap();
    config.header = Some(std::fs::read_to_string(crate_root.join("header.txt")).unwrap());
    let mut builder = cbindgen::Builder::new().with_config(config);
    for name in SOURCES {
        builder = builder.with_src(crate_root.join(format!("src/{name}.rs")));
    }
    let mut text = Vec::new();
    builder.generate().unwrap().write(&mut text);
    String::from_utf8(text).unwrap()
}

#[test]
fn the_header_is_made_from_the_sources() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("include/tiga.h");
    let text = generated();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let committed = std::fs::read_to_string(&path).unwrap();
    assert!(text == committed, "include/tiga.h is not what src/ says: run this test with BLESS=1");
}

/// Never change a row: only add.
const FOR_GOOD: &[(i32, &str)] = &[
    (0, "TIGA_OK"),
    (1, "TIGA_NULL"),
    (2, "TIGA_ARGUMENT"),
    (3, "TIGA_INTERNAL"),
    (10, "TIGA_FILE"),
    (11, "TIGA_BUNDLE"),
    (12, "TIGA_TARGET"),
    (13, "TIGA_LOAD"),
    (14, "TIGA_NO_PROGRAM"),
    (15, "TIGA_NO_PARAMETER"),
    (16, "TIGA_BOUND_TWICE"),
    (17, "TIGA_MISSING"),
    (18, "TIGA_KIND"),
    (19, "TIGA_DTYPE"),
    (20, "TIGA_RANK"),
    (21, "TIGA_CONFLICT"),
    (22, "TIGA_UNBOUND"),
    (23, "TIGA_SIZE"),
    (24, "TIGA_BYTES"),
    (25, "TIGA_ALIGNMENT"),
    (26, "TIGA_STRIDES"),
    (27, "TIGA_OVERLAP"),
    (28, "TIGA_WIDE_COLUMNS"),
    (29, "TIGA_NEGATIVE"),
    (30, "TIGA_BOOL"),
    (31, "TIGA_MEMORY"),
    (32, "TIGA_ALLOCATOR"),
    (33, "TIGA_CANCELLED"),
    (34, "TIGA_PLAN"),
    (35, "TIGA_THREADS"),
    (36, "TIGA_GRAPH"),
    (37, "TIGA_PREPARED"),
    (38, "TIGA_NOT_DERIVED"),
    (39, "TIGA_TIER"),
    (40, "TIGA_BUDGET"),
    (41, "TIGA_CLOSED"),
    (42, "TIGA_TRANSFER"),
    (43, "TIGA_NOT_FOUND"),
    (44, "TIGA_STORAGE"),
    (45, "TIGA_DISK_FULL"),
    (46, "TIGA_NOT_FILLED"),
    (47, "TIGA_INSIDE_CALLBACK"),
];

#[test]
fn numbers_are_never_reused() {
    let now: Vec<(i32, &str)> = STATUSES.iter().map(|(status, name)| (*status as i32, *name)).collect();
    for row in FOR_GOOD {
        assert!(now.contains(row), "{row:?} has changed or is gone");
    }
    assert_eq!(now.len(), FOR_GOOD.len(), "a new number belongs into this list");
    let numbers: std::collections::BTreeSet<i32> = now.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers.len(), now.len(), "a number means two things");
}

#[test]
fn the_table_of_the_docs_has_every_number() {
    let docs = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/c-abi.md")).unwrap();
    for (number, name) in FOR_GOOD {
        let row = format!("| {number} | `{name}` |");
        assert!(docs.contains(&row), "docs/c-abi.md lacks a row `{row} …`");
    }
}
