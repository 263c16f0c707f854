//! Operators: element types are made one, shapes are broadcast.

use super::super::error::SemaError;
use super::super::hir::{Expr, Kind};
use super::super::infer::{Domain, Elem};
use super::super::ty::{Tensor, Ty};
use super::Checker;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Attrs, Op, ops};
use tiga_source::Span;
use tiga_syntax::ast::{self, BinaryOp};

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        op: BinaryOp,
        op_span: Span,
        left: &ast::Expr,
        right: &ast::Expr,
        span: Span,
    ) -> Expr {
        let (left, right) = (self.expr(left), self.expr(right));
        let Some((ir, domain)) = ir_op(op) else {
            return self.matmul(left, right, op_span, span);
        };
        self.elementwise_at(ir, vec![left, right], domain, op.symbol(), op_span, span)
    }

    /// An elementwise op; `name` is what the source calls it.
    pub(super) fn elementwise(&mut self, op: Op, args: Vec<Expr>, domain: Domain, name: &str, span: Span) -> Expr {
        self.elementwise_at(op, args, domain, name, span, span)
    }

    fn elementwise_at(&mut self, op: Op, args: Vec<Expr>, domain: Domain, name: &str, caret: Span, span: Span) -> Expr {
        let tensors: Vec<Tensor> = args.iter().filter_map(|a| self.tensor(a)).collect();
        if tensors.len() < args.len() {
            return self.poison(span);
        }
        if !self.unify_all(&args, &tensors, caret) {
            return self.poison(span);
        }
        let elem = tensors[0].elem;
        let result = |d: DType| op.0.elementwise().and_then(|e| e.result(&vec![d; args.len()], &Attrs::new()));
        if !self.elems.restrict(elem, domain.and(Domain::where_(|d| result(d).is_some()))) {
            let error = SemaError::Undefined { op: name.to_owned(), found: self.elems.name(elem).to_owned() };
            let diagnostic = self.point_at_declarations(error.at(caret), &args);
            return self.fail(diagnostic, span);
        }
        let same = self.elems.domain(elem).iter().all(|d| result(d) == Some(d));
        let elem = if same { elem } else { Elem::Known(DType::Bool) };
        match self.shape(&args, &tensors, caret) {
            Some((set, dims)) => Expr { ty: Ty::Tensor(Tensor { elem, set, dims }), span, kind: Kind::Op(op, args) },
            None => self.poison(span),
        }
    }

    /// Makes all element types one, or reports the two that differ.
    fn unify_all(&mut self, args: &[Expr], tensors: &[Tensor], caret: Span) -> bool {
        for i in 1..tensors.len() {
            let (left, right) = (tensors[0].elem, tensors[i].elem);
            if !self.elems.unify(left, right) {
                let (l, r) = (self.elems.name(left).to_owned(), self.elems.name(right).to_owned());
                let error = SemaError::Elements { left: l, right: r };
                let diagnostic = self.two_places(error, &args[0], &args[i], caret);
                let diagnostic = self.conversion_help(diagnostic, right, left);
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
                    let diagnostic = self.two_places(error, &args[widest], &args[i], caret);
                    let rule = if tensor.set.is_some() && so_far.set.is_some() && tensor.set != so_far.set {
                        "fields go together only over the same set"
                    } else {
                        "feature axes are aligned at the end and must be equal there"
                    };
                    self.report(diagnostic.note(rule));
                    return None;
                }
            }
        }
        Some(shape)
    }

    /// A diagnostic that shows two operands with their types, and where they were declared.
    fn two_places(&self, error: SemaError, left: &Expr, right: &Expr, caret: Span) -> tiga_source::Diagnostic {
        let mut diagnostic = error.at(caret);
        for operand in [left, right] {
            if operand.span == caret {
                continue;
            }
            diagnostic = diagnostic.also(operand.span, format!("this is `{}`", self.show(&operand.ty)));
        }
        self.point_at_declarations(diagnostic, [left, right])
    }

    /// `where(c, a, b)`.
    pub(super) fn select(&mut self, args: Vec<Expr>, span: Span) -> Expr {
        let tensors: Vec<Tensor> = args.iter().filter_map(|a| self.tensor(a)).collect();
        let [condition, a, b] = tensors.as_slice() else {
            return self.poison(span);
        };
        if !self.elems.unify(condition.elem, Elem::Known(DType::Bool)) {
            let found = self.show(&args[0].ty);
            let error = SemaError::Mismatch { expected: "bool".into(), found };
            let diagnostic = self.point_at_declarations(error.at(args[0].span).label("not a condition"), [&args[0]]);
            return self.fail(diagnostic, span);
        }
        let elem = a.elem;
        if !self.unify_all(&args[1..], &[a.clone(), b.clone()], span) {
            return self.poison(span);
        }
        match self.shape(&args, &tensors, span) {
            Some((set, dims)) => {
                Expr { ty: Ty::Tensor(Tensor { elem, set, dims }), span, kind: Kind::Op(ops::SELECT, args) }
            }
            None => self.poison(span),
        }
    }

    /// `a @ b`: over the last axis of `a` and the first of `b`.
    fn matmul(&mut self, left: Expr, right: Expr, caret: Span, span: Span) -> Expr {
        let (Some(a), Some(b)) = (self.tensor(&left), self.tensor(&right)) else {
            return self.poison(span);
        };
        if b.set.is_some() {
            let diagnostic = self.two_places(SemaError::FieldProduct, &left, &right, caret);
            return self.fail(diagnostic, span);
        }
        let shapes = match (a.dims.split_last(), b.dims.split_first()) {
            (Some((k, rows)), Some((k2, columns))) if k == k2 && columns.len() <= 1 => Some([rows, columns].concat()),
            _ => None,
        };
        let Some(dims) = shapes else {
            let error = SemaError::MatMul { left: self.show(&left.ty), right: self.show(&right.ty) };
            let diagnostic = self.two_places(error, &left, &right, caret);
            let rule = "the last feature axis of the left side meets the first axis of the right side: \
                        `[…, K] @ [K, M]` or `[…, K] @ [K]`";
            return self.fail(diagnostic.note(rule), span);
        };
        let exprs = [left, right];
        if !self.unify_all(&exprs, &[a.clone(), b.clone()], caret) {
            return self.poison(span);
        }
        if !self.elems.restrict(a.elem, Domain::where_(|d| d != DType::Bool)) {
            let error = SemaError::Undefined { op: "@".into(), found: self.elems.name(a.elem).to_owned() };
            return self.fail(error.at(caret), span);
        }
        let [left, right] = exprs;
        let ty = Ty::Tensor(Tensor { elem: a.elem, set: a.set, dims });
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
