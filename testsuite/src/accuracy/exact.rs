//! The exact value of a function, to 256 bits: slow, and the judge of the quick reference.

use super::pair::{Pair, Scaled, scale};
use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use tiga_ir::math::MathFn;

/// Bits; the cancellation in 1 + e^-x and the like leaves far more than the 106 of a pair.
const BITS: usize = 256;
const NEAREST: RoundingMode = RoundingMode::ToEven;

/// The exponent of what overflows even there.
pub(super) const INFINITE: i32 = 1 << 20;

/// Evaluates functions.
pub struct Exact {
    consts: Consts,
}

/// The number itself.
fn big(x: f64) -> BigFloat {
    if x == 0.0 || !x.is_subnormal() {
        return BigFloat::from_f64(x, BITS);
    }
    // `from_f64` misreads denormals.
    let mut lifted = BigFloat::from_f64(x * 2f64.powi(64), BITS);
    lifted.set_exponent(lifted.exponent().expect("x is finite") - 64);
    lifted
}

/// A number as a pair: the f64 nearest to it and the f64 nearest to the rest.
fn pair(x: &BigFloat) -> Option<Scaled> {
    if x.is_nan() {
        return None;
    }
    if x.is_inf() {
        return Some(Scaled { value: Pair::of(if x.is_negative() { -1.0 } else { 1.0 }), exponent: INFINITE });
    }
    if x.is_zero() {
        return Some(Pair::ZERO.unscaled());
    }
    let exponent = x.exponent()?;
    let mut significand = x.clone();
    significand.set_exponent(0);
    let high = nearest(&significand)?;
    let rest = significand.sub(&big(high), BITS, NEAREST);
    let low = if rest.is_zero() { 0.0 } else { nearest(&rest)? };
    Some(Scaled { value: Pair { high, low }, exponent })
}

/// The f64 nearest to a number that has a normal one; ties do not occur or do not matter.
fn nearest(x: &BigFloat) -> Option<f64> {
    let top = *x.mantissa_digits()?.last()?;
    let magnitude = top as f64 / 2f64.powi(64) * 2f64.powi(x.exponent()?);
    Some(if x.sign()? == Sign::Neg { -magnitude } else { magnitude })
}

impl Exact {
    /// The constants are computed here.
    pub fn new() -> Self {
        Self { consts: Consts::new().expect("there is memory for constants") }
    }

    /// The value of a function, or nothing where it has none.
    pub fn value(&mut self, function: MathFn, args: &[f64]) -> Option<Scaled> {
        let (x, one, consts) = (big(args[0]), big(1.0), &mut self.consts);
        pair(&match function {
            MathFn::Exp => x.exp(BITS, NEAREST, consts),
            MathFn::Log if args[0] <= 0.0 => return None,
            MathFn::Log => x.ln(BITS, NEAREST, consts),
            MathFn::Tanh => x.tanh(BITS, NEAREST, consts),
            MathFn::Sin => x.sin(BITS, NEAREST, consts),
            MathFn::Cos => x.cos(BITS, NEAREST, consts),
            MathFn::Pow => return self.power(args[0], args[1]),
            MathFn::Sqrt | MathFn::Rsqrt if args[0] < 0.0 => return None,
            MathFn::Sqrt => x.sqrt(BITS, NEAREST),
            MathFn::Rsqrt => x.sqrt(BITS, NEAREST).reciprocal(BITS, NEAREST),
            MathFn::Sigmoid => {
                let e = x.neg().exp(BITS, NEAREST, consts);
                one.div(&one.add(&e, BITS, NEAREST), BITS, NEAREST)
            }
        })
    }

    /// Powers of negative numbers are those of their magnitude, with a sign.
    fn power(&mut self, x: f64, y: f64) -> Option<Scaled> {
        let whole = y.trunc() == y;
        if x < 0.0 && !whole {
            return None;
        }
        // Far beyond all results, and next to 1, this arithmetic takes its time.
        let size = y * x.abs().log2();
        let magnitude = if size.abs() > 4096.0 {
            Scaled { value: Pair::of(1.0), exponent: INFINITE * if size > 0.0 { 1 } else { -1 } }
        } else if size.abs() < scale(1.0, -100) {
            Pair { high: 1.0, low: y * x.abs().ln() }.unscaled()
        } else {
            // Its own `pow` does not come back from powers of few bits.
            let log = big(x.abs()).ln(BITS, NEAREST, &mut self.consts);
            pair(&log.mul(&big(y), BITS, NEAREST).exp(BITS, NEAREST, &mut self.consts))?
        };
        let odd = x < 0.0 && (y * 0.5).trunc() != y * 0.5;
        Some(if odd { Scaled { value: -magnitude.value, ..magnitude } } else { magnitude })
    }

    /// ln 2 and π/2, each as the sum of four f64.
    pub(super) fn parts(&mut self) -> ([f64; 4], [f64; 4]) {
        let mut half_pi = self.consts.pi(BITS, NEAREST);
        half_pi.set_exponent(half_pi.exponent().expect("π is finite") - 1);
        let ln2 = big(2.0).ln(BITS, NEAREST, &mut self.consts);
        let parts = |x: BigFloat| {
            let mut rest = x;
            [0; 4].map(|_| {
                let part = nearest(&rest).expect("it is finite");
                rest = rest.sub(&big(part), BITS, NEAREST);
                part
            })
        };
        (parts(ln2), parts(half_pi))
    }

    /// 2^(step · index) for a number of indices.
    pub(super) fn powers_of_two(&mut self, step: f64, count: usize) -> Vec<Pair> {
        let two = big(2.0);
        let power = |i: usize| two.pow(&big(i as f64 * step), BITS, NEAREST, &mut self.consts);
        let all: Vec<BigFloat> = (0..count).map(power).collect();
        let whole = |x: &BigFloat| pair(x).expect("a power is finite");
        all.iter().map(whole).map(|s| s.value.scaled(s.exponent)).collect()
    }

    /// The first bits of 2/π after the point, 64 to a word.
    pub(super) fn turns(&mut self, words: usize) -> Vec<u64> {
        let bits = 64 * (words + 2);
        let pi = self.consts.pi(bits, NEAREST);
        let turns = big(2.0).div(&pi, bits, NEAREST);
        debug_assert_eq!(turns.exponent(), Some(0));
        let digits = turns.mantissa_digits().expect("it is finite");
        digits.iter().rev().take(words).copied().collect()
    }
}

impl Default for Exact {
    fn default() -> Self {
        Self::new()
    }
}
