//! `reduce` and `join`: reductions of the loops level, with their algebra and shape still visible.

use super::apply::{map_dims, mapped};
use crate::{Effect, Key, Level, Levels, Op, OpDef, OpView, Over, Reducer, TensorType, Type, TypeError};
use tiga_abi::{DType, Poly};

/// The reducer an op names.
pub(crate) fn find<'a>(op: OpView<'a>, name: &str) -> Result<&'a Reducer, TypeError> {
    op.module.reducers.get(name).ok_or_else(|| TypeError::Unknown { op: op.name(), name: name.to_owned() })
}

/// The types of a reducer's state.
pub(crate) fn states(reducer: &Reducer) -> Vec<TensorType> {
    reducer.state.iter().map(|c| c.ty.clone()).collect()
}

pub(crate) fn named<'a>(op: OpView<'a>) -> Result<&'a Reducer, TypeError> {
    find(op, op.attrs().reducer().ok_or_else(|| op.missing(Key::With))?)
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
        let map = if op.attrs().has(Key::Step) {
            step_map(op, reducer, &params[indices..], &yields)?
        } else {
            if params.len() != indices || yields.len() != reducer.message().len() {
                return Err(op.region_error(
                    0,
                    format!("a message of @{}", reducer.name),
                    format!("{} values", yields.len()),
                ));
            }
            map_dims(op, 0, reducer, &yields)?
        };
        let types = if op.attrs().has(Key::Raw) { mapped(&map, &states(reducer)) } else { mapped(&map, &reducer.outs) };
        Ok(types.into_iter().map(Type::from).collect())
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

/// With `step`, the body takes and yields the mapped state.
fn step_map(op: OpView<'_>, reducer: &Reducer, acc: &[&Type], yields: &[&TensorType]) -> Result<Vec<Poly>, TypeError> {
    let error = |found: String| op.region_error(0, format!("the state of @{} taken and yielded", reducer.name), found);
    let acc: Vec<&TensorType> = acc.iter().filter_map(|t| t.as_tensor()).collect();
    if acc.len() != reducer.state.len() || acc != yields {
        return Err(error(format!("{} parameters, {} yielded", acc.len(), yields.len())));
    }
    let own = reducer.state.first().map_or(0, |c| c.ty.dims.len());
    let map = acc.first().and_then(|t| t.dims.len().checked_sub(own).map(|n| t.dims[..n].to_vec())).unwrap_or_default();
    let expected = mapped(&map, &states(reducer));
    if acc.iter().zip(&expected).any(|(a, b)| **a != *b) {
        return Err(error("other types".into()));
    }
    Ok(map)
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
        let mut map: Option<Vec<Poly>> = None;
        for (i, component) in reducer.state.iter().enumerate() {
            let buffer = op
                .operand(first + i)?
                .as_buffer()
                .filter(|b| b.set.is_some() && b.dtype == component.ty.dtype && b.dims.ends_with(&component.ty.dims));
            let buffer = buffer.ok_or_else(|| op.wrong(first + i, format!("partial states {}", component.ty)))?;
            let leading = buffer.dims[..buffer.dims.len() - component.ty.dims.len()].to_vec();
            if *map.get_or_insert_with(|| leading.clone()) != leading {
                return Err(op.wrong(first + i, "partial states mapped alike"));
            }
        }
        let map = map.unwrap_or_default();
        let types = if op.attrs().has(Key::Raw) { mapped(&map, &states(reducer)) } else { mapped(&map, &reducer.outs) };
        Ok(types.into_iter().map(Type::from).collect())
    }
}

/// `join [%rel, %long,] partials… over(neighbours|range) with(@reducer) shape(…) [raw]`: the tree over leaves, then
/// finalize; the state itself with `raw`.
pub const JOIN: Op = Op(&Join);
