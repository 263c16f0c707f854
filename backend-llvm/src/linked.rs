//! The table of an object that programs link ahead of time: its bundle without kernels, and its kernels by name.

use crate::LlvmError;
use inkwell::AddressSpace;
use inkwell::context::Context;
use inkwell::module::{Linkage, Module};
use inkwell::values::{BasicValue, PointerValue};

/// Adds the constant `symbol`, a `tiga_linked` of `tiga.h`:
/// `{ size_t size; const uint8_t *bundle; size_t bundle_len; const tiga_linked_kernel *kernels; size_t num_kernels; }`
/// with `tiga_linked_kernel` as `{ const char *name; tiga_kernel *entry; }`.
pub(crate) fn add_table<'c>(
    context: &'c Context,
    module: &Module<'c>,
    kernels: impl IntoIterator<Item = &'c str>,
    symbol: &str,
    bundle: &[u8],
) -> Result<(), LlvmError> {
    let (pointer, size) = (context.ptr_type(AddressSpace::default()), context.i64_type());
    let row = context.struct_type(&[pointer.into(), pointer.into()], false);
    let mut rows = Vec::new();
    for name in kernels {
        let entry = module.get_function(name).ok_or_else(|| LlvmError::UnknownFunction(name.to_owned()))?;
        // Reached through the table only: two objects in one program may have kernels of the same names.
        entry.set_linkage(Linkage::Internal);
        let text = constant(module, &context.const_string(name.as_bytes(), true));
        rows.push(row.const_named_struct(&[text.into(), entry.as_global_value().as_pointer_value().into()]));
    }
    let count = size.const_int(rows.len() as u64, false);
    let rows = constant(module, &row.const_array(&rows));
    let bytes = constant(module, &context.const_string(bundle, false));
    let len = size.const_int(bundle.len() as u64, false);
    let table = [size.const_int(40, false).into(), bytes.into(), len.into(), rows.into(), count.into()];
    let table = context.const_struct(&table, false);
    let global = module.add_global(table.get_type(), None, symbol);
    global.set_initializer(&table);
    global.set_constant(true);
    Ok(())
}

/// A constant that only the table points at.
fn constant<'c>(module: &Module<'c>, value: &dyn BasicValue<'c>) -> PointerValue<'c> {
    let value = value.as_basic_value_enum();
    let global = module.add_global(value.get_type(), None, "");
    global.set_initializer(&value);
    global.set_constant(true);
    global.set_linkage(Linkage::Private);
    global.as_pointer_value()
}
