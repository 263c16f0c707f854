//! Logic on `bool` and on the bits of integers.

use crate::function::{Spelled, Speller};
use inkwell::values::InstructionOpcode;
use tiga_abi::DType;
use tiga_ir::{InstData, Scalar};

impl<'c> Speller<'c, '_> {
    pub(crate) fn bitwise(&self, data: &InstData, opcode: InstructionOpcode) -> Spelled<'c> {
        Ok(self.builder.build_binop(opcode, self.operand(data, 0)?, self.operand(data, 1)?, "")?)
    }

    pub(crate) fn not(&self, data: &InstData) -> Spelled<'c> {
        let ones = match self.dtype(data, 0) {
            DType::Bool => self.constant(Scalar::Bool(true), self.operand_type(data, 0)),
            _ => self.int_like(data, -1),
        };
        Ok(self.builder.build_binop(InstructionOpcode::Xor, self.operand(data, 0)?, ones, "")?)
    }

    /// LLVM leaves counts beyond the width undefined; ours are taken modulo it.
    pub(crate) fn shift(&self, data: &InstData, opcode: InstructionOpcode) -> Spelled<'c> {
        let width = 8 * self.dtype(data, 0).bytes() as i64;
        let mask = self.int_like(data, width - 1);
        let count = self.builder.build_binop(InstructionOpcode::And, self.operand(data, 1)?, mask, "")?;
        Ok(self.builder.build_binop(opcode, self.operand(data, 0)?, count, "")?)
    }
}
