//! Conversions of values and of bits.

use super::elementwise::{dtype, operand, primitive};
use crate::{Fold, OpView, Scalar};
use tiga_abi::DType;

/// Whether every element of `from` has an element of `to` of its own, so that the way back is exact.
pub fn lossless(from: DType, to: DType) -> bool {
    use DType::{BF16, Bool, F16, F32, F64, I32, I64};
    matches!((from, to), (Bool, _) | (I32, I64 | F64) | (F16 | BF16, F32 | F64) | (F32, F64)) || from == to
}

/// There and back again, or no way at all.
fn round_trip(op: OpView<'_>, exact: impl Fn(DType, DType) -> bool) -> Option<Fold> {
    let to = *op.attrs().to()?;
    if dtype(op)? == to {
        return operand(op, 0);
    }
    let inner = op.def(0).filter(|inner| inner.name() == op.name())?;
    if dtype(inner)? == to && exact(to, dtype(op)?) { operand(inner, 0) } else { None }
}

primitive!(
    /// Converts as [`Scalar::cast`]: float to integer saturates, NaN gives 0.
    CAST, Cast, "cast", Cast, 1, false,
    |_d, a| a.to().copied(),
    |v, a| a.to().map_or(v[0], |to| v[0].cast(*to)),
    |op| round_trip(op, lossless),
    moves: true
);
primitive!(
    /// The same bits as another type of the same width.
    BITCAST, Bitcast, "bitcast", Bitcast, 1, false,
    |d, a| a.to().copied().filter(|to| to.bytes() == d[0].bytes()),
    |v, a| a.to().map_or(v[0], |to| Scalar::from_bits(*to, v[0].bits())),
    |op| round_trip(op, |_, _| true),
    moves: true
);
