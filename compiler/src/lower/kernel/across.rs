//! Accumulators in lanes: a fold without features takes as many edges at once as it has accumulators.
//!
//! Element `i` of a leaf belongs to accumulator `i % A` (docs/determinism.md), so `A` neighbouring elements are one
//! vector: their columns and weights are loaded together, their sources gathered, and what is left at the end is off
//! under a mask. The accumulators join by swapping neighbours, pairs, fours and so on; lane 0 has then joined them in
//! the order of the law.

use super::LowerError;
use super::emit::{Emit, Frame, Index};
use super::fold::{Elements, Fold, State};
use super::int;
use tiga_ir::{Attr, Attrs, Inst, Key, Over, RelKind, Value, ops};

/// Bytes of the registers that a target must have: only those with masks gather lanes without a branch for each.
const REGISTERS: u32 = 64;

/// Neighbouring elements, one in each lane.
#[derive(Clone, Copy)]
pub(super) struct Row {
    /// The position of each lane.
    positions: Value,
    /// The position of lane 0.
    base: Value,
    /// Lanes that have an element.
    mask: Value,
}

impl<'a> Emit<'a> {
    /// Whether the accumulators of a fold can be the lanes of vectors.
    pub(super) fn goes_across(&self, frame: &Frame<'a>, inst: Inst, fold: &Fold<'a>, accumulators: u32) -> bool {
        let reducer = fold.reducer;
        let in_lanes = fold.components.iter().any(|component| fold.in_lanes(*component));
        self.simd_bytes >= REGISTERS
            && self.lanes == 1
            && (2..=64).contains(&accumulators)
            && accumulators.is_power_of_two()
            && reducer.has_identity()
            && reducer.step.is_none()
            && !in_lanes
            && plain(frame, inst)
    }

    /// Folds all elements, and joins the accumulators.
    pub(super) fn fold_across(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        elements: &Elements,
        accumulators: u32,
    ) -> Result<State, LowerError> {
        self.lanes = accumulators;
        let mut initial = vec![elements.begin];
        for component in &fold.components {
            let identity = self.initial(fold, *component)?;
            initial.push(self.vector(identity)?);
        }
        let more = |emit: &mut Self, at: &[Value]| Ok(emit.op(ops::LT, &[at[0], elements.end])?);
        let carried = self.repeat(&initial, more, |emit, at| {
            let positions = emit.lane_positions(at[0])?;
            let mask = emit.elementwise(ops::LT, &[positions, elements.end], &Attrs::new())?;
            let row = Row { positions, base: at[0], mask };
            let mut next = vec![emit.advance(at[0], accumulators.into())?];
            next.extend(emit.fold_row(frame, inst, fold, row, &at[1..])?);
            Ok(next)
        })?;
        let state = carried[1..].to_vec();
        let joined = self.join_lanes(fold, state, accumulators);
        self.lanes = 1;
        joined
    }

    /// One element for each lane that has one, folded into its accumulator.
    fn fold_row(
        &mut self,
        frame: &mut Frame<'a>,
        inst: Inst,
        fold: &Fold<'a>,
        row: Row,
        state: &[Value],
    ) -> Result<State, LowerError> {
        self.row = Some(row);
        frame.enter();
        self.bind_row(frame, inst, row)?;
        // Reducers that ask whether there was an element have no identity: they do not go across.
        let folded = self.fold_in_scope(frame, inst, fold, None, state)?;
        frame.leave();
        self.row = None;
        let mut out = Vec::new();
        for (new, old) in folded.iter().zip(state) {
            let chosen = self.elementwise(ops::SELECT, &[row.mask, *new, *old], &Attrs::new())?;
            out.push(self.vector(chosen)?);
        }
        Ok(out)
    }

    /// Binds the positions of a row of elements, the numbers of their edges and their sources.
    fn bind_row(&mut self, frame: &mut Frame<'a>, inst: Inst, row: Row) -> Result<(), LowerError> {
        let data = frame.body.inst(inst);
        let params = frame.body.block(frame.body.entry(data.regions[0])).params.clone();
        frame.bind(params[0], &[], row.positions);
        if matches!(data.attrs.over(), Some(Over::Range | Over::Block)) {
            return Ok(());
        }
        let relation = data.operands[0];
        let kind = frame.body.ty(relation).as_rel().expect("verified: the first operand is a relation").kind;
        let edges = match kind {
            RelKind::Csr => row.positions,
            _ => self.parts_at(frame, relation, "perm", row)?,
        };
        let columns = self.parts_at(frame, relation, "col", row)?;
        let columns = self.widened(columns)?;
        frame.bind(params[1], &[], edges);
        frame.bind(params[2], &[], columns);
        Ok(())
    }

    /// Neighbouring elements of an array of a relation.
    fn parts_at(&mut self, frame: &Frame<'a>, relation: Value, part: &str, row: Row) -> Result<Value, LowerError> {
        let array = self.part(frame, relation, part);
        Ok(self.emit(ops::PTR_LOAD, &[array, row.base, row.mask], int(Key::Lanes, self.lanes.into()))?)
    }

    /// The index that a value is: a row of elements has one for each lane.
    pub(super) fn index(&self, value: Value) -> Index {
        match self.row {
            Some(row) if row.positions == value => Index::Lanes(row.base, Some(row.mask)),
            Some(row) if self.is_vector(value) => Index::Each(value, Some(row.mask)),
            _ => Index::At(value),
        }
    }

    /// Joins lanes pairwise, level by level.
    fn join_lanes(&mut self, fold: &Fold<'a>, state: State, lanes: u32) -> Result<State, LowerError> {
        let mut state = state;
        let mut distance = 1;
        while distance < lanes {
            let pattern: Vec<i64> = (0..lanes).map(|lane| i64::from(lane ^ distance)).collect();
            let swap = Attrs::new().with(Key::Pattern, Attr::Ints(pattern));
            let mut other = Vec::new();
            for component in &state {
                other.push(self.emit(ops::SHUFFLE, &[*component], swap.clone())?);
            }
            let joined = self.combine(fold, &state, &other)?;
            state = joined.into_iter().map(|v| self.vector(v)).collect::<Result<_, _>>()?;
            distance *= 2;
        }
        state.into_iter().map(|v| Ok(self.emit(ops::EXTRACT, &[v], int(Key::Axis, 0))?)).collect()
    }
}

/// Whether a fold's body only computes, and loads what vectors can hold: elements of four or eight bytes.
fn plain(frame: &Frame<'_>, inst: Inst) -> bool {
    let region = frame.body.inst(inst).regions[0];
    frame.body.walk(region).iter().all(|inst| {
        let data = frame.body.inst(*inst);
        match data.op {
            op if op == ops::LOAD => {
                let dtype = frame.body.ty(data.operands[0]).dtype();
                dtype.is_some_and(|d| matches!(d.bytes(), 4 | 8))
            }
            op => [ops::CONST, ops::LEN, ops::ELEM, ops::YIELD].contains(&op) || op.elementwise().is_some(),
        }
    })
}
