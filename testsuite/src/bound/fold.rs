//! The error of a reduction by any tree.
//!
//! Higham, §4.2: the sum of n terms in any order is within γ_(n−1)·Σ|t| of the exact one, γ_k = k·u/(1 − k·u); with a
//! fused multiply-add at each leaf the roundings are no more. Two modes are two such sums, so they are within twice
//! that, and the terms' own bounds come on top.

use super::element::{Bounded, element, largest, roundoff, underflow};
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Key, Op, Scalar, ops};
use tigac::builtin::BuiltinReducer;

/// A reducer on bounded terms of one element type, in traversal order.
pub fn fold(reducer: BuiltinReducer, dtype: DType, terms: &[Bounded]) -> Bounded {
    let count = Scalar::I64(terms.len() as i64);
    if dtype.is_half() && matches!(reducer, BuiltinReducer::Sum | BuiltinReducer::Mean | BuiltinReducer::Prod) {
        let wide: Vec<Bounded> = terms.iter().map(|t| cast(*t, DType::F32)).collect();
        return cast(fold(reducer, DType::F32, &wide), dtype);
    }
    match reducer {
        BuiltinReducer::Count => Bounded::exact(count),
        BuiltinReducer::Sum => sum(dtype, terms),
        BuiltinReducer::Mean if terms.is_empty() => Bounded::exact(Scalar::from_i64(dtype, 0)),
        BuiltinReducer::Mean => {
            let count = cast(Bounded::exact(count), dtype);
            element(ops::DIV, &Attrs::new(), &[sum(dtype, terms), count]).expect("divisions work on elements")
        }
        BuiltinReducer::Prod => product(dtype, terms),
        BuiltinReducer::Max => extremum(ops::MAX, dtype, terms, f64::NEG_INFINITY, i64::MIN),
        BuiltinReducer::Min => extremum(ops::MIN, dtype, terms, f64::INFINITY, i64::MAX),
        BuiltinReducer::First => terms.first().copied().unwrap_or(Bounded::exact(Scalar::from_i64(dtype, 0))),
    }
}

/// A term as another type; one that has all its values adds no error.
pub(super) fn cast(term: Bounded, to: DType) -> Bounded {
    if ops::lossless(term.value.dtype(), to) {
        return Bounded { value: term.value.cast(to), bound: term.bound };
    }
    let to = Attrs::new().with(Key::To, Attr::DType(to));
    element(ops::CAST, &to, &[term]).expect("casts work on elements")
}

/// The value of the left fold.
fn left(op: Op, empty: Scalar, terms: &[Bounded]) -> Scalar {
    let combine = |a, b| op.eval(&[a, b], &Attrs::new()).expect("reducers work on elements");
    terms.iter().map(|t| t.value).reduce(combine).unwrap_or(empty)
}

/// Integers are associative, and one term is itself: the same bits, unless nothing is known of a term.
fn plain(value: Scalar, terms: &[Bounded]) -> Option<Bounded> {
    if terms.iter().any(|t| !t.bound.is_finite()) {
        return Some(Bounded::unknown(value));
    }
    match terms {
        [] => Some(Bounded::exact(value)),
        [one] => Some(Bounded { value, bound: one.bound }),
        _ => (!value.dtype().is_float()).then(|| Bounded::exact(value)),
    }
}

fn gamma(n: usize, dtype: DType) -> f64 {
    let nu = n as f64 * roundoff(dtype);
    nu / (1.0 - nu)
}

fn sum(dtype: DType, terms: &[Bounded]) -> Bounded {
    let value = left(ops::ADD, Scalar::from_i64(dtype, 0), terms);
    if let Some(done) = plain(value, terms) {
        return done;
    }
    let finite = terms.iter().map(|t| t.value.as_f64()).filter(|x| x.is_finite());
    let carried: f64 = terms.iter().map(|t| t.bound).sum();
    let size = finite.map(f64::abs).sum::<f64>() + carried;
    if size >= largest(dtype) / 2.0 {
        return Bounded::unknown(value);
    }
    if terms.iter().any(|t| !t.value.as_f64().is_finite()) {
        // Infinities and NaNs win in any order, as the finite rest cannot overflow.
        return Bounded::exact(value);
    }
    Bounded::float(value, carried + 2.0 * gamma(terms.len(), dtype) * size + underflow(dtype))
}

/// Each partial product lies between that of the factors below 1 and that of those above; if both are normal, every
/// factor and every multiplication adds a relative error of u.
fn product(dtype: DType, terms: &[Bounded]) -> Bounded {
    let value = left(ops::MUL, Scalar::from_i64(dtype, 1), terms);
    if let Some(done) = plain(value, terms) {
        return done;
    }
    let sizes = || terms.iter().map(|t| t.value.as_f64().abs());
    if terms.iter().any(|t| t.value.is_nan()) {
        return Bounded::exact(value);
    }
    let greatest: f64 = terms.iter().map(|t| (t.value.as_f64().abs() + t.bound).max(1.0)).product();
    let least: f64 = terms.iter().map(|t| (t.value.as_f64().abs() - t.bound).min(1.0)).product();
    let normal = if dtype == DType::F32 { f64::from(f32::MIN_POSITIVE) } else { f64::MIN_POSITIVE };
    if greatest >= largest(dtype) / 2.0 {
        return Bounded::unknown(value);
    }
    if terms.iter().any(|t| t.value.as_f64() == 0.0 && t.bound == 0.0) {
        return Bounded::float(value, underflow(dtype));
    }
    if least < 2.0 * normal || terms.iter().any(|t| t.value.as_f64().abs() <= t.bound) {
        return Bounded::unknown(value);
    }
    let exact: f64 = sizes().product();
    let most: f64 = terms.iter().map(|t| t.value.as_f64().abs() + t.bound).product();
    let own = 2.0 * gamma(terms.len(), dtype) + 2.0 * gamma(terms.len(), DType::F64);
    Bounded::float(value, (most - exact) + own * most)
}

fn extremum(op: Op, dtype: DType, terms: &[Bounded], empty: f64, empty_int: i64) -> Bounded {
    let empty = match dtype {
        DType::I32 => Scalar::I32(if empty_int < 0 { i32::MIN } else { i32::MAX }),
        DType::I64 => Scalar::I64(empty_int),
        _ => Scalar::from_f64(dtype, empty),
    };
    let value = left(op, empty, terms);
    if let Some(done) = plain(value, terms) {
        return done;
    }
    if value.is_nan() {
        return Bounded::exact(value);
    }
    let bound = terms.iter().map(|t| t.bound).fold(0.0, f64::max);
    match value.as_f64().is_finite() {
        true => Bounded::float(value, bound),
        // An infinite extremum is a term without error.
        false => Bounded::exact(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exact(values: &[f32]) -> Vec<Bounded> {
        values.iter().map(|v| Bounded::exact(Scalar::F32(*v))).collect()
    }

    fn of(reducer: BuiltinReducer, values: &[f32]) -> f64 {
        fold(reducer, DType::F32, &exact(values)).bound
    }

    #[test]
    fn any_tree_lies_within_the_bound_and_a_lost_term_does_not() {
        let mut rng = fastrand::Rng::with_seed(1);
        for _ in 0..100 {
            let values: Vec<f32> = (0..40).map(|_| rng.f32() * 4.0 - 2.0).collect();
            let folded = fold(BuiltinReducer::Sum, DType::F32, &exact(&values));
            let other: f32 = values.chunks(7).map(|c| c.iter().rev().sum::<f32>()).sum();
            assert!((folded.value.as_f64() - f64::from(other)).abs() <= folded.bound);
            let lost: f32 = values[1..].iter().sum();
            assert!((folded.value.as_f64() - f64::from(lost)).abs() > folded.bound || values[0].abs() < 1e-4);
        }
    }

    #[test]
    fn what_no_order_changes_is_exact() {
        for values in [&[][..], &[0.1], &[0.1, f32::NAN], &[f32::INFINITY, 1.0, f32::NEG_INFINITY]] {
            assert_eq!(of(BuiltinReducer::Sum, values), 0.0, "{values:?}");
        }
        assert_eq!(of(BuiltinReducer::Max, &[0.1, 0.2]), 0.0);
        assert_eq!(of(BuiltinReducer::Prod, &[1e30, 1e30, 1e-30]), f64::INFINITY);
        assert_eq!(of(BuiltinReducer::Sum, &[3e38, 3e38, -3e38]), f64::INFINITY);
    }
}
