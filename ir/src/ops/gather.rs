//! Positions and what stands at them: `iota`, `gather_axis`, `gather_set`.

use super::reduce::extent;
use crate::{Key, Level, Levels, Nest, Op, OpDef, OpView, TensorType, Type, TypeError, Value};
use tiga_abi::DType;

struct Iota;

impl OpDef for Iota {
    fn name(&self) -> &'static str {
        "iota"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(0)?;
        extent(op)?;
        let dims = op.attrs().dims().filter(|d| d.dtype == DType::I64).ok_or_else(|| op.missing(Key::Dims))?;
        Ok(vec![dims.clone().into()])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        match op.attrs().dims()?.set {
            Some(_) => Some(Ok(vec![nest.row?])),
            None => Some(nest.same(op, operands)),
        }
    }
}

/// `iota dims(i64[N])`: 0, 1, 2, … over a set or one axis.
pub const IOTA: Op = Op(&Iota);

/// The indices of a gather: integers.
fn indices<'a>(op: OpView<'a>) -> Result<&'a TensorType, TypeError> {
    op.arity(2)?;
    op.operand(1)?.as_tensor().filter(|t| t.dtype == DType::I64).ok_or_else(|| op.wrong(1, "indices (i64)"))
}

struct GatherAxis;

impl OpDef for GatherAxis {
    fn name(&self) -> &'static str {
        "gather_axis"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let ids = indices(op)?;
        let tensor = op.operand(0)?.as_tensor().ok_or_else(|| op.wrong(0, "a tensor"))?;
        let axis = op.feature_axis(tensor)?;
        let set = op.common_set(tensor, ids)?;
        let dims = [&tensor.dims[..axis], &ids.dims, &tensor.dims[axis + 1..]].concat();
        Ok(vec![TensorType { dtype: tensor.dtype, set, dims }.into()])
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `gather_axis %tensor, %ids axis(k)`: the axes of `ids` in place of one feature axis; 0 where an index is outside.
pub const GATHER_AXIS: Op = Op(&GatherAxis);

struct GatherSet;

impl OpDef for GatherSet {
    fn name(&self) -> &'static str {
        "gather_set"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let ids = indices(op)?;
        let field = match op.operand(0)? {
            Type::Tensor(t) | Type::Buffer(t) if t.set.is_some() => t,
            _ => return Err(op.wrong(0, "a field")),
        };
        let dims = [ids.dims.as_slice(), &field.dims].concat();
        Ok(vec![TensorType { dtype: field.dtype, set: ids.set.clone(), dims }.into()])
    }
    fn whole(&self, index: usize) -> bool {
        index == 0
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `gather_set %field, %ids`: the element of each entity that `ids` names; 0 where there is none. On the loops level
/// the field is memory.
pub const GATHER_SET: Op = Op(&GatherSet);
