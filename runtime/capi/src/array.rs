//! Arrays as hosts describe them: where, of which type, in which shape.

use crate::border::slice;
use crate::status::Failure;
use smallvec::{SmallVec, smallvec};
use std::ffi::c_void;
use std::ops::Range;
use tiga_abi::DType;

/// Element types. Numbers are never reused.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum tiga_dtype {
    /// One byte, 0 or 1.
    TIGA_BOOL8 = 1,
    /// 32-bit integer.
    TIGA_I32 = 2,
    /// 64-bit integer.
    TIGA_I64 = 3,
    /// IEEE binary32.
    TIGA_F32 = 4,
    /// IEEE binary64.
    TIGA_F64 = 5,
    /// IEEE binary16.
    TIGA_F16 = 6,
    /// bfloat16: the upper half of a binary32.
    TIGA_BF16 = 7,
}

/// The type of a number.
pub(crate) fn dtype(number: i32) -> Result<DType, Failure> {
    let known = DType::ALL.into_iter().find(|dtype| self::number(*dtype) == number);
    known.ok_or_else(|| Failure::argument(format!("{number} is no element type")))
}

/// The number of a type.
pub(crate) fn number(dtype: DType) -> i32 {
    let number = match dtype {
        DType::Bool => tiga_dtype::TIGA_BOOL8,
        DType::I32 => tiga_dtype::TIGA_I32,
        DType::I64 => tiga_dtype::TIGA_I64,
        DType::F32 => tiga_dtype::TIGA_F32,
        DType::F64 => tiga_dtype::TIGA_F64,
        DType::F16 => tiga_dtype::TIGA_F16,
        DType::BF16 => tiga_dtype::TIGA_BF16,
    };
    number as i32
}

/// An array to read, in C order. Its memory is the host's.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_array {
    /// The first element, aligned to it; may be null if there is none.
    pub data: *const c_void,
    /// A tiga_dtype.
    pub dtype: i32,
    /// The number of axes; 0 for a single number.
    pub rank: i32,
    /// [rank] The extents, the set first; may be null if there is no axis.
    pub shape: *const i64,
    /// [rank] Elements from one index to the next, by axis; null for C order, and nothing else is taken.
    pub strides: *const i64,
}

/// An array to write, described as a tiga_array is.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct tiga_array_mut {
    /// The first element, aligned to it; may be null if there is none.
    pub data: *mut c_void,
    /// A tiga_dtype.
    pub dtype: i32,
    /// The number of axes; 0 for a single number.
    pub rank: i32,
    /// [rank] The extents, the set first; may be null if there is no axis.
    pub shape: *const i64,
    /// [rank] Elements from one index to the next, by axis; null for C order, and nothing else is taken.
    pub strides: *const i64,
}

/// A number for each axis; those of as many axes as arrays have as a rule take no memory of their own.
type Axes<T> = SmallVec<[T; 6]>;

/// An array whose description was read; not yet its memory.
#[derive(Debug)]
pub(crate) struct Described {
    pub(crate) data: *mut u8,
    pub(crate) dtype: DType,
    pub(crate) shape: Axes<usize>,
    pub(crate) strides: Axes<isize>,
    pub(crate) bytes: usize,
}

impl Described {
    /// Reads a description.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn read(array: &tiga_array) -> Result<Self, Failure> {
        let dtype = dtype(array.dtype)?;
        let rank = usize::try_from(array.rank);
        let rank = rank.map_err(|_| Failure::argument(format!("an array cannot have {} axes", array.rank)))?;
        // SAFETY: by the contract of the caller, each holds `rank` numbers.
        let shape = unsafe { slice(array.shape, rank, "shape") }?;
        let extent = |n: &i64| {
            usize::try_from(*n).map_err(|_| Failure::argument(format!("an extent of an array cannot be {n}")))
        };
        let shape = shape.iter().map(extent).collect::<Result<Axes<usize>, _>>()?;
        let strides = if array.strides.is_null() {
            c_order(&shape)
        } else {
            // SAFETY: as above.
            unsafe { slice(array.strides, rank, "strides") }?.iter().map(|n| *n as isize).collect()
        };
        let empty = shape.contains(&0);
        let bytes = shape.iter().try_fold(dtype.bytes(), |bytes, extent| bytes.checked_mul(*extent));
        let bytes = if empty { Some(0) } else { bytes.filter(|bytes| isize::try_from(*bytes).is_ok()) };
        let bytes =
            bytes.ok_or_else(|| Failure::argument(format!("an array of shape {shape:?} fits into no memory")))?;
        if bytes > 0 && array.data.is_null() {
            return Err(Failure::null("data"));
        }
        Ok(Self { data: array.data.cast_mut().cast(), dtype, shape, strides, bytes })
    }

    /// The addresses it covers.
    pub(crate) fn range(&self) -> Range<usize> {
        let start = self.data.addr();
        start..start.saturating_add(self.bytes)
    }
}

impl From<&tiga_array_mut> for tiga_array {
    fn from(array: &tiga_array_mut) -> Self {
        let tiga_array_mut { data, dtype, rank, shape, strides } = *array;
        Self { data, dtype, rank, shape, strides }
    }
}

fn c_order(shape: &[usize]) -> Axes<isize> {
    let mut strides: Axes<isize> = smallvec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis].saturating_mul(isize::try_from(shape[axis]).unwrap_or(isize::MAX));
    }
    strides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_has_a_number() {
        for one in DType::ALL {
            assert_eq!(dtype(number(one)).unwrap(), one);
        }
        assert!(dtype(0).is_err() && dtype(99).is_err());
    }
}
