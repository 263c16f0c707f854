//! Two arrays compared element by element: what `--expect` reports.

use crate::{Array, ArrayType, Scalar};
use half::{bf16, f16};

/// How far an element may lie from the expected one: `atol + rtol * |expected|`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tolerance {
    /// Relative to the expected value.
    pub rtol: f64,
    /// Absolute.
    pub atol: f64,
}

/// One element of both arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Its position, a number per axis.
    pub index: Vec<usize>,
    /// What was computed.
    pub got: Scalar,
    /// What was expected.
    pub expected: Scalar,
    /// `|got - expected|`; infinite if only one is NaN, or if they are different and one is infinite.
    pub error: f64,
    /// Floats between the two, in the type computed in; none for integers and NaN.
    pub ulps: Option<u64>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Elements compared.
    pub count: usize,
    /// Elements beyond the tolerance.
    pub beyond: usize,
    /// The largest error.
    pub max_abs_error: f64,
    /// The first element beyond the tolerance, in C order.
    pub first: Option<Pair>,
    /// The element whose error exceeds its tolerance most, or comes closest to it; none in an empty array.
    pub worst: Option<Pair>,
}

/// The arrays cannot be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the result has the shape {got:?}, the expected array {expected:?}")]
pub struct ShapesDiffer {
    /// The shape computed.
    pub got: Vec<usize>,
    /// The shape expected.
    pub expected: Vec<usize>,
}

/// Compares arrays of any element types. NaN equals NaN, zeros of either sign are equal, infinities equal themselves.
///
/// # Errors
/// [`ShapesDiffer`].
pub fn compare(got: &Array, expected: &Array, tolerance: Tolerance) -> Result<Comparison, ShapesDiffer> {
    if got.shape() != expected.shape() {
        return Err(ShapesDiffer { got: got.shape().to_vec(), expected: expected.shape().to_vec() });
    }
    let (mut beyond, mut max_abs_error, mut first) = (0, 0.0_f64, None);
    let mut worst: Option<(f64, usize)> = None;
    for position in 0..got.len() {
        let (a, b) = (got.get(position), expected.get(position));
        let error = distance(a, b);
        let allowed = tolerance.atol + tolerance.rtol * b.to_f64().abs();
        // Not `error > allowed`: a NaN or infinite tolerance must not pass what differs.
        let within = error == 0.0 || (error.is_finite() && error <= allowed);
        if !within {
            beyond += 1;
            first = first.or(Some(position));
        }
        max_abs_error = max_abs_error.max(error);
        let excess = if error == 0.0 {
            f64::NEG_INFINITY
        } else if within {
            error - allowed
        } else {
            error
        };
        if worst.is_none_or(|(most, _)| excess > most) {
            worst = Some((excess, position));
        }
    }
    let pair = |position| pair(got, expected, position);
    Ok(Comparison {
        count: got.len(),
        beyond,
        max_abs_error,
        first: first.map(pair),
        worst: worst.map(|(_, position)| pair(position)),
    })
}

fn pair(got: &Array, expected: &Array, position: usize) -> Pair {
    let (a, b) = (got.get(position), expected.get(position));
    let mut rest = position;
    let mut index: Vec<usize> = got
        .shape()
        .iter()
        .rev()
        .map(|extent| {
            let i = rest % extent;
            rest /= extent;
            i
        })
        .collect();
    index.reverse();
    Pair { index, got: a, expected: b, error: distance(a, b), ulps: ulps(got.array_type(), a, b) }
}

fn distance(a: Scalar, b: Scalar) -> f64 {
    if let (Scalar::Int(a), Scalar::Int(b)) = (a, b) {
        return a.abs_diff(b) as f64;
    }
    let (a, b) = (a.to_f64(), b.to_f64());
    if a == b || (a.is_nan() && b.is_nan()) {
        0.0
    } else if a.is_nan() || b.is_nan() {
        f64::INFINITY
    } else {
        (a - b).abs()
    }
}

/// The number of steps between two floats of type `of`.
fn ulps(of: ArrayType, a: Scalar, b: Scalar) -> Option<u64> {
    if a.to_f64().is_nan() || b.to_f64().is_nan() {
        return None;
    }
    // Sign and magnitude as one ordered number; both zeros are 0.
    let ordered = |magnitude: u64, negative: bool| if negative { -(magnitude as i64) } else { magnitude as i64 };
    let rank = |x: Scalar| match of {
        ArrayType::F16 => {
            let x = f16::from_f32(x.to_f32().0);
            Some(ordered(u64::from(x.to_bits() & 0x7fff), x.is_sign_negative()))
        }
        ArrayType::BF16 => {
            let x = bf16::from_f32(x.to_f32().0);
            Some(ordered(u64::from(x.to_bits() & 0x7fff), x.is_sign_negative()))
        }
        ArrayType::F32 => {
            let x = x.to_f32().0;
            Some(ordered(u64::from(x.abs().to_bits()), x.is_sign_negative()))
        }
        ArrayType::F64 => Some(ordered(x.to_f64().abs().to_bits(), x.to_f64().is_sign_negative())),
        _ => None,
    };
    Some(rank(a)?.abs_diff(rank(b)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Elements;

    fn f64s(v: &[f64]) -> Array {
        Array::vector(Elements::F64(v.to_vec()))
    }

    fn f32s(v: &[f32]) -> Array {
        Array::new(vec![v.len() / 2, 2], Elements::F32(v.to_vec())).unwrap()
    }

    #[test]
    fn equal_arrays_have_nothing_beyond() {
        let v = f64s(&[0.0, f64::NAN, f64::INFINITY, -1.5]);
        let same = compare(&v, &f64s(&[-0.0, f64::NAN, f64::INFINITY, -1.5]), Tolerance::default()).unwrap();
        assert_eq!((same.count, same.beyond, same.max_abs_error, same.first), (4, 0, 0.0, None));
        let none = compare(&f64s(&[]), &f64s(&[]), Tolerance::default()).unwrap();
        assert_eq!((none.count, none.worst), (0, None));
    }

    #[test]
    fn first_and_worst_are_named() {
        let got = f32s(&[1.0, 2.0 + f32::EPSILON * 4.0, 3.0, 5.0]);
        let expected = Array::new(vec![2, 2], Elements::F64(vec![1.0, 2.0, 3.0, 4.0])).unwrap();
        let found = compare(&got, &expected, Tolerance::default()).unwrap();
        let (first, worst) = (found.first.unwrap(), found.worst.unwrap());
        assert_eq!((found.beyond, found.max_abs_error), (2, 1.0));
        assert_eq!((first.index, first.ulps), (vec![0, 1], Some(2)));
        assert_eq!((worst.index, worst.got, worst.expected), (vec![1, 1], Scalar::F32(5.0), Scalar::F64(4.0)));
        let loose = compare(&got, &expected, Tolerance { rtol: 0.25, atol: 0.0 }).unwrap();
        assert_eq!((loose.beyond, loose.worst.unwrap().index), (0, vec![1, 1]));
        assert_eq!(compare(&got, &expected, Tolerance { rtol: 0.0, atol: 0.5 }).unwrap().beyond, 1);
    }

    #[test]
    fn no_tolerance_excuses_nan_or_infinity() {
        let loose = Tolerance { rtol: 1.0, atol: f64::INFINITY };
        let got = f64s(&[f64::NAN, 1.0, f64::INFINITY, f64::NEG_INFINITY]);
        let found = compare(&got, &f64s(&[1.0, f64::NAN, 1.0, f64::INFINITY]), loose).unwrap();
        assert_eq!((found.beyond, found.max_abs_error), (4, f64::INFINITY));
        assert_eq!(found.worst.unwrap().ulps, None);
    }

    #[test]
    fn integers_are_compared_exactly() {
        let (a, b) = (Array::vector(Elements::I64(vec![i64::MAX])), Array::vector(Elements::I64(vec![i64::MAX - 1])));
        let found = compare(&a, &b, Tolerance::default()).unwrap();
        assert_eq!((found.beyond, found.max_abs_error), (1, 1.0));
        let zero = Tolerance::default();
        assert!(compare(&a, &f64s(&[1.0, 2.0]), zero).is_err());
        assert_eq!(ulps(ArrayType::F16, Scalar::F32(1.0), Scalar::F32(1.0 + 1.0 / 512.0)), Some(2));
        assert_eq!(ulps(ArrayType::BF16, Scalar::F32(1.0), Scalar::F32(1.0 - 1.0 / 256.0)), Some(1));
        assert_eq!(ulps(ArrayType::F64, Scalar::F64(-0.0), Scalar::F64(f64::from_bits(2))), Some(2));
    }
}
