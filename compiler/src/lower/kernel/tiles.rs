//! Feature tiles: how many features of an entity are held in registers at once.
//!
//! What a store needs is generated once for each tile, so a fold walks over its edges once for each. A tile of several
//! vectors keeps those walks few, and its accumulators hide each other's latency; it is as wide as the registers
//! allow. Which tile a feature lies in shows in no bit: features are folded independently.

use super::emit::{Emit, Frame, Index, Indices};
use super::{LowerError, required};
use tiga_abi::{DType, Poly};
use tiga_ir::{Attrs, Cmp, Inst, Key, Value, ops};

/// What is emitted at each position of the features.
pub(super) type AtFeatures<'f, 'a> = dyn FnMut(&mut Emit<'a>, &mut Frame<'a>, &[Index]) -> Result<(), LowerError> + 'f;

/// The most vectors in a tile: enough accumulators to hide the latency of an addition.
const VECTORS: u32 = 4;

/// The most lanes of a value.
const LANES: i64 = 64;

/// The part of a tile that may be masked out before smaller tiles are worth another walk over the edges: 1 / this.
const IDLE: i64 = 4;

impl<'a> Emit<'a> {
    /// Tiles over the last feature axis.
    pub(super) fn lane_loop(
        &mut self,
        frame: &mut Frame<'a>,
        extent: &Poly,
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<(), LowerError> {
        let widest = self.tile_lanes()?;
        match self.known(extent).as_constant() {
            Some(features) => self.known_tiles(frame, features, widest, at, body)?,
            None => self.any_tiles(frame, extent, widest, at, body)?,
        }
        self.lanes = 1;
        Ok(())
    }

    /// Lanes of a vector register, for elements of 32 bits.
    fn vector_lanes(&self) -> i64 {
        i64::from(self.simd_bytes / 4)
    }

    /// Vector registers that there are.
    pub(super) fn registers_of_target(&self) -> u32 {
        if self.simd_bytes >= 64 { 32 } else { 16 }
    }

    /// Lanes of the widest tile: the accumulators of the folds in it may take half of the registers. Without a fold
    /// there is nothing to walk over twice, and a vector is enough.
    pub(super) fn tile_lanes(&self) -> Result<i64, LowerError> {
        let body = &self.source.body;
        let mut registers = 0;
        for fold in body.walk(self.source.region).into_iter().filter(|i| body.inst(*i).op == ops::REDUCE) {
            registers = registers.max(self.registers(fold)?);
        }
        if registers == 0 {
            return Ok(self.vector_lanes());
        }
        let vectors = (self.registers_of_target() / 2 / registers).clamp(1, VECTORS);
        Ok((self.vector_lanes() << vectors.ilog2()).min(LANES))
    }

    /// Registers that the accumulators of a fold take for each vector of a tile.
    fn registers(&self, fold: Inst) -> Result<u32, LowerError> {
        let data = self.source.body.inst(fold);
        let shape = required(data.attrs.shape(), Key::Shape);
        let bytes = data.results.iter().filter_map(|v| self.source.body.ty(*v).dtype()).map(DType::bytes).max();
        Ok(self.choose(&shape.acc)? * bytes.map_or(1, |bytes| bytes.div_ceil(4) as u32))
    }

    /// Few tiles that leave little idle, for a number of features that is known.
    fn known_tiles(
        &mut self,
        frame: &mut Frame<'a>,
        features: i64,
        widest: i64,
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<(), LowerError> {
        let (vector, end) = (self.vector_lanes(), self.i64(features));
        let mut base = self.i64(0);
        let mut left = features;
        // Also for no features at all: the loop never runs, but says that this memory is written here.
        if features == 0 || features >= 2 * widest {
            base = self.full_tiles(frame, (base, end, widest), at, body)?;
            left %= widest;
        }
        while left > 0 {
            let mut lanes = widest.min((left as u64).next_power_of_two() as i64);
            while lanes > vector && (lanes - left) * IDLE > lanes {
                lanes /= 2;
            }
            let mask = (lanes > left).then_some(end);
            self.tile(frame, (base, lanes), mask, at, body)?;
            left -= lanes;
            base = self.i64(features - left);
        }
        Ok(())
    }

    /// The widest tiles, then single vectors, then one under a mask, for any number of features.
    fn any_tiles(
        &mut self,
        frame: &mut Frame<'a>,
        extent: &Poly,
        widest: i64,
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<(), LowerError> {
        let (vector, end) = (self.vector_lanes(), self.extent(extent)?);
        let mut widest = widest;
        while widest > vector && self.is_below(extent, widest) {
            widest /= 2;
        }
        let mut base = self.i64(0);
        if widest > vector {
            base = self.full_tiles(frame, (base, end, widest), at, body)?;
        }
        base = self.full_tiles(frame, (base, end, vector), at, body)?;
        let (tail, done) = (self.new_block(), self.new_block());
        let more = self.op(ops::LT, &[base, end])?;
        self.branch(more, (tail, &[]), (done, &[]))?;
        self.block = tail;
        self.tile(frame, (base, vector), Some(end), at, body)?;
        self.jump(done, &[])?;
        self.block = done;
        Ok(())
    }

    /// Whether this kernel's guard says that an extent is smaller than a number of lanes.
    fn is_below(&self, extent: &Poly, lanes: i64) -> bool {
        let extent = self.known(extent);
        self.kernel.guard.terms.iter().any(|(poly, cmp, bound)| *poly == extent && *cmp == Cmp::Lt && *bound <= lanes)
    }

    /// Full tiles of so many lanes from a position on, as long as they fit; gives the position after them.
    fn full_tiles(
        &mut self,
        frame: &mut Frame<'a>,
        (begin, end, lanes): (Value, Value, i64),
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<Value, LowerError> {
        self.strides((begin, end), (lanes, lanes), |emit, base| emit.tile(frame, (base, lanes), None, at, body))
    }

    /// Positions from `begin` on, `step` apart, as long as `fits` of them lie before `end`; gives the first that is left.
    pub(super) fn strides(
        &mut self,
        (begin, end): (Value, Value),
        (fits, step): (i64, i64),
        body: impl FnOnce(&mut Self, Value) -> Result<(), LowerError>,
    ) -> Result<Value, LowerError> {
        let width = self.i64(fits);
        let enough = |emit: &mut Self, at: &[Value]| {
            let past = emit.op(ops::ADD, &[at[0], width])?;
            Ok(emit.op(ops::LE, &[past, end])?)
        };
        let position = self.repeat(&[begin], enough, |emit, at| {
            body(emit, at[0])?;
            Ok(vec![emit.advance(at[0], step)?])
        })?;
        Ok(position[0])
    }

    /// One tile; where the features end inside it, lanes from `end` on are off.
    fn tile(
        &mut self,
        frame: &mut Frame<'a>,
        (base, lanes): (Value, i64),
        end: Option<Value>,
        at: &mut Indices,
        body: &mut AtFeatures<'_, 'a>,
    ) -> Result<(), LowerError> {
        self.lanes = lanes as u32;
        let mut mask = None;
        if let Some(end) = end {
            let positions = self.lane_positions(base)?;
            mask = Some(self.elementwise(ops::LT, &[positions, end], &Attrs::new())?);
        }
        frame.enter();
        let outside = self.schedule.enter(self.lanes, mask.is_some());
        at.push(if lanes == 1 { Index::At(base) } else { Index::Lanes(base, mask) });
        body(self, frame, at)?;
        at.pop();
        self.schedule.leave(outside);
        frame.leave();
        Ok(())
    }
}
