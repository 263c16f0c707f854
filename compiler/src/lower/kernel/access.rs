//! Addresses: loads, stores and the arrays of relations.

use super::emit::{Emit, Frame, Index};
use super::{LowerError, int};
use tiga_abi::Poly;
use tiga_ir::{Attrs, Inst, Key, TypeError, Value, ops};

impl<'a> Emit<'a> {
    /// The kernel's address of a parameter of the loops function.
    pub(super) fn address(&self, frame: &Frame<'a>, memory: Value) -> Value {
        let name = frame.body.value(memory).name.as_deref().expect("parameters have names");
        self.param(name)
    }

    /// An array of a relation.
    pub(super) fn part(&self, frame: &Frame<'a>, relation: Value, part: &str) -> Value {
        let name = frame.body.value(relation).name.as_deref().expect("parameters have names");
        self.param(&format!("{name}.{part}"))
    }

    /// One element of an array of a relation.
    pub(super) fn part_at(
        &mut self,
        frame: &Frame<'a>,
        relation: Value,
        part: &str,
        index: Value,
    ) -> Result<Value, TypeError> {
        let array = self.part(frame, relation, part);
        self.op(ops::PTR_LOAD, &[array, index])
    }

    /// First position of a row, and the one after its last.
    pub(super) fn row_bounds(
        &mut self,
        frame: &Frame<'a>,
        relation: Value,
        row: Value,
    ) -> Result<(Value, Value), TypeError> {
        let one = self.i64(1);
        let next = self.op(ops::ADD, &[row, one])?;
        Ok((self.part_at(frame, relation, "row_ptr", row)?, self.part_at(frame, relation, "row_ptr", next)?))
    }

    pub(super) fn load(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let memory = data.operands[0];
        let mut indices = Vec::new();
        for operand in &data.operands[1..] {
            let index = self.value(frame, *operand, &[])?;
            indices.push(self.index(index));
        }
        indices.extend_from_slice(at);
        self.load_at(frame, memory, &indices)
    }

    /// Loads from memory at full indices.
    pub(super) fn load_at(&mut self, frame: &Frame<'a>, memory: Value, at: &[Index]) -> Result<Value, LowerError> {
        let address = self.address(frame, memory);
        let extents = frame.body.ty(memory).as_buffer().expect("verified: loads are from memory").extents();
        let in_lanes: Vec<usize> = (0..at.len()).filter(|axis| at[*axis].in_lanes()).collect();
        match in_lanes.as_slice() {
            [] => {
                let offset = self.offset(&extents, at)?;
                Ok(self.op(ops::PTR_LOAD, &[address, offset])?)
            }
            [axis] if self.contiguous(&extents[axis + 1..]) && matches!(at[*axis], Index::Lanes(..)) => {
                let Index::Lanes(_, mask) = at[*axis] else { unreachable!("it is looked at above") };
                let offset = self.offset(&extents, at)?;
                let operands: Vec<Value> = [address, offset].into_iter().chain(mask).collect();
                Ok(self.emit(ops::PTR_LOAD, &operands, int(Key::Lanes, self.lanes.into()))?)
            }
            _ => self.gather(address, &extents, at),
        }
    }

    /// Loads an element for each lane.
    fn gather(&mut self, address: Value, extents: &[Poly], at: &[Index]) -> Result<Value, LowerError> {
        let zero = self.i64(0);
        let first: Vec<Index> = at.iter().map(|i| if i.in_lanes() { Index::At(zero) } else { *i }).collect();
        let mut positions = self.offset(extents, &first)?;
        let mut masks: Option<Value> = None;
        for (axis, index) in at.iter().enumerate() {
            let Some((steps, mask)) = self.each(*index)? else { continue };
            let stride = self.stride(&extents[axis + 1..]);
            let stride = self.extent(&stride)?;
            let steps = self.elementwise(ops::MUL, &[steps, stride], &Attrs::new())?;
            positions = self.elementwise(ops::ADD, &[steps, positions], &Attrs::new())?;
            masks = match (masks, mask) {
                (Some(a), Some(b)) if a != b => Some(self.op(ops::AND, &[a, b])?),
                (a, b) => a.or(b),
            };
        }
        let operands: Vec<Value> = [address, positions].into_iter().chain(masks).collect();
        Ok(self.emit(ops::GATHER, &operands, Attrs::new())?)
    }

    /// Whether elements next to each other on an axis are so in memory, given the axes after it.
    fn contiguous(&self, inner: &[Poly]) -> bool {
        self.stride(inner).as_constant() == Some(1)
    }

    /// Stores a value at full indices; lanes may only be the last axis.
    pub(super) fn store_at(
        &mut self,
        frame: &Frame<'a>,
        memory: Value,
        at: &[Index],
        value: Value,
    ) -> Result<(), LowerError> {
        let address = self.address(frame, memory);
        let extents = frame.body.ty(memory).as_buffer().expect("verified: stores are to memory").extents();
        let offset = self.offset(&extents, at)?;
        match at.last() {
            Some(Index::Lanes(_, mask)) => {
                let value = self.vector(value)?;
                let operands: Vec<Value> = [value, address, offset].into_iter().chain(*mask).collect();
                Ok(self.effect(ops::PTR_STORE, &operands)?)
            }
            _ => Ok(self.effect(ops::PTR_STORE, &[value, address, offset])?),
        }
    }

    /// The offset of indices in memory.
    pub(super) fn offset_in(&mut self, frame: &Frame<'a>, memory: Value, at: &[Index]) -> Result<Value, LowerError> {
        let extents = frame.body.ty(memory).as_buffer().expect("verified: accesses are to memory").extents();
        self.offset(&extents, at)
    }

    fn stride(&self, inner: &[Poly]) -> Poly {
        self.known(&inner.iter().fold(Poly::constant(1), |acc, d| acc.mul(d)))
    }

    /// The row-major offset of indices, in elements; of lanes, the first one's.
    fn offset(&mut self, extents: &[Poly], at: &[Index]) -> Result<Value, LowerError> {
        let mut offset: Option<Value> = None;
        for (axis, index) in at.iter().enumerate() {
            let (Index::At(position) | Index::Lanes(position, _) | Index::Each(position, _)) = index;
            offset = Some(match offset {
                None => *position,
                Some(outer) => {
                    let extent = self.extent(&extents[axis])?;
                    let scaled = self.op(ops::MUL, &[outer, extent])?;
                    self.op(ops::ADD, &[scaled, *position])?
                }
            });
        }
        Ok(offset.unwrap_or_else(|| self.i64(0)))
    }
}
