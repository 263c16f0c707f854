//! Declared reducers as reducers of the IR.

use super::super::check::ReducerBody;
use super::super::hir::{Body, Entity};
use super::super::items::Reducer as Item;
use super::super::ty::{Substitution, Ty};
use super::{Emit, EmitError, Emitter, Frame, Val};
use tiga_abi::{DType, Symbol};
use tiga_ir::interp::{self, run_domain};
use tiga_ir::{
    Attr, Attrs, Builder, Func, Key, Level, Module, Reducer, Region, Scalar, StateComponent, TensorType, Type,
    TypeError, Value, ops,
};

impl Emitter<'_> {
    /// The type as it is, or without halves.
    pub(super) fn widen(self, ty: TensorType) -> TensorType {
        if self.widened { ty.with_dtype(ty.dtype.accumulator()) } else { ty }
    }

    /// The type of a declared value.
    fn tensor(self, ty: &Ty) -> Option<TensorType> {
        match ty {
            Ty::Tensor(t) => Some(self.widen(t.lower(&[], &Substitution::new()))),
            _ => None,
        }
    }

    /// A reducer item.
    ///
    /// # Errors
    /// Inlining made too much of it; or the checker let something pass that the IR refuses.
    pub(crate) fn reducer(self, item: &Item<'_>, body: &ReducerBody, module: &Module) -> Emit<Reducer> {
        let signature = &item.callable.signature;
        let state: Vec<TensorType> = item.state.iter().filter_map(|p| self.tensor(&p.ty)).collect();
        let mut message: Vec<TensorType> = signature.params.iter().filter_map(|p| self.tensor(&p.ty)).collect();
        let positions = body.positions();
        message.extend(positions.iter().map(|_| TensorType::scalar(DType::I64)));
        let both = [state.as_slice(), &state].concat();
        let stepped = [state.as_slice(), &message].concat();
        let mut code = tiga_ir::Body::new();
        let mut write = Writer { emitter: self, item, module, code: &mut code, positions: &positions };
        let lift = match (&body.lift, &body.step) {
            (Some(lift), _) => write.of_message(lift, &message)?,
            (None, Some(step)) => write.first_step(body, step, &message)?,
            (None, None) => return Err(TypeError::Arity { op: "lift", expected: 1, found: 0 }.into()),
        };
        let step = body.step.as_ref().map(|step| write.of_message(step, &stepped)).transpose()?;
        let combine = write.clause(&body.combine, &both)?;
        let finalize = write.clause(&body.finalize, &state)?;
        let parts = item.state.iter().zip(state);
        Ok(Reducer {
            name: signature.name.as_str().into(),
            symbols: signature.generics.iter().map(|(name, g)| (name.clone(), g.kind.clone())).collect(),
            // That `combine` leaves it alone bit for bit is not known of what the state starts as: states are skipped.
            state: parts.map(|(p, ty)| StateComponent { name: p.name.clone(), ty, identity: None }).collect(),
            outs: signature
                .result
                .members()
                .unwrap_or_else(|| vec![signature.result.clone()])
                .iter()
                .filter_map(|ty| self.tensor(ty))
                .collect(),
            empty: self.numbers(&body.empty)?,
            laws: body.laws,
            body: code,
            lift,
            step,
            combine,
            finalize,
            loc: self.sources.loc(item.callable.item.span),
        })
    }

    /// The values of numbers made of literals and constants.
    fn numbers(self, body: &Body) -> Emit<Vec<Scalar>> {
        let mut func = Func::new("numbers", Level::Domain);
        let entry = func.body.entry(func.region);
        let nothing = Module::new();
        let mut builder = Builder::new(&nothing, &mut func.body, entry);
        let value = Frame::new(self, body, Substitution::new()).expr(&mut builder, &body.expr)?;
        let values = value.flatten();
        builder.op(ops::RETURN, &values, Attrs::new())?;
        func.results = values.iter().enumerate().map(|(i, v)| (name(i), func.body.ty(*v).clone())).collect();
        let mut module = Module::new();
        module.add(func);
        let results = run_domain(&module, "numbers", &[]).unwrap_or_default();
        let scalar = |value: &interp::Value| match value {
            interp::Value::Tensor(tensor) => tensor.as_scalar(),
            _ => None,
        };
        let numbers: Vec<Scalar> = results.iter().filter_map(scalar).collect();
        match numbers.len() == values.len() {
            true => Ok(numbers),
            false => Err(EmitError::NotConstant(body.expr.span)),
        }
    }
}

fn name(index: usize) -> Symbol {
    format!("r{index}").into()
}

/// The code of one reducer being written.
struct Writer<'a, 'c> {
    emitter: Emitter<'a>,
    item: &'c Item<'c>,
    module: &'c Module,
    code: &'c mut tiga_ir::Body,
    /// The last values of a message.
    positions: &'c [Entity],
}

impl Writer<'_, '_> {
    /// A region whose parameters are the values that the clause's names stand for, taken apart.
    fn clause(&mut self, clause: &Body, params: &[TensorType]) -> Emit<Region> {
        self.region(clause, params, &[], |_| Ok(Vec::new()))
    }

    /// The same for a clause whose last parameters are a message.
    fn of_message(&mut self, clause: &Body, params: &[TensorType]) -> Emit<Region> {
        self.region(clause, params, self.positions, |_| Ok(Vec::new()))
    }

    /// `step` of what the state starts as.
    fn first_step(&mut self, body: &ReducerBody, step: &Body, message: &[TensorType]) -> Emit<Region> {
        let (emitter, item) = (self.emitter, self.item);
        self.region(step, message, self.positions, |builder| {
            let mut state = Vec::new();
            for (init, part) in body.init.iter().zip(&item.state) {
                let value = Frame::new(emitter, init, Substitution::new()).single(builder, &init.expr)?;
                let ty = emitter.tensor(&part.ty).unwrap_or(TensorType::scalar(DType::F32));
                state.push(match ty.is_scalar() {
                    true => value,
                    false => builder.value(ops::FILL, &[value], Attrs::new().with(Key::Dims, Attr::Dims(ty)))?,
                });
            }
            Ok(state)
        })
    }

    /// A region; `before` gives values that come before its parameters.
    fn region(
        &mut self,
        clause: &Body,
        params: &[TensorType],
        positions: &[Entity],
        before: impl FnOnce(&mut Builder<'_>) -> Emit<Vec<Value>>,
    ) -> Emit<Region> {
        let region = self.code.add_region();
        let entry = self.code.entry(region);
        let given: Vec<Value> =
            params.iter().map(|ty| self.code.add_param(entry, Type::Tensor(ty.clone()), None)).collect();
        let mut builder = Builder::new(self.module, self.code, entry);
        let mut values = before(&mut builder)?;
        values.extend(given);
        let mut frame = Frame::new(self.emitter, clause, Substitution::new());
        frame.positions = positions.iter().copied().zip(values.split_off(values.len() - positions.len())).collect();
        let mut values = values.into_iter();
        for (i, local) in clause.locals.iter().enumerate() {
            let taken = super::expr::shape(&local.ty, &mut values);
            name_parts(&mut builder, &local.name, &local.ty, &taken);
            frame.locals[i] = Some(taken);
            if values.len() == 0 {
                break;
            }
        }
        let value = frame.expr(&mut builder, &clause.expr)?;
        builder.loc = self.emitter.place(clause.expr.span);
        builder.op(ops::YIELD, &value.flatten(), Attrs::new())?;
        Ok(region)
    }
}

/// Names values as the source does: `x`, `s.total`.
fn name_parts(builder: &mut Builder<'_>, name: &str, ty: &Ty, value: &Val) {
    match (value, ty) {
        (Val::One(value), _) => {
            if builder.body.value(*value).name.is_none() {
                builder.body.set_name(*value, Some(name.into()));
            }
        }
        (Val::Many(values), Ty::Record(fields)) => {
            for (value, (field, ty)) in values.iter().zip(fields) {
                name_parts(builder, &format!("{name}.{field}"), ty, value);
            }
        }
        (Val::Many(_), _) => {}
    }
}
