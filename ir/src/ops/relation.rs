//! Relations as values: `transpose`, `degree`, `cells`.

use crate::{
    Attrs, Effect, Fold, Key, Level, Levels, Nest, Op, OpDef, OpView, RelKind, RelType, TensorType, Type, TypeError,
    Value,
};
use tiga_abi::DType;

struct Transpose;

impl OpDef for Transpose {
    fn name(&self) -> &'static str {
        "transpose"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let rel = op.operand(0)?.as_rel().ok_or_else(|| op.wrong(0, "a relation"))?;
        let kind = match rel.kind {
            RelKind::Csr => RelKind::Transpose,
            RelKind::Transpose => RelKind::Csr,
            RelKind::Cells => return Err(op.wrong(0, "a stored relation")),
        };
        Ok(vec![Type::Rel(RelType { kind, src: rel.dst.clone(), dst: rel.src.clone(), edges: rel.edges.clone() })])
    }
    fn fold(&self, op: OpView<'_>) -> Option<Fold> {
        let inner = op.def(0).filter(|inner| inner.name() == self.name())?;
        Some(Fold::Values(inner.operands().to_vec()))
    }
}

/// `transpose %g`: roles exchanged, the same edge set, visited in stable transposed order.
pub const TRANSPOSE: Op = Op(&Transpose);

struct Degree;

impl OpDef for Degree {
    fn name(&self) -> &'static str {
        "degree"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Loops]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let rel = op.operand(0)?.as_rel().ok_or_else(|| op.wrong(0, "a relation"))?;
        if op.operands().len() == 1 {
            return Ok(vec![TensorType::field(DType::I64, rel.dst.clone(), Vec::new()).into()]);
        }
        op.arity(2)?;
        if !op.operand(1)?.is_scalar(DType::I64) {
            return Err(op.wrong(1, "a row (i64)"));
        }
        Ok(vec![Type::scalar(DType::I64)])
    }
    fn nest(
        &self,
        op: OpView<'_>,
        nest: &mut Nest<'_, '_>,
        operands: &[Value],
    ) -> Option<Result<Vec<Value>, TypeError>> {
        let _ = op;
        let row = nest.row?;
        Some(nest.builder.op(DEGREE, &[operands[0], row], Attrs::new()))
    }
}

/// `degree %g` (domain: the in-degree of every destination) or `degree %g, %row` (loops: of one row).
pub const DEGREE: Op = Op(&Degree);

struct Cells;

impl OpDef for Cells {
    fn name(&self) -> &'static str {
        "cells"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn effect(&self) -> Effect {
        Effect::Read
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(4)?;
        let edges = op.attrs().dims().and_then(|d| d.set.clone()).ok_or_else(|| op.missing(Key::Dims))?;
        let points = op.operand(0)?.as_buffer().filter(|b| b.dtype.is_float() && b.dims.len() == 1);
        let set = points.and_then(|b| b.set.clone()).ok_or_else(|| op.wrong(0, "positions in memory"))?;
        for i in [1, 2] {
            op.operand(i)?
                .as_buffer()
                .filter(|b| b.dtype == DType::I64)
                .ok_or_else(|| op.wrong(i, "indices in memory"))?;
        }
        if op.operand(3)?.as_tensor().is_none_or(|t| !t.is_scalar() || !t.dtype.is_float()) {
            return Err(op.wrong(3, "a distance"));
        }
        Ok(vec![Type::Rel(RelType { kind: RelKind::Cells, src: set.clone(), dst: set, edges })])
    }
}

/// `cells %pos, %cell_ptr, %ids, %cutoff dims(i64[E])`: pairs within a distance, sources ascending, without self.
pub const CELLS: Op = Op(&Cells);
