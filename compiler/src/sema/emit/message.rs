//! Messages as `apply`.

use super::super::check::MessageBody;
use super::super::hir::{Entity, Expr, LocalId, ReducerUse};
use super::super::items::Callable;
use super::super::prelude;
use super::super::ty::{Substitution, Ty};
use super::control::leaves;
use super::expr::shape;
use super::{Emit, Frame, Val};
use crate::builtin::top;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Attr, Attrs, Builder, Key, Region, Role, Target, TensorType, Type, Value, ops};
use tiga_syntax::ast;

/// The name and type of one operand, as a region sees it.
struct Operand {
    role: Role,
    name: String,
    ty: Type,
}

impl<'a> Frame<'a> {
    pub(super) fn message(
        &mut self,
        b: &mut Builder<'_>,
        index: usize,
        map: &Substitution,
        graph: &Expr,
        args: &[Expr],
        expr: &Expr,
    ) -> Emit<Val> {
        let mut operands = vec![self.single(b, graph)?];
        for arg in args {
            operands.push(self.single(b, arg)?);
        }
        let emitter = self.emitter;
        let item = &emitter.table.messages[index];
        let Some(body) = &emitter.bodies.messages[index] else {
            return Ok(Val::Many(Vec::new()));
        };
        let mut frame = Frame::new(emitter, &body.edge, self.compose(map));
        let mut reads = frame.operands(item);
        let asked = frame.asked(body);
        b.loc = emitter.place(expr.span);
        for entity in &asked {
            operands.extend(positions(b, operands[0], *entity)?);
            let name = format!("{}.index", entity.record());
            reads.push(Operand { role: entity.role(), name, ty: Type::scalar(DType::I64) });
        }
        let params = reads.iter().map(|o| (o.ty.clone(), Some(o.name.as_str()))).collect();
        let bind = |frame: &mut Self, _: &mut Builder<'_>, v: &[Value]| {
            frame.bind_params(item, v.iter().copied(), &asked, |_| true);
            Ok(())
        };
        let messages = |frame: &mut Self, b: &mut Builder<'_>, value| frame.messages(b, &body.reducers, value);
        let mut regions = vec![frame.region_of(b, params, bind, &body.edge.expr, messages)?];
        match &body.node {
            Some((names, value)) => {
                regions.push(frame.node(b, item, (&reads, &asked), (names, &body.reducers), value)?)
            }
            None if body.reducers.iter().any(|r| matches!(r, ReducerUse::Top(..))) => {
                regions.push(frame.stacked(b, &reads, &body.reducers, &item.signature.result)?);
            }
            None => {}
        }
        let targets = match body.reducers.as_slice() {
            [] => vec![Target::Edge; leaves(&expr.ty)],
            reducers => frame.targets(reducers),
        };
        let roles = reads.iter().map(|o| o.role).collect();
        let attrs = Attrs::new().with(Key::Roles, Attr::Roles(roles)).with(Key::Targets, Attr::Targets(targets));
        b.loc = emitter.place(expr.span);
        let inst = b.push(ops::APPLY, &operands, attrs, regions, Vec::new())?;
        let results = b.body.inst(inst).results.clone();
        Ok(shape(&expr.ty, &mut results.into_iter()))
    }

    /// The node region: the reduced values, then what it may read of the operands.
    fn node(
        &mut self,
        b: &mut Builder<'_>,
        item: &Callable<'_, ast::Message>,
        (reads, asked): (&[Operand], &[Entity]),
        (names, reducers): (&[LocalId], &[ReducerUse]),
        value: &Expr,
    ) -> Emit<Region> {
        let body = self.body;
        // The value of a reducer with several results is a tuple.
        let reduced = names.iter().zip(reducers).flat_map(|(id, reducer)| {
            let local = &body.locals[id.0];
            let whole = local.ty.members().is_none();
            self.reduced(reducer, &local.ty).into_iter().map(move |ty| (ty, whole.then_some(local.name.as_str())))
        });
        let reduced: Vec<_> = reduced.collect();
        let count = reduced.len();
        let kept = reads.iter().filter(|o| node_reads(o.role));
        let params = reduced.into_iter().chain(kept.map(|o| (o.ty.clone(), Some(o.name.as_str())))).collect();
        let bind = |frame: &mut Self, b: &mut Builder<'_>, values: &[Value]| {
            let (reduced, read) = values.split_at(count);
            let mut reduced = reduced.iter().copied();
            for (id, reducer) in names.iter().zip(reducers) {
                let made = frame.made(b, reducer, &body.locals[id.0].ty, &mut reduced)?;
                frame.locals[id.0] = Some(made);
            }
            frame.bind_params(item, read.iter().copied(), asked, node_reads);
            Ok(())
        };
        self.region(b, params, bind, value)
    }

    /// The types of what a reducer makes, for a value of a type. The K values of `top<K>` are K scalars there.
    fn reduced(&self, reducer: &ReducerUse, ty: &Ty) -> Vec<Type> {
        let parts = ty.members().unwrap_or_else(|| vec![ty.clone()]);
        let types = parts.iter().filter_map(|ty| self.tensor(ty));
        match reducer {
            ReducerUse::Top(k, _) => types
                .flat_map(|t| {
                    let dims = t.dims[..t.dims.len() - 1].to_vec();
                    vec![Type::Tensor(TensorType { dims, ..t }); *k as usize]
                })
                .collect(),
            _ => types.map(Type::Tensor).collect(),
        }
    }

    /// The value of a type that a reducer made.
    fn made(
        &mut self,
        b: &mut Builder<'_>,
        reducer: &ReducerUse,
        ty: &Ty,
        values: &mut impl Iterator<Item = Value>,
    ) -> Emit<Val> {
        let ReducerUse::Top(k, _) = reducer else { return Ok(shape(ty, values)) };
        let mut parts = Vec::new();
        for part in ty.members().unwrap_or_default() {
            let Some(whole) = self.tensor(&part) else { continue };
            let mut single = whole.clone();
            if let Some(last) = single.dims.last_mut() {
                *last = Poly::constant(1);
            }
            let attrs = Attrs::new().with(Key::Dims, Attr::Dims(single));
            let taken: Vec<Value> = values.take(*k as usize).collect();
            let axes = taken.iter().map(|v| b.value(ops::RESHAPE, &[*v], attrs.clone()));
            let axes = axes.collect::<Result<Vec<_>, _>>()?;
            parts.push(Val::One(b.value(ops::CONCAT, &axes, Attrs::new())?));
        }
        Ok(Val::Many(parts))
    }

    /// A node region that does nothing but put together what reducers made.
    fn stacked(
        &mut self,
        b: &mut Builder<'_>,
        reads: &[Operand],
        reducers: &[ReducerUse],
        result: &Ty,
    ) -> Emit<Region> {
        let of_each = match (reducers, result.members()) {
            ([_], _) => vec![result.clone()],
            (_, members) => members.unwrap_or_default(),
        };
        let reduced = reducers.iter().zip(&of_each).flat_map(|(r, ty)| self.reduced(r, ty));
        let kept = reads.iter().filter(|o| node_reads(o.role)).map(|o| o.ty.clone());
        let params = reduced.chain(kept).map(|ty| (ty, None)).collect();
        let (region, yielded) = b.region(params, |b, values| {
            let mut values = values.iter().copied();
            let mut out = Vec::new();
            for (reducer, ty) in reducers.iter().zip(&of_each) {
                out.extend(self.made(b, reducer, ty, &mut values)?.flatten());
            }
            Ok(b.op(ops::YIELD, &out, Attrs::new()).map(|_| ())?)
        });
        yielded.map(|()| region)
    }

    /// The operands a message declares, fields of records one by one.
    fn operands(&self, item: &Callable<'_, ast::Message>) -> Vec<Operand> {
        let mut out = Vec::new();
        for param in &item.signature.params {
            let fields = match &param.ty {
                Ty::Record(fields) => fields.clone(),
                one => vec![(param.name.clone(), one.clone())],
            };
            for (name, ty) in fields {
                if let Some(ty) = self.tensor(&ty) {
                    out.push(Operand { role: role(&param.name), name: name.to_string(), ty: ty.into() });
                }
            }
        }
        out
    }

    /// Gives the parameters of a message their values in a region that sees only some roles, and then the positions
    /// that are asked for.
    fn bind_params(
        &mut self,
        item: &Callable<'_, ast::Message>,
        mut values: impl Iterator<Item = Value>,
        asked: &[Entity],
        sees: impl Fn(Role) -> bool,
    ) {
        for (i, param) in item.signature.params.iter().enumerate() {
            self.locals[i] = sees(role(&param.name)).then(|| shape(&param.ty, &mut values));
        }
        let asked = asked.iter().copied().filter(|entity| sees(entity.role()));
        self.positions = asked.zip(values).collect();
    }

    /// The positions that a message or its reducers ask for, sorted.
    fn asked(&self, body: &MessageBody) -> Vec<Entity> {
        let all: Vec<Entity> = body.reducers.iter().flat_map(|reducer| self.positions_of(reducer)).collect();
        let wanted = |entity: &Entity| all.contains(entity) || body.edge.positions.contains(entity);
        Entity::ALL.into_iter().filter(wanted).collect()
    }

    /// The messages that an edge's value is: what it gives each reducer, followed by the positions that it asks for.
    fn messages(&mut self, b: &mut Builder<'_>, reducers: &[ReducerUse], value: Val) -> Emit<Vec<Value>> {
        if reducers.is_empty() {
            return Ok(value.flatten());
        }
        let parts = match value {
            Val::Many(parts) if reducers.len() > 1 => parts,
            one => vec![one],
        };
        let mut out = Vec::new();
        for (reducer, part) in reducers.iter().zip(&parts) {
            let values = part.flatten();
            let wanted = self.positions_of(reducer);
            let own = self.own_rank(reducer);
            out.extend(&values);
            for entity in wanted {
                let Some(position) = self.position(entity) else { continue };
                let first = values.first().and_then(|v| b.body.ty(*v).as_tensor());
                let map = first.map_or(Vec::new(), |t| t.dims[..t.dims.len() - own].to_vec());
                out.push(if map.is_empty() {
                    position
                } else {
                    let dims = Attr::Dims(TensorType::tensor(DType::I64, map));
                    b.value(ops::FILL, &[position], Attrs::new().with(Key::Dims, dims))?
                });
            }
        }
        Ok(out)
    }

    pub(super) fn positions_of(&self, reducer: &ReducerUse) -> Vec<Entity> {
        match reducer {
            ReducerUse::Builtin(..) | ReducerUse::Accumulator(..) => Vec::new(),
            ReducerUse::Top(..) => vec![Entity::Edge],
            ReducerUse::Prelude(name, _) => prelude::reducer(name).map_or(Vec::new(), |entry| entry.positions.clone()),
            ReducerUse::Declared(index) => {
                self.emitter.bodies.reducers[*index].as_ref().map_or(Vec::new(), |body| body.positions())
            }
        }
    }

    /// Axes of the first value of a reducer's message, without those that it is mapped over.
    fn own_rank(&self, reducer: &ReducerUse) -> usize {
        match reducer {
            ReducerUse::Builtin(..) | ReducerUse::Accumulator(..) | ReducerUse::Top(..) => 0,
            ReducerUse::Prelude(name, _) => {
                prelude::reducer(name).and_then(|e| e.values().next()).map_or(0, |t| t.dims.len())
            }
            ReducerUse::Declared(index) => {
                let params = &self.emitter.table.reducers[*index].callable.signature.params;
                params.first().and_then(|p| self.tensor(&p.ty)).map_or(0, |t| t.dims.len())
            }
        }
    }

    /// One target for each reducer.
    fn targets(&self, reducers: &[ReducerUse]) -> Vec<Target> {
        reducers.iter().map(|r| Target::Row { reducer: self.reducer(r), keep: false }).collect()
    }

    /// The name of a reducer in the IR.
    pub(super) fn reducer(&self, reducer: &ReducerUse) -> Symbol {
        match reducer {
            ReducerUse::Builtin(reducer, elem) => reducer.symbol(self.dtype(*elem)).into(),
            ReducerUse::Accumulator(reducer, elem) => reducer.symbol(self.dtype(*elem).accumulator()).into(),
            ReducerUse::Top(k, elem) => top::symbol(*k, self.dtype(*elem)).into(),
            ReducerUse::Prelude(name, element) => prelude::symbol(name, element.map(|elem| self.dtype(elem))),
            ReducerUse::Declared(index) => self.emitter.table.reducers[*index].callable.signature.name.as_str().into(),
        }
    }
}

/// The positions of a relation's edges, sources or destinations.
fn positions(b: &mut Builder<'_>, relation: Value, entity: Entity) -> Emit<Option<Value>> {
    let Some(relation) = b.body.ty(relation).as_rel() else { return Ok(None) };
    let set = match entity {
        Entity::Edge => &relation.edges,
        Entity::Src => &relation.src,
        Entity::Dst => &relation.dst,
    };
    let dims = TensorType::field(DType::I64, set.clone(), Vec::new());
    Ok(Some(b.value(ops::IOTA, &[], Attrs::new().with(Key::Dims, Attr::Dims(dims)))?))
}

/// How a parameter of a message is read.
fn role(param: &str) -> Role {
    match param {
        "src" => Role::Src,
        "dst" => Role::Dst,
        "edge" => Role::Edge,
        _ => Role::Param,
    }
}

/// What the node function sees.
fn node_reads(role: Role) -> bool {
    matches!(role, Role::Dst | Role::Param)
}
