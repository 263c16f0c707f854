//! How far a definition is from the exact value, over all f32 inputs or every `step`-th of them.

use super::{MathFn, eval_f32};
use tiga_abi::DType;

/// What a survey found.
#[derive(Debug, Clone, PartialEq)]
pub struct Survey {
    /// How many inputs were tried.
    pub samples: u64,
    /// The largest distance from the exact value, in units in the last place of the exact value: 0.5 is correctly
    /// rounded, infinity is a NaN or an infinity out of place.
    pub max_ulp: f64,
    /// The arguments of that largest distance.
    pub worst_input: Vec<f64>,
}

/// Why a survey cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SurveyError {
    /// The reference is the platform's f64 library, good enough for f32 results only.
    #[error("no reference to survey {function} on {dtype} against: only f32 can be surveyed")]
    NoReference {
        /// The function's name.
        function: &'static str,
        /// The dtype asked for.
        dtype: DType,
    },
    /// A step of zero visits nothing twice over.
    #[error("the step of a survey must be at least 1")]
    ZeroStep,
}

/// Tries `function` on every `step`-th f32 bit pattern; a function of two arguments on as many pseudo-random pairs.
/// The reference is the platform's f64 function, whose own error is 2^-29 f32 ulps.
pub fn survey(function: MathFn, dtype: DType, step: u32) -> Result<Survey, SurveyError> {
    if dtype != DType::F32 {
        return Err(SurveyError::NoReference { function: function.name(), dtype });
    }
    if step == 0 {
        return Err(SurveyError::ZeroStep);
    }
    let mut survey = Survey { samples: 0, max_ulp: 0.0, worst_input: Vec::new() };
    for bits in (0..=u32::MAX).step_by(step as usize) {
        match function.arity() {
            1 => survey.visit(function, [f32::from_bits(bits)]),
            _ => survey.visit(function, pair(bits)),
        }
    }
    Ok(survey)
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

impl Survey {
    #[inline]
    fn visit<const N: usize>(&mut self, function: MathFn, args: [f32; N]) {
        let error = ulps_f32(eval_f32(function, args), reference(function, args.map(f64::from)));
        self.samples += 1;
        if error > self.max_ulp || self.worst_input.is_empty() {
            self.max_ulp = error;
            self.worst_input = args.map(f64::from).to_vec();
        }
    }
}

/// The platform's f64 value.
fn reference<const N: usize>(function: MathFn, args: [f64; N]) -> f64 {
    let x = args[0];
    match function {
        MathFn::Exp => x.exp(),
        MathFn::Log => x.ln(),
        MathFn::Tanh => x.tanh(),
        MathFn::Sin => x.sin(),
        MathFn::Cos => x.cos(),
        MathFn::Pow => x.powf(args[1]),
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
    let limit = 2f64.powi(128);
    let got = if got.is_infinite() { limit.copysign(f64::from(got)) } else { f64::from(got) };
    let exponent = ((exact.to_bits() >> 52) as i32 & 0x7ff) - 1023;
    let ulp = 2f64.powi(exponent.clamp(-126, 127) - 23);
    (got - exact).abs() / ulp
}
