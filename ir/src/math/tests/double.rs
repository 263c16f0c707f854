//! f64 definitions against 256-bit arithmetic: random arguments and the hard ones.

use crate::math::survey::scramble;
use crate::math::{MathFn, eval_f64};
use astro_float::{BigFloat, Consts, RoundingMode};

/// Bits of the reference; the cancellation in 1 + e^-x and the like leaves far more than the 64 that a test needs.
const BITS: usize = 256;
const NEAREST: RoundingMode = RoundingMode::ToEven;

/// The number itself.
fn big(x: f64) -> BigFloat {
    if x == 0.0 || !x.is_subnormal() {
        return BigFloat::from_f64(x, BITS);
    }
    // `from_f64` misreads denormals.
    let mut lifted = BigFloat::from_f64(x * 2f64.powi(64), BITS);
    lifted.set_exponent(lifted.exponent().unwrap() - 64);
    lifted
}

/// The exact value, to `BITS` bits.
fn reference(function: MathFn, args: &[f64], consts: &mut Consts) -> BigFloat {
    let x = big(args[0]);
    let one = big(1.0);
    match function {
        MathFn::Exp => x.exp(BITS, NEAREST, consts),
        MathFn::Log => x.ln(BITS, NEAREST, consts),
        MathFn::Tanh => x.tanh(BITS, NEAREST, consts),
        MathFn::Sin => x.sin(BITS, NEAREST, consts),
        MathFn::Cos => x.cos(BITS, NEAREST, consts),
        MathFn::Pow => x.pow(&big(args[1]), BITS, NEAREST, consts),
        MathFn::Sqrt => x.sqrt(BITS, NEAREST),
        MathFn::Rsqrt => x.sqrt(BITS, NEAREST).reciprocal(BITS, NEAREST),
        MathFn::Sigmoid => {
            let e = x.neg().exp(BITS, NEAREST, consts);
            one.div(&one.add(&e, BITS, NEAREST), BITS, NEAREST)
        }
    }
}

/// Distance of an f64 result from the exact value in f64 ulps of the exact value; infinity counts as 2^1024.
fn ulps(got: f64, exact: &BigFloat) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    // The value is in [2^(e-1), 2^e); zero has no exponent of note.
    let exponent = if exact.is_zero() { -1100 } else { exact.exponent().unwrap_or(i32::MAX) };
    if got.is_infinite() && exponent > 1024 && got.is_sign_positive() == exact.is_positive() {
        return 0.0;
    }
    let got = if got.is_infinite() {
        let mut limit = big(1f64.copysign(got));
        limit.set_exponent(1025);
        limit
    } else {
        big(got)
    };
    let difference = got.sub(exact, BITS, NEAREST);
    if difference.is_zero() {
        return 0.0;
    }
    let top = *difference.mantissa_digits().unwrap().last().unwrap();
    let significand = top as f64 / 2f64.powi(64);
    let ulp = (exponent - 1).max(-1022) - 52;
    significand * 2f64.powi(difference.exponent().unwrap() - ulp)
}

/// A reproducible stream of arguments.
struct Draw(u64);

impl Draw {
    fn bits(&mut self) -> u64 {
        self.0 += 1;
        scramble(self.0)
    }

    /// Any bit pattern that is a finite number.
    fn any(&mut self) -> f64 {
        let x = f64::from_bits(self.bits());
        if x.is_finite() { x } else { self.any() }
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.bits() >> 11) as f64 / 2f64.powi(53)
    }

    /// ±2^exponent · [1, 2) with the exponent from a range.
    fn spread(&mut self, low: f64, high: f64) -> f64 {
        let magnitude = self.between(low, high).exp2();
        if self.bits() & 1 == 0 { magnitude } else { -magnitude }
    }

    /// Half of the arguments are anything, half are where the function is hard.
    fn arguments(&mut self, function: MathFn) -> Vec<f64> {
        if self.bits() & 3 == 0 {
            return (0..function.arity()).map(|_| self.any()).collect();
        }
        let easy = self.bits() & 1 == 0;
        match function {
            MathFn::Exp if easy => vec![self.spread(-60.0, 3.0)],
            MathFn::Exp => vec![self.between(-746.0, 710.0)],
            MathFn::Log if easy => vec![self.between(0.4, 3.0)],
            MathFn::Log => vec![1.0 + self.spread(-52.0, -2.0)],
            MathFn::Tanh => vec![if easy { self.spread(-40.0, 2.0) } else { self.between(-20.0, 20.0) }],
            MathFn::Sin | MathFn::Cos if easy => vec![self.spread(-30.0, 60.0)],
            MathFn::Sin | MathFn::Cos => {
                let multiple = self.spread(0.0, 53.0).round() * std::f64::consts::FRAC_PI_2;
                vec![f64::from_bits(multiple.to_bits() + self.bits() % 3 - 1)]
            }
            MathFn::Pow => {
                let x = if easy { self.any().abs() } else { 1.0 + self.spread(-50.0, -1.0) };
                vec![x, self.between(-1076.0, 1025.0) / x.log2()]
            }
            MathFn::Sigmoid => vec![if easy { self.between(-746.0, 40.0) } else { self.spread(-40.0, 5.0) }],
            MathFn::Sqrt | MathFn::Rsqrt => vec![self.any().abs()],
        }
    }
}

/// How far the result for `args` is off, in ulps, asserted to be within `bound`.
fn error(function: MathFn, args: &[f64], consts: &mut Consts, bound: f64) -> f64 {
    let got = match *args {
        [x] => eval_f64(function, [x]),
        [x, y] => eval_f64(function, [x, y]),
        _ => unreachable!("no function of more arguments"),
    };
    let error = ulps(got, &reference(function, args, consts));
    assert!(error <= bound, "{}{args:?} is {got:?}, off by {error} ulp", function.name());
    error
}

/// The largest error over `samples` arguments, asserted to be within `bound`.
fn check(function: MathFn, samples: usize, bound: f64) {
    let mut consts = Consts::new().unwrap();
    let mut draw = Draw(function as u64 * 1_000_000_007);
    let (mut worst, mut at) = (0.0, Vec::new());
    for _ in 0..samples {
        let args = draw.arguments(function);
        // The reference has no negative powers: their signs are in the table of special values.
        if args.iter().any(|x| x.is_nan()) || function == MathFn::Pow && args[0] < 0.0 {
            continue;
        }
        let error = error(function, &args, &mut consts, bound);
        if error > worst {
            (worst, at) = (error, args);
        }
    }
    println!("{:8} {worst:.4} ulp at {at:?} of {samples}", function.name());
}

#[test]
fn random_arguments_stay_within_one_ulp() {
    for function in MathFn::ALL {
        check(function, 4_000, 1.0);
    }
}

#[test]
fn hard_arguments_stay_within_one_ulp() {
    use std::f64::consts::{FRAC_1_SQRT_2, FRAC_PI_2, FRAC_PI_4, LN_2, PI, SQRT_2};
    let mut consts = Consts::new().unwrap();
    // An argument and its neighbours.
    let mut near = |function: MathFn, x: f64| {
        for x in [x.next_down(), x, x.next_up()] {
            error(function, &[x], &mut consts, 1.0);
        }
    };
    // Overflow, the first denormal, the last non-zero result, the places where the reduction steps.
    for x in
        [709.782712893384, -708.3964185322641, -745.1332191019411, 0.5 * LN_2, -0.5 * LN_2, 1e-20, f64::MIN_POSITIVE]
    {
        near(MathFn::Exp, x);
        near(MathFn::Sigmoid, x);
        near(MathFn::Tanh, 0.5 * x);
    }
    for x in [1.0, FRAC_1_SQRT_2, SQRT_2, f64::MIN_POSITIVE, 1e-323, 1e308, 2f64.powi(1000), 2f64.powi(-1000)] {
        near(MathFn::Log, x);
        near(MathFn::Rsqrt, x);
    }
    // The second and third are the f64 nearest to multiples of π/2 (Muller, Handbook of Floating-Point Arithmetic).
    let nearest = [6_381_956_970_095_103.0 * 2f64.powi(797), 5.319372648326541e255];
    for x in [1.0, FRAC_PI_4, FRAC_PI_2, PI, 1e22, 2f64.powi(1023), 1e-200, 1e-310].into_iter().chain(nearest) {
        near(MathFn::Sin, x);
        near(MathFn::Cos, -x);
    }
    let above = 1f64.next_up();
    for (x, y) in [
        (above, 2f64.powi(61)),
        (above, -2f64.powi(61)),
        (1f64.next_down(), 6e18),
        (1f64.next_down(), -6e18),
        (2.0, 1023.9999999999999),
        (2.0, -1074.5),
        (2.0, -1075.5),
        (10.0, 308.25471555991674),
        (0.1, 323.0),
        (f64::MAX, -1.0),
        (1e-323, 0.001),
        (1e-323, -0.95),
        (f64::MAX, 1e-320),
        (3.0, 40.0),
    ] {
        for y in [y.next_down(), y, y.next_up()] {
            error(MathFn::Pow, &[x, y], &mut consts, 1.0);
        }
    }
}
