//! Comparisons: ordered, except `ne`, which holds when either side is NaN.

use super::elementwise::{dtype, primitive, same, twice};
use crate::{Fold, OpView, Scalar};
use tiga_abi::DType;

/// A value compared with itself; a float may be NaN.
fn reflexive(op: OpView<'_>) -> Option<Fold> {
    let any = Scalar::from_i64(dtype(op).filter(|d| !d.is_float())?, 0);
    twice(op).then(|| op.body.inst(op.inst).op.eval(&[any, any], op.attrs())).flatten().map(Fold::Const)
}

macro_rules! comparison {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $commutative:literal, $op:tt, $accept:expr) => {
        primitive!(
            $(#[$doc])*
            $const, $ty, $name, $ty, 2, $commutative,
            |d, _a| same(d, $accept).map(|_| DType::Bool),
            |v, _a| Scalar::Bool(match (v[0], v[1]) {
                (Scalar::Bool(a), Scalar::Bool(b)) => a $op b,
                (Scalar::I32(a), Scalar::I32(b)) => a $op b,
                (Scalar::I64(a), Scalar::I64(b)) => a $op b,
                (Scalar::F32(a), Scalar::F32(b)) => a $op b,
                (Scalar::F64(a), Scalar::F64(b)) => a $op b,
                _ => false,
            }),
            |op| reflexive(op)
        );
    };
}

comparison!(/// Equal.
    EQ, Eq, "eq", true, ==, |_| true);
comparison!(/// Not equal, or unordered.
    NE, Ne, "ne", true, !=, |_| true);
comparison!(/// Less.
    LT, Lt, "lt", false, <, |d| d != DType::Bool);
comparison!(/// Less or equal.
    LE, Le, "le", false, <=, |d| d != DType::Bool);
comparison!(/// Greater.
    GT, Gt, "gt", false, >, |d| d != DType::Bool);
comparison!(/// Greater or equal.
    GE, Ge, "ge", false, >=, |d| d != DType::Bool);
