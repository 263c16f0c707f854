//! The pieces every definition is made of: polynomials, rounding, powers of two, exact sums and corrected quotients.

use super::arith::Arith;
use super::term::{Float, Int, Lane};
use std::f64::consts::LN_2;

/// A value as the unevaluated sum of its rounding and what the rounding lost.
pub(super) struct Pair<'a, A: Arith> {
    pub high: Float<'a, A>,
    pub low: Float<'a, A>,
}

/// ln 2 in two parts: the first has so few bits that its product with an exponent is exact.
pub(super) fn ln2_parts<'a, A: Arith>(lane: Lane<'a, A>) -> Pair<'a, A> {
    // f32: 15 bits, and ln 2 minus them; f64: 33 bits, and ln 2 minus them to 53 more bits.
    let high = lane.width.pick(0.693_145_751_953_125, 0.693_147_180_369_123_8);
    let low = lane.width.pick(LN_2 - 0.693_145_751_953_125, 1.908_214_929_270_587_7e-10);
    Pair { high: lane.float(high), low: lane.float(low) }
}

/// Horner's rule; `coefficients[i]` belongs to `x^i`.
pub(super) fn polynomial<'a, A: Arith>(x: Float<'a, A>, coefficients: &[f64]) -> Float<'a, A> {
    let mut terms = coefficients.iter().rev().map(|&c| x.lane.float(c));
    let highest = terms.next().expect("a polynomial has a coefficient");
    terms.fold(highest, |sum, c| sum * x + c)
}

/// The sum of `a` and `b` with its rounding error, exact when `|a| >= |b|` or `a == 0` (Dekker's fast two-sum).
pub(super) fn ordered_sum<'a, A: Arith>(a: Float<'a, A>, b: Float<'a, A>) -> Pair<'a, A> {
    let high = a + b;
    Pair { high, low: (a - high) + b }
}

/// 1.5 · 2^fraction_bits: adding it rounds to an integer (ties to even) that then stands in the low bits.
fn rounder<'a, A: Arith>(lane: Lane<'a, A>) -> Float<'a, A> {
    lane.float(lane.width.pick(12_582_912.0, 6_755_399_441_055_744.0))
}

/// The integer nearest to `x` (ties to even) as float and as integer; for `|x|` below 2^22 (f32) or 2^51 (f64).
pub(super) fn round<'a, A: Arith>(x: Float<'a, A>) -> (Float<'a, A>, Int<'a, A>) {
    let rounder = rounder(x.lane);
    let shifted = x + rounder;
    (shifted - rounder, shifted.bits() - rounder.bits())
}

/// An integer below 2^22 (f32) or 2^51 (f64) in magnitude as a float.
pub(super) fn to_float<'a, A: Arith>(lane: Lane<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    let rounder = rounder(lane);
    (rounder.bits() + k).float() - rounder
}

/// 2^k for exponents of normal numbers.
pub(super) fn power_of_two<'a, A: Arith>(lane: Lane<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    ((k + lane.int(lane.width.bias())) << lane.int(lane.width.fraction_bits())).float()
}

/// `x · 2^k`, rounded once, for `|k|` up to twice the largest exponent: in two steps, the first of which is exact.
pub(super) fn scale<'a, A: Arith>(x: Float<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    let half = k.signed_shr(1);
    x * power_of_two(x.lane, half) * power_of_two(x.lane, k - half)
}

/// `x` with its low half cleared; `x` minus it has the other bits, so that products of halves are exact.
pub(super) fn top_half<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    (x.bits() & x.lane.int(x.lane.width.pick(-0x1000, -0x800_0000))).float()
}

/// `n / d` of two pairs, within a little more than half an ulp: the rounded quotient plus its residual over `d`.
pub(super) fn quotient<'a, A: Arith>(n: Pair<'a, A>, d: Pair<'a, A>) -> Float<'a, A> {
    let inverse = n.high.lane.float(1.0) / d.high;
    let q = n.high * inverse;
    let (q_top, d_top) = (top_half(q), top_half(d.high));
    let (q_end, d_end) = (q - q_top, d.high - d_top);
    let residual = n.high - q_top * d_top - q_top * d_end - q_end * d_top - q_end * d_end;
    q + (residual + (n.low - q * d.low)) * inverse
}

/// `magnitude` with the sign bit of `sign` (whose other bits do not matter); `magnitude` is not negative.
pub(super) fn with_sign<'a, A: Arith>(magnitude: Float<'a, A>, sign: Int<'a, A>) -> Float<'a, A> {
    (magnitude.bits() | (sign & magnitude.lane.sign_bit())).float()
}
