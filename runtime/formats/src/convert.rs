//! Arrays of one element type read as another.

use crate::scalar::is_widening;
use crate::{Array, ArrayType, Elements, Scalar, WouldNotFit, room};
use half::{bf16, f16};
use tiga_abi::DType;

/// What a conversion may do to values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// Only between types where every value has an equal one: `u8` to `f32`, `i32` to `i64`, not `f64` to `f32`; and
    /// from `f32` to `f16` and `bf16`, if every value of this array has an equal one.
    Widening,
    /// Between any types, if every value of this array has an equal one.
    Exact,
    /// To the nearest float, infinite where the range ends; integers and bools only from equal values.
    Nearest,
}

/// An array that does not convert.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ConvertError {
    /// Some values of the type would change.
    #[error("{from} does not convert to {to} without loss: where that is meant, {}", advice(*.from, *.to))]
    Type {
        /// The type it has.
        from: ArrayType,
        /// The type asked for.
        to: DType,
    },
    /// This value would change.
    #[error("element {position} of the {from} array, {value}, has no equal {to}{}", rounding(*.from, *.to))]
    Value {
        /// The position in C order.
        position: usize,
        /// The value.
        value: Scalar,
        /// The type it has.
        from: ArrayType,
        /// The type asked for.
        to: DType,
    },
    /// There is no memory for it.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
}

/// The end of a message on a value between those of `to`.
fn rounding(from: ArrayType, to: DType) -> String {
    if to.is_float() { format!("; where rounding is meant, {}", advice(from, to)) } else { String::new() }
}

/// What converts with loss: NumPy where it has both types, else the model.
fn advice(from: ArrayType, to: DType) -> String {
    match (from, numpy(to)) {
        (ArrayType::BF16, _) | (_, None) => format!("take `{}` in the model and write `{to}(x)` there", taken_as(from)),
        (_, Some(name)) => format!("NumPy's `x.astype('{name}')` does it"),
    }
}

/// What NumPy calls an element type, if it has it.
fn numpy(to: DType) -> Option<&'static str> {
    match to {
        DType::Bool => Some("bool"),
        DType::I32 => Some("int32"),
        DType::I64 => Some("int64"),
        DType::F16 => Some("float16"),
        DType::BF16 => None,
        DType::F32 => Some("float32"),
        DType::F64 => Some("float64"),
    }
}

/// The element type that takes every value of an array.
fn taken_as(from: ArrayType) -> DType {
    match from {
        ArrayType::Bool => DType::Bool,
        ArrayType::U8 | ArrayType::I32 => DType::I32,
        ArrayType::I64 => DType::I64,
        ArrayType::F16 => DType::F16,
        ArrayType::BF16 => DType::BF16,
        ArrayType::F32 => DType::F32,
        ArrayType::F64 => DType::F64,
    }
}

impl Array {
    /// The same values as `to`. An array of that type comes back as it is.
    ///
    /// # Errors
    /// [`ConvertError`] where `conversion` does not allow it.
    pub fn convert(self, to: DType, conversion: Conversion) -> Result<Array, ConvertError> {
        if self.array_type() == ArrayType::from(to) { Ok(self) } else { self.converted(to, conversion) }
    }

    /// The same in an array of its own.
    pub(crate) fn converted(&self, to: DType, conversion: Conversion) -> Result<Array, ConvertError> {
        let from = self.array_type();
        if from == ArrayType::from(to) {
            return Ok(self.copied()?);
        }
        // Of files that have no bf16, such as .npy, an f32 array holds one.
        let kept_as_single = to.is_half() && from == ArrayType::F32;
        if conversion == Conversion::Widening && !is_widening(from, to) && !kept_as_single {
            return Err(ConvertError::Type { from, to });
        }
        let inexact = conversion == Conversion::Nearest;
        let elements = match to {
            DType::Bool => Elements::Bool(self.each(to, |x| x.to_int()?.try_into().ok().filter(|b| *b < 2))?),
            DType::I32 => Elements::I32(self.each(to, |x| x.to_int()?.try_into().ok())?),
            DType::I64 => Elements::I64(self.each(to, Scalar::to_int)?),
            DType::F16 => Elements::F16(self.each(to, |x| allowed(x.to_half(f16::from_f32, f16::to_f32), inexact))?),
            DType::BF16 => {
                Elements::BF16(self.each(to, |x| allowed(x.to_half(bf16::from_f32, bf16::to_f32), inexact))?)
            }
            DType::F32 => Elements::F32(self.each(to, |x| allowed(x.to_f32(), inexact))?),
            DType::F64 => Elements::F64(self.each(to, |x| allowed(x.to_f64_exactly(), inexact))?),
        };
        Ok(Array::new(self.shape().to_vec(), elements).expect("the number of elements did not change"))
    }

    fn each<T>(&self, to: DType, convert: impl Fn(Scalar) -> Option<T>) -> Result<Vec<T>, ConvertError> {
        let from = self.array_type();
        let one = |position| {
            let value = self.get(position);
            convert(value).ok_or(ConvertError::Value { position, value, from, to })
        };
        room::collected_good(self.len(), (0..self.len()).map(one))
    }
}

/// The rounded value, if it is the same one or need not be.
fn allowed<T>((rounded, exact): (T, bool), inexact: bool) -> Option<T> {
    (exact || inexact).then_some(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f64s(v: &[f64]) -> Array {
        Array::vector(Elements::F64(v.to_vec()))
    }

    #[test]
    fn widening_is_a_matter_of_types() {
        let bytes = Array::vector(Elements::U8(vec![0, 1, 255]));
        let floats = bytes.clone().convert(DType::F32, Conversion::Widening).unwrap();
        assert_eq!(floats.elements(), &Elements::F32(vec![0.0, 1.0, 255.0]));
        let ints = Array::vector(Elements::I32(vec![i32::MIN, i32::MAX]));
        let wide = ints.clone().convert(DType::I64, Conversion::Widening).unwrap();
        assert_eq!(wide.elements(), &Elements::I64(vec![i64::from(i32::MIN), i64::from(i32::MAX)]));
        assert_eq!(wide.convert(DType::I32, Conversion::Exact).unwrap(), ints);
        let refused = f64s(&[0.5]).convert(DType::F32, Conversion::Widening);
        assert_eq!(refused, Err(ConvertError::Type { from: ArrayType::F64, to: DType::F32 }));
        assert!(ints.convert(DType::F32, Conversion::Widening).is_err());
        assert!(bytes.convert(DType::Bool, Conversion::Widening).is_err());
    }

    #[test]
    fn halves_are_read_from_singles_that_are_halves() {
        let singles = Array::vector(Elements::F32(vec![1.5, -0.0, f32::INFINITY, 65504.0]));
        let f16s = singles.clone().convert(DType::F16, Conversion::Widening).unwrap();
        let expected: Vec<f16> = [1.5, -0.0, f32::INFINITY, 65504.0].map(f16::from_f32).to_vec();
        assert_eq!(f16s.elements(), &Elements::F16(expected));
        assert_eq!(f16s.convert(DType::F32, Conversion::Widening).unwrap(), singles);
        let refused = singles.convert(DType::BF16, Conversion::Widening);
        assert!(matches!(refused, Err(ConvertError::Value { position: 3, .. })), "{refused:?}");
        let rounded = f64s(&[0.1]).convert(DType::BF16, Conversion::Nearest).unwrap();
        assert_eq!(rounded.elements(), &Elements::BF16(vec![bf16::from_f32(0.1)]));
        assert!(f64s(&[0.5]).convert(DType::F16, Conversion::Widening).is_err());
    }

    /// What is advised is possible: the type named takes the array, or NumPy has both types.
    #[test]
    fn what_is_advised_is_possible() {
        let advice = |array: Array, to| array.convert(to, Conversion::Widening).unwrap_err().to_string();
        let singles = || Array::vector(Elements::F32(vec![0.1]));
        let bf16s = || Array::vector(Elements::BF16(vec![bf16::from_f32(0.1)]));
        for (array, to, expected) in [
            (f64s(&[0.1]), DType::BF16, "take `f64` in the model and write `bf16(x)` there"),
            (f64s(&[0.1]), DType::F16, "NumPy's `x.astype('float16')` does it"),
            (singles(), DType::BF16, "take `f32` in the model and write `bf16(x)` there"),
            (singles(), DType::F16, "NumPy's `x.astype('float16')` does it"),
            (bf16s(), DType::F16, "take `bf16` in the model and write `f16(x)` there"),
            (bf16s(), DType::I64, "take `bf16` in the model and write `i64(x)` there"),
            (Array::vector(Elements::F16(vec![f16::ONE])), DType::BF16, "take `f16` in the model"),
            (Array::vector(Elements::U8(vec![1])), DType::Bool, "NumPy's `x.astype('bool')` does it"),
        ] {
            let found = advice(array, to);
            assert!(found.contains(expected), "{found}");
        }
        let all = [
            Elements::Bool(vec![1]),
            Elements::U8(vec![255]),
            Elements::I32(vec![i32::MIN]),
            Elements::I64(vec![i64::MAX]),
            Elements::F16(vec![f16::MAX]),
            Elements::BF16(vec![bf16::MAX]),
            Elements::F32(vec![f32::MAX]),
            Elements::F64(vec![f64::MAX]),
        ];
        for elements in all {
            let array = Array::vector(elements);
            let taken = taken_as(array.array_type());
            assert!(array.convert(taken, Conversion::Widening).is_ok(), "{taken}");
        }
        let whole = f64s(&[0.5]).convert(DType::I32, Conversion::Exact).unwrap_err().to_string();
        assert_eq!(whole, "element 0 of the f64 array, 0.5, has no equal i32");
    }

    #[test]
    fn exact_is_a_matter_of_values() {
        let halves = f64s(&[0.5, f64::NAN, f64::INFINITY, -0.0]).convert(DType::F32, Conversion::Exact).unwrap();
        let Elements::F32(v) = halves.elements() else { panic!("not f32") };
        assert!(v[0] == 0.5 && v[1].is_nan() && v[2] == f32::INFINITY && v[3].to_bits() == 1 << 31);
        for (array, to, position) in [
            (f64s(&[1.0, 0.1]), DType::F32, 1),
            (f64s(&[1e300]), DType::F32, 0),
            (f64s(&[3.0, -0.0]), DType::I64, 1),
            (f64s(&[9_223_372_036_854_775_808.0]), DType::I64, 0),
            (f64s(&[f64::NAN]), DType::I32, 0),
            (f64s(&[2_147_483_648.0]), DType::I32, 0),
            (f64s(&[2.0]), DType::Bool, 0),
            (Array::vector(Elements::I32(vec![7, 16_777_217])), DType::F32, 1),
            (Array::vector(Elements::I64(vec![i64::MAX])), DType::F64, 0),
            (Array::vector(Elements::I64(vec![i64::MAX])), DType::F32, 0),
        ] {
            match array.clone().convert(to, Conversion::Exact) {
                Err(ConvertError::Value { position: found, .. }) => assert_eq!(found, position, "{array:?}"),
                other => panic!("{array:?} as {to}: {other:?}"),
            }
        }
        assert!(Array::vector(Elements::I64(vec![i64::MIN, 1 << 62])).convert(DType::F32, Conversion::Exact).is_ok());
        assert!(f64s(&[-9_223_372_036_854_775_808.0]).convert(DType::I64, Conversion::Exact).is_ok());
        assert!(f64s(&[1.0, 0.0]).convert(DType::Bool, Conversion::Exact).is_ok());
    }

    #[test]
    fn nearest_rounds_floats_only() {
        let rounded = f64s(&[0.1, 1e300]).convert(DType::F32, Conversion::Nearest).unwrap();
        assert_eq!(rounded.elements(), &Elements::F32(vec![0.1, f32::INFINITY]));
        assert!(f64s(&[0.1]).convert(DType::I32, Conversion::Nearest).is_err());
    }
}
