//! Expressions as instructions.

use super::super::hir::{Axis, Composite, Expr, Kind, ReducerUse};
use super::super::ty::{Substitution, Ty, substitute_set};
use super::tensor::written_out;
use super::{Emit, EmitError, Frame, Val};
use tiga_abi::{DType, Poly};
use tiga_ir::{Attr, Attrs, Builder, Key, Scalar, TensorType, TypeError, Value, joined, ops};

impl Frame<'_> {
    /// An expression's value.
    pub(super) fn expr(&mut self, b: &mut Builder<'_>, expr: &Expr) -> Emit<Val> {
        self.emitter.limits.enter(expr.span)?;
        let value = self.expr_within_limits(b, expr);
        self.emitter.limits.leave();
        value
    }

    fn expr_within_limits(&mut self, b: &mut Builder<'_>, expr: &Expr) -> Emit<Val> {
        let value = match &expr.kind {
            Kind::Local(id) => return Ok(self.local(id.0)),
            Kind::Tuple(all) => {
                return Ok(Val::Many(all.iter().map(|e| self.expr(b, e)).collect::<Result<_, _>>()?));
            }
            Kind::Member(base, index) => {
                return Ok(match self.expr(b, base)? {
                    Val::Many(all) => all.into_iter().nth(*index).unwrap_or(Val::Many(Vec::new())),
                    one => one,
                });
            }
            Kind::Block(lets, value) => {
                for (pattern, value) in lets {
                    let value = self.expr(b, value)?;
                    self.bind_pattern(b, pattern, value);
                }
                return self.expr(b, value);
            }
            Kind::Function(index, map, args) => return self.function(b, *index, map, args),
            Kind::Program(index, args) => return self.program(b, *index, args, expr),
            Kind::Message(index, map, graph, args) => return self.message(b, *index, map, graph, args, expr),
            Kind::If(parts) => return self.branch(b, parts, expr),
            Kind::Loop(item) => return self.loop_expr(b, item, expr),
            Kind::Constant(index) => return self.constant(b, *index),
            Kind::Error => Val::Many(Vec::new()),
            _ => Val::One(self.one(b, expr)?),
        };
        Ok(value)
    }

    /// An expression that is one value.
    pub(super) fn single(&mut self, b: &mut Builder<'_>, expr: &Expr) -> Emit<Value> {
        let value = self.expr(b, expr)?;
        let found = value.flatten();
        found.first().copied().ok_or_else(|| TypeError::Arity { op: "value", expected: 1, found: 0 }.into())
    }

    pub(super) fn singles(&mut self, b: &mut Builder<'_>, exprs: &[Expr]) -> Emit<Vec<Value>> {
        exprs.iter().map(|e| self.single(b, e)).collect()
    }

    fn local(&self, index: usize) -> Val {
        self.locals[index].clone().unwrap_or(Val::Many(Vec::new()))
    }

    /// Operators that give one value.
    fn one(&mut self, b: &mut Builder<'_>, expr: &Expr) -> Emit<Value> {
        let attrs = Attrs::new();
        let loc = self.emitter.place(expr.span);
        match &expr.kind {
            Kind::Literal(text) => self.literal(b, text, expr),
            Kind::Bool(value) => {
                b.loc = loc;
                Ok(b.constant(Scalar::Bool(*value)))
            }
            Kind::Op(op, args) => {
                let args = self.singles(b, args)?;
                b.loc = loc;
                Ok(b.value(*op, &args, attrs)?)
            }
            Kind::Composite(which, args) => self.composite(b, *which, args, expr),
            Kind::Cast(value) => {
                let value = self.single(b, value)?;
                let to = self.tensor(&expr.ty).map_or(DType::F32, |t| t.dtype);
                b.loc = loc;
                Ok(b.cast(value, to)?)
            }
            Kind::Fill(value) => {
                let value = self.single(b, value)?;
                let dims = self.tensor(&expr.ty).unwrap_or(TensorType::scalar(DType::F32));
                b.loc = loc;
                Ok(b.value(ops::FILL, &[value], attrs.with(Key::Dims, Attr::Dims(dims)))?)
            }
            Kind::Len(axis) => {
                b.loc = loc;
                let dims = self.extent(axis);
                match dims.set.is_none().then(|| dims.dims.first().and_then(Poly::as_constant)).flatten() {
                    Some(constant) => Ok(b.constant(Scalar::I64(constant))),
                    None => Ok(b.value(ops::LEN, &[], attrs.with(Key::Dims, Attr::Dims(dims)))?),
                }
            }
            Kind::ReduceSet(reducer, value) => self.reduction(b, reducer, None, value, expr),
            Kind::ReduceAxis(reducer, axis, value) => self.reduction(b, reducer, Some(*axis), value, expr),
            Kind::MatMul(left, right) => {
                let args = [self.single(b, left)?, self.single(b, right)?];
                b.loc = loc;
                Ok(b.value(ops::MATMUL, &args, attrs)?)
            }
            Kind::InDegree(graph) => self.unary(b, ops::DEGREE, graph, expr),
            Kind::OutDegree(graph) => {
                let turned = self.unary(b, ops::TRANSPOSE, graph, expr)?;
                Ok(b.value(ops::DEGREE, &[turned], attrs)?)
            }
            Kind::Transpose(graph) => self.unary(b, ops::TRANSPOSE, graph, expr),
            Kind::SelfLoops(graph) => self.joined(b, ops::ADD_SELF_LOOPS, &[graph], expr),
            Kind::ConcatGraphs(first, second) => self.joined(b, ops::CONCAT_GRAPHS, &[first, second], expr),
            Kind::Position(entity) => {
                let missing = TypeError::Unknown { op: "iota", name: entity.record().to_owned() };
                Ok(self.position(*entity).ok_or(missing)?)
            }
            _ => {
                let missing = TypeError::Arity { op: "value", expected: 1, found: 0 };
                Ok(self.tensor_op(b, expr)?.ok_or(missing)?)
            }
        }
    }

    /// Over a feature axis, or over the set.
    fn reduction(
        &mut self,
        b: &mut Builder<'_>,
        reducer: &ReducerUse,
        axis: Option<i64>,
        value: &Expr,
        expr: &Expr,
    ) -> Emit<Value> {
        let operand = self.single(b, value)?;
        let mut attrs = Attrs::new().with(Key::With, Attr::Name(self.reducer(reducer)));
        if !self.positions_of(reducer).is_empty() {
            attrs = attrs.flag(Key::Indexed);
        }
        b.loc = self.emitter.place(expr.span);
        Ok(match axis {
            Some(axis) => b.value(ops::REDUCE_AXIS, &[operand], attrs.with(Key::Axis, Attr::Int(axis)))?,
            None => b.value(ops::REDUCE_SET, &[operand], attrs)?,
        })
    }

    fn unary(&mut self, b: &mut Builder<'_>, op: tiga_ir::Op, operand: &Expr, expr: &Expr) -> Emit<Value> {
        let operand = self.single(b, operand)?;
        b.loc = self.emitter.place(expr.span);
        Ok(b.value(op, &[operand], Attrs::new())?)
    }

    /// A relation made of others. In a function's own terms its sets may have few parts, in the caller's too many.
    fn joined(&mut self, b: &mut Builder<'_>, op: tiga_ir::Op, graphs: &[&Expr], expr: &Expr) -> Emit<Value> {
        let graphs = graphs.iter().map(|graph| self.single(b, graph)).collect::<Result<Vec<_>, _>>()?;
        let rels = graphs.iter().filter_map(|graph| b.body.ty(*graph).as_rel());
        let parts = |set| joined::parts(set).count();
        let each = rels.map(|rel| parts(&rel.edges) + if op == ops::ADD_SELF_LOOPS { parts(&rel.dst) } else { 0 });
        if each.sum::<usize>() > joined::MOST_PARTS {
            return Err(EmitError::Limit(expr.span, "large"));
        }
        b.loc = self.emitter.place(expr.span);
        Ok(b.value(op, &graphs, Attrs::new())?)
    }

    fn literal(&mut self, b: &mut Builder<'_>, text: &str, expr: &Expr) -> Emit<Value> {
        b.loc = self.emitter.place(expr.span);
        let dtype = self.tensor(&expr.ty).map_or(DType::F32, |t| t.dtype);
        match Scalar::parse(dtype, text) {
            Ok(scalar) => Ok(b.constant(scalar)),
            // The checker reports literals without a value.
            Err(_) => Err(EmitError::from(TypeError::Unknown { op: "const", name: text.to_owned() })),
        }
    }

    pub(super) fn extent(&self, axis: &Axis) -> TensorType {
        match axis {
            Axis::Set(set) => TensorType::field(DType::I64, substitute_set(set, &self.map), Vec::new()),
            Axis::Extent(poly) => {
                let poly = poly.substitute(&|s| self.map.get(s).cloned());
                TensorType::tensor(DType::I64, vec![poly])
            }
            Axis::Error => TensorType::scalar(DType::I64),
        }
    }

    fn composite(&mut self, b: &mut Builder<'_>, which: Composite, args: &[Expr], expr: &Expr) -> Emit<Value> {
        let args = self.singles(b, args)?;
        b.loc = self.emitter.place(expr.span);
        let attrs = Attrs::new;
        let dtype = self.tensor(&expr.ty).map_or(DType::F32, |t| t.dtype);
        let x = args[0];
        match which {
            Composite::IsNan => Ok(b.value(ops::NE, &[x, x], attrs())?),
            Composite::Relu => {
                let zero = b.constant(Scalar::from_i64(dtype, 0));
                Ok(b.value(ops::MAX, &[x, zero], attrs())?)
            }
            Composite::LeakyRelu => {
                let zero = b.constant(Scalar::from_i64(dtype, 0));
                let positive = b.value(ops::GT, &[x, zero], attrs())?;
                let scaled = b.value(ops::MUL, &[args[1], x], attrs())?;
                Ok(b.value(ops::SELECT, &[positive, x, scaled], attrs())?)
            }
            Composite::Softmax(_) | Composite::LogSoftmax(_) | Composite::Dot(_) | Composite::Cross => {
                let ty = self.tensor(&expr.ty).unwrap_or(TensorType::scalar(dtype));
                written_out(b, which, &args, &ty)
            }
        }
    }

    fn constant(&mut self, b: &mut Builder<'_>, index: usize) -> Emit<Val> {
        let emitter = self.emitter;
        match &emitter.bodies.constants[index] {
            Some(body) => Frame::new(emitter, body, Substitution::new()).expr(b, &body.expr),
            None => Ok(Val::Many(Vec::new())),
        }
    }

    /// A `fn` item: its body with the arguments in place of the parameters.
    fn function(&mut self, b: &mut Builder<'_>, index: usize, map: &Substitution, args: &[Expr]) -> Emit<Val> {
        let values: Vec<Val> = args.iter().map(|a| self.expr(b, a)).collect::<Result<_, _>>()?;
        let emitter = self.emitter;
        let Some(body) = &emitter.bodies.functions[index] else {
            return Ok(Val::Many(Vec::new()));
        };
        let mut frame = Frame::new(emitter, body, self.compose(map));
        for (slot, value) in frame.locals.iter_mut().zip(values) {
            *slot = Some(value);
        }
        frame.expr(b, &body.expr)
    }

    /// The callee's symbols in terms of the function being written.
    pub(super) fn compose(&self, map: &Substitution) -> Substitution {
        let value = |poly: &Poly| poly.substitute(&|s| self.map.get(s).cloned());
        map.iter().map(|(symbol, poly)| (symbol.clone(), value(poly))).collect()
    }

    fn program(&mut self, b: &mut Builder<'_>, index: usize, args: &[Expr], expr: &Expr) -> Emit<Val> {
        let args = self.singles(b, args)?;
        let name = self.emitter.table.programs[index].signature.name.as_str();
        b.loc = self.emitter.place(expr.span);
        let results = b.op(ops::CALL, &args, Attrs::new().with(Key::Callee, Attr::Name(name.into())))?;
        Ok(shape(&expr.ty, &mut results.into_iter()))
    }
}

/// Values in the shape of a type.
pub(super) fn shape(ty: &Ty, values: &mut impl Iterator<Item = Value>) -> Val {
    match ty.members() {
        Some(members) => Val::Many(members.iter().map(|ty| shape(ty, values)).collect()),
        None => values.next().map_or(Val::Many(Vec::new()), Val::One),
    }
}
