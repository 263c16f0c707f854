//! tanh and the logistic function: quotients of e^x that keep what rounding the exponential lost.

use super::approx::{Pair, ordered_sum, power_of_two, quotient, scale, with_sign};
use super::arith::Arith;
use super::exp::{clamp, reduce};
use super::term::Float;

/// e^x − 1 as a pair, for x in [−60, 0].
#[inline(always)]
fn exp_minus_one<'a, A: Arith>(x: Float<'a, A>) -> Pair<'a, A> {
    let lane = x.lane;
    let e = reduce(x, None);
    let power = power_of_two(lane, e.exponent);
    let start = ordered_sum(lane.float(-1.0), power);
    // The start is 0 (k = 0) or at least ½ in magnitude, more than 2^k·head: either way the sum's error is exact.
    let sum = ordered_sum(start.high, power * e.head);
    ordered_sum(sum.high, sum.low + (start.low + power * e.rest))
}

/// tanh x = −t/(2 + t) with t = e^(−2|x|) − 1, signed like x.
#[inline(always)]
pub(super) fn tanh<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let twice = x.abs() * lane.float(-2.0);
    // Already ±1 in either format there; NaN stays.
    let least = lane.float(-60.0);
    let t = exp_minus_one(twice.less(least).float(least, twice));
    let sum = ordered_sum(lane.float(2.0), t.high);
    let divisor = Pair { high: sum.high, low: sum.low + t.low };
    let magnitude = quotient(Pair { high: -t.high, low: -t.low }, divisor);
    with_sign(magnitude.high.abs(), x.bits())
}

/// 1/(1 + e^−x), as n/(1 + e^−|x|) with n = 1 for x ≥ 0 and e^−|x| below, so that small results keep their bits.
#[inline(always)]
pub(super) fn sigmoid<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let (zero, one) = (lane.float(0.0), lane.float(1.0));
    let e = reduce(clamp(-x.abs()), None);
    let significand = e.significand();
    let (high, low) = (scale(significand.high, e.exponent), scale(significand.low, e.exponent));
    let sum = ordered_sum(one, high);
    let below = x.less(zero);
    let numerator = Pair { high: below.float(high, one), low: below.float(low, zero) };
    quotient(numerator, Pair { high: sum.high, low: sum.low + low }).high
}
