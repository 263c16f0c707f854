//! Dense products: rows folded together, so that what they share is loaded once for all of them.
//!
//! `x @ w` folds over the entries of a row of `x`; each entry meets a row of `w`, which is the same for every row of
//! `x`. One row at a time loads as much as it multiplies, and waits for each addition before the next. Several rows
//! in registers, a tile of features wide, do neither (Goto and van de Geijn 2008). Tiles are the outer loop and rows
//! the inner one, within blocks of rows, so that the part of `w` under a tile stays in the cache; where `w` is wider
//! than the tile, that part is copied together first, as lines that lie far apart share few places of a cache. Each row
//! is folded as it is alone, from the first entry to the last: nothing of this shows in a result.

use super::emit::{Emit, Frame, Index, Indices};
use super::{LowerError, int, required};
use tiga_abi::{DType, Poly, SizeExpr};
use tiga_ir::{
    Attr, Attrs, Body, Inst, Key, Op, Over, Space, Value,
    ops::{self, Substitution},
};
use tiga_source::Loc;

/// The most rows at once: each needs an address.
const ROWS: u32 = 8;

/// Rows between one look at a tile and the next: a multiple of the numbers of rows that go together.
const BLOCK: i64 = 96;

/// The fewest rows of a block for which a tile of the matrix is copied.
const FEWEST_PACKED: i64 = 24;

/// The most bytes of a tile that are copied: what lies in the second cache of a core, with room for rows beside it.
const MOST_PACKED: i64 = 1 << 20;

/// What may be computed of each element beside the product, in instructions: they are there once for each row that goes
/// together, and for each kind of tile.
const MOST_BESIDE: usize = 400;

/// Instructions of a function that is no instruction itself, such as `exp`.
const FUNCTION: usize = 80;

/// A loops function that is a dense product, and what else happens to single elements of it.
pub(super) struct Dense {
    fold: Inst,
    stores: Vec<Inst>,
    /// The features of the product, and of all that is stored.
    dims: Vec<Poly>,
    /// The parameter of the loop that is the row.
    row: Value,
    /// The matrix, where the fold goes over its rows.
    matrix: Option<Value>,
}

/// A tile of the matrix, its rows one after the other in scratch memory.
pub(super) struct Packed {
    matrix: Value,
    address: Value,
}

impl Dense {
    /// The product that a `for` is, if it is one.
    pub(super) fn of(body: &Body, main: Inst) -> Option<Self> {
        let data = body.inst(main);
        let block = body.block(body.entry(data.regions[0]));
        if !matches!(data.attrs.space(), Some(Space::Rows(_))) {
            return None;
        }
        let mut folds = block.insts.iter().copied().filter(|inst| body.inst(*inst).op == ops::REDUCE);
        let (fold, None) = (folds.next()?, folds.next()) else { return None };
        let weight = |inst: &Inst| match body.inst(*inst).op {
            op if op.elementwise().is_none() => 0,
            op if op.kernel().is_some() => 1,
            _ => FUNCTION,
        };
        // An array without an index is the same in all rows.
        let shared = |inst: &Inst| body.inst(*inst).op == ops::LOAD && body.inst(*inst).operands.len() == 1;
        let [product] = body.inst(fold).results.as_slice() else { return None };
        let dims = |value: Value| body.ty(value).as_tensor().map(|tensor| tensor.dims.clone());
        let features = dims(*product)?;
        let stores: Vec<Inst> = block.insts.iter().copied().filter(|inst| body.inst(*inst).op == ops::STORE).collect();
        let alike = |inst: &Inst| dims(body.inst(*inst).operands[0]).as_ref() == Some(&features);
        let inside = &body.block(body.entry(body.inst(fold).regions[0])).insts;
        let is_dense = body.inst(fold).attrs.over() == Some(&Over::Range)
            && !features.is_empty()
            && Self::has_only(body, &block.insts, &[ops::LOAD, ops::REDUCE, ops::STORE])
            && block.insts.iter().map(weight).sum::<usize>() <= MOST_BESIDE
            && Self::has_only(body, inside, &[ops::ELEM, ops::OUTER])
            && block.insts.iter().any(shared)
            && stores.iter().all(alike);
        let matrix = Self::matrix(body, fold, &features);
        is_dense.then(|| Self { fold, stores, dims: features, row: block.params[0], matrix })
    }

    /// The place of the product.
    pub(super) fn place(&self, body: &Body) -> Loc {
        body.inst(self.fold).loc.clone()
    }

    /// Whether instructions are computations on elements, constants, and some others.
    fn has_only(body: &Body, insts: &[Inst], others: &[Op]) -> bool {
        insts.iter().map(|inst| body.inst(*inst).op).all(|op| {
            [ops::CONST, ops::LEN, ops::FILL, ops::YIELD].contains(&op)
                || op.elementwise().is_some()
                || others.contains(&op)
        })
    }

    /// The array without an index whose rows a fold goes over; each is as wide as the product.
    fn matrix(body: &Body, fold: Inst, features: &[Poly]) -> Option<Value> {
        let terms = body.inst(fold).attrs.dims()?.extents().first()?.clone();
        let dims = [&[terms], features].concat();
        let inside = body.block(body.entry(body.inst(fold).regions[0]));
        let element = inside.params[0];
        inside.insts.iter().map(|inst| body.inst(*inst)).find_map(|data| {
            let [array, at] = *data.operands.as_slice() else { return None };
            let load = body.inst(body.def(array)?);
            let alike = features.len() == 1 && body.ty(array).as_tensor().is_some_and(|tensor| tensor.dims == dims);
            let whole = load.op == ops::LOAD && load.operands.len() == 1 && alike;
            (data.op == ops::ELEM && at == element && data.attrs.axis() == Some(&0) && whole).then_some(array)
        })
    }
}

impl<'a> Emit<'a> {
    /// Whether the rows of a product have one accumulator each, as those that are folded together must.
    pub(super) fn goes_together(&self, dense: &Dense) -> Result<bool, LowerError> {
        let shape = required(self.source.body.inst(dense.fold).attrs.shape(), Key::Shape);
        Ok(shape.leaf.is_none() && self.choose(&shape.acc)? == 1)
    }

    /// The rows `begin..end`, block by block; in a block, tile by tile.
    pub(super) fn dense(&mut self, dense: &Dense, begin: Value, end: Value) -> Result<(), LowerError> {
        self.strides((begin, end), (1, BLOCK), |emit, first| {
            let past = emit.advance(first, BLOCK)?;
            let last = emit.op(ops::MIN, &[past, end])?;
            let mut frame = Frame::new(&emit.source.body, Substitution::new());
            emit.features(&mut frame, &dense.dims, &mut Vec::new(), &mut |emit, _, at| {
                // Narrower tiles are few, and take what the widest one leaves.
                let widest = matches!(at, [Index::Lanes(_, None)]) && i64::from(emit.lanes) == emit.tile_lanes()?;
                match dense.matrix.filter(|_| widest) {
                    Some(matrix) => emit.packed_or_not(dense, (first, last), matrix, at),
                    None => emit.tile_of_rows(dense, (first, last), None, at),
                }
            })
        })?;
        Ok(())
    }

    /// A tile's rows, with the matrix under it copied where that pays.
    fn packed_or_not(
        &mut self,
        dense: &Dense,
        (first, last): (Value, Value),
        matrix: Value,
        at: &[Index],
    ) -> Result<(), LowerError> {
        let terms = self.terms(dense);
        let (rows, terms, features) =
            (self.op(ops::SUB, &[last, first])?, self.extent(&terms)?, self.extent(&dense.dims[0])?);
        let mut pays: Option<Value> = None;
        for (value, op, bound) in [
            (rows, ops::GE, FEWEST_PACKED),
            (terms, ops::LE, self.most_packed(matrix)),
            (features, ops::GT, self.lanes.into()),
        ] {
            let bound = self.i64(bound);
            let holds = self.op(op, &[value, bound])?;
            pays = Some(match pays {
                Some(others) => self.op(ops::AND, &[others, holds])?,
                None => holds,
            });
        }
        let (packing, plain, done) = (self.new_block(), self.new_block(), self.new_block());
        self.branch(pays.expect("there are conditions"), (packing, &[]), (plain, &[]))?;
        self.block = packing;
        let packed = self.pack(dense, matrix, at)?;
        self.tile_of_rows(dense, (first, last), Some(&packed), at)?;
        self.jump(done, &[])?;
        self.block = plain;
        self.tile_of_rows(dense, (first, last), None, at)?;
        self.jump(done, &[])?;
        self.block = done;
        Ok(())
    }

    /// Rows of a matrix of which a tile is copied at most.
    fn most_packed(&self, matrix: Value) -> i64 {
        let bytes = self.source.body.ty(matrix).dtype().map_or(4, DType::bytes) as i64;
        MOST_PACKED / (i64::from(self.lanes) * bytes)
    }

    /// Terms of each sum of a product: the extent that its fold goes over.
    fn terms(&self, dense: &Dense) -> Poly {
        required(self.source.body.inst(dense.fold).attrs.dims(), Key::Dims).extents()[0].clone()
    }

    /// Copies the part of the matrix under a tile into scratch memory.
    fn pack(&mut self, dense: &Dense, matrix: Value, at: &[Index]) -> Result<Packed, LowerError> {
        self.schedule.packs();
        let body = &self.source.body;
        let dtype = body.ty(matrix).dtype().expect("verified: a load gives a tensor");
        let attrs = Attrs::new().with(Key::Bytes, Attr::Int(0)).with(Key::To, Attr::DType(dtype));
        let packed = Packed { matrix, address: self.emit(ops::OFFSET, &[self.param("scratch")], attrs)? };
        let terms = self.terms(dense);
        let bytes = SizeExpr::Const(i64::from(self.lanes) * dtype.bytes() as i64);
        let most = SizeExpr::Const(self.most_packed(matrix));
        let rows = SizeExpr::Min(Box::new((&self.known(&terms)).into()), Box::new(most));
        // One tile is as wide as the matrix if the matrix is no wider: then nothing is ever copied.
        let features: SizeExpr = (&self.known(&dense.dims[0])).into();
        let wider = SizeExpr::Div(Box::new(features), Box::new(SizeExpr::Const(i64::from(self.lanes) + 1)));
        let wider = SizeExpr::Min(Box::new(wider), Box::new(SizeExpr::Const(1)));
        let bytes = SizeExpr::Mul(Box::new(bytes), Box::new(wider));
        self.scratch = SizeExpr::Mul(Box::new(rows), Box::new(bytes));
        let (zero, terms) = (self.i64(0), self.extent(&terms)?);
        self.strides((zero, terms), (1, 1), |emit, term| {
            let mut frame = Frame::new(body, Substitution::new());
            let row = emit.value(&mut frame, matrix, &[&[Index::At(term)], at].concat())?;
            let place = emit.in_packed(term)?;
            Ok(emit.effect(ops::PTR_STORE, &[row, packed.address, place])?)
        })?;
        Ok(packed)
    }

    /// Says in each frame what a row of the matrix is: what was copied.
    pub(super) fn bind_packed(
        &mut self,
        packed: &Packed,
        frames: &mut [Frame<'a>],
        term: Value,
        at: &[Index],
    ) -> Result<(), LowerError> {
        let place = self.in_packed(term)?;
        let row = self.emit(ops::PTR_LOAD, &[packed.address, place], int(Key::Lanes, self.lanes.into()))?;
        for frame in frames {
            frame.bind(packed.matrix, &[&[Index::At(term)], at].concat(), row);
        }
        Ok(())
    }

    /// Where a row of a copied tile begins, in elements.
    fn in_packed(&mut self, term: Value) -> Result<Value, LowerError> {
        let lanes = self.i64(self.lanes.into());
        Ok(self.op(ops::MUL, &[term, lanes])?)
    }

    /// The rows of a block at a tile, so many at once as registers hold; those that are left one by one.
    fn tile_of_rows(
        &mut self,
        dense: &Dense,
        (first, last): (Value, Value),
        packed: Option<&Packed>,
        at: &[Index],
    ) -> Result<(), LowerError> {
        let together = self.together(dense, at);
        self.schedule.folds_together(together);
        let step = i64::from(together);
        let rest = self.strides((first, last), (step, step), |emit, row| {
            emit.rows_of_product(dense, (row, together), packed, at)
        })?;
        if together > 1 {
            self.strides((rest, last), (1, 1), |emit, row| emit.rows_of_product(dense, (row, 1), packed, at))?;
        }
        Ok(())
    }

    /// Rows whose accumulators fit into the registers, at these features.
    fn together(&self, dense: &Dense, at: &[Index]) -> u32 {
        let body = &self.source.body;
        let bytes = body.ty(body.inst(dense.fold).results[0]).dtype().map_or(4, DType::bytes).max(4) as u32;
        let lanes = if at.iter().any(|index| index.in_lanes()) { self.lanes } else { 1 };
        // Besides accumulators there are the shared row, and one entry of a row of its own.
        let vectors = (lanes * bytes).div_ceil(self.simd_bytes);
        (self.registers_of_target().saturating_sub(1 + vectors) / vectors).clamp(1, ROWS)
    }

    /// So many rows from one on: folds them together, then stores what is made of each.
    fn rows_of_product(
        &mut self,
        dense: &Dense,
        (first, rows): (Value, u32),
        packed: Option<&Packed>,
        at: &[Index],
    ) -> Result<(), LowerError> {
        let mut frames = Vec::new();
        for number in 0..rows {
            let row = self.advance(first, number.into())?;
            let mut frame = Frame::new(&self.source.body, Substitution::new());
            frame.bind(dense.row, &[], row);
            frames.push(frame);
        }
        self.fold_together(dense.fold, &mut frames, packed, at)?;
        for mut frame in frames {
            for store in &dense.stores {
                let data = frame.body.inst(*store);
                let mut place: Indices = Vec::new();
                for index in &data.operands[2..] {
                    place.push(Index::At(self.value(&mut frame, *index, &[])?));
                }
                let stored = self.value(&mut frame, data.operands[0], at)?;
                let at = [place.as_slice(), at].concat();
                self.at_place(&data.loc, |emit| emit.store_at(&frame, data.operands[1], &at, stored))?;
            }
        }
        Ok(())
    }
}
