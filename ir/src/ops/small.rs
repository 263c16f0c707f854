//! Small tensors inside loops: `concat` and `outer`.

use crate::{Level, Levels, Op, OpDef, OpView, TensorType, Type, TypeError};
use tiga_abi::Poly;

struct Concat;

impl OpDef for Concat {
    fn name(&self) -> &'static str {
        "concat"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let first = op.operand(0)?.as_tensor().ok_or_else(|| op.wrong(0, "a tensor"))?;
        let (_, leading) = first.dims.split_last().ok_or_else(|| op.wrong(0, "a tensor with a feature axis"))?;
        let mut total = Poly::constant(0);
        for i in 0..op.operands().len() {
            let same = |t: &&TensorType| {
                t.dtype == first.dtype && t.set == first.set && t.dims.split_last().is_some_and(|(_, l)| l == leading)
            };
            let t =
                op.operand(i)?.as_tensor().filter(same).ok_or_else(|| op.wrong(i, format!("a tensor like {first}")))?;
            total = total.add(t.dims.last().expect("checked: it has a last axis"));
        }
        let dims = [leading, &[total]].concat();
        Ok(vec![TensorType { dtype: first.dtype, set: first.set.clone(), dims }.into()])
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `concat tensors…`: along the last axis.
pub const CONCAT: Op = Op(&Concat);

struct Outer;

impl OpDef for Outer {
    fn name(&self) -> &'static str {
        "outer"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        match (op.operand(0)?.as_tensor(), op.operand(1)?.as_tensor()) {
            (Some(a), Some(b))
                if a.dtype == b.dtype && a.set.is_none() && b.set.is_none() && a.dtype != tiga_abi::DType::Bool =>
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
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `outer %a, %b`: all products of an element of `a` with one of `b`.
pub const OUTER: Op = Op(&Outer);
