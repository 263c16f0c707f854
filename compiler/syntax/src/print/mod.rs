//! Trees as source text, in one canonical layout; with the text that a tree was read from, its comments too.

mod expr;
mod item;
mod layout;
mod source;
mod types;

use crate::ast::{Annotation, Docs, Expr, Module, Name, Pattern, Type};
use crate::token::{CommentKind, lex};
use layout::{Break, Piece, Width, lines};
use source::{Remark, Source};
use tiga_source::FileId;

/// Lists and blocks longer than this are broken over lines.
const WIDTH: usize = 100;

/// Writes a tree as source: reading it gives the same tree, if no syntax error left a hole in it (a hole is written
/// `?`, which does not read). Comments that are not doc comments are not in the tree and so not written.
pub fn print(module: &Module) -> String {
    let mut printer = Printer::default();
    printer.module(module);
    printer.text(Width::Most(WIDTH))
}

/// Writes a tree as [`print`] does, with all comments of the text that it was read from without an error: each between
/// the same tokens as there, but for commas and semicolons, which go before it.
pub(crate) fn print_with_comments(module: &Module, file: FileId, text: &str) -> String {
    let mut printer = Printer { source: Some(Source::new(text, lex(file, text))), ..Printer::default() };
    printer.module(module);
    printer.text(Width::Most(WIDTH))
}

/// A type on one line (more, where its fields have doc comments).
pub(crate) fn type_text(ty: &Type) -> String {
    one_line(|printer| printer.ty(ty))
}

/// Annotations on one line, each with a space after it.
pub(crate) fn annotation_text(annotations: &[Annotation]) -> String {
    let text = one_line(|printer| printer.placement(annotations));
    if text.is_empty() { text } else { text + " " }
}

/// The left side of a `let` on one line.
pub(crate) fn pattern_text(pattern: &Pattern) -> String {
    one_line(|printer| printer.pattern(pattern))
}

/// An expression on one line.
pub(crate) fn expr_text(expr: &Expr) -> String {
    one_line(|printer| printer.expr(expr))
}

fn one_line(write: impl FnOnce(&mut Printer<'_>)) -> String {
    let mut printer = Printer::default();
    write(&mut printer);
    lines(&printer.pieces, Width::OneLine)
}

/// Where comments stand, which says what becomes of the empty lines around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Within something: none are kept.
    Inside,
    /// Before the first of several: those after a comment are kept.
    First,
    /// Between two: all are kept.
    Next,
    /// After the last: those before a comment are kept.
    Last,
    /// Between two items that have an empty line between them even if none was written.
    Apart,
}

/// What is printed so far.
#[derive(Default)]
struct Printer<'s> {
    pieces: Vec<Piece>,
    /// What the tree was read from; without it, doc comments are taken from the tree.
    source: Option<Source<'s>>,
}

impl Printer<'_> {
    fn text(self, width: Width) -> String {
        let mut text = lines(&self.pieces, width);
        if !text.is_empty() {
            text.push('\n');
        }
        text
    }

    fn space(&mut self) {
        self.pieces.push(Piece::Space);
    }

    fn line(&mut self, line: Break) {
        self.pieces.push(Piece::Line(line));
    }

    fn indent(&mut self) {
        self.pieces.push(Piece::Indent);
    }

    fn dedent(&mut self) {
        self.pieces.push(Piece::Dedent);
    }

    /// Begins a group; a comment before it does not break its lines.
    fn open(&mut self) {
        self.gap(Place::Inside);
        self.pieces.push(Piece::Open);
    }

    fn close(&mut self) {
        self.pieces.push(Piece::Close);
    }

    /// A token, after the comments before it; as it was written, if it was.
    fn token(&mut self, text: &str) {
        self.gap(Place::Inside);
        let written = self.source.as_mut().and_then(Source::take);
        self.pieces.push(Piece::Text(written.unwrap_or(text).to_owned()));
    }

    /// A token that the source lacks.
    fn insert(&mut self, text: &str) {
        self.pieces.push(Piece::Text(text.to_owned()));
    }

    /// A comma or semicolon. It stays with what it follows: comments before it come after it.
    fn mark(&mut self, text: &str) {
        if self.source.as_ref().is_some_and(Source::docs_ahead) {
            return self.token(text);
        }
        self.skip();
        self.insert(text);
    }

    /// Leaves out a token.
    fn skip(&mut self) {
        if let Some(source) = &mut self.source {
            source.skip();
        }
    }

    /// Whether the next token of the source is this.
    fn at(&self, text: &str) -> bool {
        self.source.as_ref().is_some_and(|source| source.spelling() == Some(text))
    }

    /// The comments before the next token, unless they are printed already.
    fn gap(&mut self, place: Place) {
        let Some(source) = &mut self.source else { return };
        let (mut remarks, mut blank) = source.comments();
        if place == Place::Apart && !blank && !remarks.iter().any(|remark| remark.blank) {
            let own_line = remarks.iter_mut().find(|remark| !remark.trailing);
            own_line.map_or_else(|| blank = true, |remark| remark.blank = true);
        }
        // What documents the file stands apart from what documents the first item.
        let is_module = |remark: &Remark| remark.kind == CommentKind::Module;
        for at in 1..remarks.len() {
            remarks[at].blank |= is_module(&remarks[at - 1]) && !is_module(&remarks[at]);
        }
        blank |= remarks.last().is_some_and(is_module);
        let commented = !remarks.is_empty();
        for (at, Remark { text, trailing, blank, .. }) in remarks.into_iter().enumerate() {
            let blank = blank && (at > 0 || !matches!(place, Place::Inside | Place::First));
            self.pieces.push(Piece::Comment { text, trailing, blank });
        }
        if blank && (matches!(place, Place::Next | Place::Apart) || place == Place::First && commented) {
            self.pieces.push(Piece::Blank);
        }
    }

    fn name(&mut self, name: &Name) {
        self.token(&name.text);
    }

    /// Doc comments of a tree without a source; those of a source stand in it.
    fn docs(&mut self, docs: &Docs, slashes: &str) {
        if self.source.is_some() {
            return;
        }
        for line in docs {
            let text = if line.is_empty() { slashes.to_owned() } else { format!("{slashes} {line}") };
            self.pieces.push(Piece::Comment { text, trailing: false, blank: false });
        }
    }

    /// `(a, b)` on one line, or one element a line.
    fn list<T>(&mut self, brackets: [&str; 2], items: &[T], each: impl FnMut(&mut Self, &T)) {
        self.open();
        self.open_list(brackets, Break::Soft, items, each);
        self.close();
    }

    /// A list whose lines are those of the group around it; `edge` stands behind its first bracket and before its last.
    fn open_list<T>(
        &mut self,
        [open, close]: [&str; 2],
        edge: Break,
        items: &[T],
        mut each: impl FnMut(&mut Self, &T),
    ) {
        self.token(open);
        if items.is_empty() && !self.source.as_ref().is_some_and(Source::comments_ahead) {
            return self.token(close);
        }
        self.indent();
        self.line(edge);
        self.gap(Place::First);
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.mark(",");
                self.line(Break::Space);
                self.gap(Place::Next);
            }
            each(self, item);
        }
        if !items.is_empty() {
            self.last_comma();
        }
        self.dedent();
        self.line(edge);
        self.token(close);
    }

    /// The comma after the last element: there if the list is broken, whether or not it was written.
    fn last_comma(&mut self) {
        if self.at(",") && self.source.as_ref().is_some_and(Source::docs_ahead) {
            self.token(",");
        } else {
            if self.at(",") {
                self.skip();
            }
            self.pieces.push(Piece::Comma);
        }
        self.gap(Place::Last);
    }
}
