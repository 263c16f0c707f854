//! Math functions, defined once as sequences of IEEE operations: interpreters evaluate them, backends spell them.
//!
//! A definition is branch-free, uses no fused multiply-add and no library call, and is written over [`Arith`]: with
//! [`Evaluator`] it computes a constant, with a builder it emits instructions, and both give the same bits. Errors
//! against the exact value are measured by `cargo xtask survey` and recorded in `docs/math.md`.

mod approx;
mod arith;
mod evaluator;
mod exp;
mod half;
mod hyperbolic;
mod log;
mod pow;
mod root;
#[cfg(test)]
mod survey;
mod term;
#[cfg(test)]
mod tests;
mod trig;

pub use arith::{Arith, FloatCmp, IntCmp, Width};
pub use evaluator::Evaluator;

use crate::Scalar;
use std::cell::RefCell;
use term::Lane;

/// The functions there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum MathFn {
    /// e^x.
    Exp,
    /// Natural logarithm.
    Log,
    /// Hyperbolic tangent.
    Tanh,
    /// Sine, of any finite angle in radians.
    Sin,
    /// Cosine, of any finite angle in radians.
    Cos,
    /// The first argument to the power of the second.
    Pow,
    /// Square root, correctly rounded.
    Sqrt,
    /// 1/√x.
    Rsqrt,
    /// 1/(1 + e^−x).
    Sigmoid,
}

impl MathFn {
    /// All functions, in declaration order.
    pub const ALL: [MathFn; 9] = [
        MathFn::Exp,
        MathFn::Log,
        MathFn::Tanh,
        MathFn::Sin,
        MathFn::Cos,
        MathFn::Pow,
        MathFn::Sqrt,
        MathFn::Rsqrt,
        MathFn::Sigmoid,
    ];

    /// The spelling in the language and in printed IR.
    pub fn name(self) -> &'static str {
        match self {
            MathFn::Exp => "exp",
            MathFn::Log => "log",
            MathFn::Tanh => "tanh",
            MathFn::Sin => "sin",
            MathFn::Cos => "cos",
            MathFn::Pow => "pow",
            MathFn::Sqrt => "sqrt",
            MathFn::Rsqrt => "rsqrt",
            MathFn::Sigmoid => "sigmoid",
        }
    }

    /// The function of that name.
    pub fn from_name(name: &str) -> Option<MathFn> {
        MathFn::ALL.into_iter().find(|f| f.name() == name)
    }

    /// How many arguments it takes.
    pub fn arity(self) -> usize {
        match self {
            MathFn::Pow => 2,
            _ => 1,
        }
    }
}

/// Builds `function(args)` at `width` out of the operations of `arith`; the result has the arguments' type.
///
/// # Panics
/// If there are not [`MathFn::arity`] arguments: verified IR has them.
#[inline(always)]
pub fn define<A: Arith>(function: MathFn, width: Width, arith: &mut A, args: &[A::V]) -> A::V {
    assert_eq!(args.len(), function.arity(), "verified IR gives {} its arguments", function.name());
    let cell = RefCell::new(arith);
    let lane = Lane::new(&cell, width);
    let x = lane.argument(args[0]);
    let result = match function {
        MathFn::Exp => exp::exp(x),
        MathFn::Log => log::log(x),
        MathFn::Tanh => hyperbolic::tanh(x),
        MathFn::Sin => trig::sin(x),
        MathFn::Cos => trig::cos(x),
        MathFn::Pow => pow::pow(x, lane.argument(args[1])),
        MathFn::Sqrt => root::sqrt(x),
        MathFn::Rsqrt => root::rsqrt(x),
        MathFn::Sigmoid => hyperbolic::sigmoid(x),
    };
    result.result()
}

/// The f32 equal to an f16 that is the upper half of the f32 `x`, without conversions of f16.
#[inline(always)]
pub fn half_to_single<A: Arith>(arith: &mut A, x: A::V) -> A::V {
    let cell = RefCell::new(arith);
    half::to_single(Lane::new(&cell, Width::F32).argument(x)).result()
}

/// The f16 nearest to the f32 `x`, as the upper half of an f32 whose other bits are 0, without conversions of f16.
#[inline(always)]
pub fn single_to_half<A: Arith>(arith: &mut A, x: A::V) -> A::V {
    let cell = RefCell::new(arith);
    half::from_single(Lane::new(&cell, Width::F32).argument(x)).result()
}

/// The value of an f32 function.
#[inline(always)]
pub fn eval_f32<const N: usize>(function: MathFn, args: [f32; N]) -> f32 {
    match define(function, Width::F32, &mut Evaluator, &args.map(Scalar::F32)) {
        Scalar::F32(result) => result,
        other => unreachable!("an f32 function gives an f32, not {other:?}"),
    }
}

/// The value of an f64 function.
#[inline(always)]
pub fn eval_f64<const N: usize>(function: MathFn, args: [f64; N]) -> f64 {
    match define(function, Width::F64, &mut Evaluator, &args.map(Scalar::F64)) {
        Scalar::F64(result) => result,
        other => unreachable!("an f64 function gives an f64, not {other:?}"),
    }
}
