//! Functions of the language: reductions, fields and graphs, and every elementwise op by its name.

use super::super::error::SemaError;
use super::super::hir::{Axis, Composite, Expr, Kind, ReducerUse};
use super::super::infer::{Domain, Elem};
use super::super::prelude;
use super::super::ty::{Graph, Tensor, Ty};
use super::{Checker, count, habit, tensor};
use crate::builtin::BuiltinReducer;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Op, RelKind, joined, ops};
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast::{self, ArgKind, ExprKind, UnaryOp};

/// Functions that are not simply elementwise ops.
const SPECIAL: [&str; 15] = [
    "sum",
    "mean",
    "prod",
    "dot",
    "len",
    "fill",
    "in_degree",
    "out_degree",
    "transpose",
    "add_self_loops",
    "concat_graphs",
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

/// The names of all functions of the language that are built.
pub fn names() -> impl Iterator<Item = &'static str> {
    let ops = ops::ALL.iter().map(|op| op.0.name()).filter(|n| callable(n).is_some());
    SPECIAL
        .into_iter()
        .chain(tensor::NAMES)
        .chain(prelude::REDUCTIONS)
        .chain(DType::ALL.iter().map(|d| d.name()))
        .chain(ops)
}

impl Checker<'_> {
    pub(super) fn builtin(&mut self, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        match name.text.as_str() {
            "sum" => self.reduction(BuiltinReducer::Sum, name, args, span),
            "mean" => self.reduction(BuiltinReducer::Mean, name, args, span),
            "prod" => self.reduction(BuiltinReducer::Prod, name, args, span),
            "max" if reduces(args) => self.reduction(BuiltinReducer::Max, name, args, span),
            "min" if reduces(args) => self.reduction(BuiltinReducer::Min, name, args, span),
            "dot" => self.dot(name, args, span),
            "len" => self.len(name, args, span),
            "fill" => self.fill(name, args, span),
            "in_degree" => self.degree(name, true, args, span),
            "out_degree" => self.degree(name, false, args, span),
            "transpose" => self.transpose(name, args, span),
            "add_self_loops" => self.add_self_loops(name, args, span),
            "concat_graphs" => self.concat_graphs(name, args, span),
            "where" => match self.positional(name, &[3], args) {
                Some(args) => self.select(args, name.span, span),
                None => self.poison(span),
            },
            text if prelude::REDUCTIONS.contains(&text) => self.reduction_written(name, args, span),
            text if tensor::NAMES.contains(&text) => self.tensor_function(name, args, span),
            "isnan" => self.composite(Composite::IsNan, name, args, span),
            "relu" => self.composite(Composite::Relu, name, args, span),
            "leaky_relu" => self.composite(Composite::LeakyRelu, name, args, span),
            _ => match callable(&name.text) {
                Some(op) => self.op_call(op, name, args, span),
                None => self.unknown_function(name, args, span),
            },
        }
    }

    fn op_call(&mut self, op: Op, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let arity = op.0.elementwise().map_or(0, |e| e.arity());
        match self.positional(name, &[arity], args) {
            Some(args) => self.elementwise(op, args, Domain::ANY, (&name.text, name.span), span),
            None => self.poison(span),
        }
    }

    /// `isnan(x)`, `relu(x)`, `leaky_relu(x, slope)`.
    fn composite(&mut self, which: Composite, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let (op, arity, domain) = match which {
            Composite::IsNan => (ops::NE, 1, Domain::FLOAT),
            Composite::Relu => (ops::MAX, 1, Domain::ANY),
            Composite::LeakyRelu => (ops::MUL, 2, Domain::FLOAT),
            Composite::Softmax(_) | Composite::LogSoftmax(_) | Composite::Dot(_) | Composite::Cross => {
                return self.poison(span);
            }
        };
        let Some(args) = self.positional(name, &[arity], args) else {
            return self.poison(span);
        };
        // The op with the same rule stands in for the function; unary ones meet themselves.
        let operands = if arity == 1 { vec![args[0].clone(), args[0].clone()] } else { args.clone() };
        let typed = self.elementwise(op, operands, domain, (&name.text, name.span), span);
        match typed.kind {
            Kind::Error => typed,
            _ => Expr { ty: typed.ty, span, kind: Kind::Composite(which, args) },
        }
    }

    /// `sum(x)` over the set, `sum(x, axis: k)` over one axis.
    fn reduction(&mut self, reducer: BuiltinReducer, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let domain = Domain::where_(|d| reducer.accepts(d));
        let reduced = |elem| (ReducerUse::Builtin(reducer, elem), elem);
        self.reduction_by(domain, reduced, callee, args, span)
    }

    /// The same with a reducer that is written in the language.
    fn reduction_written(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some(entry) = prelude::reducer(&callee.text) else {
            return self.poison(span);
        };
        let (of, out) = (entry.element(), entry.reducer.outs[0].dtype);
        let reduced = |elem| {
            let result = if prelude::stands_for(out).is_some() { elem } else { Elem::Known(out) };
            (ReducerUse::Prelude(&entry.reducer.name, of.map(|_| elem)), result)
        };
        let domain = of.unwrap_or(Domain::where_(|d| d == entry.reducer.message()[0].dtype));
        self.reduction_by(domain, reduced, callee, args, span)
    }

    fn reduction_by(
        &mut self,
        domain: Domain,
        reduced: impl Fn(Elem) -> (ReducerUse, Elem),
        callee: &ast::Name,
        args: &[ast::Arg],
        span: Span,
    ) -> Expr {
        let Some((axis, rest)) = self.apart(callee, args) else {
            return self.poison(span);
        };
        let Some(value) = self.positional(callee, &[1], &rest).and_then(|values| values.into_iter().next()) else {
            return self.poison(span);
        };
        let Some(tensor) = self.tensor(&value) else {
            return self.poison(span);
        };
        if !self.elems.restrict(tensor.elem, domain) {
            let diagnostic = self.not_reduced((&callee.text, callee.span), domain, tensor.elem, &value);
            let diagnostic = self.point_at_declarations(diagnostic, [&value]);
            return self.fail(diagnostic, span);
        }
        let (reducer, elem) = reduced(tensor.elem);
        self.reducers.push(reducer);
        let index = match axis {
            None => None,
            Some(axis) => match self.axis_number(axis, &value, &tensor) {
                Some(index) => index.checked_sub(usize::from(tensor.set.is_some())),
                None => return self.poison(span),
            },
        };
        match index {
            Some(feature) => {
                self.needs_axis(callee.span, format!("`{}` over an axis", callee.text));
                let mut dims = tensor.dims;
                dims.remove(feature);
                let ty = Ty::Tensor(Tensor { elem, set: tensor.set, dims });
                Expr { ty, span, kind: Kind::ReduceAxis(reducer, feature as i64, Box::new(value)) }
            }
            None => self.over_set(reducer, elem, value, &tensor, callee, span),
        }
    }

    fn over_set(
        &mut self,
        reducer: ReducerUse,
        elem: Elem,
        value: Expr,
        tensor: &Tensor,
        callee: &ast::Name,
        span: Span,
    ) -> Expr {
        if tensor.set.is_none() {
            let error = SemaError::NoSet { reducer: callee.text.clone(), found: self.show(&value.ty) };
            let error = error.at(value.span).label(format!("this is {}", value.ty.sort()));
            let diagnostic = self.point_at_declarations(error, [&value]);
            let help = format!("`{}(…, axis: -1)` reduces over the last axis", callee.text);
            return self.fail(diagnostic.help(help), span);
        }
        self.needs_whole_graph(callee.span, format!("`{}` over a set", callee.text));
        let ty = Ty::Tensor(Tensor { elem, ..tensor.element() });
        Expr { ty, span, kind: Kind::ReduceSet(reducer, Box::new(value)) }
    }

    /// `dot(x, y)`: the sum over the last axis of `x * y`.
    fn dot(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some(args) = self.positional(callee, &[2], args) else {
            return self.poison(span);
        };
        let numbers = Domain::where_(|d| d != DType::Bool);
        let product = self.elementwise(ops::MUL, args.clone(), numbers, ("dot", callee.span), span);
        let Ty::Tensor(tensor) = &product.ty else {
            return product;
        };
        let Some((_, dims)) = tensor.dims.split_last() else {
            let found = format!("`{}`", self.show(&product.ty));
            let error = SemaError::NoAxis { found, axis: "-1".to_owned() }.at(callee.span);
            return self.fail(error.label("sums over the last feature axis"), span);
        };
        self.needs_axis(callee.span, "`dot`".to_owned());
        self.reducers.push(ReducerUse::Accumulator(BuiltinReducer::Sum, tensor.elem));
        let ty = Ty::Tensor(Tensor { dims: dims.to_vec(), ..tensor.clone() });
        Expr { ty, span, kind: Kind::Composite(Composite::Dot(dims.len() as i64), args) }
    }

    /// Arguments as written, none named.
    pub(super) fn written<'e>(
        &mut self,
        callee: &ast::Name,
        n: usize,
        args: &'e [ast::Arg],
    ) -> Option<Vec<&'e ast::Expr>> {
        if let Some(arg) = args.iter().find(|a| a.kind != ArgKind::Positional) {
            let name = match &arg.kind {
                ArgKind::Named(name) => name.text.clone(),
                _ => "at most".to_owned(),
            };
            let error = SemaError::UnknownArgument { callee: callee.text.clone(), name }.at(arg.span);
            self.report(error.label("unknown parameter").note("its arguments have no names"));
            return None;
        }
        if args.len() != n {
            let (expected, found) = (count(n, "argument"), count(args.len(), "argument"));
            let error = SemaError::ArgumentCount { callee: callee.text.clone(), expected, found };
            self.report(match args.get(n) {
                Some(extra) => {
                    habit::extra_argument(error.at(extra.span).label("one too many"), &callee.text, args, extra)
                }
                None => error.at(callee.span).label("too few arguments"),
            });
            return None;
        }
        Some(args.iter().map(|a| &a.value).collect())
    }

    /// `len(N)`, `len(g.edges)`, `len(F)`.
    fn len(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some(args) = self.written(callee, 1, args) else {
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
    fn fill(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some(args) = self.written(callee, 2, args) else {
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
            self.needs_whole_graph(callee.span, "a field over a set".to_owned());
        }
        Expr { ty: Ty::Tensor(Tensor { elem: tensor.elem, set, dims }), span, kind: Kind::Fill(Box::new(value)) }
    }

    fn graph(&mut self, callee: &ast::Name, args: &[ast::Arg]) -> Option<(Expr, Graph)> {
        self.graphs(callee, 1, args)?.into_iter().next()
    }

    /// Arguments that are all graphs.
    fn graphs(&mut self, callee: &ast::Name, n: usize, args: &[ast::Arg]) -> Option<Vec<(Expr, Graph)>> {
        let values = self.positional(callee, &[n], args)?;
        let mut out = Vec::new();
        for value in values {
            match &value.ty {
                Ty::Graph(graph) => {
                    let graph = graph.clone();
                    self.needs_whole_graph(callee.span, format!("`{}`", callee.text));
                    out.push((value, graph));
                }
                Ty::Error => {}
                other => {
                    let error = SemaError::Mismatch { expected: "graph".into(), found: self.show(other) };
                    let error = error.at(value.span).label(format!("this is {}", other.sort()));
                    let diagnostic = self.point_at_declarations(error, [&value]);
                    let matrix = matches!(other, Ty::Tensor(t) if t.dims.len() >= 2) && callee.text == "transpose";
                    let help = || format!("two axes are exchanged by `transpose_axes({}, 0, 1)`", self.called(&value));
                    let help = matrix.then(help);
                    self.report(help.into_iter().fold(diagnostic, Diagnostic::help));
                }
            }
        }
        (out.len() == n).then_some(out)
    }

    fn degree(&mut self, callee: &ast::Name, incoming: bool, args: &[ast::Arg], span: Span) -> Expr {
        let Some((value, graph)) = self.graph(callee, args) else {
            return self.poison(span);
        };
        let set = if incoming { graph.dst } else { graph.src };
        let ty = Ty::Tensor(Tensor { elem: Elem::Known(DType::I64), set: Some(set), dims: Vec::<Poly>::new() });
        let value = Box::new(value);
        Expr { ty, span, kind: if incoming { Kind::InDegree(value) } else { Kind::OutDegree(value) } }
    }

    fn transpose(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some((value, graph)) = self.graph(callee, args) else {
            return self.poison(span);
        };
        let kind = match graph.kind {
            RelKind::Csr => RelKind::Transpose,
            RelKind::Transpose => RelKind::Csr,
            other => other,
        };
        let turned = Graph { src: graph.dst, dst: graph.src, edges: graph.edges, kind };
        Expr { ty: Ty::Graph(turned), span, kind: Kind::Transpose(Box::new(value)) }
    }

    fn add_self_loops(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let Some((value, graph)) = self.graph(callee, args) else {
            return self.poison(span);
        };
        if graph.src != graph.dst {
            let error = SemaError::TwoSets { found: self.show(&value.ty) }.at(value.span);
            let label = format!("this leads from `{}` to `{}`", graph.src, graph.dst);
            let diagnostic = self.point_at_declarations(error.label(label), [&value]);
            return self.fail(diagnostic.help("a graph on one set is written `graph<N>`"), span);
        }
        let Some(edges) = self.join(&graph.edges, &graph.dst, span) else {
            return self.poison(span);
        };
        let ty = Ty::Graph(Graph { edges, kind: RelKind::Joined, ..graph });
        Expr { ty, span, kind: Kind::SelfLoops(Box::new(value)) }
    }

    fn concat_graphs(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        let both = self.graphs(callee, 2, args).and_then(|both| <[_; 2]>::try_from(both).ok());
        let Some([(first, a), (second, b)]) = both else {
            return self.poison(span);
        };
        let mut set = |first: &Symbol, second: &Symbol| self.join(first, second, span);
        let sets = (set(&a.edges, &b.edges), set(&a.src, &b.src), set(&a.dst, &b.dst));
        let (Some(edges), Some(src), Some(dst)) = sets else {
            return self.poison(span);
        };
        let kind = if a.kind == b.kind { a.kind } else { RelKind::Joined };
        let ty = Ty::Graph(Graph { src, dst, edges, kind });
        Expr { ty, span, kind: Kind::ConcatGraphs(Box::new(first), Box::new(second)) }
    }

    /// A set made of two others, unless it has too many parts, which is reported.
    fn join(&mut self, first: &Symbol, second: &Symbol, span: Span) -> Option<Symbol> {
        if joined::parts(first).count() + joined::parts(second).count() <= joined::MOST_PARTS {
            return Some(joined::join(first, second));
        }
        self.report(SemaError::TooManyParts { most: joined::MOST_PARTS }.at(span).label("joined here"));
        None
    }
}

/// Whether `max(…)` or `min(…)` is a reduction: one value, perhaps with an axis.
fn reduces(args: &[ast::Arg]) -> bool {
    args.iter().filter(|a| a.kind == ArgKind::Positional).count() == 1
}

/// The value of an integer literal, perhaps with a minus sign.
pub(super) fn integer(expr: &ast::Expr) -> Option<i64> {
    match &expr.kind {
        ExprKind::Int { value, .. } => i64::try_from(*value).ok(),
        ExprKind::Unary { op: UnaryOp::Neg, operand } => match &operand.kind {
            ExprKind::Int { value, .. } => i64::try_from(*value).ok().map(|v| -v),
            _ => None,
        },
        _ => None,
    }
}
