//! Elements that come from elsewhere: `concat`, `slice`, `permute`, `reshape`, `iota` and the gathers.
//!
//! Nothing moves: an element is generated at the index it comes from. Where that may lie outside, one element is
//! guarded by a branch and lanes by a mask, so that memory outside is never read.

use super::emit::{Emit, Frame, Index, Indices, rank};
use super::{LowerError, int};
use tiga_abi::{DType, Poly};
use tiga_ir::{Attrs, Inst, Key, Scalar, Value, ops};

impl<'a> Emit<'a> {
    /// `concat`: the operand whose part of the axis the index lies in; lanes take each what is theirs.
    pub(super) fn concat(
        &mut self,
        frame: &mut Frame<'a>,
        operands: &[Value],
        at: &[Index],
    ) -> Result<Value, LowerError> {
        let (last, leading) = at.split_last().expect("verified: concat has a feature axis");
        let mut result: Option<Value> = None;
        let mut begin = Poly::constant(0);
        for operand in operands {
            let ty = frame.body.ty(*operand).as_tensor().expect("verified: concat joins tensors");
            let own = frame.extent(ty.dims.last().expect("verified: concat joins along an axis"));
            let start = self.extent(&begin)?;
            let size = self.extent(&own)?;
            begin = begin.add(&own);
            let (index, inside) = self.shifted(*last, start, size)?;
            let zero = self.constant(Scalar::from_i64(ty.dtype, 0));
            let otherwise = result.unwrap_or(zero);
            let at = [leading, &[index]].concat();
            result = Some(self.inside_or(frame, inside, otherwise, |emit, frame| emit.value(frame, *operand, &at))?);
        }
        result.ok_or_else(|| self.unsupported("an empty concat"))
    }

    /// `slice`: the operand further along one axis. It is never outside: the slice is a part.
    pub(super) fn slice(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let axis = *data.attrs.axis().expect("verified: a slice has an axis") as usize;
        let begin = frame.extent(data.attrs.begin().expect("verified: a slice begins somewhere"));
        let mut at = at.to_vec();
        if begin.as_constant() != Some(0) {
            let begin = self.extent(&begin)?;
            at[axis] = match at[axis] {
                Index::At(position) => Index::At(self.op(ops::ADD, &[position, begin])?),
                Index::Lanes(base, mask) => Index::Lanes(self.op(ops::ADD, &[base, begin])?, mask),
                Index::Each(positions, mask) => {
                    Index::Each(self.elementwise(ops::ADD, &[positions, begin], &Attrs::new())?, mask)
                }
            };
        }
        self.value(frame, data.operands[0], &at)
    }

    /// `permute`: the operand's axes among the result's.
    pub(super) fn permute(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let pattern = data.attrs.pattern().expect("verified: a permutation has a pattern");
        let mut own: Vec<(i64, Index)> = pattern.iter().copied().zip(at.iter().copied()).collect();
        own.retain(|(axis, _)| *axis >= 0);
        own.sort_by_key(|(axis, _)| *axis);
        let own: Indices = own.into_iter().map(|(_, index)| index).collect();
        self.value(frame, data.operands[0], &own)
    }

    /// `reshape`: axes at the end that both shapes have stay; the others are one position among all, taken apart again.
    pub(super) fn reshape(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let operand = frame.body.inst(inst).operands[0];
        let extents = |value: Value| -> Vec<Poly> {
            let ty = frame.body.ty(value).as_tensor().expect("verified: reshape is of a tensor");
            ty.dims.iter().map(|d| self.known(&frame.extent(d))).collect()
        };
        let (from, to) = (extents(operand), extents(frame.body.inst(inst).results[0]));
        let shared = from.iter().rev().zip(to.iter().rev()).take_while(|(a, b)| a == b).count();
        let (from, to) = (&from[..from.len() - shared], &to[..to.len() - shared]);
        let (at, rest) = at.split_at(to.len());
        let flat = self.flattened(to, at)?;
        let mut own = self.unflattened(from, flat)?;
        own.extend_from_slice(rest);
        self.value(frame, operand, &own)
    }

    /// One position for positions on several axes.
    fn flattened(&mut self, extents: &[Poly], at: &[Index]) -> Result<Index, LowerError> {
        // Lanes run along the last axis of a value, so that the positions in front of them are single ones.
        let mut mask = None;
        let mut flat: Option<Value> = None;
        for (i, (index, extent)) in at.iter().zip(extents).enumerate() {
            let position = match *index {
                Index::At(position) => position,
                Index::Lanes(base, lanes) if i + 1 == at.len() => {
                    let scaled = self.scaled(flat, extent)?;
                    let base = scaled.map_or(Ok(base), |outer| self.op(ops::ADD, &[outer, base]))?;
                    return Ok(Index::Lanes(base, lanes));
                }
                Index::Lanes(base, lanes) => {
                    mask = lanes.or(mask);
                    self.lane_positions(base)?
                }
                Index::Each(positions, lanes) => {
                    mask = lanes.or(mask);
                    positions
                }
            };
            flat = Some(match self.scaled(flat, extent)? {
                Some(outer) => self.elementwise(ops::ADD, &[outer, position], &Attrs::new())?,
                None => position,
            });
        }
        let flat = flat.unwrap_or_else(|| self.i64(0));
        Ok(if self.is_vector(flat) { Index::Each(flat, mask) } else { Index::At(flat) })
    }

    fn scaled(&mut self, outer: Option<Value>, extent: &Poly) -> Result<Option<Value>, LowerError> {
        let Some(outer) = outer else { return Ok(None) };
        let extent = self.extent(extent)?;
        Ok(Some(self.elementwise(ops::MUL, &[outer, extent], &Attrs::new())?))
    }

    /// Positions on several axes for one among all.
    fn unflattened(&mut self, extents: &[Poly], flat: Index) -> Result<Indices, LowerError> {
        if let [_] = extents {
            return Ok(vec![flat]);
        }
        let (mut rest, mask) = match flat {
            Index::At(position) => (position, None),
            Index::Lanes(base, mask) => (self.lane_positions(base)?, mask),
            Index::Each(positions, mask) => (positions, mask),
        };
        let index = |emit: &Self, value: Value| match emit.is_vector(value) {
            true => Index::Each(value, mask),
            false => Index::At(value),
        };
        let mut own = Vec::new();
        for (i, extent) in extents.iter().enumerate().rev() {
            if i == 0 {
                own.push(index(self, rest));
                break;
            }
            let extent = self.extent(extent)?;
            let position = self.elementwise(ops::REM, &[rest, extent], &Attrs::new())?;
            own.push(index(self, position));
            rest = self.elementwise(ops::DIV, &[rest, extent], &Attrs::new())?;
        }
        own.reverse();
        Ok(own)
    }

    /// `iota`: the position itself.
    pub(super) fn iota(&mut self, at: &[Index]) -> Result<Value, LowerError> {
        match at {
            [Index::At(position)] => Ok(*position),
            [Index::Lanes(base, _)] => self.lane_positions(*base),
            [Index::Each(positions, _)] => Ok(*positions),
            _ => Err(self.unsupported("positions along several axes")),
        }
    }

    /// `gather_axis`: the operand at the indices' value on one axis.
    pub(super) fn gather_axis(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let (tensor, ids) = (data.operands[0], data.operands[1]);
        let axis = *data.attrs.axis().expect("verified: a gather has an axis") as usize;
        let ty = frame.body.ty(tensor).as_tensor().expect("verified: a gather is of a tensor");
        let (dtype, extent) = (ty.dtype, frame.extent(&ty.dims[axis]));
        let (before, rest) = at.split_at(axis);
        let (wanted, after) = rest.split_at(rank(frame.body, ids));
        let id = self.value(frame, ids, wanted)?;
        let (index, inside) = self.looked_up(id, &extent, wanted)?;
        let at = [before, &[index], after].concat();
        let zero = self.constant(Scalar::from_i64(dtype, 0));
        self.inside_or(frame, inside, zero, |emit, frame| emit.value(frame, tensor, &at))
    }

    /// `gather_set`: memory at the entity that the indices name.
    pub(super) fn gather_set(&mut self, frame: &mut Frame<'a>, inst: Inst, at: &[Index]) -> Result<Value, LowerError> {
        let data = frame.body.inst(inst);
        let (memory, ids) = (data.operands[0], data.operands[1]);
        let ty = frame.body.ty(memory).as_buffer().expect("verified: on this level a gather is from memory");
        let (dtype, extent) = (ty.dtype, frame.extent(&ty.extents()[0]));
        let (wanted, features) = at.split_at(rank(frame.body, ids));
        let id = self.value(frame, ids, wanted)?;
        let (index, inside) = self.looked_up(id, &extent, wanted)?;
        let at = [&[index], features].concat();
        let zero = self.constant(Scalar::from_i64(dtype, 0));
        self.inside_or(frame, inside, zero, |emit, frame| emit.load_at(frame, memory, &at))
    }

    /// The index that a value is, and whether it lies in `0..extent`.
    fn looked_up(&mut self, id: Value, extent: &Poly, wanted: &[Index]) -> Result<(Index, Value), LowerError> {
        let (zero, extent) = (self.i64(0), self.extent(extent)?);
        let above = self.elementwise(ops::GE, &[id, zero], &Attrs::new())?;
        let below = self.elementwise(ops::LT, &[id, extent], &Attrs::new())?;
        let mut inside = self.op(ops::AND, &[above, below])?;
        if !self.is_vector(id) {
            return Ok((Index::At(id), inside));
        }
        for index in wanted {
            if let Index::Lanes(_, Some(mask)) | Index::Each(_, Some(mask)) = index {
                inside = self.op(ops::AND, &[inside, *mask])?;
            }
        }
        Ok((Index::Each(id, Some(inside)), inside))
    }

    /// A value where a condition holds, else another one: one element is generated under a branch, lanes are masked
    /// already.
    pub(super) fn inside_or(
        &mut self,
        frame: &mut Frame<'a>,
        inside: Value,
        otherwise: Value,
        value: impl FnOnce(&mut Self, &mut Frame<'a>) -> Result<Value, LowerError>,
    ) -> Result<Value, LowerError> {
        if self.is_vector(inside) {
            frame.enter();
            let value = value(self, frame);
            frame.leave();
            return self.elementwise(ops::SELECT, &[inside, value?, otherwise], &Attrs::new());
        }
        let (branch, there) = (self.block, self.new_block());
        self.block = there;
        frame.enter();
        let value = value(self, frame);
        frame.leave();
        // A scalar condition may choose between lanes.
        let value = if self.is_vector(otherwise) { self.vector(value?)? } else { value? };
        let from = std::mem::replace(&mut self.block, branch);
        let otherwise = if self.is_vector(value) { self.vector(otherwise)? } else { otherwise };
        let (joined, result) = self.block_like(&[otherwise]);
        self.branch(inside, (there, &[]), (joined, &[otherwise]))?;
        self.block = from;
        self.jump(joined, &[value])?;
        self.block = joined;
        Ok(result[0])
    }

    /// An index relative to `start`, masked to `0..size`, and whether it lies there.
    fn shifted(&mut self, index: Index, start: Value, size: Value) -> Result<(Index, Value), LowerError> {
        let zero = self.i64(0);
        let (moved, positions, mask) = match index {
            Index::At(position) => {
                let moved = self.op(ops::SUB, &[position, start])?;
                (moved, moved, None)
            }
            Index::Lanes(base, mask) => {
                let moved = self.op(ops::SUB, &[base, start])?;
                (moved, self.lane_positions(moved)?, mask)
            }
            Index::Each(positions, mask) => {
                let moved = self.elementwise(ops::SUB, &[positions, start], &Attrs::new())?;
                (moved, moved, mask)
            }
        };
        let above = self.elementwise(ops::GE, &[positions, zero], &Attrs::new())?;
        let below = self.elementwise(ops::LT, &[positions, size], &Attrs::new())?;
        let mut inside = self.op(ops::AND, &[above, below])?;
        if let Some(mask) = mask {
            inside = self.op(ops::AND, &[inside, mask])?;
        }
        let index = match index {
            Index::At(_) => Index::At(moved),
            Index::Lanes(..) => Index::Lanes(moved, Some(inside)),
            Index::Each(..) => Index::Each(moved, Some(inside)),
        };
        Ok((index, inside))
    }

    /// `base + 0, base + 1, …`
    pub(super) fn lane_positions(&mut self, base: Value) -> Result<Value, LowerError> {
        let lanes = self.emit(ops::LANES, &[], int(Key::Lanes, self.lanes.into()))?;
        self.elementwise(ops::ADD, &[lanes, base], &Attrs::new())
    }

    /// Positions and mask of an index with lanes.
    pub(super) fn each(&mut self, index: Index) -> Result<Option<(Value, Option<Value>)>, LowerError> {
        Ok(match index {
            Index::At(_) => None,
            Index::Lanes(base, mask) => Some((self.lane_positions(base)?, mask)),
            Index::Each(positions, mask) => Some((positions, mask)),
        })
    }

    pub(super) fn widened(&mut self, value: Value) -> Result<Value, tiga_ir::TypeError> {
        self.emit(ops::CAST, &[value], Attrs::new().with(Key::To, tiga_ir::Attr::DType(DType::I64)))
    }
}
