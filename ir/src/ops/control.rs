//! Loops and branches as region ops, and the terminators.

use crate::{Effect, Fold, KernelOp, Key, Level, Levels, Op, OpDef, OpView, Scalar, Type, TypeError};
use tiga_abi::DType;

/// Whether a value decides: a `bool`, or memory holding one on the host level.
fn decides(ty: &Type, dtype: DType) -> bool {
    ty.is_scalar(dtype) || ty.as_buffer().is_some_and(|b| b.is_scalar() && b.dtype == dtype)
}

fn check_types(
    op: OpView<'_>,
    region: usize,
    what: &str,
    expected: &[&Type],
    found: &[&Type],
) -> Result<(), TypeError> {
    let list = |types: &[&Type]| types.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
    if expected == found {
        Ok(())
    } else {
        Err(op.region_error(region, format!("{what} {}", list(expected)), list(found)))
    }
}

fn operand_types<'a>(op: OpView<'a>, from: usize) -> Result<Vec<&'a Type>, TypeError> {
    (from..op.operands().len()).map(|i| op.operand(i)).collect()
}

struct While;

impl OpDef for While {
    fn name(&self) -> &'static str {
        "while"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn regions(&self) -> (usize, usize) {
        (2, 2)
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.attrs().at_most().ok_or_else(|| op.missing(Key::AtMost))?;
        let carried = operand_types(op, 0)?;
        check_types(op, 0, "parameters", &carried, &op.region_params(0)?)?;
        check_types(op, 1, "parameters", &carried, &op.region_params(1)?)?;
        match op.region_yields(0)?.as_slice() {
            [go] if decides(go, DType::Bool) => {}
            other => return Err(op.region_error(0, "a condition", format!("{} values", other.len()))),
        }
        check_types(op, 1, "yielded", &carried, &op.region_yields(1)?)?;
        Ok(carried.into_iter().cloned().collect())
    }
    /// A condition that is `false` at once.
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        let last = *op.body.block(op.body.entry(*op.regions().first()?)).insts.last()?;
        let never = OpView { inst: last, ..op }.constant(0) == Some(Scalar::Bool(false));
        (never || op.attrs().at_most() == Some(&0)).then(|| Fold::Values(op.operands().to_vec()))
    }
}

/// `while %init… at_most(n) (condition) (body)`
pub const WHILE: Op = Op(&While);

struct Repeat;

impl OpDef for Repeat {
    fn name(&self) -> &'static str {
        "repeat"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn regions(&self) -> (usize, usize) {
        (1, 1)
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let count = op.operand(0)?;
        if !decides(count, DType::I64) {
            return Err(op.wrong(0, "a number of rounds (i64)"));
        }
        let carried = operand_types(op, 1)?;
        let params: Vec<&Type> = std::iter::once(count).chain(carried.iter().copied()).collect();
        check_types(op, 0, "parameters", &params, &op.region_params(0)?)?;
        check_types(op, 0, "yielded", &carried, &op.region_yields(0)?)?;
        Ok(carried.into_iter().cloned().collect())
    }
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        let rounds = op.constant(0)?.as_i64()?;
        (rounds <= 0).then(|| Fold::Values(op.operands()[1..].to_vec()))
    }
}

/// `repeat %count, %init… (body)`: the body sees the round first.
pub const REPEAT: Op = Op(&Repeat);

struct If;

impl OpDef for If {
    fn name(&self) -> &'static str {
        "if"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn regions(&self) -> (usize, usize) {
        (2, 2)
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        if !decides(op.operand(0)?, DType::Bool) {
            return Err(op.wrong(0, "a condition (bool)"));
        }
        check_types(op, 0, "parameters", &[], &op.region_params(0)?)?;
        check_types(op, 1, "parameters", &[], &op.region_params(1)?)?;
        let then = op.region_yields(0)?;
        check_types(op, 1, "yielded", &then, &op.region_yields(1)?)?;
        Ok(then.into_iter().cloned().collect())
    }
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        let taken = usize::from(!op.constant(0)?.as_bool()?);
        Some(Fold::Region(*op.regions().get(taken)?))
    }
}

/// `if %condition (then) (else)`: one branch runs.
pub const IF: Op = Op(&If);

/// Declares a terminator.
macro_rules! terminator {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $levels:expr, $targets:literal, $kernel:expr, |$op:ident| $check:expr) => {
        struct $ty;

        impl OpDef for $ty {
            fn name(&self) -> &'static str {
                $name
            }
            fn levels(&self) -> Levels {
                $levels
            }
            fn effect(&self) -> Effect {
                Effect::Terminator
            }
            fn targets(&self) -> usize {
                $targets
            }
            fn kernel(&self) -> Option<KernelOp> {
                $kernel
            }
            fn infer(&self, $op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
                $check?;
                Ok(Vec::new())
            }
        }

        $(#[$doc])*
        pub const $const: Op = Op(&$ty);
    };
}

terminator!(
    /// `yield values…`: ends a region.
    YIELD, Yield, "yield", &[Level::Domain, Level::Host, Level::Loops], 0, None, |_op| Ok::<(), TypeError>(())
);
terminator!(
    /// `return values…`: ends a function.
    RETURN, Return, "return", &Level::ALL, 0, Some(KernelOp::Return), |_op| Ok::<(), TypeError>(())
);
terminator!(
    /// `jump ^block(arguments…)`
    JUMP, Jump, "jump", &[Level::Kernel], 1, Some(KernelOp::Jump), |op| op.arity(0)
);
terminator!(
    /// `branch %condition ^then(…), ^else(…)`
    BRANCH, Branch, "branch", &[Level::Kernel], 2, Some(KernelOp::Branch), |op| {
        op.arity(1).and_then(|()| {
            if op.operand(0)?.is_scalar(DType::Bool) { Ok(()) } else { Err(op.wrong(0, "a condition (bool)")) }
        })
    }
);
