//! Reducers declared in a file: their clauses, and how a message meets them.

use super::super::error::SemaError;
use super::super::hir::{Body, Entity, Expr, Kind};
use super::super::items::{Reducer, Table};
use super::super::ty::{Substitution, Tensor, Ty};
use super::{Checker, Inside, count};
use tiga_abi::Poly;
use tiga_ir::Laws;
use tiga_source::{Diagnostic, Span, nearest};
use tiga_syntax::ast;

/// The code of a reducer. The locals of each clause are its parameters first.
#[derive(Clone, Debug)]
pub(crate) struct ReducerBody {
    /// What each part of the state starts as.
    pub(crate) init: Vec<Body>,
    /// From a message's values to a state.
    pub(crate) lift: Option<Body>,
    /// From a state and a message's values to the next state.
    pub(crate) step: Option<Body>,
    /// From two states to one.
    pub(crate) combine: Body,
    /// From a state to the result.
    pub(crate) finalize: Body,
    /// The result of a row without messages, one number for each value.
    pub(crate) empty: Body,
    /// From a message, the final state, the result and its cotangent to the cotangents of the message's values.
    pub(crate) adjoint: Option<Body>,
    pub(crate) laws: Laws,
}

impl ReducerBody {
    /// The positions that `lift` or `step` ask for, sorted: further values of a message.
    pub(crate) fn positions(&self) -> Vec<Entity> {
        let all: Vec<Entity> = self.lift.iter().chain(&self.step).flat_map(|body| body.positions.clone()).collect();
        Entity::ALL.into_iter().filter(|entity| all.contains(entity)).collect()
    }

    /// The code that runs on states: all but the adjoint.
    pub(crate) fn bodies(&self) -> impl Iterator<Item = &Body> {
        let last = [&self.combine, &self.finalize, &self.empty];
        self.init.iter().chain(&self.lift).chain(&self.step).chain(last)
    }
}

/// What a message needs to know of a reducer that it uses.
pub(super) struct Use<'a> {
    pub(super) name: &'a str,
    pub(super) params: &'a [Ty],
    pub(super) result: &'a Ty,
    /// Where it is declared, if that is in a file of the user's.
    pub(super) declared: Option<Span>,
}

/// One clause being checked: names with their types, and what its value must be.
struct Clause<'c> {
    names: Vec<(&'c str, Ty, Span)>,
    want: &'c Ty,
    /// Where that is declared: for each part of the state, or for the result.
    declared: &'c [Span],
    /// Whose positions it sees.
    sees: &'static [Entity],
}

impl<'a> Checker<'a> {
    /// The clauses of a reducer; `None` if one is missing or its head is wrong, which is reported.
    pub(crate) fn reducer(
        table: &'a Table<'a>,
        reducer: &'a Reducer<'a>,
        errors: &mut Vec<Diagnostic>,
    ) -> Option<ReducerBody> {
        let (ast, signature) = (reducer.callable.ast, &reducer.callable.signature);
        let state = Ty::Record(reducer.state.iter().map(|p| (p.name.clone(), p.ty.clone())).collect());
        let laws = laws(ast, errors);
        if !whole(reducer, errors) {
            return None;
        }
        let (combine, finalize, empty) = (ast.combine.as_ref()?, ast.finalize.as_ref()?, ast.empty.as_ref()?);
        let of_state: Vec<Span> = reducer.state.iter().map(|p| p.span).collect();
        let of_result = [ast.result.span];
        let message = || signature.params.iter().map(|p| (&*p.name, p.ty.clone(), p.span)).collect::<Vec<_>>();
        let adjoint = ast.adjoint.as_ref().and_then(|adjoint| Self::adjoint(table, reducer, adjoint, &state, errors));
        let mut check = |sees, names, want, declared, block: &ast::Block| {
            Self::clause(table, reducer, Clause { names, want, declared, sees }, block, errors)
        };
        let all = Entity::ALL.as_slice();
        let lift = ast.lift.as_ref().map(|block| check(all, message(), &state, of_state.as_slice(), block));
        let step = ast.step.as_ref().map(|clause| {
            let types = std::iter::once(state.clone()).chain(signature.params.iter().map(|p| p.ty.clone()));
            check(all, named(clause, types), &state, &of_state, &clause.body)
        });
        let combine = check(&[], named(combine, [&state, &state].map(Ty::clone)), &state, &of_state, &combine.body);
        let finalize = check(&[], named(finalize, [state.clone()]), &signature.result, &of_result, &finalize.body);
        let init = ast.state.iter().zip(&reducer.state).map(|(field, param)| {
            let want = scalar_of(&param.ty);
            Self::number(table, reducer, &field.init, &want, (field.ty.span, "declared here"), errors)
        });
        let init = init.collect();
        let want = scalar_of(&signature.result);
        let empty = Self::number(table, reducer, empty, &want, (ast.result.span, "the declared result"), errors);
        Some(ReducerBody { init, lift, step, combine, finalize, empty, adjoint, laws: laws? })
    }

    fn of_reducer(table: &'a Table<'a>, reducer: &'a Reducer<'a>, errors: &'a mut Vec<Diagnostic>) -> Self {
        let signature = &reducer.callable.signature;
        let mut checker = Checker::new(table, &signature.generics, errors);
        checker.inside = Some(Inside::Reducer(signature.name.clone()));
        checker.item = Some(signature.name.clone());
        checker
    }

    fn clause<'e>(
        table: &'e Table<'e>,
        reducer: &'e Reducer<'e>,
        clause: Clause<'_>,
        block: &ast::Block,
        errors: &'e mut Vec<Diagnostic>,
    ) -> Body {
        let mut checker = Checker::of_reducer(table, reducer, errors);
        checker.sees = clause.sees;
        for (name, ty, span) in clause.names {
            checker.bind(name, ty, span);
        }
        let value = checker.block(block);
        let value = checker.expect_declared(value, clause.want, clause.declared);
        checker.finish(value)
    }

    /// A gradient by hand: it gives the cotangents of the parameters after `for`.
    fn adjoint<'e>(
        table: &'e Table<'e>,
        reducer: &'e Reducer<'e>,
        adjoint: &ast::Adjoint,
        state: &Ty,
        errors: &'e mut Vec<Diagnostic>,
    ) -> Option<Body> {
        let signature = &reducer.callable.signature;
        if adjoint.names.len() != 3 {
            let (expected, found) = (count(3, "name"), count(adjoint.names.len(), "name"));
            let error = SemaError::ClauseNames { clause: "adjoint", expected, found };
            let help = "the final state, the result, and the cotangent of the result: `adjoint(s, out, out_bar)`";
            errors.push(error.at(adjoint.span.first("adjoint".len())).help(help));
            return None;
        }
        let mut wanted = Vec::new();
        for name in &adjoint.wrt {
            match signature.params.iter().find(|p| *p.name == *name.text) {
                Some(param) => wanted.push(param.ty.clone()),
                None => {
                    let (callee, name_text) = (signature.name.clone(), name.text.clone());
                    let error = SemaError::UnknownArgument { callee, name: name_text }.at(name.span);
                    errors.push(error.label("not a parameter").also(signature.span, "declared here"));
                }
            }
        }
        if wanted.len() < adjoint.wrt.len() {
            return None;
        }
        let want = if let [one] = wanted.as_slice() { one.clone() } else { Ty::Tuple(wanted) };
        let mut checker = Checker::of_reducer(table, reducer, errors);
        checker.inside = Some(Inside::Adjoint(signature.name.clone()));
        checker.sees = &Entity::ALL;
        for param in &signature.params {
            checker.bind(&param.name, param.ty.clone(), param.span);
        }
        for (name, ty) in adjoint.names.iter().zip([state, &signature.result, &signature.result]) {
            checker.bind(&name.text, ty.clone(), name.span);
        }
        let value = checker.block(&adjoint.body);
        let place = adjoint.wrt.iter().map(|n| n.span).reduce(Span::to).unwrap_or(adjoint.span);
        let value = checker.expect(value, &want, Some((place, "what these are")));
        Some(checker.finish(value))
    }

    /// A number, or a tuple of numbers, made of literals and constants.
    fn number<'e>(
        table: &'e Table<'e>,
        reducer: &'e Reducer<'e>,
        value: &ast::Expr,
        want: &Ty,
        because: (Span, &'static str),
        errors: &'e mut Vec<Diagnostic>,
    ) -> Body {
        let mut checker = Checker::of_reducer(table, reducer, errors);
        let value = checker.expr(value);
        let value = checker.expect(value, want, Some(because));
        checker.finish(value)
    }

    /// [`Checker::expect`], where the fields of a record may come in any order.
    fn expect_declared(&mut self, value: Expr, want: &Ty, declared: &[Span]) -> Expr {
        let all = declared.iter().copied().reduce(Span::to).map(|span| (span, "declared here"));
        let (Ty::Record(given), Ty::Record(fields), Kind::Tuple(members)) = (&value.ty, want, &value.kind) else {
            return self.expect(value, want, all);
        };
        let index = |name: &str| given.iter().position(|(n, _)| **n == *name);
        let order: Option<Vec<usize>> = fields.iter().map(|(name, _)| index(name)).collect();
        let Some(order) = order.filter(|o| o.len() == given.len()) else {
            return self.expect(value, want, all);
        };
        let mut checked = Vec::new();
        for ((i, (_, ty)), span) in order.iter().zip(fields).zip(declared) {
            checked.push(self.expect(members[*i].clone(), ty, Some((*span, "declared here"))));
        }
        Expr { ty: want.clone(), span: value.span, kind: Kind::Tuple(checked) }
    }

    /// The result of a reducer on messages of some types: its extents inferred, extra leading axes in front.
    pub(super) fn reduce_with(&mut self, reducer: &Use<'_>, messages: &[Expr], place: Span) -> Option<Ty> {
        let mut found = Vec::new();
        for message in messages {
            found.push(self.tensor(message)?);
        }
        let wanted: Vec<Tensor> = reducer.params.iter().filter_map(own).collect();
        if wanted.len() < reducer.params.len() {
            return None;
        }
        let fit = fit(&wanted, &found);
        let elems = fit.is_some() && wanted.iter().zip(&found).all(|(w, f)| self.elems.unify(w.elem, f.elem));
        let Some((map, own)) = fit.filter(|_| elems) else {
            self.report_misfit(reducer, messages, place);
            return None;
        };
        Some(mapped(&reducer.result.substitute(&own), &map))
    }

    fn report_misfit(&mut self, reducer: &Use<'_>, messages: &[Expr], place: Span) {
        let list = |types: Vec<String>| match types.as_slice() {
            [one] => one.clone(),
            _ => format!("({})", types.join(", ")),
        };
        let expected = list(reducer.params.iter().map(|ty| self.show(ty)).collect());
        let found = list(messages.iter().map(|m| self.show(&m.ty)).collect());
        let error = SemaError::ReducerMessage { reducer: reducer.name.to_owned(), expected, found: found.clone() };
        let mut diagnostic = error.at(place).label("does not fit");
        if let Some(span) = messages.iter().map(|m| m.span).reduce(Span::to) {
            diagnostic = diagnostic.also(span, format!("this is `{found}`"));
        }
        if let Some(span) = reducer.declared {
            diagnostic = diagnostic.also(span, "declared here");
        }
        self.report(diagnostic.note("extra axes in front, the same for all values, are reduced one by one"));
    }
}

/// The axes in front and the values of the reducer's extents, if the messages are the reducer's.
fn fit(wanted: &[Tensor], found: &[Tensor]) -> Option<(Vec<Poly>, Substitution)> {
    if wanted.len() != found.len() {
        return None;
    }
    let extra = match (wanted.first(), found.first()) {
        (Some(w), Some(f)) => f.dims.len().checked_sub(w.dims.len())?,
        _ => 0,
    };
    let map = found.first().map_or_else(Vec::new, |t| t.dims[..extra].to_vec());
    let mut own = Substitution::new();
    for (w, f) in wanted.iter().zip(found) {
        if f.set.is_some() || !f.dims.starts_with(&map) || f.dims.len() != extra + w.dims.len() {
            return None;
        }
        for (w, f) in w.dims.iter().zip(&f.dims[extra..]) {
            if let Some(symbol) = w.as_symbol() {
                own.entry(symbol.clone()).or_insert_with(|| f.clone());
            }
        }
    }
    let fits = wanted.iter().zip(found).all(|(w, f)| w.substitute(&own).dims == f.dims[extra..]);
    fits.then_some((map, own))
}

fn own(ty: &Ty) -> Option<Tensor> {
    match ty {
        Ty::Tensor(tensor) => Some(tensor.clone()),
        _ => None,
    }
}

/// A type with extra axes in front.
fn mapped(ty: &Ty, map: &[Poly]) -> Ty {
    match ty {
        Ty::Tensor(t) => Ty::Tensor(Tensor { dims: [map, &t.dims].concat(), ..t.clone() }),
        Ty::Tuple(all) => Ty::Tuple(all.iter().map(|t| mapped(t, map)).collect()),
        other => other.clone(),
    }
}

/// One number of each tensor in a type.
fn scalar_of(ty: &Ty) -> Ty {
    match ty {
        Ty::Tensor(t) => Ty::Tensor(Tensor::scalar(t.elem)),
        Ty::Tuple(all) => Ty::Tuple(all.iter().map(scalar_of).collect()),
        other => other.clone(),
    }
}

/// The names of a clause with the types of what they stand for.
fn named(clause: &ast::Clause, types: impl IntoIterator<Item = Ty>) -> Vec<(&str, Ty, Span)> {
    clause.names.iter().zip(types).map(|(name, ty)| (name.text.as_str(), ty, name.span)).collect()
}

fn laws(ast: &ast::Reducer, errors: &mut Vec<Diagnostic>) -> Option<Laws> {
    const NAMES: [&str; 2] = ["associative", "commutative"];
    let mut laws = Laws::default();
    let mut known = true;
    for name in &ast.laws {
        match name.text.as_str() {
            "associative" => laws.associative = true,
            "commutative" => laws.commutative = true,
            other => {
                let error = SemaError::UnknownLaw { name: other.to_owned() }.at(name.span).label("not found");
                errors.push(match nearest(other, NAMES) {
                    Some(near) => error.suggest(name.span, "a law with a similar name exists", near),
                    None => error.note("the laws are `associative` and `commutative`"),
                });
                known = false;
            }
        }
    }
    known.then_some(laws)
}

/// Whether all clauses are there that a reducer needs, with as many names as they take.
fn whole(reducer: &Reducer<'_>, errors: &mut Vec<Diagnostic>) -> bool {
    let (ast, signature) = (reducer.callable.ast, &reducer.callable.signature);
    let before = errors.len();
    let mut missing = |clause: &'static str, help: &'static str| {
        let error = SemaError::MissingClause { reducer: signature.name.clone(), clause };
        errors.push(error.at(signature.span).label("declared here").help(help));
    };
    if signature.params.is_empty() {
        missing("a parameter", "its parameters are the values of one message: `(x: f32)`");
    }
    if ast.state.is_empty() {
        missing("a `state`", "the state is what a row has so far: `state { total: f32 = 0 }`");
    }
    if ast.lift.is_none() && ast.step.is_none() {
        missing(
            "`lift` or `step`",
            "`lift { {total: x} }` makes a state of one message, or `step(s, x) { … }` adds one to a state",
        );
    }
    if ast.combine.is_none() {
        missing("`combine`", "every reducer says what two states make together: `combine(a, b) { … }`");
    }
    if ast.finalize.is_none() {
        missing("`finalize`", "`finalize(s) { s.total }` makes the result of a state");
    }
    if ast.empty.is_none() {
        missing("`empty`", "`empty 0` is what a row without messages becomes");
    }
    let takes =
        [("step", &ast.step, 1 + signature.params.len()), ("combine", &ast.combine, 2), ("finalize", &ast.finalize, 1)];
    for (word, clause, takes) in takes {
        let Some(clause) = clause.as_ref().filter(|c| c.names.len() != takes) else { continue };
        let (expected, found) = (count(takes, "name"), count(clause.names.len(), "name"));
        let error = SemaError::ClauseNames { clause: word, expected, found: found.clone() };
        let place = match (clause.names.first(), clause.names.last()) {
            (Some(first), Some(last)) => first.span.to(last.span),
            _ => clause.span.first(word.len()),
        };
        errors.push(error.at(place).label(found));
    }
    errors.len() == before
}
