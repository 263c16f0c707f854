//! Positions of nodes and edges, held in 32 bits where they fit.

use crate::{WouldNotFit, room};
use bytemuck::cast_slice;

/// A sequence of positions, none negative once a [`crate::Csr`] holds it. Kernels are made for both widths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indices {
    /// Positions below 2^31.
    I32(Vec<i32>),
    /// Any positions.
    I64(Vec<i64>),
}

impl Indices {
    /// `len` zeros, wide enough for values below `bound`.
    ///
    /// # Errors
    /// [`WouldNotFit`] if the system has no memory for them.
    pub fn zeroed(len: usize, bound: usize) -> Result<Self, WouldNotFit> {
        Ok(match i32::try_from(bound) {
            Ok(_) => Indices::I32(room::filled(0, len)?),
            Err(_) => Indices::I64(room::filled(0, len)?),
        })
    }

    /// `0, 1, …, len - 1`.
    ///
    /// # Errors
    /// [`WouldNotFit`] if the system has no memory for them.
    pub fn identity(len: usize) -> Result<Self, WouldNotFit> {
        let mut out = Self::zeroed(len, len)?;
        (0..len).for_each(|i| out.set(i, i));
        Ok(out)
    }

    /// The number of positions.
    pub fn len(&self) -> usize {
        match self {
            Indices::I32(v) => v.len(),
            Indices::I64(v) => v.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position at `i`. Panics past the end, as a slice does.
    pub fn get(&self, i: usize) -> i64 {
        match self {
            Indices::I32(v) => i64::from(v[i]),
            Indices::I64(v) => v[i],
        }
    }

    /// The position at `i` of a sequence that was validated.
    pub(crate) fn at(&self, i: usize) -> usize {
        self.get(i) as usize
    }

    /// Replaces the position at `i` by `value`, which the sequence was made wide enough for.
    pub(crate) fn set(&mut self, i: usize, value: usize) {
        match self {
            Indices::I32(v) => v[i] = value as i32,
            Indices::I64(v) => v[i] = value as i64,
        }
    }

    /// All positions in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).map(|i| self.get(i))
    }

    /// `[self[order[0]], self[order[1]], …]` for an `order` of valid positions.
    pub(crate) fn gather(&self, order: &Indices) -> Result<Indices, WouldNotFit> {
        let len = order.len();
        Ok(match self {
            Indices::I32(v) => Indices::I32(room::collected(len, order.iter().map(|p| v[p as usize]))?),
            Indices::I64(v) => Indices::I64(room::collected(len, order.iter().map(|p| v[p as usize]))?),
        })
    }

    /// Bytes of one position: 4 or 8.
    pub fn width(&self) -> usize {
        match self {
            Indices::I32(_) => 4,
            Indices::I64(_) => 8,
        }
    }

    /// The positions as little-endian bytes, aligned to their width.
    pub fn as_bytes(&self) -> &[u8] {
        match self {
            Indices::I32(v) => cast_slice(v),
            Indices::I64(v) => cast_slice(v),
        }
    }
}

impl From<Vec<i32>> for Indices {
    fn from(v: Vec<i32>) -> Self {
        Indices::I32(v)
    }
}

impl From<Vec<i64>> for Indices {
    fn from(v: Vec<i64>) -> Self {
        Indices::I64(v)
    }
}
