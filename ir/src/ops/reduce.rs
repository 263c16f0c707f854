//! `reduce` and `join`: reductions of the loops level, with their algebra and shape still visible.

use super::apply::fit_message;
use crate::{
    Body, Effect, Fit, InstData, Key, Level, Levels, Op, OpDef, OpView, Over, Reducer, TensorType, Type, TypeError,
};
use tiga_abi::{DType, Poly};

/// The reducer an op names.
pub(crate) fn find<'a>(op: OpView<'a>, name: &str) -> Result<&'a Reducer, TypeError> {
    op.module.reducers.get(name).ok_or_else(|| TypeError::Unknown { op: op.name(), name: name.to_owned() })
}

pub(crate) fn named<'a>(op: OpView<'a>) -> Result<&'a Reducer, TypeError> {
    find(op, op.attrs().reducer().ok_or_else(|| op.missing(Key::With))?)
}

/// How the reducer of a `reduce` or `join` is used there; `None` if the instruction is none, or ill-typed.
pub fn fit_at(reducer: &Reducer, body: &Body, data: &InstData) -> Option<Fit> {
    if data.op == JOIN {
        let first = data.operands.len().checked_sub(reducer.state.len())?;
        let states = data.operands[first..].iter().map(|v| body.ty(*v).as_buffer().map(TensorType::element));
        let states: Vec<TensorType> = states.collect::<Option<_>>()?;
        return reducer.fit_state(&states.iter().collect::<Vec<_>>());
    }
    let last = body.block(body.entry(*data.regions.first()?)).insts.last()?;
    let yields: Vec<&TensorType> =
        body.inst(*last).operands.iter().map(|v| body.ty(*v).as_tensor()).collect::<Option<_>>()?;
    if data.attrs.has(Key::Step) { reducer.fit_state(&yields) } else { reducer.fit_message(&yields) }
}

struct Reduce;

impl OpDef for Reduce {
    fn name(&self) -> &'static str {
        "reduce"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn regions(&self) -> (usize, usize) {
        (1, 1)
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let reducer = named(op)?;
        op.attrs().shape().ok_or_else(|| op.missing(Key::Shape))?;
        let over = *op.attrs().over().ok_or_else(|| op.missing(Key::Over))?;
        let indices = check_over(op, over)?;
        let params = op.region_params(0)?;
        let index_types = params.get(..indices).unwrap_or(&[]);
        if index_types.len() < indices || index_types.iter().any(|t| !t.is_scalar(DType::I64)) {
            return Err(op.region_error(
                0,
                format!("{indices} indices of type i64"),
                format!("{} parameters", params.len()),
            ));
        }
        let yields: Vec<&TensorType> = op.region_yields(0)?.into_iter().filter_map(Type::as_tensor).collect();
        let fit = if op.attrs().has(Key::Step) {
            fit_step(op, reducer, &params[indices..], &yields)?
        } else {
            if params.len() != indices || yields.len() != reducer.message().len() {
                return Err(op.region_error(
                    0,
                    format!("a message of @{}", reducer.name),
                    format!("{} values", yields.len()),
                ));
            }
            fit_message(op, 0, reducer, &yields)?
        };
        Ok(results(op, reducer, &fit))
    }
}

/// `reduce operands… over(…) with(@reducer) shape(…) [raw] [step] (body)`
pub const REDUCE: Op = Op(&Reduce);

/// Checks the operands of a range; the number of indices its body takes.
fn check_over(op: OpView<'_>, over: Over) -> Result<usize, TypeError> {
    let relation = |op: OpView<'_>| op.operand(0)?.as_rel().map(|_| ()).ok_or_else(|| op.wrong(0, "a relation"));
    let index =
        |i: usize| if op.operand(i)?.is_scalar(DType::I64) { Ok(()) } else { Err(op.wrong(i, "an index (i64)")) };
    match over {
        Over::Neighbours | Over::Leaf => {
            op.arity(2)?;
            relation(op)?;
            index(1)?;
            Ok(3)
        }
        Over::Edges => {
            op.arity(1)?;
            relation(op)?;
            Ok(4)
        }
        Over::Range => {
            op.arity(0)?;
            extent(op)?;
            Ok(1)
        }
        Over::Block => {
            op.arity(1)?;
            index(0)?;
            extent(op)?;
            Ok(1)
        }
    }
}

/// The extent of a range: the only axis of `dims`.
pub(crate) fn extent(op: OpView<'_>) -> Result<Poly, TypeError> {
    let dims = op.attrs().dims().ok_or_else(|| op.missing(Key::Dims))?;
    match dims.extents().as_slice() {
        [extent] => Ok(extent.clone()),
        _ => Err(op.missing(Key::Dims)),
    }
}

/// The reducer's results, or with `raw` its state.
fn results(op: OpView<'_>, reducer: &Reducer, fit: &Fit) -> Vec<Type> {
    let types = match op.attrs().has(Key::Raw) {
        true => fit.all_outside(reducer.states()),
        false => fit.all_outside(&reducer.outs),
    };
    types.into_iter().map(Type::from).collect()
}

/// With `step`, the body takes and yields the mapped state.
fn fit_step(op: OpView<'_>, reducer: &Reducer, acc: &[&Type], yields: &[&TensorType]) -> Result<Fit, TypeError> {
    let error = |found: String| op.region_error(0, format!("the state of @{} taken and yielded", reducer.name), found);
    let acc: Vec<&TensorType> = acc.iter().filter_map(|t| t.as_tensor()).collect();
    if acc.len() != reducer.state.len() || acc != yields {
        return Err(error(format!("{} parameters, {} yielded", acc.len(), yields.len())));
    }
    reducer.fit_state(&acc).ok_or_else(|| error("other types".into()))
}

struct Join;

impl OpDef for Join {
    fn name(&self) -> &'static str {
        "join"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn effect(&self) -> Effect {
        Effect::Read
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let reducer = named(op)?;
        op.attrs().shape().ok_or_else(|| op.missing(Key::Shape))?;
        let first = match op.attrs().over().ok_or_else(|| op.missing(Key::Over))? {
            Over::Neighbours => {
                op.operand(0)?.as_rel().ok_or_else(|| op.wrong(0, "a relation"))?;
                if !op.operand(1)?.is_scalar(DType::I64) {
                    return Err(op.wrong(1, "the number of a long row (i64)"));
                }
                2
            }
            Over::Range => {
                extent(op)?;
                0
            }
            _ => return Err(op.missing(Key::Over)),
        };
        op.arity(first + reducer.state.len())?;
        let mut states = Vec::new();
        for i in first..first + reducer.state.len() {
            let partials = op.operand(i)?.as_buffer().filter(|b| b.set.is_some());
            states.push(partials.ok_or_else(|| op.wrong(i, "partial states"))?.element());
        }
        let fit = reducer.fit_state(&states.iter().collect::<Vec<_>>());
        let list = || reducer.states().iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
        Ok(results(
            op,
            reducer,
            &fit.ok_or_else(|| op.wrong(first, format!("partial states mapped alike: {}", list())))?,
        ))
    }
}

/// `join [%rel, %long,] partials… over(neighbours|range) with(@reducer) shape(…) [raw]`: the tree over leaves, then
/// finalize; with `raw`, the state itself.
pub const JOIN: Op = Op(&Join);
