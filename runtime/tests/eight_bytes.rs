//! What the example `eight_bytes` prints is the committed table; `BLESS=1` writes it anew.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use std::process::Command;

/// The example's program, which cargo builds with this test.
fn example() -> PathBuf {
    let own = std::env::current_exe().unwrap();
    own.ancestors().nth(2).unwrap().join("examples/eight_bytes")
}

#[test]
fn memory_hierarchy_7_1_the_example_prints_the_table() {
    let output = Command::new(example()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/eight_bytes.txt");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&golden, &output.stdout).unwrap();
    }
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(printed, std::fs::read_to_string(&golden).unwrap());
    let page = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/memory.md")).unwrap();
    assert!(page.contains(&printed), "docs/memory.md shows another table");
}
