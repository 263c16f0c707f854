//! A dense array in C order, as array files hold it.

use crate::{Scalar, WouldNotFit, room};
use bytemuck::{cast_slice, cast_slice_mut};
use half::{bf16, f16};
use std::fmt;
use tiga_abi::DType;

/// The type of one element in a file: the element types of Tiga and `u8`, which only files use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayType {
    /// One byte, 0 or 1.
    Bool,
    /// One byte, 0 to 255.
    U8,
    /// 32-bit integer.
    I32,
    /// 64-bit integer.
    I64,
    /// IEEE binary16.
    F16,
    /// The upper half of a binary32.
    BF16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl ArrayType {
    /// The element type of Tiga that this is, if it is one.
    pub const fn dtype(self) -> Option<DType> {
        match self {
            ArrayType::Bool => Some(DType::Bool),
            ArrayType::U8 => None,
            ArrayType::I32 => Some(DType::I32),
            ArrayType::I64 => Some(DType::I64),
            ArrayType::F16 => Some(DType::F16),
            ArrayType::BF16 => Some(DType::BF16),
            ArrayType::F32 => Some(DType::F32),
            ArrayType::F64 => Some(DType::F64),
        }
    }

    /// Bytes of one element.
    pub const fn bytes(self) -> usize {
        match self {
            ArrayType::Bool | ArrayType::U8 => 1,
            ArrayType::F16 | ArrayType::BF16 => 2,
            ArrayType::I32 | ArrayType::F32 => 4,
            ArrayType::I64 | ArrayType::F64 => 8,
        }
    }
}

impl From<DType> for ArrayType {
    fn from(dtype: DType) -> Self {
        match dtype {
            DType::Bool => ArrayType::Bool,
            DType::I32 => ArrayType::I32,
            DType::I64 => ArrayType::I64,
            DType::F16 => ArrayType::F16,
            DType::BF16 => ArrayType::BF16,
            DType::F32 => ArrayType::F32,
            DType::F64 => ArrayType::F64,
        }
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.dtype().map_or("u8", DType::name))
    }
}

/// The elements of an array, each vector aligned to its element.
#[derive(Clone, Debug, PartialEq)]
pub enum Elements {
    /// Bytes 0 and 1.
    Bool(Vec<u8>),
    /// Bytes.
    U8(Vec<u8>),
    /// 32-bit integers.
    I32(Vec<i32>),
    /// 64-bit integers.
    I64(Vec<i64>),
    /// IEEE binary16.
    F16(Vec<f16>),
    /// Upper halves of binary32.
    BF16(Vec<bf16>),
    /// IEEE binary32.
    F32(Vec<f32>),
    /// IEEE binary64.
    F64(Vec<f64>),
}

/// Runs `$body` with `$v` bound to the vector, whatever its element type.
macro_rules! for_elements {
    ($elements:expr, $v:ident => $body:expr) => {
        match $elements {
            $crate::Elements::Bool($v) | $crate::Elements::U8($v) => $body,
            $crate::Elements::I32($v) => $body,
            $crate::Elements::I64($v) => $body,
            $crate::Elements::F16($v) => $body,
            $crate::Elements::BF16($v) => $body,
            $crate::Elements::F32($v) => $body,
            $crate::Elements::F64($v) => $body,
        }
    };
}

/// The same, for bodies that give a vector of the same element type.
macro_rules! map_elements {
    ($elements:expr, $v:ident => $body:expr) => {
        match $elements {
            $crate::Elements::Bool($v) => $crate::Elements::Bool($body),
            $crate::Elements::U8($v) => $crate::Elements::U8($body),
            $crate::Elements::I32($v) => $crate::Elements::I32($body),
            $crate::Elements::I64($v) => $crate::Elements::I64($body),
            $crate::Elements::F16($v) => $crate::Elements::F16($body),
            $crate::Elements::BF16($v) => $crate::Elements::BF16($body),
            $crate::Elements::F32($v) => $crate::Elements::F32($body),
            $crate::Elements::F64($v) => $crate::Elements::F64($body),
        }
    };
}
pub(crate) use map_elements;

impl Elements {
    /// The number of elements.
    pub fn len(&self) -> usize {
        for_elements!(self, v => v.len())
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The type of one element.
    pub fn array_type(&self) -> ArrayType {
        match self {
            Elements::Bool(_) => ArrayType::Bool,
            Elements::U8(_) => ArrayType::U8,
            Elements::I32(_) => ArrayType::I32,
            Elements::I64(_) => ArrayType::I64,
            Elements::F16(_) => ArrayType::F16,
            Elements::BF16(_) => ArrayType::BF16,
            Elements::F32(_) => ArrayType::F32,
            Elements::F64(_) => ArrayType::F64,
        }
    }
}

/// Why parts do not make an array.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArrayError {
    /// The shape asks for another number of elements.
    #[error("{found} elements do not fill the shape {}", shape_text(.shape))]
    Length {
        /// The elements given.
        found: usize,
        /// The shape given.
        shape: Vec<usize>,
    },
    /// The leading extent is not the number of things the array is indexed by.
    #[error("the leading extent of {} is not {expected}, the number of {what}", shape_text(.shape))]
    Leading {
        /// The shape found.
        shape: Vec<usize>,
        /// The extent expected.
        expected: usize,
        /// What is counted.
        what: &'static str,
    },
    /// There is no memory for it.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
}

/// A dense array in C order (the last axis is contiguous).
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    shape: Vec<usize>,
    elements: Elements,
}

impl Array {
    /// An array from its elements in C order.
    ///
    /// # Errors
    /// [`ArrayError::Length`] if the shape asks for another number of elements.
    pub fn new(shape: Vec<usize>, elements: Elements) -> Result<Self, ArrayError> {
        match element_count(&shape) {
            Some(count) if count == elements.len() => Ok(Self { shape, elements }),
            _ => Err(ArrayError::Length { found: elements.len(), shape }),
        }
    }

    /// A vector.
    pub fn vector(elements: Elements) -> Self {
        Self { shape: vec![elements.len()], elements }
    }

    /// Zeros (`false` for bool), or nothing if the system has not so much memory. Every page is written, so that what the
    /// system says is left does not hold it any more.
    pub fn zeroed(dtype: DType, shape: Vec<usize>) -> Option<Self> {
        fn zeros<T: Copy + Default>(count: usize) -> Option<Vec<T>> {
            let mut out = Vec::new();
            out.try_reserve_exact(count).ok()?;
            out.resize(count, T::default());
            Some(out)
        }
        let count = element_count(&shape)?;
        let elements = match dtype {
            DType::Bool => Elements::Bool(zeros(count)?),
            DType::I32 => Elements::I32(zeros(count)?),
            DType::I64 => Elements::I64(zeros(count)?),
            DType::F16 => Elements::F16(zeros(count)?),
            DType::BF16 => Elements::BF16(zeros(count)?),
            DType::F32 => Elements::F32(zeros(count)?),
            DType::F64 => Elements::F64(zeros(count)?),
        };
        Some(Self { shape, elements })
    }

    /// Extents, outermost first; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The elements in C order.
    pub fn elements(&self) -> &Elements {
        &self.elements
    }

    /// A copy, where the system has the memory for one.
    pub(crate) fn copied(&self) -> Result<Self, WouldNotFit> {
        let elements = map_elements!(&self.elements, v => room::collected(v.len(), v.iter().copied())?);
        Ok(Self { shape: self.shape.clone(), elements })
    }

    /// The elements and the shape.
    pub fn into_parts(self) -> (Vec<usize>, Elements) {
        (self.shape, self.elements)
    }

    /// The type of one element.
    pub fn array_type(&self) -> ArrayType {
        self.elements.array_type()
    }

    /// The element at a position in C order. Panics past the end, as a slice does.
    pub fn get(&self, position: usize) -> Scalar {
        match &self.elements {
            Elements::Bool(v) => Scalar::Bool(v[position] != 0),
            Elements::U8(v) => Scalar::Int(v[position].into()),
            Elements::I32(v) => Scalar::Int(v[position].into()),
            Elements::I64(v) => Scalar::Int(v[position]),
            Elements::F16(v) => Scalar::F16(v[position]),
            Elements::BF16(v) => Scalar::BF16(v[position]),
            Elements::F32(v) => Scalar::F32(v[position]),
            Elements::F64(v) => Scalar::F64(v[position]),
        }
    }

    /// The elements as little-endian bytes, aligned to the element.
    pub fn as_bytes(&self) -> &[u8] {
        for_elements!(&self.elements, v => cast_slice(v))
    }

    /// The elements as bytes to write into; a bool byte must stay 0 or 1.
    pub fn as_bytes_mut(&mut self) -> &mut [u8] {
        for_elements!(&mut self.elements, v => cast_slice_mut(v))
    }

    /// Rows of the leading axis in another order: row `i` of the result is row `order[i]`.
    ///
    /// # Errors
    /// [`ArrayError::Leading`] unless the leading extent is `rows`, which all of `order` lies below;
    /// [`ArrayError::WouldNotFit`].
    pub(crate) fn gather_rows(
        &self,
        order: &crate::Indices,
        rows: usize,
        what: &'static str,
    ) -> Result<Self, ArrayError> {
        if self.shape.first() != Some(&rows) {
            return Err(ArrayError::Leading { shape: self.shape.clone(), expected: rows, what });
        }
        let width: usize = self.shape[1..].iter().product();
        let elements = map_elements!(&self.elements, v => {
            let mut out = room::for_elements(order.len().saturating_mul(width))?;
            for row in order.iter() {
                out.extend_from_slice(&v[row as usize * width..][..width]);
            }
            out
        });
        let mut shape = self.shape.clone();
        shape[0] = order.len();
        Ok(Self { shape, elements })
    }
}

impl From<crate::Indices> for Elements {
    fn from(indices: crate::Indices) -> Self {
        match indices {
            crate::Indices::I32(v) => Elements::I32(v),
            crate::Indices::I64(v) => Elements::I64(v),
        }
    }
}

/// The product of the extents, or nothing if the product of those that are not zero overflows.
pub fn element_count(shape: &[usize]) -> Option<usize> {
    let positive = shape.iter().filter(|e| **e != 0).try_fold(1usize, |n, e| n.checked_mul(*e))?;
    // What is addressed in bytes must fit as well.
    positive.checked_mul(8).filter(|bytes| i64::try_from(*bytes).is_ok())?;
    Some(if shape.contains(&0) { 0 } else { positive })
}

/// `[2, 3]`, the way shapes are printed.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    format!("{shape:?}")
}
