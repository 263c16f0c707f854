//! Minimum and maximum of IEEE 754-2019: NaN propagates, −0 < +0; so both are associative and commutative.

use super::elementwise::{numeric2, operand, primitive, same, twice};
use crate::Scalar;
use tiga_abi::DType;

macro_rules! extremum {
    ($pick_left:expr, $both_zero:expr) => {
        |a, b| {
            if a != a {
                a
            } else if b != b {
                b
            } else if a == b {
                // Equal values differ in bits only as zeros.
                $both_zero(a, b)
            } else if $pick_left(&a, &b) {
                a
            } else {
                b
            }
        }
    };
}

primitive!(
    /// The smaller one.
    MIN, Min, "min", Min, 2, true,
    |d, _a| same(d, |t| t != DType::Bool),
    |v, _a| numeric2!(v, i32: i32::min, i64: i64::min,
        f32: extremum!(f32::lt, |a: f32, b: f32| if a.is_sign_negative() { a } else { b }),
        f64: extremum!(f64::lt, |a: f64, b: f64| if a.is_sign_negative() { a } else { b })),
    |op| if twice(op) { operand(op, 0) } else { None }
);
primitive!(
    /// The larger one.
    MAX, Max, "max", Max, 2, true,
    |d, _a| same(d, |t| t != DType::Bool),
    |v, _a| numeric2!(v, i32: i32::max, i64: i64::max,
        f32: extremum!(f32::gt, |a: f32, b: f32| if a.is_sign_positive() { a } else { b }),
        f64: extremum!(f64::gt, |a: f64, b: f64| if a.is_sign_positive() { a } else { b })),
    |op| if twice(op) { operand(op, 0) } else { None }
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_are_ordered_and_nan_wins() {
        let max = |a, b| MAX.eval(&[Scalar::F32(a), Scalar::F32(b)], &Default::default());
        assert_eq!(max(-0.0, 0.0), Some(Scalar::F32(0.0)));
        assert_eq!(max(0.0, -0.0), Some(Scalar::F32(0.0)));
        assert!(max(1.0, f32::NAN).is_some_and(Scalar::is_nan));
        assert!(max(f32::NAN, 1.0).is_some_and(Scalar::is_nan));
    }
}
