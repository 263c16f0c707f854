//! Messages as `apply`.

use super::super::hir::{Expr, LocalId, ReducerUse};
use super::super::items::Callable;
use super::super::prelude;
use super::super::ty::{Substitution, Ty};
use super::expr::shape;
use super::{Emit, Frame, Val};
use tiga_ir::{Attr, Attrs, Builder, Key, Region, Role, Target, Type, Value, ops};
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
        let reads = frame.operands(item);
        let params = reads.iter().map(|o| (o.ty.clone(), Some(o.name.as_str()))).collect();
        let bind =
            |frame: &mut Self, _: &mut Builder<'_>, v: &[Value]| frame.bind_params(item, v.iter().copied(), |_| true);
        let mut regions = vec![frame.region(b, params, bind, &body.edge.expr)?];
        if let Some((names, value)) = &body.node {
            regions.push(frame.node(b, item, &reads, names, value)?);
        }
        let targets = frame.targets(&body.reducers);
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
        reads: &[Operand],
        names: &[LocalId],
        value: &Expr,
    ) -> Emit<Region> {
        let body = self.body;
        // The value of a reducer with several results is a tuple.
        let reduced = names.iter().flat_map(|id| {
            let local = &body.locals[id.0];
            let whole = local.ty.members().is_none();
            let parts = local.ty.members().unwrap_or_else(|| vec![local.ty.clone()]);
            let types: Vec<Type> = parts.iter().filter_map(|ty| Some(Type::Tensor(self.tensor(ty)?))).collect();
            types.into_iter().map(move |ty| (ty, whole.then_some(local.name.as_str())))
        });
        let reduced: Vec<_> = reduced.collect();
        let count = reduced.len();
        let kept = reads.iter().filter(|o| node_reads(o.role));
        let params = reduced.into_iter().chain(kept.map(|o| (o.ty.clone(), Some(o.name.as_str())))).collect();
        let bind = |frame: &mut Self, _: &mut Builder<'_>, values: &[Value]| {
            let (reduced, read) = values.split_at(count);
            let mut reduced = reduced.iter().copied();
            for id in names {
                frame.locals[id.0] = Some(shape(&body.locals[id.0].ty, &mut reduced));
            }
            frame.bind_params(item, read.iter().copied(), node_reads);
        };
        self.region(b, params, bind, value)
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

    /// Gives the parameters of a message their values in a region that sees only some roles.
    fn bind_params(
        &mut self,
        item: &Callable<'_, ast::Message>,
        mut values: impl Iterator<Item = Value>,
        sees: impl Fn(Role) -> bool,
    ) {
        for (i, param) in item.signature.params.iter().enumerate() {
            self.locals[i] = sees(role(&param.name)).then(|| shape(&param.ty, &mut values));
        }
    }

    /// One target for each reducer.
    fn targets(&self, reducers: &[ReducerUse]) -> Vec<Target> {
        let symbol = |reducer: &ReducerUse| match reducer {
            ReducerUse::Builtin(reducer, elem) => reducer.symbol(self.dtype(*elem)).into(),
            ReducerUse::Prelude(name, real) => prelude::symbol(name, real.map(|elem| self.dtype(elem))),
            ReducerUse::Declared(index) => self.emitter.table.reducers[*index].callable.signature.name.as_str().into(),
        };
        reducers.iter().map(|r| Target::Row { reducer: symbol(r), keep: false }).collect()
    }
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
