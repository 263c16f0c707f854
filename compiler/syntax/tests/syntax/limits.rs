//! Hostile texts: deep, long, many; a diagnostic each, in bounded stack and time.

use crate::{clean, read};
use std::time::{Duration, Instant};
use tiga_syntax::{MAX_DEPTH, MAX_DIAGNOSTICS, dump, print};

fn body(expr: &str) -> String {
    format!("program p(a: f32) -> (y: f32) {{ {expr} }}\nfn after(x: f32) -> f32 {{ x }}\n")
}

/// The one code reported, with both items known by name and the second one whole.
#[track_caller]
fn refused(text: &str) -> &'static str {
    let start = Instant::now();
    let (parsed, shown) = read("deep.tg", text);
    let names: Vec<&str> = parsed.module.items.iter().map(|item| item.name().map_or("?", |name| &name.text)).collect();
    assert_eq!(names, ["p", "after"]);
    assert!(!parsed.module.items[1].recovered);
    assert_eq!(parsed.errors.len(), 1, "{}", &shown.join("\n")[..2000]);
    print(&parsed.module);
    dump(&parsed.module);
    assert!(start.elapsed() < Duration::from_secs(20));
    parsed.errors[0].code
}

const MANY: usize = 100_000;

#[test]
fn deep_nesting_is_refused() {
    let deep = |open: &str, close: &str| body(&format!("{}a{}", open.repeat(MANY), close.repeat(MANY)));
    for (open, close) in [("(", ")"), ("[", "]"), ("{x: ", "}"), ("f(", ")"), ("a[", "]"), ("-", ""), ("! ", "")] {
        assert_eq!(refused(&deep(open, close)), "TG0009", "{open}");
    }
    assert_eq!(refused(&deep("if a { ", " } else { a }")), "TG0009");
    assert_eq!(refused(&deep("if a { a } else ", "")), "TG0009");
    assert_eq!(refused(&deep("loop (x = a) for i < 3 { x } in ", "")), "TG0009");
    assert_eq!(refused(&body(&"(".repeat(MANY))), "TG0009");
    let types = format!("fn p(a: {}f32{}) -> f32 {{ a }}\n", "{x: ".repeat(MANY), "}".repeat(MANY));
    assert_eq!(refused(&(types + "fn after(x: f32) -> f32 { x }")), "TG0009");
}

#[test]
fn long_chains_are_refused() {
    for link in [" + a", " * a", " @ a", " && a", ".x", "(a)", "[a]", ".0"] {
        assert_eq!(refused(&body(&format!("a{}", link.repeat(MANY)))), "TG0009", "{link}");
    }
}

#[test]
fn what_the_limit_allows_is_read_printed_and_dropped() {
    // The brackets of the head and the block's brace count too.
    let levels = MAX_DEPTH - 3;
    let texts = [
        format!("{}a{}", "(".repeat(levels), ")".repeat(levels)),
        format!("{}a{}", "[".repeat(levels), "]".repeat(levels)),
        format!("a{}", " + a".repeat(levels)),
        format!("{}a", "-".repeat(levels)),
    ];
    for text in texts {
        let parsed = clean("edge.tg", &body(&text));
        assert!(clean("again.tg", &print(&parsed.module)).module.same(&parsed.module));
        assert!(!dump(&parsed.module).is_empty());
    }
}

#[test]
fn long_lists_are_no_trouble() {
    let statements: String = (0..MANY).map(|i| format!("let x{i} = a + {i};\n")).collect();
    assert_eq!(clean("long.tg", &body(&(statements + "a"))).module.items.len(), 2);
    clean("long.tg", &body(&format!("f({})", "a, ".repeat(MANY))));
    let items: String = (0..2000).map(|i| format!("fn f{i}(x: f32) -> f32 {{ x }}\n")).collect();
    assert_eq!(clean("long.tg", &items).module.items.len(), 2000);
}

#[test]
fn floods_of_errors_are_cut_and_take_bounded_time() {
    let floods = [
        "fn ".repeat(MANY),
        "fn f(".repeat(MANY),
        "}".repeat(MANY),
        "µ ".repeat(MANY),
        "1x ".repeat(MANY),
        "fn f(x: f32) -> f32 { ".to_owned() + &"let a b;\n".repeat(10_000) + "x }",
        "fn f(x: f32) -> f32 { f(".to_owned() + &"a b, ".repeat(10_000) + ") }",
        "fn f(x: f32) -> f32 { ".to_owned() + &"(".repeat(200) + &"a ".repeat(MANY) + &"]".repeat(MANY),
        "/// doc\n".repeat(MANY),
        "//! doc\n;".repeat(MANY),
        "x".repeat(1_000_000),
        "fn f(x: f32) -> f32 { x } ".to_owned() + &"y".repeat(1_000_000),
        "9".repeat(1_000_000),
    ];
    for flood in floods {
        let start = Instant::now();
        let mut sources = tiga_source::Sources::new();
        let file = sources.add("flood.tg", flood.clone()).unwrap();
        let parsed = tiga_syntax::parse(file, &flood);
        let head: String = flood.chars().take(40).collect();
        assert!(!parsed.errors.is_empty() && parsed.errors.len() <= MAX_DIAGNOSTICS + 1, "{head}");
        assert!(parsed.errors.iter().all(|error| error.message.len() < 400), "{head}");
        assert!(start.elapsed() < Duration::from_secs(20), "{head}: {:?}", start.elapsed());
    }
}

#[test]
fn an_empty_text_is_an_empty_module() {
    for text in ["", "\n\n", "// nothing\n", "//! only docs"] {
        assert!(clean("empty.tg", text).module.items.is_empty());
    }
}
