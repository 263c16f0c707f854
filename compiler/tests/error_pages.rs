//! Each page in `docs/errors/` has an example that gives exactly its code, and the same mended, which is accepted.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::{Path, PathBuf};
use tiga_abi::DType;
use tiga_source::Severity;
use tigac::driver::Front;
use tigac::sema::SemaOptions;

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/errors");
    let mut pages: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The `tg` blocks of a page.
fn blocks(text: &str) -> Vec<String> {
    text.split("```tg\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect()
}

fn errors(code: &str, text: &str) -> Vec<String> {
    let mut options = SemaOptions::default();
    if code == "TG0109" {
        options.set.insert("real".into(), DType::F64);
    }
    let front = Front::of_text("example.tg", text.to_owned(), &options).unwrap();
    let errors = front.diagnostics.iter().filter(|d| d.severity == Severity::Error);
    errors.map(|d| format!("{} {}", d.code, d.render(&front.sources, false))).collect()
}

#[test]
fn examples_give_their_code_and_mended_ones_are_accepted() {
    let mut failures = Vec::new();
    let mut checked = 0;
    for page in pages() {
        let code = page.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(text.starts_with(&format!("# {code}: ")), "{code}: title");
        // Codes below are those of the syntax, whose pages its crate checks; the example of 0914 passes analysis, see
        // diagnostics.rs; 0999 has no example.
        if code.as_str() < "TG0101" || code == "TG0914" || code == "TG0999" {
            continue;
        }
        let blocks = blocks(&text);
        assert_eq!(blocks.len(), 2, "{code}: an example and the mended one");
        let wrong = errors(&code, &blocks[0]);
        if wrong.len() != 1 || !wrong[0].starts_with(&code) {
            failures.push(format!("{code}: the example gives\n{}", wrong.join("\n")));
        }
        let right = errors(&code, &blocks[1]);
        if !right.is_empty() {
            failures.push(format!("{code}: the mended example gives\n{}", right.join("\n")));
        }
        checked += 1;
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n\n"));
    assert!(checked >= 60, "only {checked} pages");
}
