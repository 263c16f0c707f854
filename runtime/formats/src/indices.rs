//! Positions of nodes and edges, held in 32 bits where they fit.

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
    pub fn zeroed(len: usize, bound: usize) -> Self {
        if i32::try_from(bound).is_ok() { Indices::I32(vec![0; len]) } else { Indices::I64(vec![0; len]) }
    }

    /// `0, 1, …, len - 1`.
    pub fn identity(len: usize) -> Self {
        let mut out = Self::zeroed(len, len);
        (0..len).for_each(|i| out.set(i, i));
        out
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
    pub(crate) fn gather(&self, order: &Indices) -> Indices {
        match self {
            Indices::I32(v) => Indices::I32(order.iter().map(|p| v[p as usize]).collect()),
            Indices::I64(v) => Indices::I64(order.iter().map(|p| v[p as usize]).collect()),
        }
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
