//! Who calls whom: callees first, no recursion, and nothing inside a message that needs a whole graph.

use super::emit::Bodies;
use super::error::SemaError;
use super::hir::{Body, Callee, Inside};
use super::items::Table;
use std::collections::BTreeMap;
use tiga_source::{Diagnostic, Span};

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Done,
}

struct Walk<'a> {
    table: &'a Table<'a>,
    bodies: &'a Bodies,
    states: BTreeMap<(u8, usize), State>,
    programs: Vec<usize>,
    errors: &'a mut Vec<Diagnostic>,
}

/// The programs, callees first.
pub(super) fn check(table: &Table<'_>, bodies: &Bodies, errors: &mut Vec<Diagnostic>) -> Vec<usize> {
    let mut walk = Walk { table, bodies, states: BTreeMap::new(), programs: Vec::new(), errors };
    let all = (0..table.constants.len())
        .map(Callee::Constant)
        .chain((0..table.functions.len()).map(Callee::Function))
        .chain((0..table.programs.len()).map(Callee::Program));
    for callee in all {
        walk.visit(callee);
    }
    let programs = walk.programs;
    inside_messages(table, bodies, errors);
    programs
}

const fn key(callee: Callee) -> (u8, usize) {
    match callee {
        Callee::Constant(i) => (0, i),
        Callee::Function(i) => (1, i),
        Callee::Program(i) => (2, i),
    }
}

fn body(bodies: &Bodies, callee: Callee) -> Option<&Body> {
    match callee {
        Callee::Constant(i) => bodies.constants[i].as_ref(),
        Callee::Function(i) => bodies.functions[i].as_ref(),
        Callee::Program(i) => bodies.programs[i].as_ref(),
    }
}

impl Walk<'_> {
    /// Depth first without recursion: chains of calls may be as long as the file.
    fn visit(&mut self, root: Callee) {
        if self.states.contains_key(&key(root)) {
            return;
        }
        self.states.insert(key(root), State::Open);
        let mut stack: Vec<(Callee, usize)> = vec![(root, 0)];
        while let Some((callee, next)) = stack.pop() {
            let call = body(self.bodies, callee).and_then(|b| b.calls.get(next)).copied();
            let Some((target, span)) = call else {
                self.states.insert(key(callee), State::Done);
                if let Callee::Program(index) = callee {
                    self.programs.push(index);
                }
                continue;
            };
            stack.push((callee, next + 1));
            match self.states.get(&key(target)) {
                Some(State::Done) => {}
                Some(State::Open) => self.cycle(target, span),
                None => {
                    self.states.insert(key(target), State::Open);
                    stack.push((target, 0));
                }
            }
        }
    }

    fn cycle(&mut self, target: Callee, span: Span) {
        let error = match target {
            Callee::Constant(i) => SemaError::Cycle { name: self.table.constants[i].ast.name.text.clone() },
            Callee::Function(i) => SemaError::Recursion { name: self.table.functions[i].signature.name.clone() },
            Callee::Program(i) => SemaError::Recursion { name: self.table.programs[i].signature.name.clone() },
        };
        let declared = match target {
            Callee::Constant(i) => self.table.constants[i].ast.name.span,
            Callee::Function(i) => self.table.functions[i].signature.span,
            Callee::Program(i) => self.table.programs[i].signature.span,
        };
        let again = match target {
            Callee::Constant(_) => "which needs it again",
            _ => "which is part of itself",
        };
        let diagnostic = error.at(span).label(again).also(declared, "declared here");
        self.errors.push(match target {
            Callee::Constant(_) => diagnostic,
            _ => diagnostic.help("calls are written out; repeat with `loop`"),
        });
    }
}

/// A function that works on whole fields cannot be called by a message, however far away.
fn inside_messages(table: &Table<'_>, bodies: &Bodies, errors: &mut Vec<Diagnostic>) {
    for (item, message) in table.messages.iter().zip(&bodies.messages) {
        let Some(message) = message else { continue };
        let owner = Inside::Message(item.signature.name.clone());
        inside(&owner, &message.edge, bodies, errors);
    }
    for (item, reducer) in table.reducers.iter().zip(&bodies.reducers) {
        let Some(reducer) = reducer else { continue };
        let owner = Inside::Reducer(item.callable.signature.name.clone());
        for body in reducer.bodies() {
            inside(&owner, body, bodies, errors);
        }
        if let Some(adjoint) = &reducer.adjoint {
            let owner = Inside::Adjoint(item.callable.signature.name.clone());
            inside(&owner, adjoint, bodies, errors);
        }
    }
}

/// Reports the calls in a body of what its owner cannot hold.
fn inside(owner: &Inside, body: &Body, bodies: &Bodies, errors: &mut Vec<Diagnostic>) {
    for (callee, span) in &body.calls {
        if let Some((place, what)) = barred(bodies, *callee, owner) {
            let error = SemaError::Inside { what: what.to_owned(), owner: owner.to_string() };
            errors.push(error.at(*span).label("called here").also(place, "it stands here"));
        }
    }
}

/// The first thing in a callee, or in what it calls, that its owner cannot hold.
fn barred<'b>(bodies: &'b Bodies, callee: Callee, owner: &Inside) -> Option<(Span, &'b str)> {
    let mut seen = Vec::new();
    let mut stack = vec![callee];
    while let Some(callee) = stack.pop() {
        if seen.contains(&callee) {
            continue;
        }
        seen.push(callee);
        let Some(body) = body(bodies, callee) else { continue };
        let of_reducers = body.tensor_op.as_ref().filter(|_| matches!(owner, Inside::Reducer(_)));
        if let Some((span, what)) = body.whole_graph.as_ref().or(of_reducers) {
            return Some((*span, what));
        }
        stack.extend(body.calls.iter().rev().map(|(callee, _)| *callee));
    }
    None
}
