//! Messages: their edge and node functions, and calls of them on a graph.

use super::super::error::SemaError;
use super::super::hir::{Body, Expr, Kind, LocalId};
use super::super::infer::{Domain, Elem};
use super::super::items::{Callable, Table};
use super::super::resolve::unknown_field;
use super::super::signature::{Signature, duplicate};
use super::super::ty::{Graph, Tensor, Ty};
use super::arguments::{Bindings, Site};
use super::{Checker, count};
use crate::builtin::BuiltinReducer;
use std::sync::Arc;
use tiga_abi::Symbol;
use tiga_source::{Diagnostic, Span, nearest};
use tiga_syntax::ast;

/// Reducers of the language that this compiler does not have yet.
const LATER_REDUCERS: [&str; 10] =
    ["any", "all", "argmax", "argmin", "first", "online_softmax", "logsumexp", "variance", "top", "softmax"];

/// The code of a message.
#[derive(Clone, Debug)]
pub(crate) struct MessageBody {
    /// The edge function; its locals are the parameters first.
    pub(crate) edge: Body,
    /// One reducer for each message of an edge.
    pub(crate) reducers: Vec<BuiltinReducer>,
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
        checker.message = Some(signature.name.clone());
        checker.item = Some(signature.name.clone());
        for param in &signature.params {
            checker.bind(&param.name, param.ty.clone(), param.span);
        }
        let value = checker.block(&message.ast.edge);
        let Some(reduce) = &message.ast.reduce else {
            let place = message.ast.result.edges.unwrap_or(message.ast.name.span);
            let error = SemaError::EdgeResult.at(place).label("one value per edge");
            checker.report(error.help("add `reduce sum` or another reducer: one value per row"));
            return None;
        };
        if let Some(span) = message.ast.result.edges {
            let error = SemaError::EdgeResult.at(span).label("one value per edge");
            checker.report(error.help("remove `edges`: a reduced result is one value per row"));
            return None;
        }
        let reducers = checker.reducers_of(reduce, &value)?;
        let outs = checker.reduced(&value, &reducers, reduce);
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

    /// The reducers, one for each message of an edge.
    fn reducers_of(&mut self, reduce: &ast::Reduce, value: &Expr) -> Option<Vec<BuiltinReducer>> {
        let (span, written) = match reduce {
            ast::Reduce::One(one) => (one.span, std::slice::from_ref(one)),
            ast::Reduce::Tuple(span, all) => (*span, all.as_slice()),
        };
        let reducers: Vec<Option<BuiltinReducer>> = written.iter().map(|r| self.reducer(r)).collect();
        let members = match reduce {
            ast::Reduce::One(_) => 1,
            ast::Reduce::Tuple(..) => value.ty.members().map_or(1, |m| m.len()),
        };
        let tuple_for_one = matches!(reduce, ast::Reduce::One(_)) && value.ty.members().is_some();
        if !value.ty.is_error() && (written.len() != members || tuple_for_one) {
            let given = value.ty.members().map_or(1, |m| m.len());
            let error =
                SemaError::ReducerCount { found: count(written.len(), "reducer"), expected: count(given, "value") };
            let label = format!("this is `{}`", self.show(&value.ty));
            let diagnostic = error.at(span).label(count(written.len(), "reducer")).also(value.span, label);
            self.report(match reduce {
                ast::Reduce::One(one) if given > 0 => {
                    let all = vec![one.name.text.as_str(); given].join(", ");
                    diagnostic.suggest(span, "write one reducer for each value", format!("({all})"))
                }
                _ => diagnostic.help("`reduce (sum, max)` has one reducer for each value"),
            });
            return None;
        }
        reducers.into_iter().collect()
    }

    fn reducer(&mut self, written: &ast::ReducerRef) -> Option<BuiltinReducer> {
        let name = &written.name.text;
        if let Some(reducer) = BuiltinReducer::named(name)
            && written.args.is_empty()
        {
            return Some(reducer);
        }
        if self.table.entry(name) == Some(super::super::items::Entry::Broken) {
            return None;
        }
        let span = written.span;
        if LATER_REDUCERS.contains(&name.as_str()) || BuiltinReducer::named(name).is_some() {
            let names = BuiltinReducer::ALL.map(|r| format!("`{}`", r.name())).join(", ");
            let error = SemaError::Reducer { name: name.clone() }.at(span);
            self.report(error.help(format!("the reducers of this version are {names}")));
            return None;
        }
        let error = SemaError::UnknownReducer { name: name.clone() }.at(span).label("not found");
        let names = BuiltinReducer::ALL.map(BuiltinReducer::name);
        self.report(match nearest(name, names) {
            Some(near) => error.suggest(span, "a reducer with a similar name exists", near),
            None => error.note(format!("the reducers are {}", names.map(|n| format!("`{n}`")).join(", "))),
        });
        None
    }

    /// The types of the reduced values.
    fn reduced(&mut self, value: &Expr, reducers: &[BuiltinReducer], reduce: &ast::Reduce) -> Vec<Ty> {
        let messages =
            if reducers.len() == 1 { vec![value.ty.clone()] } else { value.ty.members().unwrap_or_default() };
        let mut outs = Vec::new();
        for (i, reducer) in reducers.iter().enumerate() {
            let ty = messages.get(i).cloned().unwrap_or(Ty::Error);
            let span = match &value.kind {
                Kind::Tuple(all) if reducers.len() > 1 => all.get(i).map_or(value.span, |e| e.span),
                _ => value.span,
            };
            let part = Expr { ty, span, kind: Kind::Error };
            let Some(tensor) = self.tensor(&part) else {
                outs.push(Ty::Error);
                continue;
            };
            if !self.elems.restrict(tensor.elem, Domain::where_(|d| reducer.accepts(d))) {
                let found = self.elems.name(tensor.elem).to_owned();
                let error = SemaError::ReducerElements { reducer: reducer.name().to_owned(), found };
                let place = match reduce {
                    ast::Reduce::One(one) => one.span,
                    ast::Reduce::Tuple(span, all) => all.get(i).map_or(*span, |r| r.span),
                };
                let label = format!("this is `{}`", self.show(&part.ty));
                let error = error.at(place).label("needs numbers").also(part.span, label);
                self.report(error.help("`f32(c)` or `i64(c)` makes 0 and 1 of a condition"));
                outs.push(Ty::Error);
                continue;
            }
            self.reducers.push((*reducer, tensor.elem));
            let elem = reducer.result().map_or(tensor.elem, Elem::Known);
            outs.push(Ty::Tensor(Tensor { elem, ..tensor }));
        }
        outs
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
            let reducers = match &message.ast.reduce {
                Some(ast::Reduce::One(one)) => one.span,
                Some(ast::Reduce::Tuple(span, _)) => *span,
                None => place,
            };
            let error = error.at(place).label(count(node.names.len(), "name"));
            self.report(error.also(reducers, format!("gives {}", count(outs.len(), "value"))));
            return None;
        }
        self.scope.hide("src");
        self.scope.hide("edge");
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
        if !whole || !self.all_bound(signature, &bindings, site) {
            return self.poison(span);
        }
        let ty = over(&signature.result.substitute(&bindings.map), &relation.dst);
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
        bindings: &mut Bindings,
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
            let set = graph.set(match &*param.name {
                "edge" => "edges",
                name => name,
            })?;
            let Some(members) = self.members(&signature.name, &param.name, fields, value, param.span) else {
                whole = false;
                continue;
            };
            for ((name, ty), member) in fields.iter().zip(members) {
                let text = format!("field `{name}` of `{}`: `{}`", param.name, self.show(ty));
                if !self.over_set_of(&member, set, &param.name, name) {
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

    /// The fields of a record argument in the order of the declaration.
    fn members(
        &mut self,
        message: &str,
        record: &str,
        fields: &[(Arc<str>, Ty)],
        value: Expr,
        declared: Span,
    ) -> Option<Vec<Expr>> {
        let Ty::Record(given) = &value.ty else {
            if !value.ty.is_error() {
                let error = SemaError::Mismatch { expected: "record".into(), found: self.show(&value.ty) };
                let example = fields.first().map_or("{}".to_owned(), |(name, _)| format!("{{{name}: …}}"));
                self.report(
                    error
                        .at(value.span)
                        .label(format!("this is {}", value.ty.sort()))
                        .also(declared, "declared here")
                        .help(format!("write `{record}: {example}`")),
                );
            }
            return None;
        };
        let mut whole = true;
        for (name, _) in given {
            if !fields.iter().any(|(n, _)| n == name) {
                let error = SemaError::ExtraField {
                    message: message.to_owned(),
                    record: record.to_owned(),
                    field: name.to_string(),
                };
                let name = ast::Name { span: field_span(&value, name), text: name.to_string() };
                let diagnostic = unknown_field(error, &name, fields.iter().map(|(n, _)| &**n), |n| {
                    given.iter().any(|(g, _)| **g == *n)
                });
                self.report(diagnostic.also(declared, "declared here"));
                whole = false;
            }
        }
        // Where a field is misspelled, the missing one is no news.
        let known = whole;
        for (name, ty) in fields.iter().filter(|(name, _)| known && !given.iter().any(|(n, _)| n == name)) {
            let (message, record) = (message.to_owned(), record.to_owned());
            let error = SemaError::MissingField { message, record, field: name.to_string() };
            let label = format!("`{name}: {}` is declared here", self.show(ty));
            self.missing_field(error.at(value.span).also(declared, label), name, given.is_empty(), &value);
            whole = false;
        }
        if !whole {
            return None;
        }
        let index = |name: &Arc<str>| given.iter().position(|(n, _)| n == name);
        let order: Vec<usize> = fields.iter().filter_map(|(name, _)| index(name)).collect();
        let member = |i: &usize| match &value.kind {
            Kind::Tuple(members) => members[*i].clone(),
            _ => Expr { ty: given[*i].1.clone(), span: value.span, kind: Kind::Member(Box::new(value.clone()), *i) },
        };
        Some(order.iter().map(member).collect())
    }

    /// A field that a record lacks, and where it would be written.
    fn missing_field(&mut self, diagnostic: Diagnostic, name: &str, first: bool, record: &Expr) {
        let comma = if first { "" } else { ", " };
        let value = if self.lookup(name).is_some() { "" } else { ": …" };
        let diagnostic = diagnostic.label(format!("`{name}` is missing"));
        self.report(match &record.kind {
            Kind::Tuple(_) => {
                let end = record.span.inside_end();
                diagnostic.suggest(end, "give it a value", format!("{comma}{name}{value}"))
            }
            _ => diagnostic,
        });
    }

    /// Whether a field lives where the message reads it.
    fn over_set_of(&mut self, member: &Expr, set: &Symbol, record: &str, field: &str) -> bool {
        let Some(tensor) = self.tensor(member) else {
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
        } else if tensor.set.is_some() && record != "edge" {
            diagnostic = diagnostic.note("messages go from `src` to `dst`; `transpose(g)` exchanges the two");
        }
        self.report(diagnostic);
        false
    }
}

/// Where a field of a record argument is written.
fn field_span(value: &Expr, field: &str) -> Span {
    match (&value.kind, &value.ty) {
        (Kind::Tuple(members), Ty::Record(fields)) => {
            fields.iter().position(|(n, _)| &**n == field).map_or(value.span, |i| members[i].span)
        }
        _ => value.span,
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
