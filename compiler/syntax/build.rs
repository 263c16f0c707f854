//! Generates the parser from `src/grammar.lalrpop`.

fn main() {
    lalrpop::Configuration::new()
        .emit_rerun_directives(true)
        .process_dir("src")
        .expect("the committed grammar is LR(1)");
}
