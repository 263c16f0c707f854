//! Special values in both formats and strided surveys of f32; f64 is in `double`.

mod cost;
mod double;
mod half;

use super::survey::survey;
use super::*;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;
/// The smallest denormal f32.
const TINY: f64 = 1.401298464324817e-45;

/// Same bits, or both NaN.
fn same(a: f64, b: f64) -> bool {
    a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan()
}

/// Checks a value that both formats hold exactly in both formats.
fn exact<const N: usize>(function: MathFn, args: [f64; N], expected: f64) {
    let single = f64::from(eval_f32(function, args.map(|x| x as f32)));
    let double = eval_f64(function, args);
    let name = function.name();
    assert!(same(single, expected), "{name}{args:?} in f32 is {single:?}, expected {expected:?}");
    assert!(same(double, expected), "{name}{args:?} in f64 is {double:?}, expected {expected:?}");
}

#[test]
fn special_values() {
    let table = [
        (MathFn::Exp, [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (1000.0, INF), (-1000.0, 0.0)]),
        (MathFn::Log, [(0.0, -INF), (-0.0, -INF), (1.0, 0.0), (INF, INF), (-INF, NAN), (-1.0, NAN), (NAN, NAN)]),
        (MathFn::Tanh, [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (40.0, 1.0), (-1e30, -1.0)]),
        (MathFn::Sin, [(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, TINY), (-TINY, -TINY)]),
        (MathFn::Cos, [(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (TINY, 1.0), (-TINY, 1.0)]),
        (MathFn::Sqrt, [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, NAN), (-1.0, NAN), (NAN, NAN), (9.0, 3.0)]),
        (MathFn::Rsqrt, [(0.0, INF), (-0.0, -INF), (INF, 0.0), (-INF, NAN), (-1.0, NAN), (NAN, NAN), (0.25, 2.0)]),
        (MathFn::Sigmoid, [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (800.0, 1.0), (-800.0, 0.0)]),
    ];
    for (function, rows) in table {
        for (x, expected) in rows {
            exact(function, [x], expected);
        }
    }
}

/// C99 F.9.4.4, one row per sentence and sign.
#[test]
fn special_values_of_pow() {
    for y in [-3.0, -1.0] {
        exact(MathFn::Pow, [0.0, y], INF);
        exact(MathFn::Pow, [-0.0, y], -INF);
        exact(MathFn::Pow, [-INF, y], -0.0);
    }
    for y in [-INF, -2.0, -0.5, -1e38] {
        exact(MathFn::Pow, [0.0, y], INF);
        exact(MathFn::Pow, [-0.0, y], INF);
        exact(MathFn::Pow, [-INF, y], 0.0);
        exact(MathFn::Pow, [INF, y], 0.0);
    }
    for y in [1.0, 3.0, 16_777_215.0] {
        exact(MathFn::Pow, [0.0, y], 0.0);
        exact(MathFn::Pow, [-0.0, y], -0.0);
        exact(MathFn::Pow, [-INF, y], -INF);
        exact(MathFn::Pow, [-1.0, y], -1.0);
    }
    for y in [INF, 2.0, 0.5, 16_777_216.0] {
        exact(MathFn::Pow, [-0.0, y], 0.0);
        exact(MathFn::Pow, [-INF, y], INF);
        exact(MathFn::Pow, [INF, y], INF);
    }
    for x in [0.0, -0.0, 1.0, -1.0, TINY, 3.5, -7.0, INF, -INF, NAN] {
        exact(MathFn::Pow, [x, 0.0], 1.0);
        exact(MathFn::Pow, [x, -0.0], 1.0);
        exact(MathFn::Pow, [1.0, x], 1.0);
    }
    for (x, y, expected) in [
        (-1.0, INF, 1.0),
        (-1.0, -INF, 1.0),
        (0.5, -INF, INF),
        (-0.5, -INF, INF),
        (2.0, -INF, 0.0),
        (-2.0, -INF, 0.0),
        (0.5, INF, 0.0),
        (-0.5, INF, 0.0),
        (2.0, INF, INF),
        (-2.0, INF, INF),
        (-2.0, 0.5, NAN),
        (-TINY, -1.5, NAN),
        (-1.0, 0.5, NAN),
        (NAN, 1.0, NAN),
        (-1.0, NAN, NAN),
        (2.0, NAN, NAN),
        (NAN, INF, NAN),
        (INF, NAN, NAN),
        (-2.0, 3.0, -8.0),
        (-2.0, 4.0, 16.0),
        (-2.0, -1.0, -0.5),
        (3.0, 4.0, 81.0),
        (4.0, 0.5, 2.0),
        (2.0, -126.0, f64::from(f32::MIN_POSITIVE)),
        (-10.0, 1e30, INF),
        (-10.0, -1e30, 0.0),
    ] {
        exact(MathFn::Pow, [x, y], expected);
    }
}

/// What docs/math.md records, rounded up, from all inputs.
fn bound_f32(function: MathFn) -> f64 {
    match function {
        MathFn::Sqrt => 0.5,
        _ => 1.0,
    }
}

#[test]
fn surveys_of_f32_stay_within_their_bounds() {
    for function in MathFn::ALL {
        let found = survey(function, 4099);
        println!("{:8} {:.4} ulp at {:?} of {}", function.name(), found.max_ulp, found.worst_input, found.samples);
        assert!(found.max_ulp <= bound_f32(function), "{}: {found:?}", function.name());
    }
}

/// The third product of the reduction decides here which multiple of π/2 is nearest.
#[test]
fn a_large_angle_is_reduced_to_an_eighth_of_a_turn() {
    assert_eq!(eval_f32(MathFn::Sin, [6.148_401_7e32]), 0.585_945_07);
}
