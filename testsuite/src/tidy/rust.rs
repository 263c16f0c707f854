//! Rust sources as syntax trees, without their unit tests where those do not count.

use super::Finding;
use syn::spanned::Spanned;

/// Parses a file, or says where it fails.
pub fn parse(path: &str, text: &str) -> Result<syn::File, Finding> {
    syn::parse_file(text).map_err(|error| {
        let line = error.span().start().line;
        Finding::new(path, line, format!("cannot be parsed: {error}"))
    })
}

/// Whether an item exists in tests only.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    let cfg_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|ident| ident == "test")
    };
    attributes.iter().any(cfg_test)
}

/// The lines a node spans.
pub fn lines(node: &impl Spanned) -> (usize, usize) {
    (node.span().start().line, node.span().end().line)
}
