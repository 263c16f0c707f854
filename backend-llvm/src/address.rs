//! Address arithmetic: the one LLVM builder call that inkwell leaves to the caller's care.

#![allow(unsafe_code)]

use crate::LlvmError;
use inkwell::builder::Builder;
use inkwell::types::BasicTypeEnum;
use inkwell::values::{AsValueRef, IntValue, PointerValue, VectorValue};

/// The address of element `index` of an array of `element`s at `base`, in wrapping 64-bit arithmetic.
pub(crate) fn element<'c>(
    builder: &Builder<'c>,
    element: BasicTypeEnum<'c>,
    base: PointerValue<'c>,
    index: IntValue<'c>,
) -> Result<PointerValue<'c>, LlvmError> {
    // SAFETY: one index into an array of a sized type is always well formed; nothing is dereferenced here.
    Ok(unsafe { builder.build_gep(element, base, &[index], "") }?)
}

/// The addresses of the elements at a vector of indices.
pub(crate) fn elements<'c>(
    builder: &Builder<'c>,
    element: BasicTypeEnum<'c>,
    base: PointerValue<'c>,
    indices: VectorValue<'c>,
) -> Result<VectorValue<'c>, LlvmError> {
    // SAFETY: LLVM's GEP takes a vector of indices and then yields a vector of addresses; inkwell types both
    // as if they were scalars, so the handles are unwrapped and rewrapped as what they are.
    unsafe {
        let indices = IntValue::new(indices.as_value_ref());
        let addresses = builder.build_gep(element, base, &[indices], "")?;
        Ok(VectorValue::new(addresses.as_value_ref()))
    }
}
