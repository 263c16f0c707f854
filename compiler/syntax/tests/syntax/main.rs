//! Tests of the reader and the printer of `.tg` files.

#![allow(clippy::unwrap_used, reason = "tests")]

mod format;
mod generator;
mod grammar;
mod limits;
mod pages;
mod programs;
mod random;
mod recovery;

use tiga_source::Sources;
use tiga_syntax::{Parsed, parse};

/// Reads a text; the findings as a terminal shows them.
fn read(name: &str, text: &str) -> (Parsed, Vec<String>) {
    let mut sources = Sources::new();
    let file = sources.add(name, text.to_owned()).unwrap();
    let parsed = parse(file, text);
    let shown = parsed.errors.iter().map(|error| error.render(&sources, false)).collect();
    (parsed, shown)
}

/// Reads a text that has no findings.
fn clean(name: &str, text: &str) -> Parsed {
    let (parsed, shown) = read(name, text);
    assert!(shown.is_empty(), "{name}:\n{}\n{text}", shown.join("\n"));
    parsed
}
