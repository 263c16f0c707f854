//! Builders of items; clauses may come in any order, each at most once.

use super::Builder;
use crate::ast::{
    Adjoint, Block, Clause, Expr, ExprKind, Function, Generic, GenericKind, Item, ItemKind, Message, MessageResult,
    Name, Param, Program, Reduce, Reducer, ReducerRef, StateField, Type,
};
use crate::error::{SyntaxError, clip};
use tiga_source::Span;

/// Name, generics and parameters, as every callable item begins.
type Head = (Name, Vec<Generic>, Vec<Param>);

/// A clause of a message; the spans are those of the keywords.
pub(crate) enum MessageClause {
    Edge(Span, Block),
    Reduce(Span, Reduce),
    Node(Clause),
    Hole,
}

/// A clause of a reducer; the spans are those of the keywords.
pub(crate) enum ReducerClause {
    State(Span, Vec<StateField>),
    Lift(Span, Block),
    Step(Clause),
    Combine(Clause),
    Finalize(Clause),
    Empty(Span, Expr),
    Laws(Span, Vec<Name>),
    Adjoint(Adjoint),
    Hole,
}

impl Builder<'_> {
    pub fn item(&mut self, l: usize, kind: ItemKind, r: usize) -> Item {
        Item { span: self.span(l, r), docs: self.take_docs(l), recovered: false, kind }
    }

    pub fn generic(&self, l: usize, kind: GenericKind, name: Name) -> Generic {
        Generic { span: self.span(l, name.span.end as usize), kind, name }
    }

    pub fn function(&self, (name, generics, params): Head, result: Type, body: Block) -> ItemKind {
        ItemKind::Function(Function { name, generics, params, result, body })
    }

    pub fn program(&self, (name, generics, params): Head, results: Vec<Param>, body: Block) -> ItemKind {
        ItemKind::Program(Program { name, generics, params, results, body })
    }

    pub fn clause(&self, l: usize, names: Vec<Name>, body: Block) -> Clause {
        Clause { span: self.span(l, body.span.end as usize), names, body }
    }

    pub fn adjoint(&self, l: usize, names: Vec<Name>, wrt: Vec<Name>, body: Block) -> Adjoint {
        Adjoint { span: self.span(l, body.span.end as usize), names, wrt, body }
    }

    pub fn state_field(&mut self, l: usize, name: Name, ty: Type, init: Expr) -> StateField {
        let span = self.span(l, init.span.end as usize);
        StateField { span, docs: self.take_docs(l), name, ty, init }
    }

    pub fn reducer_ref(&self, name: Name, args: Vec<Expr>, r: usize) -> ReducerRef {
        ReducerRef { span: self.span(name.span.start as usize, r), name, args }
    }

    pub fn message(&mut self, head: Head, result: MessageResult, clauses: Vec<MessageClause>) -> ItemKind {
        let (name, generics, params) = head;
        let (mut edge, mut reduce, mut node, mut whole) = (None, None, None, true);
        for clause in clauses {
            match clause {
                MessageClause::Edge(at, body) => self.once(&mut edge, "edge", at, body),
                MessageClause::Reduce(at, what) => self.once(&mut reduce, "reduce", at, what),
                MessageClause::Node(clause) => self.once(&mut node, "node", clause.span, clause),
                MessageClause::Hole => whole = false,
            }
        }
        let edge = edge.map_or_else(
            || {
                if whole {
                    self.report(SyntaxError::MissingEdge { message: clip(&name.text) }, name.span);
                }
                let value = Expr { span: name.span, kind: ExprKind::Error };
                Block { span: name.span, statements: Vec::new(), value: Box::new(value) }
            },
            |(_, body)| body,
        );
        let (reduce, node) = (reduce.map(|(_, reduce)| reduce), node.map(|(_, node)| node));
        ItemKind::Message(Message { name, generics, params, result, edge, reduce, node })
    }

    pub fn reducer(&mut self, head: Head, result: Type, clauses: Vec<ReducerClause>) -> ItemKind {
        let (name, generics, params) = head;
        let (mut state, mut lift, mut step, mut combine) = (None, None, None, None);
        let (mut finalize, mut empty, mut laws, mut adjoint) = (None, None, None, None);
        for clause in clauses {
            match clause {
                ReducerClause::State(at, fields) => self.once(&mut state, "state", at, fields),
                ReducerClause::Lift(at, body) => self.once(&mut lift, "lift", at, body),
                ReducerClause::Step(clause) => self.once(&mut step, "step", clause.span, clause),
                ReducerClause::Combine(clause) => self.once(&mut combine, "combine", clause.span, clause),
                ReducerClause::Finalize(clause) => self.once(&mut finalize, "finalize", clause.span, clause),
                ReducerClause::Empty(at, value) => self.once(&mut empty, "empty", at, value),
                ReducerClause::Laws(at, names) => self.once(&mut laws, "laws", at, names),
                ReducerClause::Adjoint(clause) => self.once(&mut adjoint, "adjoint", clause.span, clause),
                ReducerClause::Hole => {}
            }
        }
        ItemKind::Reducer(Box::new(Reducer {
            name,
            generics,
            params,
            result,
            state: state.map(|(_, fields)| fields).unwrap_or_default(),
            lift: lift.map(|(_, body)| body),
            step: step.map(|(_, clause)| clause),
            combine: combine.map(|(_, clause)| clause),
            finalize: finalize.map(|(_, clause)| clause),
            empty: empty.map(|(_, value)| value),
            laws: laws.map(|(_, names)| names).unwrap_or_default(),
            adjoint: adjoint.map(|(_, clause)| clause),
        }))
    }

    /// Keeps the first of a clause; a second one is an error.
    fn once<T>(&mut self, slot: &mut Option<(Span, T)>, clause: &'static str, at: Span, value: T) {
        match slot {
            None => *slot = Some((at, value)),
            Some((first, _)) => {
                let error = SyntaxError::DuplicateClause { clause };
                self.errors.push(error.at(at).label("given again here").also(*first, "first given here"));
            }
        }
    }
}
