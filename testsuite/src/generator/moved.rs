//! Random operations that move elements: along axes, between shapes, by indices.

use super::program::Sizes;
use super::writer::Writer;
use fastrand::Rng;
use tiga_abi::{DType, Poly};
use tiga_ir::{Attr, Attrs, Builder, Key, Op, TensorType, Value, ops};

/// The ops of this file, which are made of values of any type. `iota` has a type of its own.
pub(super) const MOVING: [Op; 6] =
    [ops::SLICE, ops::PERMUTE, ops::RESHAPE, ops::CONCAT, ops::GATHER_AXIS, ops::GATHER_SET];

/// Those that the regions of messages have too, with what one entity has.
pub(super) const IN_REGIONS: [Op; 5] = [ops::SLICE, ops::PERMUTE, ops::RESHAPE, ops::CONCAT, ops::GATHER_AXIS];

impl Writer<'_, '_> {
    /// One of them, or positions.
    pub(super) fn moved(&mut self, pool: &[Value]) -> Option<Value> {
        if self.rng.u8(0..8) == 0 {
            return self.positions();
        }
        let sizes = self.scope.sizes;
        Moves { rng: self.rng, builder: &mut self.builder, sizes }.any(pool)
    }

    fn positions(&mut self) -> Option<Value> {
        let ty = match self.rng.u8(0..5) {
            0..=3 => TensorType::field(DType::I64, self.set(), Vec::new()),
            _ => TensorType::tensor(DType::I64, vec![self.scope.sizes.features()]),
        };
        self.builder.value(ops::IOTA, &[], Attrs::new().with(Key::Dims, Attr::Dims(ty))).ok()
    }
}

/// Appends them to a block, of a function or of a region.
pub(super) struct Moves<'m, 'b> {
    pub(super) rng: &'m mut Rng,
    pub(super) builder: &'m mut Builder<'b>,
    pub(super) sizes: &'m Sizes,
}

impl Moves<'_, '_> {
    fn any(&mut self, pool: &[Value]) -> Option<Value> {
        match self.rng.u8(0..7) {
            0 => self.sliced(pool),
            1 => self.permuted(pool),
            2 => self.reshaped(pool),
            3 => self.joined(pool),
            4 => self.taken(pool),
            5 => self.gathered(pool),
            _ => self.summed(pool),
        }
    }

    /// Up to `count` of them on what one entity has, each of the one before in half of the cases.
    pub(super) fn chain(&mut self, pool: &mut Vec<Value>, count: usize) {
        for _ in 0..count {
            let from = if self.rng.bool() { pool.len() - 1 } else { 0 };
            let sources = pool[from..].to_vec();
            let moved = match self.rng.u8(0..6) {
                0 => self.sliced(&sources),
                1 => self.permuted(&sources),
                2 => self.reshaped(&sources),
                3 => self.joined(&sources),
                4 => self.taken(pool),
                _ => self.summed(&sources),
            };
            pool.extend(moved);
        }
    }

    fn tensor(&self, value: Value) -> TensorType {
        self.builder.body.ty(value).as_tensor().expect("the pool holds tensors").clone()
    }

    fn pick(&mut self, pool: &[Value], wanted: impl Fn(&TensorType) -> bool) -> Option<Value> {
        let found: Vec<Value> = pool.iter().copied().filter(|v| wanted(&self.tensor(*v))).collect();
        if found.is_empty() { None } else { Some(found[self.rng.usize(0..found.len())]) }
    }

    fn featured(&mut self, pool: &[Value]) -> Option<(Value, TensorType)> {
        let value = self.pick(pool, |t| !t.dims.is_empty())?;
        Some((value, self.tensor(value)))
    }

    /// From a constant, or from a part of the features, to a constant before the end or the end.
    fn sliced(&mut self, pool: &[Value]) -> Option<Value> {
        let (value, mut ty) = self.featured(pool)?;
        let axis = self.rng.usize(0..ty.dims.len());
        let extent = ty.dims[axis].clone();
        let constant = extent.as_constant();
        let (begin, size) = match constant {
            Some(n) => {
                let begin = self.rng.i64(0..=n);
                (Poly::constant(begin), Poly::constant(self.rng.i64(0..=n - begin)))
            }
            None if extent == self.sizes.wide() => (self.sizes.features(), self.sizes.features()),
            None if self.rng.bool() => (extent, Poly::constant(0)),
            None => (Poly::constant(0), extent),
        };
        ty.dims[axis] = size;
        let attrs = Attrs::new().with(Key::Axis, Attr::Int(axis as i64)).with(Key::Begin, Attr::Extent(begin));
        self.builder.value(ops::SLICE, &[value], attrs.with(Key::Dims, Attr::Dims(ty))).ok()
    }

    /// Axes exchanged, or a new one.
    fn permuted(&mut self, pool: &[Value]) -> Option<Value> {
        let value = self.pick(pool, |t| t.dims.len() < 3)?;
        let mut ty = self.tensor(value);
        let mut pattern: Vec<i64> = (0..ty.dims.len() as i64).collect();
        self.rng.shuffle(&mut pattern);
        if pattern.len() < 2 {
            pattern.insert(self.rng.usize(0..=pattern.len()), -1);
        }
        let extents = [Poly::constant(2), self.sizes.features()];
        let new = &extents[self.rng.usize(0..2)];
        ty.dims = pattern.iter().map(|i| usize::try_from(*i).map_or(new, |i| &ty.dims[i]).clone()).collect();
        let attrs = Attrs::new().with(Key::Pattern, Attr::Ints(pattern)).with(Key::Dims, Attr::Dims(ty));
        self.builder.value(ops::PERMUTE, &[value], attrs).ok()
    }

    /// Several axes as one, or one more.
    fn reshaped(&mut self, pool: &[Value]) -> Option<Value> {
        let value = self.pick(pool, |t| t.dims.len() < 4)?;
        let mut ty = self.tensor(value);
        ty.dims = match ty.dims.as_slice() {
            [n] if n.as_constant() == Some(6) => vec![Poly::constant(2), Poly::constant(3)],
            [a, rest @ ..] if !rest.is_empty() && self.rng.bool() => {
                let size = rest.iter().fold(a.clone(), |acc, d| acc.mul(d));
                vec![size]
            }
            dims if self.rng.bool() => [dims, &[Poly::constant(1)]].concat(),
            dims => [&[Poly::constant(1)], dims].concat(),
        };
        self.builder.value(ops::RESHAPE, &[value], Attrs::new().with(Key::Dims, Attr::Dims(ty))).ok()
    }

    fn joined(&mut self, pool: &[Value]) -> Option<Value> {
        let (first, ty) = self.featured(pool)?;
        let leading = &ty.dims[..ty.dims.len() - 1];
        let mut parts = vec![first];
        for _ in 0..self.rng.usize(1..3) {
            parts.push(self.pick(pool, |t| {
                t.dtype == ty.dtype
                    && t.set == ty.set
                    && t.dims.len() == ty.dims.len()
                    && t.dims[..t.dims.len() - 1] == *leading
            })?);
        }
        self.rng.shuffle(&mut parts);
        self.builder.value(ops::CONCAT, &parts, Attrs::new()).ok()
    }

    /// Features by indices, which are seldom all inside.
    fn taken(&mut self, pool: &[Value]) -> Option<Value> {
        let (value, ty) = self.featured(pool)?;
        let ids =
            self.indices(pool, &|t| t.dims.len() < 2 && (t.set.is_none() || ty.set.is_none() || t.set == ty.set))?;
        let axis = self.rng.usize(0..ty.dims.len());
        if ty.dims.len() + self.tensor(ids).dims.len() > 3 {
            return None;
        }
        self.builder.value(ops::GATHER_AXIS, &[value, ids], Attrs::new().with(Key::Axis, Attr::Int(axis as i64))).ok()
    }

    fn gathered(&mut self, pool: &[Value]) -> Option<Value> {
        let value = self.pick(pool, |t| t.set.is_some() && t.dims.len() < 2)?;
        let ids = self.indices(pool, &|t| t.dims.len() < 2)?;
        self.builder.value(ops::GATHER_SET, &[value, ids], Attrs::new()).ok()
    }

    /// Integers of the pool, most of them made small.
    fn indices(&mut self, pool: &[Value], wanted: &dyn Fn(&TensorType) -> bool) -> Option<Value> {
        let ids = self.pick(pool, |t| t.dtype == DType::I64 && wanted(t))?;
        if self.rng.u8(0..4) == 0 {
            return Some(ids);
        }
        let few = self.builder.constant(tiga_ir::Scalar::I64(self.rng.i64(2..6)));
        self.builder.value(ops::REM, &[ids, few], Attrs::new()).ok()
    }

    /// Running sums.
    fn summed(&mut self, pool: &[Value]) -> Option<Value> {
        let value = self.pick(pool, |t| !t.dims.is_empty() && t.dtype != DType::Bool)?;
        let axis = self.rng.usize(0..self.tensor(value).dims.len());
        self.builder.value(ops::SCAN_AXIS, &[value], Attrs::new().with(Key::Axis, Attr::Int(axis as i64))).ok()
    }
}
