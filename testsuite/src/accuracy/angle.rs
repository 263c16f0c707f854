//! Sine and cosine of the quick reference: a reduction by 256 bits of 2/π in integers, a table, two short series.

use super::exact::Exact;
use super::pair::{Pair, scale, split};
use tiga_ir::math::MathFn;

/// Steps of the table to 1.
const STEPS: f64 = 256.0;

/// The tables.
pub(super) struct Angles {
    /// 2/π after the point, behind a word of zeros.
    turns: Vec<u64>,
    half_pi: Pair,
    /// Sine and cosine of i/256, up to π/4.
    table: Vec<[Pair; 2]>,
}

impl Angles {
    pub(super) fn new(exact: &mut Exact) -> Self {
        let mut turns = vec![0];
        turns.extend(exact.turns(24));
        let (_, half_pi) = exact.parts();
        let count = (std::f64::consts::FRAC_PI_4 * STEPS) as usize + 2;
        let mut value = |function, i: usize| {
            let value = exact.value(function, &[i as f64 / STEPS]).expect("sines are finite");
            value.value.scaled(value.exponent)
        };
        let table = (0..count).map(|i| [value(MathFn::Sin, i), value(MathFn::Cos, i)]).collect();
        Self { turns, half_pi: Pair { high: half_pi[0], low: half_pi[1] }, table }
    }

    pub(super) fn sin(&self, x: f64) -> Pair {
        if x.abs() < scale(1.0, -60) {
            return Pair::of(x);
        }
        let (quadrant, r) = self.reduce(x.abs());
        let value = self.quarter(quadrant, r);
        if x < 0.0 { -value } else { value }
    }

    pub(super) fn cos(&self, x: f64) -> Pair {
        let (quadrant, r) = self.reduce(x.abs());
        self.quarter(quadrant + 1, r)
    }

    /// sin(r + quadrant · π/2).
    fn quarter(&self, quadrant: u64, r: Pair) -> Pair {
        let value = self.series(r)[(quadrant & 1) as usize];
        if quadrant & 2 == 0 { value } else { -value }
    }

    /// Sine and cosine of |r| ≤ π/4 and a little.
    fn series(&self, r: Pair) -> [Pair; 2] {
        let negative = r.high < 0.0;
        let r = if negative { -r } else { r };
        let i = (r.high * STEPS).round_ties_even();
        let [sine, cosine] = self.table[i as usize];
        let b = Pair::sum(r.high - i / STEPS, r.low);
        let square = b * b;
        let z = square.high;
        let cube = square * b * Pair { high: -1.0 / 6.0, low: -9.25185853854297e-18 };
        let rest = b.high * z * z * (1.0 / 120.0 + z * (-1.0 / 5040.0 + z * (1.0 / 362_880.0)));
        let sine_of_b = b + (cube + Pair::of(rest));
        let rest = z * z * (1.0 / 24.0 + z * (-1.0 / 720.0 + z * (1.0 / 40_320.0)));
        let less = Pair { high: -0.5 * z, low: -0.5 * square.low } + Pair::of(rest);
        let value = sine + (cosine * sine_of_b + sine * less);
        [if negative { -value } else { value }, cosine + (cosine * less + -(sine * sine_of_b))]
    }

    /// |x| as quadrant · π/2 + r, with the quadrant modulo 4.
    fn reduce(&self, x: f64) -> (u64, Pair) {
        if x < 0.75 {
            return (0, Pair::of(x));
        }
        let (m, k) = split(x);
        let significand = (m.to_bits() & ((1 << 52) - 1)) | 1 << 52;
        // x = significand · 2^(k − 52). Bits of 2/π of weight 2^-p give multiples of 4 for p ≤ k − 54; the word of
        // zeros before the point makes p negative for small x.
        let product = times(significand, self.window(k - 52 - 1 + 64 - 1));
        let quadrant = product[0] >> 62;
        let mut fraction = product;
        fraction[0] &= (1 << 62) - 1;
        let up = fraction[0] >> 61;
        if up == 1 {
            // The complement to the next quadrant; a unit in the last of 256 bits does not matter.
            fraction = fraction.map(|word| !word);
            fraction[0] &= (1 << 62) - 1;
        }
        let r = to_pair(fraction) * self.half_pi;
        (quadrant + up, if up == 1 { -r } else { r })
    }

    /// 256 bits of the stream from bit `start` on.
    fn window(&self, start: i32) -> [u64; 4] {
        let (word, shift) = (start as usize / 64, start as u32 % 64);
        [0, 1, 2, 3].map(|i| {
            let both = u128::from(self.turns[word + i]) << 64 | u128::from(self.turns[word + i + 1]);
            (both << shift >> 64) as u64
        })
    }
}

/// `m` times a number of 256 bits, modulo 2^256, the word of highest weight first.
fn times(m: u64, words: [u64; 4]) -> [u64; 4] {
    let mut carry = 0;
    let mut product = [0; 4];
    for (to, word) in product.iter_mut().zip(words).rev() {
        let sum = u128::from(m) * u128::from(word) + carry;
        *to = sum as u64;
        carry = sum >> 64;
    }
    product
}

/// A number over 2^254 as a pair.
fn to_pair(words: [u64; 4]) -> Pair {
    let skip = words.iter().position(|word| *word != 0).unwrap_or(3);
    let word = |i: usize| words.get(skip + i).copied().unwrap_or(0);
    let zeros = word(0).leading_zeros();
    let wide = u128::from(word(0)) << 64 | u128::from(word(1));
    let wide = wide << zeros | (u128::from(word(2)) << zeros) >> 64;
    // Halves of 53 bits and the rest.
    let parts = [(wide >> 75) as f64, (wide >> 22 & ((1 << 53) - 1)) as f64, (wide & ((1 << 22) - 1)) as f64];
    let exponent = 2 - 64 * skip as i32 - zeros as i32;
    let part = |i: usize, weight: i32| scale(parts[i], exponent - weight);
    let sum = Pair::ordered(part(0, 53), part(1, 106));
    Pair::ordered(sum.high, sum.low + part(2, 128))
}
