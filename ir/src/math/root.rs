//! The square root and its reciprocal.

use super::arith::Arith;
use super::term::Float;

/// √x: one instruction, correctly rounded.
#[inline(always)]
pub(super) fn sqrt<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    x.sqrt()
}

/// 1/√x as √(1/x): the root halves the relative error of the division, so at most one ulp remains; ±∞ for ±0.
#[inline(always)]
pub(super) fn rsqrt<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    // Where 1/x would overflow or be denormal, x moves by an even power of two first.
    let (edge, shift) = lane.width.pick((100, 64), (1000, 128));
    let power = |exponent| lane.power_of_two(exponent);
    let (small, large) = (x.less(power(-edge)), x.greater(power(edge)));
    let one = lane.float(1.0);
    let before = small.float(power(shift), large.float(power(-shift), one));
    let after = small.float(power(shift / 2), large.float(power(-shift / 2), one));
    let inverse = one / (x * before);
    let root = inverse.sqrt() * after;
    // √(1/−0) would be NaN, and √(1/−∞) would not.
    let zero = lane.float(0.0);
    let root = x.less(zero).float(lane.float(f64::NAN), root);
    x.equals(zero).float(inverse, root)
}
