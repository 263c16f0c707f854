//! Expressions: literals, names, members, tuples; the rest is dispatched.

use super::super::error::SemaError;
use super::super::hir::{Axis, Entity, Expr, Inside, Kind};
use super::super::infer::{Domain, Elem};
use super::super::items::Entry;
use super::super::resolve::{unknown_field, unknown_graph_field};
use super::super::signature::duplicate;
use super::super::ty::{Tensor, Ty};
use super::{Checker, habit};
use indexmap::IndexMap;
use tiga_abi::DType;
use tiga_ir::{SymKind, ops};
use tiga_source::{Span, nearest};
use tiga_syntax::ast::{self, ExprKind, UnaryOp};

/// The entity whose record has a name.
fn entity_of(record: &str) -> Option<Entity> {
    Entity::ALL.into_iter().find(|entity| entity.record() == record)
}

/// What can be named there.
const IN_NODE: &str = "the node function sees the reduced values, `dst` and the message's parameters";

const IN_LIFT: &str = "`lift` and `step` see one message, and its edge";

/// Numbers that have names.
pub(super) const NAMED_NUMBERS: [&str; 2] = ["inf", "nan"];

impl Checker<'_> {
    /// Any expression.
    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int { text, .. } => self.literal(text.replace('_', ""), Domain::INTEGER, span),
            ExprKind::Float { text } => self.literal(text.clone(), Domain::FLOAT, span),
            ExprKind::Bool(value) => Expr { ty: Ty::scalar(DType::Bool), span, kind: Kind::Bool(*value) },
            ExprKind::Name(name) => self.name(name),
            ExprKind::Unary { op, operand } => self.unary(*op, operand, span),
            ExprKind::Binary { op, op_span, left, right } => self.binary(*op, *op_span, left, right, span),
            ExprKind::Call { callee, args } => self.call(callee, args, span),
            ExprKind::Index { base, indices } => self.indexed(base, indices, span),
            ExprKind::Field { base, name } => self.field(base, name, span),
            ExprKind::Element { base, index, index_span } => self.element(base, *index, *index_span, span),
            ExprKind::Record(fields) => self.record(fields, span),
            ExprKind::Tuple(elements) => {
                let members: Vec<Expr> = elements.iter().map(|e| self.expr(e)).collect();
                let ty = Ty::Tuple(members.iter().map(|m| m.ty.clone()).collect());
                Expr { ty, span, kind: Kind::Tuple(members) }
            }
            ExprKind::List(_) => {
                let error = SemaError::NotATensor { found: "a list of extents".into() }.at(span);
                self.fail(error.help("a list in brackets is a shape, as in `fill([N, 16], 0.0)`"), span)
            }
            ExprKind::If(item) => self.branch(item, span),
            ExprKind::Loop(item) => self.loop_expr(item, span),
            ExprKind::Error => self.poison(span),
        }
    }

    pub(super) fn literal(&mut self, text: String, domain: Domain, span: Span) -> Expr {
        let elem = self.elems.open(domain);
        self.literals.push((elem, text.clone(), span));
        Expr { ty: Ty::Tensor(Tensor::scalar(elem)), span, kind: Kind::Literal(text) }
    }

    fn unary(&mut self, op: UnaryOp, operand: &ast::Expr, span: Span) -> Expr {
        match (op, &operand.kind) {
            (UnaryOp::Neg, ExprKind::Int { text, .. }) => {
                self.literal(format!("-{}", text.replace('_', "")), Domain::INTEGER, span)
            }
            (UnaryOp::Neg, ExprKind::Float { text }) => self.literal(format!("-{text}"), Domain::FLOAT, span),
            (UnaryOp::Neg, _) => {
                let operand = self.expr(operand);
                self.elementwise(ops::NEG, vec![operand], Domain::ANY, ("-", span.first(1)), span)
            }
            (UnaryOp::Not, _) => {
                let operand = self.expr(operand);
                self.elementwise(ops::NOT, vec![operand], Domain::BOOL, ("!", span.first(1)), span)
            }
        }
    }

    fn name(&mut self, name: &ast::Name) -> Expr {
        let span = name.span;
        if let Some(id) = self.lookup(&name.text) {
            return Expr { ty: self.locals[id.0].ty.clone(), span, kind: Kind::Local(id) };
        }
        if let Some((symbol, generic)) = self.generics.get_key_value(name.text.as_str()) {
            if generic.kind == SymKind::Dim {
                let axis = Axis::Extent(tiga_abi::Poly::symbol(symbol.clone()));
                return Expr { ty: Ty::scalar(DType::I64), span, kind: Kind::Len(axis) };
            }
            let error = SemaError::NotAValue { name: name.text.clone(), what: "a set" }.at(span);
            let size = format!("len({})", name.text);
            return self.fail(error.label("this is a set").suggest(span, "its size is a value", size), span);
        }
        match self.table.entry(&name.text) {
            Some(Entry::Constant(index)) => {
                self.calls.push((super::Callee::Constant(index), span));
                return Expr { ty: self.table.constants[index].ty.clone(), span, kind: Kind::Constant(index) };
            }
            Some(Entry::Broken) => return self.poison(span),
            Some(entry) => {
                let error = SemaError::NotAValue { name: name.text.clone(), what: entry.sort() }.at(span);
                let error = match self.table.place(&name.text) {
                    Some(place) => error.also(place, "declared here"),
                    None => error,
                };
                let error = error.label(format!("this is {}", entry.sort()));
                return self.fail(error, span);
            }
            None => {}
        }
        if NAMED_NUMBERS.contains(&name.text.as_str()) {
            let elem = self.elems.open(Domain::FLOAT);
            return Expr { ty: Ty::Tensor(Tensor::scalar(elem)), span, kind: Kind::Literal(name.text.clone()) };
        }
        self.unknown_value(name)
    }

    fn unknown_value(&mut self, name: &ast::Name) -> Expr {
        let error = SemaError::UnknownValue { name: name.text.clone() }.at(name.span).label("not found");
        let locals = self.scope.names();
        let generics = self.generics.keys().map(|s| &**s).filter(|s| !s.contains('.'));
        let constants = self.table.names(|e| matches!(e, Entry::Constant(_)));
        let constants = constants.filter(|n| self.item.as_deref() != Some(*n));
        let candidates: Vec<&str> = locals.chain(generics).chain(constants).chain(NAMED_NUMBERS).collect();
        let diagnostic = match (self.fields_named(&name.text).as_slice(), nearest(&name.text, candidates)) {
            ([record], _) => {
                let text = format!("`{record}` has a field of this name");
                error.suggest(name.span, text, format!("{record}.{}", name.text))
            }
            ([records @ .., last], _) => {
                let field = |record: &&str| format!("`{record}.{}`", name.text);
                let all: Vec<String> = records.iter().map(field).collect();
                error.help(format!("fields of this name are {} and {}", all.join(", "), field(last)))
            }
            ([], Some(near)) => error.suggest(name.span, "a similar name exists", near),
            ([], None) if super::builtin::names().any(|n| n == name.text) => {
                error.help(format!("`{0}` is a function: `{0}(…)`", name.text))
            }
            ([], None) => match entity_of(&name.text).and_then(|entity| self.without_record(entity)) {
                Some(help) => error.help(help),
                None => error,
            },
        };
        self.fail(diagnostic, name.span)
    }

    /// Why there is no record of an entity here.
    fn without_record(&self, entity: Entity) -> Option<String> {
        match self.inside {
            Some(Inside::Message(_)) if self.sees.contains(&entity) => {
                let name = entity.record();
                Some(format!("a message says which fields of `{name}` it reads: add `{name}: {{…}}` to its parameters"))
            }
            Some(Inside::Message(_)) => Some(IN_NODE.into()),
            Some(_) => Some(IN_LIFT.into()),
            None => None,
        }
    }

    /// The records in scope that have a field of a name.
    fn fields_named(&self, name: &str) -> Vec<&'static str> {
        let has = |record: &&str| {
            let ty = self.lookup(record).map(|id| &self.locals[id.0].ty);
            matches!(ty, Some(Ty::Record(fields)) if fields.iter().any(|(field, _)| **field == *name))
        };
        ["src", "dst", "edge"].into_iter().filter(has).collect()
    }

    fn field(&mut self, base: &ast::Expr, name: &ast::Name, span: Span) -> Expr {
        if let ExprKind::Name(owner) = &base.kind
            && self.lookup(&owner.text).is_none()
            && matches!(self.table.entry(&owner.text), Some(Entry::Program(_)))
        {
            return self.vjp(owner, span);
        }
        if let Some(position) = self.position(base, name, span) {
            return position;
        }
        let value = self.expr(base);
        let member = match &value.ty {
            Ty::Error => return self.poison(span),
            Ty::Record(fields) => fields.iter().position(|(n, _)| **n == name.text).map(|i| (i, fields[i].1.clone())),
            Ty::Graph(graph) => {
                let owner = name_of(base);
                let diagnostic = match graph.set(&name.text) {
                    Some(_) => {
                        let name = format!("{owner}.{}", name.text);
                        let size = format!("len({name})");
                        let error = SemaError::NotAValue { name, what: "a set" }.at(span).label("this is a set");
                        error.suggest(span, "its size is a value", size)
                    }
                    None => unknown_graph_field(&owner, graph, name),
                };
                return self.fail(diagnostic, span);
            }
            _ => None,
        };
        if let Some((index, ty)) = member {
            return Expr { ty, span, kind: Kind::Member(Box::new(value), index) };
        }
        self.no_field(base, &value, name, span)
    }

    /// `edge.index`, unless the record has such a field.
    fn position(&mut self, base: &ast::Expr, name: &ast::Name, span: Span) -> Option<Expr> {
        let owner = name_of(base);
        let entity = entity_of(&owner).filter(|_| name.text == "index")?;
        let inside = self.inside.clone()?;
        let declared = self.lookup(&owner).map(|id| &self.locals[id.0].ty);
        if declared.is_some_and(|ty| !matches!(ty, Ty::Record(fields) if !fields.iter().any(|(n, _)| **n == *"index")))
        {
            return None;
        }
        if !self.sees.contains(&entity) {
            let what = format!("`{owner}.index`");
            let (owner, help) = match inside {
                Inside::Message(_) => (format!("the node function of {inside}"), IN_NODE),
                _ => (format!("this clause of {inside}"), IN_LIFT),
            };
            return Some(self.fail(SemaError::Inside { what, owner }.at(span).help(help), span));
        }
        if let Err(place) = self.positions.binary_search(&entity) {
            self.positions.insert(place, entity);
        }
        Some(Expr { ty: Ty::scalar(DType::I64), span, kind: Kind::Position(entity) })
    }

    fn no_field(&mut self, base: &ast::Expr, value: &Expr, name: &ast::Name, span: Span) -> Expr {
        let owner = name_of(base);
        let fields: Vec<&str> = match &value.ty {
            Ty::Record(fields) => fields.iter().map(|(n, _)| &**n).collect(),
            _ => Vec::new(),
        };
        let owner = if owner.is_empty() { value.ty.sort().to_owned() } else { format!("`{owner}`") };
        let error = SemaError::UnknownField { owner, field: name.text.clone() };
        let diagnostic = unknown_field(error, name, fields.into_iter());
        let diagnostic = habit::method(diagnostic, base, &name.text, &value.ty);
        let diagnostic = self.point_at_declarations(diagnostic, [value]);
        self.fail(diagnostic, span)
    }

    fn element(&mut self, base: &ast::Expr, index: u32, index_span: Span, span: Span) -> Expr {
        let value = self.expr(base);
        if value.ty == Ty::Error {
            return self.poison(span);
        }
        match value.ty.members().and_then(|m| m.get(index as usize).cloned()) {
            Some(ty) => Expr { ty, span, kind: Kind::Member(Box::new(value), index as usize) },
            None => {
                let found = match value.ty.members() {
                    Some(members) => format!("a tuple of {}", members.len()),
                    None => value.ty.sort().to_owned(),
                };
                let diagnostic = SemaError::NoElement { found, index }.at(index_span).label("no such element");
                let diagnostic = self.point_at_declarations(diagnostic, [&value]);
                let diagnostic = self.element_of_axis(diagnostic, base, index, span, &value.ty);
                self.fail(diagnostic, span)
            }
        }
    }

    fn record(&mut self, fields: &[ast::RecordField], span: Span) -> Expr {
        let mut seen: IndexMap<&str, Span> = IndexMap::new();
        let (mut members, mut types, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for field in fields {
            if let Some(first) = seen.insert(&field.name.text, field.name.span) {
                self.report(duplicate("field", &field.name, first));
                continue;
            }
            let value = match &field.value {
                Some(value) => self.expr(value),
                None => {
                    self.shorthands.push(field.name.span);
                    self.name(&field.name)
                }
            };
            types.push((field.name.text.as_str().into(), value.ty.clone()));
            members.push(value);
            names.push(field.name.span);
        }
        self.field_names.insert(span, names);
        Expr { ty: Ty::Record(types), span, kind: Kind::Tuple(members) }
    }

    /// An element type that a call names, as in `f32(x)`.
    pub(super) fn conversion_target(&self, name: &str) -> Option<Option<DType>> {
        match self.table.entry(name) {
            Some(Entry::Alias(dtype)) => Some(dtype),
            Some(_) => None,
            None => name.parse().ok().map(Some),
        }
    }

    /// `f32(x)`; a literal takes the type instead of being converted.
    pub(super) fn cast(&mut self, value: Expr, dtype: DType, span: Span) -> Expr {
        let Some(tensor) = self.tensor(&value) else {
            return self.poison(span);
        };
        if matches!(tensor.elem, Elem::Open(_)) && self.elems.unify(tensor.elem, Elem::Known(dtype)) {
            return Expr { span, ..value };
        }
        let ty = Ty::Tensor(Tensor { elem: Elem::Known(dtype), ..tensor });
        Expr { ty, span, kind: Kind::Cast(Box::new(value)) }
    }
}

/// The text of an expression that is a name, else nothing.
pub(super) fn name_of(expr: &ast::Expr) -> String {
    match &expr.kind {
        ExprKind::Name(name) => name.text.clone(),
        _ => String::new(),
    }
}
