//! The exponential, and its unevaluated form that sigmoid, tanh and pow continue from.

use super::approx::{Pair, ln2_parts, ordered_sum, polynomial, round, scale};
use super::arith::Arith;
use super::term::{Float, Int};
use std::f64::consts::LOG2_E;

/// (e^r − 1 − r)/r² on |r| ≤ ln 2 / 2; error relative to e^r below 2^-33.
const TAIL_F32: [f64; 6] = [
    0.5,
    0.1666666567325592,
    0.041666459292173386,
    0.008333561010658741,
    0.0013935432070866227,
    0.00019748767954297364,
];

/// The same, below 2^-63.
const TAIL_F64: [f64; 11] = [
    0.5,
    0.16666666666666682,
    0.041666666666666484,
    0.008333333333317677,
    0.0013888888888995477,
    0.00019841269895047044,
    2.4801587095929772e-05,
    2.7557235999345724e-06,
    2.7557469937268144e-07,
    2.5111695033404424e-08,
    2.0854830443411787e-09,
];

/// e^x as 2^exponent · (1 + head + rest), |head| ≤ 0.35 exact, |rest| ≤ 0.07.
pub(super) struct Exponential<'a, A: Arith> {
    pub head: Float<'a, A>,
    pub rest: Float<'a, A>,
    pub exponent: Int<'a, A>,
}

/// Reduces `x + low` (|low| below an ulp of x) by k·ln 2 in two parts (Cody and Waite), then a polynomial.
/// `x` must be bounded: see [`clamp`].
#[inline(always)]
pub(super) fn reduce<'a, A: Arith>(x: Float<'a, A>, low: Option<Float<'a, A>>) -> Exponential<'a, A> {
    let lane = x.lane;
    let ln2 = ln2_parts(lane);
    let (k, exponent) = round(x * lane.float(LOG2_E));
    let head = x - k * ln2.high;
    let lost = match low {
        Some(low) => k * ln2.low - low,
        None => k * ln2.low,
    };
    let r = head - lost;
    let tail = polynomial(r, lane.width.pick(&TAIL_F32[..], &TAIL_F64[..]));
    Exponential { head, rest: r * r * tail - lost, exponent }
}

/// `x` where the result is neither 0 nor infinite, else the nearest bound beyond which it is. NaN stays.
#[inline(always)]
pub(super) fn clamp<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    // e^x overflows above 88.73 and 709.79, rounds to zero below −103.98 and −745.14.
    let (most, least) = (lane.float(lane.width.pick(89.0, 710.0)), lane.float(lane.width.pick(-104.0, -746.0)));
    let x = x.greater(most).float(most, x);
    x.less(least).float(least, x)
}

impl<'a, A: Arith> Exponential<'a, A> {
    /// 1 + head + rest as a pair.
    #[inline(always)]
    pub fn significand(&self) -> Pair<'a, A> {
        let sum = ordered_sum(self.head.lane.float(1.0), self.head);
        ordered_sum(sum.high, sum.low + self.rest)
    }

    /// The value, rounded; infinite or denormal where it must be.
    #[inline(always)]
    pub fn value(&self) -> Float<'a, A> {
        let sum = ordered_sum(self.head.lane.float(1.0), self.head);
        scale(sum.high + (sum.low + self.rest), self.exponent)
    }
}

/// e^x.
#[inline(always)]
pub(super) fn exp<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    reduce(clamp(x), None).value()
}
