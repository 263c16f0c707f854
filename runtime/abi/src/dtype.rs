//! Scalar element types.

use std::fmt;
use std::str::FromStr;

/// The type of one element. Bits are IEEE 754 or two's complement, little-endian; a `bool` is one byte, 0 or 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DType {
    /// One byte, 0 or 1.
    Bool,
    /// 32-bit integer, wrapping.
    I32,
    /// 64-bit integer, wrapping.
    I64,
    /// IEEE binary16. Elements are kept in it; what is computed with them is computed in `f32`.
    F16,
    /// The upper half of a binary32, kept as `F16` is.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl DType {
    /// All types, in declaration order.
    pub const ALL: [DType; 7] = [DType::Bool, DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64];

    /// All of them in words, each name between `quote`s: `bool, i32 and f64`.
    pub fn list(quote: &str) -> String {
        let names = DType::ALL.map(|dtype| format!("{quote}{dtype}{quote}"));
        match names.split_last() {
            Some((last, names)) => format!("{} and {last}", names.join(", ")),
            None => String::new(),
        }
    }

    /// Bytes of one element in memory.
    pub const fn bytes(self) -> usize {
        match self {
            DType::Bool => 1,
            DType::F16 | DType::BF16 => 2,
            DType::I32 | DType::F32 => 4,
            DType::I64 | DType::F64 => 8,
        }
    }

    /// Whether this is a floating-point type.
    pub const fn is_float(self) -> bool {
        matches!(self, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
    }

    /// Whether elements of it are computed with in `f32`, and each result is rounded.
    pub const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// The type that sums and products of many elements are made in.
    pub const fn accumulator(self) -> DType {
        if self.is_half() { DType::F32 } else { self }
    }

    /// Whether this is an integer type (`bool` is not).
    pub const fn is_int(self) -> bool {
        matches!(self, DType::I32 | DType::I64)
    }

    /// The name in `.tg`, `.tir`, plans and manifests.
    pub const fn name(self) -> &'static str {
        match self {
            DType::Bool => "bool",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::F16 => "f16",
            DType::BF16 => "bf16",
            DType::F32 => "f32",
            DType::F64 => "f64",
        }
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of an element type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not an element type; they are {list}", list = DType::list(""))]
pub struct UnknownDType(pub String);

impl FromStr for DType {
    type Err = UnknownDType;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        DType::ALL.into_iter().find(|d| d.name() == s).ok_or_else(|| UnknownDType(s.to_owned()))
    }
}
