//! `scan_axis`: running sums along a feature axis.

use crate::{Key, Level, Levels, Nest, Op, OpDef, OpView, Type, TypeError, Value};
use tiga_abi::DType;

struct ScanAxis;

impl OpDef for ScanAxis {
    fn name(&self) -> &'static str {
        "scan_axis"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let axis = usize::try_from(*op.attrs().axis().ok_or_else(|| op.missing(Key::Axis))?).ok();
        let numbers = |t: &&crate::TensorType| t.dtype != DType::Bool && axis.is_some_and(|a| a < t.dims.len());
        let tensor = op.operand(0)?.as_tensor().filter(numbers);
        Ok(vec![tensor.ok_or_else(|| op.wrong(0, "numbers with that axis"))?.clone().into()])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        Some(nest.same(op, operands))
    }
}

/// `scan_axis %tensor axis(k)`: at each position the first element, and then each further one added to it.
pub const SCAN_AXIS: Op = Op(&ScanAxis);
