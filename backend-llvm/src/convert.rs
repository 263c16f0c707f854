//! Conversions of values and of bits.

use crate::function::{Spelled, Speller, vector_of};
use inkwell::types::BasicTypeEnum;
use inkwell::values::InstructionOpcode;
use tiga_abi::DType;
use tiga_ir::{InstData, Scalar, Type};

impl<'c> Speller<'c, '_> {
    /// The type `to(…)`, with the lanes of the operand.
    fn converted(&self, data: &InstData) -> (DType, BasicTypeEnum<'c>) {
        let to = *data.attrs.to().expect("checked: a conversion says to what");
        let element = self.element_type(to);
        match self.operand_type(data, 0) {
            Type::Vector(_, lanes) => (to, vector_of(element, *lanes).into()),
            _ => (to, element),
        }
    }

    /// As [`Scalar::cast`].
    pub(crate) fn cast(&self, data: &InstData) -> Spelled<'c> {
        use DType::{Bool, F32, F64, I32, I64};
        let (to, ty) = self.converted(data);
        let a = self.operand(data, 0)?;
        let zero = |dtype| self.constant(Scalar::from_i64(dtype, 0), self.operand_type(data, 0));
        let opcode = match (self.dtype(data, 0), to) {
            (Bool, Bool) | (I32, I32) | (I64, I64) | (F32, F32) | (F64, F64) => return Ok(a),
            (from @ (I32 | I64), Bool) => return self.int_compare(inkwell::IntPredicate::NE, a, zero(from)),
            (from @ (F32 | F64), Bool) => return self.float_compare(inkwell::FloatPredicate::UNE, a, zero(from)),
            // Saturates, and NaN gives 0.
            (F32 | F64, I32 | I64) => return self.call_value("llvm.fptosi.sat", &[ty, a.get_type()], &[a]),
            (Bool, I32 | I64) => InstructionOpcode::ZExt,
            (Bool, F32 | F64) => InstructionOpcode::UIToFP,
            (I32, I64) => InstructionOpcode::SExt,
            (I64, I32) => InstructionOpcode::Trunc,
            (I32 | I64, F32 | F64) => InstructionOpcode::SIToFP,
            (F32, F64) => InstructionOpcode::FPExt,
            (F64, F32) => InstructionOpcode::FPTrunc,
        };
        Ok(self.builder.build_cast(opcode, a, ty, "")?)
    }

    pub(crate) fn bitcast(&self, data: &InstData) -> Spelled<'c> {
        let (_, ty) = self.converted(data);
        Ok(self.builder.build_cast(InstructionOpcode::BitCast, self.operand(data, 0)?, ty, "")?)
    }
}
