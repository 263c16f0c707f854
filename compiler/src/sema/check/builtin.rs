//! Functions of the language: reductions, fields and graphs, and every elementwise op by its name.

use super::super::error::SemaError;
use super::super::hir::{Axis, Composite, Expr, Kind};
use super::super::infer::{Domain, Elem};
use super::super::ty::{Graph, Tensor, Ty};
use super::{Checker, count};
use crate::builtin::BuiltinReducer;
use tiga_abi::{DType, Poly};
use tiga_ir::{Op, ops};
use tiga_source::Span;
use tiga_syntax::ast::{self, ArgKind, ExprKind, UnaryOp};

/// Functions that are not simply elementwise ops.
const SPECIAL: [&str; 12] = [
    "sum",
    "mean",
    "prod",
    "len",
    "fill",
    "in_degree",
    "out_degree",
    "transpose",
    "where",
    "isnan",
    "relu",
    "leaky_relu",
];

/// Elementwise ops that the source spells otherwise, or cannot ask for.
const NOT_CALLED: [Op; 20] = [
    ops::ADD,
    ops::SUB,
    ops::MUL,
    ops::DIV,
    ops::REM,
    ops::NEG,
    ops::FMA,
    ops::EQ,
    ops::NE,
    ops::LT,
    ops::LE,
    ops::GT,
    ops::GE,
    ops::AND,
    ops::OR,
    ops::XOR,
    ops::NOT,
    ops::SELECT,
    ops::CAST,
    ops::BITCAST,
];

/// Bit operations have no syntax yet.
const BITS: [Op; 3] = [ops::SHL, ops::SHR, ops::SAR];

/// The op that a name calls, if it is one.
fn callable(name: &str) -> Option<Op> {
    let called = |op: &Op| op.0.elementwise().is_some() && !NOT_CALLED.contains(op) && !BITS.contains(op);
    ops::lookup(name).filter(called)
}

/// All functions there are.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let ops = ops::ALL.iter().map(|op| op.0.name()).filter(|n| callable(n).is_some());
    SPECIAL.into_iter().chain(DType::ALL.iter().map(|d| d.name())).chain(ops)
}

impl Checker<'_> {
    pub(super) fn builtin(&mut self, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        match name.text.as_str() {
            "sum" => self.reduction(BuiltinReducer::Sum, args, span),
            "mean" => self.reduction(BuiltinReducer::Mean, args, span),
            "prod" => self.reduction(BuiltinReducer::Prod, args, span),
            "max" if reduces(args) => self.reduction(BuiltinReducer::Max, args, span),
            "min" if reduces(args) => self.reduction(BuiltinReducer::Min, args, span),
            "len" => self.len(args, span),
            "fill" => self.fill(args, span),
            "in_degree" => self.degree(&name.text, true, args, span),
            "out_degree" => self.degree(&name.text, false, args, span),
            "transpose" => self.transpose(args, span),
            "where" => match self.positional("where", &[3], args, span) {
                Some(args) => self.select(args, span),
                None => self.poison(span),
            },
            "isnan" => self.composite(Composite::IsNan, args, span),
            "relu" => self.composite(Composite::Relu, args, span),
            "leaky_relu" => self.composite(Composite::LeakyRelu, args, span),
            _ => match callable(&name.text) {
                Some(op) => self.op_call(op, &name.text, args, span),
                None => self.unknown_function(name, args, span),
            },
        }
    }

    fn op_call(&mut self, op: Op, name: &str, args: &[ast::Arg], span: Span) -> Expr {
        let arity = op.0.elementwise().map_or(0, |e| e.arity());
        match self.positional(name, &[arity], args, span) {
            Some(args) => self.elementwise(op, args, Domain::ANY, name, span),
            None => self.poison(span),
        }
    }

    /// `isnan(x)`, `relu(x)`, `leaky_relu(x, slope)`.
    fn composite(&mut self, which: Composite, args: &[ast::Arg], span: Span) -> Expr {
        let (name, op, arity, domain) = match which {
            Composite::IsNan => ("isnan", ops::NE, 1, Domain::FLOAT),
            Composite::Relu => ("relu", ops::MAX, 1, Domain::ANY),
            Composite::LeakyRelu => ("leaky_relu", ops::MUL, 2, Domain::FLOAT),
        };
        let Some(args) = self.positional(name, &[arity], args, span) else {
            return self.poison(span);
        };
        // The op with the same rule stands in for the function; unary ones meet themselves.
        let operands = if arity == 1 { vec![args[0].clone(), args[0].clone()] } else { args.clone() };
        let typed = self.elementwise(op, operands, domain, name, span);
        match typed.kind {
            Kind::Error => typed,
            _ => Expr { ty: typed.ty, span, kind: Kind::Composite(which, args) },
        }
    }

    /// `sum(x)` over the set, `sum(x, axis: k)` over one axis.
    fn reduction(&mut self, reducer: BuiltinReducer, args: &[ast::Arg], span: Span) -> Expr {
        let named = |a: &&ast::Arg| matches!(&a.kind, ArgKind::Named(n) if n.text == "axis");
        let axis = args.iter().find(named).map(|a| &a.value);
        let rest: Vec<ast::Arg> = args.iter().filter(|a| !named(a)).cloned().collect();
        if let Some(ArgKind::Named(name)) = rest.iter().map(|a| &a.kind).find(|k| matches!(k, ArgKind::Named(_))) {
            self.unknown_argument(reducer.name(), &["axis"], name);
            return self.poison(span);
        }
        let Some(values) = self.positional(reducer.name(), &[1], &rest, span) else {
            return self.poison(span);
        };
        let Some(value) = values.into_iter().next() else {
            return self.poison(span);
        };
        let Some(tensor) = self.tensor(&value) else {
            return self.poison(span);
        };
        if !self.elems.restrict(tensor.elem, Domain::where_(|d| reducer.accepts(d))) {
            let found = self.elems.name(tensor.elem).to_owned();
            let error = SemaError::ReducerElements { reducer: reducer.name().to_owned(), found };
            let diagnostic = self.point_at_declarations(error.at(span), [&value]);
            return self.fail(diagnostic.help("`f32(c)` or `i64(c)` makes 0 and 1 of a condition"), span);
        }
        self.reducers.push((reducer, tensor.elem));
        match axis {
            None => self.over_set(reducer, value, &tensor, span),
            Some(axis) => self.over_axis(reducer, value, &tensor, axis, span),
        }
    }

    fn over_set(&mut self, reducer: BuiltinReducer, value: Expr, tensor: &Tensor, span: Span) -> Expr {
        if tensor.set.is_none() {
            let error = SemaError::NoSet { reducer: reducer.name().to_owned(), found: self.show(&value.ty) };
            let error = error.at(value.span).label(format!("this is {}", value.ty.sort()));
            let diagnostic = self.point_at_declarations(error, [&value]);
            let help = format!("`{}(…, axis: -1)` reduces over the last axis", reducer.name());
            return self.fail(diagnostic.help(help), span);
        }
        self.needs_whole_graph(span, format!("`{}` over a set", reducer.name()));
        Expr { ty: Ty::Tensor(tensor.element()), span, kind: Kind::ReduceSet(reducer, Box::new(value)) }
    }

    fn over_axis(
        &mut self,
        reducer: BuiltinReducer,
        value: Expr,
        tensor: &Tensor,
        axis: &ast::Expr,
        span: Span,
    ) -> Expr {
        let Some(written) = integer(axis) else {
            return self.fail(SemaError::AxisNotConstant.at(axis.span), span);
        };
        let rank = tensor.rank() as i64;
        let index = if written < 0 { written + rank } else { written };
        if !(0..rank).contains(&index) {
            let error = SemaError::NoAxis { found: format!("`{}`", self.show(&value.ty)), axis: written.to_string() };
            let axes = format!(
                "it has {}, numbered from 0, or from −1 at the end",
                count(tensor.rank(), "axis").replace("axiss", "axes")
            );
            let diagnostic = self.point_at_declarations(error.at(axis.span), [&value]);
            return self.fail(diagnostic.note(axes), span);
        }
        let feature = index - i64::from(tensor.set.is_some());
        if feature < 0 {
            return self.over_set(reducer, value, tensor, span);
        }
        let mut dims = tensor.dims.clone();
        dims.remove(feature as usize);
        let ty = Ty::Tensor(Tensor { elem: tensor.elem, set: tensor.set.clone(), dims });
        Expr { ty, span, kind: Kind::ReduceAxis(reducer, feature, Box::new(value)) }
    }

    /// Arguments as written, none named.
    fn written<'e>(&mut self, callee: &str, n: usize, args: &'e [ast::Arg], span: Span) -> Option<Vec<&'e ast::Expr>> {
        if let Some(arg) = args.iter().find(|a| a.kind != ArgKind::Positional) {
            let name = match &arg.kind {
                ArgKind::Named(name) => name.text.clone(),
                _ => "at most".to_owned(),
            };
            self.report(SemaError::UnknownArgument { callee: callee.to_owned(), name }.at(arg.span));
            return None;
        }
        if args.len() != n {
            let (expected, found) = (count(n, "argument"), count(args.len(), "argument"));
            self.report(SemaError::ArgumentCount { callee: callee.to_owned(), expected, found }.at(span));
            return None;
        }
        Some(args.iter().map(|a| &a.value).collect())
    }

    /// `len(N)`, `len(g.edges)`, `len(F)`.
    fn len(&mut self, args: &[ast::Arg], span: Span) -> Expr {
        let Some(args) = self.written("len", 1, args, span) else {
            return self.poison(span);
        };
        if let ExprKind::Name(name) = &args[0].kind
            && !self.generics.contains_key(name.text.as_str())
            && let Some(id) = self.lookup(&name.text)
            && let Ty::Tensor(tensor) = &self.locals[id.0].ty
        {
            let error = SemaError::NotAnExtent.at(name.span).label(format!("this is {}", self.locals[id.0].ty.sort()));
            let diagnostic = match &tensor.set {
                Some(set) => error.suggest(name.span, "`len` takes the set itself", set.to_string()),
                None => error.help("`len` takes a set or a dimension"),
            };
            return self.fail(diagnostic, span);
        }
        match self.axis(args[0]) {
            Axis::Error => self.poison(span),
            axis => Expr { ty: Ty::scalar(DType::I64), span, kind: Kind::Len(axis) },
        }
    }

    /// `fill(N, v)`, `fill([N, F], v)`.
    fn fill(&mut self, args: &[ast::Arg], span: Span) -> Expr {
        let Some(args) = self.written("fill", 2, args, span) else {
            return self.poison(span);
        };
        let axes: &[ast::Expr] = match &args[0].kind {
            ExprKind::List(axes) => axes,
            _ => std::slice::from_ref(args[0]),
        };
        let shape = self.resolve(|r| r.axes(axes));
        let value = self.expr(args[1]);
        let (Some((set, dims)), Some(tensor)) = (shape, self.tensor(&value)) else {
            return self.poison(span);
        };
        if !tensor.is_scalar() {
            let found = self.show(&value.ty);
            let expected = self.elems.name(tensor.elem).to_owned();
            let error = SemaError::Mismatch { expected, found }.at(value.span).label("`fill` repeats one scalar");
            let diagnostic = self.point_at_declarations(error, [&value]);
            return self.fail(diagnostic, span);
        }
        if set.is_some() {
            self.needs_whole_graph(span, "a field over a set".to_owned());
        }
        Expr { ty: Ty::Tensor(Tensor { elem: tensor.elem, set, dims }), span, kind: Kind::Fill(Box::new(value)) }
    }

    fn graph(&mut self, callee: &str, args: &[ast::Arg], span: Span) -> Option<(Expr, Graph)> {
        let value = self.positional(callee, &[1], args, span)?.into_iter().next()?;
        match &value.ty {
            Ty::Graph(graph) => {
                let graph = graph.clone();
                self.needs_whole_graph(span, format!("`{callee}`"));
                Some((value, graph))
            }
            Ty::Error => None,
            other => {
                let error = SemaError::Mismatch { expected: "graph".into(), found: self.show(other) }.at(value.span);
                let diagnostic = self.point_at_declarations(error, [&value]);
                self.report(diagnostic);
                None
            }
        }
    }

    fn degree(&mut self, callee: &str, incoming: bool, args: &[ast::Arg], span: Span) -> Expr {
        let Some((value, graph)) = self.graph(callee, args, span) else {
            return self.poison(span);
        };
        let set = if incoming { graph.dst } else { graph.src };
        let ty = Ty::Tensor(Tensor { elem: Elem::Known(DType::I64), set: Some(set), dims: Vec::<Poly>::new() });
        let value = Box::new(value);
        Expr { ty, span, kind: if incoming { Kind::InDegree(value) } else { Kind::OutDegree(value) } }
    }

    fn transpose(&mut self, args: &[ast::Arg], span: Span) -> Expr {
        let Some((value, graph)) = self.graph("transpose", args, span) else {
            return self.poison(span);
        };
        let turned = Graph { src: graph.dst, dst: graph.src, edges: graph.edges, transposed: !graph.transposed };
        Expr { ty: Ty::Graph(turned), span, kind: Kind::Transpose(Box::new(value)) }
    }
}

/// Whether `max(…)` or `min(…)` is a reduction: one value, perhaps with an axis.
fn reduces(args: &[ast::Arg]) -> bool {
    args.iter().filter(|a| a.kind == ArgKind::Positional).count() == 1
}

/// The value of an integer literal, perhaps with a minus sign.
fn integer(expr: &ast::Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int { value, .. } => i64::try_from(*value).ok(),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match &operand.kind {
            ExprKind::Int { value, .. } => i64::try_from(*value).ok().map(|v| -v),
            _ => None,
        },
        _ => None,
    }
}
