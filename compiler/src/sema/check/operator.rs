//! Operators: element types are made one, shapes are broadcast.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind};
use super::super::infer::{Domain, Elem};
use super::super::ty::{Tensor, Ty};
use super::Checker;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Attrs, Op, ops};
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast::{self, BinaryOp, ExprKind};

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let meets = self.meets;
        self.meets = self.glance(right).or(meets);
        let seen = self.glance(left).or(meets);
        let left = self.expr(left);
        self.meets = seen;
        let right = self.expr(right);
        self.meets = meets;
        let Some((ir, domain)) = ir_op(op) else {
            return self.matmul(left, right, op_span, span);
        };
        self.elementwise(ir, vec![left, right], domain, (op.symbol(), op_span), span)
    }

    /// The float type of an expression, if names say it: so much is known of what is not checked yet.
    fn glance(&self, expr: &ast::Expr) -> Option<DType> {
        let float = |ty: &Ty| match ty {
            Ty::Tensor(t) => self.elems.domain(t.elem).single().filter(|d| d.is_float()),
            _ => None,
        };
        let local = |name: &ast::Name| self.lookup(&name.text).map(|id| &self.locals[id.0].ty);
        match &expr.kind {
            ExprKind::Name(name) => float(local(name)?),
            ExprKind::Field { base, name } => match &base.kind {
                ExprKind::Name(record) => match local(record)? {
                    Ty::Record(fields) => fields.iter().find(|(n, _)| **n == name.text).and_then(|(_, ty)| float(ty)),
                    _ => None,
                },
                _ => None,
            },
            ExprKind::Unary { operand, .. } => self.glance(operand),
            ExprKind::Binary { op, left, right, .. } if is_arithmetic(*op) => {
                self.glance(left).or_else(|| self.glance(right))
            }
            _ => None,
        }
    }

    /// An elementwise op; `name` is what the source calls it, and `caret` where.
    pub(super) fn elementwise(
        &mut self,
        op: Op,
        args: Vec<Expr>,
        domain: Domain,
        (name, caret): (&str, Span),
        span: Span,
    ) -> Expr {
        let tensors: Vec<Tensor> = args.iter().filter_map(|a| self.tensor(a)).collect();
        if tensors.len() < args.len() {
            return self.poison(span);
        }
        if !self.unify_all(&args, &tensors, caret) {
            return self.poison(span);
        }
        let elem = tensors[0].elem;
        let result = |d: DType| op.0.elementwise().and_then(|e| e.result(&vec![d; args.len()], &Attrs::new()));
        let defined = domain.and(Domain::where_(|d| result(d).is_some()));
        if !self.elems.restrict(elem, defined) {
            return self.undefined((name, caret), elem, defined, &args, span);
        }
        let same = self.elems.domain(elem).iter().all(|d| result(d) == Some(d));
        let elem = if same { elem } else { Elem::Known(DType::Bool) };
        match self.shape(&args, &tensors, caret) {
            Some((set, dims)) => Expr { ty: Ty::Tensor(Tensor { elem, set, dims }), span, kind: Kind::Op(op, args) },
            None => self.poison(span),
        }
    }

    /// An op that is not defined for the element type of its operands.
    pub(super) fn undefined(
        &mut self,
        (name, caret): (&str, Span),
        elem: Elem,
        defined: Domain,
        args: &[Expr],
        span: Span,
    ) -> Expr {
        let error = SemaError::Undefined { op: name.to_owned(), found: self.elems.name(elem).to_owned() };
        let names: Vec<String> = defined.iter().map(|d| format!("`{}`", d.name())).collect();
        let needs = match names.split_last() {
            Some((last, [])) => last.clone(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => "another type".to_owned(),
        };
        let operands: Vec<&Expr> = args.iter().collect();
        let diagnostic = self.places(error.at(caret).label(format!("needs {needs}")), &operands);
        let found = self.elems.domain(elem);
        let diagnostic = if found == Domain::BOOL {
            diagnostic.help("`f32(c)` or `i64(c)` makes 0 and 1 of a condition")
        } else if defined == Domain::BOOL {
            diagnostic.help("a comparison makes a condition of a number: `x != 0`")
        } else if defined == Domain::FLOAT {
            // A function of one operand is typed as an op of two equal ones.
            let once = args.iter().enumerate().filter(|(i, arg)| !args[..*i].iter().any(|a| a.span == arg.span));
            once.fold(diagnostic, |d, (_, arg)| match self.meets {
                Some(float) => self.convert(d, arg, elem, Elem::Known(float)),
                None => {
                    let value = self.called(arg);
                    d.help(format!("convert it: `f32({value})` or `f64({value})`"))
                }
            })
        } else {
            diagnostic
        };
        self.fail(diagnostic, span)
    }

    /// Makes all element types one, or reports the two that differ.
    pub(super) fn unify_all(&mut self, args: &[Expr], tensors: &[Tensor], caret: Span) -> bool {
        for i in 1..tensors.len() {
            let (left, right) = (tensors[0].elem, tensors[i].elem);
            if !self.elems.unify(left, right) {
                let (l, r) = (self.elems.name(left).to_owned(), self.elems.name(right).to_owned());
                let error = SemaError::Elements { left: l, right: r };
                let diagnostic = self.places(error.at(caret), &[&args[0], &args[i]]);
                let diagnostic = match self.precedence(left) < self.precedence(right) {
                    true => self.convert(diagnostic, &args[0], left, right),
                    false => self.convert(diagnostic, &args[i], right, left),
                };
                self.report(diagnostic);
                return false;
            }
        }
        true
    }

    /// The common shape, or a report of the first that does not go with those before it.
    fn shape(&mut self, args: &[Expr], tensors: &[Tensor], caret: Span) -> Option<(Option<Symbol>, Vec<Poly>)> {
        let mut widest = 0;
        let mut shape = (tensors[0].set.clone(), tensors[0].dims.clone());
        for (i, tensor) in tensors.iter().enumerate().skip(1) {
            let so_far = Tensor { elem: tensor.elem, set: shape.0.clone(), dims: shape.1.clone() };
            match broadcast(&so_far, tensor) {
                Some(next) => {
                    if tensor.rank() > tensors[widest].rank() {
                        widest = i;
                    }
                    shape = next;
                }
                None => {
                    let error = SemaError::Shapes { left: self.show(&args[widest].ty), right: self.show(&args[i].ty) };
                    let label = meeting(&so_far, tensor).unwrap_or_default();
                    let diagnostic = self.places(error.at(caret).label(label), &[&args[widest], &args[i]]);
                    self.report(if tensor.set.is_some() && so_far.set.is_some() && tensor.set != so_far.set {
                        let help = "a message along a graph takes values from its `src` to its `dst`";
                        diagnostic.note("fields go together only over the same set").help(help)
                    } else {
                        let rule = "feature axes are aligned at the end and must be equal there";
                        self.product_meant(diagnostic, args).note(rule)
                    });
                    return None;
                }
            }
        }
        Some(shape)
    }

    /// Shows operands with their types, and where they were declared.
    pub(super) fn places(&self, mut diagnostic: Diagnostic, operands: &[&Expr]) -> Diagnostic {
        let mut shown = Vec::new();
        for operand in operands {
            if operand.span == diagnostic.primary.span || shown.contains(&operand.span) {
                continue;
            }
            shown.push(operand.span);
            diagnostic = diagnostic.also(operand.span, format!("this is `{}`", self.show(&operand.ty)));
        }
        self.point_at_declarations(diagnostic, operands.iter().copied())
    }

    /// `where(c, a, b)`.
    pub(super) fn select(&mut self, args: Vec<Expr>, caret: Span, span: Span) -> Expr {
        let tensors: Vec<Tensor> = args.iter().filter_map(|a| self.tensor(a)).collect();
        let [condition, a, b] = tensors.as_slice() else {
            return self.poison(span);
        };
        if !self.elems.unify(condition.elem, Elem::Known(DType::Bool)) {
            let found = self.show(&args[0].ty);
            let error = SemaError::Mismatch { expected: "bool".into(), found };
            let diagnostic = self.point_at_declarations(error.at(args[0].span).label("not a condition"), [&args[0]]);
            let diagnostic = self.convert(diagnostic, &args[0], condition.elem, Elem::Known(DType::Bool));
            return self.fail(diagnostic, span);
        }
        let elem = a.elem;
        if !self.unify_all(&args[1..], &[a.clone(), b.clone()], caret) {
            return self.poison(span);
        }
        match self.shape(&args, &tensors, caret) {
            Some((set, dims)) => {
                Expr { ty: Ty::Tensor(Tensor { elem, set, dims }), span, kind: Kind::Op(ops::SELECT, args) }
            }
            None => self.poison(span),
        }
    }

    /// An elementwise operation on what only a product of matrices takes.
    fn product_meant(&self, diagnostic: Diagnostic, args: &[Expr]) -> Diagnostic {
        let [left, right] = args else { return diagnostic };
        match (&left.ty, &right.ty) {
            (Ty::Tensor(a), Ty::Tensor(b)) if b.set.is_none() && multiplies(a, b) => {
                let (a, b) = (self.called(left), self.called(right));
                diagnostic.help(format!("`@` multiplies by a matrix: `{a} @ {b}`"))
            }
            _ => diagnostic,
        }
    }

    /// An expression in an advice: its name, if it is one.
    pub(super) fn called(&self, expr: &Expr) -> &str {
        match &expr.kind {
            Kind::Local(id) => &self.locals[id.0].name,
            _ => "…",
        }
    }

    /// `a @ b`: over the last axis of `a` and the first of `b`.
    fn matmul(&mut self, left: Expr, right: Expr, caret: Span, span: Span) -> Expr {
        let (Some(a), Some(b)) = (self.tensor(&left), self.tensor(&right)) else {
            return self.poison(span);
        };
        self.needs_axis(caret, "`@`".to_owned());
        let set = match (&a.set, &b.set) {
            (Some(x), Some(y)) if x != y => {
                let error = SemaError::MatMul { left: self.show(&left.ty), right: self.show(&right.ty) };
                let diagnostic = self.places(error.at(caret).label(format!("`{x}` meets `{y}`")), &[&left, &right]);
                return self.fail(diagnostic.note("fields are multiplied entity by entity, over the same set"), span);
            }
            (x, y) => x.clone().or_else(|| y.clone()),
        };
        let shapes = multiplies(&a, &b).then(|| [&a.dims[..a.dims.len() - 1], &b.dims[1..]].concat());
        let Some(dims) = shapes else {
            let error = SemaError::MatMul { left: self.show(&left.ty), right: self.show(&right.ty) };
            let label = match (a.dims.last(), b.dims.first()) {
                (Some(k), Some(k2)) if k != k2 => format!("`{k}` meets `{k2}`"),
                _ => String::new(),
            };
            let mut diagnostic = self.places(error.at(caret).label(label), &[&left, &right]);
            if let (None, [_, k]) = (&b.set, b.dims.as_slice())
                && a.dims.last() == Some(k)
            {
                let matrix = self.called(&right);
                diagnostic =
                    diagnostic.help(format!("with its axes exchanged it fits: `transpose_axes({matrix}, 0, 1)`"));
            } else if multiplies(&b, &a) {
                let (a, b) = (self.called(&left), self.called(&right));
                diagnostic = diagnostic.help(format!("the other way round they fit: `{b} @ {a}`"));
            }
            let rule = "the last feature axis of the left side meets the first axis of the right side: \
                        `[…, K] @ [K, M]` or `[…, K] @ [K]`";
            return self.fail(diagnostic.note(rule), span);
        };
        let exprs = [left, right];
        if !self.unify_all(&exprs, &[a.clone(), b.clone()], caret) {
            return self.poison(span);
        }
        if !self.elems.restrict(a.elem, Domain::where_(|d| d != DType::Bool)) {
            let numbers = Domain::where_(|d| d != DType::Bool);
            return self.undefined(("@", caret), a.elem, numbers, &exprs, span);
        }
        let [left, right] = exprs;
        let ty = Ty::Tensor(Tensor { elem: a.elem, set, dims });
        Expr { ty, span, kind: Kind::MatMul(Box::new(left), Box::new(right)) }
    }
}

/// The op of an operator, and the element types the language has it for; `None` for `@`.
const fn ir_op(op: BinaryOp) -> Option<(Op, Domain)> {
    Some(match op {
        BinaryOp::Or => (ops::OR, Domain::BOOL),
        BinaryOp::And => (ops::AND, Domain::BOOL),
        BinaryOp::Eq => (ops::EQ, Domain::ANY),
        BinaryOp::Ne => (ops::NE, Domain::ANY),
        BinaryOp::Lt => (ops::LT, Domain::ANY),
        BinaryOp::Le => (ops::LE, Domain::ANY),
        BinaryOp::Gt => (ops::GT, Domain::ANY),
        BinaryOp::Ge => (ops::GE, Domain::ANY),
        BinaryOp::Add => (ops::ADD, Domain::ANY),
        BinaryOp::Sub => (ops::SUB, Domain::ANY),
        BinaryOp::Mul => (ops::MUL, Domain::ANY),
        BinaryOp::Div => (ops::DIV, Domain::ANY),
        BinaryOp::Rem => (ops::REM, Domain::ANY),
        BinaryOp::MatMul => return None,
    })
}

/// Whether the result has the type of the operands.
const fn is_arithmetic(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::MatMul)
}

/// Whether the shapes are those of `a @ b`.
fn multiplies(a: &Tensor, b: &Tensor) -> bool {
    a.dims.last().is_some_and(|k| b.dims.first() == Some(k)) && b.dims.len() <= 2
}

/// Which axes of two shapes that cannot be broadcast are not the same.
fn meeting(a: &Tensor, b: &Tensor) -> Option<String> {
    if let (Some(x), Some(y)) = (&a.set, &b.set)
        && x != y
    {
        return Some(format!("`{x}` meets `{y}`"));
    }
    let (x, y) = a.dims.iter().rev().zip(b.dims.iter().rev()).find(|(x, y)| x != y)?;
    Some(format!("`{x}` meets `{y}`"))
}

/// The common shape of two: sets match by name, features align at the end.
fn broadcast(a: &Tensor, b: &Tensor) -> Option<(Option<Symbol>, Vec<Poly>)> {
    let set = match (&a.set, &b.set) {
        (Some(x), Some(y)) if x != y => return None,
        (Some(x), _) => Some(x.clone()),
        (None, y) => y.clone(),
    };
    let (long, short) = if b.dims.len() > a.dims.len() { (&b.dims, &a.dims) } else { (&a.dims, &b.dims) };
    long.ends_with(short).then(|| (set, long.clone()))
}
