//! `matmul`: the product over the last axis of the left and the first of the right operand.

use crate::{Level, Levels, Nest, Op, OpDef, OpView, TensorType, Type, TypeError, Value};
use tiga_abi::DType;

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
        let right = op.operand(1)?.as_tensor().ok_or_else(|| op.wrong(1, "a tensor"))?;
        let set = op.common_set(left, right)?;
        match (left.dims.split_last(), right.dims.split_first()) {
            (Some((k, rows)), Some((k2, columns)))
                if k == k2 && left.dtype == right.dtype && left.dtype != DType::Bool && columns.len() <= 1 =>
            {
                let dims = [rows, columns].concat();
                Ok(vec![TensorType { dtype: left.dtype, set, dims }.into()])
            }
            _ => Err(TypeError::Shapes {
                op: op.name(),
                left: Box::new(op.operand(0)?.clone()),
                right: Box::new(op.operand(1)?.clone()),
            }),
        }
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        let (left, right) = (op.operand(0).ok()?.as_tensor()?, op.operand(1).ok()?.as_tensor()?);
        let (axis, extent) = (left.dims.len().checked_sub(1)?, left.dims.last()?.clone());
        let outer = left.dims.len() > 1 && right.dims.len() > 1;
        let (reducer, wide) = (sum_of(left.dtype), left.dtype.accumulator());
        let sums = nest.fold(&extent, &reducer, |b, k| {
            let x = Nest::elem(b, operands[0], k, axis)?;
            let w = Nest::elem(b, operands[1], k, 0)?;
            let (x, w) = (b.cast(x, wide)?, b.cast(w, wide)?);
            Ok(vec![Nest::binary(b, if outer { super::OUTER } else { super::MUL }, x, w)?])
        });
        let rounded = |sums: Vec<Value>| sums.into_iter().map(|sum| nest.builder.cast(sum, left.dtype)).collect();
        Some(sums.and_then(rounded))
    }
}

/// `matmul %a, %b`: `[…, K] @ [K, M]` or `[…, K] @ [K]`; for each entity, where one of them is a field. Products and
/// sums of `f16` and `bf16` are made in `f32`, and each element of the result is rounded once.
pub const MATMUL: Op = Op(&Matmul);

/// The reducer that adds the products of elements of a type, made in its accumulator: every module with a `matmul` of
/// that type holds it.
pub fn sum_of(dtype: DType) -> String {
    format!("sum.{}", dtype.accumulator())
}
