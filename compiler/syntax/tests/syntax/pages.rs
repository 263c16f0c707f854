//! What `docs/` shows is true: pages of codes give their code, and the language's page reads.

use crate::{clean, read};
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
