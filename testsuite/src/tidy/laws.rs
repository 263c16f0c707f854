//! Every law of a verifier has a file that breaks it.

use super::{Finding, Tree, rust};
use std::collections::BTreeSet;
use syn::visit::{self, Visit};

/// Where the breaking files are.
const BREAKING: &str = "testsuite/verify/";

/// The mark in a breaking file.
const MARK: &str = "expected-rule:";

/// Each variant of each `enum Rule` is named by an `expected-rule: NAME` line, and each such line names a variant.
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
                    if !broken.contains(&name) {
                        let message = format!("no file in {BREAKING} breaks `Rule::{name}` (`{MARK} {name}`)");
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
