//! Running error analysis of one operation on elements.
//!
//! N. J. Higham, *Accuracy and Stability of Numerical Algorithms* (2nd ed.), §3.3: each value carries a bound on its
//! error, and the error of an operation is what its operands' errors make of it, plus its own rounding.

use tiga_abi::DType;
use tiga_ir::{Attrs, Op, Scalar, ops};

/// An element of the domain interpreter, and how far that of the default mode may be from it. A bound of 0 means the
/// same bits; an infinite one, that nothing is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounded {
    /// What the domain interpreter computes.
    pub value: Scalar,
    /// The greatest difference.
    pub bound: f64,
}

impl Bounded {
    /// The same bits in both modes.
    pub const fn exact(value: Scalar) -> Self {
        Self { value, bound: 0.0 }
    }

    /// Nothing is known.
    pub(super) const fn unknown(value: Scalar) -> Self {
        Self { value, bound: f64::INFINITY }
    }

    /// A float with a bound; nothing is known of what may overflow, or has.
    pub(super) fn float(value: Scalar, bound: f64) -> Self {
        let x = value.as_f64();
        let known = x.is_finite() && !bound.is_nan() && x.abs() + bound < largest(value.dtype()) / 2.0;
        if known { Self { value, bound } } else { Self::unknown(value) }
    }

    fn x(self) -> f64 {
        self.value.as_f64()
    }
}

/// The unit roundoff u: half the distance from 1 to the next float.
pub(super) fn roundoff(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2.0f64.powi(-11),
        DType::BF16 => 2.0f64.powi(-8),
        DType::F32 => f64::from(f32::EPSILON) / 2.0,
        DType::F64 | DType::Bool | DType::I32 | DType::I64 => f64::EPSILON / 2.0,
    }
}

/// The error of a rounding where results are denormal.
pub(super) fn underflow(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 2.0f64.powi(-24),
        DType::BF16 => 2.0f64.powi(-133),
        DType::F32 => f64::from(f32::from_bits(1)),
        DType::F64 | DType::Bool | DType::I32 | DType::I64 => f64::from_bits(1),
    }
}

/// The largest finite float.
pub(super) fn largest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 65504.0,
        DType::BF16 => f64::from(f32::from_bits(0x7f7f_0000)),
        DType::F32 => f64::from(f32::MAX),
        DType::F64 | DType::Bool | DType::I32 | DType::I64 => f64::MAX,
    }
}

/// An operation on bounded elements. `None` if the op works on no elements.
pub fn element(op: Op, attrs: &Attrs, args: &[Bounded]) -> Option<Bounded> {
    let values: Vec<Scalar> = args.iter().map(|a| a.value).collect();
    let value = op.eval(&values, attrs)?;
    let name = op.name();
    if op == ops::SELECT {
        // Only the chosen operand counts, if the choice is the same.
        let chosen = args[if args[0].value == Scalar::Bool(true) { 1 } else { 2 }];
        return Some(if args[0].bound == 0.0 { chosen } else { Bounded::unknown(value) });
    }
    if args.iter().all(|a| a.bound == 0.0) {
        // A product may stay unrounded in a fused multiply-add, also where a quotient by a power of two became one;
        // all else has the same operands, hence the same bits. Halves are rounded after each operation.
        let finite =
            value.dtype().is_float() && !value.dtype().is_half() && values.iter().all(|v| v.as_f64().is_finite());
        return Some(match finite {
            true if op == ops::MUL => rounded(value, 0.0, 1.0),
            true if op == ops::DIV && values[1].as_f64() != 0.0 && !is_normal(value) => {
                Bounded::float(value, underflow(value.dtype()))
            }
            _ => Bounded::exact(value),
        });
    }
    if args.iter().any(|a| !a.bound.is_finite()) {
        return Some(Bounded::unknown(value));
    }
    if !value.dtype().is_float() {
        let same = decided(name, attrs, args);
        return Some(if same { Bounded::exact(value) } else { Bounded::unknown(value) });
    }
    if args.iter().any(|a| a.value.is_nan() && a.bound == 0.0) && value.is_nan() && name != "pow" {
        return Some(Bounded::exact(value));
    }
    Some(propagated(name, value, args))
}

/// With what its operands' errors make of a value (`carried`), and its own rounding in both modes: `ulps` roundings
/// of a value that is itself known up to `carried`.
fn rounded(value: Scalar, carried: f64, ulps: f64) -> Bounded {
    let dtype = value.dtype();
    let own = ulps * (roundoff(dtype) * (value.as_f64().abs() + carried) + underflow(dtype));
    Bounded::float(value, carried + own)
}

/// Whether a quotient is neither denormal nor overflown.
fn is_normal(value: Scalar) -> bool {
    let x = value.as_f64();
    if value.dtype() == DType::F32 { (x as f32).is_normal() } else { x.is_normal() }
}

/// Whether a comparison or conversion gives the same for all operands within their bounds.
fn decided(name: &str, attrs: &Attrs, args: &[Bounded]) -> bool {
    match (name, args) {
        // A NaN without error is one in both modes.
        ("eq" | "ne" | "lt" | "le" | "gt" | "ge", [a, b]) if a.value.is_nan() || b.value.is_nan() => true,
        ("eq" | "ne" | "lt" | "le" | "gt" | "ge", [a, b]) => (a.x() - b.x()).abs() > a.bound + b.bound,
        ("cast", [a]) if attrs.to() == Some(&DType::Bool) => a.x().abs() > a.bound,
        ("cast", [a]) => (a.x() - a.bound).trunc() == (a.x() + a.bound).trunc(),
        _ => false,
    }
}

/// The rule of each operation on floats; the rounding of both modes is counted, hence two ulps. The math functions are
/// within one ulp (2 u) in each mode (`docs/math.md`); four more u are for this analysis, which itself runs in `f64`.
fn propagated(name: &str, value: Scalar, args: &[Bounded]) -> Bounded {
    let [a, b] = [args[0], *args.get(1).unwrap_or(&args[0])];
    let (x, y) = (a.x().abs(), b.x().abs());
    let carried = match name {
        "neg" | "abs" => return Bounded::float(value, a.bound),
        "min" | "max" => return Bounded::float(value, a.bound.max(b.bound)),
        "cast" => a.bound,
        "add" | "sub" => a.bound + b.bound,
        "mul" => x * b.bound + y * a.bound + a.bound * b.bound,
        "div" if y > b.bound => (a.bound + x / y * b.bound) / (y - b.bound),
        "sqrt" | "rsqrt" | "log" | "exp" | "tanh" | "sigmoid" | "sin" | "cos" | "pow" => {
            return spread(name, a, b).map_or(Bounded::unknown(value), |carried| rounded(value, carried, 8.0));
        }
        _ => return Bounded::unknown(value),
    };
    rounded(value, carried, 2.0)
}

/// How far the exact function moves while its arguments move within their bounds: all are monotone between corners,
/// except sine and cosine, whose slope is at most 1. `None` where a bound reaches out of the domain.
fn spread(name: &str, a: Bounded, b: Bounded) -> Option<f64> {
    let f: fn(f64, f64) -> f64 = match name {
        "sqrt" if a.x() >= a.bound => |x, _| x.sqrt(),
        "rsqrt" if a.x() > a.bound => |x, _| 1.0 / x.sqrt(),
        "log" if a.x() > a.bound => |x, _| x.ln(),
        "exp" => |x, _| x.exp(),
        "tanh" => |x, _| x.tanh(),
        "sigmoid" => |x, _| 1.0 / (1.0 + (-x).exp()),
        "sin" | "cos" => return Some(a.bound),
        "pow" if a.x() > a.bound => f64::powf,
        _ => return None,
    };
    let at = f(a.x(), b.x());
    let corners = [a.x() - a.bound, a.x() + a.bound].map(|x| [b.x() - b.bound, b.x() + b.bound].map(|y| f(x, y)));
    Some(corners.into_iter().flatten().fold(0.0, |most: f64, corner| most.max((corner - at).abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(value: f32, bound: f64) -> Bounded {
        Bounded { value: Scalar::F32(value), bound }
    }

    fn of(op: Op, args: &[Bounded]) -> Bounded {
        element(op, &Attrs::new(), args).unwrap()
    }

    #[test]
    fn equal_operands_give_equal_bits_except_for_products() {
        let (a, b) = (f32s(1.5, 0.0), f32s(0.1, 0.0));
        assert_eq!(of(ops::ADD, &[a, b]).bound, 0.0);
        let product = of(ops::MUL, &[a, b]).bound;
        assert!(product > 0.0 && product < 1e-7, "{product}");
    }

    #[test]
    fn bounds_grow_as_the_operation_says() {
        let (a, b) = (f32s(3.0, 0.5), f32s(2.0, 0.25));
        let close = |got: f64, expected: f64| assert!(got >= expected && got < expected * 1.001, "{got}, {expected}");
        close(of(ops::ADD, &[a, b]).bound, 0.75);
        close(of(ops::MUL, &[a, b]).bound, 3.0 * 0.25 + 2.0 * 0.5 + 0.125);
        close(of(ops::DIV, &[a, b]).bound, (0.5 + 1.5 * 0.25) / 1.75);
        assert_eq!(of(ops::MAX, &[a, b]).bound, 0.5);
        assert_eq!(of(ops::LT, &[a, b]).bound, 0.0);
        assert_eq!(of(ops::LT, &[a, f32s(3.6, 0.25)]).bound, f64::INFINITY);
        assert_eq!(of(ops::DIV, &[a, f32s(0.1, 0.25)]).bound, f64::INFINITY);
    }
}
