//! Random trees print and read back; random texts never panic, and what they report lies in them.

use crate::generator::Generator;
use crate::programs::corpus;
use crate::read;
use proptest::prelude::*;
use tiga_syntax::{MAX_DIAGNOSTICS, dump, print};

/// Reads any text and checks what holds for all.
fn survives(text: &str) {
    let (parsed, shown) = read("soup.tg", text);
    assert!(shown.len() <= MAX_DIAGNOSTICS + 1);
    for error in &parsed.errors {
        let (start, end) = (error.primary.span.start as usize, error.primary.span.end as usize);
        assert!(start <= end && text.get(start..end).is_some(), "{error:?}");
    }
    let broken = parsed.module.items.iter().any(|item| item.recovered);
    assert!(!broken || parsed.has_errors(), "an item was read in part, but nothing was said:\n{text}");
    // Whatever was made of it can be shown.
    print(&parsed.module);
    dump(&parsed.module);
    if !parsed.has_errors() {
        let (again, shown) = read("again.tg", &print(&parsed.module));
        assert!(shown.is_empty() && again.module.same(&parsed.module), "{text}\n{}", shown.join("\n"));
    }
}

const WORDS: [&str; 72] = [
    "message ",
    "program ",
    "fn ",
    "reducer ",
    "type ",
    "vjp ",
    "const ",
    "let ",
    "if ",
    "else ",
    "loop ",
    "while ",
    "for ",
    "in ",
    "true ",
    "false ",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ".",
    "=",
    "->",
    "@",
    "+",
    "-",
    "*",
    "/",
    "%",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "!",
    "edge ",
    "edges ",
    "reduce ",
    "node ",
    "state ",
    "lift ",
    "step ",
    "combine ",
    "finalize ",
    "empty ",
    "laws ",
    "adjoint ",
    "graph ",
    "set ",
    "at ",
    "most ",
    "wrt ",
    "with ",
    "value ",
    "x ",
    "f32 ",
    "0 ",
    "1.5 ",
    "99999999999999999999 ",
    "1x ",
    "\n",
    "/// doc\n",
    "//! doc\n",
    "µ",
];

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn printing_a_tree_and_reading_it_gives_the_tree(seed: u64) {
        let module = Generator::new(seed).module();
        let printed = print(&module);
        let (parsed, shown) = read("random.tg", &printed);
        prop_assert!(shown.is_empty(), "{}\n{printed}", shown.join("\n"));
        prop_assert!(parsed.module.same(&module), "{printed}\n{}\n{}", dump(&module), dump(&parsed.module));
        prop_assert_eq!(print(&parsed.module), printed);
    }

    #[test]
    fn characters_never_panic(text in "\\PC{0,200}") {
        survives(&text);
    }

    #[test]
    fn bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn words_never_panic(words in proptest::collection::vec(0..WORDS.len(), 0..120)) {
        survives(&words.iter().map(|word| WORDS[*word]).collect::<String>());
    }

    #[test]
    fn damaged_programs_never_panic(seed: u64) {
        let mut choices = Generator::new(seed);
        let (_, mut text) = choices.pick(&corpus()).clone();
        for _ in 0..=choices.below(4) {
            let boundary = |text: &str, at: usize| (0..=at).rev().find(|i| text.is_char_boundary(*i)).unwrap();
            let from = choices.below(text.len() + 1);
            let from = boundary(&text, from);
            let to = boundary(&text, (from + choices.below(9)).min(text.len())).max(from);
            let word = if choices.below(2) == 0 { "" } else { choices.pick::<&str>(&WORDS) };
            text.replace_range(from..to, word);
        }
        survives(&text);
    }
}
