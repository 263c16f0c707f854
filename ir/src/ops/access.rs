//! `load`, `store` and `elem`: elements of memory and of small tensors (loops level).

use crate::{Effect, Level, Levels, Op, OpDef, OpView, TensorType, Type, TypeError};
use tiga_abi::DType;

/// The element type after indexing `ty` by the operands from `first` on.
fn indexed(op: OpView<'_>, ty: &TensorType, first: usize) -> Result<TensorType, TypeError> {
    let count = op.operands().len() - first;
    for i in first..op.operands().len() {
        if !op.operand(i)?.is_scalar(DType::I64) {
            return Err(op.wrong(i, "an index (i64)"));
        }
    }
    if count > ty.rank() || (ty.set.is_some() && count == 0) {
        return Err(op.wrong(first - 1, format!("memory indexed by {count} indices")));
    }
    let dims = ty.dims[count - usize::from(ty.set.is_some())..].to_vec();
    Ok(TensorType::tensor(ty.dtype, dims))
}

struct Load;

impl OpDef for Load {
    fn name(&self) -> &'static str {
        "load"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn effect(&self) -> Effect {
        Effect::Read
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let buffer = op.operand(0)?.as_buffer().ok_or_else(|| op.wrong(0, "memory"))?;
        Ok(vec![indexed(op, buffer, 1)?.into()])
    }
}

/// `load %buffer, indices…`: what is left of the shape after the leading indices.
pub const LOAD: Op = Op(&Load);

struct Store;

impl OpDef for Store {
    fn name(&self) -> &'static str {
        "store"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let buffer = op.operand(1)?.as_buffer().ok_or_else(|| op.wrong(1, "memory"))?;
        let element = indexed(op, buffer, 2)?;
        if op.operand(0)?.as_tensor() != Some(&element) {
            return Err(op.wrong(0, element.to_string()));
        }
        Ok(Vec::new())
    }
}

/// `store %value, %buffer, indices…`
pub const STORE: Op = Op(&Store);

struct Elem;

impl OpDef for Elem {
    fn name(&self) -> &'static str {
        "elem"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        let tensor = op.operand(0)?.as_tensor().filter(|t| t.set.is_none());
        let tensor = tensor.ok_or_else(|| op.wrong(0, "a small tensor"))?;
        if !op.operand(1)?.is_scalar(DType::I64) {
            return Err(op.wrong(1, "an index (i64)"));
        }
        let axis = op.feature_axis(tensor)?;
        let mut dims = tensor.dims.clone();
        dims.remove(axis);
        Ok(vec![TensorType::tensor(tensor.dtype, dims).into()])
    }
}

/// `elem %tensor, %index axis(k)`: a small tensor without one axis.
pub const ELEM: Op = Op(&Elem);
