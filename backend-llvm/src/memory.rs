//! Memory: loads, stores, gathers, prefetches. Element alignment is all that is assumed, and masked-off lanes
//! are not accessed. Nothing is said about aliasing: the ABI lets a program bind one array twice.

use crate::address::{element, elements};
use crate::function::{Spelled, Speller, vector_of};
use crate::{LlvmError, vector};
use inkwell::attributes::AttributeLoc;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{BasicValue, BasicValueEnum, InstructionOpcode, PointerValue};
use tiga_abi::DType;
use tiga_ir::{InstData, Key, Scalar, Type};

impl<'c> Speller<'c, '_> {
    pub(crate) fn load(&self, data: &InstData) -> Spelled<'c> {
        let dtype = self.dtype(data, 0);
        let lanes = data.attrs.has(Key::Lanes).then(|| vector::lanes_of(data));
        let address = self.address(data, 0)?;
        let ty = self.storage(dtype, lanes);
        let loaded = match data.operands.get(2) {
            Some(mask) => {
                let args = [address.into(), self.value(*mask)?, ty.const_zero()];
                self.masked_read("llvm.masked.load", &[ty, self.pointer_type()], &args, dtype)?
            }
            None => {
                let loaded = self.builder.build_load(ty, address, "")?;
                self.align(loaded.as_instruction_value().expect("a load is an instruction"), dtype)?;
                loaded
            }
        };
        self.loaded(dtype, lanes, loaded)
    }

    pub(crate) fn store(&self, data: &InstData) -> Result<(), LlvmError> {
        let dtype = self.dtype(data, 1);
        let lanes = match self.operand_type(data, 0) {
            Type::Vector(_, lanes) => Some(*lanes),
            _ => None,
        };
        let value = self.stored(dtype, lanes, self.operand(data, 0)?)?;
        let address = self.address(data, 1)?;
        match data.operands.get(3) {
            Some(mask) => {
                let overload = [value.get_type(), self.pointer_type()];
                let call = self.call("llvm.masked.store", &overload, &[value, address.into(), self.value(*mask)?])?;
                call.set_alignment_attribute(AttributeLoc::Param(1), dtype.bytes() as u32);
                Ok(())
            }
            None => self.align(self.builder.build_store(address, value)?, dtype),
        }
    }

    pub(crate) fn gather(&self, data: &InstData) -> Spelled<'c> {
        let dtype = self.dtype(data, 0);
        let base = self.operand(data, 0)?.into_pointer_value();
        let indices = self.operand(data, 1)?.into_vector_value();
        let lanes = indices.get_type().get_size();
        let addresses = elements(&self.builder, self.storage(dtype, None), base, indices)?;
        let mask = match data.operands.get(2) {
            Some(mask) => self.value(*mask)?,
            None => self.constant(Scalar::Bool(true), &Type::Vector(DType::Bool, lanes)),
        };
        let ty = self.storage(dtype, Some(lanes));
        let overload = [ty, addresses.get_type().into()];
        let args = [addresses.into(), mask, ty.const_zero()];
        let loaded = self.masked_read("llvm.masked.gather", &overload, &args, dtype)?;
        self.loaded(dtype, Some(lanes), loaded)
    }

    pub(crate) fn prefetch(&self, data: &InstData) -> Result<(), LlvmError> {
        let address = self.address(data, 0)?;
        let word = |value: u64| self.context.i32_type().const_int(value, false).into();
        let (read, keep_in_all_levels, data_cache) = (word(0), word(3), word(1));
        let args = [address.into(), read, keep_in_all_levels, data_cache];
        self.call("llvm.prefetch", &[self.pointer_type()], &args).map(|_| ())
    }

    pub(crate) fn offset(&self, data: &InstData) -> Spelled<'c> {
        let bytes = *data.attrs.bytes().expect("checked: an offset has a distance");
        let bytes = self.i64().const_int(bytes as u64, true);
        let base = self.operand(data, 0)?.into_pointer_value();
        Ok(element(&self.builder, self.context.i8_type().into(), base, bytes)?.into())
    }

    /// The address that the operands `pointer, index` from `first` on stand for.
    fn address(&self, data: &InstData, first: usize) -> Result<PointerValue<'c>, LlvmError> {
        let base = self.operand(data, first)?.into_pointer_value();
        let index = self.operand(data, first + 1)?.into_int_value();
        element(&self.builder, self.storage(self.dtype(data, first), None), base, index)
    }

    /// A read whose first argument holds the addresses.
    fn masked_read(
        &self,
        name: &'static str,
        overload: &[BasicTypeEnum<'c>],
        args: &[BasicValueEnum<'c>],
        dtype: DType,
    ) -> Spelled<'c> {
        let call = self.call(name, overload, args)?;
        call.set_alignment_attribute(AttributeLoc::Param(0), dtype.bytes() as u32);
        call.try_as_basic_value().basic().ok_or(LlvmError::Intrinsic(name))
    }

    fn align(&self, access: inkwell::values::InstructionValue<'c>, dtype: DType) -> Result<(), LlvmError> {
        let failed = |e: inkwell::values::InstructionValueError| LlvmError::Llvm {
            action: "set an alignment",
            message: e.to_string(),
        };
        access.set_alignment(dtype.bytes() as u32).map_err(failed)
    }

    /// Elements in memory: a `bool` is a byte.
    fn storage(&self, dtype: DType, lanes: Option<u32>) -> BasicTypeEnum<'c> {
        let element = match dtype {
            DType::Bool => self.context.i8_type().into(),
            _ => self.element_type(dtype),
        };
        lanes.map_or(element, |n| vector_of(element, n).into())
    }

    /// What was read, in registers.
    fn loaded(&self, dtype: DType, lanes: Option<u32>, value: BasicValueEnum<'c>) -> Spelled<'c> {
        if dtype != DType::Bool {
            return Ok(value);
        }
        let bit = self.element_type(dtype);
        let ty: BasicTypeEnum = lanes.map_or(bit, |n| vector_of(bit, n).into());
        Ok(self.builder.build_cast(InstructionOpcode::Trunc, value, ty, "")?)
    }

    /// What is to be written, as it stands in memory.
    fn stored(&self, dtype: DType, lanes: Option<u32>, value: BasicValueEnum<'c>) -> Spelled<'c> {
        if dtype != DType::Bool {
            return Ok(value);
        }
        Ok(self.builder.build_cast(InstructionOpcode::ZExt, value, self.storage(dtype, lanes), "")?)
    }
}
