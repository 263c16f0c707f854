//! Functions on feature axes as instructions.

use super::super::hir::{Composite, Expr, Kind};
use super::{Emit, EmitError, Frame};
use tiga_abi::{DType, Poly};
use tiga_ir::{Attr, Attrs, Builder, Key, Scalar, TensorType, TypeError, Value, ops};

impl Frame<'_> {
    /// An expression that moves, joins or looks up elements; `None` for others.
    pub(super) fn tensor_op(&mut self, b: &mut Builder<'_>, expr: &Expr) -> Emit<Option<Value>> {
        let dims = self.tensor(&expr.ty).unwrap_or(TensorType::scalar(DType::F32));
        let dims = Attrs::new().with(Key::Dims, Attr::Dims(dims));
        let (op, operands, attrs): (_, &[Expr], _) = match &expr.kind {
            Kind::Iota(axis) => (ops::IOTA, &[], Attrs::new().with(Key::Dims, Attr::Dims(self.extent(axis)))),
            Kind::Slice(axis, begin, value) => {
                let begin = begin.substitute(&|s| self.map.get(s).cloned());
                let attrs = dims.with(Key::Begin, Attr::Extent(begin)).with(Key::Axis, Attr::Int(*axis));
                (ops::SLICE, std::slice::from_ref(&**value), attrs)
            }
            Kind::Permute(pattern, value) => {
                let attrs = dims.with(Key::Pattern, Attr::Ints(pattern.clone()));
                (ops::PERMUTE, std::slice::from_ref(&**value), attrs)
            }
            Kind::Scan(axis, value) => {
                let value = self.single(b, value)?;
                b.loc = self.emitter.place(expr.span);
                let attrs = Attrs::new().with(Key::Axis, Attr::Int(*axis));
                return in_accumulator(b, &[value], |b, args| Ok(b.value(ops::SCAN_AXIS, args, attrs)?)).map(Some);
            }
            Kind::Reshape(value) => (ops::RESHAPE, std::slice::from_ref(&**value), dims),
            Kind::Concat(parts) => (ops::CONCAT, parts, Attrs::new()),
            Kind::GatherAxis(axis, pair) => {
                (ops::GATHER_AXIS, &pair[..], Attrs::new().with(Key::Axis, Attr::Int(*axis)))
            }
            Kind::GatherSet(pair) => (ops::GATHER_SET, &pair[..], Attrs::new()),
            Kind::Contract(pair) => {
                let pair = self.singles(b, &pair[..])?;
                let dtype = self.tensor(&expr.ty).map_or(DType::F32, |t| t.dtype);
                let attrs = Attrs::new().with(Key::With, Attr::Name(ops::sum_of(dtype).into()));
                b.loc = self.emitter.place(expr.span);
                let product = b.value(ops::CONTRACT, &pair, attrs)?;
                return Ok(Some(b.cast(product, dtype)?));
            }
            _ => return Ok(None),
        };
        let operands = self.singles(b, operands)?;
        b.loc = self.emitter.place(expr.span);
        Ok(Some(b.value(op, &operands, attrs)?))
    }
}

/// `softmax`, `log_softmax`, `dot` and `cross`; `ty` is the result's type.
pub(super) fn written_out(b: &mut Builder<'_>, which: Composite, args: &[Value], ty: &TensorType) -> Emit<Value> {
    let ty = &ty.with_dtype(ty.dtype.accumulator());
    in_accumulator(b, args, |b, args| match which {
        Composite::Softmax(axis) => normalised(b, args[0], axis, ty, false),
        Composite::LogSoftmax(axis) => normalised(b, args[0], axis, ty, true),
        Composite::Dot(axis) => {
            let product = b.value(ops::MUL, args, Attrs::new())?;
            let sum = Attrs::new().with(Key::With, Attr::Name(ops::sum_of(ty.dtype).into()));
            Ok(b.value(ops::REDUCE_AXIS, &[product], sum.with(Key::Axis, Attr::Int(axis)))?)
        }
        _ => {
            let [left, right] = [(1, 2), (2, 1)].map(|(of_x, of_y)| {
                let (x, y) = (turned(b, args[0], of_x)?, turned(b, args[1], of_y)?);
                Ok::<_, EmitError>(b.value(ops::MUL, &[x, y], Attrs::new())?)
            });
            Ok(b.value(ops::SUB, &[left?, right?], Attrs::new())?)
        }
    })
}

/// What is computed of values, of `f16` and `bf16` in `f32`, where each element of the result is rounded once.
fn in_accumulator(
    b: &mut Builder<'_>,
    args: &[Value],
    compute: impl FnOnce(&mut Builder<'_>, &[Value]) -> Emit<Value>,
) -> Emit<Value> {
    let dtype = args.first().and_then(|v| b.body.ty(*v).dtype()).unwrap_or(DType::F32);
    let wide: Vec<Value> = args.iter().map(|v| b.cast(*v, dtype.accumulator())).collect::<Result<_, TypeError>>()?;
    let value = compute(b, &wide)?;
    Ok(b.cast(value, dtype)?)
}

/// `softmax` or `log_softmax` over an axis, or over the set.
fn normalised(b: &mut Builder<'_>, x: Value, axis: Option<i64>, ty: &TensorType, log: bool) -> Emit<Value> {
    let attrs = Attrs::new;
    let greatest = spread(b, "max", x, axis, ty)?;
    let shifted = b.value(ops::SUB, &[x, greatest], attrs())?;
    let powers = math(b, "exp", shifted)?;
    let sum = spread(b, "sum", powers, axis, ty)?;
    if !log {
        return Ok(b.value(ops::DIV, &[powers, sum], attrs())?);
    }
    let log = math(b, "log", sum)?;
    Ok(b.value(ops::SUB, &[shifted, log], attrs())?)
}

/// A math function by its name.
fn math(b: &mut Builder<'_>, name: &str, x: Value) -> Emit<Value> {
    let op = ops::lookup(name).expect("the language has this function");
    Ok(b.value(op, &[x], Attrs::new())?)
}

/// A reduction over a feature axis, repeated along it; or over the set.
fn spread(b: &mut Builder<'_>, reducer: &str, x: Value, axis: Option<i64>, ty: &TensorType) -> Emit<Value> {
    let with = Attrs::new().with(Key::With, Attr::Name(format!("{reducer}.{}", ty.dtype).into()));
    let Some(axis) = axis else { return Ok(b.value(ops::REDUCE_SET, &[x], with)?) };
    let reduced = b.value(ops::REDUCE_AXIS, &[x], with.with(Key::Axis, Attr::Int(axis)))?;
    let others = (0..ty.dims.len() as i64).map(|i| match i.cmp(&axis) {
        std::cmp::Ordering::Less => i,
        std::cmp::Ordering::Equal => -1,
        std::cmp::Ordering::Greater => i - 1,
    });
    let attrs = Attrs::new().with(Key::Pattern, Attr::Ints(others.collect()));
    Ok(b.value(ops::PERMUTE, &[reduced], attrs.with(Key::Dims, Attr::Dims(ty.clone())))?)
}

/// The three numbers on the last axis, from the one at `by` on.
fn turned(b: &mut Builder<'_>, x: Value, by: i64) -> Emit<Value> {
    let dims = TensorType::tensor(DType::I64, vec![Poly::constant(3)]);
    let positions = b.value(ops::IOTA, &[], Attrs::new().with(Key::Dims, Attr::Dims(dims)))?;
    let (by, three) = (b.constant(Scalar::I64(by)), b.constant(Scalar::I64(3)));
    let moved = b.value(ops::ADD, &[positions, by], Attrs::new())?;
    let ids = b.value(ops::REM, &[moved, three], Attrs::new())?;
    let axis = b.body.ty(x).as_tensor().map_or(0, |t| t.dims.len() as i64 - 1);
    Ok(b.value(ops::GATHER_AXIS, &[x, ids], Attrs::new().with(Key::Axis, Attr::Int(axis)))?)
}
