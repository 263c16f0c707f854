//! The way of a module: check, spell, verify, optimise, verify, emit.

use crate::function::Speller;
use crate::lines::Lines;
use crate::{LlvmError, check, emit, fatal, link, linked, signature, symbol_name, target};
use indexmap::IndexMap;
use inkwell::attributes::{Attribute, AttributeLoc};
use inkwell::context::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;
use inkwell::{AddressSpace, OptimizationLevel};
use std::time::{Duration, Instant};
use tiga_abi::{CpuTarget, Symbol};
use tiga_ir::{Backend, Func, Level, Module};

/// How hard LLVM tries. The bits of results do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptLevel {
    /// No passes.
    O0,
    /// The passes of [`PIPELINE`].
    O,
}

/// What to compile for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The CPU.
    pub target: CpuTarget,
    /// The effort.
    pub opt: OptLevel,
}

/// The backend as a value.
#[derive(Clone, Copy, Debug)]
pub struct Llvm {
    /// What it compiles for.
    pub options: Options,
}

impl Backend for Llvm {
    type Artifact = Compiled;
    type Error = LlvmError;

    fn name(&self) -> &'static str {
        "llvm"
    }

    fn compile(&self, module: &Module, kernels: &[Symbol]) -> Result<Compiled, LlvmError> {
        compile(module, kernels, &self.options)
    }
}

/// Compiled kernels in all their forms.
#[derive(Clone, Debug)]
pub struct Compiled {
    options: Options,
    symbols: IndexMap<Symbol, String>,
    llvm_ir: String,
    object: Vec<u8>,
    times: Vec<(&'static str, Duration)>,
}

impl Compiled {
    /// The symbol of each kernel, in the order they were asked for.
    pub fn symbols(&self) -> &IndexMap<Symbol, String> {
        &self.symbols
    }

    /// What was done in which time, in order.
    pub fn times(&self) -> &[(&'static str, Duration)] {
        &self.times
    }

    /// Optimised LLVM IR as text.
    pub fn llvm_ir(&self) -> &str {
        &self.llvm_ir
    }

    /// A relocatable ELF object without undefined symbols.
    pub fn object(&self) -> &[u8] {
        &self.object
    }

    /// Assembly that assembles to the object.
    ///
    /// # Errors
    /// LLVM cannot read or emit its own module.
    pub fn asm(&self) -> Result<String, LlvmError> {
        let context = Context::create();
        let machine = machine(&self.options)?;
        fatal::at("print assembly", self.symbols.keys(), || emit::assembly(&machine, &self.read(&context)?))
    }

    /// The object with one more symbol: the table by which a program that links it finds its kernels, and the bundle
    /// that goes with them (`tiga_linked` of `tiga.h`).
    ///
    /// # Errors
    /// LLVM cannot read or emit its own module.
    pub fn linked_object(&self, symbol: &str, bundle: &[u8]) -> Result<Vec<u8>, LlvmError> {
        let context = Context::create();
        let machine = machine(&self.options)?;
        fatal::at("generate code", self.symbols.keys(), || {
            let module = self.read(&context)?;
            linked::add_table(&context, &module, self.symbols.values().map(String::as_str), symbol, bundle)?;
            emit::object(&machine, &module)
        })
    }

    fn read<'c>(&self, context: &'c Context) -> Result<inkwell::module::Module<'c>, LlvmError> {
        let text = MemoryBuffer::create_from_memory_range_copy(self.llvm_ir.as_bytes(), NAME);
        let read = context.create_module_from_ir(text);
        read.map_err(|e| LlvmError::Llvm { action: "read its own module", message: e.to_string() })
    }

    /// An ELF shared object that exports the kernels and needs no other.
    ///
    /// # Errors
    /// No linker, or it fails.
    pub fn shared_object(&self) -> Result<Vec<u8>, LlvmError> {
        link::shared_object(&self.object)
    }
}

/// What LLVM does before it generates code. Vectors, tiles, unrolled loops and inlined functions are there already, as
/// schedules made them; what is left is to clean up after the spelling. `default<O3>` took three times as long, most of it
/// in a vectoriser that finds nothing in loops that matter.
pub const PIPELINE: &str = "function(early-cse<memssa>,simplifycfg,instcombine<max-iterations=1;no-verify-fixpoint>,\
                            loop-mssa(loop-rotate,licm,indvars),gvn,simplifycfg)";

/// The name of every module: no path may reach an output.
const NAME: &str = "tiga";

/// Compiles functions of the kernel level.
///
/// # Errors
/// Functions that are no kernels or break the level's laws, a CPU without FMA, and what LLVM refuses.
pub fn compile(module: &Module, kernels: &[Symbol], options: &Options) -> Result<Compiled, LlvmError> {
    let machine = machine(options)?;
    let context = Context::create();
    let out = context.create_module(NAME);
    out.set_source_file_name(NAME);
    out.set_triple(&machine.get_triple());
    out.set_data_layout(&machine.get_target_data().get_data_layout());
    let attributes = attributes(&context, options)?;
    let (mut symbols, mut clock) = (IndexMap::new(), Clock::new());
    let placed = kernels.iter().filter_map(|name| module.funcs.get(name));
    let mut lines = Lines::new(&context, &out, placed, options.opt);
    for name in kernels {
        let func = kernel(module, name)?;
        let symbol = symbol_name(name);
        if symbols.insert(name.clone(), symbol.clone()).is_some() {
            return Err(LlvmError::Twice(name.to_string()));
        }
        fatal::at("spell", [name], || spell(module, func, &symbol, &attributes, (&context, &out, lines.as_mut())))?;
    }
    lines.into_iter().for_each(Lines::finish);
    clock.lap("llvm-spell");
    fatal::at("verify", kernels, || emit::verify(&out, "as spelled"))?;
    clock.lap("llvm-verify");
    if options.opt == OptLevel::O {
        fatal::at("optimise", kernels, || optimise(&out, &machine))?;
        clock.lap("llvm-optimise");
        fatal::at("verify", kernels, || emit::verify(&out, "after optimisation"))?;
        clock.lap("llvm-verify");
    }
    let llvm_ir = out.print_to_string().to_string();
    clock.lap("llvm-print");
    let object = fatal::at("generate code", kernels, || emit::object(&machine, &out))?;
    clock.lap("llvm-generate");
    Ok(Compiled { options: *options, symbols, llvm_ir, object, times: clock.laps })
}

/// Tells what took which time.
struct Clock {
    last: Instant,
    laps: Vec<(&'static str, Duration)>,
}

impl Clock {
    fn new() -> Self {
        Self { last: Instant::now(), laps: Vec::new() }
    }

    /// What was done since the last lap.
    fn lap(&mut self, what: &'static str) {
        let now = Instant::now();
        self.laps.push((what, now - self.last));
        self.last = now;
    }
}

fn machine(options: &Options) -> Result<TargetMachine, LlvmError> {
    let level = match options.opt {
        OptLevel::O0 => OptimizationLevel::None,
        OptLevel::O => OptimizationLevel::Aggressive,
    };
    target::machine(options.target, level)
}

fn kernel<'m>(module: &'m Module, name: &Symbol) -> Result<&'m Func, LlvmError> {
    let func = module.funcs.get(name).ok_or_else(|| LlvmError::UnknownFunction(name.to_string()))?;
    match func.level {
        Level::Kernel => Ok(func),
        level => Err(LlvmError::NotKernel { name: name.to_string(), level }),
    }
}

fn spell<'c>(
    module: &Module,
    func: &Func,
    symbol: &str,
    attributes: &[Attribute],
    (context, out, lines): (&'c Context, &inkwell::module::Module<'c>, Option<&mut Lines<'c>>),
) -> Result<(), LlvmError> {
    let sources = signature::sources(func)?;
    let order = check::reachable(func);
    check::check(module, func, &order)?;
    let pointer = context.ptr_type(AddressSpace::default()).into();
    let unit = context.i64_type().into();
    let target = out.add_function(symbol, context.void_type().fn_type(&[pointer, unit, unit], false), None);
    for attribute in attributes {
        target.add_attribute(AttributeLoc::Function, *attribute);
    }
    let lines = lines.and_then(|lines| lines.kernel(func, target));
    Speller::spell(context, out, func, lines, (&sources, &order), target)
}

/// `no-builtins`: LLVM must not turn a loop into a call of `memset` or `memcpy`.
fn attributes(context: &Context, options: &Options) -> Result<Vec<Attribute>, LlvmError> {
    let (cpu, features) = target::cpu(options.target)?;
    let mut attributes = vec![
        context.create_enum_attribute(Attribute::get_named_enum_kind_id("nounwind"), 0),
        context.create_string_attribute("no-builtins", ""),
        context.create_string_attribute("target-cpu", &cpu),
    ];
    if !features.is_empty() {
        attributes.push(context.create_string_attribute("target-features", &features));
    }
    Ok(attributes)
}

fn optimise(module: &inkwell::module::Module<'_>, machine: &TargetMachine) -> Result<(), LlvmError> {
    module
        .run_passes(PIPELINE, machine, PassBuilderOptions::create())
        .map_err(|e| LlvmError::Llvm { action: "optimise", message: e.to_string() })
}
