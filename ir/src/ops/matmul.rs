//! `matmul`: the product over the last axis of the left and the first of the right operand.

use crate::{Level, Levels, Op, OpDef, OpView, TensorType, Type, TypeError};

struct Matmul;

impl OpDef for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        let left = op.operand(0)?.as_tensor().ok_or_else(|| op.wrong(0, "a tensor"))?;
        let right = op
            .operand(1)?
            .as_tensor()
            .filter(|t| t.set.is_none())
            .ok_or_else(|| op.wrong(1, "a tensor without a set"))?;
        match (left.dims.split_last(), right.dims.split_first()) {
            (Some((k, rows)), Some((k2, columns)))
                if k == k2
                    && left.dtype == right.dtype
                    && left.dtype != tiga_abi::DType::Bool
                    && columns.len() <= 1 =>
            {
                let dims = [rows, columns].concat();
                Ok(vec![TensorType { dtype: left.dtype, set: left.set.clone(), dims }.into()])
            }
            _ => Err(TypeError::Shapes { op: op.name(), left: op.operand(0)?.clone(), right: op.operand(1)?.clone() }),
        }
    }
}

/// `matmul %a, %b`: `[…, K] @ [K, M]` or `[…, K] @ [K]`.
pub const MATMUL: Op = Op(&Matmul);
