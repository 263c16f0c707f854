//! Which cells of the matrix instruction × element type × shape have a case, and which must.

use crate::case::{Case, Shape};
use crate::elementwise::typings;
use std::collections::BTreeMap;
use std::fmt;
use tiga_abi::DType;
use tiga_ir::{KernelOp, Op, ops};

/// The executed cases.
#[derive(Default)]
pub struct Coverage(BTreeMap<(&'static str, DType, Shape), usize>);

impl Coverage {
    /// Counts an executed case.
    pub fn add(&mut self, case: &Case) {
        *self.0.entry((case.op.name(), case.dtype, case.shape)).or_default() += 1;
    }

    fn count(&self, op: Op, dtype: DType, shape: Shape) -> usize {
        self.0.get(&(op.name(), dtype, shape)).copied().unwrap_or(0)
    }

    /// Cells that must have a case and have none.
    pub fn missing(&self) -> Vec<String> {
        let mut out = Vec::new();
        for op in rows() {
            for dtype in DType::ALL {
                let empty = required(op, dtype).iter().filter(|s| self.count(op, dtype, **s) == 0);
                out.extend(empty.map(|shape| format!("{} {dtype} × {}", op.name(), shape.0)));
            }
        }
        out
    }
}

/// Kernel instructions in the order of the documentation, and the operators that expand to them.
fn rows() -> impl Iterator<Item = Op> {
    ops::ALL.iter().copied().filter(|op| op.kernel().is_some() || op.elementwise().is_some())
}

/// The shapes an op must be tried in. Exhaustive: a new instruction does not compile before it has a row.
fn required(op: Op, dtype: DType) -> &'static [Shape] {
    use KernelOp::*;
    const ALL: &[Shape] = &Shape::ALL;
    let (scalar, vectors) = ALL.split_at(1);
    let where_defined: &[Shape] = if typings(op, dtype).is_empty() { &[] } else { ALL };
    let Some(kernel) = op.kernel() else { return where_defined };
    match kernel {
        Add | Sub | Mul | Div | Rem | Neg | Abs | Sqrt | Fma | Min | Max | Eq | Ne | Lt | Le | Gt | Ge | And | Or
        | Xor | Not | Shl | Shr | Sar | Select | Cast | Bitcast => where_defined,
        Const | Prefetch | Offset => scalar,
        Splat | Shuffle | Extract | Gather => vectors,
        Lanes if dtype == DType::I64 => vectors,
        Lanes => &[],
        Load | Store | Jump | Branch | Return => ALL,
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:12}", "")?;
        for dtype in DType::ALL {
            write!(f, "{:>14}", dtype.name())?;
        }
        writeln!(f, "   (cases at 1, 4, 8, 16 lanes; – means the op is not defined there)")?;
        for op in rows() {
            write!(f, "{:12}", op.name())?;
            for dtype in DType::ALL {
                let required = required(op, dtype);
                let cell = |shape: Shape| match (self.count(op, dtype, shape), required.contains(&shape)) {
                    (0, true) => "!".to_owned(),
                    (0, false) => "–".to_owned(),
                    (n, _) => n.to_string(),
                };
                write!(f, "{:>14}", Shape::ALL.map(cell).join(" "))?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}
