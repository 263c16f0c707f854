//! Ops that move elements along feature axes without looking at them: `slice`, `permute`.

use crate::{Key, Level, Levels, Nest, Op, OpDef, OpView, TensorType, Type, TypeError, Value};
use tiga_abi::Poly;

/// An operand that is a tensor, and the dims that the result is declared with: of its type and set.
fn declared<'a>(op: OpView<'a>) -> Result<(&'a TensorType, &'a TensorType), TypeError> {
    op.arity(1)?;
    let dims = op.attrs().dims().ok_or_else(|| op.missing(Key::Dims))?;
    let same = |t: &&TensorType| t.dtype == dims.dtype && t.set == dims.set;
    let expected = || format!("a tensor that becomes {dims}");
    let tensor = op.operand(0)?.as_tensor().filter(same).ok_or_else(|| op.wrong(0, expected()))?;
    Ok((tensor, dims))
}

/// The same op on one entity's element: its dims without the set.
pub(crate) fn of_element(
    op: OpView<'_>,
    nest: &mut Nest<'_, '_>,
    operands: &[Value],
) -> Option<Result<Vec<Value>, TypeError>> {
    let data = op.body.inst(op.inst);
    let dims = crate::Attr::Dims(op.attrs().dims()?.element());
    Some(nest.builder.op(data.op, operands, data.attrs.clone().with(Key::Dims, dims)))
}

struct Slice;

impl OpDef for Slice {
    fn name(&self) -> &'static str {
        "slice"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let (tensor, dims) = declared(op)?;
        let begin = op.attrs().begin().ok_or_else(|| op.missing(Key::Begin))?;
        let axis = op.feature_axis(tensor)?;
        if dims.dims.len() != tensor.dims.len() {
            return Err(op.wrong(0, format!("a tensor of which {dims} is a part")));
        }
        let mut others = tensor.dims.clone();
        others[axis] = dims.dims[axis].clone();
        let left = tensor.dims[axis].sub(begin).sub(&dims.dims[axis]);
        if others != dims.dims
            || ![begin, &dims.dims[axis], &left].into_iter().all(|part| never_negative(part, &tensor.dims[axis]))
        {
            return Err(op.wrong(0, format!("a tensor of which {dims} is a part from {begin} on")));
        }
        Ok(vec![dims.clone().into()])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        of_element(op, nest, operands)
    }
}

/// `slice %tensor begin(P) axis(k) dims(f32[N, 4])`: positions from `begin` on, as many as `dims` says.
pub const SLICE: Op = Op(&Slice);

/// Whether a part of an axis is at least 0 whatever the symbols are. Symbols are, so that it is where no term is
/// negative; and the axis is, so that it is where a multiple of it is left when the axis is taken off some times.
pub fn never_negative(part: &Poly, axis: &Poly) -> bool {
    const MOST: i64 = 8;
    let plain = |extent: &Poly| extent.terms().iter().all(|(coefficient, _)| *coefficient >= 0);
    plain(part)
        || (1..=MOST).any(|times| {
            let mut left = part.mul(&Poly::constant(times));
            (0..MOST).any(|_| {
                left = left.sub(axis);
                plain(&left)
            })
        })
}

struct Permute;

impl OpDef for Permute {
    fn name(&self) -> &'static str {
        "permute"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let (tensor, dims) = declared(op)?;
        let pattern = op.attrs().pattern().ok_or_else(|| op.missing(Key::Pattern))?;
        let mut taken: Vec<i64> = pattern.iter().copied().filter(|axis| *axis >= 0).collect();
        let kept = pattern.len() == dims.dims.len()
            && pattern.iter().zip(&dims.dims).all(|(axis, extent)| {
                *axis == -1 || usize::try_from(*axis).is_ok_and(|axis| tensor.dims.get(axis) == Some(extent))
            });
        taken.sort_unstable();
        if !kept || !taken.iter().copied().eq(0..tensor.dims.len() as i64) {
            return Err(op.wrong(0, format!("a tensor whose axes in this order are those of {dims}")));
        }
        Ok(vec![dims.clone().into()])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        of_element(op, nest, operands)
    }
}

/// `permute %tensor pattern(1, -1, 0) dims(f32[B, K, A])`: axis `i` of the result is axis `pattern[i]` of the operand,
/// each once, or with −1 a new one along which the operand is repeated.
pub const PERMUTE: Op = Op(&Permute);
