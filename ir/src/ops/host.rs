//! Memory of the host level.

use crate::{Effect, Key, Level, Levels, Op, OpDef, OpView, Type, TypeError};

struct Alloc;

impl OpDef for Alloc {
    fn name(&self) -> &'static str {
        "alloc"
    }
    fn levels(&self) -> Levels {
        &[Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(0)?;
        let dims = op.attrs().dims().ok_or_else(|| op.missing(Key::Dims))?;
        Ok(vec![Type::Buffer(dims.clone())])
    }
}

/// `alloc dims(f32[N, F])`: memory owned by the plan; written once, by one launch or copy.
pub const ALLOC: Op = Op(&Alloc);

struct Copy;

impl OpDef for Copy {
    fn name(&self) -> &'static str {
        "copy"
    }
    fn levels(&self) -> Levels {
        &[Level::Host]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        op.arity(2)?;
        let from = op.operand(0)?.as_buffer().ok_or_else(|| op.wrong(0, "memory"))?;
        if op.operand(1)?.as_buffer() != Some(from) {
            return Err(op.wrong(1, format!("buf<{from}>")));
        }
        Ok(Vec::new())
    }
}

/// `copy %from, %to`: the same bytes in other memory.
pub const COPY: Op = Op(&Copy);
