//! Kernel functions of a [`tiga_ir::Module`] to LLVM IR, assembly, an ELF object and a shared object.
//!
//! The backend decides nothing, it spells: every instruction of [`tiga_ir::KernelOp`] becomes the LLVM
//! instructions with exactly its documented value, without fast-math flags and without calls. A kernel
//! `@name` becomes the C function [`symbol_name`]`("name")` of type [`tiga_abi::KernelFn`]:
//!
//! | parameters of the kernel, in order | come from |
//! |---|---|
//! | `i64` scalars | `args.sym[0], args.sym[1], …` |
//! | `ptr<…>` | `args.ptr[0], args.ptr[1], …`; a last one named `scratch` is `args.scratch` |
//! | `unit_begin: i64, unit_end: i64` | the arguments of the same name |
//!
//! Machine instructions have the line of the model that they are for, in line tables of DWARF; line 0 where it is none.
//!
//! What is absent: libm and any other undefined symbol (checked in the object), tables for unwinding by exceptions,
//! folders of sources, build ids. The same module, options and machine give the same bytes.

mod address;
mod arith;
mod check;
mod compare;
mod control;
mod convert;
mod emit;
mod error;
mod fatal;
mod function;
mod lines;
mod link;
mod linked;
mod logic;
mod memory;
mod module;
mod signature;
mod symbol;
mod target;
mod vector;

pub use error::{LlvmError, Malformed};
pub use fatal::{Failure, Fatal, fail, on_fatal};
pub use module::{Compiled, Llvm, OptLevel, Options, compile};
pub use symbol::symbol_name;
pub use target::{llvm_version, native_features, required_features};
