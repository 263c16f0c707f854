//! `if` and loops as region ops.

use super::super::hir::{Expr, Loop, LoopHead};
use super::expr::shape;
use super::{Emit, Frame, Val};
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Builder, Key, Region, Type, Value, ops};

impl Frame<'_> {
    /// A region that binds parameters and yields an expression.
    pub(super) fn region(
        &mut self,
        b: &mut Builder<'_>,
        params: Vec<(Type, Option<&str>)>,
        bind: impl FnOnce(&mut Self, &mut Builder<'_>, &[Value]) -> Emit<()>,
        expr: &Expr,
    ) -> Emit<Region> {
        self.region_of(b, params, bind, expr, |_, _, value| Ok(value.flatten()))
    }

    /// A region that binds parameters and yields what is made of an expression.
    pub(super) fn region_of(
        &mut self,
        b: &mut Builder<'_>,
        params: Vec<(Type, Option<&str>)>,
        bind: impl FnOnce(&mut Self, &mut Builder<'_>, &[Value]) -> Emit<()>,
        expr: &Expr,
        made: impl FnOnce(&mut Self, &mut Builder<'_>, Val) -> Emit<Vec<Value>>,
    ) -> Emit<Region> {
        self.emitter.limits.enter_region(expr.span)?;
        let (region, result) = b.region(params, |inner, values| {
            bind(self, inner, values)?;
            let value = self.expr(inner, expr)?;
            inner.loc = self.emitter.place(expr.span);
            let made = made(self, inner, value)?;
            inner.op(ops::YIELD, &made, Attrs::new())?;
            Ok(())
        });
        self.emitter.limits.leave_region();
        result.map(|()| region)
    }

    pub(super) fn branch(&mut self, b: &mut Builder<'_>, parts: &[Expr; 3], expr: &Expr) -> Emit<Val> {
        let [condition, then, other] = parts;
        let condition = self.single(b, condition)?;
        let then = self.region(b, Vec::new(), |_, _, _| Ok(()), then)?;
        let other = self.region(b, Vec::new(), |_, _, _| Ok(()), other)?;
        b.loc = self.emitter.place(expr.span);
        let inst = b.push(ops::IF, &[condition], Attrs::new(), vec![then, other], Vec::new())?;
        let results = b.body.inst(inst).results.clone();
        Ok(shape(&expr.ty, &mut results.into_iter()))
    }

    pub(super) fn loop_expr(&mut self, b: &mut Builder<'_>, item: &Loop, expr: &Expr) -> Emit<Val> {
        let mut init = Vec::new();
        for value in &item.init {
            init.extend(self.expr(b, value)?.flatten());
        }
        let types: Vec<Type> = init.iter().map(|v| b.body.ty(*v).clone()).collect();
        let attrs = Attrs::new();
        let (op, operands, attrs, regions) = match &item.head {
            LoopHead::While { condition, at_most } => {
                let params = |this: &Self| this.carried(item, &types);
                let names = params(self);
                let carried = |this: &mut Self, b: &mut Builder<'_>, v: &[Value]| {
                    this.bind_carried(b, item, v);
                    Ok(())
                };
                let go = self.region(b, borrow(&names), carried, condition)?;
                let body = self.region(b, borrow(&names), carried, &item.body)?;
                (ops::WHILE, init, attrs.with(Key::AtMost, Attr::Int(*at_most)), vec![go, body])
            }
            LoopHead::Repeat { index, count } => {
                let count = self.single(b, count)?;
                let mut names = vec![(Type::scalar(DType::I64), Some(self.body.locals[index.0].name.clone()))];
                names.extend(self.carried(item, &types));
                let bind = |this: &mut Self, b: &mut Builder<'_>, v: &[Value]| {
                    this.bind(b, *index, Val::One(v[0]));
                    this.bind_carried(b, item, &v[1..]);
                    Ok(())
                };
                let body = self.region(b, borrow(&names), bind, &item.body)?;
                init.insert(0, count);
                (ops::REPEAT, init, attrs, vec![body])
            }
        };
        b.loc = self.emitter.place(expr.span);
        let inst = b.push(op, &operands, attrs, regions, Vec::new())?;
        let results = b.body.inst(inst).results.clone();
        self.bind_carried(b, item, &results);
        self.expr(b, &item.result)
    }

    /// Types and names of the carried values, tuples taken apart.
    fn carried(&self, item: &Loop, types: &[Type]) -> Vec<(Type, Option<String>)> {
        let mut names = Vec::new();
        for (id, init) in item.vars.iter().zip(&item.init) {
            let name = &self.body.locals[id.0].name;
            match init.ty.members() {
                None => names.push(Some(name.clone())),
                Some(_) => names.resize(names.len() + leaves(&init.ty), None),
            }
        }
        types.iter().cloned().zip(names).collect()
    }

    fn bind_carried(&mut self, b: &mut Builder<'_>, item: &Loop, values: &[Value]) {
        let mut values = values.iter().copied();
        for (id, init) in item.vars.iter().zip(&item.init) {
            let value = shape(&init.ty, &mut values);
            self.bind(b, *id, value);
        }
    }
}

/// How many values a type is taken apart into.
pub(super) fn leaves(ty: &super::super::ty::Ty) -> usize {
    ty.members().map_or(1, |all| all.iter().map(leaves).sum())
}

fn borrow(names: &[(Type, Option<String>)]) -> Vec<(Type, Option<&str>)> {
    names.iter().map(|(ty, name)| (ty.clone(), name.as_deref())).collect()
}
