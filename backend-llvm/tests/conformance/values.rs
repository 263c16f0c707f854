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
        DType::F16 | DType::BF16 => {
            // The smallest and largest denormal, the smallest normal and the largest numbers of both, by their bits.
            let limits = [1, 3, 0x7f, 0x80, 0x3ff, 0x400, 0x7bff, 0x7f7f, 0x8001, 0xfbff, 0xff7f, 0x7c01, 0x7f81];
            let limits = limits.map(|bits| Scalar::from_bits(dtype, bits));
            floats().into_iter().map(|v| Scalar::from_f64(dtype, v)).chain(limits).collect()
        }
        DType::F32 => {
            let limits = [f32::MIN_POSITIVE, f32::from_bits(1), -f32::from_bits(3), f32::MAX, f32::MIN, f32::EPSILON];
            let casts = [2_147_483_648.0, -2_147_483_648.0, 2_147_483_520.0, 9.223_372e18, -9.3e18, 16_777_217.0, 1e30];
            // Ties of halves, what is beside them, where their ranges end, and NaNs whose payload is low.
            let ties = [0x3f80_8000, 0x3f81_8000, 0x3f80_8001, 0x3f80_1000, 0x3f80_3000, 0x3f80_0fff, 0x7f7f_8000];
            let ends = [0x477f_efff, 0x477f_f000, 0x3300_0000, 0x3300_0001, 0x0000_8000, 0x7f80_0001, 0xffff_ffff];
            let halves = ties.into_iter().chain(ends).map(f32::from_bits);
            floats().into_iter().map(|v| v as f32).chain(limits).chain(casts).chain(halves).map(Scalar::F32).collect()
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
