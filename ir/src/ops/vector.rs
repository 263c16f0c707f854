//! Lanes and addresses: what only kernels contain.

use crate::{Effect, KernelOp, Key, Level, Levels, Op, OpDef, OpView, Type, TypeError};
use tiga_abi::DType;

fn lanes(op: OpView<'_>) -> Result<u32, TypeError> {
    let lanes = op.attrs().lanes().ok_or_else(|| op.missing(Key::Lanes))?;
    u32::try_from(*lanes).ok().filter(|n| (1..=64).contains(n)).ok_or_else(|| op.missing(Key::Lanes))
}

fn pointer(op: OpView<'_>, index: usize) -> Result<DType, TypeError> {
    match op.operand(index)? {
        Type::Ptr(dtype) => Ok(*dtype),
        _ => Err(op.wrong(index, "an address")),
    }
}

fn index(op: OpView<'_>, at: usize) -> Result<(), TypeError> {
    if op.operand(at)?.is_scalar(DType::I64) { Ok(()) } else { Err(op.wrong(at, "an index (i64)")) }
}

/// An optional last operand: which of `lanes` lanes take part.
fn mask(op: OpView<'_>, at: usize, lanes: u32) -> Result<(), TypeError> {
    if op.operands().len() == at {
        return Ok(());
    }
    op.arity(at + 1)?;
    let expected = Type::Vector(DType::Bool, lanes);
    if *op.operand(at)? == expected { Ok(()) } else { Err(op.wrong(at, expected.to_string())) }
}

/// Declares a kernel-only op.
macro_rules! kernel_op {
    ($(#[$doc:meta])* $const:ident, $ty:ident, $name:literal, $kernel:ident, $effect:ident, |$op:ident| $infer:expr) => {
        struct $ty;

        impl OpDef for $ty {
            fn name(&self) -> &'static str {
                $name
            }
            fn levels(&self) -> Levels {
                &[Level::Kernel]
            }
            fn effect(&self) -> Effect {
                Effect::$effect
            }
            fn kernel(&self) -> Option<KernelOp> {
                Some(KernelOp::$kernel)
            }
            fn infer(&self, $op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
                $infer
            }
        }

        $(#[$doc])*
        pub const $const: Op = Op(&$ty);
    };
}

kernel_op!(
    /// `splat %scalar lanes(n)`
    SPLAT, Splat, "splat", Splat, Pure, |op| {
        op.arity(1)?;
        match op.operand(0)?.as_tensor().filter(|t| t.is_scalar()) {
            Some(t) => Ok(vec![Type::Vector(t.dtype, lanes(op)?)]),
            None => Err(op.wrong(0, "a scalar")),
        }
    }
);
kernel_op!(
    /// `lanes lanes(n)`: 0, 1, 2, … as i64.
    LANES, Lanes, "lanes", Lanes, Pure, |op| {
        op.arity(0)?;
        Ok(vec![Type::Vector(DType::I64, lanes(op)?)])
    }
);
kernel_op!(
    /// `shuffle %vector pattern(…)`
    SHUFFLE, Shuffle, "shuffle", Shuffle, Pure, |op| {
        op.arity(1)?;
        let pattern = op.attrs().pattern().ok_or_else(|| op.missing(Key::Pattern))?;
        match op.operand(0)? {
            Type::Vector(d, n) if !pattern.is_empty() && pattern.iter().all(|i| (0..i64::from(*n)).contains(i)) => {
                Ok(vec![Type::Vector(*d, pattern.len() as u32)])
            }
            _ => Err(op.wrong(0, "a vector that has the lanes of the pattern")),
        }
    }
);
kernel_op!(
    /// `extract %vector axis(lane)`
    EXTRACT, Extract, "extract", Extract, Pure, |op| {
        op.arity(1)?;
        let lane = *op.attrs().axis().ok_or_else(|| op.missing(Key::Axis))?;
        match op.operand(0)? {
            Type::Vector(d, n) if (0..i64::from(*n)).contains(&lane) => Ok(vec![Type::scalar(*d)]),
            _ => Err(op.wrong(0, "a vector that has the lane")),
        }
    }
);
kernel_op!(
    /// `ptr.load %ptr, %index [, %mask] [lanes(n)]`: one element, or `n` from the index on.
    PTR_LOAD, PtrLoad, "ptr.load", Load, Read, |op| {
        let dtype = pointer(op, 0)?;
        index(op, 1)?;
        if !op.attrs().has(Key::Lanes) {
            op.arity(2)?;
            return Ok(vec![Type::scalar(dtype)]);
        }
        let n = lanes(op)?;
        mask(op, 2, n)?;
        Ok(vec![Type::Vector(dtype, n)])
    }
);
kernel_op!(
    /// `ptr.store %value, %ptr, %index [, %mask]`
    PTR_STORE, PtrStore, "ptr.store", Store, Write, |op| {
        let dtype = pointer(op, 1)?;
        index(op, 2)?;
        match op.operand(0)? {
            Type::Vector(d, n) if *d == dtype => mask(op, 3, *n)?,
            ty if ty.is_scalar(dtype) => op.arity(3)?,
            _ => return Err(op.wrong(0, dtype.name())),
        }
        Ok(Vec::new())
    }
);
kernel_op!(
    /// `ptr.gather %ptr, %indices [, %mask]`
    GATHER, Gather, "ptr.gather", Gather, Read, |op| {
        let dtype = pointer(op, 0)?;
        match op.operand(1)? {
            Type::Vector(DType::I64, n) => {
                mask(op, 2, *n)?;
                Ok(vec![Type::Vector(dtype, *n)])
            }
            _ => Err(op.wrong(1, "a vector of indices (i64)")),
        }
    }
);
kernel_op!(
    /// `ptr.prefetch %ptr, %index`: must be a valid index.
    PREFETCH, Prefetch, "ptr.prefetch", Prefetch, Write, |op| {
        op.arity(2)?;
        pointer(op, 0)?;
        index(op, 1)?;
        Ok(Vec::new())
    }
);
kernel_op!(
    /// `ptr.offset %ptr bytes(n) to(f64)`: an address further on, of other elements.
    OFFSET, Offset, "ptr.offset", Offset, Pure, |op| {
        op.arity(1)?;
        pointer(op, 0)?;
        op.attrs().bytes().ok_or_else(|| op.missing(Key::Bytes))?;
        Ok(vec![Type::Ptr(*op.attrs().to().ok_or_else(|| op.missing(Key::To))?)])
    }
);
