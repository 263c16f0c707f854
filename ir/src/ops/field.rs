//! Operators on whole fields: `fill`, `len`, reductions over a set or an axis, `reshape`.

use super::apply::fit_message;
use super::rearrange::of_element;
use super::reduce::{extent, named};
use crate::{Attr, Attrs, Fold, Key, Level, Levels, Nest, Op, OpDef, OpView, TensorType, Type, TypeError, Value};
use tiga_abi::{DType, Poly};

struct Fill;

impl OpDef for Fill {
    fn name(&self) -> &'static str {
        "fill"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let dims = op.attrs().dims().ok_or_else(|| op.missing(Key::Dims))?;
        if !op.operand(0)?.is_scalar(dims.dtype) {
            return Err(op.wrong(0, dims.dtype.name()));
        }
        Ok(vec![dims.clone().into()])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        let dims = op.attrs().dims()?.element();
        Some(nest.builder.op(FILL, operands, Attrs::new().with(Key::Dims, Attr::Dims(dims))))
    }
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        op.attrs().dims()?.is_scalar().then(|| Fold::Values(op.operands().to_vec()))
    }
}

/// `fill %scalar dims(f32[N, F])`: the same element everywhere.
pub const FILL: Op = Op(&Fill);

struct Len;

impl OpDef for Len {
    fn name(&self) -> &'static str {
        "len"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(0)?;
        extent(op)?;
        Ok(vec![Type::scalar(DType::I64)])
    }
    fn nests_as_it_is(&self) -> bool {
        true
    }
}

/// `len dims(i64[N])`: the value of an extent.
pub const LEN: Op = Op(&Len);

struct ReduceSet;

impl OpDef for ReduceSet {
    fn name(&self) -> &'static str {
        "reduce_set"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let field = op.operand(0)?.as_tensor().filter(|t| t.set.is_some()).ok_or_else(|| op.wrong(0, "a field"))?;
        let reducer = named(op)?;
        let fit = fit_message(op, 0, reducer, &messages(op, &field.element()).iter().collect::<Vec<_>>())?;
        Ok(fit.all_outside(&reducer.outs).into_iter().map(Type::from).collect())
    }
}

/// What a reduction over a set or an axis folds: elements, and with `indexed` their positions.
fn messages(op: OpView<'_>, element: &TensorType) -> Vec<TensorType> {
    let position = TensorType { dtype: DType::I64, ..element.clone() };
    if op.attrs().has(Key::Indexed) { vec![element.clone(), position] } else { vec![element.clone()] }
}

/// `reduce_set %field [indexed] with(@reducer)`: over the set, mapped along the features.
pub const REDUCE_SET: Op = Op(&ReduceSet);

struct ReduceAxis;

impl OpDef for ReduceAxis {
    fn name(&self) -> &'static str {
        "reduce_axis"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let tensor = op.operand(0)?.as_tensor().ok_or_else(|| op.wrong(0, "a tensor"))?;
        let axis = op.feature_axis(tensor)?;
        let reducer = named(op)?;
        let mut rest = tensor.dims.clone();
        rest.remove(axis);
        let message = TensorType::tensor(tensor.dtype, rest);
        let messages = messages(op, &message);
        let fit = fit_message(op, 0, reducer, &messages.iter().collect::<Vec<_>>())?;
        let outs = fit.all_outside(&reducer.outs);
        Ok(outs.into_iter().map(|t| TensorType { set: tensor.set.clone(), ..t }.into()).collect())
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        let axis = usize::try_from(*op.attrs().axis()?).ok()?;
        let extent = op.operand(0).ok()?.as_tensor()?.dims.get(axis)?.clone();
        let (tensor, indexed) = (operands[0], op.attrs().has(Key::Indexed));
        Some(nest.fold(&extent, op.attrs().reducer()?, |b, k| {
            let element = Nest::elem(b, tensor, k, axis)?;
            Nest::with_position(b, element, indexed.then_some(k))
        }))
    }
}

/// `reduce_axis %tensor axis(k) [indexed] with(@reducer)`: over one feature axis.
pub const REDUCE_AXIS: Op = Op(&ReduceAxis);

struct Reshape;

impl OpDef for Reshape {
    fn name(&self) -> &'static str {
        "reshape"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let dims = op.attrs().dims().ok_or_else(|| op.missing(Key::Dims))?;
        let size = |t: &TensorType| t.dims.iter().fold(Poly::constant(1), |acc, d| acc.mul(d));
        let tensor = op.operand(0)?.as_tensor();
        match tensor {
            Some(t) if t.set == dims.set && t.dtype == dims.dtype && size(t) == size(dims) => {
                Ok(vec![dims.clone().into()])
            }
            _ => Err(op.wrong(0, format!("as many elements as {dims}"))),
        }
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        of_element(op, nest, operands)
    }
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        let dims = op.attrs().dims()?;
        if op.operand(0).ok()?.as_tensor() == Some(dims) {
            return Some(Fold::Values(op.operands().to_vec()));
        }
        let inner = op.def(0).filter(|inner| inner.name() == self.name())?;
        Some(Fold::Op(RESHAPE, inner.operands().to_vec(), op.attrs().clone()))
    }
}

/// `reshape %tensor dims(f32[N, H, D])`: the features of each entity in another shape.
pub const RESHAPE: Op = Op(&Reshape);
