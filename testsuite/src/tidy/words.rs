//! Words that must not stand in any file: paths of one machine, addresses of package registries.

use super::{Finding, Tree};

/// Spelled in pieces, so that this file is not its own finding.
const BANNED: &[&str] = &[
    concat!("/wo", "rk/"),
    concat!("/ro", "ot/"),
    concat!("/ho", "me/"),
    concat!("deb.deb", "ian.org"),
    concat!("security.deb", "ian.org"),
    concat!("py", "pi.org"),
    concat!("pythonho", "sted.org"),
    concat!("registry.np", "mjs.org"),
    concat!("index.cra", "tes.io"),
    concat!("static.cra", "tes.io"),
    concat!("static.rust", "-lang.org"),
];

/// No banned word in any text file; the lock file is cargo's own.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.iter().filter(|(path, _)| *path != "Cargo.lock") {
        for (number, line) in text.lines().enumerate() {
            if let Some(word) = BANNED.iter().find(|word| line.contains(**word)) {
                findings.push(Finding::new(path, number + 1, format!("`{word}` has no place in the repository")));
            }
        }
    }
    findings
}
