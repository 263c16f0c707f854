//! Numbers of twice the bits of an f64, as unevaluated sums: what the quick reference computes with.

use std::ops::{Add, Mul, Neg};

/// `high + low`, with `low` at most half a unit in the last place of `high`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The f64 nearest to the number.
    pub high: f64,
    /// The f64 nearest to the rest.
    pub low: f64,
}

/// A pair times a power of two, for values beyond the range of f64.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scaled {
    /// The significand, of ordinary size or 0.
    pub value: Pair,
    /// The power.
    pub exponent: i32,
}

impl Pair {
    /// 0.
    pub const ZERO: Pair = Pair { high: 0.0, low: 0.0 };

    /// The number itself.
    pub fn of(high: f64) -> Self {
        Self { high, low: 0.0 }
    }

    /// `a + b` exactly (Knuth's two-sum).
    pub fn sum(a: f64, b: f64) -> Self {
        let high = a + b;
        let back = high - a;
        Self { high, low: (a - (high - back)) + (b - back) }
    }

    /// `a + b` exactly, for |a| ≥ |b| or a = 0.
    pub fn ordered(a: f64, b: f64) -> Self {
        let high = a + b;
        Self { high, low: (a - high) + b }
    }

    /// `a · b` exactly, unless it is denormal or nearly so.
    pub fn product(a: f64, b: f64) -> Self {
        let high = a * b;
        Self { high, low: a.mul_add(b, -high) }
    }

    /// The quotient.
    pub fn over(self, divisor: Pair) -> Self {
        let first = self.high / divisor.high;
        let rest = self + -(divisor * Pair::of(first));
        Self::ordered(first, (rest.high + rest.low) / divisor.high)
    }

    /// The number times 2^exponent, exactly where neither part becomes denormal.
    pub fn scaled(self, exponent: i32) -> Self {
        Self { high: scale(self.high, exponent), low: scale(self.low, exponent) }
    }

    /// The number as it is.
    pub fn unscaled(self) -> Scaled {
        Scaled { value: self, exponent: 0 }
    }
}

impl Add for Pair {
    type Output = Pair;
    fn add(self, other: Pair) -> Pair {
        let (high, low) = (Pair::sum(self.high, other.high), Pair::sum(self.low, other.low));
        let first = Pair::ordered(high.high, high.low + low.high);
        Pair::ordered(first.high, first.low + low.low)
    }
}

impl Mul for Pair {
    type Output = Pair;
    fn mul(self, other: Pair) -> Pair {
        let product = Pair::product(self.high, other.high);
        Pair::ordered(product.high, product.low + self.high.mul_add(other.low, self.low * other.high))
    }
}

impl Neg for Pair {
    type Output = Pair;
    fn neg(self) -> Pair {
        Pair { high: -self.high, low: -self.low }
    }
}

/// `x · 2^exponent`, rounded once.
pub fn scale(x: f64, exponent: i32) -> f64 {
    let power = |k: i32| f64::from_bits(((k + 1023) as u64) << 52);
    if (-1022..=1023).contains(&exponent) {
        return x * power(exponent);
    }
    // The first step must not round: it ends where x is normal, as far as x is.
    let exponent = exponent.clamp(-2200, 2200);
    let first = if exponent < 0 { -1022 + 53 } else { 1023 };
    scale(x * power(first), exponent - first)
}

/// `x` as `m · 2^k` with |m| in [1, 2), for x finite and not 0.
pub fn split(x: f64) -> (f64, i32) {
    let lift = if x.is_subnormal() { 64 } else { 0 };
    let bits = (x * scale(1.0, lift)).to_bits();
    let exponent = (bits >> 52) as i32 & 0x7ff;
    (f64::from_bits((bits & !(0x7ff << 52)) | (1023 << 52)), exponent - 1023 - lift)
}

/// What a number of a floating-point format may be.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the significand, the hidden one included.
    pub bits: i32,
    /// The exponent of the smallest normal number.
    pub least: i32,
}

impl Format {
    /// Whether `got` is the normal number of this format next to the exact value, beyond doubt.
    pub fn is_nearest(self, got: f64, exact: Option<Scaled>) -> bool {
        let Some(Scaled { value, exponent }) = exact else { return false };
        if self.bits == 24 {
            return exponent == 0 && f64::from(value.high as f32) == got && got.is_finite();
        }
        let normal = exponent > self.least + 2 && exponent <= 1000;
        self.bits == 53 && normal && got == value.high * f64::from_bits(((exponent + 1023) as u64) << 52)
    }

    /// The distance of the result `got`, a number of this format, from the exact value, in units in the last place of
    /// the exact value: 0.5 is correctly rounded, infinity a NaN or a finite number out of place. An infinite result
    /// counts as the number after the largest, and as right beyond it.
    pub fn ulps(self, got: f64, exact: Option<Scaled>) -> f64 {
        let Some(Scaled { value, exponent }) = exact else {
            return if got.is_nan() { 0.0 } else { f64::INFINITY };
        };
        if got.is_nan() {
            return f64::INFINITY;
        }
        if value.high == 0.0 {
            return if got == 0.0 { 0.0 } else { f64::INFINITY };
        }
        let (m, k) = split(value.high);
        // Just below a power of two the units are smaller.
        let below = m.abs() == 1.0 && value.low != 0.0 && (value.low < 0.0) == (value.high > 0.0);
        let top = k + exponent - i32::from(below);
        let limit = 1 - self.least + 1;
        if got.is_infinite() && top >= limit && (got > 0.0) == (value.high > 0.0) {
            return 0.0;
        }
        let unit = top.max(self.least) - self.bits + 1;
        // Both in units of the last place.
        let got = if got.is_infinite() { scale(1f64.copysign(got), limit - unit) } else { scale(got, -unit) };
        let exact = value.scaled(exponent - unit);
        ((got - exact.high) - exact.low).abs()
    }
}
