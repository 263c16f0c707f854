//! The parser: any text gives a tree and findings that can be shown; a tree without errors prints as itself.

use crate::{Memory, Repository, Target, Verdict};
use tiga_source::Sources;
use tiga_syntax::{dump, parse, print};

pub(crate) const TARGET: Target = Target {
    name: "syntax",
    run,
    seeds,
    words: WORDS,
    longest: 4096,
    memory: Memory { free: 16 << 20, by_byte: 8 << 10 },
};

/// The words of the language.
pub(crate) const WORDS: &[&str] = &[
    "message ",
    "reducer ",
    "fn ",
    "program ",
    "vjp ",
    "type ",
    "const ",
    "let ",
    "return ",
    "if ",
    "else ",
    "loop ",
    "while ",
    "repeat ",
    "for ",
    "in ",
    "wrt ",
    "node ",
    "edge ",
    "row ",
    "total ",
    "src.",
    "dst.",
    "graph<",
    "f32[",
    "f64",
    "i32",
    "i64",
    "bool",
    "f16",
    "bf16",
    "real",
    "->",
    "=>",
    "<-",
    "==",
    "!=",
    "<=",
    ">=",
    "&&",
    "||",
    "++",
    "..",
    "@",
    "{}",
    "()",
    "[]",
    "lift",
    "step",
    "combine",
    "finalize",
    "state",
    "sum(",
    "mean(",
    "max(",
    "softmax",
    "at_most",
    "transpose(",
    "//",
    "///",
    "//!",
    "/*",
    "*/",
    "true",
    "false",
    "1e-3",
    "0.5",
    "\"",
    "::",
    "|>",
];

/// The models of the repository.
pub(crate) fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    repository.files("tg", TARGET.longest)
}

fn run(bytes: &[u8]) -> Verdict {
    let mut sources = Sources::new();
    let file = sources.add("fuzzed.tg", String::from_utf8_lossy(bytes).into_owned()).expect("inputs are short");
    let parsed = parse(file, sources.file(file).text());
    for finding in &parsed.errors {
        finding.render(&sources, false);
    }
    dump(&parsed.module);
    if parsed.has_errors() {
        return Verdict::Refused;
    }
    let text = print(&parsed.module);
    let again = sources.add("printed.tg", text).expect("what is printed is short");
    let printed = parse(again, sources.file(again).text());
    assert!(!printed.has_errors(), "what was printed is no model:\n{}", sources.file(again).text());
    assert!(printed.module.same(&parsed.module), "another tree was printed:\n{}", sources.file(again).text());
    Verdict::Accepted
}
