//! `select c, a, b`: both are evaluated, one is taken.

use super::elementwise::{primitive, same};
use crate::Scalar;
use tiga_abi::DType;

primitive!(
    /// `c ? a : b`.
    SELECT, Select, "select", Select, 3, false,
    |d, _a| (d.first() == Some(&DType::Bool)).then(|| same(&d[1..], |_| true)).flatten(),
    |v, _a| if v[0] == Scalar::Bool(true) { v[1] } else { v[2] }
);
