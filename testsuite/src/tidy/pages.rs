//! Every diagnostic code has a page that explains it, and every page a code.

use super::{Finding, Tree, rust};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Where the pages are: `TG0101.md` and so on.
const PAGES: &str = "docs/errors/";

/// Codes used by the sources and pages match; a page opens with `# CODE: what it says`.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut used: BTreeMap<String, (String, usize)> = BTreeMap::new();
    for (path, text) in tree.rust().filter(|(path, text)| path.contains("src/") && text.contains("\"TG")) {
        match rust::parse(path, text) {
            Ok(file) => {
                let mut codes = Codes::default();
                codes.visit_file(&file);
                for (code, line) in codes.found {
                    used.entry(code).or_insert_with(|| (path.to_owned(), line));
                }
            }
            Err(finding) => findings.push(finding),
        }
    }
    for (code, (path, line)) in &used {
        let page = format!("{PAGES}{code}.md");
        match tree.get(&page) {
            None => findings.push(Finding::new(path, *line, format!("{code} has no page {page}"))),
            Some(text) if !text.starts_with(&format!("# {code}: ")) => {
                findings.push(Finding::new(&page, 1, format!("the page does not open with `# {code}: …`")));
            }
            Some(_) => {}
        }
    }
    for (path, _) in tree.iter() {
        let code = path.strip_prefix(PAGES).and_then(|name| name.strip_suffix(".md"));
        if let Some(code) = code.filter(|code| is_code(code) && !used.contains_key(*code)) {
            findings.push(Finding::new(path, 1, format!("no source uses {code}")));
        }
    }
    findings
}

/// `TG` and four digits.
fn is_code(text: &str) -> bool {
    text.strip_prefix("TG").is_some_and(|rest| rest.len() == 4 && rest.bytes().all(|byte| byte.is_ascii_digit()))
}

/// String literals that are codes, outside unit tests.
#[derive(Default)]
struct Codes {
    found: Vec<(String, usize)>,
}

impl<'ast> Visit<'ast> for Codes {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !rust::is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_lit_str(&mut self, literal: &'ast syn::LitStr) {
        if is_code(&literal.value()) {
            self.found.push((literal.value(), rust::lines(literal).0));
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}

impl Codes {
    /// Literals inside a macro call, which syn leaves as tokens.
    fn tokens(&mut self, tokens: proc_macro2::TokenStream) {
        for token in tokens {
            match token {
                proc_macro2::TokenTree::Group(group) => self.tokens(group.stream()),
                proc_macro2::TokenTree::Literal(literal) => {
                    let line = literal.span().start().line;
                    let text = literal.to_string();
                    let text = text.trim_matches('"');
                    if is_code(text) {
                        self.found.push((text.to_owned(), line));
                    }
                }
                _ => {}
            }
        }
    }
}
