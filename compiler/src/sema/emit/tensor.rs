//! Functions on feature axes as instructions.

use super::super::hir::{Composite, Expr, Kind};
use super::{Emit, EmitError, Frame};
use tiga_abi::{DType, Poly};
use tiga_ir::{Attr, Attrs, Builder, Key, Scalar, TensorType, Value, ops};

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
                (ops::SCAN_AXIS, std::slice::from_ref(&**value), Attrs::new().with(Key::Axis, Attr::Int(*axis)))
            }
            Kind::Reshape(value) => (ops::RESHAPE, std::slice::from_ref(&**value), dims),
            Kind::Concat(parts) => (ops::CONCAT, parts, Attrs::new()),
            Kind::GatherAxis(axis, pair) => {
                (ops::GATHER_AXIS, &pair[..], Attrs::new().with(Key::Axis, Attr::Int(*axis)))
            }
            Kind::GatherSet(pair) => (ops::GATHER_SET, &pair[..], Attrs::new()),
            Kind::Contract(pair) => {
                let sum = ops::sum_of(self.tensor(&expr.ty).map_or(DType::F32, |t| t.dtype));
                (ops::CONTRACT, &pair[..], Attrs::new().with(Key::With, Attr::Name(sum.into())))
            }
            _ => return Ok(None),
        };
        let operands = self.singles(b, operands)?;
        b.loc = self.emitter.place(expr.span);
        Ok(Some(b.value(op, &operands, attrs)?))
    }

    /// `softmax`, `log_softmax` and `cross` of values of a type.
    pub(super) fn written_out(
        &mut self,
        b: &mut Builder<'_>,
        which: Composite,
        args: &[Value],
        ty: &TensorType,
    ) -> Emit<Option<Value>> {
        let x = args[0];
        let attrs = Attrs::new;
        Ok(Some(match which {
            Composite::Softmax(axis) | Composite::LogSoftmax(axis) => {
                let greatest = spread(b, "max", x, axis, ty)?;
                let shifted = b.value(ops::SUB, &[x, greatest], attrs())?;
                let powers = math(b, "exp", shifted)?;
                let sum = spread(b, "sum", powers, axis, ty)?;
                if matches!(which, Composite::Softmax(_)) {
                    return Ok(Some(b.value(ops::DIV, &[powers, sum], attrs())?));
                }
                let log = math(b, "log", sum)?;
                b.value(ops::SUB, &[shifted, log], attrs())?
            }
            Composite::Cross => {
                let [left, right] = [(1, 2), (2, 1)].map(|(of_x, of_y)| {
                    let (x, y) = (turned(b, x, of_x)?, turned(b, args[1], of_y)?);
                    Ok::<_, EmitError>(b.value(ops::MUL, &[x, y], attrs())?)
                });
                b.value(ops::SUB, &[left?, right?], attrs())?
            }
            _ => return Ok(None),
        }))
    }
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
