//! Sine and cosine for every argument: an exact reduction to an eighth of a turn, then two polynomials.

use super::approx::{Pair, ordered_sum, pair_product, polynomial, round, to_float};
use super::arith::{Arith, Width};
use super::term::{Cond, Float, Int, Lane};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4};

/// (sin r − r)/r³ in r² on |r| ≤ π/4; error relative to sin r below 2^-32.
const SINE_F32: [f64; 4] = [-0.1666666716337204, 0.008333379402756691, -0.00019853078993037343, 2.8328063308435958e-06];

/// The same, below 2^-63.
const SINE_F64: [f64; 7] = [
    -0.16666666666666666,
    0.008333333333333042,
    -0.00019841269840962386,
    2.7557319073871567e-06,
    -2.5052070873409534e-08,
    1.6054302544675108e-10,
    -7.388881611096591e-13,
];

/// (cos r − 1 + r²/2)/r⁴ in r² on |r| ≤ π/4; error relative to cos r below 2^-33.
const COSINE_F32: [f64; 3] = [0.04166664555668831, -0.0013887311797589064, 2.4432749341940507e-05];

/// The same, below 2^-63.
const COSINE_F64: [f64; 6] = [
    0.041666666666666595,
    -0.001388888888887332,
    2.480158728897818e-05,
    -2.7557314207614454e-07,
    2.0875703813642364e-09,
    -1.1358653313461826e-11,
];

/// π/2 minus the f64 nearest to it.
const FRAC_PI_2_LOW: f64 = 6.123233995736766e-17;

/// Bits of 2/π, 28 to a chunk: `CHUNKS[i]` holds those of weight 2^-(28i+1) to 2^-(28i+28).
const CHUNKS: [f64; 6] = [
    0.6366197690367699,
    3.3308114738561656e-09,
    2.276010047810136e-18,
    2.5268260189002822e-26,
    1.6682867657019525e-34,
    1.158871328288855e-43,
];

/// 2/π minus the first `i + 3` chunks.
const REMAINDERS: [f64; 4] =
    [2.52682603558315e-26, 1.668286766860824e-34, 1.1588713353428143e-43, 7.053959263504975e-52];

/// 2/π · 2^-54 as a binary fraction, the word of highest weight first.
const TWO_OVER_PI: [u64; 19] = [
    0x0000_0000_0000_028b,
    0xe60d_b939_1054_a7f0,
    0x9d5f_47d4_d377_036d,
    0x8a56_64f1_0e41_07f9,
    0x458e_af7a_ef15_86dc,
    0x91b8_e909_374b_8019,
    0x24bb_a827_4648_73f8,
    0x77ac_72c4_a69c_fba2,
    0x08d7_d4ba_ed12_13a6,
    0x71c0_9ad1_7df9_04e6,
    0x4758_e60d_4ce7_d272,
    0x117e_2ef7_e4a0_ec7f,
    0xe25f_ff78_1660_3fbc,
    0xbc46_2d68_29b4_7db4,
    0xd9fb_3c9f_2c26_dd3d,
    0x18fd_9a79_7fa8_b5d4,
    0x9eeb_1faf_97c5_ecf4,
    0x1ce7_de29_4a4b_a9af,
    0xed7e_c47e_3574_2158,
];

/// |x| = quadrant · π/2 + angle with |angle| ≤ π/4, the quadrant modulo 4.
struct Reduced<'a, A: Arith> {
    angle: Pair<'a, A>,
    quadrant: Int<'a, A>,
}

/// sin x.
#[inline(always)]
pub(super) fn sin<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let reduced = reduce(x.abs());
    let magnitude = sine_of(&reduced.angle, reduced.quadrant);
    // Odd, down to the sign of zero.
    (magnitude.bits() ^ (x.bits() & x.lane.sign_bit())).float()
}

/// cos x = sin(|x| + π/2).
#[inline(always)]
pub(super) fn cos<'a, A: Arith>(x: Float<'a, A>) -> Float<'a, A> {
    let reduced = reduce(x.abs());
    sine_of(&reduced.angle, reduced.quadrant + x.lane.int(1))
}

#[inline(always)]
fn reduce<'a, A: Arith>(x: Float<'a, A>) -> Reduced<'a, A> {
    match x.lane.width {
        Width::F32 => reduce_f32(x),
        Width::F64 => reduce_f64(x),
    }
}

/// sin(angle + quadrant · π/2).
#[inline(always)]
fn sine_of<'a, A: Arith>(angle: &Pair<'a, A>, quadrant: Int<'a, A>) -> Float<'a, A> {
    let (r, low) = (angle.high, angle.low);
    let lane = r.lane;
    let z = r * r;
    let half_z = lane.float(0.5) * z;
    let sine_tail = polynomial(z, lane.width.pick(&SINE_F32[..], &SINE_F64[..]));
    let sine = r + (z * r * sine_tail + (low - half_z * low));
    let cosine_tail = polynomial(z, lane.width.pick(&COSINE_F32[..], &COSINE_F64[..]));
    let start = ordered_sum(lane.float(1.0), -half_z);
    let cosine = start.high + (start.low + (z * z * cosine_tail - r * low));
    let value = quadrant.lacks(1).float(sine, cosine);
    // Bit 1 of the quadrant is the sign.
    let sign = (quadrant << lane.int(lane.width.pick(30, 62))) & lane.sign_bit();
    (value.bits() ^ sign).float()
}

/// Reduces in f64, where x times a chunk of 2/π is exact: f32 would need five times as many products for the 60 bits
/// after the point that an argument next to a multiple of π/2 takes.
#[inline(always)]
fn reduce_f32<'a, A: Arith>(x: Float<'a, A>) -> Reduced<'a, A> {
    let x = x.widen();
    let lane = x.lane;
    // From 2^(53+28i) on, x times chunk i is a multiple of 4 and chunk i is skipped. Then the first product is
    // below 2^53, and a multiple of 2^-26 where a chunk was skipped.
    let bands = Bands {
        first: x.less(lane.power_of_two(53)),
        second: x.less(lane.power_of_two(81)),
        third: x.less(lane.power_of_two(109)),
    };
    let [c0, c1, c2, c3, c4, c5] = CHUNKS;
    let p0 = x * bands.pick([c0, c1, c2, c3]);
    let p1 = x * bands.pick([c1, c2, c3, c4]);
    let p2 = x * bands.pick([c2, c3, c4, c5]);
    let p3 = x * bands.pick(REMAINDERS);
    let (turns, _) = round(p0 * lane.float(0.25));
    let p0 = p0 - turns * lane.float(4.0);
    let (nearest, quadrant) = round((p0 + p1) + p2);
    // The first two sums are exact wherever the last one cancels.
    let fraction = ((p0 - nearest) + p1) + (p2 + p3);
    let angle = fraction * lane.float(FRAC_PI_2);
    let high = angle.narrow();
    let low = (angle - high.widen()).narrow();
    Reduced { angle: Pair { high, low }, quadrant: quadrant.truncate() }
}

/// Below how many chunks' worth of skipping an argument is.
struct Bands<'a, A: Arith> {
    first: Cond<'a, A>,
    second: Cond<'a, A>,
    third: Cond<'a, A>,
}

impl<'a, A: Arith> Bands<'a, A> {
    /// The constant of the argument's band.
    #[inline(always)]
    fn pick(&self, constants: [f64; 4]) -> Float<'a, A> {
        let lane = self.first.lane;
        let later = self.third.float(lane.float(constants[2]), lane.float(constants[3]));
        let later = self.second.float(lane.float(constants[1]), later);
        self.first.float(lane.float(constants[0]), later)
    }
}

/// Payne and Hanek's reduction with integers: 192 bits of 2/π from where their product with x stops being a multiple
/// of 4, times the 53 bits of x, of which 2 bits of quadrant and 126 of fraction remain. No f64 is nearer than 2^-62
/// to a multiple of π/2, so that 64 good bits are left.
#[inline(always)]
fn reduce_f64<'a, A: Arith>(x: Float<'a, A>) -> Reduced<'a, A> {
    let lane = x.lane;
    let bits = x.bits();
    let significand = (bits & lane.int((1 << 52) - 1)) | lane.int(1 << 52);
    let window = window(lane, (bits >> lane.int(52)) - lane.int(1023));
    let [top, middle] = product(significand, window);
    let quadrant = (top + lane.int(1 << 61)) >> lane.int(62);
    let fraction = to_pair(top - (quadrant << lane.int(62)), middle);
    let angle = scaled(fraction, lane);

    // Below 1 the reduction is none, or one exact subtraction; the window starts at 1.
    let (zero, one) = (lane.float(0.0), lane.float(1.0));
    let (near, nearest) = (x.less(one), x.less(lane.float(FRAC_PI_4)));
    let near_high = nearest.float(x, x - lane.float(FRAC_PI_2));
    let near_low = nearest.float(zero, lane.float(-FRAC_PI_2_LOW));
    let near_quadrant = nearest.int(lane.int(0), lane.int(1));
    // Infinity and NaN have bits like any number: x · 0 is NaN for them.
    let high = near.float(near_high, angle.high + x * zero);
    let angle = Pair { high, low: near.float(near_low, angle.low) };
    Reduced { angle, quadrant: near.int(near_quadrant, quadrant) }
}

/// The 192 bits of the stream `TWO_OVER_PI` from bit `start` on (below 1024), as three words, highest first.
#[inline(always)]
fn window<'a, A: Arith>(lane: Lane<'a, A>, start: Int<'a, A>) -> [Int<'a, A>; 3] {
    let mut words: Vec<Int<'a, A>> = TWO_OVER_PI.iter().map(|&word| lane.int(word as i64)).collect();
    // Halve the choice bit by bit: 8 words or none, 4 or none, …
    for step in [8, 4, 2, 1] {
        let stay = start.lacks(64 * step as i64);
        words = (0..words.len() - step).map(|i| stay.int(words[i], words[i + step])).collect();
    }
    let shift = start & lane.int(63);
    let counter_shift = lane.int(63) - shift;
    // The next word's share, `word >> (64 − shift)`, in two steps: a shift by 64 is none.
    let one = lane.int(1);
    [0, 1, 2].map(|i| (words[i] << shift) | ((words[i + 1] >> one) >> counter_shift))
}

/// Bits 64 to 191 of `m` (below 2^53) times a 192-bit number; the carry from below bit 64 is kept.
#[inline(always)]
fn product<'a, A: Arith>(m: Int<'a, A>, [top, middle, bottom]: [Int<'a, A>; 3]) -> [Int<'a, A>; 2] {
    let lane = m.lane;
    let low = m * middle;
    let sum = low + high_product(m, bottom);
    let carry = sum.unsigned_less(low).int(lane.int(1), lane.int(0));
    [m * top + high_product(m, middle) + carry, sum]
}

/// The high word of `m · word`, for `m` below 2^53.
#[inline(always)]
fn high_product<'a, A: Arith>(m: Int<'a, A>, word: Int<'a, A>) -> Int<'a, A> {
    let lane = m.lane;
    let (mask, half) = (lane.int(0xffff_ffff), lane.int(32));
    let (m_high, m_low) = (m >> half, m & mask);
    let (word_high, word_low) = (word >> half, word & mask);
    let cross = m_low * word_high + ((m_low * word_low) >> half);
    let other = m_high * word_low + (cross & mask);
    m_high * word_high + (cross >> half) + (other >> half)
}

/// A signed 128-bit integer (|top| at most 2^61) over 2^126 as a pair.
#[inline(always)]
fn to_pair<'a, A: Arith>(top: Int<'a, A>, middle: Int<'a, A>) -> Pair<'a, A> {
    let lane = top.lane;
    let mask = lane.int(0xffff_ffff);
    let part = |word: Int<'a, A>, exponent| to_float(lane, word) * lane.power_of_two(exponent);
    let [a, b] = [part(top.signed_shr(32), -30), part(top & mask, -62)];
    let [c, d] = [part(middle >> lane.int(32), -94), part(middle & mask, -126)];
    // Each sum so far is zero or at least as large as what is still to come.
    let sum = ordered_sum(a, b);
    let sum = ordered_sum(sum.high, sum.low + c);
    ordered_sum(sum.high, sum.low + d)
}

/// Quarter turns to radians.
#[inline(always)]
fn scaled<'a, A: Arith>(fraction: Pair<'a, A>, lane: Lane<'a, A>) -> Pair<'a, A> {
    pair_product(fraction, Pair { high: lane.float(FRAC_PI_2), low: lane.float(FRAC_PI_2_LOW) })
}
