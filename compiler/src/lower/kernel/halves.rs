//! Conversions of `f16` written out, for machines that have none.

use indexmap::IndexMap;
use tiga_abi::DType;
use tiga_ir::{Builder, Func, Inst, Module, TypeError, Value, ops};

/// Writes out every conversion from and to `f16` in a kernel.
///
/// # Errors
/// It built something ill-typed: our bug.
pub fn expand(kernel: &mut Func) -> Result<(), TypeError> {
    let empty = Module::new();
    let mut expanded: IndexMap<Value, Value> = IndexMap::new();
    for block in kernel.body.region(kernel.region).blocks.clone() {
        for inst in std::mem::take(&mut kernel.body.block_mut(block).insts) {
            if !converts(kernel, inst) {
                kernel.body.block_mut(block).insts.push(inst);
                continue;
            }
            let data = kernel.body.inst(inst).clone();
            let to = *data.attrs.to().expect("verified: a conversion says to what");
            let mut builder = Builder::new(&empty, &mut kernel.body, block);
            builder.loc = data.loc;
            let value = ops::cast_without_f16(&mut builder, data.operands[0], to)?;
            expanded.insert(data.results[0], value);
        }
    }
    for inst in kernel.body.walk(kernel.region) {
        let data = kernel.body.inst_mut(inst);
        let arguments = data.targets.iter_mut().flat_map(|(_, args)| args.iter_mut());
        for value in data.operands.iter_mut().chain(arguments) {
            *value = expanded.get(value).copied().unwrap_or(*value);
        }
    }
    Ok(())
}

fn converts(kernel: &Func, inst: Inst) -> bool {
    let data = kernel.body.inst(inst);
    let mut values = data.operands.iter().chain(&data.results);
    data.op == ops::CAST && values.any(|v| kernel.body.ty(*v).dtype() == Some(DType::F16))
}
