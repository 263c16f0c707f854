//! Conversions of values and of bits.

use super::elementwise::primitive;
use crate::Scalar;

primitive!(
    /// Converts as [`Scalar::cast`]: float to integer saturates, NaN gives 0.
    CAST, Cast, "cast", Cast, 1, false,
    |_d, a| a.to().copied(),
    |v, a| a.to().map_or(v[0], |to| v[0].cast(*to))
);
primitive!(
    /// The same bits as another type of the same width.
    BITCAST, Bitcast, "bitcast", Bitcast, 1, false,
    |d, a| a.to().copied().filter(|to| to.bytes() == d[0].bytes()),
    |v, a| a.to().map_or(v[0], |to| Scalar::from_bits(*to, v[0].bits()))
);
