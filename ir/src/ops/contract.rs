//! `contract`: over a set, the sum of outer products.

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
                Ok(vec![TensorType::tensor(a.dtype, [a.dims.as_slice(), &b.dims].concat()).into()])
            }
            _ => Err(TypeError::Shapes {
                op: op.name(),
                left: Box::new(op.operand(0)?.clone()),
                right: Box::new(op.operand(1)?.clone()),
            }),
        }
    }
}

/// `contract %x, %y`: Σ over the entities of the products of an element of `%x` with one of `%y`, by the reducer
/// `sum` of their type.
pub const CONTRACT: Op = Op(&Contract);
