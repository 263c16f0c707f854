//! The power function: e^(y · ln|x|) with the product carried beyond the result's precision, then signs and limits.

use super::approx::{Pair, exact_product, ln2_parts, ordered_sum, pair_product, polynomial, quotient};
use super::arith::{Arith, Width};
use super::exp::{clamp, exp, reduce};
use super::log::{Split, log, special, split};
use super::term::{Cond, Float};

/// ((ln(1+f) − 2s)/s³ − 2/3)/s² in s² with s = f/(2+f), 1+f in [√½, √2]; error relative to ln(1+f) below 2^-73.
const TAIL: [f64; 8] = [
    0.3999999999999998,
    0.2857142857144385,
    0.22222222217785403,
    0.18181818844665923,
    0.1538455837503893,
    0.1333626680662767,
    0.11675729319122187,
    0.11982216529536645,
];

/// x^y.
#[inline(always)]
pub(super) fn pow<'a, A: Arith>(x: Float<'a, A>, y: Float<'a, A>) -> Float<'a, A> {
    let magnitude = match x.lane.width {
        Width::F32 => magnitude_f32(x.abs(), y),
        Width::F64 => magnitude_f64(x.abs(), y),
    };
    finish(x, y, magnitude)
}

/// Computes in f64, whose 29 more bits cover the 8 that the exponential magnifies its argument's error by; pairs of
/// f32 would take more operations than the lanes they save.
#[inline(always)]
fn magnitude_f32<'a, A: Arith>(x: Float<'a, A>, y: Float<'a, A>) -> Float<'a, A> {
    exp(y.widen() * log(x.widen())).narrow()
}

#[inline(always)]
fn magnitude_f64<'a, A: Arith>(x: Float<'a, A>, y: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let log = log_pair(x);
    // 0 and infinity take their infinite logarithms from here on; the low part is meaningless for them.
    let high = special(x, log.high);
    let product = exact_product(y, high);
    let low = product.low + y * log.low;
    let decided = product.high.abs().less(lane.float(800.0));
    reduce(clamp(product.high), Some(decided.float(low, lane.float(0.0)))).value()
}

/// ln x to about 2^-65, for positive finite x.
#[inline(always)]
fn log_pair<'a, A: Arith>(x: Float<'a, A>) -> Pair<'a, A> {
    let lane = x.lane;
    let ln2 = ln2_parts(lane);
    let (zero, two) = (lane.float(0.0), lane.float(2.0));
    let Split { m, k } = split(x);
    let f = m - lane.float(1.0);
    let s = quotient(Pair { high: f, low: zero }, ordered_sum(two, f));
    let z = pair_product(s, s);
    // ln(1+f) = 2s + s·z·(2/3 + z·tail), 2/3 in two parts.
    let inner = ordered_sum(lane.float(2.0 / 3.0), z.high * polynomial(z.high, &TAIL));
    let inner = Pair { high: inner.high, low: inner.low + lane.float(3.700_743_415_417_188e-17) };
    let rest = pair_product(s, pair_product(z, inner));
    let sum = ordered_sum(k * ln2.high, two * s.high);
    let total = ordered_sum(sum.high, rest.high);
    ordered_sum(total.high, total.low + (sum.low + (two * s.low + rest.low + k * ln2.low)))
}

/// The sign, and what C99 Annex F says where the magnitude alone does not follow from y · ln|x|.
#[inline(always)]
fn finish<'a, A: Arith>(x: Float<'a, A>, y: Float<'a, A>, magnitude: Float<'a, A>) -> Float<'a, A> {
    let lane = x.lane;
    let (zero, one, infinity) = (lane.float(0.0), lane.float(1.0), lane.float(f64::INFINITY));
    let (size, exponent) = (x.abs(), y.abs());

    // (±1)^±∞ = 1, where y · ln|x| is NaN.
    let at_infinity = size.equals(one).float(one, magnitude);
    let magnitude = exponent.equals(infinity).float(at_infinity, magnitude);

    // Odd integers: themselves integers, their halves not.
    let whole = is_integer(exponent);
    let half_whole = is_integer(exponent * lane.float(0.5));
    let none = lane.int(0);
    let sign = whole.int(half_whole.int(none, x.bits() & lane.sign_bit()), none);
    let signed = (magnitude.bits() | sign).float();

    // Negative numbers have no real power of an exponent that is no integer, but −∞ has.
    let fractional = size.equals(infinity).float(signed, lane.float(f64::NAN));
    let negative = whole.float(signed, fractional);
    let result = x.less(zero).float(negative, signed);

    // 1^y and x^0 are 1 whatever the other argument, NaN included.
    let result = x.equals(one).float(one, result);
    y.equals(zero).float(one, result)
}

/// Whether `x`, which is not negative, is an integer; infinity is one, NaN is not.
#[inline(always)]
fn is_integer<'a, A: Arith>(x: Float<'a, A>) -> Cond<'a, A> {
    let limit = x.lane.power_of_two(x.lane.width.fraction_bits());
    // From `limit` on there are no fractions; below, adding it rounds them away.
    x.less(limit).float((x + limit) - limit, x).equals(x)
}
