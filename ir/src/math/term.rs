//! Formula notation over [`Arith`]: typed values with operators, so that a definition reads like its formula.

use super::arith::{Arith, FloatCmp, IntCmp, Width};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Shl, Shr, Sub};

/// Where terms are built: the arithmetic and the width of the function under definition.
pub(super) struct Lane<'a, A: Arith> {
    arith: &'a RefCell<&'a mut A>,
    /// The width of every float and integer made here.
    pub width: Width,
}

/// A floating-point value of its lane's width.
pub(super) struct Float<'a, A: Arith> {
    /// Where it was built.
    pub lane: Lane<'a, A>,
    value: A::V,
}

/// An integer value of its lane's width.
pub(super) struct Int<'a, A: Arith> {
    /// Where it was built.
    pub lane: Lane<'a, A>,
    value: A::V,
}

/// A condition.
pub(super) struct Cond<'a, A: Arith> {
    /// Where it was built.
    pub lane: Lane<'a, A>,
    value: A::V,
}

macro_rules! copy {
    ($($name:ident),*) => {$(
        impl<A: Arith> Clone for $name<'_, A> {
            #[inline(always)]
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<A: Arith> Copy for $name<'_, A> {}
    )*};
}
copy!(Lane, Float, Int, Cond);

impl<'a, A: Arith> Lane<'a, A> {
    #[inline(always)]
    pub fn new(arith: &'a RefCell<&'a mut A>, width: Width) -> Self {
        Lane { arith, width }
    }

    /// The same arithmetic at another width.
    #[inline(always)]
    pub fn at(self, width: Width) -> Self {
        Lane { width, ..self }
    }

    #[inline(always)]
    fn build(self, op: impl FnOnce(&mut A) -> A::V) -> A::V {
        op(&mut self.arith.borrow_mut())
    }

    /// An argument of the function.
    #[inline(always)]
    pub fn argument(self, value: A::V) -> Float<'a, A> {
        Float { lane: self, value }
    }

    /// The constant nearest to `value` at this width.
    #[inline(always)]
    pub fn float(self, value: f64) -> Float<'a, A> {
        let value = match self.width {
            Width::F32 => self.build(|a| a.f32(value as f32)),
            Width::F64 => self.build(|a| a.f64(value)),
        };
        Float { lane: self, value }
    }

    /// The constant 2^exponent, for exponents of normal numbers.
    #[inline(always)]
    pub fn power_of_two(self, exponent: i64) -> Float<'a, A> {
        self.float(f64::from_bits(((exponent + 1023) << 52) as u64))
    }

    /// The integer constant; at F32 its low 32 bits.
    #[inline(always)]
    pub fn int(self, value: i64) -> Int<'a, A> {
        let value = match self.width {
            Width::F32 => self.build(|a| a.i32(value as i32)),
            Width::F64 => self.build(|a| a.i64(value)),
        };
        Int { lane: self, value }
    }

    /// The integer whose only set bit is the sign.
    #[inline(always)]
    pub fn sign_bit(self) -> Int<'a, A> {
        self.int(self.width.pick(i64::from(i32::MIN), i64::MIN))
    }
}

impl<'a, A: Arith> Float<'a, A> {
    #[inline(always)]
    fn map(self, op: impl FnOnce(&mut A, A::V) -> A::V) -> Self {
        Float { value: self.lane.build(|a| op(a, self.value)), ..self }
    }

    #[inline(always)]
    fn compare(self, cmp: FloatCmp, other: Self) -> Cond<'a, A> {
        Cond { value: self.lane.build(|a| a.fcmp(cmp, self.value, other.value)), lane: self.lane }
    }

    /// The value the caller of the definition gets.
    #[inline(always)]
    pub fn result(self) -> A::V {
        self.value
    }

    #[inline(always)]
    pub fn sqrt(self) -> Self {
        self.map(|a, v| a.fsqrt(v))
    }

    #[inline(always)]
    pub fn abs(self) -> Self {
        self.map(|a, v| a.fabs(v))
    }

    /// The bits as an integer.
    #[inline(always)]
    pub fn bits(self) -> Int<'a, A> {
        Int { value: self.lane.build(|a| a.float_to_bits(self.value)), lane: self.lane }
    }

    /// The f64 of an f32.
    #[inline(always)]
    pub fn widen(self) -> Self {
        debug_assert_eq!(self.lane.width, Width::F32);
        Float { lane: self.lane.at(Width::F64), ..self.map(|a, v| a.widen(v)) }
    }

    /// The f32 nearest to an f64.
    #[inline(always)]
    pub fn narrow(self) -> Self {
        debug_assert_eq!(self.lane.width, Width::F64);
        Float { lane: self.lane.at(Width::F32), ..self.map(|a, v| a.narrow(v)) }
    }

    #[inline(always)]
    pub fn equals(self, other: Self) -> Cond<'a, A> {
        self.compare(FloatCmp::Eq, other)
    }

    #[inline(always)]
    pub fn less(self, other: Self) -> Cond<'a, A> {
        self.compare(FloatCmp::Lt, other)
    }

    #[inline(always)]
    pub fn greater(self, other: Self) -> Cond<'a, A> {
        self.compare(FloatCmp::Gt, other)
    }
}

impl<'a, A: Arith> Int<'a, A> {
    #[inline(always)]
    fn compare(self, cmp: IntCmp, other: Self) -> Cond<'a, A> {
        Cond { value: self.lane.build(|a| a.icmp(cmp, self.value, other.value)), lane: self.lane }
    }

    /// The float with these bits.
    #[inline(always)]
    pub fn float(self) -> Float<'a, A> {
        Float { value: self.lane.build(|a| a.bits_to_float(self.value)), lane: self.lane }
    }

    /// Right shift that brings in the sign.
    #[inline(always)]
    pub fn signed_shr(self, count: i64) -> Self {
        let count = self.lane.int(count);
        Int { value: self.lane.build(|a| a.iashr(self.value, count.value)), ..self }
    }

    /// The i32 of an i64, its low half.
    #[inline(always)]
    pub fn truncate(self) -> Self {
        debug_assert_eq!(self.lane.width, Width::F64);
        Int { value: self.lane.build(|a| a.truncate(self.value)), lane: self.lane.at(Width::F32) }
    }

    /// Whether no bit of `mask` is set.
    #[inline(always)]
    pub fn lacks(self, mask: i64) -> Cond<'a, A> {
        (self & self.lane.int(mask)).compare(IntCmp::Eq, self.lane.int(0))
    }

    #[inline(always)]
    pub fn signed_less(self, other: Self) -> Cond<'a, A> {
        self.compare(IntCmp::SignedLt, other)
    }

    #[inline(always)]
    pub fn unsigned_less(self, other: Self) -> Cond<'a, A> {
        self.compare(IntCmp::UnsignedLt, other)
    }
}

impl<'a, A: Arith> Cond<'a, A> {
    /// `yes` where the condition holds, else `no`.
    #[inline(always)]
    pub fn float(self, yes: Float<'a, A>, no: Float<'a, A>) -> Float<'a, A> {
        Float { value: self.lane.build(|a| a.select(self.value, yes.value, no.value)), ..yes }
    }

    /// `yes` where the condition holds, else `no`.
    #[inline(always)]
    pub fn int(self, yes: Int<'a, A>, no: Int<'a, A>) -> Int<'a, A> {
        Int { value: self.lane.build(|a| a.select(self.value, yes.value, no.value)), ..yes }
    }
}

macro_rules! binary {
    ($($term:ident, $op:ident, $method:ident => $instruction:ident;)*) => {$(
        impl<'a, A: Arith> $op for $term<'a, A> {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                $term { value: self.lane.build(|a| a.$instruction(self.value, other.value)), ..self }
            }
        }
    )*};
}
binary! {
    Float, Add, add => fadd;
    Float, Sub, sub => fsub;
    Float, Mul, mul => fmul;
    Float, Div, div => fdiv;
    Int, Add, add => iadd;
    Int, Sub, sub => isub;
    Int, Mul, mul => imul;
    Int, BitAnd, bitand => iand;
    Int, BitOr, bitor => ior;
    Int, BitXor, bitxor => ixor;
    Int, Shl, shl => ishl;
    Int, Shr, shr => ilshr;
}

impl<A: Arith> Neg for Float<'_, A> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.map(|a, v| a.fneg(v))
    }
}
