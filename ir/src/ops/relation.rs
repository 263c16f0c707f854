//! Relations as values: `transpose`, `add_self_loops`, `concat_graphs`, `degree`, `cells`.

use crate::{
    Attrs, Effect, Fold, Key, Level, Levels, Nest, Op, OpDef, OpView, RelKind, RelType, TensorType, Type, TypeError,
    Value, joined,
};
use tiga_abi::{DType, Symbol};

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
            RelKind::Joined => RelKind::Joined,
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

/// An operand that is a stored relation.
fn stored(op: OpView<'_>, index: usize) -> Result<RelType, TypeError> {
    let rel = op.operand(index)?.as_rel().filter(|rel| rel.kind != RelKind::Cells);
    rel.cloned().ok_or_else(|| op.wrong(index, "a stored relation"))
}

/// A set made of two others, if it has not too many parts.
fn join(op: OpView<'_>, first: &Symbol, second: &Symbol) -> Result<Symbol, TypeError> {
    if joined::parts(first).count() + joined::parts(second).count() > joined::MOST_PARTS {
        return Err(op.wrong(0, format!("sets that together have at most {} parts", joined::MOST_PARTS)));
    }
    Ok(joined::join(first, second))
}

struct AddSelfLoops;

impl OpDef for AddSelfLoops {
    fn name(&self) -> &'static str {
        "add_self_loops"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(1)?;
        let rel = stored(op, 0)?;
        if rel.src != rel.dst {
            return Err(op.wrong(0, "a relation on one set"));
        }
        let edges = join(op, &rel.edges, &rel.dst)?;
        Ok(vec![Type::Rel(RelType { kind: RelKind::Joined, edges, ..rel })])
    }
}

/// `add_self_loops %g`: the edges of `%g`, then an edge from each node to itself, those that have one included.
pub const ADD_SELF_LOOPS: Op = Op(&AddSelfLoops);

struct ConcatGraphs;

impl OpDef for ConcatGraphs {
    fn name(&self) -> &'static str {
        "concat_graphs"
    }
    fn levels(&self) -> Levels {
        &[Level::Domain, Level::Host]
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        let (a, b) = (stored(op, 0)?, stored(op, 1)?);
        // One below the other, positions stay numbers and numbers stay permuted.
        let kind = if a.kind == b.kind { a.kind } else { RelKind::Joined };
        let [src, dst, edges] = [(&a.src, &b.src), (&a.dst, &b.dst), (&a.edges, &b.edges)];
        let set = |(first, second): (&Symbol, &Symbol)| join(op, first, second);
        Ok(vec![Type::Rel(RelType { kind, src: set(src)?, dst: set(dst)?, edges: set(edges)? })])
    }
}

/// `concat_graphs %a, %b`: side by side, without edges between them; first the nodes and edges of `%a`.
pub const CONCAT_GRAPHS: Op = Op(&ConcatGraphs);

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
