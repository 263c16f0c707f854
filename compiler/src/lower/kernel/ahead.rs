//! Looking ahead: rows of sources are asked for some edges before they are folded.
//!
//! Sources are anywhere in memory, so no hardware guesses the next one; what is asked for early is there when its
//! turn comes. A position ahead is clamped to the last edge, so that no array is read behind its end.

use super::LowerError;
use super::emit::{Emit, Frame, Index, rank};
use super::fold::Fold;
use tiga_abi::DType;
use tiga_ir::{Inst, Over, Value, ops};

/// Lines of the cache that are under way at once: about as many as the second cache of a core waits for. So a source
/// of one line is asked for 64 edges ahead, one of four lines 16.
const LINES: i64 = 64;

/// The fewest edges between one that is folded and the one whose source is asked for.
const FEWEST_AHEAD: i64 = 8;

/// Bytes that arrive together: a line of the cache.
const LINE: i64 = 64;

/// The fewest lanes of a tile for which asking pays: less is found by running ahead out of order.
const FEWEST: u32 = 8;

impl<'a> Emit<'a> {
    /// Asks for what a fold reads of the source of an edge some positions behind `position`.
    pub(super) fn look_ahead(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        position: Value,
    ) -> Result<(), LowerError> {
        let data = frame.body.inst(inst);
        let rows = self.rows_of_sources(frame, inst, fold);
        if rows.is_empty() || !matches!(data.attrs.over(), Some(Over::Neighbours | Over::Leaf)) {
            return Ok(());
        }
        let relation = data.operands[0];
        let [_, _, edges] = frame.body.ty(relation).as_rel().expect("verified: neighbours are of a relation").sizes();
        if !self.has_extent(&edges) {
            return Ok(());
        }
        let lines: i64 = rows.iter().map(|(memory, _)| self.lines(frame, *memory)).sum();
        let ahead = (LINES / lines).max(FEWEST_AHEAD);
        self.schedule.asks_ahead(ahead);
        let (ahead, one, edges) = (self.i64(ahead), self.i64(1), self.extent(&edges)?);
        let next = self.op(ops::ADD, &[position, ahead])?;
        let last = self.op(ops::SUB, &[edges, one])?;
        let next = self.op(ops::MIN, &[next, last])?;
        let column = self.part_at(frame, relation, "col", next)?;
        let source = self.widened(column)?;
        for (memory, features) in rows {
            let at = [&[Index::At(source)], features.as_slice()].concat();
            self.ask(frame, memory, &at)?;
        }
        Ok(())
    }

    /// What a fold's body loads of the source alone, in lanes: memory, and the features. An address that the body does
    /// not read after all costs time, but no fault.
    fn rows_of_sources(&self, frame: &Frame<'a>, inst: Inst, fold: &Fold<'a>) -> Vec<(Value, Vec<Index>)> {
        let block = frame.body.block(frame.body.entry(frame.body.inst(inst).regions[0]));
        let Some(source) = block.params.get(2).filter(|_| self.lanes >= FEWEST) else { return Vec::new() };
        let mut rows: Vec<(Value, Vec<Index>)> = Vec::new();
        for load in block.insts.iter().filter(|i| frame.body.inst(**i).op == ops::LOAD) {
            let data = frame.body.inst(*load);
            let features = fold.features(rank(frame.body, data.results[0]));
            if let ([memory, from], Some(features)) = (data.operands.as_slice(), features)
                && from == source
                && matches!(features.last(), Some(Index::Lanes(..)))
                && !rows.iter().any(|(known, _)| known == memory)
            {
                rows.push((*memory, features));
            }
        }
        rows
    }

    /// Lines that a full tile of an array takes.
    fn lines(&self, frame: &Frame<'a>, memory: Value) -> i64 {
        (i64::from(self.lanes) * bytes(frame, memory) + LINE - 1) / LINE
    }

    /// Asks for a tile's lines; for the first one only where a mask may switch the others off.
    fn ask(&mut self, frame: &Frame<'a>, memory: Value, at: &[Index]) -> Result<(), LowerError> {
        let bytes = bytes(frame, memory);
        let lanes = match at.last() {
            Some(Index::Lanes(_, None)) => i64::from(self.lanes),
            _ => 1,
        };
        let address = self.address(frame, memory);
        let first = self.offset_in(frame, memory, at)?;
        for lane in (0..lanes).step_by((LINE / bytes) as usize) {
            let index = match lane {
                0 => first,
                _ => {
                    let lane = self.i64(lane);
                    self.op(ops::ADD, &[first, lane])?
                }
            };
            self.effect(ops::PREFETCH, &[address, index])?;
        }
        Ok(())
    }
}

/// Bytes of an element of an array.
fn bytes(frame: &Frame<'_>, memory: Value) -> i64 {
    frame.body.ty(memory).dtype().map_or(4, DType::bytes) as i64
}
