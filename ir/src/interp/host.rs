//! The host level: launches of loops functions on memory, one after the other.

use super::error::{Run, malformed};
use super::loops::with_memory;
use super::machine::{Frame, Machine, Val, leave_value, operand};
use super::memory::Memory;
use super::value::{Buffer, Value};
use super::{InterpError, Options};
use crate::{InstData, Level, Module};
use std::rc::Rc;

/// Runs a host function: the meaning of a whole program on the loops level.
///
/// Memory given as [`Value::Buffer`] is written in place; results in memory come back as tensors.
///
/// # Errors
/// As [`super::run_loops`]; a result that nothing has written.
pub fn run_host(module: &Module, name: &str, args: &mut [Value], options: &Options) -> Result<Vec<Value>, InterpError> {
    let machine = Machine::new(module, options);
    let func = machine.func(name, Level::Host)?;
    with_memory(func, args, |values| machine.invoke(func, values, None)?.into_iter().map(leave_value).collect())
}

impl<'m> Machine<'m> {
    /// Memory that nothing has written.
    pub fn alloc(&self, frame: &Frame<'m>, data: &InstData) -> Run<Val> {
        let dims = data.attrs.dims().ok_or_else(|| malformed("extents are missing"))?;
        let shape = frame.sizes.shape_of(dims)?;
        self.elements(&shape)?;
        let buffer = Buffer::unwritten(dims.dtype, &shape).map_err(|_| malformed("a shape without a size"))?;
        Ok(Val::Memory(Rc::new(Memory::new(buffer))))
    }

    /// One task.
    pub fn launch(&self, frame: &Frame<'m>, data: &InstData) -> Run<()> {
        let name = data.attrs.callee().ok_or_else(|| malformed("a callee is missing"))?;
        let func = self.func(name, Level::Loops)?;
        let args = data.operands.iter().map(|v| frame.get(*v).cloned()).collect::<Run<Vec<_>>>()?;
        self.invoke(func, args, Some(&frame.sizes)).map(|_| ())
    }

    /// The same bytes in other memory.
    pub fn copy(&self, frame: &Frame<'m>, data: &InstData) -> Run<()> {
        let (from, to) = (frame.memory(operand(data, 0)?)?, frame.memory(operand(data, 1)?)?);
        self.elements(&from.shape())?;
        to.copy_from(from)
    }
}
