//! `contract`: a reduction over a set of outer products.

use super::apply::fit_message;
use super::reduce::named;
use crate::{Level, Levels, Op, OpDef, OpView, TensorType, Type, TypeError};

struct Contract;

impl OpDef for Contract {
    fn name(&self) -> &'static str {
        "contract"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        match (op.operand(0)?.as_tensor(), op.operand(1)?.as_tensor()) {
            (Some(a), Some(b))
                if a.set.is_some() && a.set == b.set && a.dtype == b.dtype && a.dtype != tiga_abi::DType::Bool =>
            {
                let product = TensorType::tensor(a.dtype.accumulator(), [a.dims.as_slice(), &b.dims].concat());
                let reducer = named(op)?;
                let fit = fit_message(op, 0, reducer, &[&product])?;
                Ok(fit.all_outside(&reducer.outs).into_iter().map(Type::from).collect())
            }
            _ => Err(TypeError::Shapes {
                op: op.name(),
                left: Box::new(op.operand(0)?.clone()),
                right: Box::new(op.operand(1)?.clone()),
            }),
        }
    }
}

/// `contract %x, %y with(@sum)`: over the entities, the products of each element of `%x` with each of `%y`,
/// reduced; products of `f16` and `bf16` are `f32`.
pub const CONTRACT: Op = Op(&Contract);
