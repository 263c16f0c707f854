//! The formatter on random programs that are badly printed: it keeps the tree and the comments, and what it wrote.

use crate::generator::Generator;
use crate::grammar::{Derived, Grammar, Position};
use crate::programs::corpus;
use crate::read;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tiga_source::FileId;
use tiga_syntax::{CommentKind, FormatError, Parsed, format, parse, print};

const PROGRAMS: u64 = 2_000;

/// How comments stand before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stand {
    Trailing,
    OwnLine,
    Doc,
}

const STANDS: [Stand; 3] = [Stand::Trailing, Stand::OwnLine, Stand::Doc];

type Commented = BTreeSet<(Position, Stand)>;

/// Comments between tokens, and where they were put.
struct Scribbler {
    choices: Generator,
    commented: Commented,
    comments: usize,
}

impl Scribbler {
    fn comment(&mut self, slashes: &str) -> String {
        self.comments += 1;
        let text = *self.choices.pick(&["", " note", " a (b", " }", "//// more", " µ\t;"]);
        // Another slash makes another comment.
        let text = text.trim_start_matches(if slashes == "///" { '/' } else { '!' });
        format!("{slashes}{text} {}", self.comments)
    }

    /// Anything that may stand before a token without changing it.
    fn space(&mut self, before: &str, next: &Derived, often: usize) -> String {
        let apart = |text: &str| text.chars().all(|c| "()[]{},;".contains(c));
        let mut space = String::new();
        // A slash would make a comment of another comment.
        let needed = !apart(before) && !apart(&next.text) || before == "/";
        let is_new = |commented: &Commented, stand| !commented.contains(&(next.position.clone(), stand));
        let new = STANDS.into_iter().find(|stand| often > 0 && is_new(&self.commented, *stand));
        if new == Some(Stand::Trailing) {
            space.push(' ');
        } else if before.is_empty() || needed || self.choices.below(2) == 0 {
            space.push_str(self.choices.pick::<&str>(&[" ", " ", "\n", "\n\n\n\n", "\t ", " \r\n"]));
        }
        for n in 0..3 {
            let mut stand = new.filter(|_| n == 0).unwrap_or(*self.choices.pick(&STANDS));
            if stand == Stand::Trailing && (before.is_empty() || space.contains('\n')) {
                stand = Stand::OwnLine;
            }
            let wanted = often > 0 && is_new(&self.commented, stand);
            if !wanted && self.choices.below(100) >= often {
                break;
            }
            self.commented.insert((next.position.clone(), stand));
            if stand == Stand::OwnLine {
                space.push_str(self.choices.pick::<&str>(&["\n", "\n \n", "\n\n\n"]));
            }
            let slashes = match stand {
                Stand::Doc => *self.choices.pick(&["///", "///", "///", "//!"]),
                Stand::Trailing | Stand::OwnLine => "//",
            };
            space.push_str(&self.comment(slashes));
            space.push_str(self.choices.pick::<&str>(&["\n", "\n\n", "  \n\t", "\r\n"]));
        }
        space
    }

    fn program(&mut self, grammar: &mut Grammar, often: usize) -> String {
        let mut text = String::new();
        for _ in 0..self.choices.below(3) {
            text.push_str(self.choices.pick::<&str>(&[
                "//! about the file\n",
                "\n\n//! more\n",
                "// licence\n",
                "//!\n",
            ]));
        }
        let mut before = String::new();
        for _ in 0..1 + self.choices.below(3) {
            for token in grammar.item(&mut self.choices) {
                text.push_str(&self.space(&before, &token, often));
                text.push_str(&token.text);
                before = token.text;
            }
        }
        text.push_str(self.choices.pick::<&str>(&["", "\n", "\n\n\n", " // end", "\n// end\n\n// of all"]));
        text
    }
}

fn comments(parsed: &Parsed) -> Vec<(CommentKind, &str)> {
    parsed.comments.iter().map(|comment| (comment.kind, comment.text.as_str())).collect()
}

#[track_caller]
fn formatted(name: &str, text: &str) -> String {
    let (first, shown) = read(name, text);
    assert!(!first.has_errors(), "{name}:\n{}\n{text}", shown.join("\n"));
    let once = match format(FileId(0), text) {
        Ok(once) => once,
        Err(error) => panic!("{name}: {error}\n{text}\n----\n{}", print(&first.module)),
    };
    let second = parse(FileId(0), &once);
    assert!(!second.has_errors() && second.module.same(&first.module), "{name}: another tree\n{text}\n----\n{once}");
    assert_eq!(comments(&first), comments(&second), "{name}: other comments\n{text}\n----\n{once}");
    let twice = format(FileId(0), &once).unwrap();
    assert_eq!(once, twice, "{name}: not idempotent\n{text}\n----\n{once}\n----\n{twice}");
    assert!(!once.contains("\n\n\n") && !once.starts_with('\n') && !once.ends_with("\n\n"), "{name}: {once}");
    assert!(once.is_empty() || once.ends_with('\n'));
    for line in once.lines() {
        assert!(line.trim_end() == line, "{name}: spaces at the end\n{once}");
    }
    once
}

#[test]
fn badly_printed_programs_keep_tree_and_comments() {
    let mut grammar = Grammar::read();
    let mut scribbler = Scribbler { choices: Generator::new(20), commented: Commented::new(), comments: 0 };
    for n in 0..PROGRAMS {
        let often = [0, 4, 20][n as usize % 3];
        let text = scribbler.program(&mut grammar, often);
        formatted(&format!("program {n}"), &text);
    }
    let missed: Vec<_> = grammar.taken.iter().filter(|(_, count)| **count == 0).map(|(cell, _)| cell).collect();
    assert!(missed.is_empty(), "productions that no program has: {missed:?}");
    assert!(grammar.taken.len() > 150, "{}", grammar.taken.len());
    let cells = grammar.positions().into_iter().flat_map(|position| STANDS.map(|stand| (position.clone(), stand)));
    let missed: Vec<_> = cells.filter(|cell| !scribbler.commented.contains(cell)).collect();
    assert!(missed.is_empty(), "terminals that no comment stands before: {missed:?}");
}

#[test]
fn the_corpus_keeps_tree_and_comments() {
    for (path, text) in corpus() {
        formatted(&path.display().to_string(), &text);
    }
}

/// All models below a folder.
fn models(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            models(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "tg") {
            found.push(path);
        }
    }
}

#[test]
fn models_of_the_repository_keep_tree_and_comments() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    models(&root.join("examples"), &mut found);
    models(&root.join("testsuite"), &mut found);
    assert!(found.len() >= 25, "{}", found.len());
    for path in found {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(&path).unwrap();
        if !read(&name, &text).0.has_errors() {
            formatted(&name, &text);
        }
    }
}

/// The comma behind the last element of a broken list is counted too.
#[test]
fn lines_are_no_longer_than_can_be() {
    for length in 1..=87 {
        let (a, b) = ("a".repeat(87), "b".repeat(length));
        let once = formatted("call", &format!("program p(x: f32) -> (y: f32) {{ max({a}, min(x, {b})) }}"));
        let longest = once.lines().map(str::len).max();
        assert!(longest <= Some(100), "a line of {longest:?}\n{once}");
        let whole = format!("        min(x, {b}),\n");
        assert_eq!(once.contains(&whole), whole.len() <= 101, "{once}");
    }
}

/// Items of one line may follow each other; one that is documented stands apart.
#[test]
fn documented_items_stand_apart() {
    let text = "const a: f32 = 1\n/// of b\nconst b: f32 = 2\nconst c: f32 = 3\ntype d = f32\n";
    let expected = "const a: f32 = 1\n\n/// of b\nconst b: f32 = 2\n\nconst c: f32 = 3\ntype d = f32\n";
    assert_eq!(formatted("items", text), expected);
}

#[test]
fn what_does_not_read_is_not_formatted() {
    assert!(matches!(format(FileId(0), "fn f( -> f32 { 1 }"), Err(FormatError::Syntax(errors)) if !errors.is_empty()));
}
