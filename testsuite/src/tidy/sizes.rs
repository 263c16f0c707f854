//! How long files and functions may be, as a ratchet: exceptions are listed and may only shrink.

use super::{Finding, Tree, rust};
use std::collections::BTreeMap;
use syn::visit::{self, Visit};

/// Longest file, in lines.
const FILE: usize = 600;

/// Longest function, in lines from its `fn` to its brace.
const FUNCTION: usize = 60;

/// What is longer today: lines `PATH LINES` and `PATH::FUNCTION LINES`, sorted; `#` opens a comment.
const EXCEPTIONS: &str = "testsuite/tidy-exceptions.txt";

/// Files whose length counts.
const SOURCES: &[&str] = &[".rs", ".lalrpop", ".py", ".sh"];

/// No file or function is longer than the limit, or than its exception; exceptions are as tight as they can be.
pub fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let exceptions = exceptions(tree, &mut findings);
    let mut long = BTreeMap::new();
    for (path, text) in tree.iter().filter(|(path, _)| SOURCES.iter().any(|end| path.ends_with(end))) {
        let length = text.lines().count();
        if length > FILE {
            long.insert(path.to_owned(), (path, 1, length, FILE));
        }
        if path.ends_with(".rs") {
            match rust::parse(path, text) {
                Ok(file) => {
                    for (name, line, length) in functions(&file) {
                        long.insert(format!("{path}::{name}"), (path, line, length, FUNCTION));
                    }
                }
                Err(finding) => findings.push(finding),
            }
        }
    }
    for (key, (path, line, length, limit)) in &long {
        let allowed = exceptions.get(key).map_or(*limit, |(_, allowed)| *allowed);
        if *length > allowed {
            findings.push(Finding::new(path, *line, format!("`{key}` has {length} lines, {allowed} are allowed")));
        }
    }
    for (key, (line, allowed)) in &exceptions {
        let length = long.get(key).map(|(_, _, length, _)| *length);
        match length {
            None => findings.push(Finding::new(EXCEPTIONS, *line, format!("`{key}` needs no exception any more"))),
            Some(length) if length < *allowed => {
                findings.push(Finding::new(EXCEPTIONS, *line, format!("`{key}` shrank: write {length}")));
            }
            Some(_) => {}
        }
    }
    findings
}

fn exceptions(tree: &Tree, findings: &mut Vec<Finding>) -> BTreeMap<String, (usize, usize)> {
    let mut exceptions = BTreeMap::new();
    let mut last = "";
    for (number, line) in tree.get(EXCEPTIONS).unwrap_or_default().lines().enumerate() {
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let Some((key, Ok(allowed))) = line.rsplit_once(' ').map(|(key, count)| (key, count.parse())) else {
            findings.push(Finding::new(EXCEPTIONS, number + 1, "not `PATH LINES` or `PATH::FUNCTION LINES`"));
            continue;
        };
        if key <= last {
            findings.push(Finding::new(EXCEPTIONS, number + 1, format!("`{key}` is out of order")));
        }
        last = key;
        exceptions.insert(key.to_owned(), (number + 1, allowed));
    }
    exceptions
}

/// The functions of a file that are too long: name, line, length. Of several with one name, the longest.
fn functions(file: &syn::File) -> Vec<(String, usize, usize)> {
    let mut visitor = Functions::default();
    visitor.visit_file(file);
    let mut longest: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for (name, line, length) in visitor.long {
        let entry = longest.entry(name).or_insert((line, length));
        if entry.1 < length {
            *entry = (line, length);
        }
    }
    longest.into_iter().map(|(name, (line, length))| (name, line, length)).collect()
}

#[derive(Default)]
struct Functions {
    /// The type whose `impl` is open, with a `::` behind it.
    within: String,
    long: Vec<(String, usize, usize)>,
}

impl Functions {
    fn consider(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (start, _) = rust::lines(&signature.fn_token);
        let (_, end) = rust::lines(block);
        let length = end + 1 - start;
        if length > FUNCTION && !is_table(block) {
            self.long.push((format!("{}{}", self.within, signature.ident), start, length));
        }
    }
}

impl<'ast> Visit<'ast> for Functions {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
            _ => None,
        };
        let before = std::mem::replace(&mut self.within, name.map(|name| name + "::").unwrap_or_default());
        visit::visit_item_impl(self, item);
        self.within = before;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.consider(&item.sig, &item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.consider(&item.sig, &item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.consider(&item.sig, block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

/// Whether the body is one `match` of one-line arms, perhaps after a `use`: a table, however long.
fn is_table(block: &syn::Block) -> bool {
    let is_use = |statement: &&syn::Stmt| matches!(statement, syn::Stmt::Item(syn::Item::Use(_)));
    let mut rest = block.stmts.iter().skip_while(is_use);
    let (Some(syn::Stmt::Expr(syn::Expr::Match(table), _)), None) = (rest.next(), rest.next()) else { return false };
    table.arms.iter().all(|arm| {
        let (start, end) = rust::lines(arm);
        start == end
    })
}
