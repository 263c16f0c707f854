//! From domain ops to loops: each op's file says what one row of its result is, in terms of one row of its operands.

use crate::{
    Attrs, Builder, Key, Op, OpView, Over, ReduceShape, Region, TensorType, Type, TypeError, Value, attr::Attr,
};
use tiga_abi::{DType, Poly};

/// Where an op is unrolled: inside a `for` (or a region of an `apply`), on small tensors.
pub struct Nest<'a, 'b> {
    /// Appends to the loop's body.
    pub builder: &'a mut Builder<'b>,
    /// The row, if the loop has one.
    pub row: Option<Value>,
}

impl Nest<'_, '_> {
    /// A reduction over one feature extent, as a plain left fold.
    ///
    /// # Errors
    /// Whatever the type rules of the body say.
    pub fn fold(
        &mut self,
        extent: &Poly,
        reducer: &str,
        body: impl FnOnce(&mut Builder<'_>, Value) -> Result<Vec<Value>, TypeError>,
    ) -> Result<Vec<Value>, TypeError> {
        let index = vec![(Type::scalar(DType::I64), Some("k"))];
        let (region, result) = self.builder.region(index, |builder, params| {
            let message = body(builder, params[0])?;
            builder.op(crate::ops::YIELD, &message, Attrs::new()).map(|_| ())
        });
        result?;
        let attrs = Attrs::new()
            .with(Key::With, Attr::Name(reducer.into()))
            .with(Key::Shape, Attr::Shape(ReduceShape::fold()))
            .with(Key::Over, Attr::Over(Over::Range))
            .with(Key::Dims, Attr::Dims(TensorType::tensor(DType::I64, vec![extent.clone()])));
        self.reduce(&[], attrs, region)
    }

    fn reduce(&mut self, operands: &[Value], attrs: Attrs, region: Region) -> Result<Vec<Value>, TypeError> {
        let inst = self.builder.push(crate::ops::REDUCE, operands, attrs, vec![region], Vec::new())?;
        Ok(self.builder.body.inst(inst).results.clone())
    }

    /// The same op with the same attributes, on small tensors.
    ///
    /// # Errors
    /// Whatever the op's type rule says.
    pub fn same(&mut self, op: OpView<'_>, operands: &[Value]) -> Result<Vec<Value>, TypeError> {
        let data = op.body.inst(op.inst);
        self.builder.op(data.op, operands, data.attrs.clone())
    }

    /// One element along an axis of a small tensor.
    ///
    /// # Errors
    /// The tensor has no such axis.
    pub fn elem(builder: &mut Builder<'_>, tensor: Value, index: Value, axis: usize) -> Result<Value, TypeError> {
        let attrs = Attrs::new().with(Key::Axis, Attr::Int(axis as i64));
        builder.value(crate::ops::ELEM, &[tensor, index], attrs)
    }

    /// A message: an element, and where it is reduced with its position, that.
    ///
    /// # Errors
    /// The element is no tensor.
    pub fn with_position(
        builder: &mut Builder<'_>,
        element: Value,
        position: Option<Value>,
    ) -> Result<Vec<Value>, TypeError> {
        let Some(position) = position else { return Ok(vec![element]) };
        let dims = builder.body.ty(element).as_tensor().map_or(Vec::new(), |t| t.dims.clone());
        if dims.is_empty() {
            return Ok(vec![element, position]);
        }
        let dims = Attr::Dims(TensorType::tensor(DType::I64, dims));
        let everywhere = builder.value(crate::ops::FILL, &[position], Attrs::new().with(Key::Dims, dims))?;
        Ok(vec![element, everywhere])
    }

    /// A binary op on two values.
    ///
    /// # Errors
    /// Whatever the op's type rule says.
    pub fn binary(builder: &mut Builder<'_>, op: Op, a: Value, b: Value) -> Result<Value, TypeError> {
        builder.value(op, &[a, b], Attrs::new())
    }
}
