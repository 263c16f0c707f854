//! Straight-line elementwise code, the same for fields and for the regions of messages.

use super::coverage::defined;
use super::inputs::element;
use fastrand::Rng;
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Builder, Key, Op, TensorType, Value, ops};
use tiga_source::Loc;

/// All elementwise ops that programs may contain: `fma` and bit casts are the compiler's own.
pub(super) fn elementwise() -> impl Iterator<Item = Op> {
    let own = [ops::FMA, ops::BITCAST];
    ops::ALL.iter().copied().filter(move |op| op.elementwise().is_some() && !own.contains(op))
}

/// Whether the generator uses an op on a type.
pub(super) fn accepts(op: Op, dtype: DType) -> bool {
    defined(op, dtype)
}

/// Appends `count` random elementwise instructions whose operands come from `pool`, which grows.
pub(super) fn elementwise_code(rng: &mut Rng, builder: &mut Builder<'_>, pool: &mut Vec<Value>, count: usize) {
    for _ in 0..count {
        // Half of them go on with the newest value, so that chains get long and little is dead.
        let newest = pool.last().and_then(|v| builder.body.ty(*v).dtype()).filter(|_| rng.bool());
        let dtype = newest.unwrap_or(DType::ALL[rng.usize(0..DType::ALL.len())]);
        let choices: Vec<Op> = elementwise().filter(|op| accepts(*op, dtype)).collect();
        builder.loc = Loc::new(builder.loc.file().clone(), builder.loc.line(), builder.loc.column() + 1);
        let op = match rng.u8(0..4) {
            0 if dtype.is_float() => ops::MUL,
            _ => choices[rng.usize(0..choices.len())],
        };
        let Some(value) = instruction(rng, builder, pool, op, dtype, None) else { continue };
        pool.push(value);
        if op == ops::MUL && rng.bool() {
            // What contraction looks for.
            let sum = [ops::ADD, ops::SUB][rng.usize(0..2)];
            pool.extend(instruction(rng, builder, pool, sum, dtype, Some(value)));
        }
    }
}

/// An instruction on values of the pool; `given` is one of its operands.
fn instruction(
    rng: &mut Rng,
    builder: &mut Builder<'_>,
    pool: &[Value],
    op: Op,
    dtype: DType,
    given: Option<Value>,
) -> Option<Value> {
    let mut operands: Vec<Value> = Vec::new();
    if op == ops::SELECT {
        operands.push(operand(rng, builder, pool, DType::Bool, &[]));
    }
    let arity = op.elementwise()?.arity();
    while operands.len() < arity {
        let next = operand(rng, builder, pool, dtype, &operands);
        operands.push(next);
    }
    if let Some(given) = given {
        let at = rng.usize(0..arity);
        operands[at] = given;
    }
    let attrs = match op {
        op if op == ops::CAST => Attrs::new().with(Key::To, Attr::DType(DType::ALL[rng.usize(0..DType::ALL.len())])),
        _ => Attrs::new(),
    };
    builder.value(op, &operands, attrs).ok()
}

/// A value of a type that broadcasts with the others; a constant if there is none (and sometimes anyway).
fn operand(rng: &mut Rng, builder: &mut Builder<'_>, pool: &[Value], dtype: DType, others: &[Value]) -> Value {
    let tensor = |b: &Builder<'_>, v: Value| b.body.ty(v).as_tensor().cloned();
    let fits = |b: &Builder<'_>, v: Value| {
        let types: Option<Vec<TensorType>> = others.iter().chain([&v]).map(|v| tensor(b, *v)).collect();
        types.is_some_and(|t| ops::broadcast(&t).is_some())
    };
    let found: Vec<Value> = pool
        .iter()
        .copied()
        .filter(|v| builder.body.ty(*v).as_tensor().is_some_and(|t| t.dtype == dtype) && fits(builder, *v))
        .collect();
    if found.is_empty() || rng.u8(0..8) == 0 {
        return builder.constant(element(rng, dtype));
    }
    // Recent values are likelier, so that chains get long.
    let recent = found.len().saturating_sub(4);
    if rng.bool() { found[rng.usize(recent..found.len())] } else { found[rng.usize(0..found.len())] }
}
