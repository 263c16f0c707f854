//! Which cells of the matrix instruction × element type × shape have a case, and which must.

use crate::case::{Case, Shape};
use crate::elementwise::typings;
use std::collections::BTreeMap;
use std::fmt;
use tiga_abi::DType;
use tiga_ir::{KernelOp, Op, ops};

/// The executed cases.
#[derive(Default)]
pub struct Coverage(BTreeMap<(String, DType, Shape), usize>);

impl Coverage {
    /// Counts an executed case.
    pub fn add(&mut self, case: &Case) {
        *self.0.entry((format!("{:?}", case.op), case.dtype, case.shape)).or_default() += 1;
    }

    fn count(&self, op: KernelOp, dtype: DType, shape: Shape) -> usize {
        self.0.get(&(format!("{op:?}"), dtype, shape)).copied().unwrap_or(0)
    }

    /// Cells that must have a case and have none.
    pub fn missing(&self) -> Vec<String> {
        let mut out = Vec::new();
        for (op, kernel) in kernel_ops() {
            for dtype in DType::ALL {
                let shapes = required(op, kernel, dtype);
                let empty = shapes.iter().filter(|s| self.count(kernel, dtype, **s) == 0);
                out.extend(empty.map(|shape| format!("{kernel:?} {dtype} × {}", shape.0)));
            }
        }
        out
    }
}

/// Kernel instructions with their ops, in the order of the documentation.
fn kernel_ops() -> impl Iterator<Item = (Op, KernelOp)> {
    ops::ALL.iter().filter_map(|op| op.kernel().map(|kernel| (*op, kernel)))
}

/// The shapes an instruction must be tried in. Exhaustive: a new instruction does not compile before it has a row.
fn required(op: Op, kernel: KernelOp, dtype: DType) -> &'static [Shape] {
    use KernelOp::*;
    const ALL: &[Shape] = &Shape::ALL;
    let (scalar, vectors) = ALL.split_at(1);
    match kernel {
        Add | Sub | Mul | Div | Rem | Neg | Abs | Sqrt | Fma | Min | Max | Eq | Ne | Lt | Le | Gt | Ge | And | Or
        | Xor | Not | Shl | Shr | Sar | Select | Cast | Bitcast => {
            if typings(op, dtype).is_empty() {
                &[]
            } else {
                ALL
            }
        }
        Const | Prefetch | Offset => scalar,
        Splat | Shuffle | Extract | Gather => vectors,
        Lanes => {
            if dtype == DType::I64 {
                vectors
            } else {
                &[]
            }
        }
        Load | Store | Jump | Branch | Return => ALL,
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:10}", "")?;
        for dtype in DType::ALL {
            write!(f, "{:>14}", dtype.name())?;
        }
        writeln!(f, "   (cases at 1, 4, 8, 16 lanes; – means the op is not defined there)")?;
        for (op, kernel) in kernel_ops() {
            write!(f, "{:10}", format!("{kernel:?}"))?;
            for dtype in DType::ALL {
                let required = required(op, kernel, dtype);
                let cell = |shape: Shape| match (self.count(kernel, dtype, shape), required.contains(&shape)) {
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
