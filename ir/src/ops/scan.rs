//! `scan_axis`: running sums along a feature axis.

use crate::{Level, Levels, Op, OpDef, OpView, Type, TypeError};
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
        let tensor = op.operand(0)?.as_tensor().filter(|t| t.dtype != DType::Bool && !t.dtype.is_half());
        let tensor =
            tensor.ok_or_else(|| op.wrong(0, "a tensor of numbers that are computed with (f16 and bf16 are not)"))?;
        op.feature_axis(tensor)?;
        Ok(vec![tensor.clone().into()])
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `scan_axis %tensor axis(k)`: at each position the first element, and then each further one added to it.
pub const SCAN_AXIS: Op = Op(&ScanAxis);
