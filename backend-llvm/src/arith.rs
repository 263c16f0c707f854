//! Arithmetic: total on integers, IEEE on floats.

use crate::LlvmError;
use crate::function::{Spelled, Speller};
use inkwell::values::{BasicValueEnum, InstructionOpcode};
use tiga_abi::DType;
use tiga_ir::{InstData, Scalar};

impl<'c> Speller<'c, '_> {
    pub(crate) fn constant_of(&self, data: &InstData) -> BasicValueEnum<'c> {
        let value = data.attrs.value().expect("checked: a constant has a value");
        self.constant(*value, &tiga_ir::Type::scalar(value.dtype()))
    }

    /// One LLVM instruction for integers, one for floats.
    pub(crate) fn binary(&self, data: &InstData, int: InstructionOpcode, float: InstructionOpcode) -> Spelled<'c> {
        let opcode = if self.dtype(data, 0).is_float() { float } else { int };
        Ok(self.builder.build_binop(opcode, self.operand(data, 0)?, self.operand(data, 1)?, "")?)
    }

    /// LLVM leaves x/0 and MIN/−1 undefined, so neither reaches `sdiv`.
    pub(crate) fn div(&self, data: &InstData) -> Spelled<'c> {
        let (a, b) = (self.operand(data, 0)?, self.operand(data, 1)?);
        if self.dtype(data, 0).is_float() {
            return Ok(self.builder.build_binop(InstructionOpcode::FDiv, a, b, "")?);
        }
        let [is_zero, is_minus_one, divisor] = self.safe_divisor(data, b)?;
        let zero = self.int_like(data, 0);
        let quotient = self.builder.build_binop(InstructionOpcode::SDiv, a, divisor, "")?;
        let negated = self.builder.build_binop(InstructionOpcode::Sub, zero, a, "")?;
        let wrapped = self.select(is_minus_one, negated, quotient)?;
        self.select(is_zero, zero, wrapped)
    }

    /// x%1 = 0 is also what x%0 and x%−1 are.
    pub(crate) fn rem(&self, data: &InstData) -> Spelled<'c> {
        let (a, b) = (self.operand(data, 0)?, self.operand(data, 1)?);
        let [_, _, divisor] = self.safe_divisor(data, b)?;
        Ok(self.builder.build_binop(InstructionOpcode::SRem, a, divisor, "")?)
    }

    /// Whether `b` is 0, whether it is −1, and `b` with 1 in place of either.
    fn safe_divisor(&self, data: &InstData, b: BasicValueEnum<'c>) -> Result<[BasicValueEnum<'c>; 3], LlvmError> {
        let is_zero = self.int_compare(inkwell::IntPredicate::EQ, b, self.int_like(data, 0))?;
        let is_minus_one = self.int_compare(inkwell::IntPredicate::EQ, b, self.int_like(data, -1))?;
        let either = self.builder.build_binop(InstructionOpcode::Or, is_zero, is_minus_one, "")?;
        Ok([is_zero, is_minus_one, self.select(either, self.int_like(data, 1), b)?])
    }

    /// An integer with the type of operand 0.
    pub(crate) fn int_like(&self, data: &InstData, value: i64) -> BasicValueEnum<'c> {
        self.constant(Scalar::from_i64(self.dtype(data, 0), value), self.operand_type(data, 0))
    }

    pub(crate) fn neg(&self, data: &InstData) -> Spelled<'c> {
        let a = self.operand(data, 0)?;
        if self.dtype(data, 0).is_int() {
            return Ok(self.builder.build_binop(InstructionOpcode::Sub, self.int_like(data, 0), a, "")?);
        }
        match a {
            BasicValueEnum::VectorValue(a) => Ok(self.builder.build_float_neg(a, "")?.into()),
            a => Ok(self.builder.build_float_neg(a.into_float_value(), "")?.into()),
        }
    }

    pub(crate) fn abs(&self, data: &InstData) -> Spelled<'c> {
        if self.dtype(data, 0).is_float() {
            return self.same_type_call("llvm.fabs", data);
        }
        let a = self.operand(data, 0)?;
        // The second operand says whether MIN is poison: it wraps.
        let min_is_poison = self.constant(Scalar::Bool(false), &tiga_ir::Type::scalar(DType::Bool));
        self.call_value("llvm.abs", &[a.get_type()], &[a, min_is_poison])
    }

    pub(crate) fn extremum(&self, data: &InstData, int: &'static str, float: &'static str) -> Spelled<'c> {
        self.same_type_call(if self.dtype(data, 0).is_float() { float } else { int }, data)
    }

    /// An intrinsic whose operands and result have one type.
    pub(crate) fn same_type_call(&self, name: &'static str, data: &InstData) -> Spelled<'c> {
        let args: Vec<_> = (0..data.operands.len()).map(|i| self.operand(data, i)).collect::<Result<_, _>>()?;
        self.call_value(name, &[args[0].get_type()], &args)
    }
}
