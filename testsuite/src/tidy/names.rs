//! What files are called and how they open.

use super::{Finding, Tree};

/// Names that say nothing of what a file is for.
const BANNED: &[&str] = &["base", "common", "helper", "helpers", "misc", "util", "utils"];

/// No file or folder has a banned name; every Rust file opens with a sentence in `//!`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter() {
        let stems = path.split('/').map(|part| part.split('.').next().unwrap_or_default());
        if let Some(stem) = stems.into_iter().find(|stem| BANNED.contains(stem)) {
            findings.push(Finding::new(path, 1, format!("`{stem}` names no noun: say what the file is for")));
        }
        if path.ends_with(".rs") && !opens(text) {
            findings.push(Finding::new(path, 1, "the file does not open with a `//!` sentence saying what it is for"));
        }
    }
    findings
}

/// The first paragraph of the file is a `//!` comment of at least two words that ends as a sentence does.
fn opens(text: &str) -> bool {
    let paragraph = text.lines().map_while(|line| line.strip_prefix("//! ")).collect::<Vec<_>>().join(" ");
    paragraph.split_whitespace().count() >= 2 && paragraph.contains(['.', ':'])
}
