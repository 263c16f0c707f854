//! Tables are complete: what exists has its row, since a forgotten one is silent.

use super::{Finding, Tree};

/// The table of ops; an op is a constant that its file's `pub use` names.
const OPS: &str = "ir/src/ops/mod.rs";

/// The table of passes; a pass is a file below that defines [`PASS`].
const PASSES: &str = "compiler/src/passes/mod.rs";
const PASS: &str = "pub const PASS: Pass ";

/// Each op and each pass has a row in `ALL`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    ops(tree).into_iter().chain(passes(tree)).collect()
}

fn ops(tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.get(OPS) else { return Vec::new() };
    let rows = words(table(text));
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate().filter(|(_, line)| line.starts_with("pub use ")) {
        let constant = |word: &&str| !word.is_empty() && !word.contains(|c: char| c.is_ascii_lowercase());
        for name in words(line).into_iter().filter(constant).filter(|name| !rows.contains(name)) {
            findings.push(Finding::new(OPS, index + 1, format!("`{name}` has no row in `ALL`")));
        }
    }
    findings
}

fn passes(tree: &Tree) -> Vec<Finding> {
    let Some((folder, rows)) = PASSES.strip_suffix("mod.rs").zip(tree.get(PASSES).map(table)) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (path, text) in tree.rust().filter(|(path, _)| path.starts_with(folder)) {
        let Some(index) = text.lines().position(|line| line.starts_with(PASS)) else { continue };
        let file = &path[folder.len()..];
        let module = file.strip_suffix("/mod.rs").unwrap_or(file.trim_end_matches(".rs")).replace('/', "::");
        let row = format!("{module}::PASS");
        if !rows.contains(&row) {
            findings.push(Finding::new(path, index + 1, format!("`{row}` has no row in `ALL` of {PASSES}")));
        }
    }
    findings
}

/// The text of the rows of `ALL`.
fn table(text: &str) -> &str {
    let rows = text.split_once("pub const ALL: ").map_or("", |(_, rest)| rest);
    rows.split_once("];").map_or("", |(rows, _)| rows)
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').collect()
}
