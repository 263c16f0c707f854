//! The evaluator: [`Arith`] on [`Scalar`] constants. Interpreters and constant folding call math functions through it.

use super::arith::{Arith, FloatCmp, IntCmp};
use crate::Scalar;

/// Evaluates each operation as it is asked for. Rust's `+ - * /` and `sqrt` are the IEEE operations.
#[derive(Debug, Default, Clone, Copy)]
pub struct Evaluator;

/// Definitions are typed by construction (`Float` and `Int` terms of one width); a caller that passes an argument of
/// another type than the width it names breaks the law of [`super::define`].
#[cold]
#[inline(never)]
fn ill_typed(op: &str, operands: &[Scalar]) -> ! {
    panic!("math definitions are well typed: {op} on {operands:?}")
}

macro_rules! float_binary {
    ($name:ident, $op:tt) => {
        #[inline(always)]
        fn $name(&mut self, a: Scalar, b: Scalar) -> Scalar {
            match (a, b) {
                (Scalar::F32(a), Scalar::F32(b)) => Scalar::F32(a $op b),
                (Scalar::F64(a), Scalar::F64(b)) => Scalar::F64(a $op b),
                _ => ill_typed(stringify!($name), &[a, b]),
            }
        }
    };
}

macro_rules! float_unary {
    ($name:ident, $f:expr, $g:expr) => {
        #[inline(always)]
        fn $name(&mut self, a: Scalar) -> Scalar {
            match a {
                Scalar::F32(a) => Scalar::F32($f(a)),
                Scalar::F64(a) => Scalar::F64($g(a)),
                _ => ill_typed(stringify!($name), &[a]),
            }
        }
    };
}

macro_rules! int_binary {
    ($name:ident, |$a:ident, $b:ident| $narrow:expr, $wide:expr) => {
        #[inline(always)]
        fn $name(&mut self, a: Scalar, b: Scalar) -> Scalar {
            match (a, b) {
                (Scalar::I32($a), Scalar::I32($b)) => Scalar::I32($narrow),
                (Scalar::I64($a), Scalar::I64($b)) => Scalar::I64($wide),
                _ => ill_typed(stringify!($name), &[a, b]),
            }
        }
    };
}

macro_rules! convert {
    ($name:ident, $($from:ident($a:ident) => $to:ident($value:expr)),*) => {
        #[inline(always)]
        fn $name(&mut self, a: Scalar) -> Scalar {
            match a {
                $(Scalar::$from($a) => Scalar::$to($value),)*
                _ => ill_typed(stringify!($name), &[a]),
            }
        }
    };
}

#[inline(always)]
fn float_compare<T: PartialOrd>(cmp: FloatCmp, a: T, b: T) -> bool {
    match cmp {
        FloatCmp::Eq => a == b,
        FloatCmp::Ne => a != b,
        FloatCmp::Lt => a < b,
        FloatCmp::Le => a <= b,
        FloatCmp::Gt => a > b,
        FloatCmp::Ge => a >= b,
        FloatCmp::Unordered => a.partial_cmp(&b).is_none(),
    }
}

impl Arith for Evaluator {
    type V = Scalar;

    #[inline(always)]
    fn f32(&mut self, value: f32) -> Scalar {
        Scalar::F32(value)
    }
    #[inline(always)]
    fn f64(&mut self, value: f64) -> Scalar {
        Scalar::F64(value)
    }
    #[inline(always)]
    fn i32(&mut self, value: i32) -> Scalar {
        Scalar::I32(value)
    }
    #[inline(always)]
    fn i64(&mut self, value: i64) -> Scalar {
        Scalar::I64(value)
    }

    float_binary!(fadd, +);
    float_binary!(fsub, -);
    float_binary!(fmul, *);
    float_binary!(fdiv, /);
    float_unary!(fsqrt, f32::sqrt, f64::sqrt);
    float_unary!(fneg, |a: f32| -a, |a: f64| -a);
    float_unary!(fabs, f32::abs, f64::abs);

    #[inline(always)]
    fn fcmp(&mut self, cmp: FloatCmp, a: Scalar, b: Scalar) -> Scalar {
        match (a, b) {
            (Scalar::F32(a), Scalar::F32(b)) => Scalar::Bool(float_compare(cmp, a, b)),
            (Scalar::F64(a), Scalar::F64(b)) => Scalar::Bool(float_compare(cmp, a, b)),
            _ => ill_typed("fcmp", &[a, b]),
        }
    }

    int_binary!(iadd, |a, b| a.wrapping_add(b), a.wrapping_add(b));
    int_binary!(isub, |a, b| a.wrapping_sub(b), a.wrapping_sub(b));
    int_binary!(imul, |a, b| a.wrapping_mul(b), a.wrapping_mul(b));
    int_binary!(iand, |a, b| a & b, a & b);
    int_binary!(ior, |a, b| a | b, a | b);
    int_binary!(ixor, |a, b| a ^ b, a ^ b);
    int_binary!(ishl, |a, b| a.wrapping_shl(b as u32), a.wrapping_shl(b as u32));
    int_binary!(ilshr, |a, b| (a as u32).wrapping_shr(b as u32) as i32, (a as u64).wrapping_shr(b as u32) as i64);
    int_binary!(iashr, |a, b| a.wrapping_shr(b as u32), a.wrapping_shr(b as u32));

    #[inline(always)]
    fn icmp(&mut self, cmp: IntCmp, a: Scalar, b: Scalar) -> Scalar {
        let (a, b) = match (a, b) {
            // Sign extension keeps both the signed and the unsigned order.
            (Scalar::I32(a), Scalar::I32(b)) => (i64::from(a), i64::from(b)),
            (Scalar::I64(a), Scalar::I64(b)) => (a, b),
            _ => ill_typed("icmp", &[a, b]),
        };
        Scalar::Bool(match cmp {
            IntCmp::Eq => a == b,
            IntCmp::Ne => a != b,
            IntCmp::SignedLt => a < b,
            IntCmp::UnsignedLt => (a as u64) < (b as u64),
        })
    }

    #[inline(always)]
    fn select(&mut self, condition: Scalar, a: Scalar, b: Scalar) -> Scalar {
        match condition {
            Scalar::Bool(true) => a,
            Scalar::Bool(false) => b,
            _ => ill_typed("select", &[condition]),
        }
    }

    convert!(float_to_bits, F32(a) => I32(a.to_bits() as i32), F64(a) => I64(a.to_bits() as i64));
    convert!(bits_to_float, I32(a) => F32(f32::from_bits(a as u32)), I64(a) => F64(f64::from_bits(a as u64)));
    convert!(widen, F32(a) => F64(f64::from(a)));
    convert!(narrow, F64(a) => F32(a as f32));
    convert!(truncate, I64(a) => I32(a as i32));
}
