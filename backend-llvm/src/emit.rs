//! LLVM IR to assembly and objects, with the check that an object needs nothing from outside.

use crate::LlvmError;
use inkwell::module::Module;
use inkwell::targets::{FileType, TargetMachine};
use object::{Object, ObjectSymbol};

/// Refuses a module that LLVM's verifier refuses.
pub(crate) fn verify(module: &Module<'_>, stage: &'static str) -> Result<(), LlvmError> {
    module.verify().map_err(|message| LlvmError::Verify { stage, message: message.to_string() })
}

/// The module as an ELF object without undefined symbols.
pub(crate) fn object(machine: &TargetMachine, module: &Module<'_>) -> Result<Vec<u8>, LlvmError> {
    let bytes = generate(machine, module, FileType::Object)?;
    let undefined = undefined_symbols(&bytes)?;
    if undefined.is_empty() { Ok(bytes) } else { Err(LlvmError::UndefinedSymbols(undefined)) }
}

/// The module as assembly.
pub(crate) fn assembly(machine: &TargetMachine, module: &Module<'_>) -> Result<String, LlvmError> {
    let bytes = generate(machine, module, FileType::Assembly)?;
    String::from_utf8(bytes).map_err(|e| LlvmError::Llvm { action: "print assembly as text", message: e.to_string() })
}

fn generate(machine: &TargetMachine, module: &Module<'_>, kind: FileType) -> Result<Vec<u8>, LlvmError> {
    let buffer = machine.write_to_memory_buffer(module, kind);
    let buffer = buffer.map_err(|e| LlvmError::Llvm { action: "generate code", message: e.to_string() })?;
    Ok(buffer.as_slice().to_vec())
}

/// The symbols an object expects from elsewhere, sorted.
pub(crate) fn undefined_symbols(bytes: &[u8]) -> Result<Vec<String>, LlvmError> {
    let file = object::File::parse(bytes)?;
    let mut names = Vec::new();
    for symbol in file.symbols().filter(|s| s.is_undefined()) {
        names.push(symbol.name()?.to_owned());
    }
    names.retain(|name| !name.is_empty());
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::object;
    use crate::{LlvmError, target};
    use inkwell::OptimizationLevel;
    use inkwell::context::Context;
    use inkwell::memory_buffer::MemoryBuffer;
    use tiga_abi::CpuTarget;

    /// What kernels never contain: a remainder of floats, which LLVM gives to libm, and a large memset.
    const NEEDY: &str = "
        declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
        define float @k(ptr %p, i64 %n, float %x, float %y) {
          call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 %n, i1 false)
          %r = frem float %x, %y
          ret float %r
        }";

    #[test]
    fn calls_are_refused_by_name() {
        let context = Context::create();
        let text = MemoryBuffer::create_from_memory_range_copy(NEEDY.as_bytes(), "needy");
        let module = context.create_module_from_ir(text).unwrap();
        let machine = target::machine(CpuTarget::X86_64V3, OptimizationLevel::Aggressive).unwrap();
        match object(&machine, &module) {
            Err(LlvmError::UndefinedSymbols(names)) => assert_eq!(names, ["fmodf", "memset"]),
            other => panic!("{other:?}"),
        }
    }
}
