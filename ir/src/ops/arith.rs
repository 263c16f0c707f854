//! Arithmetic: total on integers, IEEE on floats.

use super::elementwise::{dtype, is, numeric2, operand, primitive, same, twice, undo};
use crate::{Fold, OpView, Scalar};
use std::ops::{Add as _, Div as _, Mul as _, Sub as _};
use tiga_abi::DType;

fn number(d: DType) -> bool {
    d != DType::Bool
}

fn zero(d: DType) -> Scalar {
    Scalar::from_i64(d, 0)
}

fn one(d: DType) -> Scalar {
    Scalar::from_i64(d, 1)
}

/// What changes nothing when it is added: 0 of integers, −0 of floats.
fn nothing_added(d: DType) -> Scalar {
    if d.is_float() { Scalar::from_f64(d, -0.0) } else { zero(d) }
}

/// `x · 1/c` for `x / c`, where c is a power of two whose reciprocal is one as well: both round the same number.
fn reciprocal(op: OpView<'_>) -> Option<Fold> {
    let divisor = op.constant(1)?;
    let fraction = match divisor {
        Scalar::F32(c) => c.to_bits() & 0x007f_ffff,
        Scalar::F64(c) => (c.to_bits() & 0x000f_ffff_ffff_ffff != 0).into(),
        _ => return None,
    };
    let inverse = match divisor {
        Scalar::F32(c) => Scalar::F32(1.0 / c),
        _ => Scalar::F64(1.0 / divisor.as_f64()),
    };
    let normal = |c: Scalar| match c {
        Scalar::F32(c) => c.is_normal(),
        c => c.as_f64().is_normal(),
    };
    let exact = fraction == 0 && normal(divisor) && normal(inverse);
    exact.then(|| Fold::WithConst(MUL, op.operands()[0], inverse))
}

primitive!(
    /// Sum; integers wrap.
    ADD, Add, "add", Add, 2, true,
    |d, _a| same(d, number),
    |v, _a| numeric2!(v, i32: i32::wrapping_add, i64: i64::wrapping_add, f32: f32::add, f64: f64::add),
    // Not x + 0: it turns −0 into 0.
    |op| if is(op, 1, nothing_added) { operand(op, 0) } else { None }
);
primitive!(
    /// Difference; integers wrap.
    SUB, Sub, "sub", Sub, 2, false,
    |d, _a| same(d, number),
    |v, _a| numeric2!(v, i32: i32::wrapping_sub, i64: i64::wrapping_sub, f32: f32::sub, f64: f64::sub),
    |op| if is(op, 1, zero) {
        operand(op, 0)
    } else if twice(op) && dtype(op)?.is_int() {
        Some(Fold::Const(zero(dtype(op)?)))
    } else {
        None
    }
);
primitive!(
    /// Product; integers wrap.
    MUL, Mul, "mul", Mul, 2, true,
    |d, _a| same(d, number),
    |v, _a| numeric2!(v, i32: i32::wrapping_mul, i64: i64::wrapping_mul, f32: f32::mul, f64: f64::mul),
    |op| if is(op, 1, one) {
        operand(op, 0)
    } else if dtype(op)?.is_int() && is(op, 1, zero) {
        Some(Fold::Const(zero(dtype(op)?)))
    } else {
        None
    }
);
primitive!(
    /// Quotient; integers: x/0 = 0 and MIN/−1 wraps.
    DIV, Div, "div", Div, 2, false,
    |d, _a| same(d, number),
    |v, _a| numeric2!(v,
        i32: |a: i32, b: i32| if b == 0 { 0 } else { a.wrapping_div(b) },
        i64: |a: i64, b: i64| if b == 0 { 0 } else { a.wrapping_div(b) },
        f32: f32::div, f64: f64::div),
    |op| if is(op, 1, one) { operand(op, 0) } else { reciprocal(op) }
);
primitive!(
    /// Remainder of integers, with the sign of the dividend; x%0 = 0.
    REM, Rem, "rem", Rem, 2, false,
    |d, _a| same(d, DType::is_int),
    |v, _a| numeric2!(v,
        i32: |a: i32, b: i32| if b == 0 { 0 } else { a.wrapping_rem(b) },
        i64: |a: i64, b: i64| if b == 0 { 0 } else { a.wrapping_rem(b) },
        f32: |a: f32, _| a, f64: |a: f64, _| a)
);
primitive!(
    /// Negation; integers wrap.
    NEG, Neg, "neg", Neg, 1, false,
    |d, _a| same(d, number),
    |v, _a| match v[0] {
        Scalar::I32(a) => Scalar::I32(a.wrapping_neg()),
        Scalar::I64(a) => Scalar::I64(a.wrapping_neg()),
        Scalar::F32(a) => Scalar::F32(-a),
        Scalar::F64(a) => Scalar::F64(-a),
        a => a,
    },
    |op| undo(op)
);
primitive!(
    /// Absolute value; integers wrap.
    ABS, Abs, "abs", Abs, 1, false,
    |d, _a| same(d, number),
    |v, _a| match v[0] {
        Scalar::I32(a) => Scalar::I32(a.wrapping_abs()),
        Scalar::I64(a) => Scalar::I64(a.wrapping_abs()),
        Scalar::F32(a) => Scalar::F32(a.abs()),
        Scalar::F64(a) => Scalar::F64(a.abs()),
        a => a,
    },
    |op| {
        let inner = op.def(0)?;
        match inner.name() {
            "abs" => operand(op, 0),
            "neg" => Some(Fold::Op(ABS, vec![*inner.operands().first()?], Default::default())),
            _ => None,
        }
    }
);
primitive!(
    /// Square root, correctly rounded.
    SQRT, Sqrt, "sqrt", Sqrt, 1, false,
    |d, _a| same(d, DType::is_float),
    |v, _a| match v[0] {
        Scalar::F32(a) => Scalar::F32(a.sqrt()),
        Scalar::F64(a) => Scalar::F64(a.sqrt()),
        a => a,
    }
);
primitive!(
    /// a·b + c with one rounding; made by the contraction pass only.
    FMA, Fma, "fma", Fma, 3, false,
    |d, _a| same(d, |d| d.is_float() && !d.is_half()),
    |v, _a| match (v[0], v[1], v[2]) {
        (Scalar::F32(a), Scalar::F32(b), Scalar::F32(c)) => Scalar::F32(a.mul_add(b, c)),
        (Scalar::F64(a), Scalar::F64(b), Scalar::F64(c)) => Scalar::F64(a.mul_add(b, c)),
        (a, _, _) => a,
    }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_division_is_total() {
        let div = |a, b| DIV.eval(&[Scalar::I32(a), Scalar::I32(b)], &Default::default());
        assert_eq!(div(7, 0), Some(Scalar::I32(0)));
        assert_eq!(div(i32::MIN, -1), Some(Scalar::I32(i32::MIN)));
        assert_eq!(REM.eval(&[Scalar::I64(i64::MIN), Scalar::I64(-1)], &Default::default()), Some(Scalar::I64(0)));
    }
}
