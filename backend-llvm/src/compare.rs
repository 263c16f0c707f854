//! Comparisons and selection.

use crate::LlvmError;
use crate::function::{Spelled, Speller};
use inkwell::values::BasicValueEnum;
use inkwell::{FloatPredicate, IntPredicate};
use tiga_ir::InstData;

impl<'c> Speller<'c, '_> {
    pub(crate) fn compare(&self, data: &InstData, int: IntPredicate, float: FloatPredicate) -> Spelled<'c> {
        let (a, b) = (self.operand(data, 0)?, self.operand(data, 1)?);
        if self.dtype(data, 0).is_float() { self.float_compare(float, a, b) } else { self.int_compare(int, a, b) }
    }

    pub(crate) fn int_compare(
        &self,
        predicate: IntPredicate,
        a: BasicValueEnum<'c>,
        b: BasicValueEnum<'c>,
    ) -> Spelled<'c> {
        match (a, b) {
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                Ok(self.builder.build_int_compare(predicate, a, b, "")?.into())
            }
            _ => Ok(self.builder.build_int_compare(predicate, a.into_int_value(), b.into_int_value(), "")?.into()),
        }
    }

    pub(crate) fn float_compare(
        &self,
        predicate: FloatPredicate,
        a: BasicValueEnum<'c>,
        b: BasicValueEnum<'c>,
    ) -> Spelled<'c> {
        match (a, b) {
            (BasicValueEnum::VectorValue(a), BasicValueEnum::VectorValue(b)) => {
                Ok(self.builder.build_float_compare(predicate, a, b, "")?.into())
            }
            _ => {
                Ok(self.builder.build_float_compare(predicate, a.into_float_value(), b.into_float_value(), "")?.into())
            }
        }
    }

    pub(crate) fn select_of(&self, data: &InstData) -> Spelled<'c> {
        self.select(self.operand(data, 0)?, self.operand(data, 1)?, self.operand(data, 2)?)
    }

    /// One of two values, lane by lane if the condition has lanes.
    pub(crate) fn select(
        &self,
        condition: BasicValueEnum<'c>,
        then: BasicValueEnum<'c>,
        otherwise: BasicValueEnum<'c>,
    ) -> Result<BasicValueEnum<'c>, LlvmError> {
        match condition {
            BasicValueEnum::VectorValue(c) => Ok(self.builder.build_select(c, then, otherwise, "")?),
            c => Ok(self.builder.build_select(c.into_int_value(), then, otherwise, "")?),
        }
    }
}
