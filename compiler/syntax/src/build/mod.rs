//! From what the grammar matched to tree nodes: places, doc comments, numbers.

mod expr;
mod item;

pub(crate) use item::{MessageClause, ReducerClause};

use crate::ast::{Annotation, Docs, Expr, Name, Param, Type, TypeKind};
use crate::error::SyntaxError;
use std::collections::{BTreeMap, BTreeSet};
use tiga_source::{Diagnostic, FileId, Span};

/// Doc comments by where the token after them starts.
pub(crate) type DocTable = BTreeMap<usize, Vec<(Span, String)>>;

/// What the grammar's actions write through, for one attempt at one item.
pub(crate) struct Builder<'d> {
    file: FileId,
    docs: &'d DocTable,
    /// Which entries of the table found their node.
    pub attached: BTreeSet<usize>,
    /// Errors that leave the tree whole.
    pub errors: Vec<Diagnostic>,
}

impl<'d> Builder<'d> {
    pub fn new(file: FileId, docs: &'d DocTable) -> Self {
        Self { file, docs, attached: BTreeSet::new(), errors: Vec::new() }
    }

    pub fn span(&self, l: usize, r: usize) -> Span {
        Span::new(self.file, l, r)
    }

    pub fn cons<T>(first: T, mut rest: Vec<T>) -> Vec<T> {
        rest.insert(0, first);
        rest
    }

    pub fn name(&self, l: usize, text: &str, r: usize) -> Name {
        Name { span: self.span(l, r), text: text.to_owned() }
    }

    pub fn ty(&self, l: usize, kind: TypeKind, r: usize) -> Type {
        Type { span: self.span(l, r), kind }
    }

    pub fn param(&mut self, l: usize, placement: Vec<Annotation>, name: Name, ty: Type) -> Param {
        let span = self.span(l, ty.span.end as usize);
        Param { span, docs: self.take_docs(l), placement, name, ty }
    }

    pub fn annotation(&self, l: usize, name: Name, args: Vec<Expr>, r: usize) -> Annotation {
        Annotation { span: self.span(l, r), name, args }
    }

    /// The doc comment before the token at `l`.
    fn take_docs(&mut self, l: usize) -> Docs {
        let Some(lines) = self.docs.get(&l) else { return Docs::new() };
        self.attached.insert(l);
        lines.iter().map(|(_, line)| line.clone()).collect()
    }

    fn report(&mut self, error: SyntaxError, span: Span) {
        self.errors.push(error.at(span));
    }
}
