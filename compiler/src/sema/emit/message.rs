//! Messages as `apply`.

use super::super::hir::{Expr, LocalId};
use super::super::items::Callable;
use super::super::ty::{Substitution, Tensor, Ty};
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
        let targets = frame.targets(&body.reducers, &body.edge.expr);
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
        let reduced = names.iter().filter_map(|id| {
            let local = &body.locals[id.0];
            Some((Type::Tensor(self.tensor(&local.ty)?), Some(local.name.as_str())))
        });
        let kept = reads.iter().filter(|o| node_reads(o.role));
        let params = reduced.chain(kept.map(|o| (o.ty.clone(), Some(o.name.as_str())))).collect();
        let bind = |frame: &mut Self, _: &mut Builder<'_>, values: &[Value]| {
            let (reduced, read) = values.split_at(names.len());
            for (id, v) in names.iter().zip(reduced) {
                frame.locals[id.0] = Some(Val::One(*v));
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
    fn targets(&self, reducers: &[crate::builtin::BuiltinReducer], message: &Expr) -> Vec<Target> {
        let types = match message.ty.members() {
            Some(members) => members,
            None => vec![message.ty.clone()],
        };
        let one = |(reducer, ty): (&crate::builtin::BuiltinReducer, &Ty)| match ty {
            Ty::Tensor(Tensor { elem, .. }) => {
                Some(Target::Row { reducer: reducer.symbol(self.dtype(*elem)).into(), keep: false })
            }
            _ => None,
        };
        reducers.iter().zip(&types).filter_map(one).collect()
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
