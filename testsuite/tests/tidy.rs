//! The house rules hold; and each rule notices a violation planted in a small house that keeps them.

use std::path::Path;
use testsuite::tidy::{Tree, check};

#[test]
fn the_house_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let tree = Tree::read(root).unwrap();
    assert!(tree.get("Cargo.toml").is_some() && tree.rust().count() > 20, "the tree was not read");
    let findings: Vec<String> = check(&tree).iter().map(|(rule, finding)| format!("{finding} [{rule}]")).collect();
    assert!(findings.is_empty(), "\n{}\n", findings.join("\n"));
}

const MANIFEST: &str = r#"
[package]
name = "tiga-plan"
[dependencies]
tiga-abi.workspace = true
[lints]
workspace = true
"#;

/// A tidy house of two crates.
fn house() -> Tree {
    let table = "\
# House\n\n## Crates\n\n| crate | folder | holds | may import |\n|---|---|---|---|\n\
| `tiga-abi` | `abi` | types | – |\n| `tiga-plan` | `plan` | plans | `tiga-abi` |\n\n## More\n";
    let abi = "[package]\nname = \"tiga-abi\"\n[dependencies]\nserde.workspace = true\n[lints]\nworkspace = true\n";
    let code =
        "//! What plans are made of.\n\n/// A law.\npub enum Rule { Acyclic }\n\npub const CODE: &str = \"TG0101\";\n";
    Tree::of(&[
        ("Cargo.toml", "[workspace]\n"),
        ("docs/architecture.md", table),
        ("docs/errors/TG0101.md", "# TG0101: a cycle\n"),
        ("abi/Cargo.toml", abi),
        ("abi/src/lib.rs", "//! Element types of everything.\n"),
        ("plan/Cargo.toml", MANIFEST),
        ("plan/src/lib.rs", code),
        ("testsuite/verify/cycle.tir", "// expected-rule: Acyclic\n"),
    ])
}

/// The single finding that `path` with `text` causes in the small house.
fn planted(path: &str, text: &str) -> String {
    let findings: Vec<String> =
        check(&house().with(path, text)).iter().map(|(_, finding)| finding.to_string()).collect();
    assert_eq!(findings.len(), 1, "{findings:#?}");
    findings[0].clone()
}

/// All findings that `path` with `text` causes in the small house.
fn planted_all(path: &str, text: &str) -> String {
    check(&house().with(path, text)).iter().map(|(_, finding)| finding.to_string()).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn says(finding: &str, part: &str) {
    assert!(finding.contains(part), "`{finding}` does not say `{part}`");
}

#[test]
fn the_small_house_is_tidy() {
    assert_eq!(check(&house()), []);
}

#[test]
fn an_import_against_the_table_is_found() {
    let manifest =
        "[package]\nname = \"tiga-abi\"\n[dependencies]\ntiga-plan.workspace = true\n[lints]\nworkspace = true\n";
    says(&planted("abi/Cargo.toml", manifest), "`tiga-abi` imports `tiga-plan`: the table");
}

#[test]
fn a_reserved_foreign_crate_is_found() {
    let manifest = MANIFEST.replace("[lints]", "inkwell = { workspace = true, optional = true }\n[lints]");
    says(&planted("plan/Cargo.toml", &manifest), "imports `inkwell`, which only `tiga-backend-llvm` may use");
}

#[test]
fn a_crate_without_row_and_a_row_without_crate_are_found() {
    let manifest = MANIFEST.replace("tiga-plan", "tiga-new");
    says(&planted("new/Cargo.toml", &manifest), "crate `tiga-new` has no row in the table");
    let table =
        house().get("docs/architecture.md").unwrap().replace("\n\n## More", "\n| `tiga-old` | `old` | x | – |\n");
    says(&planted("docs/architecture.md", &table), "a row for `tiga-old`, no crate");
}

#[test]
fn a_version_outside_the_root_and_missing_lints_are_found() {
    let version = MANIFEST.replace("[lints]", "serde = \"1\"\n[lints]");
    says(&planted("plan/Cargo.toml", &version), "`serde`: versions stand in the root");
    let lints = MANIFEST.replace("[lints]\nworkspace = true", "");
    says(&planted("plan/Cargo.toml", &lints), "does not take its lints from the root");
}

#[test]
fn a_workspace_of_its_own_has_its_own_versions() {
    let own = "[workspace]\n[package]\nname = \"fuzz\"\n[dependencies]\nserde = \"1\"\n";
    assert_eq!(check(&house().with("fuzz/Cargo.toml", own)), []);
    says(&planted_all("fuzz/Cargo.toml", &own.replace("[workspace]\n", "")), "crate `fuzz` has no row in the table");
}

#[test]
fn a_file_without_opening_sentence_is_found() {
    says(&planted("abi/src/dtype.rs", "use std::fmt;\n"), "abi/src/dtype.rs:1: the file does not open");
    says(&planted("abi/src/dtype.rs", "//! Types\n"), "the file does not open");
}

#[test]
fn a_name_that_says_nothing_is_found() {
    says(&planted("abi/src/utils.rs", "//! Things of all kinds.\n"), "`utils` names no noun");
    says(&planted("abi/src/common/mod.rs", "//! Things of all kinds.\n"), "`common` names no noun");
}

#[test]
fn long_files_and_functions_are_found() {
    let file = format!("//! A file of many lines.\n{}", "//\n".repeat(600));
    says(&planted("abi/src/long.rs", &file), "`abi/src/long.rs` has 601 lines, 600 are allowed");
    let body = "    f();\n".repeat(59);
    let function = format!("//! One long function.\n\nimpl T {{\nfn f() {{\n{body}}}\n}}\n");
    says(&planted("abi/src/f.rs", &function), "abi/src/f.rs:4: `abi/src/f.rs::T::f` has 61 lines, 60 are allowed");
}

#[test]
fn a_match_of_short_arms_may_be_long() {
    let arms: String = (0..100).map(|i| format!("    {i} => {i},\n")).collect();
    let table = format!(
        "//! A table, not a function.\n\nfn f(x: u32) -> u32 {{\n    match x {{\n{arms}    _ => 0,\n    }}\n}}\n"
    );
    assert_eq!(check(&house().with("abi/src/table.rs", &table)), []);
    let with_use = table.replace("    match", "    use X::*;\n    match");
    assert_eq!(check(&house().with("abi/src/table.rs", &with_use)), []);
    let block = table.replace("_ => 0,", "_ => {\n 0\n }");
    says(&planted("abi/src/table.rs", &block), "are allowed");
}

#[test]
fn an_exception_may_only_shrink() {
    let file = format!("//! A file of many lines.\n{}", "//\n".repeat(600));
    let house = house().with("abi/src/long.rs", &file);
    let with = |text: &str| -> Vec<String> {
        let tree = house.clone().with("testsuite/tidy-exceptions.txt", text);
        check(&tree).iter().map(|(_, finding)| finding.to_string()).collect()
    };
    assert_eq!(with("abi/src/long.rs 601\n"), [""; 0]);
    says(&with("abi/src/long.rs 602\n")[0], "`abi/src/long.rs` shrank: write 601");
    says(&with("abi/src/gone.rs 700\nabi/src/long.rs 601\n")[0], "`abi/src/gone.rs` needs no exception any more");
    says(&with("abi/src/long.rs 600\n")[0], "has 601 lines, 600 are allowed");
    says(&with("abi/src/long.rs 601\nabi/src/long.rs 601\n")[0], "out of order");
}

#[test]
fn a_path_of_one_machine_is_found() {
    let text = format!("//! A path stands here.\n// see {}x\n", concat!("/ro", "ot/"));
    says(&planted("abi/src/path.rs", &text), "abi/src/path.rs:2: ");
}

#[test]
fn a_code_without_page_and_a_page_without_code_are_found() {
    let code = "//! A code stands here.\nfn f() { e!(x, [\"TG0102\"]) }\n#[cfg(test)]\nmod tests { const C: &str = \"TG0999\"; }\n";
    says(&planted("abi/src/code.rs", code), "abi/src/code.rs:2: TG0102 has no page docs/errors/TG0102.md");
    says(&planted("docs/errors/TG0103.md", "# TG0103: gone\n"), "no source uses TG0103");
    says(&planted("docs/errors/TG0101.md", "A cycle.\n"), "does not open with `# TG0101: …`");
}

#[test]
fn a_law_that_nothing_breaks_is_found() {
    let laws = "//! The law book.\npub enum Rule {\n    Acyclic,\n    Ordered,\n}\n";
    says(&planted("abi/src/laws.rs", laws), "abi/src/laws.rs:4: nothing breaks `Rule::Ordered`");
    let tested = |test: &str| check(&house().with("abi/src/laws.rs", laws).with("abi/tests/laws.rs", test)).len();
    assert_eq!(tested("//! Breaks laws.\nfn f() { g(Rule::Ordered); }\n"), 0);
    assert_eq!(tested("//! Breaks laws.\nfn f() { g(Rule::OrderedTwice); }\n"), 1);
    says(&planted("testsuite/verify/x.tir", "// expected-rule: Gone\n"), "no verifier has a `Rule::Gone`");
}

#[test]
fn an_op_or_pass_without_row_is_found() {
    let ops = "//! The ops.\npub use arith::{ADD, SUB, typed};\npub const ALL: &[Op] = &[\n    ADD,\n];\n";
    says(&planted("ir/src/ops/mod.rs", ops), "ir/src/ops/mod.rs:2: `SUB` has no row in `ALL`");
    let passes = "//! The passes.\npub const ALL: &[Pass] = &[\n    ssa::dce::PASS,\n];\n";
    let pass = "//! A pass.\npub const PASS: Pass = Pass {};\n";
    let tree = house().with("compiler/src/passes/mod.rs", passes).with("compiler/src/passes/ssa/dce.rs", pass);
    assert_eq!(check(&tree), []);
    for (file, row) in [("ssa/cse.rs", "ssa::cse"), ("domain/fuse/mod.rs", "domain::fuse")] {
        let tree = house().with("compiler/src/passes/mod.rs", passes);
        let found = check(&tree.with(&format!("compiler/src/passes/{file}"), pass));
        says(&found[0].1.to_string(), &format!("compiler/src/passes/{file}:2: `{row}::PASS` has no row in `ALL`"));
    }
}

#[test]
fn a_plant_that_no_longer_fits_is_found() {
    let diff =
        "diff --git a/abi/src/lib.rs b/abi/src/lib.rs\n--- a/abi/src/lib.rs\n+++ b/abi/src/lib.rs\n@@ -1 +1 @@\n";
    let header = "Bug: other words\nKilled-by: cargo test -p tiga-abi\n";
    let plant = |old: &str| format!("{header}{diff}-{old}\n+//! Words.\n");
    let fits = plant("//! Element types of everything.");
    assert_eq!(check(&house().with("testsuite/plants/a.patch", &fits)), []);
    says(&planted("testsuite/plants/a.patch", &plant("//! Gone.")), "no longer in abi/src/lib.rs");
    says(
        &planted("testsuite/plants/a.patch", &fits.replace("Killed-by", "By")),
        "lacks a line `Killed-by: cargo test …`",
    );
}
