//! Messages: their edge and node functions, and calls of them on a graph.

use super::super::error::SemaError;
use super::super::hir::{Axis, Body, Entity, Expr, Inside, Kind, LocalId, ReducerUse};
use super::super::infer::{Domain, Elem};
use super::super::items::{Callable, Entry, Table};
use super::super::prelude;
use super::super::signature::{Signature, duplicate};
use super::super::ty::{Graph, Tensor, Ty};
use super::arguments::{Bindings, Site};
use super::reducer::Use;
use super::{Checker, count, habit};
use crate::builtin::{BuiltinReducer, top};
use tiga_abi::{Poly, Symbol};
use tiga_ir::TensorType;
use tiga_source::{Diagnostic, Span, nearest};
use tiga_syntax::ast;

/// The code of a message.
#[derive(Clone, Debug)]
pub(crate) struct MessageBody {
    /// The edge function; its locals are the parameters first.
    pub(crate) edge: Body,
    /// One reducer for each message of an edge.
    pub(crate) reducers: Vec<ReducerUse>,
    /// The names of the reduced values, and the node function; its locals are in `edge`.
    pub(crate) node: Option<(Vec<LocalId>, Expr)>,
}

impl<'a> Checker<'a> {
    /// A message's edge and node functions; `None` if a reducer is missing, which is reported.
    pub(crate) fn message(
        table: &'a Table<'a>,
        message: &Callable<'a, ast::Message>,
        errors: &'a mut Vec<Diagnostic>,
    ) -> Option<MessageBody> {
        let signature = &message.signature;
        let mut checker = Checker::new(table, &signature.generics, errors);
        checker.inside = Some(Inside::Message(signature.name.clone()));
        checker.item = Some(signature.name.clone());
        for param in &signature.params {
            checker.bind(&param.name, param.ty.clone(), param.span);
        }
        checker.sees = &Entity::ALL;
        let value = checker.block(&message.ast.edge);
        let Some(reduce) = &message.ast.reduce else {
            return checker.edge_result(value, message);
        };
        if let Some(span) = message.ast.result.edges {
            let error = SemaError::EdgeResult { rule: "its result is one value per row" }.at(span);
            let error = error.label("one value per edge").also(reduce_span(reduce), "reduced here");
            checker.report(error.help("remove `edges`, or the reducer"));
            return None;
        }
        let (reducers, outs) = checker.reductions(reduce, &value)?;
        let node = match &message.ast.node {
            Some(node) => Some(checker.node(node, &outs, message)?),
            None => {
                let ty = if reducers.len() == 1 { outs[0].clone() } else { Ty::Tuple(outs) };
                let of_rows = Expr { ty, span: value.span, kind: Kind::Error };
                checker.expect(of_rows, &signature.result, Some((message.ast.result.ty.span, "the declared result")));
                None
            }
        };
        Some(MessageBody { edge: checker.finish(value), reducers, node })
    }

    /// A message without a reducer: its result is what each edge gives.
    fn edge_result(mut self, value: Expr, message: &Callable<'a, ast::Message>) -> Option<MessageBody> {
        let ast = message.ast;
        if let (Some(node), None) = (&ast.node, ast.result.edges) {
            self.reducer_missing(node, &members(&value));
            return None;
        }
        if ast.result.edges.is_none() {
            let error = SemaError::EdgeResult { rule: "without a reducer its result is one value per edge" };
            let place = ast.result.ty.span;
            let error = error.at(place).label("one value per row");
            let error = error.suggest(place.before(), "a value for each edge", "edges ");
            self.report(error.help("to reduce them, add `reduce sum` or another reducer: one value per row"));
            return None;
        }
        if let Some(node) = &ast.node {
            let error = SemaError::EdgeResult { rule: "its node function has nothing to work on" }.at(node.span);
            self.report(error.label("nothing is reduced").help("compute it in the edge function"));
            return None;
        }
        let value = self.expect(value, &message.signature.result, Some((ast.result.ty.span, "the declared result")));
        Some(MessageBody { edge: self.finish(value), reducers: Vec::new(), node: None })
    }

    /// Elements that a reducer is not defined for.
    pub(super) fn not_reduced(
        &mut self,
        (reducer, place): (&str, Span),
        domain: Domain,
        elem: Elem,
        message: &Expr,
    ) -> Diagnostic {
        let found = self.elems.name(elem).to_owned();
        let error = SemaError::ReducerElements { reducer: reducer.to_owned(), found };
        let label = format!("this is `{}`", self.show(&message.ty));
        let needs = |text: &str| error.at(place).label(text.to_owned()).also(message.span, label.clone());
        if domain == Domain::BOOL {
            return needs("needs conditions").help("a comparison makes a condition of a number: `x != 0`");
        }
        let truth = self.elems.domain(elem) == Domain::BOOL;
        if domain == Domain::FLOAT && !truth {
            return needs("needs floats").help("`f32(x)` or `f64(x)` converts integers");
        }
        needs("needs numbers").help("`f32(c)` or `i64(c)` makes 0 and 1 of a condition")
    }

    /// The reducers, one for each member of the tuple that an edge gives, or one for all of it; and what they make.
    fn reductions(&mut self, reduce: &ast::Reduce, value: &Expr) -> Option<(Vec<ReducerUse>, Vec<Ty>)> {
        let (span, written) = match reduce {
            ast::Reduce::One(one) => (one.span, std::slice::from_ref(one)),
            ast::Reduce::Tuple(span, all) => (*span, all.as_slice()),
        };
        let named: Vec<Option<Named>> = written.iter().map(|r| self.reducer_named(r)).collect();
        let messages = match (reduce, named.as_slice()) {
            (ast::Reduce::One(_), [Some(Named::Declared(_) | Named::Prelude(_))]) => vec![value.clone()],
            (ast::Reduce::One(one), _) if value.ty.members().is_some() => {
                let text = match named.as_slice() {
                    [Some(Named::Top(k))] => format!("top<{k}>"),
                    [Some(_)] => one.name.text.clone(),
                    _ => return None,
                };
                self.report_count(reduce, written.len(), span, value, Some(&text));
                return None;
            }
            (ast::Reduce::One(_), _) => vec![value.clone()],
            (ast::Reduce::Tuple(..), _) => members(value),
        };
        if messages.len() != written.len() && !value.ty.is_error() {
            self.report_count(reduce, written.len(), span, value, None);
            return None;
        }
        let (mut uses, mut outs) = (Vec::new(), Vec::new());
        for ((reducer, message), written) in named.into_iter().zip(&messages).zip(written) {
            let (used, out) = self.reduction_of(reducer?, message, written.span);
            uses.push(used);
            outs.push(out);
        }
        Some((uses, outs))
    }

    fn report_count(&mut self, reduce: &ast::Reduce, written: usize, span: Span, value: &Expr, one: Option<&str>) {
        let given = members(value).len();
        let error = SemaError::ReducerCount { found: count(written, "reducer"), expected: count(given, "value") };
        let label = format!("this is `{}`", self.show(&value.ty));
        let diagnostic = error.at(span).label(count(written, "reducer")).also(value.span, label);
        self.report(match (reduce, one) {
            (ast::Reduce::One(_), Some(one)) => {
                let all = vec![one; given].join(", ");
                diagnostic.suggest(span, "write one reducer for each value", format!("({all})"))
            }
            _ => diagnostic.help("`reduce (sum, max)` has one reducer for each value"),
        });
    }

    fn reducer_named(&mut self, written: &ast::ReducerRef) -> Option<Named> {
        let (name, span) = (&written.name.text, written.span);
        let declared = match self.table.entry(name) {
            Some(Entry::Reducer(index)) => Some(Named::Declared(index)),
            Some(Entry::Broken) => return None,
            _ => None,
        };
        let known = declared
            .or_else(|| BuiltinReducer::named(name).map(Named::Builtin))
            .or_else(|| prelude::reducer(name).map(Named::Prelude));
        if let Some(known) = known.filter(|_| written.args.is_empty()) {
            return Some(known);
        }
        if name == "top" && declared.is_none() {
            return self.top(written);
        }
        if known.is_some() {
            let error = SemaError::ReducerArguments { name: name.clone(), takes: "no arguments".into() }.at(span);
            self.report(error.help(format!("write `{name}`")));
            return None;
        }
        let error = SemaError::UnknownReducer { name: name.clone() }.at(span).label("not found");
        let mut names: Vec<&str> = self.table.names(|e| matches!(e, Entry::Reducer(_))).collect();
        names.extend(language_reducers().map(|name| -> &str { name }));
        self.report(match (habit::reducer(name), nearest(name, names.iter().copied())) {
            (Some(meant), _) => meant.say(error, span),
            (None, Some(near)) => error.suggest(span, "a reducer with a similar name exists", near),
            (None, None) => {
                let names: Vec<String> = names.iter().map(|n| format!("`{n}`")).collect();
                error.note(format!("the reducers are {}", names.join(", ")))
            }
        });
        None
    }

    /// `top<K>` with a number for K.
    fn top(&mut self, written: &ast::ReducerRef) -> Option<Named> {
        let extent = match written.args.as_slice() {
            [k] => match self.axis(k) {
                Axis::Extent(extent) => extent.as_constant(),
                Axis::Set(_) => None,
                Axis::Error => return None,
            },
            _ => None,
        };
        if let Some(k) = extent.filter(|k| (1..=top::MOST).contains(k)) {
            return Some(Named::Top(k));
        }
        let error =
            SemaError::ReducerArguments { name: "top".into(), takes: format!("a number from 1 to {}", top::MOST) };
        self.report(error.at(written.span).help("`top<8>` keeps the 8 greatest and where they stand"));
        None
    }

    /// What a reducer makes of one message.
    fn reduction_of(&mut self, reducer: Named, message: &Expr, place: Span) -> (ReducerUse, Ty) {
        match reducer {
            Named::Declared(index) => {
                let table = self.table;
                let signature = &table.reducers[index].callable.signature;
                let messages = match signature.params.len() {
                    1 => vec![message.clone()],
                    _ => members(message),
                };
                let known = !message.ty.is_error() && !signature.result.is_error();
                let params: Vec<Ty> = signature.params.iter().map(|p| p.ty.clone()).collect();
                let (name, result) = (signature.name.as_str(), &signature.result);
                let used = Use { name, params: &params, result, declared: Some(signature.span) };
                let out = if known { self.reduce_with(&used, &messages, place) } else { None };
                (ReducerUse::Declared(index), out.unwrap_or(Ty::Error))
            }
            Named::Prelude(entry) => {
                let reducer = &entry.reducer;
                let real = entry.element().map(|domain| self.elems.open(domain));
                let ty = |t: &TensorType| {
                    let elem = real.filter(|_| prelude::stands_for(t.dtype).is_some()).unwrap_or(Elem::Known(t.dtype));
                    Ty::Tensor(Tensor { elem, set: None, dims: t.dims.clone() })
                };
                let params: Vec<Ty> = entry.values().map(ty).collect();
                let result = ty(&reducer.outs[0]);
                let messages = if params.len() == 1 { vec![message.clone()] } else { members(message) };
                let used = Use { name: &reducer.name, params: &params, result: &result, declared: None };
                let out = if message.ty.is_error() { None } else { self.reduce_with(&used, &messages, place) };
                (ReducerUse::Prelude(&reducer.name, real), out.unwrap_or(Ty::Error))
            }
            Named::Top(k) => {
                let Some(tensor) = self.tensor(message) else {
                    return (ReducerUse::Top(k, Elem::Known(tiga_abi::DType::F32)), Ty::Error);
                };
                let (used, numbers) = (ReducerUse::Top(k, tensor.elem), Domain::where_(|d| d != tiga_abi::DType::Bool));
                if !self.elems.restrict(tensor.elem, numbers) {
                    let error = self.not_reduced(("top", place), numbers, tensor.elem, message);
                    self.report(error);
                    return (used, Ty::Error);
                }
                let dims = [tensor.dims.as_slice(), &[Poly::constant(k)]].concat();
                let of = |elem| Ty::Tensor(Tensor { elem, set: None, dims: dims.clone() });
                (used, Ty::Tuple(vec![of(tensor.elem), of(Elem::Known(tiga_abi::DType::I64))]))
            }
            Named::Builtin(reducer) => {
                let Some(tensor) = self.tensor(message) else {
                    return (ReducerUse::Builtin(reducer, Elem::Known(tiga_abi::DType::F32)), Ty::Error);
                };
                let used = ReducerUse::Builtin(reducer, tensor.elem);
                let domain = Domain::where_(|d| reducer.accepts(d));
                if !self.elems.restrict(tensor.elem, domain) {
                    let error = self.not_reduced((reducer.name(), place), domain, tensor.elem, message);
                    self.report(error);
                    return (used, Ty::Error);
                }
                let elem = reducer.result().map_or(tensor.elem, Elem::Known);
                (used, Ty::Tensor(Tensor { elem, ..tensor }))
            }
        }
    }

    /// The node function: sees the reduced values, `dst` and the plain parameters.
    fn node(
        &mut self,
        node: &ast::Clause,
        outs: &[Ty],
        message: &Callable<'_, ast::Message>,
    ) -> Option<(Vec<LocalId>, Expr)> {
        if node.names.len() != outs.len() {
            let error = SemaError::NodeNames { expected: outs.len(), found: node.names.len() };
            let place = match (node.names.first(), node.names.last()) {
                (Some(first), Some(last)) => first.span.to(last.span),
                _ => node.span.first("node".len()),
            };
            let reducers = message.ast.reduce.as_ref().map_or(place, reduce_span);
            let error = error.at(place).label(count(node.names.len(), "name"));
            let tuple = match outs {
                [only] => only.members().filter(|members| members.len() > 1),
                _ => None,
            };
            self.report(match tuple {
                Some(members) => error
                    .also(reducers, format!("gives one value, a tuple of {}", members.len()))
                    .help("name the tuple, and take `.0` and `.1` of it: `node(best) { best.0 }`"),
                None => error.also(reducers, format!("gives {}", count(outs.len(), "value"))),
            });
            return None;
        }
        self.scope.hide("src");
        self.scope.hide("edge");
        self.sees = &[Entity::Dst];
        let mut names = Vec::new();
        for (name, ty) in node.names.iter().zip(outs) {
            if node.names.iter().take(names.len()).any(|n| n.text == name.text) {
                let first = node.names.iter().find(|n| n.text == name.text).map_or(name.span, |n| n.span);
                self.report(duplicate("name", name, first));
            }
            names.push(self.bind(&name.text, ty.clone(), name.span));
        }
        let value = self.block(&node.body);
        let place = (message.ast.result.ty.span, "the declared result");
        let value = self.expect(value, &message.signature.result, Some(place));
        Some((names, value))
    }

    /// `conduct(g, src: {T}, dst: {b}, edge: {c})`.
    pub(super) fn message_call(&mut self, index: usize, args: &[ast::Arg], site: Site) -> Expr {
        let span = site.whole;
        let table = self.table;
        let signature = &table.messages[index].signature;
        self.needs_whole_graph(site.callee, format!("message `{}`", signature.name));
        let first = args.iter().position(|a| a.kind == ast::ArgKind::Positional);
        let graph = first.map(|i| self.expr(&args[i].value));
        let rest: Vec<ast::Arg> =
            args.iter().enumerate().filter(|(i, _)| Some(*i) != first).map(|(_, a)| a.clone()).collect();
        let site = Site { graphs: usize::from(first.is_some()), ..site };
        let arranged = self.arrange(signature, &rest, site);
        let whole = arranged.iter().all(Option::is_some);
        let values: Vec<Option<Expr>> = arranged.into_iter().map(|a| a.map(|a| self.expr(a))).collect();
        let Some((graph, relation)) = self.graph_argument(graph, site, args) else {
            return self.poison(span);
        };
        let mut bindings = Bindings::default();
        let Some(operands) = self.operands(signature, values, &relation, &mut bindings) else {
            return self.poison(span);
        };
        // A reducer with a symbol for its number is reported where it stands.
        if habit::numbered_by_symbol(table.messages[index].ast) {
            return self.poison(span);
        }
        if !whole || !self.all_bound(signature, &[], &bindings, site) {
            return self.poison(span);
        }
        let per_edge = table.messages[index].ast.result.edges.is_some();
        let set = if per_edge { &relation.edges } else { &relation.dst };
        let ty = over(&signature.result.substitute(&bindings.map), set);
        Expr { ty, span, kind: Kind::Message(index, bindings.map, Box::new(graph), operands) }
    }

    fn graph_argument(&mut self, graph: Option<Expr>, site: Site, args: &[ast::Arg]) -> Option<(Expr, Graph)> {
        match graph {
            Some(graph) => match &graph.ty {
                Ty::Graph(relation) => {
                    let relation = relation.clone();
                    Some((graph, relation))
                }
                Ty::Error => None,
                other => {
                    let found = format!("`{}`", self.show(other));
                    let diagnostic =
                        SemaError::NoGraph { found }.at(graph.span).label(format!("this is {}", other.sort()));
                    let diagnostic = self.point_at_declarations(diagnostic, [&graph]);
                    self.report(diagnostic);
                    None
                }
            },
            None => {
                let error = SemaError::NoGraph { found: "nothing".into() }.at(site.callee).label("no graph is given");
                let in_scope = self.scope.names().find(|n| self.graph_named(n).is_some());
                let (place, comma) = match args.first() {
                    Some(first) => (first.span.before(), ", "),
                    None => (site.end(), ""),
                };
                let diagnostic = match in_scope {
                    Some(name) => error.suggest(place, format!("`{name}` is a graph"), format!("{name}{comma}")),
                    None => error.help("declare one as a parameter of the program: `g: graph<N>`"),
                };
                self.report(diagnostic);
                None
            }
        }
    }

    /// The operands in the order of the declaration, fields of records one by one.
    fn operands(
        &mut self,
        signature: &Signature,
        values: Vec<Option<Expr>>,
        graph: &Graph,
        bindings: &mut Bindings<'_>,
    ) -> Option<Vec<Expr>> {
        let mut wanted: Vec<(Ty, Expr, Span, String)> = Vec::new();
        let mut whole = true;
        for (param, value) in signature.params.iter().zip(values) {
            let Some(value) = value else { continue };
            let Ty::Record(fields) = &param.ty else {
                let text = format!("parameter `{}`: `{}`", param.name, self.show(&param.ty));
                bindings.infer(&param.ty, &value.ty, value.span);
                wanted.push((param.ty.clone(), value, param.span, text));
                continue;
            };
            let set = graph.set(set_name(&param.name))?;
            let Some(members) = self.members(&signature.name, &param.name, fields, value, param.span) else {
                whole = false;
                continue;
            };
            for ((name, ty), member) in fields.iter().zip(members) {
                let text = format!("field `{name}` of `{}`: `{}`", param.name, self.show(ty));
                if !self.over_set_of(&member, graph, &param.name, name) {
                    whole = false;
                    continue;
                }
                let want = over(ty, set);
                bindings.infer(&want, &member.ty, member.span);
                wanted.push((want, member, param.span, text));
            }
        }
        for (want, value, place, text) in &wanted {
            whole &= self.argument(bindings, want, value, (*place, text));
        }
        whole.then(|| wanted.into_iter().map(|(_, value, ..)| value).collect())
    }

    /// Whether a field lives where the message reads it.
    fn over_set_of(&mut self, member: &Expr, graph: &Graph, record: &str, field: &str) -> bool {
        let (Some(tensor), Some(set)) = (self.tensor(member), graph.set(set_name(record))) else {
            return false;
        };
        if tensor.set.as_ref() == Some(set) {
            return true;
        }
        let error = SemaError::WrongSet {
            record: record.to_owned(),
            field: field.to_owned(),
            expected: set.to_string(),
            found: self.show(&member.ty),
        };
        let mut diagnostic = error.at(member.span).label(match &tensor.set {
            Some(other) => format!("this is a field over `{other}`"),
            None => format!("this is {}", member.ty.sort()),
        });
        diagnostic = self.point_at_declarations(diagnostic, [member]);
        if tensor.is_scalar() {
            diagnostic =
                diagnostic.help(format!("`fill({set}, …)` makes it a field; or make it a parameter of the message"));
        } else if tensor.set.as_ref() == Some(&graph.edges) {
            diagnostic = diagnostic.help("a field of edges is read as one of `edge: {…}`");
        } else if record == "edge" && [&graph.src, &graph.dst].into_iter().any(|s| tensor.set.as_ref() == Some(s)) {
            diagnostic = diagnostic.help("a field of nodes is read as one of `src: {…}` or `dst: {…}`");
        } else if tensor.set.is_some() && record != "edge" {
            diagnostic = diagnostic.note("messages go from `src` to `dst`; `transpose(g)` exchanges the two");
        }
        self.report(diagnostic);
        false
    }
}

/// What a graph calls the set of a record's fields.
fn set_name(record: &str) -> &str {
    if record == "edge" { "edges" } else { record }
}

/// A reducer that a name means.
#[derive(Clone, Copy)]
enum Named {
    Builtin(BuiltinReducer),
    Top(i64),
    Prelude(&'static prelude::Entry),
    Declared(usize),
}

/// The names of the reducers that need no declaration.
fn language_reducers() -> impl Iterator<Item = &'static str> {
    BuiltinReducer::ALL.into_iter().map(BuiltinReducer::name).chain(["top"]).chain(prelude::names())
}

/// The members of a tuple, or the only value.
fn members(value: &Expr) -> Vec<Expr> {
    match (&value.kind, value.ty.members()) {
        (Kind::Tuple(all), Some(_)) => all.clone(),
        (_, Some(types)) => types.into_iter().map(|ty| Expr { ty, span: value.span, kind: Kind::Error }).collect(),
        _ => vec![value.clone()],
    }
}

/// The type of one entity's value, for all entities of a set.
fn over(ty: &Ty, set: &Symbol) -> Ty {
    match ty {
        Ty::Tensor(t) => Ty::Tensor(Tensor { set: Some(set.clone()), ..t.clone() }),
        Ty::Tuple(all) => Ty::Tuple(all.iter().map(|t| over(t, set)).collect()),
        Ty::Record(all) => Ty::Record(all.iter().map(|(n, t)| (n.clone(), over(t, set))).collect()),
        Ty::Graph(_) | Ty::Error => Ty::Error,
    }
}

/// Where reducers are written.
fn reduce_span(reduce: &ast::Reduce) -> Span {
    match reduce {
        ast::Reduce::One(one) => one.span,
        ast::Reduce::Tuple(span, _) => *span,
    }
}
