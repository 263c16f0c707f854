//! The operations a math function may be built from: IEEE arithmetic, comparisons, selects and integer bit work.

use tiga_abi::DType;

/// The floating-point format a definition is written for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// IEEE binary32, with i32 as the integer of the same width.
    F32,
    /// IEEE binary64, with i64 as the integer of the same width.
    F64,
}

impl Width {
    /// The width of a floating-point dtype; `None` for integers and bool, on which no math function is defined.
    pub fn of(dtype: DType) -> Option<Width> {
        match dtype {
            DType::F32 => Some(Width::F32),
            DType::F64 => Some(Width::F64),
            _ => None,
        }
    }

    /// The dtype of this format.
    pub fn dtype(self) -> DType {
        self.pick(DType::F32, DType::F64)
    }

    /// The first argument at `F32`, the second at `F64`.
    pub fn pick<T>(self, single: T, double: T) -> T {
        match self {
            Width::F32 => single,
            Width::F64 => double,
        }
    }

    /// Bits of the stored fraction: 23 or 52.
    pub fn fraction_bits(self) -> i64 {
        self.pick(23, 52)
    }

    /// The exponent bias: 127 or 1023.
    pub fn bias(self) -> i64 {
        self.pick(127, 1023)
    }
}

/// Floating-point comparisons. All but `Ne` and `Unordered` are false when an operand is NaN.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FloatCmp {
    /// Ordered and equal.
    Eq,
    /// Unordered or different.
    Ne,
    /// Ordered and less.
    Lt,
    /// Ordered and less or equal.
    Le,
    /// Ordered and greater.
    Gt,
    /// Ordered and greater or equal.
    Ge,
    /// At least one operand is NaN.
    Unordered,
}

/// Integer comparisons.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum IntCmp {
    /// Equal.
    Eq,
    /// Different.
    Ne,
    /// Less, both read as signed.
    SignedLt,
    /// Less, both read as unsigned.
    UnsignedLt,
}

/// The instruction set of math functions: every method is one instruction of the kernel level.
///
/// Each operation rounds once, to nearest even, keeps denormals, and is never fused with its neighbour. Operands of a
/// two-operand method have one type. Integers wrap; shift counts are below the width. There is no branch, no memory
/// and no conversion between integers and floats: definitions convert through the bits.
pub trait Arith {
    /// A value: a constant for the evaluator, an SSA value for a builder.
    type V: Copy;

    /// The f32 constant.
    fn f32(&mut self, value: f32) -> Self::V;
    /// The f64 constant.
    fn f64(&mut self, value: f64) -> Self::V;
    /// The i32 constant.
    fn i32(&mut self, value: i32) -> Self::V;
    /// The i64 constant.
    fn i64(&mut self, value: i64) -> Self::V;

    /// Floating-point sum.
    fn fadd(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Floating-point difference.
    fn fsub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Floating-point product.
    fn fmul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Floating-point quotient.
    fn fdiv(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Correctly rounded square root; NaN below zero, −0 for −0.
    fn fsqrt(&mut self, a: Self::V) -> Self::V;
    /// The sign bit flipped, of a NaN too.
    fn fneg(&mut self, a: Self::V) -> Self::V;
    /// The sign bit cleared.
    fn fabs(&mut self, a: Self::V) -> Self::V;
    /// A bool from two floats of one type.
    fn fcmp(&mut self, cmp: FloatCmp, a: Self::V, b: Self::V) -> Self::V;

    /// Wrapping sum.
    fn iadd(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Wrapping difference.
    fn isub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// The low half of the product.
    fn imul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise and.
    fn iand(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise or.
    fn ior(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Bitwise exclusive or.
    fn ixor(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Left shift.
    fn ishl(&mut self, a: Self::V, count: Self::V) -> Self::V;
    /// Right shift that brings in zeros.
    fn ilshr(&mut self, a: Self::V, count: Self::V) -> Self::V;
    /// Right shift that brings in the sign.
    fn iashr(&mut self, a: Self::V, count: Self::V) -> Self::V;
    /// A bool from two integers of one type.
    fn icmp(&mut self, cmp: IntCmp, a: Self::V, b: Self::V) -> Self::V;

    /// `a` where the bool is true, else `b`; both sides are already evaluated.
    fn select(&mut self, condition: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// The bits of an f32 as i32, of an f64 as i64.
    fn float_to_bits(&mut self, a: Self::V) -> Self::V;
    /// The f32 with the bits of an i32, the f64 with the bits of an i64.
    fn bits_to_float(&mut self, a: Self::V) -> Self::V;
    /// f32 to f64, exact.
    fn widen(&mut self, a: Self::V) -> Self::V;
    /// f64 to f32, rounded to nearest even.
    fn narrow(&mut self, a: Self::V) -> Self::V;
    /// i64 to i32, the low half.
    fn truncate(&mut self, a: Self::V) -> Self::V;
}
