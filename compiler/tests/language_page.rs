//! The examples of the language's page are accepted, but for what the page says is not built yet.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeSet;
use std::path::Path;
use tigac::driver::Front;
use tigac::sema::SemaOptions;

fn page() -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/language.md")).unwrap()
}

/// Codes in the table of what is not built yet.
fn announced(page: &str) -> BTreeSet<String> {
    let rows = page.lines().filter(|line| line.starts_with("| ")).filter_map(|line| line.split('|').nth(2));
    rows.map(str::trim).filter(|cell| cell.starts_with("TG09")).map(str::to_owned).collect()
}

#[test]
fn examples_are_accepted_or_refused_as_the_page_says() {
    let page = page();
    let announced = announced(&page);
    for code in &announced {
        // A code goes with its page once what it refuses is built.
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/errors/{code}.md"));
        assert!(page.exists(), "{code} is announced and is no code");
    }
    let (mut seen, mut accepted) = (BTreeSet::new(), 0);
    for example in page.split("```tg\n").skip(1).map(|rest| rest.split("```").next().unwrap()) {
        let front = Front::of_text("page.tg", example.to_owned(), &SemaOptions::default()).unwrap();
        for finding in &front.diagnostics {
            let shown = finding.render(&front.sources, false);
            assert!(announced.contains(finding.code), "{shown}\nis not announced");
            seen.insert(finding.code.to_owned());
        }
        accepted += usize::from(front.diagnostics.is_empty());
    }
    assert!(accepted >= 3 && seen.len() >= 3, "{accepted} accepted, {seen:?} refused");
}

/// What is a function of the language stands in the table.
#[test]
fn the_table_of_functions_is_whole() {
    let page = page();
    let table = page.split("## Functions and operators").nth(1).unwrap().split("\n\nOf two operands").next().unwrap();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = table.split(|c| !is_word(c)).collect();
    for name in tigac::sema::function_names().filter(|name| name.parse::<tiga_abi::DType>().is_err()) {
        assert!(words.contains(name), "`{name}` is not in the table of functions");
    }
}
