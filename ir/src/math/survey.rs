//! How far a definition is from the exact value, over every `step`-th f32: what this crate tests itself by. Kernels are
//! surveyed by the testsuite (`cargo xtask survey`).

use super::{MathFn, eval_f32};

/// What a survey found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Survey {
    /// How many inputs were tried.
    pub(super) samples: u64,
    /// The largest distance from the exact value, in units in the last place of the exact value: 0.5 is correctly
    /// rounded, infinity is a NaN or an infinity out of place.
    pub(super) max_ulp: f64,
    /// The arguments of that largest distance.
    pub(super) worst_input: Vec<f64>,
}

/// Tries `function`, on all cores, on every `step`-th f32 bit pattern; a function of two arguments on as many pseudo-random pairs.
/// The reference is the platform's f64 function, whose own error is 2^-29 f32 ulps.
pub(super) fn survey(function: MathFn, step: u32) -> Survey {
    // Worker w of n takes the samples w, w + n, w + 2n, …
    let workers = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let spawn =
            |worker| scope.spawn(move || Part::of(function, worker * u64::from(step), workers * u64::from(step)));
        let threads: Vec<_> = (0..workers).map(spawn).collect();
        threads.into_iter().map(|thread| thread.join().expect("definitions do not panic")).collect()
    });
    let samples = parts.iter().map(|part| part.samples).sum();
    // Of equal errors the one at the lowest index, whatever the number of workers.
    let worst = parts.iter().max_by(|a, b| a.max_ulp.total_cmp(&b.max_ulp).then(b.index.cmp(&a.index)));
    let Part { max_ulp, index, .. } = *worst.expect("there is a worker");
    let worst_input = arguments(function, index)[..function.arity()].iter().map(|&x| f64::from(x)).collect();
    Survey { samples, max_ulp, worst_input }
}

/// The arguments number `index`; the second one counts for functions of two only.
fn arguments(function: MathFn, index: u32) -> [f32; 2] {
    match function.arity() {
        1 => [f32::from_bits(index), 0.0],
        _ => pair(index),
    }
}

/// The pair of arguments number `index`. Every other one has its power in range, or nearly: few random pairs do.
fn pair(index: u32) -> [f32; 2] {
    let bits = scramble(u64::from(index));
    let (x, y) = (f32::from_bits(bits as u32), f32::from_bits((bits >> 32) as u32));
    let log = f64::from(x.abs()).log2();
    if index.is_multiple_of(2) || !log.is_normal() {
        return [x, y];
    }
    let exponent = f64::from((bits >> 32) as u32 as i32) / f64::from(i32::MAX) * 152.0;
    [x.abs(), (exponent / log) as f32]
}

/// Spreads an index over 64 bits, a different value for each (the finaliser of SplitMix64).
pub(super) fn scramble(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// What one worker found.
struct Part {
    samples: u64,
    max_ulp: f64,
    index: u32,
}

impl Part {
    /// Tries the indices `first`, `first + stride`, … below 2^32.
    fn of(function: MathFn, first: u64, stride: u64) -> Part {
        let mut part = Part { samples: 0, max_ulp: 0.0, index: 0 };
        let mut next = first;
        while let Ok(index) = u32::try_from(next) {
            let [x, y] = arguments(function, index);
            let got = match function.arity() {
                1 => eval_f32(function, [x]),
                _ => eval_f32(function, [x, y]),
            };
            let error = ulps_f32(got, reference(function, f64::from(x), f64::from(y)));
            part.samples += 1;
            if error > part.max_ulp {
                (part.max_ulp, part.index) = (error, index);
            }
            next += stride;
        }
        part
    }
}

/// The platform's f64 value.
fn reference(function: MathFn, x: f64, y: f64) -> f64 {
    match function {
        MathFn::Exp => x.exp(),
        MathFn::Log => x.ln(),
        MathFn::Tanh => x.tanh(),
        MathFn::Sin => x.sin(),
        MathFn::Cos => x.cos(),
        MathFn::Pow => x.powf(y),
        MathFn::Sqrt => x.sqrt(),
        MathFn::Rsqrt => 1.0 / x.sqrt(),
        MathFn::Sigmoid => 1.0 / (1.0 + (-x).exp()),
    }
}

/// Distance of an f32 result from the exact value, in f32 ulps of the exact value; an infinite result counts as 2^128.
fn ulps_f32(got: f32, exact: f64) -> f64 {
    let nearest = exact as f32;
    if got.to_bits() == nearest.to_bits() && !nearest.is_finite() || got.is_nan() && nearest.is_nan() {
        return 0.0;
    }
    if got.is_nan() || nearest.is_nan() || exact.is_infinite() {
        return f64::INFINITY;
    }
    let got = if got.is_infinite() { 2f64.powi(128).copysign(f64::from(got)) } else { f64::from(got) };
    let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff) - 1023;
    let ulp = f64::from_bits(((exponent.clamp(-126, 127) - 23 + 1023) as u64) << 52);
    (got - exact).abs() / ulp
}
