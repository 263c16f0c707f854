//! The pieces every definition is made of: polynomials, rounding, powers of two, exact sums and corrected quotients.

use super::arith::Arith;
use super::term::{Float, Int, Lane};
use std::f64::consts::LN_2;

/// A value as the unevaluated sum of its rounding and what the rounding lost.
pub(super) struct Pair<'a, A: Arith> {
    pub high: Float<'a, A>,
    pub low: Float<'a, A>,
}

// Derived, these would ask that the arithmetic itself be `Copy`.
impl<A: Arith> Clone for Pair<'_, A> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<A: Arith> Copy for Pair<'_, A> {}

/// ln 2 in two parts: the first has so few bits that its product with an exponent is exact.
#[inline(always)]
pub(super) fn ln2_parts<'a, A: Arith>(lane: Lane<'a, A>) -> Pair<'a, A> {
    // f32: 15 bits, and ln 2 minus them; f64: 33 bits, and ln 2 minus them to 53 more bits.
    let high = lane.width.pick(0.693_145_751_953_125, 0.693_147_180_369_123_8);
    let low = lane.width.pick(LN_2 - 0.693_145_751_953_125, 1.908_214_929_270_587_7e-10);
    Pair { high: lane.float(high), low: lane.float(low) }
}

/// Horner's rule; `coefficients[i]` belongs to `x^i`.
#[inline(always)]
pub(super) fn polynomial<'a, A: Arith>(x: Float<'a, A>, coefficients: &[f64]) -> Float<'a, A> {
    let (highest, others) = coefficients.split_last().expect("a polynomial has a coefficient");
    let mut sum = x.lane.float(*highest);
    for c in others.iter().rev() {
        sum = sum * x + x.lane.float(*c);
    }
    sum
}

/// The sum of `a` and `b` with its rounding error, exact when `|a| >= |b|` or `a == 0` (Dekker's fast two-sum).
#[inline(always)]
pub(super) fn ordered_sum<'a, A: Arith>(a: Float<'a, A>, b: Float<'a, A>) -> Pair<'a, A> {
    let high = a + b;
    Pair { high, low: (a - high) + b }
}

/// 1.5 · 2^fraction_bits: adding it rounds to an integer (ties to even) that then stands in the low bits.
#[inline(always)]
fn rounder<'a, A: Arith>(lane: Lane<'a, A>) -> Float<'a, A> {
    lane.float(lane.width.pick(12_582_912.0, 6_755_399_441_055_744.0))
}

/// The integer nearest to `x` (ties to even) as float and as integer; for `|x|` below 2^22 (f32) or 2^51 (f64).
#[inline(always)]
pub(super) fn round<'a, A: Arith>(x: Float<'a, A>) -> (Float<'a, A>, Int<'a, A>) {
    let rounder = rounder(x.lane);
    let shifted = x + rounder;
    (shifted - rounder, shifted.bits() - rounder.bits())
}

/// An integer below 2^22 (f32) or 2^51 (f64) in magnitude as a float.
#[inline(always)]
pub(super) fn to_float<'a, A: Arith>(lane: Lane<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    let rounder = rounder(lane);
    (rounder.bits() + k).float() - rounder
}

/// 2^k for exponents of normal numbers.
#[inline(always)]
pub(super) fn power_of_two<'a, A: Arith>(lane: Lane<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    ((k + lane.int(lane.width.bias())) << lane.int(lane.width.fraction_bits())).float()
}

/// `x · 2^k`, rounded once, for `|k|` up to twice the largest exponent: in two steps, the first of which is exact.
#[inline(always)]
pub(super) fn scale<'a, A: Arith>(x: Float<'a, A>, k: Int<'a, A>) -> Float<'a, A> {
    let half = k.signed_shr(1);
    x * power_of_two(x.lane, half) * power_of_two(x.lane, k - half)
}

/// `x` with its low half cleared; `x` minus it has the other bits, so that products of halves are exact.
#[inline(always)]
pub(super) fn top_half<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    (x.bits() & x.lane.int(x.lane.width.pick(-0x1000, -0x800_0000))).float()
}

/// The product of `a` and `b` with its rounding error, from products of halves (Veltkamp and Dekker).
#[inline(always)]
pub(super) fn exact_product<'a, A: Arith>(a: Float<'a, A>, b: Float<'a, A>) -> Pair<'a, A> {
    let high = a * b;
    Pair { high, low: -residual(high, a, b) }
}

/// `n − a·b`, exact where `n` is within a few ulps of the product.
#[inline(always)]
fn residual<'a, A: Arith>(n: Float<'a, A>, a: Float<'a, A>, b: Float<'a, A>) -> Float<'a, A> {
    let (a_top, b_top) = (top_half(a), top_half(b));
    let (a_end, b_end) = (a - a_top, b - b_top);
    n - a_top * b_top - a_top * b_end - a_end * b_top - a_end * b_end
}

/// The product of two pairs, as a pair.
#[inline(always)]
pub(super) fn pair_product<'a, A: Arith>(a: Pair<'a, A>, b: Pair<'a, A>) -> Pair<'a, A> {
    let product = exact_product(a.high, b.high);
    ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high))
}

/// `n / d` of two pairs: the rounded quotient plus its residual over `d`.
#[inline(always)]
pub(super) fn quotient<'a, A: Arith>(n: Pair<'a, A>, d: Pair<'a, A>) -> Pair<'a, A> {
    let inverse = n.high.lane.float(1.0) / d.high;
    let q = n.high * inverse;
    let low = (residual(n.high, q, d.high) + (n.low - q * d.low)) * inverse;
    ordered_sum(q, low)
}

/// `magnitude` with the sign bit of `sign` (whose other bits do not matter); `magnitude` is not negative.
#[inline(always)]
pub(super) fn with_sign<'a, A: Arith>(magnitude: Float<'a, A>, sign: Int<'a, A>) -> Float<'a, A> {
    (magnitude.bits() | (sign & magnitude.lane.sign_bit())).float()
}
