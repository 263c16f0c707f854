//! Elements that tend to expose a wrong spelling, and random others.

use fastrand::Rng;
use tiga_abi::DType;
use tiga_ir::Scalar;

/// Elements that are the same in every run.
pub struct Random(Rng);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.usize(0..bound)
    }

    /// A special element, random bits, or a float of everyday size.
    pub fn element(&mut self, dtype: DType) -> Scalar {
        let special = specials(dtype);
        match self.below(3) {
            0 => special[self.below(special.len())],
            1 if dtype.is_float() => Scalar::from_f64(dtype, (self.0.u64(..) as i64 >> 40) as f64 / 512.0),
            _ => Scalar::from_bits(dtype, self.0.u64(..)),
        }
    }
}

/// Zeros of both signs, infinities, NaNs, denormals, limits, neighbours of limits, halves.
pub fn specials(dtype: DType) -> Vec<Scalar> {
    match dtype {
        DType::Bool => [false, true].map(Scalar::Bool).to_vec(),
        DType::I32 => {
            [0, 1, -1, 2, 7, -7, 31, 32, 33, 64, i32::MIN, i32::MIN + 1, i32::MAX, 1 << 24, (1 << 24) + 1, -123_456_789]
                .map(Scalar::I32)
                .to_vec()
        }
        DType::I64 => {
            let wide = [
                i64::MIN,
                i64::MIN + 1,
                i64::MAX,
                1 << 31,
                -(1 << 31) - 1,
                (1 << 53) + 1,
                1 << 32,
                0x7fff_ff80_0000_0001,
            ];
            [0, 1, -1, 2, 7, -7, 63, 64, 65].into_iter().chain(wide).map(Scalar::I64).collect()
        }
        DType::F32 => {
            let limits = [f32::MIN_POSITIVE, f32::from_bits(1), -f32::from_bits(3), f32::MAX, f32::MIN, f32::EPSILON];
            let casts = [2_147_483_648.0, -2_147_483_648.0, 2_147_483_520.0, 9.223_372e18, -9.3e18, 16_777_217.0, 1e30];
            floats().into_iter().map(|v| v as f32).chain(limits).chain(casts).map(Scalar::F32).collect()
        }
        DType::F64 => {
            let limits = [f64::MIN_POSITIVE, f64::from_bits(1), -f64::from_bits(3), f64::MAX, f64::MIN, f64::EPSILON];
            let casts = [2_147_483_647.5, -2_147_483_649.0, 9.223_372_036_854_775e18, -9.3e18, 3.5e38, 1e-42, 1e300];
            floats().into_iter().chain(limits).chain(casts).map(Scalar::F64).collect()
        }
    }
}

fn floats() -> [f64; 13] {
    [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -2.5, 0.1, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]
}
