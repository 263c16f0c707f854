//! Ops on dense tensors, the same on fields and on small tensors: element by element with broadcasting, products, shapes.

use super::error::{ErrorKind, Run, malformed};
use super::machine::{Frame, Machine, operand};
use super::value::{Tensor, count};
use crate::ops::{self, Elementwise};
use crate::{Attrs, InstData, Scalar, TensorType};
use tiga_abi::DType;

/// No elementwise op has more operands.
const MAX_ARITY: usize = 3;

/// An operand of an elementwise op: features are repeated along leading feature axes that it lacks.
struct Arg<'a> {
    dtype: DType,
    elems: &'a [Scalar],
    set: Option<usize>,
    dims: &'a [usize],
    features: usize,
}

impl<'m> Machine<'m> {
    /// Sets match, feature axes align at the end, shorter shapes are repeated.
    pub fn elementwise(&self, frame: &Frame<'m>, data: &InstData, rule: &dyn Elementwise) -> Run<Tensor> {
        let arity = data.operands.len();
        if arity != rule.arity() || arity > MAX_ARITY {
            return Err(malformed("an elementwise op has another number of operands"));
        }
        let mut scalars = [Scalar::Bool(false); MAX_ARITY];
        let mut all_scalars = true;
        for (slot, value) in scalars.iter_mut().zip(&data.operands) {
            match frame.tensor(*value)?.as_scalar() {
                Some(scalar) => *slot = scalar,
                None => all_scalars = false,
            }
        }
        if all_scalars {
            return Ok(Tensor::scalar(rule.value(&scalars[..arity], &data.attrs)));
        }
        let args = data.operands.iter().map(|v| self.arg(frame, *v)).collect::<Run<Vec<_>>>()?;
        self.broadcast(&args, &data.attrs, rule)
    }

    fn arg<'f>(&self, frame: &'f Frame<'m>, value: crate::Value) -> Run<Arg<'f>> {
        let tensor = frame.tensor(value)?;
        let has_set = frame.body.ty(value).as_tensor().is_some_and(|t| t.set.is_some());
        let (set, dims) = match tensor.shape().split_first() {
            Some((set, dims)) if has_set => (Some(*set), dims),
            _ => (None, tensor.shape()),
        };
        Ok(Arg { dtype: tensor.dtype(), elems: tensor.elems(), set, dims, features: dims.iter().product() })
    }

    fn broadcast(&self, args: &[Arg<'_>], attrs: &Attrs, rule: &dyn Elementwise) -> Run<Tensor> {
        let set = args.iter().find_map(|a| a.set);
        let dims = args.iter().map(|a| a.dims).max_by_key(|d| d.len()).unwrap_or(&[]);
        if args.iter().any(|a| !dims.ends_with(a.dims) || (a.set.is_some() && a.set != set)) {
            return Err(malformed("shapes do not match"));
        }
        let shape: Vec<usize> = set.into_iter().chain(dims.iter().copied()).collect();
        let n = self.elements(&shape)?;
        let features: usize = dims.iter().product();
        let mut elems = Vec::with_capacity(n);
        let mut scalars = [Scalar::Bool(false); MAX_ARITY];
        for entity in 0..set.unwrap_or(1) {
            for feature in 0..features {
                for (slot, arg) in scalars.iter_mut().zip(args) {
                    let row = if arg.set.is_some() { entity * arg.features } else { 0 };
                    *slot = arg.elems[row + feature % arg.features];
                }
                elems.push(rule.value(&scalars[..args.len()], attrs));
            }
        }
        let dtypes: Vec<DType> = args.iter().map(|a| a.dtype).collect();
        let dtype = rule.result(&dtypes, attrs).ok_or_else(|| malformed("operands of another type"))?;
        Ok(Tensor::of_elems(dtype, shape, elems))
    }

    fn dims<'d>(&self, data: &'d InstData) -> Run<&'d TensorType> {
        data.attrs.dims().ok_or_else(|| malformed("extents are missing"))
    }

    /// The same element everywhere.
    pub fn fill(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let value = frame.scalar(operand(data, 0)?)?;
        let shape = frame.sizes.shape_of(self.dims(data)?)?;
        let n = self.elements(&shape)?;
        Ok(Tensor::of_elems(value.dtype(), shape, vec![value; n]))
    }

    /// The only extent of `dims`.
    pub fn extent(&self, frame: &Frame<'m>, data: &InstData) -> Run<usize> {
        match self.dims(data)?.extents().as_slice() {
            [extent] => frame.sizes.eval(extent),
            _ => Err(malformed("one extent is expected")),
        }
    }

    /// The value of an extent.
    pub fn len(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        Ok(Tensor::scalar(Scalar::I64(self.extent(frame, data)? as i64)))
    }

    /// Along the last axis.
    pub fn concat(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let parts = data.operands.iter().map(|v| frame.tensor(*v)).collect::<Run<Vec<_>>>()?;
        let last = |t: &Tensor| t.shape().split_last().map(|(last, rest)| (*last, rest.to_vec()));
        let ends = parts.iter().map(|t| last(t)).collect::<Option<Vec<_>>>();
        let ends = ends.ok_or_else(|| malformed("a feature axis is missing"))?;
        let Some((_, leading)) = ends.first() else { return Err(malformed("an operand is missing")) };
        if ends.iter().any(|(_, rest)| rest != leading) {
            return Err(malformed("shapes do not match"));
        }
        let mut shape = leading.clone();
        shape.push(ends.iter().map(|(last, _)| last).sum());
        let mut elems = Vec::with_capacity(self.elements(&shape)?);
        for row in 0..leading.iter().product() {
            for (part, (width, _)) in parts.iter().zip(&ends) {
                elems.extend_from_slice(&part.elems()[row * width..(row + 1) * width]);
            }
        }
        Ok(Tensor::of_elems(parts[0].dtype(), shape, elems))
    }

    /// All products of an element of the left with one of the right operand.
    pub fn outer(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        self.products(frame.tensor(operand(data, 0)?)?, frame.tensor(operand(data, 1)?)?)
    }

    /// All products of an element of one tensor with one of another.
    pub(super) fn products(&self, a: &Tensor, b: &Tensor) -> Run<Tensor> {
        let shape = [a.shape(), b.shape()].concat();
        let mut elems = Vec::with_capacity(self.elements(&shape)?);
        for x in a.elems() {
            for y in b.elems() {
                elems.push(apply(ops::MUL, *x, *y)?);
            }
        }
        Ok(Tensor::of_elems(a.dtype(), shape, elems))
    }

    /// The product; where the right operand is a field, for each entity by itself.
    pub fn matmul(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let (a, b) = (operand(data, 0)?, operand(data, 1)?);
        let dtype = frame.tensor(a)?.dtype();
        let [left, right] = [frame.tensor(a)?, frame.tensor(b)?].map(|t| t.cast(dtype.accumulator()));
        let has_set = |v: crate::Value| frame.body.ty(v).as_tensor().is_some_and(|t| t.set.is_some());
        if !has_set(b) {
            return Ok(self.product(&left, &right)?.cast(dtype));
        }
        let missing = || malformed("a field is shorter than its set");
        let count = *right.shape().first().ok_or_else(missing)?;
        let result = data.results.first().and_then(|v| frame.body.ty(*v).as_tensor());
        let shape = frame.sizes.shape_of(result.ok_or_else(|| malformed("a product has a type"))?)?;
        let mut elems = Vec::with_capacity(self.elements(&shape)?);
        for entity in 0..count {
            let left = if has_set(a) { left.row(entity).ok_or_else(missing)? } else { left.clone() };
            let product = self.product(&left, &right.row(entity).ok_or_else(missing)?)?;
            elems.extend_from_slice(product.elems());
        }
        Ok(Tensor::of_elems(left.dtype(), shape, elems).cast(dtype))
    }

    /// `[…, K] @ [K, M]` or `[…, K] @ [K]`: the first product, then each further one added to it; 0 for K = 0.
    fn product(&self, left: &Tensor, right: &Tensor) -> Run<Tensor> {
        let (Some((k, rows)), Some((k2, columns))) = (left.shape().split_last(), right.shape().split_first()) else {
            return Err(malformed("a feature axis is missing"));
        };
        if k != k2 {
            return Err(malformed("shapes do not match"));
        }
        let shape = [rows, columns].concat();
        let width: usize = columns.iter().product();
        let n = self.elements(&shape)?;
        self.charge(n.saturating_mul(*k))?;
        let mut elems = Vec::with_capacity(n);
        for i in 0..n {
            let (row, column) = (i / width * k, i % width);
            let product = |j: usize| apply(ops::MUL, left.elems()[row + j], right.elems()[j * width + column]);
            let mut sum = if *k == 0 { Scalar::from_i64(left.dtype(), 0) } else { product(0)? };
            for j in 1..*k {
                sum = apply(ops::ADD, sum, product(j)?)?;
            }
            elems.push(sum);
        }
        Ok(Tensor::of_elems(left.dtype(), shape, elems))
    }

    /// The features of each entity in another shape.
    pub fn reshape(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let shape = frame.sizes.shape_of(self.dims(data)?)?;
        self.elements(&shape)?;
        let tensor = frame.tensor(operand(data, 0)?)?;
        tensor.reshaped(shape).ok_or_else(|| malformed("another number of elements"))
    }

    /// The in-degree of every destination, or of one.
    pub fn degree(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let rel = frame.rel(operand(data, 0)?)?;
        let of_row = |row: usize| Scalar::I64(rel.row(row).len() as i64);
        if let Some(row) = data.operands.get(1) {
            let row = axis_index("the rows of a relation", frame.int(*row)?, rel.num_dst())?;
            return Ok(Tensor::scalar(of_row(row)));
        }
        let shape = vec![rel.num_dst()];
        self.elements(&shape)?;
        Ok(Tensor::of_elems(DType::I64, shape, (0..rel.num_dst()).map(of_row).collect()))
    }

    /// A small tensor without one axis.
    pub fn elem(&self, frame: &Frame<'m>, data: &InstData) -> Run<Tensor> {
        let tensor = frame.tensor(operand(data, 0)?)?;
        let axis = data.attrs.axis().and_then(|a| usize::try_from(*a).ok()).filter(|a| *a < tensor.shape().len());
        let axis = axis.ok_or_else(|| malformed("an axis is missing"))?;
        let extent = tensor.shape()[axis];
        let index = axis_index("an axis", frame.int(operand(data, 1)?)?, extent)?;
        self.charge(tensor.elems().len() / extent)?;
        Ok(along(tensor, axis, index))
    }
}

/// A binary op on two elements.
fn apply(op: crate::Op, a: Scalar, b: Scalar) -> Run<Scalar> {
    op.eval(&[a, b], &Attrs::new()).ok_or_else(|| malformed("the op works on no elements"))
}

/// An index that must be below an extent.
pub(super) fn axis_index(what: &'static str, index: i64, extent: usize) -> Run<usize> {
    let valid = usize::try_from(index).ok().filter(|i| *i < extent);
    valid.ok_or_else(|| ErrorKind::Index { what, index, extent }.into())
}

/// The tensor without an axis, at an index of it; both must exist.
pub(super) fn along(tensor: &Tensor, axis: usize, index: usize) -> Tensor {
    let shape = tensor.shape();
    let inner: usize = shape[axis + 1..].iter().product();
    let block = shape[axis] * inner;
    let mut rest = shape.to_vec();
    rest.remove(axis);
    let mut elems = Vec::with_capacity(count(&rest).unwrap_or(0));
    if inner > 0 {
        for chunk in tensor.elems().chunks_exact(block) {
            elems.extend_from_slice(&chunk[index * inner..(index + 1) * inner]);
        }
    }
    Tensor::of_elems(tensor.dtype(), rest, elems)
}
