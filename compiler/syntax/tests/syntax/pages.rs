//! What `docs/` shows is true: pages of codes give their code, and the language's page reads.

use crate::{clean, read};
use std::collections::BTreeSet;
use std::path::PathBuf;

fn docs() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The blocks between ```` ```tg ```` and ```` ``` ````.
fn blocks(text: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match line {
            "```tg" => {
                inside = true;
                blocks.push(String::new());
            }
            "```" => inside = false,
            _ if inside => {
                let block = blocks.last_mut().unwrap();
                block.push_str(line);
                block.push('\n');
            }
            _ => {}
        }
    }
    blocks
}

#[test]
fn each_page_shows_its_error_and_a_text_without_it() {
    let mut seen = 0;
    for number in 1..=20 {
        let code = format!("TG{number:04}");
        let text = std::fs::read_to_string(docs().join(format!("errors/{code}.md"))).unwrap();
        assert!(text.starts_with(&format!("# {code}: ")), "{code}");
        if let [wrong, right] = blocks(&text).as_slice() {
            let (parsed, shown) = read(&code, wrong);
            let codes: Vec<&str> = parsed.errors.iter().map(|error| error.code).collect();
            assert_eq!(codes, [&*code], "{}", shown.join("\n"));
            clean(&code, right);
            seen += 1;
        }
    }
    // The page on too many errors has no example.
    assert_eq!(seen, 19);
}

#[test]
fn the_language_page_reads() {
    let text = std::fs::read_to_string(docs().join("language.md")).unwrap();
    let blocks = blocks(&text);
    assert!(blocks.len() >= 5, "{}", blocks.len());
    for (i, block) in blocks.iter().enumerate() {
        clean(&format!("language.md, block {i}"), block);
    }
}

/// The words between quotes in a grammar, in order.
fn quoted(grammar: &str) -> BTreeSet<&str> {
    grammar.lines().flat_map(|line| line.split('"').skip(1).step_by(2)).collect()
}

/// The names a grammar defines, as the page spells them: `MessageClause` is `message_clause`.
fn rules(grammar: &str, sign: &str) -> BTreeSet<String> {
    let lines = grammar.lines().filter(|line| line.starts_with(|c: char| c.is_alphabetic()));
    let names = lines.filter_map(|line| Some(line.split_once(sign)?.0.trim_start_matches("pub ").trim()));
    names.map(|name| name.chars().fold(String::new(), snake).trim_start_matches('_').to_owned()).collect()
}

fn snake(mut name: String, c: char) -> String {
    if c.is_uppercase() {
        name.push('_');
    }
    name.push(c.to_ascii_lowercase());
    name
}

#[test]
fn the_pages_grammar_has_the_terminals_and_rules_of_the_readers() {
    let page = std::fs::read_to_string(docs().join("language.md")).unwrap();
    let shown = page.split("```ebnf\n").nth(2).unwrap().split("```").next().unwrap();
    let source = include_str!("../../src/grammar.lalrpop");
    let (terminals, read) = source.split_once("// ── Items ──").unwrap();
    let read = read.split("// Zero or more").next().unwrap();
    let declared: BTreeSet<&str> = terminals
        .lines()
        .filter_map(|line| line.trim().split_once(" => Token::"))
        .map(|(name, _)| name.trim_matches('"'))
        .collect();
    let classes = BTreeSet::from(["ident", "int", "float", "hole"]);
    assert_eq!(quoted(shown), &declared - &classes);
    // Rules that the page writes out where they are used, and those that only the reader or the page needs.
    let inlined = ["item_kind", "generics", "message_result", "reduce", "type_name", "stmt", "typed", "at_most"];
    let inlined =
        inlined.iter().chain(&["compare", "add_op", "mul_op", "field_name", "else", "name_list", "name", "word"]);
    let inlined: BTreeSet<String> = inlined.map(|name| (*name).to_owned()).collect();
    let only_shown: BTreeSet<String> = ["module", "statement"].map(str::to_owned).into();
    assert_eq!(&rules(shown, " = ") - &only_shown, &rules(read, ": ") - &inlined);
}
