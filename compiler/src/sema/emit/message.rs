//! Messages as `apply`.

use super::super::hir::Expr;
use super::super::items::Callable;
use super::super::ty::{Substitution, Tensor, Ty};
use super::expr::shape;
use super::{Frame, Val};
use tiga_ir::{Attr, Attrs, Builder, Key, Role, Target, Type, TypeError, Value, ops};
use tiga_syntax::ast;

/// The name and type of one operand, as a region sees it.
struct Operand {
    role: Role,
    name: String,
    ty: Type,
}

impl Frame<'_> {
    pub(super) fn message(
        &mut self,
        b: &mut Builder<'_>,
        index: usize,
        map: &Substitution,
        graph: &Expr,
        args: &[Expr],
        expr: &Expr,
    ) -> Result<Val, TypeError> {
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
        let (edge, done) = b.region(params, |inner, values| {
            frame.bind_params(item, values.iter().copied(), |_| true);
            let value = frame.expr(inner, &body.edge.expr)?;
            inner.loc = emitter.sources.loc(body.edge.expr.span);
            inner.op(ops::YIELD, &value.flatten(), Attrs::new())
        });
        done?;
        let mut regions = vec![edge];
        let targets = frame.targets(&body.reducers, &body.edge.expr);
        if let Some((names, value)) = &body.node {
            let reduced = names.iter().map(|id| {
                let local = &body.edge.locals[id.0];
                (frame.tensor(&local.ty).map(Type::Tensor), Some(local.name.as_str()))
            });
            let kept = reads.iter().filter(|o| node_reads(o.role));
            let params = reduced
                .filter_map(|(ty, name)| Some((ty?, name)))
                .chain(kept.map(|o| (o.ty.clone(), Some(o.name.as_str()))))
                .collect();
            let (node, done) = b.region(params, |inner, values| {
                for (id, v) in names.iter().zip(values) {
                    frame.locals[id.0] = Some(Val::One(*v));
                }
                frame.bind_params(item, values[names.len()..].iter().copied(), node_reads);
                let value = frame.expr(inner, value)?;
                inner.loc = emitter.sources.loc(body.node.as_ref().map_or(expr.span, |(_, e)| e.span));
                inner.op(ops::YIELD, &value.flatten(), Attrs::new())
            });
            done?;
            regions.push(node);
        }
        let roles = reads.iter().map(|o| o.role).collect();
        let attrs = Attrs::new().with(Key::Roles, Attr::Roles(roles)).with(Key::Targets, Attr::Targets(targets));
        b.loc = emitter.sources.loc(expr.span);
        let inst = b.push(ops::APPLY, &operands, attrs, regions, Vec::new())?;
        let results = b.body.inst(inst).results.clone();
        Ok(shape(&expr.ty, &mut results.into_iter()))
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
