//! Checks bodies: names to values, overloads to ops, every expression to its type.
//!
//! A mistake is reported once: its expression gets the type [`Ty::Error`], and whatever depends on that is silent.

mod arguments;
mod builtin;
mod call;
mod control;
mod expr;
mod habit;
mod message;
mod operator;
mod record;
mod reducer;
mod scope;
mod tensor;

pub use builtin::names as function_names;
pub(crate) use message::MessageBody;
pub(crate) use reducer::ReducerBody;

use super::error::SemaError;
use super::hir::{Axis, Body, Callee, Entity, Expr, Inside, Kind, Local, LocalId, ReducerUse};
use super::infer::{Domain, Elem, Elems};
use super::items::Table;
use super::resolve::Resolver;
use super::signature::{Generics, Signature};
use super::ty::{Graph, Tensor, Ty};
use indexmap::IndexMap;
use scope::Scope;
use std::sync::Arc;
use tiga_abi::DType;
use tiga_ir::{Scalar, ops};
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast;

/// The state of checking one body.
pub(crate) struct Checker<'a> {
    table: &'a Table<'a>,
    generics: &'a Generics,
    errors: &'a mut Vec<Diagnostic>,
    elems: Elems,
    locals: Vec<Local>,
    scope: Scope,
    calls: Vec<(Callee, Span)>,
    reducers: Vec<ReducerUse>,
    positions: Vec<Entity>,
    /// Whose positions can be asked for here.
    sees: &'static [Entity],
    literals: Vec<(Elem, String, Span)>,
    /// Fields of records written as a name alone.
    shorthands: Vec<Span>,
    /// Where each record that was written out has its names.
    field_names: IndexMap<Span, Vec<Span>>,
    whole_graph: Option<(Span, String)>,
    tensor_op: Option<(Span, String)>,
    /// The message or reducer whose code this is.
    inside: Option<Inside>,
    /// What is being checked: never the name that was meant inside it.
    item: Option<String>,
    /// The float type that the value being checked goes together with, where that is plain.
    meets: Option<DType>,
}

impl<'a> Checker<'a> {
    fn new(table: &'a Table<'a>, generics: &'a Generics, errors: &'a mut Vec<Diagnostic>) -> Self {
        Checker {
            table,
            generics,
            errors,
            elems: Elems::default(),
            locals: Vec::new(),
            scope: Scope::default(),
            calls: Vec::new(),
            reducers: Vec::new(),
            positions: Vec::new(),
            sees: &[],
            literals: Vec::new(),
            shorthands: Vec::new(),
            field_names: IndexMap::new(),
            whole_graph: None,
            tensor_op: None,
            inside: None,
            item: None,
            meets: None,
        }
    }

    /// The body of a program or function, whose results are declared at some places.
    pub(crate) fn body(
        table: &'a Table<'a>,
        signature: &'a Signature,
        block: &ast::Block,
        declared: &[Span],
        errors: &'a mut Vec<Diagnostic>,
    ) -> Body {
        let mut checker = Checker::new(table, &signature.generics, errors);
        checker.item = Some(signature.name.clone());
        for param in &signature.params {
            checker.bind(&param.name, param.ty.clone(), param.span);
        }
        let value = checker.block(block);
        let expr = checker.result(value, signature, declared);
        checker.finish(expr)
    }

    /// The value of a `const` item.
    pub(crate) fn constant(
        table: &'a Table<'a>,
        generics: &'a Generics,
        constant: &super::items::Constant<'_>,
        errors: &'a mut Vec<Diagnostic>,
    ) -> Body {
        let mut checker = Checker::new(table, generics, errors);
        checker.item = Some(constant.ast.name.text.clone());
        let value = checker.expr(&constant.ast.value);
        if let Some((span, _)) = &checker.whole_graph {
            let error = SemaError::NotConstant.at(*span).label("known only when a program runs");
            checker.errors.push(error);
        }
        let value = checker.expect(value, &constant.ty, Some((constant.ast.ty.span, "declared here")));
        checker.finish(value)
    }

    /// A body's value against the declared results.
    fn result(&mut self, value: Expr, signature: &Signature, declared: &[Span]) -> Expr {
        let (result, name) = (&signature.result, &signature.name);
        let place = declared.iter().copied().reduce(Span::to);
        if let (Ty::Record(results), Some(members)) = (result, value.ty.members()) {
            if results.len() == members.len() {
                return self.results(value, results, declared);
            }
            let error = SemaError::ResultCount {
                name: name.clone(),
                expected: count(results.len(), "result"),
                found: count(members.len(), "value"),
            };
            let label = count(members.len(), "value");
            self.report(results_declared(error.at(value.span).label(label), place));
            return value;
        }
        if let (Ty::Record(results), false) = (result, value.ty.is_error()) {
            let (expected, found) = (count(results.len(), "result"), "one value".to_owned());
            let error = SemaError::ResultCount { name: name.clone(), expected, found };
            let diagnostic = results_declared(error.at(value.span).label("one value"), place);
            self.report(diagnostic.help("a program with several results gives a tuple: `(a, b)`"));
            return value;
        }
        self.expect(value, result, place.map(|span| (span, "the declared result")))
    }

    /// Each member of a tuple against its result.
    fn results(&mut self, value: Expr, results: &[(Arc<str>, Ty)], declared: &[Span]) -> Expr {
        match value.kind {
            Kind::Tuple(members) => {
                let mut checked = Vec::new();
                for (i, (member, (_, ty))) in members.into_iter().zip(results).enumerate() {
                    let place = declared.get(i).map(|span| (*span, "the declared result"));
                    checked.push(self.expect(member, ty, place));
                }
                Expr { kind: Kind::Tuple(checked), ..value }
            }
            _ => {
                let want = Ty::Tuple(results.iter().map(|(_, ty)| ty.clone()).collect());
                let found = Ty::Tuple(value.ty.members().unwrap_or_default());
                let place = declared.iter().copied().reduce(Span::to);
                self.expect(Expr { ty: found, ..value }, &want, place.map(|span| (span, "the declared results")))
            }
        }
    }

    /// The checked body; literals whose type nothing decided get the default one.
    fn finish(self, expr: Expr) -> Body {
        let decided = self.elems.decide();
        for (elem, text, span) in &self.literals {
            let dtype = super::ty::decide(*elem, &decided);
            if !fits(dtype, text) {
                let error = SemaError::OutOfRange { text: text.clone(), dtype: dtype.to_string() };
                self.errors.push(range_help(error.at(*span), dtype));
            }
        }
        Body {
            expr,
            locals: self.locals,
            decided,
            calls: self.calls,
            reducers: self.reducers,
            positions: self.positions,
            whole_graph: self.whole_graph,
            tensor_op: self.tensor_op,
        }
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.errors.push(diagnostic);
    }

    /// An expression that gives nothing because of a mistake that was reported.
    fn poison(&self, span: Span) -> Expr {
        Expr { ty: Ty::Error, span, kind: Kind::Error }
    }

    /// Reports and gives nothing.
    fn fail(&mut self, diagnostic: Diagnostic, span: Span) -> Expr {
        self.report(diagnostic);
        self.poison(span)
    }

    fn show(&self, ty: &Ty) -> String {
        ty.show(&self.elems)
    }

    /// Introduces a name.
    fn bind(&mut self, name: &str, ty: Ty, span: Span) -> LocalId {
        let id = LocalId(self.locals.len());
        self.locals.push(Local { name: name.to_owned(), ty, span });
        self.scope.bind(name, id);
        id
    }

    fn lookup(&self, name: &str) -> Option<LocalId> {
        self.scope.lookup(name)
    }

    /// Runs with names that vanish afterwards.
    fn scoped<R>(&mut self, run: impl FnOnce(&mut Self) -> R) -> R {
        let depth = self.scope.depth();
        let result = run(self);
        self.scope.leave(depth);
        result
    }

    /// Notes that something works on whole fields or graphs, which a message or reducer cannot.
    fn needs_whole_graph(&mut self, span: Span, what: String) {
        let Some(owner) = &self.inside else {
            self.whole_graph.get_or_insert((span, what));
            return;
        };
        let help = match (what.as_str(), owner) {
            ("`if`", _) => "`where(c, a, b)` chooses for each edge or row",
            (_, Inside::Message(_)) => "a message computes one edge or one row at a time",
            (_, Inside::Reducer(_) | Inside::Adjoint(_)) => "a reducer computes one message or one state at a time",
        };
        let error = SemaError::Inside { what, owner: owner.to_string() };
        self.errors.push(error.at(span).help(help));
    }

    /// Notes that something works along an axis, which a reducer cannot: its code is that of one element.
    fn needs_axis(&mut self, span: Span, what: String) {
        if let Some(owner @ Inside::Reducer(_)) = &self.inside {
            let error = SemaError::Inside { what, owner: owner.to_string() };
            self.errors.push(error.at(span).help("compute it in the edge function, or in the node function"));
        } else {
            self.tensor_op.get_or_insert((span, what));
        }
    }

    fn graph_named(&self, name: &str) -> Option<Graph> {
        match &self.locals[self.lookup(name)?.0].ty {
            Ty::Graph(graph) => Some(graph.clone()),
            _ => None,
        }
    }

    /// Resolves types and extents written in the body.
    fn resolve<R>(&mut self, run: impl FnOnce(&mut Resolver<'_>) -> R) -> R {
        let mut errors = Vec::new();
        let result = run(&mut Resolver {
            table: self.table,
            generics: self.generics,
            graphs: &|name| self.graph_named(name),
            broken: &|name| self.lookup(name).is_some_and(|id| self.locals[id.0].ty.is_error()),
            errors: &mut errors,
        });
        self.errors.append(&mut errors);
        result
    }

    /// An axis named in the body.
    fn axis(&mut self, expr: &ast::Expr) -> Axis {
        self.resolve(|r| r.axis(expr))
    }

    /// Whether a value of the first type can stand where the second is wanted; literals adapt.
    fn fits(&mut self, found: &Ty, want: &Ty) -> bool {
        match (found, want) {
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Tensor(a), Ty::Tensor(b)) => a.same_shape(b) && self.elems.unify(a.elem, b.elem),
            (Ty::Graph(a), Ty::Graph(b)) => a == b,
            (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| self.fits(a, b)),
            (Ty::Record(a), Ty::Record(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((n, a), (m, b))| n == m && self.fits(a, b))
            }
            _ => false,
        }
    }

    /// Checks an expression against a type; `because` is where that type comes from.
    fn expect(&mut self, expr: Expr, want: &Ty, because: Option<(Span, &str)>) -> Expr {
        if self.fits(&expr.ty, want) {
            return expr;
        }
        let error = SemaError::Mismatch { expected: self.show(want), found: self.show(&expr.ty) };
        let mut diagnostic = error.at(expr.span).label(format!("this is `{}`", self.show(&expr.ty)));
        if let Some((span, text)) = because
            && span != expr.span
        {
            diagnostic = diagnostic.also(span, text);
        }
        diagnostic = self.point_at_declarations(diagnostic, [&expr]);
        diagnostic = self.mismatch_help(diagnostic, &expr, want);
        self.fail(diagnostic, expr.span)
    }

    /// What to type instead, where that is plain.
    fn mismatch_help(&self, diagnostic: Diagnostic, expr: &Expr, want: &Ty) -> Diagnostic {
        match (&expr.ty, want) {
            (Ty::Tensor(a), Ty::Tensor(b)) if a.same_shape(b) => self.convert(diagnostic, expr, a.elem, b.elem),
            (Ty::Tensor(_), Ty::Tensor(b)) if let Some((end, text)) = self.reduction_without_axis(expr, b) => {
                diagnostic.suggest(end, text, ", axis: -1")
            }
            (Ty::Tuple(members), Ty::Tensor(b)) => match self.member_that_fits(expr, members, b) {
                Some(member) => diagnostic.suggest(expr.span, "take the element that fits", member),
                None => diagnostic,
            },
            (Ty::Tensor(a), Ty::Tensor(b)) if a.is_scalar() && !b.is_scalar() => {
                let axes: Vec<String> =
                    b.set.iter().map(|s| s.to_string()).chain(b.dims.iter().map(|d| d.to_string())).collect();
                let shape = if axes.len() == 1 { axes[0].clone() } else { format!("[{}]", axes.join(", ")) };
                diagnostic.help(format!("`fill({shape}, …)` makes it the same everywhere"))
            }
            (Ty::Tensor(a), Ty::Tensor(b)) if a.set.is_some() && a.dims == b.dims && b.set.is_none() => {
                diagnostic.help("`sum(…)`, `mean(…)` and other reductions make one value of a field")
            }
            _ => diagnostic,
        }
    }

    /// How to convert an expression between element types: typed out if it is a name.
    fn convert(&self, diagnostic: Diagnostic, expr: &Expr, from: Elem, to: Elem) -> Diagnostic {
        let literal = |e: Elem| self.elems.domain(e) == Domain::FLOAT;
        let whole = |e: Elem| self.elems.domain(e).iter().all(|d| !d.is_float());
        if literal(from) && whole(to) {
            return diagnostic.note("a literal with a point or an exponent never becomes an integer");
        }
        let to = if literal(to) { self.meets.unwrap_or(DType::F64).name() } else { self.elems.name(to) };
        let converted = |value: &str| match to {
            "bool" => format!("{value} != 0"),
            _ => format!("{to}({value})"),
        };
        let diagnostic = match &expr.kind {
            Kind::Local(id) => {
                let name = &self.locals[id.0].name;
                let field = if self.shorthands.contains(&expr.span) { format!("{name}: ") } else { String::new() };
                diagnostic.suggest(expr.span, "convert it", field + &converted(name))
            }
            _ => diagnostic.help(format!("convert it: `{}`", converted("…"))),
        };
        match (self.elems.domain(from).single(), to.parse()) {
            (Some(from), Ok(to)) => loss(from, to).into_iter().fold(diagnostic, Diagnostic::note),
            // A literal is written with the digits it needs.
            _ => diagnostic,
        }
    }

    /// Where in the order of conversions an element type stands: of two that meet, the earlier one is converted. All
    /// hold truth values, and floats fractions; [`loss`] says what a conversion may lose all the same.
    fn precedence(&self, elem: Elem) -> usize {
        let last = self.elems.domain(elem).iter().filter_map(|d| DType::ALL.iter().position(|o| *o == d)).max();
        last.unwrap_or(0)
    }

    /// Marks where names among the expressions were declared, with their types.
    fn point_at_declarations<'e>(
        &self,
        mut diagnostic: Diagnostic,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Diagnostic {
        let mut seen = Vec::new();
        for expr in exprs {
            if let Kind::Local(id) = &expr.kind
                && !seen.contains(id)
            {
                seen.push(*id);
                let local = &self.locals[id.0];
                let text = format!("`{}` declared here with type `{}`", local.name, self.show(&local.ty));
                diagnostic = diagnostic.also(local.span, text);
            }
        }
        diagnostic
    }

    /// The tensor type of an expression; anything else is reported.
    fn tensor(&mut self, expr: &Expr) -> Option<Tensor> {
        match &expr.ty {
            Ty::Tensor(tensor) => Some(tensor.clone()),
            Ty::Error => None,
            other if other.is_error() => None,
            other => {
                let error = SemaError::NotATensor { found: other.sort().to_owned() };
                let label = format!("this is {}", other.sort());
                let diagnostic = self.point_at_declarations(error.at(expr.span).label(label), [expr]);
                self.report(match other {
                    Ty::Graph(_) => diagnostic.help("messages along a graph, `in_degree` and `out_degree` give fields"),
                    Ty::Tuple(_) => diagnostic.help("a pattern takes it apart: `let (a, b) = …;`"),
                    _ => diagnostic,
                });
                None
            }
        }
    }
}

/// `1 field`, `2 fields`.
fn count(n: usize, what: &str) -> String {
    match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    }
}

fn results_declared(diagnostic: Diagnostic, place: Option<Span>) -> Diagnostic {
    match place {
        Some(place) => diagnostic.also(place, "the declared results"),
        None => diagnostic,
    }
}

/// What a conversion may lose; nothing if each value has one of its own. To truth values there is none: `x != 0` asks.
fn loss(from: DType, to: DType) -> Option<&'static str> {
    if ops::lossless(from, to) {
        return None;
    }
    match (from.is_float(), to) {
        (_, DType::Bool) => None,
        (_, DType::F16) => Some("`f16` rounds to 11 significant bits; what rounds to more than 65504 becomes infinite"),
        (_, DType::BF16) => Some("`bf16` rounds to 8 significant bits"),
        (false, DType::F32) => Some("`f32` holds all integers up to 2^24 = 16777216 and rounds larger ones"),
        (false, DType::F64) => Some("`f64` holds all integers up to 2^53 = 9007199254740992 and rounds larger ones"),
        (true, DType::F32 | DType::F64) => Some("`f32` rounds to 24 of the 53 significant bits of `f64`"),
        (true, _) => Some("an integer drops the fraction; NaN becomes 0, and what is out of range the nearest bound"),
        (false, _) => Some("`i32` keeps the last 32 bits of a larger integer"),
    }
}

/// What an element type holds.
fn range_help(diagnostic: Diagnostic, dtype: DType) -> Diagnostic {
    match dtype {
        DType::I32 => diagnostic.label(format!("`i32` holds {} to {}", i32::MIN, i32::MAX)).help("`i64` holds more"),
        DType::I64 => diagnostic.label(format!("`i64` holds {} to {}", i64::MIN, i64::MAX)),
        DType::F16 => diagnostic.label("`f16` holds up to 65504").help("`bf16` and `f32` hold more"),
        DType::BF16 => diagnostic.label("`bf16` holds up to 3.39e38").help("`f64` holds more"),
        DType::F32 => diagnostic.label(format!("`f32` holds up to {:e}", f32::MAX)).help("`f64` holds more"),
        DType::F64 => diagnostic.label(format!("`f64` holds up to {:e}", f64::MAX)),
        DType::Bool => diagnostic,
    }
}

/// Whether a literal has a value of an element type.
fn fits(dtype: DType, text: &str) -> bool {
    match Scalar::parse(dtype, text) {
        Ok(v) => v.as_f64().is_finite() || !text.contains(|c: char| c.is_ascii_digit()),
        Err(_) => false,
    }
}
