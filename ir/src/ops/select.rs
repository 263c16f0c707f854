//! `select c, a, b`: both are evaluated, one is taken.

use super::elementwise::{operand, primitive, same};
use crate::{Fold, Scalar};
use tiga_abi::DType;

primitive!(
    /// `c ? a : b`.
    SELECT, Select, "select", Select, 3, false,
    |d, _a| (d.first() == Some(&DType::Bool)).then(|| same(&d[1..], |_| true)).flatten(),
    |v, _a| if v[0] == Scalar::Bool(true) { v[1] } else { v[2] },
    |op| match (op.constant(0), op.operands()) {
        (Some(c), _) => operand(op, if c == Scalar::Bool(true) { 1 } else { 2 }),
        (None, [_, a, b]) if a == b => operand(op, 1),
        (None, [_, a, b]) => {
            let not = op.def(0).filter(|c| c.name() == "not")?;
            Some(Fold::Op(SELECT, vec![*not.operands().first()?, *b, *a], op.attrs().clone()))
        }
        _ => None,
    },
    moves: true
);
