//! What must be absent from a build is absent: the whole tree of dependencies, not only the table's direct imports.

use std::process::Command;

/// The names of all crates in a build.
fn crates(arguments: &[&str]) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["tree", "--offline", "--locked", "--edges", "normal,build", "--prefix", "none", "--format", "{p}"]);
    let output = command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("cargo starts");
    let text = String::from_utf8(output.stdout).expect("cargo prints UTF-8");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    text.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[track_caller]
fn lacks(arguments: &[&str], own: &str, banned: &[&str]) {
    let crates = crates(arguments);
    assert!(crates.iter().any(|name| name == own), "the tree of {own} was not listed: {crates:?}");
    let found: Vec<&String> = crates.iter().filter(|name| banned.contains(&name.as_str())).collect();
    assert!(found.is_empty(), "{own} must be built without {found:?}");
}

const LLVM: &[&str] = &["inkwell", "llvm-sys", "tiga-backend-llvm"];
const COMPILER: &[&str] =
    &["inkwell", "llvm-sys", "tiga-backend-llvm", "tiga-ir", "tiga-syntax", "tigac", "lalrpop-util"];

#[test]
fn the_runtime_holds_no_compiler() {
    lacks(&["-p", "tiga-runtime"], "tiga-runtime", COMPILER);
    lacks(&["-p", "tiga"], "tiga", COMPILER);
}

#[test]
fn the_compiler_builds_without_llvm_on_demand() {
    lacks(&["-p", "tigac", "--no-default-features"], "tigac", LLVM);
    assert!(crates(&["-p", "tigac"]).iter().any(|name| name == "llvm-sys"), "with it by default");
}

#[test]
fn set_up_runs_before_there_is_an_llvm() {
    lacks(&["-p", "xtask"], "xtask", COMPILER);
}
