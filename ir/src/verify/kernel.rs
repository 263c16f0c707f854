//! The law book of the kernel level: how, on a machine. Verified kernels make a backend succeed.
//!
//! What a kernel no longer contains: axes, relations, memory with a shape, math functions, symbols that are not numbers.
//!
//! - A value is a scalar, a vector or an address.
//! - Parameters are those of the ABI, in its order: sizes (each named like its symbol), arrays, `scratch` if it needs
//!   any, `unit_begin`, `unit_end`. There is no result.
//! - A kernel that needs scratch memory takes it.
//! - `f16` and `bf16` are moved and converted, not computed with.
//! - `fma` and conversions of `f16` only where the machine has them: elsewhere they would be calls of a library.

use super::{At, Checker, Machine};
use crate::{Func, Inst, Type, ops};
use tiga_abi::{DType, SizeExpr};

/// A law of the kernel level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Rule {
    /// A tensor with axes, a relation or memory with a shape.
    #[error("a kernel value is a scalar, a vector or an address")]
    KernelTypes,
    /// Parameters that the ABI does not pass like this, or a result.
    #[error("a kernel takes sizes, arrays, scratch, unit_begin and unit_end, and returns nothing")]
    KernelSignature,
    /// Scratch bytes without the parameter.
    #[error("a kernel that needs scratch memory takes it")]
    KernelScratch,
    /// `f16` or `bf16` in arithmetic or a comparison.
    #[error("what is computed is computed with f32, f64 and integers")]
    KernelHalves,
    /// `fma` on a machine without it.
    #[error("a kernel uses what its machine has, and it has no fused multiply-add")]
    MachineFma,
    /// A conversion of `f16` on a machine without it.
    #[error("a kernel uses what its machine has, and it has no conversions of f16")]
    MachineF16c,
}

/// Checks a kernel of sound structure.
pub(super) fn func(checker: &mut Checker<'_>, func: &Func, machine: Machine) {
    let body = checker.body;
    for value in checker.values(func.region) {
        if !on_machine(body.ty(value)) {
            checker.report(At::Value(value), Rule::KernelTypes, "");
        }
    }
    signature(checker, func);
    for inst in body.walk(func.region) {
        arithmetic(checker, inst, machine);
    }
}

/// Whether a machine computes that.
fn arithmetic(checker: &mut Checker<'_>, inst: Inst, machine: Machine) {
    let data = checker.body.inst(inst);
    let of = |dtype: DType| {
        let mut values = data.operands.iter().chain(&data.results);
        values.any(|v| !matches!(checker.body.ty(*v), Type::Ptr(_)) && checker.body.ty(*v).dtype() == Some(dtype))
    };
    let halves = of(DType::F16) || of(DType::BF16);
    if halves && data.op.elementwise().is_some_and(|rule| !rule.moves()) {
        checker.report(At::Inst(inst), Rule::KernelHalves, "");
    }
    if data.op == ops::CAST && of(DType::F16) && !machine.f16c {
        checker.report(At::Inst(inst), Rule::MachineF16c, "");
    }
    if data.op == ops::FMA && !machine.fma {
        checker.report(At::Inst(inst), Rule::MachineFma, "");
    }
}

/// Whether a machine has such values.
fn on_machine(ty: &Type) -> bool {
    match ty {
        Type::Tensor(t) => t.is_scalar(),
        Type::Vector(..) | Type::Ptr(_) => true,
        Type::Rel(_) | Type::Buffer(_) => false,
    }
}

/// The place of a parameter in the ABI's order; `None` if it has none.
fn place(func: &Func, index: usize) -> Option<u8> {
    let ty = func.body.ty(func.params()[index]);
    match (func.param_name(index), ty) {
        ("unit_begin", ty) if ty.is_scalar(DType::I64) => Some(3),
        ("unit_end", ty) if ty.is_scalar(DType::I64) => Some(4),
        ("scratch", Type::Ptr(_)) => Some(2),
        (_, Type::Ptr(_)) => Some(1),
        (name, ty) if ty.is_scalar(DType::I64) && func.symbols.contains_key(name) => Some(0),
        _ => None,
    }
}

fn signature(checker: &mut Checker<'_>, func: &Func) {
    if !func.results.is_empty() {
        checker.report(At::Owner, Rule::KernelSignature, "it declares results");
    }
    let mut before = 0;
    for (i, param) in func.params().iter().enumerate() {
        match place(func, i) {
            Some(place) if place >= before => before = place,
            Some(_) => checker.report(At::Value(*param), Rule::KernelSignature, "out of order"),
            None if !on_machine(func.body.ty(*param)) => {}
            None => checker.report(At::Value(*param), Rule::KernelSignature, "no size of a declared symbol"),
        }
    }
    let has = |place_wanted: u8| (0..func.params().len()).any(|i| place(func, i) == Some(place_wanted));
    if !has(3) || !has(4) {
        checker.report(At::Owner, Rule::KernelSignature, "unit_begin or unit_end is missing");
    }
    if func.scratch != SizeExpr::Const(0) && !has(2) {
        checker.report(At::Owner, Rule::KernelScratch, format!("{} bytes", func.scratch));
    }
}
