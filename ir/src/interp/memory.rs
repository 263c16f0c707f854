//! Memory while a host or loops function runs: what was written, by which iteration.

use super::error::{ErrorKind, Run};
use super::value::{Buffer, Tensor};
use crate::Scalar;
use std::cell::{Ref, RefCell};
use tiga_abi::DType;

/// A buffer with the iteration that wrote each element last; handles to it are shared.
pub(super) struct Memory {
    buffer: RefCell<Buffer>,
    writers: RefCell<Vec<u64>>,
    lent: bool,
}

impl Memory {
    pub fn new(buffer: Buffer) -> Self {
        let writers = RefCell::new(vec![0; buffer.elems.len()]);
        Memory { buffer: RefCell::new(buffer), writers, lent: false }
    }

    /// Memory that must not be written.
    pub fn lent(tensor: &Tensor) -> Self {
        Memory { buffer: RefCell::new(tensor.into()), writers: RefCell::new(Vec::new()), lent: true }
    }

    pub fn dtype(&self) -> DType {
        self.buffer.borrow().dtype()
    }

    pub fn shape(&self) -> Vec<usize> {
        self.buffer.borrow().shape().to_vec()
    }

    pub fn buffer(&self) -> Ref<'_, Buffer> {
        self.buffer.borrow()
    }

    /// What is left of the shape after the leading indices.
    pub fn load(&self, indices: &[i64], iteration: Option<(u64, u64)>) -> Run<Tensor> {
        let (at, shape) = locate(&self.shape(), indices)?;
        let buffer = self.buffer.borrow();
        let n: usize = shape.iter().product();
        self.check(at, n, iteration)?;
        let elem = |i: usize| buffer.elems[i].ok_or(ErrorKind::Unwritten { index: i });
        if shape.is_empty() {
            return Ok(Tensor::scalar(elem(at)?));
        }
        let elems = (at..at + n).map(elem).collect::<Result<_, _>>()?;
        Ok(Tensor::of_elems(buffer.dtype(), shape, elems))
    }

    /// Writes elements from the leading indices on.
    pub fn store(&self, indices: &[i64], values: &[Scalar], iteration: Option<(u64, u64)>) -> Run<()> {
        let (at, shape) = locate(&self.shape(), indices)?;
        if self.lent {
            return Err(ErrorKind::ReadOnly { index: at }.into());
        }
        if shape.iter().product::<usize>() != values.len() {
            return Err(super::error::malformed("a value is stored where another shape is"));
        }
        self.check(at, values.len(), iteration)?;
        let mut buffer = self.buffer.borrow_mut();
        let mut writers = self.writers.borrow_mut();
        for (i, value) in values.iter().enumerate() {
            buffer.elems[at + i] = Some(*value);
            writers[at + i] = iteration.map_or(0, |(_, current)| current);
        }
        Ok(())
    }

    /// Refuses an element that another iteration of the running `for` has written.
    fn check(&self, at: usize, n: usize, iteration: Option<(u64, u64)>) -> Run<()> {
        let (Some((first, current)), false) = (iteration, self.lent) else { return Ok(()) };
        let writers = self.writers.borrow();
        match writers[at..at + n].iter().position(|w| *w >= first && *w != current) {
            Some(i) => Err(ErrorKind::Race { index: at + i }.into()),
            None => Ok(()),
        }
    }

    /// Replaces all elements by those of other memory of the same shape.
    pub fn copy_from(&self, other: &Memory) -> Run<()> {
        if self.lent {
            return Err(ErrorKind::ReadOnly { index: 0 }.into());
        }
        let elems = other.buffer.borrow().elems.clone();
        if let Some(index) = elems.iter().position(Option::is_none) {
            return Err(ErrorKind::Unwritten { index }.into());
        }
        let mut buffer = self.buffer.borrow_mut();
        if buffer.elems.len() != elems.len() {
            return Err(super::error::malformed("memory is copied to memory of another shape"));
        }
        buffer.elems = elems;
        Ok(())
    }
}

/// The first element under leading indices, and the shape that is left.
fn locate(shape: &[usize], indices: &[i64]) -> Run<(usize, Vec<usize>)> {
    let rest = shape.get(indices.len()..).ok_or_else(|| super::error::malformed("too many indices"))?;
    let mut at = 0;
    for (index, extent) in indices.iter().zip(shape) {
        let valid = usize::try_from(*index).ok().filter(|i| i < extent);
        let valid = valid.ok_or(ErrorKind::Index { what: "an axis", index: *index, extent: *extent })?;
        at = at * extent + valid;
    }
    Ok((at * rest.iter().product::<usize>(), rest.to_vec()))
}
