//! Loops and branches, on values (domain) or on memory (host).

use super::error::{Run, malformed};
use super::machine::{Frame, Machine, Val, nested, operand};
use super::memory::Memory;
use super::value::Tensor;
use crate::{InstData, Region, Scalar};
use std::rc::Rc;

/// The number in a scalar, or in memory that holds one.
fn decision(val: &Val) -> Run<Scalar> {
    let scalar = match val {
        Val::Tensor(t) => t.as_scalar(),
        Val::Memory(m) => m.load(&[], None)?.as_scalar(),
        Val::Rel(_) => None,
    };
    scalar.ok_or_else(|| malformed("a scalar is expected"))
}

fn carried<'m>(frame: &Frame<'m>, data: &InstData, from: usize) -> Run<Vec<Val>> {
    let operands = data.operands.get(from..).unwrap_or(&[]);
    operands.iter().map(|v| frame.get(*v).cloned()).collect()
}

impl<'m> Machine<'m> {
    /// Runs the body while the condition holds, at most so many times.
    pub fn while_loop(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<Vec<Val>> {
        let at_most = *data.attrs.at_most().ok_or_else(|| malformed("the bound of a loop is missing"))?;
        let (condition, body) = (nested(data, 0)?, nested(data, 1)?);
        let mut state = carried(frame, data, 0)?;
        for _ in 0..at_most {
            self.charge(1)?;
            let go = self.run(frame, condition, state.iter().cloned())?;
            let go = go.first().ok_or_else(|| malformed("a condition is missing"))?;
            if !decision(go)?.as_bool().ok_or_else(|| malformed("a condition is expected"))? {
                break;
            }
            state = self.run(frame, body, state)?;
        }
        Ok(state)
    }

    /// Runs the body a number of times; none if it is negative. The body sees the round as it was given the number.
    pub fn repeat(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<Vec<Val>> {
        let count = frame.get(operand(data, 0)?)?.clone();
        let rounds = decision(&count)?.as_i64().ok_or_else(|| malformed("a number of rounds is expected"))?;
        let body = nested(data, 0)?;
        let mut state = carried(frame, data, 1)?;
        for round in 0..rounds {
            self.charge(1)?;
            let number = Tensor::scalar(Scalar::I64(round));
            let round = match count {
                Val::Memory(_) => Val::Memory(Rc::new(Memory::lent(&number))),
                _ => Val::Tensor(number),
            };
            state = self.run(frame, body, std::iter::once(round).chain(state))?;
        }
        Ok(state)
    }

    /// Runs one branch.
    pub fn branch(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<Vec<Val>> {
        let condition = decision(frame.get(operand(data, 0)?)?)?;
        let condition = condition.as_bool().ok_or_else(|| malformed("a condition is expected"))?;
        let taken: Region = nested(data, if condition { 0 } else { 1 })?;
        self.run(frame, taken, std::iter::empty::<Val>())
    }
}
