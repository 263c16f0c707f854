//! Conversions of values and of bits.

use crate::function::{Spelled, Speller, vector_of};
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValueEnum, InstructionOpcode};
use inkwell::{FloatPredicate, IntPredicate};
use tiga_abi::DType;
use tiga_ir::{InstData, Scalar, Type};

impl<'c> Speller<'c, '_> {
    /// As [`Scalar::cast`].
    pub(crate) fn cast(&self, data: &InstData) -> Spelled<'c> {
        let to = *data.attrs.to().expect("checked: a conversion says to what");
        self.convert(self.operand(data, 0)?, self.operand_type(data, 0), to)
    }

    pub(crate) fn bitcast(&self, data: &InstData) -> Spelled<'c> {
        let to = *data.attrs.to().expect("checked: a conversion says to what");
        let ty = self.spell_type(&with_element(self.operand_type(data, 0), to));
        Ok(self.builder.build_cast(InstructionOpcode::BitCast, self.operand(data, 0)?, ty, "")?)
    }

    /// A value of type `ty` with elements of another type: from and to `f16` and `bf16` by way of `f32`.
    fn convert(&self, a: BasicValueEnum<'c>, ty: &Type, to: DType) -> Spelled<'c> {
        use DType::{BF16, Bool, F16, F32, F64, I32, I64};
        let from = ty.dtype().expect("checked: kernel values have elements");
        let target = self.spell_type(&with_element(ty, to));
        let zero = || self.constant(Scalar::from_i64(from, 0), ty);
        let opcode = match (from, to) {
            (Bool, Bool) | (I32, I32) | (I64, I64) | (F16, F16) | (BF16, BF16) | (F32, F32) | (F64, F64) => {
                return Ok(a);
            }
            (F16, F32) => return self.half_to_single(a, ty),
            (F32, F16) => return self.single_to_half(a, ty),
            (BF16, F32) => return self.brain_to_single(a, ty),
            (F32, BF16) => return self.single_to_brain(a, ty),
            (F16 | BF16, _) | (_, F16 | BF16) => {
                let single = self.convert(a, ty, F32)?;
                return self.convert(single, &with_element(ty, F32), to);
            }
            (I32 | I64, Bool) => return self.int_compare(IntPredicate::NE, a, zero()),
            (F32 | F64, Bool) => return self.float_compare(FloatPredicate::UNE, a, zero()),
            // Saturates, and NaN gives 0.
            (F32 | F64, I32 | I64) => return self.call_value("llvm.fptosi.sat", &[target, a.get_type()], &[a]),
            (Bool, I32 | I64) => InstructionOpcode::ZExt,
            (Bool, F32 | F64) => InstructionOpcode::UIToFP,
            (I32, I64) => InstructionOpcode::SExt,
            (I64, I32) => InstructionOpcode::Trunc,
            (I32 | I64, F32 | F64) => InstructionOpcode::SIToFP,
            (F32, F64) => InstructionOpcode::FPExt,
            (F64, F32) => InstructionOpcode::FPTrunc,
        };
        Ok(self.builder.build_cast(opcode, a, target, "")?)
    }

    /// LLVM's `half` in the shape of a type.
    fn half(&self, ty: &Type) -> BasicTypeEnum<'c> {
        let half: BasicTypeEnum = self.context.f16_type().into();
        match ty {
            Type::Vector(_, lanes) => vector_of(half, *lanes).into(),
            _ => half,
        }
    }

    fn half_to_single(&self, a: BasicValueEnum<'c>, ty: &Type) -> Spelled<'c> {
        let half = self.builder.build_cast(InstructionOpcode::BitCast, a, self.half(ty), "")?;
        let single = self.spell_type(&with_element(ty, DType::F32));
        Ok(self.builder.build_cast(InstructionOpcode::FPExt, half, single, "")?)
    }

    fn single_to_half(&self, a: BasicValueEnum<'c>, ty: &Type) -> Spelled<'c> {
        let half = self.builder.build_cast(InstructionOpcode::FPTrunc, a, self.half(ty), "")?;
        let bits = self.spell_type(&with_element(ty, DType::F16));
        Ok(self.builder.build_cast(InstructionOpcode::BitCast, half, bits, "")?)
    }

    fn brain_to_single(&self, a: BasicValueEnum<'c>, ty: &Type) -> Spelled<'c> {
        let [int, single] = [DType::I32, DType::F32].map(|d| with_element(ty, d));
        let low = self.builder.build_cast(InstructionOpcode::ZExt, a, self.spell_type(&int), "")?;
        let high = self.builder.build_binop(InstructionOpcode::Shl, low, self.constant(Scalar::I32(16), &int), "")?;
        Ok(self.builder.build_cast(InstructionOpcode::BitCast, high, self.spell_type(&single), "")?)
    }

    /// To the nearest, ties to even: `(bits + 0x7fff + bit 16) >> 16`. Of a NaN, whose low bits may carry into the
    /// sign or be all that it has, the upper half with its quiet bit set.
    fn single_to_brain(&self, a: BasicValueEnum<'c>, ty: &Type) -> Spelled<'c> {
        let int = with_element(ty, DType::I32);
        let number = |n| self.constant(Scalar::I32(n), &int);
        let op = |opcode, a, b| self.builder.build_binop(opcode, a, b, "");
        let bits = self.builder.build_cast(InstructionOpcode::BitCast, a, self.spell_type(&int), "")?;
        let upper = op(InstructionOpcode::LShr, bits, number(16))?;
        let odd = op(InstructionOpcode::And, upper, number(1))?;
        let sum = op(InstructionOpcode::Add, op(InstructionOpcode::Add, bits, number(0x7fff))?, odd)?;
        let rounded = op(InstructionOpcode::LShr, sum, number(16))?;
        let quiet = op(InstructionOpcode::Or, upper, number(0x40))?;
        let chosen = self.select(self.float_compare(FloatPredicate::UNO, a, a)?, quiet, rounded)?;
        let brain = self.spell_type(&with_element(ty, DType::BF16));
        Ok(self.builder.build_cast(InstructionOpcode::Trunc, chosen, brain, "")?)
    }
}

/// The type with elements of another type.
fn with_element(ty: &Type, dtype: DType) -> Type {
    match ty {
        Type::Vector(_, lanes) => Type::Vector(dtype, *lanes),
        _ => Type::scalar(dtype),
    }
}
