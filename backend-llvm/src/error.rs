//! Why a module does not become code.

use inkwell::builder::BuilderError;
use std::path::PathBuf;
use tiga_ir::{Level, Type, TypeError};

/// Why a module does not become code. The first group is about the module, the second about this machine,
/// the last would be our own mistake.
#[derive(Debug, thiserror::Error)]
pub enum LlvmError {
    /// A kernel was asked for that is not in the module.
    #[error("the module has no function `@{0}`")]
    UnknownFunction(String),
    /// A function of another level was asked for.
    #[error("`@{name}` is a {level} function, not a kernel")]
    NotKernel {
        /// Its name.
        name: String,
        /// Its level.
        level: Level,
    },
    /// The same kernel was asked for twice.
    #[error("kernel `@{0}` is listed twice")]
    Twice(String),
    /// A parameter that the kernel ABI has no place for.
    #[error("parameter {index} of kernel `@{kernel}` is `{name}: {found}`, but {expected}")]
    Parameter {
        /// The kernel.
        kernel: String,
        /// Which parameter.
        index: usize,
        /// Its name.
        name: String,
        /// Its type.
        found: Box<Type>,
        /// What stands in its place by the contract.
        expected: &'static str,
    },
    /// A kernel without the two parameters every kernel ends with.
    #[error("kernel `@{0}` must end with the parameters `unit_begin: i64, unit_end: i64`")]
    NoUnits(String),
    /// A kernel that the kernel level's verifier should have refused.
    #[error("kernel `@{kernel}` is malformed at {at}: {law}")]
    Malformed {
        /// The kernel.
        kernel: String,
        /// The instruction or block.
        at: String,
        /// The broken law.
        law: Box<Malformed>,
    },

    /// The machine cannot run what every kernel may contain.
    #[error("this CPU lacks `{0}`, which kernels need; use another target")]
    Cpu(&'static str),
    /// No linker is installed.
    #[error("no linker found: looked for {names} on PATH and in {folder}")]
    NoLinker {
        /// The names tried.
        names: String,
        /// The folder of LLVM's tools.
        folder: &'static str,
    },
    /// The linker refused the object.
    #[error("`{linker}` failed: {message}")]
    Linker {
        /// Which linker.
        linker: PathBuf,
        /// What it said.
        message: String,
    },
    /// A temporary file could not be written or read.
    #[error("cannot {action} a temporary file")]
    Io {
        /// What was tried.
        action: &'static str,
        /// Why not.
        source: std::io::Error,
    },

    /// The instruction builder refused.
    #[error("LLVM cannot build an instruction")]
    Build(#[from] BuilderError),
    /// An intrinsic is missing in this LLVM.
    #[error("LLVM has no intrinsic `{0}` of these types")]
    Intrinsic(&'static str),
    /// A module that LLVM's verifier refuses.
    #[error("LLVM refuses the module {stage}: {message}")]
    Verify {
        /// Before or after optimisation.
        stage: &'static str,
        /// What it said.
        message: String,
    },
    /// Another LLVM function failed.
    #[error("LLVM cannot {action}: {message}")]
    Llvm {
        /// What was tried.
        action: &'static str,
        /// What it said.
        message: String,
    },
    /// LLVM emitted something that is not an object file.
    #[error("the emitted object cannot be read")]
    Object(#[from] object::Error),
    /// The object calls something: kernels are complete in themselves.
    #[error("the emitted object needs the symbols {}, which a kernel must not", .0.join(", "))]
    UndefinedSymbols(Vec<String>),
}

/// A law of the kernel level that a function breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// An op that is no kernel instruction.
    #[error("`{0}` is no kernel instruction")]
    Op(&'static str),
    /// An ill-typed instruction.
    #[error(transparent)]
    Type(#[from] Box<TypeError>),
    /// Results whose types are not those of the op's rule.
    #[error("the types of its results are not those of its rule")]
    Results,
    /// A value of a type that kernels do not have.
    #[error("kernels have no values of type {0}")]
    ValueType(Box<Type>),
    /// A block that does not end with its only terminator.
    #[error("a block ends with a terminator and has no other")]
    Terminator,
    /// A jump with the wrong number of targets, or to the entry block.
    #[error("a jump goes to a block that is not the entry")]
    Target,
    /// Arguments that do not fit the parameters of the block they go to.
    #[error("arguments do not fit the parameters of the target block")]
    Arguments,
    /// A use that its definition does not dominate.
    #[error("a value is used before its definition")]
    Undefined,
}
