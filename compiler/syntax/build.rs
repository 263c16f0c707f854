//! Generates the parser from `src/grammar.lalrpop`.

fn main() {}
