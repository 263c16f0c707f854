//! Trees as source text, in one canonical layout.

mod expr;
mod item;
mod types;

use crate::ast::{Annotation, Docs, Expr, Module, Name, Pattern, Type};

/// Lists and blocks longer than this are broken over lines.
const WIDTH: usize = 100;

/// Writes a tree as source: reading it gives the same tree, if no syntax error left a hole in it (a hole is written
/// `?`, which does not read). Comments that are not doc comments are not in the tree and so not written.
pub fn print(module: &Module) -> String {
    let mut printer = Printer::default();
    printer.module(module);
    printer.out
}

/// A type on one line (more, where its fields have doc comments).
pub(crate) fn type_text(ty: &Type) -> String {
    one_line(|printer| printer.ty(ty))
}

/// Annotations on one line, each with a space after it.
pub(crate) fn annotation_text(annotations: &[Annotation]) -> String {
    one_line(|printer| printer.placement(annotations))
}

/// The left side of a `let` on one line.
pub(crate) fn pattern_text(pattern: &Pattern) -> String {
    one_line(|printer| printer.pattern(pattern))
}

/// An expression on one line.
pub(crate) fn expr_text(expr: &Expr) -> String {
    one_line(|printer| printer.expr(expr))
}

fn one_line(write: impl FnOnce(&mut Printer)) -> String {
    let mut printer = Printer { flat: true, ..Printer::default() };
    write(&mut printer);
    printer.out
}

/// Text under construction.
#[derive(Default)]
struct Printer {
    out: String,
    indent: usize,
    /// Breaks lines only where a doc comment forces it.
    flat: bool,
}

impl Printer {
    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn line(&mut self) {
        self.out.push('\n');
        self.out.extend(std::iter::repeat_n("    ", self.indent));
    }

    fn column(&self) -> usize {
        self.out.len() - self.out.rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// What `write` writes here if it breaks no line and leaves `room` on this one.
    fn fits(&self, room: usize, write: impl FnOnce(&mut Printer)) -> Option<String> {
        let mut trial = Printer { indent: self.indent, flat: true, ..Printer::default() };
        write(&mut trial);
        let text = trial.out;
        let short = self.flat || self.column() + text.len() + room <= WIDTH;
        (short && !text.contains('\n')).then_some(text)
    }

    fn name(&mut self, name: &Name) {
        self.put(&name.text);
    }

    fn docs(&mut self, docs: &Docs) {
        for text in docs {
            self.put(if text.is_empty() { "///" } else { "/// " });
            self.put(text);
            self.line();
        }
    }

    /// `a, b`
    fn separated<T>(&mut self, items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.put(", ");
            }
            each(self, item);
        }
    }

    /// `(a, b)` on one line, or one element a line.
    fn list<T>(&mut self, [open, close]: [&str; 2], items: &[T], mut each: impl FnMut(&mut Self, &T)) {
        self.put(open);
        let trial = self.fits(close.len() + 2, |printer| printer.separated(items, &mut each));
        match trial {
            Some(text) => self.put(&text),
            None => {
                self.indent += 1;
                for item in items {
                    self.line();
                    each(self, item);
                    self.put(",");
                }
                self.indent -= 1;
                self.line();
            }
        }
        self.put(close);
    }
}
