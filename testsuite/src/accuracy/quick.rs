//! The exact value of a function, quickly: pairs of f64, right to 2^-78, in a tenth of a microsecond.
//!
//! Other tables, reductions and series than those of the definitions, so that both share no mistake. [`Exact`] makes
//! the tables and is the judge: what surveys see is compared with it here and there, and wherever it matters.

use super::angle::Angles;
use super::exact::Exact;
use super::pair::{Pair, Scaled, scale, split};
use tiga_ir::math::MathFn;

/// What the quick reference may be off, relative to the value. Its errors are those of pairs, some 2^-102
/// an operation, and those of the ends of its series, which are computed in f64.
pub const BOUND: f64 = 1.0 / (1u64 << 39) as f64 / (1u64 << 39) as f64;

/// The tables.
pub struct Quick {
    /// 2^(i/256).
    powers: Vec<Pair>,
    /// ln 2 / 256 in three parts: multiples of the first two are exact.
    step: [f64; 3],
    ln2: Pair,
    angles: Angles,
}

/// e^x as 2^exponent · power · (1 + rest).
struct Exponential {
    power: Pair,
    rest: Pair,
    exponent: i32,
}

impl Quick {
    /// Computes the tables.
    pub fn new(exact: &mut Exact) -> Self {
        let (ln2, _) = exact.parts();
        // 34 bits each, so that a multiple by up to 19 bits is exact.
        let top = |x: f64| f64::from_bits(x.to_bits() & !((1 << 19) - 1));
        let first = top(ln2[0]);
        let rest = Pair::sum(ln2[0] - first, ln2[1]);
        let second = top(rest.high);
        let third = (rest.high - second) + rest.low + ln2[2];
        let step = [first, second, third].map(|part| part / 256.0);
        let ln2 = Pair { high: ln2[0], low: ln2[1] };
        Self { powers: exact.powers_of_two(1.0 / 256.0, 256), step, ln2, angles: Angles::new(exact) }
    }

    /// The value of a function of finite arguments, or nothing where it has none or is infinite.
    pub fn value(&self, function: MathFn, args: &[f64]) -> Option<Scaled> {
        let x = args[0];
        match function {
            MathFn::Exp => Some(self.exp(Pair::of(x)).scaled()),
            MathFn::Log => (x > 0.0).then(|| self.log(x).unscaled()),
            MathFn::Tanh => Some(self.tanh(x).unscaled()),
            MathFn::Sin => Some(self.angles.sin(x).unscaled()),
            MathFn::Cos => Some(self.angles.cos(x).unscaled()),
            MathFn::Pow => self.pow(x, args[1]),
            MathFn::Sqrt if x == 0.0 => Some(Pair::ZERO.unscaled()),
            MathFn::Sqrt => (x > 0.0).then(|| sqrt(x)),
            MathFn::Rsqrt => (x > 0.0).then(|| rsqrt(x)),
            MathFn::Sigmoid => Some(self.sigmoid(x)),
        }
    }

    fn exp(&self, x: Pair) -> Exponential {
        // Beyond, neither the value nor its distance from any result matters.
        let x = if x.high.abs() > 1000.0 { Pair::of(x.high.clamp(-1000.0, 1000.0)) } else { x };
        let k = (x.high * (256.0 / self.ln2.high)).round_ties_even();
        let r = Pair::sum(x.high - k * self.step[0], -(k * self.step[1]));
        let r = Pair::ordered(r.high, r.low + (x.low - k * self.step[2]));
        let (square, h) = (r * r, r.high);
        let cube = square * r * Pair { high: 1.0 / 6.0, low: 9.25185853854297e-18 };
        let rest = 1.0 / 720.0 + h * (1.0 / 5040.0 + h * (1.0 / 40320.0));
        let rest = square.high * square.high * (1.0 / 24.0 + h * (1.0 / 120.0 + h * rest));
        let halved = Pair { high: square.high * 0.5, low: square.low * 0.5 };
        let rest = r + (halved + (cube + Pair::of(rest)));
        let k = k as i32;
        Exponential { power: self.powers[(k & 255) as usize], rest, exponent: k >> 8 }
    }

    /// ln x for x positive and finite.
    fn log(&self, x: f64) -> Pair {
        if (x - 1.0).abs() < 1.0 / 64.0 {
            return log_near_one(x - 1.0);
        }
        let (m, k) = split(x);
        // The f64 next to it, and the logarithm of what is missing.
        let near = m.ln() + f64::from(k) * self.ln2.high;
        let e = self.exp(Pair::of(-near)).scaled();
        let missing = (e.value * Pair::of(m)).scaled(e.exponent + k) + Pair::of(-1.0);
        Pair::of(near) + missing + Pair::of(-0.5 * missing.high * missing.high)
    }

    fn tanh(&self, x: f64) -> Pair {
        if x.abs() < scale(1.0, -60) {
            return Pair::of(x);
        }
        let e = self.exp(Pair::of(-2.0 * x.abs()));
        let start = e.power.scaled(e.exponent) + Pair::of(-1.0);
        let less = start + (e.power * e.rest).scaled(e.exponent);
        let magnitude = (-less).over(less + Pair::of(2.0));
        if x < 0.0 { -magnitude } else { magnitude }
    }

    fn sigmoid(&self, x: f64) -> Scaled {
        let e = self.exp(Pair::of(-x.abs())).scaled();
        let divisor = Pair::of(1.0) + e.value.scaled(e.exponent);
        if x < 0.0 {
            return Scaled { value: e.value.over(divisor), exponent: e.exponent };
        }
        Pair::of(1.0).over(divisor).unscaled()
    }

    fn pow(&self, x: f64, y: f64) -> Option<Scaled> {
        let whole = y.trunc() == y;
        if y == 0.0 {
            return Some(Pair::of(1.0).unscaled());
        }
        if x == 0.0 || x < 0.0 && !whole {
            return None;
        }
        let product = self.log(x.abs()) * Pair::of(scale(y, -64));
        // Products beyond 2^64 would be infinite.
        let product = if product.high.abs() > scale(1.0, -54) {
            Pair::of(1000f64.copysign(product.high))
        } else {
            product.scaled(64)
        };
        let magnitude = self.exp(product).scaled();
        let odd = x < 0.0 && (y * 0.5).trunc() != y * 0.5;
        Some(if odd { Scaled { value: -magnitude.value, ..magnitude } } else { magnitude })
    }
}

impl Exponential {
    fn scaled(&self) -> Scaled {
        Scaled { value: self.power + self.power * self.rest, exponent: self.exponent }
    }
}

/// ln(1 + f) for |f| below 2^-6, as 2·atanh(f/(2 + f)).
fn log_near_one(f: f64) -> Pair {
    let s = Pair::of(f).over(Pair::sum(2.0, f));
    let square = s * s;
    let z = square.high;
    let rest = 1.0 / 11.0 + z * (1.0 / 13.0 + z * (1.0 / 15.0));
    let rest = z * z * z * (1.0 / 7.0 + z * (1.0 / 9.0 + z * rest));
    let third = square * Pair { high: 1.0 / 3.0, low: 1.850371707708594e-17 };
    let fifth = square * square * Pair { high: 0.2, low: -1.1102230246251566e-17 };
    let inner = third + (fifth + Pair::of(rest));
    let twice = Pair { high: 2.0 * s.high, low: 2.0 * s.low };
    twice + twice * inner
}

/// `x` as m · 4^k with m in [1, 4).
fn by_fours(x: f64) -> (f64, i32) {
    let (m, k) = split(x);
    if k & 1 == 0 { (m, k / 2) } else { (2.0 * m, (k - 1) / 2) }
}

/// √x for x positive: the rounded root and a step of Newton's.
fn sqrt(x: f64) -> Scaled {
    let (m, exponent) = by_fours(x);
    let root = m.sqrt();
    let square = Pair::product(root, root);
    let value = Pair::ordered(root, ((m - square.high) - square.low) / (2.0 * root));
    Scaled { value, exponent }
}

/// 1/√x for x positive, in the same way.
fn rsqrt(x: f64) -> Scaled {
    let (m, exponent) = by_fours(x);
    let root = 1.0 / m.sqrt();
    let missing = Pair::of(1.0) + -(Pair::product(m, root) * Pair::of(root));
    let step = Pair::of(root) * (missing * Pair::of(0.5) + Pair::of(0.375 * missing.high * missing.high));
    Scaled { value: Pair::of(root) + step, exponent: -exponent }
}
