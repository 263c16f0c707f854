//! Logic on `bool` and on the bits of integers.

use super::elementwise::{dtype, is, operand, primitive, same, twice, undo};
use crate::{Fold, OpView, Scalar};
use tiga_abi::DType;

macro_rules! bitwise {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $op:tt, $simplify:expr) => {
        primitive!(
            $(#[$doc])*
            $const, $ty, $name, $ty, 2, true,
            |d, _a| same(d, |t| !t.is_float()),
            |v, _a| match (v[0], v[1]) {
                (Scalar::Bool(a), Scalar::Bool(b)) => Scalar::Bool(a $op b),
                (Scalar::I32(a), Scalar::I32(b)) => Scalar::I32(a $op b),
                (Scalar::I64(a), Scalar::I64(b)) => Scalar::I64(a $op b),
                (a, _) => a,
            },
            |op| $simplify(op)
        );
    };
}

/// Shifts take their count modulo the width, as Rust's `wrapping_sh*` do.
macro_rules! shift {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $i32:expr, $i64:expr) => {
        primitive!(
            $(#[$doc])*
            $const, $ty, $name, $ty, 2, false,
            |d, _a| same(d, DType::is_int),
            |v, _a| match (v[0], v[1]) {
                (Scalar::I32(a), Scalar::I32(b)) => Scalar::I32($i32(a, b as u32)),
                (Scalar::I64(a), Scalar::I64(b)) => Scalar::I64($i64(a, b as u32)),
                (a, _) => a,
            }
        );
    };
}

fn zeros(d: DType) -> Scalar {
    Scalar::from_i64(d, 0)
}

/// All bits set; of `bool`, `true`.
fn ones(d: DType) -> Scalar {
    Scalar::from_i64(d, -1)
}

/// `x op x = x`, `x op neutral = x`, `x op last = last`.
fn idempotent(op: OpView<'_>, neutral: fn(DType) -> Scalar, last: fn(DType) -> Scalar) -> Option<Fold> {
    if twice(op) || is(op, 1, neutral) {
        return operand(op, 0);
    }
    let last = last(dtype(op)?);
    (op.constant(1) == Some(last)).then_some(Fold::Const(last))
}

bitwise!(/// And.
    AND, And, "and", &, |op| idempotent(op, ones, zeros));
bitwise!(/// Or.
    OR, Or, "or", |, |op| idempotent(op, zeros, ones));
bitwise!(/// Exclusive or.
    XOR, Xor, "xor", ^, |op| if is(op, 1, zeros) { operand(op, 0) } else { None });
primitive!(
    /// Complement.
    NOT, Not, "not", Not, 1, false,
    |d, _a| same(d, |t| !t.is_float()),
    |v, _a| match v[0] {
        Scalar::Bool(a) => Scalar::Bool(!a),
        Scalar::I32(a) => Scalar::I32(!a),
        Scalar::I64(a) => Scalar::I64(!a),
        a => a,
    },
    |op| undo(op)
);
shift!(/// Left.
    SHL, Shl, "shl", i32::wrapping_shl, i64::wrapping_shl);
shift!(/// Right, filling with zeros.
    SHR, Shr, "shr", |a: i32, b| (a as u32).wrapping_shr(b) as i32, |a: i64, b| (a as u64).wrapping_shr(b) as i64);
shift!(/// Right, filling with the sign.
    SAR, Sar, "sar", i32::wrapping_shr, i64::wrapping_shr);
