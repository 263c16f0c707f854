//! `scan_axis`: an element is the sum of those up to its position, added from the first on: what the order of the sum
//! is does not depend on how features are placed.

use super::LowerError;
use super::emit::{Emit, Frame, Index};
use tiga_ir::{Attrs, Inst, Scalar, Value, ops};

impl<'a> Emit<'a> {
    pub(super) fn scan(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let axis = *data.attrs.axis().expect("verified: a scan has an axis") as usize;
        let operand = data.operands[0];
        let ty = frame.body.ty(operand).as_tensor().expect("verified: a scan is of a tensor");
        let extent = frame.extent(&ty.dims[axis]);
        let (zero, one, end) = (self.i64(0), self.i64(1), self.extent(&extent)?);
        // One position sums to itself; lanes sum to the end, each as far as it goes.
        let (last, positions) = match at[axis] {
            Index::At(position) => (self.op(ops::ADD, &[position, one])?, None),
            lanes => (end, self.each(lanes)?.map(|(positions, _)| positions)),
        };
        // Lanes that a mask switches off may be all there are, and then there may be no element at all.
        let nothing = self.constant(Scalar::from_i64(ty.dtype, 0));
        let some = self.op(ops::LT, &[zero, end])?;
        let first = self.inside_or(frame, some, nothing, |emit, frame| emit.scanned(frame, operand, at, axis, zero))?;
        let first = if positions.is_some() { self.vector(first)? } else { first };
        let (head, carried) = self.block_like(&[one, first]);
        let (inside, done) = (self.new_block(), self.new_block());
        self.jump(head, &[one, first])?;
        self.block = head;
        let (position, sum) = (carried[0], carried[1]);
        let more = self.op(ops::LT, &[position, last])?;
        self.branch(more, (inside, &[]), (done, &[]))?;
        self.block = inside;
        let element = self.scanned(frame, operand, at, axis, position)?;
        let mut next = self.elementwise(ops::ADD, &[sum, element], &Attrs::new())?;
        if let Some(positions) = positions {
            let reached = self.elementwise(ops::LE, &[position, positions], &Attrs::new())?;
            next = self.elementwise(ops::SELECT, &[reached, next, sum], &Attrs::new())?;
        }
        let following = self.op(ops::ADD, &[position, one])?;
        self.jump(head, &[following, next])?;
        self.block = done;
        Ok(sum)
    }

    /// The operand at a position of the axis.
    fn scanned(
        &mut self,
        frame: &mut Frame<'a>,
        operand: Value,
        at: &[Index],
        axis: usize,
        position: Value,
    ) -> Result<Value, LowerError> {
        let mut at = at.to_vec();
        at[axis] = Index::At(position);
        frame.enter();
        let value = self.value(frame, operand, &at);
        frame.leave();
        value
    }
}
