//! Conversions of values and of bits.

use super::elementwise::{dtype, operand, primitive};
use super::math_op::Emitter;
use crate::math::{half_to_single, single_to_half};
use crate::{Attr, Attrs, Builder, Fold, Key, OpView, Scalar, TypeError, Value};
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

/// A conversion from or to `f16` for machines that have none, on the kernel level. The way from and to the bits of an
/// `f16` is the `bf16` of the same bits, which is the upper half of an `f32`.
///
/// # Errors
/// The value has no elements.
pub fn cast_without_f16(builder: &mut Builder<'_>, value: Value, to: DType) -> Result<Value, TypeError> {
    let mut value = value;
    if builder.body.ty(value).dtype() == Some(DType::F16) {
        let upper = bits(builder, value, DType::BF16)?;
        let upper = builder.cast(upper, DType::F32)?;
        value = Emitter::emit_all(builder, upper, |emitter| half_to_single(emitter, upper))?;
    }
    if to != DType::F16 {
        return builder.cast(value, to);
    }
    let single = builder.cast(value, DType::F32)?;
    let upper = Emitter::emit_all(builder, single, |emitter| single_to_half(emitter, single))?;
    let upper = builder.cast(upper, DType::BF16)?;
    bits(builder, upper, DType::F16)
}

fn bits(builder: &mut Builder<'_>, value: Value, to: DType) -> Result<Value, TypeError> {
    builder.value(BITCAST, &[value], Attrs::new().with(Key::To, Attr::DType(to)))
}
