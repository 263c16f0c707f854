//! Every law of a verifier has a file that breaks it.

use super::{Finding, Tree, rust};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Where the breaking files are.
const BREAKING: &str = "testsuite/verify/";

/// The mark in a breaking file.
const MARK: &str = "expected-rule:";

/// Each variant of each `enum Rule` is named by an `expected-rule: NAME` line of a breaking file or, where what it
/// judges has no text of its own, by `Rule::NAME` in a test file of its crate. Each mark names a variant.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut laws = BTreeSet::new();
    let broken: BTreeSet<String> = marks(tree).map(|(_, _, name)| name.to_owned()).collect();
    for (path, text) in tree.rust().filter(|(_, text)| text.contains("enum Rule")) {
        match rust::parse(path, text) {
            Ok(file) => {
                let mut rules = Rules::default();
                rules.visit_file(&file);
                for (name, line) in rules.found {
                    if !broken.contains(&name) && !tested(tree, path, &name) {
                        let message = format!(
                            "nothing breaks `Rule::{name}`: neither `{MARK} {name}` in {BREAKING} nor a test file of {}",
                            crate_folder(path)
                        );
                        findings.push(Finding::new(path, line, message));
                    }
                    laws.insert(name);
                }
            }
            Err(finding) => findings.push(finding),
        }
    }
    for (path, line, name) in marks(tree).filter(|(_, _, name)| !laws.contains(*name)) {
        findings.push(Finding::new(path, line, format!("no verifier has a `Rule::{name}`")));
    }
    findings
}

/// The folder of the crate that `path` belongs to, with its `/`.
fn crate_folder(path: &str) -> &str {
    path.split("src/").next().unwrap_or_default()
}

/// Whether a test file of the crate (`tests.rs`, or one in a folder `tests`) names the law.
fn tested(tree: &Tree, path: &str, name: &str) -> bool {
    let folder = crate_folder(path);
    let path_of_law = format!("Rule::{name}");
    let names = |text: &str| {
        let mut rest = text.split(&path_of_law).skip(1);
        rest.any(|after| !after.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
    };
    let is_test = |path: &str| path.ends_with("/tests.rs") || path.contains("/tests/");
    tree.rust().filter(|(path, _)| path.starts_with(folder) && is_test(path)).any(|(_, text)| names(text))
}

/// Path, line and law of every mark.
fn marks(tree: &Tree) -> impl Iterator<Item = (&str, usize, &str)> {
    tree.iter().filter(|(path, _)| path.starts_with(BREAKING)).flat_map(|(path, text)| {
        text.lines().enumerate().filter_map(move |(number, line)| {
            let name = line.split_once(MARK)?.1.split_whitespace().next()?;
            Some((path, number + 1, name))
        })
    })
}

/// The variants of enums called `Rule`.
#[derive(Default)]
struct Rules {
    found: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Rules {
    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        if item.ident == "Rule" {
            self.found.extend(item.variants.iter().map(|v| (v.ident.to_string(), rust::lines(&v.ident).0)));
        }
        visit::visit_item_enum(self, item);
    }
}
