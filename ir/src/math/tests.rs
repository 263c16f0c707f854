//! Special values, strided surveys of f32, and f64 against a high-precision reference.

use super::*;
use tiga_abi::DType;

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

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

#[test]
fn surveys_of_f32_stay_within_their_bounds() {
    for function in MathFn::ALL {
        let survey = survey(function, DType::F32, 4099).unwrap();
        println!("{:8} {:.4} ulp at {:?} of {}", function.name(), survey.max_ulp, survey.worst_input, survey.samples);
        assert!(survey.max_ulp <= 2.0, "{}: {survey:?}", function.name());
    }
}
