//! `for`: independent iterations over a space.

use crate::{Effect, Key, Level, Levels, Op, OpDef, OpView, Space, Type, TypeError};
use tiga_abi::DType;

struct For;

impl OpDef for For {
    fn name(&self) -> &'static str {
        "for"
    }
    fn levels(&self) -> Levels {
        &[Level::Loops]
    }
    fn effect(&self) -> Effect {
        Effect::Write
    }
    fn regions(&self) -> (usize, usize) {
        (1, 1)
    }
    fn infer(&self, op: OpView<'_>) -> Result<Vec<Type>, TypeError> {
        let space = op.attrs().space().ok_or_else(|| op.missing(Key::Space))?;
        let (relation, indices) = match space {
            Space::Once => (false, 0),
            Space::Rows(_) | Space::Blocks(..) => (false, 1),
            Space::Short(_) => (true, 1),
            Space::Leaves(_) | Space::Long(_) => (true, 2),
            Space::Edges => (true, 4),
        };
        op.arity(usize::from(relation))?;
        if relation {
            op.operand(0)?.as_rel().ok_or_else(|| op.wrong(0, "a relation"))?;
        }
        let params = op.region_params(0)?;
        if params.len() != indices || params.iter().any(|t| !t.is_scalar(DType::I64)) {
            return Err(op.region_error(
                0,
                format!("{indices} indices of type i64"),
                format!("{} parameters", params.len()),
            ));
        }
        if !op.region_yields(0)?.is_empty() {
            return Err(op.region_error(0, "an empty yield", "values"));
        }
        Ok(Vec::new())
    }
}

/// `for [%rel] space(…) (body)`
pub const FOR: Op = Op(&For);
