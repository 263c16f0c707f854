//! Arguments of f64 functions: a quarter anything, the others where the function is hard.

use super::pair::scale;
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, LN_2, SQRT_2};
use tiga_ir::math::MathFn;

/// A reproducible stream of arguments.
pub struct Draw(u64);

impl Draw {
    /// The stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x2545_f491_4f6c_dd1d))
    }

    /// Bits without a pattern (the finaliser of SplitMix64).
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Any bit pattern that is a finite number.
    fn any(&mut self) -> f64 {
        loop {
            let x = f64::from_bits(self.bits());
            if x.is_finite() {
                return x;
            }
        }
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 * scale(1.0, -53)
    }

    /// ±2^e · [1, 2) with e from a range.
    fn spread(&mut self, low: i32, high: i32) -> f64 {
        let bits = self.bits();
        let exponent = low + ((bits >> 53) as i32).rem_euclid(high - low);
        let significand = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
        scale(if bits >> 52 & 1 == 0 { significand } else { -significand }, exponent)
    }

    /// `x` or a number up to eight beside it.
    fn beside(&mut self, x: f64) -> f64 {
        let moved = f64::from_bits(x.to_bits().wrapping_add(self.bits() % 17).wrapping_sub(8));
        if moved.is_finite() { moved } else { x }
    }

    /// An odd multiple of `step`, beside which a reduction takes its next step: k·2·step + step for |k| below `most`.
    fn turning(&mut self, step: f64, most: f64) -> f64 {
        let k = self.between(-most, most).trunc();
        self.beside((2.0 * k + 1.0) * step)
    }

    /// The arguments of one value; numbers all of them.
    pub fn arguments(&mut self, function: MathFn) -> [f64; 2] {
        let kind = self.bits() & 3;
        let x = match (function, kind) {
            (MathFn::Pow, _) => return self.powers(kind),
            (MathFn::Log | MathFn::Sqrt | MathFn::Rsqrt, 0) => self.any().abs(),
            (_, 0) => self.any(),
            (MathFn::Exp, 1) => self.spread(-60, 4),
            (MathFn::Exp, 2) => self.between(-746.0, 710.0),
            (MathFn::Exp, _) => self.exponents(),
            (MathFn::Log, 1) => self.between(0.4, 3.0),
            (MathFn::Log, 2) => 1.0 + self.spread(-52, -1),
            // Where the exponent takes its next step, and denormals.
            (MathFn::Log, _) if self.bits() & 1 == 0 => {
                let x = scale(SQRT_2, self.spread(0, 10) as i32);
                self.beside(x)
            }
            (MathFn::Log, _) => self.spread(-1074, -1021).abs(),
            (MathFn::Tanh, 1) => self.spread(-40, 3),
            (MathFn::Tanh, 2) => self.between(-20.0, 20.0),
            (MathFn::Tanh, _) => self.turning(LN_2 / 4.0, 64.0),
            (MathFn::Sin | MathFn::Cos, 1) => self.spread(-30, 60),
            (MathFn::Sin | MathFn::Cos, 2) => {
                let multiple = (self.spread(0, 53).trunc()) * FRAC_PI_2;
                self.beside(multiple)
            }
            (MathFn::Sin | MathFn::Cos, _) if self.bits() & 1 == 0 => self.spread(60, 1024),
            (MathFn::Sin | MathFn::Cos, _) => self.turning(FRAC_PI_4, 1e6),
            (MathFn::Sigmoid, 1) => self.between(-746.0, 40.0),
            (MathFn::Sigmoid, 2) => self.spread(-40, 6),
            (MathFn::Sigmoid, _) => self.exponents(),
            (MathFn::Sqrt | MathFn::Rsqrt, 1) => self.spread(-1074, -990).abs(),
            (MathFn::Sqrt | MathFn::Rsqrt, 2) => self.spread(990, 1024).abs(),
            (MathFn::Sqrt | MathFn::Rsqrt, _) => self.between(0.25, 4.0),
        };
        [x, 0.0]
    }

    /// Where e^x overflows, becomes denormal or zero, or its reduction takes its next step.
    fn exponents(&mut self) -> f64 {
        match self.bits() & 3 {
            0 => self.between(709.0, 710.0),
            1 => self.between(-746.0, -707.0),
            _ => self.turning(LN_2 / 2.0, 537.0),
        }
    }

    /// Arguments of a power: three quarters with their power in range, one in 16 of a negative number.
    fn powers(&mut self, kind: u64) -> [f64; 2] {
        let x = match kind {
            0 => return [self.any().abs(), self.any()],
            1 => self.any().abs(),
            2 => 1.0 + self.spread(-52, -1),
            _ => self.between(0.5, 20.0),
        };
        if self.bits() & 15 == 0 {
            return [-x, self.between(-40.0, 40.0).trunc()];
        }
        let exponent = match self.bits() & 3 {
            // Where powers end, and where the reduction takes its next step.
            0 => self.between(1023.0, 1024.5),
            1 => self.between(-1076.0, -1021.0),
            2 => self.turning(0.5, 512.0),
            _ => self.between(-1076.0, 1025.0),
        };
        let y = exponent / x.log2();
        [x, if y.is_finite() { y } else { 0.0 }]
    }
}
