//! `const value(f32 1.5)`.

use crate::{KernelOp, Key, Level, Levels, Op, OpDef, OpView, Type, TypeError};

struct Const;

impl OpDef for Const {
    fn name(&self) -> &'static str {
        "const"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops, Level::Kernel]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(0)?;
        let value = op.attrs().value().ok_or_else(|| op.missing(Key::Value))?;
        Ok(vec![Type::scalar(value.dtype())])
    }
    fn kernel(&self) -> Option<KernelOp> {
        Some(KernelOp::Const)
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// A scalar constant.
pub const CONST: Op = Op(&Const);
