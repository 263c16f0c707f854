//! Borrowed arrays: zero-copy views of the caller's memory.

use crate::RuntimeError;
use crate::memory::{advise, check_room};
use bytemuck::{NoUninit, Pod};
use smallvec::SmallVec;
use tiga_abi::DType;

/// Extents. Those of as many axes as arrays have as a rule take no memory of their own.
pub(crate) type Shape = SmallVec<[usize; 6]>;

/// An array to read: element type, shape, bytes in C order.
#[derive(Clone, Debug)]
pub struct ArrayRef<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) bytes: &'a [u8],
}

/// An array to write: element type, shape, bytes in C order.
#[derive(Debug)]
pub struct ArrayMut<'a> {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) bytes: &'a mut [u8],
}

impl<'a> ArrayRef<'a> {
    /// A view of bytes; shape and alignment are checked when it is bound.
    pub fn new(dtype: DType, shape: &[usize], bytes: &'a [u8]) -> Self {
        Self { dtype, shape: Shape::from_slice(shape), bytes }
    }

    /// A view of elements: numbers, `bool`, or the bits of 16-bit numbers as `u16`.
    pub fn of_elements<T: NoUninit>(dtype: DType, shape: &[usize], elements: &'a [T]) -> Self {
        Self::new(dtype, shape, bytemuck::cast_slice(elements))
    }

    /// A view with strides in elements, as NumPy and DLPack have them.
    ///
    /// # Errors
    /// [`RuntimeError::Strides`] unless the array is contiguous in C order: nothing is copied silently.
    pub fn strided(
        name: &str,
        dtype: DType,
        shape: &[usize],
        strides: &[isize],
        bytes: &'a [u8],
    ) -> Result<Self, RuntimeError> {
        if contiguous(shape, strides) {
            Ok(Self::new(dtype, shape, bytes))
        } else {
            Err(RuntimeError::Strides(name.into()))
        }
    }
}

/// Zeros for an array of this shape, called `name`.
///
/// # Errors
/// [`RuntimeError::Memory`] if there is not so much.
pub fn zeroed<T: Pod>(name: &str, shape: &[usize]) -> Result<Vec<T>, RuntimeError> {
    let all =
        if shape.contains(&0) { Some(0) } else { shape.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent)) };
    let bytes = all.map_or(u64::MAX, |all| (all as u64).saturating_mul(size_of::<T>() as u64));
    check_room(bytes, || format!("`{name}` of shape {shape:?}"))?;
    let (all, mut out) = (all.unwrap_or(usize::MAX), Vec::new());
    let none = |_| RuntimeError::Memory { what: format!("`{name}` of shape {shape:?}"), bytes, available: 0 };
    out.try_reserve_exact(all).map_err(none)?;
    advise(out.spare_capacity_mut());
    out.resize(all, T::zeroed());
    Ok(out)
}

impl<'a> ArrayMut<'a> {
    /// A view of elements: numbers, `bool` as bytes, or the bits of 16-bit numbers as `u16`.
    pub fn of_elements<T: Pod>(dtype: DType, shape: &[usize], elements: &'a mut [T]) -> Self {
        Self::new(dtype, shape, bytemuck::cast_slice_mut(elements))
    }

    /// A view of bytes; shape and alignment are checked when it is bound.
    pub fn new(dtype: DType, shape: &[usize], bytes: &'a mut [u8]) -> Self {
        Self { dtype, shape: Shape::from_slice(shape), bytes }
    }
}

/// Whether strides are those of a C-order array; axes of extent 0 or 1 may have any.
fn contiguous(shape: &[usize], strides: &[isize]) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    let mut expected = 1usize;
    for (extent, stride) in shape.iter().zip(strides).rev() {
        if *extent > 1 && usize::try_from(*stride) != Ok(expected) {
            return false;
        }
        expected = expected.saturating_mul((*extent).max(1));
    }
    true
}

/// Checks bytes against type, shape and alignment.
pub(crate) fn check(name: &str, dtype: DType, shape: &[usize], bytes: &[u8]) -> Result<(), RuntimeError> {
    let count = shape.iter().try_fold(dtype.bytes(), |product, extent| product.checked_mul(*extent));
    let expected = count.unwrap_or(usize::MAX);
    if bytes.len() != expected {
        return Err(RuntimeError::Bytes { parameter: name.into(), expected, found: bytes.len() });
    }
    if !bytes.is_empty() && !(bytes.as_ptr() as usize).is_multiple_of(dtype.bytes()) {
        return Err(RuntimeError::Alignment(name.into()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_other_than_c_order_are_refused() {
        assert!(contiguous(&[2, 3], &[3, 1]));
        assert!(!contiguous(&[2, 3], &[1, 2]));
        assert!(contiguous(&[1, 3], &[99, 1]));
        let bytes = [0u8; 24];
        assert!(matches!(
            ArrayRef::strided("x", DType::F32, &[2, 3], &[1, 2], &bytes),
            Err(RuntimeError::Strides(name)) if name == "x"
        ));
    }
}
