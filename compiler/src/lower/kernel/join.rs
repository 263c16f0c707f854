//! `join`: the tree over the leaves of one row, or over all blocks.
//!
//! Level by level, with an odd one moving up, is what a binary counter does: leaf `i` is merged with as many
//! complete subtrees as `i` has trailing ones; at the end the subtrees that are left, smallest first, are merged
//! from the right. So a stack of 64 states replaces memory for whole levels.

use super::emit::{Emit, Frame, Index};
use super::fold::{Fold, State, own_sizes};
use super::{LowerError, required};
use tiga_abi::{DType, SizeExpr};
use tiga_ir::{Attr, Attrs, Inst, Key, Over, Scalar, Type, Value, ops};

/// Deepest level of a tree over 2^63 leaves.
const LEVELS: i64 = 64;

/// One component's stack: address of its first element, elements in a state.
struct Stack {
    address: Value,
    stride: i64,
}

impl<'a> Emit<'a> {
    pub(super) fn join(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        value: Value,
        at: &[Index],
    ) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let index = data.results.iter().position(|v| *v == value).expect("the value is a result of the instruction");
        let raw = data.attrs.has(Key::Raw);
        let reducer = self.reducer(frame, inst);
        let fold = Fold::new(reducer, own_sizes(frame, inst, reducer), raw, index, at);
        let (base, count, first) = self.partials(frame, inst)?;
        let stacks = self.stacks(&fold)?;
        self.push_leaves(frame, inst, &fold, &stacks, (base, count, first))?;
        let state = self.merge_stack(&fold, &stacks, count)?;
        let results = if raw { self.states(&fold, &state) } else { self.finish_fold(&fold, count, &state)? };
        let (_, generated) = results[index].expect("the result wanted is among them");
        Ok(generated)
    }

    /// The first partial state, their number, and the operand where the components begin.
    fn partials(&mut self, frame: &mut Frame<'a>, inst: Inst) -> Result<(Value, Value, usize), LowerError> {
        let data = frame.body.inst(inst);
        if required(data.attrs.over(), Key::Over) == Over::Neighbours {
            let long = self.value(frame, data.operands[1], &[])?;
            let one = self.i64(1);
            let next = self.op(ops::ADD, &[long, one])?;
            let base = self.part_at(frame, data.operands[0], "leaf_base", long)?;
            let end = self.part_at(frame, data.operands[0], "leaf_base", next)?;
            return Ok((base, self.op(ops::SUB, &[end, base])?, 2));
        }
        let extent = required(data.attrs.dims(), Key::Dims).extents()[0].clone();
        let leaf = required(data.attrs.shape(), Key::Shape).leaf;
        let leaf = leaf.ok_or_else(|| self.unsupported("a join of one infinite leaf"))?;
        let extent = self.extent(&extent)?;
        let rounding = self.i64(leaf as i64 - 1);
        let leaf = self.i64(leaf as i64);
        let padded = self.op(ops::ADD, &[extent, rounding])?;
        let count = self.op(ops::DIV, &[padded, leaf])?;
        Ok((self.i64(0), count, 0))
    }

    /// Scratch memory for one state a level.
    fn stacks(&mut self, fold: &Fold<'a>) -> Result<Vec<Stack>, LowerError> {
        let scratch = self.param("scratch");
        let mut bytes = 0;
        let mut out = Vec::new();
        for component in &fold.components {
            let dtype = fold.dtype(*component);
            let stride = if fold.in_lanes(*component) { i64::from(self.lanes) } else { 1 };
            let attrs = Attrs::new().with(Key::Bytes, Attr::Int(bytes)).with(Key::To, Attr::DType(dtype));
            out.push(Stack { address: self.emit(ops::OFFSET, &[scratch], attrs)?, stride });
            bytes += LEVELS * stride * 8;
        }
        self.scratch = match self.scratch {
            SizeExpr::Const(others) => SizeExpr::Const(bytes.max(others)),
            _ => unreachable!("a join is no dense product, which alone has other scratch memory"),
        };
        Ok(out)
    }

    fn push(&mut self, stacks: &[Stack], level: Value, state: &[Value]) -> Result<(), LowerError> {
        for (stack, value) in stacks.iter().zip(state) {
            let stride = self.i64(stack.stride);
            let at = self.op(ops::MUL, &[level, stride])?;
            self.effect(ops::PTR_STORE, &[*value, stack.address, at])?;
        }
        Ok(())
    }

    fn peek(&mut self, fold: &Fold<'a>, stacks: &[Stack], level: Value) -> Result<State, LowerError> {
        let mut out = Vec::new();
        for (component, stack) in fold.components.iter().zip(stacks) {
            let stride = self.i64(stack.stride);
            let at = self.op(ops::MUL, &[level, stride])?;
            let attrs =
                if fold.in_lanes(*component) { super::int(Key::Lanes, self.lanes.into()) } else { Attrs::new() };
            out.push(self.emit(ops::PTR_LOAD, &[stack.address, at], attrs)?);
        }
        Ok(out)
    }

    /// `for i in 0..count { x = leaf i; level = 0; while i has bit `level` { x = combine(stack[level], x) } push }`
    fn push_leaves(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        stacks: &[Stack],
        (base, count, first): (Value, Value, usize),
    ) -> Result<(), LowerError> {
        let data = frame.body.inst(inst);
        let (zero, one) = (self.i64(0), self.i64(1));
        let more = |emit: &mut Self, at: &[Value]| Ok(emit.op(ops::LT, &[at[0], count])?);
        self.repeat(&[zero], more, |emit, at| {
            let leaf = at[0];
            let position = emit.op(ops::ADD, &[base, leaf])?;
            let mut loaded = vec![zero];
            for component in &fold.components {
                let at = [&[Index::At(position)], fold.indices(fold.rank(*component)).as_slice()].concat();
                loaded.push(emit.load_at(frame, data.operands[first + component], &at)?);
            }
            let set = |emit: &mut Self, at: &[Value]| emit.bit(leaf, at[0]);
            let merged = emit.repeat(&loaded, set, |emit, at| {
                let left = emit.peek(fold, stacks, at[0])?;
                let mut next = vec![emit.op(ops::ADD, &[at[0], one])?];
                next.extend(emit.combine(fold, &left, &at[1..])?);
                Ok(next)
            })?;
            emit.push(stacks, merged[0], &merged[1..])?;
            Ok(vec![emit.op(ops::ADD, &[leaf, one])?])
        })?;
        Ok(())
    }

    /// Whether bit `level` of `number` is set.
    fn bit(&mut self, number: Value, level: Value) -> Result<Value, LowerError> {
        let (zero, one) = (self.i64(0), self.i64(1));
        let shifted = self.op(ops::SHR, &[number, level])?;
        let low = self.op(ops::AND, &[shifted, one])?;
        Ok(self.op(ops::NE, &[low, zero])?)
    }

    /// Merges the subtrees left on the stack: the smallest is the rightmost.
    fn merge_stack(&mut self, fold: &Fold<'a>, stacks: &[Stack], count: Value) -> Result<State, LowerError> {
        let (zero, one) = (self.i64(0), self.i64(1));
        let mut initial = vec![zero, self.constant(Scalar::Bool(false))];
        for component in &fold.components {
            initial.push(self.initial(fold, *component)?);
        }
        let (head, carried) = self.block_like(&initial);
        let (inside, take) = (self.new_block(), self.new_block());
        let (next, following) = self.block_like(&initial[1..]);
        let (done, result) = self.block_like(&initial[2..]);
        debug_assert!(self.ty(carried[1]) == &Type::scalar(DType::Bool));
        self.jump(head, &initial)?;
        self.block = head;
        let (level, have, state) = (carried[0], carried[1], carried[2..].to_vec());
        let left_over = self.op(ops::SHR, &[count, level])?;
        let more = self.op(ops::NE, &[left_over, zero])?;
        self.branch(more, (inside, &[]), (done, &state))?;
        self.block = inside;
        let set = self.bit(count, level)?;
        self.branch(set, (take, &[]), (next, &carried[1..]))?;
        self.block = take;
        let left = self.peek(fold, stacks, level)?;
        let joined = self.combine(fold, &left, &state)?;
        let mut taken = vec![self.constant(Scalar::Bool(true))];
        taken.extend(self.choose_states(fold, have, &joined, &left)?);
        self.jump(next, &taken)?;
        self.block = next;
        let mut again = vec![self.op(ops::ADD, &[level, one])?];
        again.extend(following);
        self.jump(head, &again)?;
        self.block = done;
        Ok(result)
    }
}
