//! Functions that move, join or look up elements: `iota`, `slice`, `reshape`, `concat`, `take`, `x[ids]` and others.

use super::super::error::SemaError;
use super::super::hir::{Axis, Composite, Expr, Kind, ReducerUse};
use super::super::infer::{Domain, Elem};
use super::super::ty::{Tensor, Ty};
use super::Checker;
use super::builtin::integer;
use crate::builtin::BuiltinReducer;
use tiga_abi::{DType, Poly};
use tiga_ir::ops::{self, never_negative};
use tiga_source::{Diagnostic, Span};
use tiga_syntax::ast::{self, ArgKind};

/// What the functions of this file are called.
pub(super) const NAMES: [&str; 12] = [
    "iota",
    "slice",
    "reshape",
    "concat",
    "cumsum",
    "transpose_axes",
    "take",
    "one_hot",
    "softmax",
    "log_softmax",
    "cross",
    "contract",
];

/// A slice that does not lie in its axis, or is not known to, and why, for under the caret.
fn slice_error(begin: &Poly, end: &Poly, extent: &Poly) -> (SemaError, String) {
    let constants = (begin.as_constant(), end.as_constant(), extent.as_constant());
    let (begin, end, extent) = (begin.to_string(), end.to_string(), extent.to_string());
    let has = format!("and the axis has {extent} elements");
    let outside = match constants {
        (Some(from), Some(to), _) if from > to => format!("begins at {from}, after its end at {to}"),
        (_, Some(to), Some(all)) if to > all => format!("ends at {to}, {has}"),
        (Some(from), _, Some(all)) if from > all => format!("begins at {from}, {has}"),
        _ => return (SemaError::Slice { begin, end, extent }, "not known to lie there".to_owned()),
    };
    (SemaError::SliceOutside { begin, end, extent }, outside)
}

/// The product of extents.
fn size(dims: &[Poly]) -> Poly {
    dims.iter().fold(Poly::constant(1), |acc, d| acc.mul(d))
}

impl Checker<'_> {
    /// A function of this file.
    pub(super) fn tensor_function(&mut self, name: &ast::Name, args: &[ast::Arg], span: Span) -> Expr {
        if !matches!(name.text.as_str(), "contract") {
            self.needs_axis(name.span, format!("`{}`", name.text));
        }
        let checked = match name.text.as_str() {
            "iota" => self.iota(name, args, span),
            "slice" => self.slice(name, args, span),
            "reshape" => self.reshape(name, args, span),
            "concat" => self.concat(name, args, span),
            "cumsum" => self.cumsum(name, args, span),
            "transpose_axes" => self.transpose_axes(name, args, span),
            "take" => self.take(name, args, span),
            "one_hot" => self.one_hot(name, args, span),
            "softmax" => self.normalised(Composite::Softmax, name, args, span),
            "log_softmax" => self.normalised(Composite::LogSoftmax, name, args, span),
            "cross" => self.cross(name, args, span),
            _ => self.contract(name, args, span),
        };
        checked.unwrap_or_else(|| self.poison(span))
    }

    /// The `axis:` among arguments, and the others.
    pub(super) fn apart<'e>(
        &mut self,
        callee: &ast::Name,
        args: &'e [ast::Arg],
    ) -> Option<(Option<&'e ast::Expr>, Vec<ast::Arg>)> {
        let named = |a: &&ast::Arg| matches!(&a.kind, ArgKind::Named(n) if n.text == "axis");
        let mut axes = args.iter().filter(named);
        let axis = axes.next().map(|a| &a.value);
        if let Some(again) = axes.next() {
            let error = SemaError::RepeatedArgument { callee: callee.text.clone(), name: "axis".into() };
            self.report(error.at(again.span).label("given again"));
            return None;
        }
        let rest: Vec<ast::Arg> = args.iter().filter(|a| !named(a)).cloned().collect();
        let other = rest.iter().find_map(|a| match &a.kind {
            ArgKind::Named(name) => Some(name),
            _ => None,
        });
        if let Some(name) = other {
            self.unknown_argument(&callee.text, &["axis"], &["axis"], name);
            return None;
        }
        Some((axis, rest))
    }

    /// The axis that an expression names, counted from 0 with the set first, or from −1 at the end.
    pub(super) fn axis_number(&mut self, axis: &ast::Expr, value: &Expr, tensor: &Tensor) -> Option<usize> {
        let Some(written) = integer(axis) else {
            let error = SemaError::AxisNotConstant.at(axis.span).label("not a literal");
            self.report(error.help("axes are numbered from 0, or from −1 at the end"));
            return None;
        };
        let rank = tensor.rank() as i64;
        let index = if written < 0 { written + rank } else { written };
        if !(0..rank).contains(&index) {
            let error = SemaError::NoAxis { found: format!("`{}`", self.show(&value.ty)), axis: written.to_string() };
            let axes = if tensor.rank() == 1 { "1 axis".to_owned() } else { format!("{} axes", tensor.rank()) };
            let axes = format!("it has {axes}, numbered from 0, or from −1 at the end");
            let diagnostic = self.point_at_declarations(error.at(axis.span).label("no such axis"), [value]);
            self.report(diagnostic.note(axes));
            return None;
        }
        Some(index as usize)
    }

    /// The feature axis that an expression names, or the last one.
    fn feature_axis(
        &mut self,
        callee: &ast::Name,
        axis: Option<&ast::Expr>,
        value: &Expr,
        tensor: &Tensor,
    ) -> Option<usize> {
        if tensor.dims.is_empty() {
            let error = SemaError::NoFeatureAxis { function: callee.text.clone(), found: self.show(&value.ty) };
            let diagnostic = self.point_at_declarations(error.at(value.span).label("no feature axis"), [value]);
            self.report(diagnostic);
            return None;
        }
        let Some(written) = axis else { return Some(tensor.dims.len() - 1) };
        let index = self.axis_number(written, value, tensor)?;
        let feature = index.checked_sub(usize::from(tensor.set.is_some()));
        if feature.is_none() {
            let error = SemaError::NoFeatureAxis { function: callee.text.clone(), found: self.show(&value.ty) };
            let diagnostic = self.point_at_declarations(error.at(written.span).label("this axis is the set"), [value]);
            let diagnostic = diagnostic.note("entities stay where they are: pages and ranks own them");
            self.report(if callee.text == "take" {
                diagnostic.help("`x[ids]` gathers over a set")
            } else {
                diagnostic
            });
        }
        feature
    }

    /// An extent in an argument.
    fn extent(&mut self, expr: &ast::Expr) -> Option<Poly> {
        match self.axis(expr) {
            Axis::Extent(extent) => Some(extent),
            Axis::Set(set) => {
                let found = format!("set `{set}`");
                self.report(SemaError::Mismatch { expected: "extent".into(), found }.at(expr.span).label("a set"));
                None
            }
            Axis::Error => None,
        }
    }

    /// A field of positions must hold `i64`.
    fn indices(&mut self, ids: &Expr) -> Option<Tensor> {
        let tensor = self.tensor(ids)?;
        if self.elems.unify(tensor.elem, Elem::Known(DType::I64)) {
            return Some(tensor);
        }
        let error = SemaError::Mismatch { expected: "i64".into(), found: self.show(&ids.ty) };
        let diagnostic = self.point_at_declarations(error.at(ids.span).label("not indices"), [ids]);
        let diagnostic = self.convert(diagnostic, ids, tensor.elem, Elem::Known(DType::I64));
        self.report(diagnostic);
        None
    }

    /// `iota(N)`, `iota(F)`.
    fn iota(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let args = self.written(callee, 1, args)?;
        let axis = self.axis(args[0]);
        let (set, dims) = match &axis {
            Axis::Set(set) => (Some(set.clone()), Vec::new()),
            Axis::Extent(extent) => (None, vec![extent.clone()]),
            Axis::Error => return None,
        };
        if set.is_some() {
            self.needs_whole_graph(callee.span, "a field over a set".to_owned());
        }
        let ty = Ty::Tensor(Tensor { elem: Elem::Known(DType::I64), set, dims });
        Some(Expr { ty, span, kind: Kind::Iota(axis) })
    }

    /// `slice(x, begin, end, axis: -1)`.
    fn slice(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let (axis, rest) = self.apart(callee, args)?;
        let written = self.written(callee, 3, &rest)?;
        let value = self.expr(written[0]);
        let (begin, end) = (self.extent(written[1]), self.extent(written[2]));
        let tensor = self.tensor(&value)?;
        let feature = self.feature_axis(callee, axis, &value, &tensor)?;
        let (begin, end) = (begin?, end?);
        let extent = &tensor.dims[feature];
        let parts = [&begin, &end.sub(&begin), &extent.sub(&end)];
        if !parts.into_iter().all(|part| never_negative(part, extent)) {
            let (error, reason) = slice_error(&begin, &end, extent);
            let diagnostic = error.at(written[1].span.to(written[2].span)).label(reason);
            let diagnostic = diagnostic.also(value.span, format!("this is `{}`", self.show(&value.ty)));
            self.report(self.point_at_declarations(diagnostic, [&value]));
            return None;
        }
        let mut dims = tensor.dims.clone();
        dims[feature] = end.sub(&begin);
        let ty = Ty::Tensor(Tensor { dims, ..tensor });
        Some(Expr { ty, span, kind: Kind::Slice(feature as i64, begin, Box::new(value)) })
    }

    /// `reshape(x, [H, D])`: the features of each entity.
    fn reshape(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let written = self.written(callee, 2, args)?;
        let value = self.expr(written[0]);
        let axes: &[ast::Expr] = match &written[1].kind {
            ast::ExprKind::List(axes) => axes,
            _ => std::slice::from_ref(written[1]),
        };
        let shape = self.resolve(|r| r.axes(axes));
        let tensor = self.tensor(&value)?;
        let (set, dims) = shape?;
        let same_set = set.is_none() || set == tensor.set;
        if !same_set || size(&dims) != size(&tensor.dims) {
            let shape = Tensor { elem: tensor.elem, set: set.or(tensor.set.clone()), dims };
            let (found, wanted) = (self.show(&value.ty), self.show(&Ty::Tensor(shape.clone())));
            let error = SemaError::Reshape { found, wanted }.at(written[1].span);
            let label = match same_set {
                true => format!("`{}` elements, not `{}`", size(&shape.dims), size(&tensor.dims)),
                false => "another set".to_owned(),
            };
            let diagnostic = error.label(label).note("the features of each entity stay with it");
            self.report(self.point_at_declarations(diagnostic, [&value]));
            return None;
        }
        let ty = Ty::Tensor(Tensor { dims, ..tensor });
        Some(Expr { ty, span, kind: Kind::Reshape(Box::new(value)) })
    }

    /// `concat(a, b, …)`: along the last axis.
    fn concat(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let counts: Vec<usize> = (1..=args.len().max(1)).collect();
        let parts = self.positional(callee, &counts, args)?;
        let mut tensors = Vec::new();
        for part in &parts {
            let tensor = self.tensor(part)?;
            self.feature_axis(callee, None, part, &tensor)?;
            tensors.push(tensor);
        }
        if !self.unify_all(&parts, &tensors, callee.span) {
            return None;
        }
        let leading = |t: &Tensor| (t.set.clone(), t.dims[..t.dims.len() - 1].to_vec());
        if let Some(other) = tensors.iter().position(|t| leading(t) != leading(&tensors[0])) {
            let error = SemaError::Shapes { left: self.show(&parts[0].ty), right: self.show(&parts[other].ty) };
            let diagnostic = self.places(error.at(callee.span).label(""), &[&parts[0], &parts[other]]);
            self.report(diagnostic.note("`concat` joins along the last axis; the axes before it are the same"));
            return None;
        }
        let (set, mut dims) = leading(&tensors[0]);
        let ends = tensors.iter().filter_map(|t| t.dims.last());
        dims.push(ends.fold(Poly::constant(0), |sum, end| sum.add(end)));
        let ty = Ty::Tensor(Tensor { elem: tensors[0].elem, set, dims });
        Some(Expr { ty, span, kind: Kind::Concat(parts) })
    }

    /// `cumsum(x, axis: -1)`: running sums.
    fn cumsum(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let (axis, rest) = self.apart(callee, args)?;
        let value = self.positional(callee, &[1], &rest)?.into_iter().next()?;
        let tensor = self.tensor(&value)?;
        let feature = self.feature_axis(callee, axis, &value, &tensor)?;
        let numbers = Domain::where_(|d| d != DType::Bool);
        if !self.elems.restrict(tensor.elem, numbers) {
            return Some(self.undefined((&callee.text, callee.span), tensor.elem, numbers, &[value], span));
        }
        Some(Expr { ty: value.ty.clone(), span, kind: Kind::Scan(feature as i64, Box::new(value)) })
    }

    /// `transpose_axes(x, i, j)`: exchanges two feature axes.
    fn transpose_axes(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let written = self.written(callee, 3, args)?;
        let value = self.expr(written[0]);
        let tensor = self.tensor(&value)?;
        let i = self.feature_axis(callee, Some(written[1]), &value, &tensor)?;
        let j = self.feature_axis(callee, Some(written[2]), &value, &tensor)?;
        let mut pattern: Vec<i64> = (0..tensor.dims.len() as i64).collect();
        pattern.swap(i, j);
        let mut dims = tensor.dims.clone();
        dims.swap(i, j);
        let ty = Ty::Tensor(Tensor { dims, ..tensor });
        Some(Expr { ty, span, kind: Kind::Permute(pattern, Box::new(value)) })
    }

    /// `take(x, ids, axis: -1)`.
    fn take(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let (axis, rest) = self.apart(callee, args)?;
        let values = self.positional(callee, &[2], &rest)?;
        let [value, ids] = <[Expr; 2]>::try_from(values).ok()?;
        let (tensor, of_ids) = (self.tensor(&value)?, self.indices(&ids)?);
        let feature = self.feature_axis(callee, axis, &value, &tensor)?;
        self.gathered(feature, (value, tensor), (ids, of_ids), callee.span, span)
    }

    fn gathered(
        &mut self,
        feature: usize,
        (value, tensor): (Expr, Tensor),
        (ids, of_ids): (Expr, Tensor),
        caret: Span,
        span: Span,
    ) -> Option<Expr> {
        let set = match (&tensor.set, &of_ids.set) {
            (Some(a), Some(b)) if a != b => {
                let error = SemaError::Shapes { left: self.show(&value.ty), right: self.show(&ids.ty) };
                let diagnostic = self.places(error.at(caret).label(format!("`{a}` meets `{b}`")), &[&value, &ids]);
                self.report(diagnostic.note("each entity looks up in its own features: both are over the same set"));
                return None;
            }
            (a, b) => a.clone().or_else(|| b.clone()),
        };
        let dims = [&tensor.dims[..feature], &of_ids.dims, &tensor.dims[feature + 1..]].concat();
        let ty = Ty::Tensor(Tensor { elem: tensor.elem, set, dims });
        Some(Expr { ty, span, kind: Kind::GatherAxis(feature as i64, Box::new([value, ids])) })
    }

    /// `x[ids]`: over the set of a field, or the first axis of a tensor.
    pub(super) fn indexed(&mut self, base: &ast::Expr, indices: &[ast::Expr], span: Span) -> Expr {
        let value = self.expr(base);
        let all: Vec<Expr> = indices.iter().map(|index| self.expr(index)).collect();
        let place = span;
        if let [_, extra, ..] = all.as_slice() {
            let (expected, found) = ("1 index".to_owned(), format!("{} indices", all.len()));
            let error = SemaError::ArgumentCount { callee: "[…]".into(), expected, found }.at(extra.span);
            return self.fail(error.label("one too many").help("`take(x, ids, axis: -1)` looks up in features"), span);
        }
        let Some(ids) = all.into_iter().next() else { return self.poison(span) };
        let (Some(tensor), Some(of_ids)) = (self.tensor(&value), self.indices(&ids)) else {
            return self.poison(span);
        };
        if tensor.set.is_none() {
            self.needs_axis(place, "`[…]`".to_owned());
            if tensor.dims.is_empty() {
                let error = SemaError::NoFeatureAxis { function: "[…]".into(), found: self.show(&value.ty) };
                let diagnostic = error.at(value.span).label("nothing to look up in");
                let diagnostic = self.point_at_declarations(diagnostic, [&value]);
                return self.fail(diagnostic, span);
            }
            let taken = self.gathered(0, (value, tensor), (ids, of_ids), place, span);
            return taken.unwrap_or_else(|| self.poison(span));
        }
        self.needs_whole_graph(place, "`x[ids]`".to_owned());
        let dims = [of_ids.dims.as_slice(), &tensor.dims].concat();
        let ty = Ty::Tensor(Tensor { elem: tensor.elem, set: of_ids.set, dims });
        Expr { ty, span, kind: Kind::GatherSet(Box::new([value, ids])) }
    }

    /// `one_hot(ids, C)`: true where the position on a new last axis is the index.
    fn one_hot(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let written = self.written(callee, 2, args)?;
        let ids = self.expr(written[0]);
        let extent = self.extent(written[1]);
        let mut tensor = self.indices(&ids)?;
        let extent = extent?;
        let mut pattern: Vec<i64> = (0..tensor.dims.len() as i64).collect();
        pattern.push(-1);
        tensor.dims.push(extent.clone());
        let spread = Expr { ty: Ty::Tensor(tensor.clone()), span, kind: Kind::Permute(pattern, Box::new(ids)) };
        let of_axis = Tensor { elem: Elem::Known(DType::I64), set: None, dims: vec![extent.clone()] };
        let positions = Expr { ty: Ty::Tensor(of_axis), span, kind: Kind::Iota(Axis::Extent(extent)) };
        let ty = Ty::Tensor(Tensor { elem: Elem::Known(DType::Bool), ..tensor });
        Some(Expr { ty, span, kind: Kind::Op(ops::EQ, vec![spread, positions]) })
    }

    /// `softmax(x, axis: -1)`, `log_softmax(x, axis: -1)`.
    fn normalised(
        &mut self,
        which: fn(Option<i64>) -> Composite,
        callee: &ast::Name,
        args: &[ast::Arg],
        span: Span,
    ) -> Option<Expr> {
        let (axis, rest) = self.apart(callee, args)?;
        let value = self.positional(callee, &[1], &rest)?.into_iter().next()?;
        let tensor = self.tensor(&value)?;
        // To normalise over the entities of a set is seldom what is meant where there are features.
        let Some(axis) = axis else {
            let error = SemaError::NoAxisGiven { function: callee.text.clone() }.at(callee.span);
            let name = match &value.kind {
                Kind::Local(id) => self.locals[id.0].name.clone(),
                _ => "…".to_owned(),
            };
            let help = format!("over the last one, write `{}({name}, axis: -1)`", callee.text);
            self.report(error.label("which axis adds up to one?").help(help));
            return None;
        };
        let index = self.axis_number(axis, &value, &tensor)?;
        if !self.elems.restrict(tensor.elem, Domain::FLOAT) {
            let undefined = self.undefined((&callee.text, callee.span), tensor.elem, Domain::FLOAT, &[value], span);
            return Some(undefined);
        }
        let feature = index.checked_sub(usize::from(tensor.set.is_some())).map(|f| f as i64);
        if feature.is_none() {
            self.needs_whole_graph(callee.span, format!("`{}` over a set", callee.text));
        }
        for reducer in [BuiltinReducer::Max, BuiltinReducer::Sum] {
            self.reducers.push(ReducerUse::Accumulator(reducer, tensor.elem));
        }
        Some(Expr { ty: value.ty.clone(), span, kind: Kind::Composite(which(feature), vec![value]) })
    }

    /// `cross(a, b)` of vectors of three numbers.
    fn cross(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let args = self.positional(callee, &[2], args)?;
        let numbers = Domain::where_(|d| d != DType::Bool);
        let product = self.elementwise(ops::MUL, args.clone(), numbers, ("cross", callee.span), span);
        let Ty::Tensor(_) = &product.ty else { return None };
        let three = Poly::constant(3);
        for arg in &args {
            let tensor = self.tensor(arg)?;
            if tensor.dims.last() != Some(&three) {
                let error = SemaError::NotThree { found: self.show(&arg.ty) };
                let diagnostic = error.at(arg.span).label("not 3 on its last axis");
                self.report(self.point_at_declarations(diagnostic, [arg]));
                return None;
            }
        }
        Some(Expr { ty: product.ty, span, kind: Kind::Composite(Composite::Cross, args) })
    }

    /// `contract(x, y)`: over a set, the sum of the outer products.
    fn contract(&mut self, callee: &ast::Name, args: &[ast::Arg], span: Span) -> Option<Expr> {
        let args = self.positional(callee, &[2], args)?;
        self.needs_whole_graph(callee.span, "`contract`".to_owned());
        let tensors = args.iter().map(|a| self.tensor(a)).collect::<Option<Vec<_>>>()?;
        if !self.unify_all(&args, &tensors, callee.span) {
            return None;
        }
        let [x, y] = tensors.as_slice() else { return None };
        if x.set.is_none() || x.set != y.set {
            let error = SemaError::Shapes { left: self.show(&args[0].ty), right: self.show(&args[1].ty) };
            let diagnostic: Diagnostic = self.places(error.at(callee.span).label(""), &[&args[0], &args[1]]);
            self.report(diagnostic.note("`contract` sums over the set that both fields have"));
            return None;
        }
        let numbers = Domain::where_(|d| d != DType::Bool);
        if !self.elems.restrict(x.elem, numbers) {
            return Some(self.undefined(("contract", callee.span), x.elem, numbers, &args, span));
        }
        self.reducers.push(ReducerUse::Accumulator(BuiltinReducer::Sum, x.elem));
        let ty = Ty::Tensor(Tensor { elem: x.elem, set: None, dims: [x.dims.as_slice(), &y.dims].concat() });
        let pair = <[Expr; 2]>::try_from(args).ok()?;
        Some(Expr { ty, span, kind: Kind::Contract(Box::new(pair)) })
    }
}
