//! One element as a value, with the language's total arithmetic.

use half::{bf16, f16};
use std::fmt;
use tiga_abi::DType;

/// An element.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// `bool`
    Bool(bool),
    /// `i32`
    I32(i32),
    /// `i64`
    I64(i64),
    /// `f16`
    F16(f16),
    /// `bf16`
    BF16(bf16),
    /// `f32`
    F32(f32),
    /// `f64`
    F64(f64),
}

/// The text is not an element of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a value of type {dtype}")]
pub struct ScalarError {
    /// What was read.
    pub text: String,
    /// What was expected.
    pub dtype: DType,
}

impl Scalar {
    /// Its type.
    pub const fn dtype(self) -> DType {
        match self {
            Scalar::Bool(_) => DType::Bool,
            Scalar::I32(_) => DType::I32,
            Scalar::I64(_) => DType::I64,
            Scalar::F16(_) => DType::F16,
            Scalar::BF16(_) => DType::BF16,
            Scalar::F32(_) => DType::F32,
            Scalar::F64(_) => DType::F64,
        }
    }

    /// The element of `dtype` nearest to an integer.
    pub fn from_i64(dtype: DType, value: i64) -> Scalar {
        Scalar::I64(value).cast(dtype)
    }

    /// The element of `dtype` nearest to a double.
    pub fn from_f64(dtype: DType, value: f64) -> Scalar {
        Scalar::F64(value).cast(dtype)
    }

    /// The value as an index or count, if it is an integer.
    pub const fn as_i64(self) -> Option<i64> {
        match self {
            Scalar::I32(v) => Some(v as i64),
            Scalar::I64(v) => Some(v),
            _ => None,
        }
    }

    /// The value as a condition, if it is one.
    pub const fn as_bool(self) -> Option<bool> {
        match self {
            Scalar::Bool(v) => Some(v),
            _ => None,
        }
    }

    /// The value as a double (exact for all types but large `i64`).
    pub const fn as_f64(self) -> f64 {
        match self {
            Scalar::Bool(v) => v as u8 as f64,
            Scalar::I32(v) => v as f64,
            Scalar::I64(v) => v as f64,
            Scalar::F16(v) => v.to_f64_const(),
            Scalar::BF16(v) => v.to_f64_const(),
            Scalar::F32(v) => v as f64,
            Scalar::F64(v) => v,
        }
    }

    /// Its bits, zero-extended.
    pub const fn bits(self) -> u64 {
        match self {
            Scalar::Bool(v) => v as u64,
            Scalar::I32(v) => v as u32 as u64,
            Scalar::I64(v) => v as u64,
            Scalar::F16(v) => v.to_bits() as u64,
            Scalar::BF16(v) => v.to_bits() as u64,
            Scalar::F32(v) => v.to_bits() as u64,
            Scalar::F64(v) => v.to_bits(),
        }
    }

    /// The element with these bits; excess high bits are ignored.
    pub const fn from_bits(dtype: DType, bits: u64) -> Scalar {
        match dtype {
            DType::Bool => Scalar::Bool(bits & 1 == 1),
            DType::I32 => Scalar::I32(bits as u32 as i32),
            DType::I64 => Scalar::I64(bits as i64),
            DType::F16 => Scalar::F16(f16::from_bits(bits as u16)),
            DType::BF16 => Scalar::BF16(bf16::from_bits(bits as u16)),
            DType::F32 => Scalar::F32(f32::from_bits(bits as u32)),
            DType::F64 => Scalar::F64(f64::from_bits(bits)),
        }
    }

    /// Whether it is a NaN.
    pub const fn is_nan(self) -> bool {
        match self {
            Scalar::F16(v) => v.is_nan(),
            Scalar::BF16(v) => v.is_nan(),
            Scalar::F32(v) => v.is_nan(),
            Scalar::F64(v) => v.is_nan(),
            Scalar::Bool(_) | Scalar::I32(_) | Scalar::I64(_) => false,
        }
    }

    /// Equal bits, where any NaN equals any NaN (the law's "same bits").
    pub fn same(self, other: Scalar) -> bool {
        self.dtype() == other.dtype() && (self.bits() == other.bits() || (self.is_nan() && other.is_nan()))
    }

    /// Conversion as the language defines it: float to integer saturates, NaN gives 0, integers wrap,
    /// anything non-zero is `true` (NaN too). What becomes an `f16` or `bf16` becomes an `f32` first: of an `f64` or
    /// an integer that is rounded twice.
    pub fn cast(self, to: DType) -> Scalar {
        match to {
            _ if self.dtype() == to => self,
            DType::Bool => Scalar::Bool(match self {
                Scalar::Bool(v) => v,
                Scalar::I32(v) => v != 0,
                Scalar::I64(v) => v != 0,
                Scalar::F16(_) | Scalar::BF16(_) | Scalar::F32(_) | Scalar::F64(_) => self.as_f64() != 0.0,
            }),
            DType::I32 => Scalar::I32(match self {
                Scalar::Bool(v) => v.into(),
                Scalar::I32(v) => v,
                Scalar::I64(v) => v as i32,
                Scalar::F16(_) | Scalar::BF16(_) | Scalar::F32(_) | Scalar::F64(_) => self.as_f64() as i32,
            }),
            DType::I64 => Scalar::I64(match self {
                Scalar::Bool(v) => v.into(),
                Scalar::I32(v) => v.into(),
                Scalar::I64(v) => v,
                Scalar::F16(_) | Scalar::BF16(_) | Scalar::F32(_) | Scalar::F64(_) => self.as_f64() as i64,
            }),
            DType::F16 => Scalar::F16(f16::from_f32(self.single())),
            DType::BF16 => Scalar::BF16(bf16::from_f32(self.single())),
            DType::F32 => Scalar::F32(self.single()),
            DType::F64 => Scalar::F64(self.as_f64()),
        }
    }

    /// The nearest `f32`.
    fn single(self) -> f32 {
        match self {
            Scalar::I64(v) => v as f32,
            Scalar::F32(v) => v,
            // A double holds all of these exactly.
            Scalar::Bool(_) | Scalar::I32(_) | Scalar::F16(_) | Scalar::BF16(_) | Scalar::F64(_) => {
                self.as_f64() as f32
            }
        }
    }

    /// Reads what [`fmt::Display`] prints.
    ///
    /// # Errors
    /// The text is not a value of `dtype`.
    pub fn parse(dtype: DType, text: &str) -> Result<Scalar, ScalarError> {
        let parsed = match dtype {
            DType::Bool => text.parse().ok().map(Scalar::Bool),
            DType::I32 => text.parse().ok().map(Scalar::I32),
            DType::I64 => text.parse().ok().map(Scalar::I64),
            DType::F16 => text.parse().ok().map(|v| Scalar::F32(v).cast(dtype)),
            DType::BF16 => text.parse().ok().map(|v| Scalar::F32(v).cast(dtype)),
            DType::F32 => text.parse().ok().map(Scalar::F32),
            DType::F64 => text.parse().ok().map(Scalar::F64),
        };
        parsed.ok_or_else(|| ScalarError { text: text.to_owned(), dtype })
    }
}

/// Equality of bits (so that constants can be compared and merged): NaNs with different payloads differ.
impl PartialEq for Scalar {
    fn eq(&self, other: &Scalar) -> bool {
        self.dtype() == other.dtype() && self.bits() == other.bits()
    }
}

impl Eq for Scalar {}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool(v) => write!(f, "{v}"),
            Scalar::I32(v) => write!(f, "{v}"),
            Scalar::I64(v) => write!(f, "{v}"),
            v if v.is_nan() => f.write_str("nan"),
            Scalar::F16(v) => write!(f, "{:?}", v.to_f32()),
            Scalar::BF16(v) => write!(f, "{:?}", v.to_f32()),
            Scalar::F32(v) => write!(f, "{v:?}"),
            Scalar::F64(v) => write!(f, "{v:?}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn casts_are_total() {
        assert_eq!(Scalar::F32(f32::NAN).cast(DType::I32), Scalar::I32(0));
        assert_eq!(Scalar::F64(1e300).cast(DType::I64), Scalar::I64(i64::MAX));
        assert_eq!(Scalar::I64(1 << 40).cast(DType::I32), Scalar::I32(0));
        assert_eq!(Scalar::F32(-0.0).cast(DType::F64), Scalar::F64(-0.0));
    }

    /// Every bit pattern, and of each pair of neighbours the number between them, which goes to the even one, and the
    /// numbers beside that.
    #[test]
    fn halves_round_to_nearest_even() {
        for half in [DType::F16, DType::BF16] {
            let at = |bits: u16| Scalar::from_bits(half, bits.into());
            let single = |v: Scalar| v.cast(DType::F32).as_f64();
            for bits in 0..=u16::MAX {
                let v = at(bits);
                assert!(v.cast(DType::F32).cast(half).same(v) && v.cast(DType::F64).cast(half).same(v), "{v}");
                let next = at(bits.wrapping_add(1));
                if v.is_nan() || next.is_nan() || bits & 0x7fff == 0x7fff || !single(v).is_finite() {
                    continue;
                }
                // Above the greatest number the next one would be if there were one more.
                let step = |a: Scalar, b: Scalar| single(b) - single(a);
                let end = if single(next).is_finite() { single(next) } else { single(v) + step(at(bits - 1), v) };
                let middle = ((single(v) + end) / 2.0) as f32;
                let even = if bits & 1 == 0 { v } else { next };
                assert_eq!(Scalar::F32(middle).cast(half), even, "{v} {middle}");
                let (below, above) = if bits < 0x8000 { (v, next) } else { (next, v) };
                assert_eq!(Scalar::F32(middle.next_down()).cast(half), below);
                assert_eq!(Scalar::F32(middle.next_up()).cast(half), above);
            }
        }
        assert_eq!(Scalar::F64(65519.9).cast(DType::F16).to_string(), "65504.0");
        assert_eq!(Scalar::I64(65520).cast(DType::F16).to_string(), "inf");
        assert_eq!(Scalar::BF16(bf16::NAN).cast(DType::I32), Scalar::I32(0));
    }

    #[test]
    fn text_round_trips_bit_for_bit() {
        for v in [0.1f32, -0.0, f32::MIN_POSITIVE / 2.0, f32::INFINITY, 1e30] {
            assert_eq!(Scalar::parse(DType::F32, &Scalar::F32(v).to_string()), Ok(Scalar::F32(v)));
        }
    }
}
