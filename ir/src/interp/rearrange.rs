//! Ops that move elements: each element of the result says which element of the operand it is.

use super::error::{Run, malformed};
use super::machine::{Frame, Machine, operand};
use super::value::Tensor;
use crate::{Attrs, InstData, Scalar, TensorType, Type, Value as Handle, ops};
use tiga_abi::DType;

/// The index of each element of a shape, in row-major order.
fn each(shape: &[usize], mut visit: impl FnMut(&[usize]) -> Run<()>) -> Run<()> {
    if shape.contains(&0) {
        return Ok(());
    }
    let mut index = vec![0; shape.len()];
    loop {
        visit(&index)?;
        let Some(axis) = (0..shape.len()).rev().find(|axis| index[*axis] + 1 < shape[*axis]) else { return Ok(()) };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}

/// The element at an index; `None` if it is outside.
fn at(tensor: &Tensor, index: &[usize]) -> Option<Scalar> {
    let mut flat = 0;
    for (i, extent) in index.iter().zip(tensor.shape()) {
        if i >= extent {
            return None;
        }
        flat = flat * extent + i;
    }
    tensor.elems().get(flat).copied()
}

/// Where a value is a field, its set is an axis before the others.
fn set_axes(frame: &Frame<'_>, value: Handle) -> usize {
    usize::from(frame.body.ty(value).as_tensor().is_some_and(|t| t.set.is_some()))
}

impl<'m> Machine<'m> {
    /// A tensor of a shape, each element the operand's at the index that `source` makes of its own; 0 if that is none.
    fn rearranged(
        &self,
        tensor: &Tensor,
        shape: Vec<usize>,
        source: impl Fn(&[usize]) -> Option<Vec<usize>>,
    ) -> Run<Tensor> {
        let mut elems = Vec::with_capacity(self.elements(&shape)?);
        let zero = Scalar::from_i64(tensor.dtype(), 0);
        each(&shape, |index| {
            elems.push(source(index).and_then(|source| at(tensor, &source)).unwrap_or(zero));
            Ok(())
        })?;
        Ok(Tensor::of_elems(tensor.dtype(), shape, elems))
    }

    fn declared<'d>(&self, data: &'d InstData) -> Run<&'d TensorType> {
        data.attrs.dims().ok_or_else(|| malformed("extents are missing"))
    }

    fn feature_axis(&self, data: &InstData) -> Run<usize> {
        let axis = data.attrs.axis().and_then(|a| usize::try_from(*a).ok());
        axis.ok_or_else(|| malformed("an axis is missing"))
    }

    /// Positions from one on along an axis.
    pub fn slice(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let value = operand(data, 0)?;
        let axis = self.feature_axis(data)? + set_axes(frame, value);
        let begin = frame.sizes.eval(data.attrs.begin().ok_or_else(|| malformed("a position is missing"))?)?;
        let shape = frame.sizes.shape_of(self.declared(data)?)?;
        let tensor = frame.tensor(value)?.clone();
        self.rearranged(&tensor, shape, |index| {
            let mut index = index.to_vec();
            *index.get_mut(axis)? += begin;
            Some(index)
        })
    }

    /// Axes in another order, and new ones.
    pub fn permute(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let value = operand(data, 0)?;
        let sets = set_axes(frame, value);
        let pattern = data.attrs.pattern().ok_or_else(|| malformed("an order of axes is missing"))?;
        let shape = frame.sizes.shape_of(self.declared(data)?)?;
        let tensor = frame.tensor(value)?.clone();
        self.rearranged(&tensor, shape, |index| {
            let mut source = vec![0; tensor.shape().len()];
            source[..sets].copy_from_slice(index.get(..sets)?);
            for (i, axis) in pattern.iter().enumerate().filter(|(_, axis)| **axis >= 0) {
                *source.get_mut(sets + *axis as usize)? = *index.get(sets + i)?;
            }
            Some(source)
        })
    }

    /// Running sums along an axis.
    pub fn scan(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let value = operand(data, 0)?;
        let axis = self.feature_axis(data)? + set_axes(frame, value);
        let tensor = frame.tensor(value)?;
        let shape = tensor.shape().to_vec();
        let inner: usize = shape.get(axis + 1..).ok_or_else(|| malformed("an axis is missing"))?.iter().product();
        self.elements(&shape)?;
        let mut elems = tensor.elems().to_vec();
        for i in 0..elems.len() {
            if !(i / inner).is_multiple_of(shape[axis]) {
                let sum = ops::ADD.eval(&[elems[i - inner], elems[i]], &Attrs::new());
                elems[i] = sum.ok_or_else(|| malformed("the op works on no elements"))?;
            }
        }
        Ok(Tensor::of_elems(tensor.dtype(), shape, elems))
    }

    /// 0, 1, 2, …
    pub fn iota(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let n = self.extent(frame, data)?;
        self.elements(&[n])?;
        Ok(Tensor::of_elems(DType::I64, vec![n], (0..n as i64).map(Scalar::I64).collect()))
    }

    /// Indices in place of a feature axis.
    pub fn gather_axis(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let (value, ids) = (operand(data, 0)?, operand(data, 1)?);
        let (of_tensor, of_ids) = (set_axes(frame, value), set_axes(frame, ids));
        let axis = self.feature_axis(data)?;
        let (tensor, ids) = (frame.tensor(value)?.clone(), frame.tensor(ids)?.clone());
        let (features, wanted) = (&tensor.shape()[of_tensor..], &ids.shape()[of_ids..]);
        if axis >= features.len() {
            return Err(malformed("an axis is missing"));
        }
        let sets = of_tensor.max(of_ids);
        let set = if of_tensor > 0 { tensor.shape() } else { ids.shape() };
        let shape = [&set[..sets], &features[..axis], wanted, &features[axis + 1..]].concat();
        self.rearranged(&tensor, shape, |index| {
            let (set, rest) = index.split_at(sets);
            let (before, rest) = rest.split_at(axis);
            let (wanted, after) = rest.split_at(ids.shape().len() - of_ids);
            let id = at(&ids, &[&set[..of_ids], wanted].concat())?.as_i64()?;
            Some([&set[..of_tensor], before, &[usize::try_from(id).ok()?], after].concat())
        })
    }

    /// The elements of entities by their numbers, from a field or its memory.
    pub fn gather_set(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let ids = frame.tensor(operand(data, 1)?)?.clone();
        let value = operand(data, 0)?;
        if let Type::Tensor(_) = frame.body.ty(value) {
            let field = frame.tensor(value)?;
            let row = |id: usize| Ok(field.row(id));
            return self.gathered(&ids, field.dtype(), field.shape(), row);
        }
        let memory = frame.memory(value)?;
        let shape = memory.shape();
        let count = shape.first().copied().unwrap_or(0);
        let row = |id: usize| match id < count {
            true => memory.load(&[id as i64], self.iteration.get()).map(Some),
            false => Ok(None),
        };
        self.gathered(&ids, memory.dtype(), &shape, row)
    }

    /// For each index the row there, or zeros.
    fn gathered(
        &self,
        ids: &Tensor,
        dtype: DType,
        field: &[usize],
        row: impl Fn(usize) -> Run<Option<Tensor>>,
    ) -> Run<Tensor> {
        let (_, features) = field.split_first().ok_or_else(|| malformed("a field is expected"))?;
        let shape = [ids.shape(), features].concat();
        let mut elems = Vec::with_capacity(self.elements(&shape)?);
        for id in ids.elems() {
            let found = match id.as_i64().and_then(|id| usize::try_from(id).ok()) {
                Some(id) => row(id)?,
                None => None,
            };
            match found {
                Some(found) => elems.extend_from_slice(found.elems()),
                None => elems.extend(std::iter::repeat_n(Scalar::from_i64(dtype, 0), features.iter().product())),
            }
        }
        Ok(Tensor::of_elems(dtype, shape, elems))
    }
}
