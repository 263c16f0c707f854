//! One element outside its array.

use half::{bf16, f16};
use std::fmt;
use tiga_abi::DType;

/// A value of any element type; `u8` is an integer here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// A truth value; as a number, 0 or 1.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// IEEE binary16.
    F16(f16),
    /// The upper half of a binary32.
    BF16(bf16),
    /// IEEE binary32.
    F32(f32),
    /// IEEE binary64.
    F64(f64),
}

impl Scalar {
    /// The nearest binary64.
    pub fn to_f64(self) -> f64 {
        match self {
            Scalar::Bool(b) => f64::from(u8::from(b)),
            Scalar::Int(n) => n as f64,
            Scalar::F16(x) => x.to_f64(),
            Scalar::BF16(x) => x.to_f64(),
            Scalar::F32(x) => f64::from(x),
            Scalar::F64(x) => x,
        }
    }

    /// The same value as an integer: no fraction, no negative zero, in range.
    pub(crate) fn to_int(self) -> Option<i64> {
        match self {
            Scalar::Bool(b) => Some(b.into()),
            Scalar::Int(n) => Some(n),
            Scalar::F16(_) | Scalar::BF16(_) | Scalar::F32(_) | Scalar::F64(_) => {
                let x = self.to_f64();
                // The cast saturates: 2^63 comes back as itself without being an i64.
                let n = x as i64;
                ((n as f64).to_bits() == x.to_bits() && n != i64::MAX).then_some(n)
            }
        }
    }

    /// The nearest binary32, rounded once, and whether it is the same value.
    pub(crate) fn to_f32(self) -> (f32, bool) {
        match self {
            Scalar::Bool(b) => (u8::from(b).into(), true),
            Scalar::Int(n) => (n as f32, i128::from(n) == (n as f32) as i128),
            Scalar::F16(x) => (x.to_f32(), true),
            Scalar::BF16(x) => (x.to_f32(), true),
            Scalar::F32(x) => (x, true),
            Scalar::F64(x) => (x as f32, x.is_nan() || f64::from(x as f32) == x),
        }
    }

    /// The nearest of the `half` that is made of a binary32 and gives one, rounded twice unless the value is one, and
    /// whether it is the same value.
    pub(crate) fn to_half<H: Copy>(self, half: fn(f32) -> H, single: fn(H) -> f32) -> (H, bool) {
        let (x, exact) = self.to_f32();
        let rounded = half(x);
        (rounded, exact && (x.is_nan() || single(rounded) == x))
    }

    /// The nearest binary64 and whether it is the same value.
    pub(crate) fn to_f64_exactly(self) -> (f64, bool) {
        let x = self.to_f64();
        (x, !matches!(self, Scalar::Int(n) if i128::from(n) != x as i128))
    }
}

/// Floats with as many digits as tell them apart in their type.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(b) => write!(f, "{b}"),
            Scalar::Int(n) => write!(f, "{n}"),
            Scalar::F16(x) => write!(f, "{:?}", shortest(x.to_f32(), |single| f16::from_f32(single).to_f32())),
            Scalar::BF16(x) => write!(f, "{:?}", shortest(x.to_f32(), |single| bf16::from_f32(single).to_f32())),
            Scalar::F32(x) => write!(f, "{x:?}"),
            Scalar::F64(x) => write!(f, "{x:?}"),
        }
    }
}

/// The number of the fewest digits that `rounded` gives `half` of, which is a half itself. As a binary64 it is shown
/// with these digits.
fn shortest(half: f32, rounded: fn(f32) -> f32) -> f64 {
    // Nine digits tell every binary32 apart.
    let texts = (0..9).map(|more| format!("{half:.more$e}"));
    let same = |text: &String| text.parse().is_ok_and(|single: f32| rounded(single) == half);
    texts.into_iter().find(same).and_then(|text| text.parse().ok()).unwrap_or(half.into())
}

/// Whether every value of `from` is one of `to`.
pub(crate) fn is_widening(from: crate::ArrayType, to: DType) -> bool {
    use crate::ArrayType::{BF16, Bool, F16, F32, F64, I32, I64, U8};
    match to {
        DType::Bool => from == Bool,
        DType::I32 => matches!(from, Bool | U8 | I32),
        DType::I64 => matches!(from, Bool | U8 | I32 | I64),
        DType::F16 => matches!(from, Bool | U8 | F16),
        DType::BF16 => matches!(from, Bool | U8 | BF16),
        DType::F32 => matches!(from, Bool | U8 | F16 | BF16 | F32),
        DType::F64 => matches!(from, Bool | U8 | I32 | F16 | BF16 | F32 | F64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_have_the_digits_that_tell_them_apart() {
        for (number, f16_text, bf16_text) in [
            (0.1, "0.1", "0.1"),
            (1.0 / 3.0, "0.3333", "0.334"),
            (-0.0, "-0.0", "-0.0"),
            (2050.0, "2050.0", "2050.0"),
            (f32::INFINITY, "inf", "inf"),
            (f32::NAN, "NaN", "NaN"),
            (1e-7, "1e-7", "1e-7"),
        ] {
            assert_eq!(Scalar::F16(f16::from_f32(number)).to_string(), f16_text);
            let found = Scalar::BF16(bf16::from_f32(number)).to_string();
            assert_eq!(found, bf16_text);
        }
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            let read: f16 = Scalar::F16(a).to_string().parse().unwrap();
            assert!(read.to_bits() == bits || a.is_nan() && read.is_nan(), "{a}");
            let read: bf16 = Scalar::BF16(b).to_string().parse().unwrap();
            assert!(read.to_bits() == bits || b.is_nan() && read.is_nan(), "{b}");
        }
    }
}
