//! Units, and the loops over features around each store.

use super::dense::Dense;
use super::emit::{Emit, Frame, Index, Indices};
use super::tiles::AtFeatures;
use super::{LowerError, required};
use indexmap::IndexMap;
use tiga_abi::{DType, Poly};
use tiga_ir::{
    Block, Inst, Key, Space, Type, Value,
    ops::{self, Substitution},
};
use tiga_source::Loc;

/// What is stored, and where.
struct Stored {
    value: Value,
    memory: Value,
    leading: Indices,
    loc: Loc,
}

impl<'a> Emit<'a> {
    /// The whole function: its only `for`, over the units `unit_begin..unit_end`.
    pub(super) fn function(&mut self) -> Result<(), LowerError> {
        let body = &self.source.body;
        let insts = &body.block(body.entry(self.source.region)).insts;
        let [main, _return] = insts.as_slice() else {
            return Err(self.unsupported("a loops function that is not one `for`"));
        };
        if body.inst(*main).op != ops::FOR {
            return Err(self.unsupported("a loops function that is not one `for`"));
        }
        let (begin, end) = (self.param("unit_begin"), self.param("unit_end"));
        if body.inst(*main).attrs.space() == Some(&Space::Edges) {
            self.edges(*main, begin, end)?;
            return Ok(self.effect(ops::RETURN, &[])?);
        }
        if let Some(dense) = Dense::of(body, *main)
            && self.goes_together(&dense)?
        {
            self.at_place(&dense.place(body), |emit| emit.dense(&dense, begin, end))?;
            return Ok(self.effect(ops::RETURN, &[])?);
        }
        let done = self.counted(begin, end, |emit, unit, next| {
            let mut frame = Frame::new(body, Substitution::new());
            emit.unit(&mut frame, *main, unit, next)
        })?;
        self.block = done;
        Ok(self.effect(ops::RETURN, &[])?)
    }

    /// A loop over `begin..end`: `body` gets the index and the block to go on in, and must end by jumping there.
    fn counted(
        &mut self,
        begin: Value,
        end: Value,
        body: impl FnOnce(&mut Self, Value, Block) -> Result<(), LowerError>,
    ) -> Result<Block, LowerError> {
        let i64_type = Type::scalar(DType::I64);
        let head = self.new_block();
        let index = self.kernel.body.add_param(head, i64_type, None);
        let (inside, next, done) = (self.new_block(), self.new_block(), self.new_block());
        self.jump(head, &[begin])?;
        self.block = head;
        let more = self.op(ops::LT, &[index, end])?;
        self.branch(more, (inside, &[]), (done, &[]))?;
        self.block = inside;
        body(self, index, next)?;
        self.block = next;
        let one = self.i64(1);
        let following = self.op(ops::ADD, &[index, one])?;
        self.jump(head, &[following])?;
        Ok(done)
    }

    /// One unit: binds the indices of the space, then emits the body.
    fn unit(&mut self, frame: &mut Frame<'a>, main: Inst, unit: Value, next: Block) -> Result<(), LowerError> {
        let data = frame.body.inst(main);
        let entry = frame.body.entry(data.regions[0]);
        let params = frame.body.block(entry).params.clone();
        match required(data.attrs.space(), Key::Space) {
            Space::Once => {}
            Space::Rows(_) | Space::Blocks(..) => frame.bind(params[0], &[], unit),
            Space::Short(leaf) => {
                frame.bind(params[0], &[], unit);
                let (begin, end) = self.row_bounds(frame, data.operands[0], unit)?;
                let degree = self.op(ops::SUB, &[end, begin])?;
                let limit = self.i64(leaf as i64);
                let short = self.op(ops::LE, &[degree, limit])?;
                let inside = self.new_block();
                self.branch(short, (inside, &[]), (next, &[]))?;
                self.block = inside;
            }
            Space::Leaves(_) => {
                let long = self.part_at(frame, data.operands[0], "leaf_row", unit)?;
                let row = self.part_at(frame, data.operands[0], "long_rows", long)?;
                frame.bind(params[0], &[], unit);
                frame.bind(params[1], &[], row);
            }
            Space::Long(_) => {
                let row = self.part_at(frame, data.operands[0], "long_rows", unit)?;
                frame.bind(params[0], &[], unit);
                frame.bind(params[1], &[], row);
            }
            Space::Edges => unreachable!("edges have a loop of their own"),
        }
        self.stores(frame, entry)?;
        Ok(self.jump(next, &[])?)
    }

    /// The edges at the positions `begin..end`. Their rows ascend: the first is searched for, the next is never far.
    fn edges(&mut self, main: Inst, begin: Value, end: Value) -> Result<(), LowerError> {
        let body = &self.source.body;
        let data = body.inst(main);
        let entry = body.entry(data.regions[0]);
        let params = body.block(entry).params.clone();
        let relation = data.operands[0];
        let mut frame = Frame::new(body, Substitution::new());
        let rel = body.ty(relation).as_rel().expect("verified: edges are of a relation");
        let [_, rows, _] = rel.sizes();
        let rows = self.extent(&rows)?;
        let first = self.row_of(&frame, relation, begin, rows)?;
        let more = |emit: &mut Self, at: &[Value]| Ok(emit.op(ops::LT, &[at[0], end])?);
        self.repeat(&[begin, first], more, |emit, at| {
            let row = emit.row_from(&frame, relation, at[0], at[1])?;
            emit.bind_edge(&mut frame, relation, &params, at[0])?;
            frame.bind(params[3], &[], row);
            emit.stores(&mut frame, entry)?;
            Ok(vec![emit.advance(at[0], 1)?, row])
        })?;
        Ok(())
    }

    /// The row that a position lies in, by bisection: `row_ptr[low] <= position < row_ptr[high]` throughout.
    fn row_of(&mut self, frame: &Frame<'a>, rel: Value, position: Value, rows: Value) -> Result<Value, LowerError> {
        let (zero, one, two) = (self.i64(0), self.i64(1), self.i64(2));
        let apart = |emit: &mut Self, at: &[Value]| {
            let width = emit.op(ops::SUB, &[at[1], at[0]])?;
            Ok(emit.op(ops::GT, &[width, one])?)
        };
        let at = self.repeat(&[zero, rows], apart, |emit, at| {
            let (low, high) = (at[0], at[1]);
            let width = emit.op(ops::SUB, &[high, low])?;
            let half = emit.op(ops::DIV, &[width, two])?;
            let middle = emit.op(ops::ADD, &[low, half])?;
            let begin = emit.part_at(frame, rel, "row_ptr", middle)?;
            let below = emit.op(ops::LE, &[begin, position])?;
            let low = emit.op(ops::SELECT, &[below, middle, low])?;
            let high = emit.op(ops::SELECT, &[below, high, middle])?;
            Ok(vec![low, high])
        })?;
        Ok(at[0])
    }

    /// The row that a position lies in, at or after `row`.
    fn row_from(&mut self, frame: &Frame<'a>, rel: Value, position: Value, row: Value) -> Result<Value, LowerError> {
        let (head, at) = self.block_like(&[row]);
        let done = self.new_block();
        self.jump(head, &[row])?;
        self.block = head;
        let one = self.i64(1);
        let next = self.op(ops::ADD, &[at[0], one])?;
        let end = self.part_at(frame, rel, "row_ptr", next)?;
        let past = self.op(ops::LE, &[end, position])?;
        self.branch(past, (head, &[next]), (done, &[]))?;
        self.block = done;
        Ok(at[0])
    }

    /// All stores of a block, each inside loops over its value's features. Values without features that a store
    /// needs are generated before those loops.
    fn stores(&mut self, frame: &mut Frame<'a>, block: Block) -> Result<(), LowerError> {
        let insts = frame.body.block(block).insts.clone();
        let scalars = insts.iter().flat_map(|i| frame.body.inst(*i).results.clone());
        let scalars: Vec<Value> =
            scalars.filter(|v| frame.body.ty(*v).as_tensor().is_some_and(|t| t.is_scalar())).collect();
        let with_features = |frame: &Frame<'_>, i: &Inst| {
            let data = frame.body.inst(*i);
            data.op == ops::STORE && super::emit::rank(frame.body, data.operands[0]) > 0
        };
        if insts.iter().any(|i| with_features(frame, i)) {
            for scalar in scalars {
                self.value(frame, scalar, &[])?;
            }
        }
        // What is stored with equal features is generated in the same loops: then it may share what it is made of.
        let mut loops: IndexMap<Vec<Poly>, Vec<Stored>> = IndexMap::new();
        for inst in insts {
            let data = frame.body.inst(inst);
            if data.op != ops::STORE {
                continue;
            }
            let mut leading = Vec::new();
            for index in &data.operands[2..] {
                leading.push(Index::At(self.value(frame, *index, &[])?));
            }
            let (value, memory) = (data.operands[0], data.operands[1]);
            let dims = frame.body.ty(value).as_tensor().expect("verified: stores take tensors").dims.clone();
            loops.entry(dims).or_default().push(Stored { value, memory, leading, loc: data.loc.clone() });
        }
        for (dims, stores) in loops {
            self.features(frame, &dims, &mut Vec::new(), &mut |emit, frame, at| {
                for Stored { value, memory, leading, loc } in &stores {
                    let stored = emit.value(frame, *value, at)?;
                    let at = [leading.as_slice(), at].concat();
                    emit.at_place(loc, |emit| emit.store_at(frame, *memory, &at, stored))?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Loops over the feature axes `dims`; lanes over the last one.
    pub(super) fn features(
        &mut self,
        frame: &mut Frame<'a>,
        dims: &[Poly],
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<(), LowerError> {
        match dims {
            [] => body(self, frame, at),
            [last] => self.lane_loop(frame, last, at, body),
            [first, rest @ ..] => {
                let (begin, end) = (self.i64(0), self.extent(first)?);
                let done = self.counted(begin, end, |emit, index, next| {
                    frame.enter();
                    at.push(Index::At(index));
                    emit.features(frame, rest, at, body)?;
                    at.pop();
                    frame.leave();
                    Ok(emit.jump(next, &[])?)
                })?;
                self.block = done;
                Ok(())
            }
        }
    }
}
