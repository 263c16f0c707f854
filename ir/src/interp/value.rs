//! What interpreters compute with: dense tensors, memory, and values of either kind or relations.

use super::Relation;
use crate::Scalar;
use half::{bf16, f16};
use std::sync::Arc;
use tiga_abi::DType;

/// A Rust type that is an element type.
pub trait Element: Copy {
    /// The element type.
    const DTYPE: DType;
    /// The element.
    fn scalar(self) -> Scalar;
    /// The number in an element of this type.
    fn from_scalar(scalar: Scalar) -> Option<Self>;
}

macro_rules! element {
    ($($ty:ty, $variant:ident;)*) => {
        $(impl Element for $ty {
            const DTYPE: DType = DType::$variant;
            fn scalar(self) -> Scalar {
                Scalar::$variant(self)
            }
            fn from_scalar(scalar: Scalar) -> Option<Self> {
                match scalar { Scalar::$variant(v) => Some(v), _ => None }
            }
        })*
    };
}

element! { bool, Bool; i32, I32; i64, I64; f16, F16; bf16, BF16; f32, F32; f64, F64; }

/// Why numbers are not a tensor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TensorError {
    /// Another number of elements than the shape has.
    #[error("a tensor of shape {shape:?} has another number of elements than {found}")]
    Count {
        /// The shape.
        shape: Vec<usize>,
        /// Elements (or bytes) given.
        found: usize,
    },
    /// An element of another type.
    #[error("element {index} is {found}, expected {expected}")]
    DType {
        /// Which element.
        index: usize,
        /// Its type.
        found: DType,
        /// The tensor's.
        expected: DType,
    },
    /// A byte of a `bool` that is neither 0 nor 1.
    #[error("element {index} has the byte {found}, and a bool is 0 or 1")]
    Bool {
        /// Which element.
        index: usize,
        /// The byte.
        found: u8,
    },
}

/// A dense tensor, row-major. Cloning shares the elements; a scalar needs no memory of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor(Repr);

#[derive(Clone, Debug, PartialEq)]
enum Repr {
    Scalar(Scalar),
    /// With at least one axis.
    Dense(Arc<Dense>),
}

#[derive(Debug, PartialEq)]
struct Dense {
    dtype: DType,
    shape: Vec<usize>,
    elems: Vec<Scalar>,
}

/// The number of elements of a shape, if it is a number.
pub(super) fn count(shape: &[usize]) -> Option<usize> {
    shape.iter().try_fold(1usize, |n, d| n.checked_mul(*d))
}

impl Tensor {
    /// Without axes.
    pub fn scalar(scalar: Scalar) -> Tensor {
        Tensor(Repr::Scalar(scalar))
    }

    /// Elements in row-major order.
    ///
    /// # Errors
    /// Their number or type is another.
    pub fn new(dtype: DType, shape: Vec<usize>, elems: Vec<Scalar>) -> Result<Tensor, TensorError> {
        if count(&shape) != Some(elems.len()) {
            return Err(TensorError::Count { shape, found: elems.len() });
        }
        match elems.iter().enumerate().find(|(_, e)| e.dtype() != dtype) {
            Some((index, e)) => Err(TensorError::DType { index, found: e.dtype(), expected: dtype }),
            None => Ok(Tensor::of_elems(dtype, shape, elems)),
        }
    }

    /// Numbers in row-major order.
    ///
    /// # Errors
    /// Their number is another.
    pub fn of<T: Element>(shape: &[usize], numbers: &[T]) -> Result<Tensor, TensorError> {
        Tensor::new(T::DTYPE, shape.to_vec(), numbers.iter().map(|n| n.scalar()).collect())
    }

    /// From little-endian bytes.
    ///
    /// # Errors
    /// Their number is another; a `bool` that is neither 0 nor 1.
    pub fn from_bytes(dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<Tensor, TensorError> {
        if count(shape).and_then(|n| n.checked_mul(dtype.bytes())) != Some(bytes.len()) {
            return Err(TensorError::Count { shape: shape.to_vec(), found: bytes.len() });
        }
        if dtype == DType::Bool
            && let Some((index, byte)) = bytes.iter().enumerate().find(|(_, b)| **b > 1)
        {
            return Err(TensorError::Bool { index, found: *byte });
        }
        let elems = bytes.chunks_exact(dtype.bytes()).map(|chunk| scalar_from_bytes(dtype, chunk)).collect();
        Ok(Tensor::of_elems(dtype, shape.to_vec(), elems))
    }

    /// The elements as little-endian bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = self.dtype().bytes();
        self.elems().iter().flat_map(|e| e.bits().to_le_bytes().into_iter().take(size)).collect()
    }

    /// Elements whose number and types are known to fit.
    pub(super) fn of_elems(dtype: DType, shape: Vec<usize>, elems: Vec<Scalar>) -> Tensor {
        debug_assert_eq!(count(&shape), Some(elems.len()));
        match (shape.is_empty(), elems.first()) {
            (true, Some(one)) => Tensor::scalar(*one),
            _ => Tensor(Repr::Dense(Arc::new(Dense { dtype, shape, elems }))),
        }
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        match &self.0 {
            Repr::Scalar(scalar) => scalar.dtype(),
            Repr::Dense(dense) => dense.dtype,
        }
    }

    /// Extents; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        match &self.0 {
            Repr::Scalar(_) => &[],
            Repr::Dense(dense) => &dense.shape,
        }
    }

    /// Elements in row-major order.
    pub fn elems(&self) -> &[Scalar] {
        match &self.0 {
            Repr::Scalar(scalar) => std::slice::from_ref(scalar),
            Repr::Dense(dense) => &dense.elems,
        }
    }

    /// The numbers, if they are of this type.
    pub fn numbers<T: Element>(&self) -> Option<Vec<T>> {
        self.elems().iter().map(|e| T::from_scalar(*e)).collect()
    }

    /// The element of a scalar.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match &self.0 {
            Repr::Scalar(scalar) => Some(*scalar),
            Repr::Dense(_) => None,
        }
    }

    /// The tensor at an index of the first axis, if it has both.
    pub fn row(&self, index: usize) -> Option<Tensor> {
        let (rows, rest) = self.shape().split_first()?;
        if index >= *rows {
            return None;
        }
        if rest.is_empty() {
            return Some(Tensor::scalar(self.elems()[index]));
        }
        let size = self.elems().len() / rows;
        Some(Tensor::of_elems(self.dtype(), rest.to_vec(), self.elems()[index * size..(index + 1) * size].to_vec()))
    }

    /// Each element converted.
    pub(super) fn cast(&self, to: DType) -> Tensor {
        if self.dtype() == to {
            return self.clone();
        }
        Tensor::of_elems(to, self.shape().to_vec(), self.elems().iter().map(|e| e.cast(to)).collect())
    }

    /// The same elements in another shape of as many.
    pub(super) fn reshaped(&self, shape: Vec<usize>) -> Option<Tensor> {
        let same = count(&shape) == Some(self.elems().len());
        same.then(|| Tensor::of_elems(self.dtype(), shape, self.elems().to_vec()))
    }

    /// Equal shapes and bits, where any NaN equals any NaN.
    pub fn same(&self, other: &Tensor) -> bool {
        self.dtype() == other.dtype()
            && self.shape() == other.shape()
            && self.elems().iter().zip(other.elems()).all(|(a, b)| a.same(*b))
    }
}

/// An element from `dtype.bytes()` little-endian bytes.
pub(super) fn scalar_from_bytes(dtype: DType, bytes: &[u8]) -> Scalar {
    let bits = bytes.iter().rev().fold(0u64, |bits, b| bits << 8 | u64::from(*b));
    Scalar::from_bits(dtype, bits)
}

/// Memory holding a tensor, of which some elements may not be written yet.
#[derive(Clone, Debug, PartialEq)]
pub struct Buffer {
    dtype: DType,
    shape: Vec<usize>,
    pub(super) elems: Vec<Option<Scalar>>,
}

impl Buffer {
    /// Memory that nothing has written.
    ///
    /// # Errors
    /// The shape has more elements than can be counted.
    pub fn unwritten(dtype: DType, shape: &[usize]) -> Result<Buffer, TensorError> {
        let n = count(shape).ok_or_else(|| TensorError::Count { shape: shape.to_vec(), found: usize::MAX })?;
        Ok(Buffer { dtype, shape: shape.to_vec(), elems: vec![None; n] })
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Extents.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Elements in row-major order; `None` is not written.
    pub fn elems(&self) -> &[Option<Scalar>] {
        &self.elems
    }

    /// Equal shapes, the same elements written, with the same bits, where any NaN equals any NaN.
    pub fn same(&self, other: &Buffer) -> bool {
        let equal = |(a, b): (&Option<Scalar>, &Option<Scalar>)| match (a, b) {
            (Some(a), Some(b)) => a.same(*b),
            (a, b) => a.is_none() && b.is_none(),
        };
        (self.dtype, &self.shape) == (other.dtype, &other.shape) && self.elems.iter().zip(&other.elems).all(equal)
    }

    /// Elements whose number and types are known to fit.
    pub(super) fn of_elems(dtype: DType, shape: Vec<usize>, elems: Vec<Option<Scalar>>) -> Buffer {
        debug_assert_eq!(count(&shape), Some(elems.len()));
        Buffer { dtype, shape, elems }
    }

    /// Its contents; the index of the first unwritten element otherwise.
    ///
    /// # Errors
    /// That index.
    pub fn tensor(&self) -> Result<Tensor, usize> {
        let elems = self.elems.iter().enumerate().map(|(i, e)| e.ok_or(i)).collect::<Result<_, _>>()?;
        Ok(Tensor::of_elems(self.dtype, self.shape.clone(), elems))
    }
}

impl From<&Tensor> for Buffer {
    fn from(tensor: &Tensor) -> Buffer {
        let elems = tensor.elems().iter().copied().map(Some).collect();
        Buffer { dtype: tensor.dtype(), shape: tensor.shape().to_vec(), elems }
    }
}

/// An argument or result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A field, tensor or scalar; for a parameter that is memory, memory that must not be written.
    Tensor(Tensor),
    /// A relation.
    Rel(Arc<Relation>),
    /// Memory to write, for a parameter that is memory.
    Buffer(Buffer),
}

impl Value {
    /// The tensor, if it is one.
    pub fn as_tensor(&self) -> Option<&Tensor> {
        match self {
            Value::Tensor(t) => Some(t),
            _ => None,
        }
    }

    /// The memory, if it is some.
    pub fn as_buffer(&self) -> Option<&Buffer> {
        match self {
            Value::Buffer(b) => Some(b),
            _ => None,
        }
    }
}

impl From<Tensor> for Value {
    fn from(tensor: Tensor) -> Value {
        Value::Tensor(tensor)
    }
}

impl From<Relation> for Value {
    fn from(relation: Relation) -> Value {
        Value::Rel(Arc::new(relation))
    }
}

impl From<Buffer> for Value {
    fn from(buffer: Buffer) -> Value {
        Value::Buffer(buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_round_trip() {
        let t = Tensor::of(&[2, 2], &[1.5f32, -0.0, f32::INFINITY, 1e-40]).unwrap();
        assert_eq!(&t.to_bytes()[..4], &1.5f32.to_le_bytes());
        assert_eq!(Tensor::from_bytes(DType::F32, &[2, 2], &t.to_bytes()).unwrap(), t);
        let n = Tensor::of(&[], &[-2i64]).unwrap();
        assert_eq!(Tensor::from_bytes(DType::I64, &[], &n.to_bytes()).unwrap(), n);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        assert!(matches!(Tensor::of(&[3], &[1i32]), Err(TensorError::Count { .. })));
        assert!(matches!(Tensor::new(DType::F32, vec![1], vec![Scalar::I32(1)]), Err(TensorError::DType { .. })));
        assert!(matches!(Tensor::from_bytes(DType::Bool, &[1], &[2]), Err(TensorError::Bool { .. })));
        assert!(Buffer::unwritten(DType::F32, &[usize::MAX, 2]).is_err());
    }

    #[test]
    fn rows_are_what_is_left_of_the_shape() {
        let t = Tensor::of(&[2, 3], &[1, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!(t.row(1), Some(Tensor::of(&[3], &[4, 5, 6]).unwrap()));
        assert_eq!(t.row(2), None);
    }
}
