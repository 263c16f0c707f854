//! The domain level: what a program means. Every reduction is the plain left fold in traversal order.

use super::dense::along;
use super::error::{Run, malformed};
use super::fold::{Reduction, State};
use super::machine::{Frame, Machine, Val, enter_value, leave_value, operand};
use super::sizes::Sizes;
use super::value::{Tensor, Value};
use super::{InterpError, Options};
use crate::{InstData, Key, Level, Module, Reducer, Scalar, TensorType, Value as Handle};
use tiga_abi::DType;

/// Evaluates a domain function on its arguments.
///
/// # Errors
/// Arguments that do not fit (both places are named when two sizes disagree), exhausted budgets.
pub fn run_domain(module: &Module, name: &str, args: &[Value]) -> Result<Vec<Value>, InterpError> {
    run_domain_with(module, name, args, &Options::default())
}

/// The same under other bounds, or with values for symbols that no argument fixes.
///
/// # Errors
/// As [`run_domain`].
pub fn run_domain_with(
    module: &Module,
    name: &str,
    args: &[Value],
    options: &Options,
) -> Result<Vec<Value>, InterpError> {
    let machine = Machine::new(module, options);
    let func = machine.func(name, Level::Domain)?;
    let types = func.params().iter().map(|v| func.body.ty(*v));
    // A missing argument is reported by `invoke`, so it does not matter that `zip` stops early.
    let mut values: Vec<Val> = types.zip(args).map(|(ty, arg)| enter_value(ty, arg)).collect();
    values.extend(args.iter().skip(values.len()).map(|_| Val::from(Scalar::Bool(false))));
    machine.invoke(func, values, None)?.into_iter().map(leave_value).collect()
}

impl<'m> Machine<'m> {
    /// Another domain function.
    pub fn call(&self, frame: &Frame<'m>, data: &InstData) -> Run<Vec<Val>> {
        let name = data.attrs.callee().ok_or_else(|| malformed("a callee is missing"))?;
        let func = self.func(name, Level::Domain)?;
        let args = data.operands.iter().map(|v| frame.get(*v).cloned()).collect::<Run<Vec<_>>>()?;
        // The arguments fix every size: a size of the caller is none of the callee's.
        self.invoke(func, args, Some(&Sizes::default()))
    }

    /// Over the set, mapped along the features.
    pub fn reduce_set(&self, frame: &Frame<'m>, data: &InstData) -> Run<Vec<Tensor>> {
        let value = operand(data, 0)?;
        let field = frame.tensor(value)?.clone();
        let reducer = self.reducer(data.attrs.reducer())?;
        let message = tensor_type(frame, value)?.element();
        let indexed = data.attrs.has(Key::Indexed);
        let mut reduction = self.reduction(reducer, &message, indexed, frame)?;
        let len = field.shape().first().ok_or_else(|| malformed("a field is expected"))?;
        let mut state: Option<State> = None;
        for i in 0..*len {
            let message = field.row(i).ok_or_else(|| malformed("a field is expected"))?;
            state = Some(reduction.fold(state, with_position(message, i, indexed))?);
        }
        reduction.results(state)
    }

    /// Outer products, over the set.
    pub fn contract(&self, frame: &Frame<'m>, data: &InstData) -> Run<Vec<Tensor>> {
        let (x, y) = (operand(data, 0)?, operand(data, 1)?);
        let (of_x, of_y) = (tensor_type(frame, x)?, tensor_type(frame, y)?);
        let reducer = self.reducer(data.attrs.reducer())?;
        let message = TensorType::tensor(of_x.dtype.accumulator(), [of_x.dims.as_slice(), &of_y.dims].concat());
        let mut reduction = self.reduction(reducer, &message, false, frame)?;
        let [x, y] = [frame.tensor(x)?, frame.tensor(y)?].map(|t| t.cast(of_x.dtype.accumulator()));
        let len = x.shape().first().ok_or_else(|| malformed("a field is expected"))?;
        let mut state: Option<State> = None;
        for i in 0..*len {
            let (Some(x), Some(y)) = (x.row(i), y.row(i)) else { return Err(malformed("a field is expected")) };
            state = Some(reduction.fold(state, vec![self.products(&x, &y)?])?);
        }
        reduction.results(state)
    }

    /// A reduction of elements, perhaps with their positions.
    fn reduction<'a>(
        &'a self,
        reducer: &'m Reducer,
        element: &TensorType,
        indexed: bool,
        frame: &Frame<'m>,
    ) -> Run<Reduction<'a, 'm>> {
        let position = TensorType { dtype: DType::I64, ..element.clone() };
        let messages = [element, &position];
        Reduction::of_message(self, reducer, &messages[..1 + usize::from(indexed)], &frame.sizes)
    }

    /// Over one feature axis, for each entity and mapped along the other axes.
    pub fn reduce_axis(&self, frame: &Frame<'m>, data: &InstData) -> Run<Vec<Tensor>> {
        let value = operand(data, 0)?;
        let tensor = frame.tensor(value)?.clone();
        let axis = data.attrs.axis().and_then(|a| usize::try_from(*a).ok());
        let axis = axis.ok_or_else(|| malformed("an axis is missing"))?;
        let mut message = tensor_type(frame, value)?.element();
        if axis >= message.dims.len() {
            return Err(malformed("an axis is missing"));
        }
        message.dims.remove(axis);
        let reducer = self.reducer(data.attrs.reducer())?;
        let indexed = data.attrs.has(Key::Indexed);
        let mut reduction = self.reduction(reducer, &message, indexed, frame)?;
        if tensor_type(frame, value)?.set.is_none() {
            return fold_axis(&mut reduction, &tensor, axis, indexed);
        }
        let len = tensor.shape().first().ok_or_else(|| malformed("a field is expected"))?;
        if *len == 0 {
            return without_rows(frame, &data.results);
        }
        let mut rows = Rows::new(*len);
        for i in 0..*len {
            let entity = tensor.row(i).ok_or_else(|| malformed("a field is expected"))?;
            rows.push(fold_axis(&mut reduction, &entity, axis, indexed)?)?;
        }
        rows.fields()
    }
}

fn fold_axis(reduction: &mut Reduction<'_, '_>, tensor: &Tensor, axis: usize, indexed: bool) -> Run<Vec<Tensor>> {
    let len = *tensor.shape().get(axis).ok_or_else(|| malformed("an axis is missing"))?;
    let mut state: Option<State> = None;
    for i in 0..len {
        state = Some(reduction.fold(state, with_position(along(tensor, axis, i), i, indexed))?);
    }
    reduction.results(state)
}

/// A message: an element, perhaps with its position.
fn with_position(element: Tensor, position: usize, indexed: bool) -> Vec<Tensor> {
    if !indexed {
        return vec![element];
    }
    let positions = vec![Scalar::I64(position as i64); element.elems().len()];
    let positions = Tensor::of_elems(DType::I64, element.shape().to_vec(), positions);
    vec![element, positions]
}

fn tensor_type<'m>(frame: &Frame<'m>, value: crate::Value) -> Run<&'m TensorType> {
    frame.body.ty(value).as_tensor().ok_or_else(|| malformed("a tensor is expected"))
}

/// Fields that are filled row by row.
pub(super) struct Rows {
    len: usize,
    fields: Vec<(Tensor, Vec<Scalar>)>,
    pushed: usize,
}

impl Rows {
    /// Fields of `len` rows.
    pub fn new(len: usize) -> Self {
        Rows { len, fields: Vec::new(), pushed: 0 }
    }

    /// Appends a row to each field.
    pub fn push(&mut self, row: Vec<Tensor>) -> Run<()> {
        if self.pushed == 0 {
            let field = |t: Tensor| {
                let mut elems = Vec::with_capacity(self.len.saturating_mul(t.elems().len()));
                elems.extend_from_slice(t.elems());
                (t, elems)
            };
            self.fields = row.into_iter().map(field).collect();
        } else {
            if row.len() != self.fields.len() {
                return Err(malformed("rows of another number of fields"));
            }
            for ((first, elems), tensor) in self.fields.iter_mut().zip(row) {
                if tensor.shape() != first.shape() {
                    return Err(malformed("rows of another shape"));
                }
                elems.extend_from_slice(tensor.elems());
            }
        }
        self.pushed += 1;
        Ok(())
    }

    /// The fields; all rows must have been pushed, and one at least.
    pub fn fields(self) -> Run<Vec<Tensor>> {
        if self.pushed != self.len {
            return Err(malformed("rows are missing"));
        }
        let field = |(first, elems): (Tensor, Vec<Scalar>)| {
            Tensor::of_elems(first.dtype(), [&[self.len], first.shape()].concat(), elems)
        };
        Ok(self.fields.into_iter().map(field).collect())
    }
}

/// Fields over a set without entities; only their types know their features.
pub(super) fn without_rows(frame: &Frame<'_>, results: &[Handle]) -> Run<Vec<Tensor>> {
    let field = |value: &Handle| {
        let ty = frame.body.ty(*value).as_tensor().ok_or_else(|| malformed("a field is expected"))?;
        let shape = frame.sizes.shape_of(ty)?;
        let empty = shape.first() == Some(&0);
        empty.then(|| Tensor::of_elems(ty.dtype, shape, Vec::new())).ok_or_else(|| malformed("a field is expected"))
    };
    results.iter().map(field).collect()
}
