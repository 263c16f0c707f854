//! The natural logarithm.

use super::approx::{ln2_parts, ordered_sum, polynomial, to_float};
use super::arith::Arith;
use super::term::{Float, Int};

/// (ln(1+f) − 2s)/s³ in s² with s = f/(2+f), 1+f in [√½, √2]; error relative to ln(1+f) below 2^-35.
const TAIL_F32: [f64; 4] = [0.6666666269302368, 0.40000972151756287, 0.2849878668785095, 0.24279145896434784];

/// The same, below 2^-66.
pub(super) const TAIL_F64: [f64; 8] = [
    0.6666666666666666,
    0.40000000000004937,
    0.28571428569404306,
    0.2222222260825654,
    0.1818177823714695,
    0.15386994519464461,
    0.1325201158782735,
    0.13236081113941248,
];

/// `x = m · 2^k` with m in [√½, √2), for x positive and finite.
pub(super) struct Split<'a, A: Arith> {
    pub m: Float<'a, A>,
    pub k: Float<'a, A>,
}

/// Takes exponent and significand apart through the bits; anything for zero, negative numbers, infinities and NaN.
#[inline(always)]
pub(super) fn split<'a, A: Arith>(x: Float<'a, A>) -> Split<'a, A> {
    let lane = x.lane;
    let width = lane.width;
    let denormal = x.less(lane.float(width.pick(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE)));
    // Denormals first move up by 2^64, exactly.
    let normal = denormal.float(x * lane.power_of_two(64), x);
    let lift: Int<'a, A> = denormal.int(lane.int(64), lane.int(0));
    // Seen from √½, the exponent field counts [√½, √2) as one binade.
    let bits = normal.bits();
    let k = (bits - lane.float(std::f64::consts::FRAC_1_SQRT_2).bits()).signed_shr(width.fraction_bits());
    let m = (bits - (k << lane.int(width.fraction_bits()))).float();
    Split { m, k: to_float(lane, k - lift) }
}

/// Gives a logarithm computed for positive finite `x` the values C99 Annex F wants elsewhere.
#[inline(always)]
pub(super) fn special<'a, A: Arith>(x: Float<'a, A>, finite: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let (zero, infinity) = (lane.float(0.0), lane.float(f64::INFINITY));
    let positive = x.equals(infinity).float(infinity, finite);
    let rest = x.equals(zero).float(lane.float(f64::NEG_INFINITY), lane.float(f64::NAN));
    x.greater(zero).float(positive, rest)
}

/// ln x.
#[inline(always)]
pub(super) fn log<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let ln2 = ln2_parts(lane);
    let Split { m, k } = split(x);
    let f = m - lane.float(1.0);
    let s = f / (f + lane.float(2.0));
    let z = s * s;
    let tail = z * polynomial(z, lane.width.pick(&TAIL_F32[..], &TAIL_F64[..]));
    // ln(1+f) = f − f²/2 + s(f²/2 + tail): f and f² stay exact longer than 2s would.
    let half_square = lane.float(0.5) * f * f;
    let sum = ordered_sum(k * ln2.high, f);
    let rest = sum.low - (half_square - (s * (half_square + tail) + k * ln2.low));
    special(x, sum.high + rest)
}
