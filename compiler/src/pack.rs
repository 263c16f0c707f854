//! From a domain module to the contents of a bundle: all levels, all targets, plans and manifest.

use crate::lower::kernel::KernelSet;
use crate::lower::plan::PlanError;
use crate::lower::{LowerError, ReductionLaw, plan};
use crate::passes::{PassOptions, PipelineError, Watch};
use crate::pipeline::{self, Lowered};
use std::collections::BTreeMap;
use tiga_abi::{CpuTarget, FpMode, Symbol};
use tiga_backend_llvm::{LlvmError, OptLevel, Options, required_features};
use tiga_bundle::{Contents, FORMAT, Manifest, Program, Target};
use tiga_ir::{Level, Module, print_module};

/// The version of the language, in manifests.
pub const LANGUAGE: &str = "0.1";

/// What to compile for, and how.
#[derive(Clone, Debug)]
pub struct CompileOptions {
    /// The CPU.
    pub target: CpuTarget,
    /// LLVM's effort.
    pub opt: OptLevel,
    /// Shapes of reductions.
    pub law: ReductionLaw,
    /// Feature extents that get variants of their own.
    pub specialize: Vec<(Symbol, i64)>,
    /// What is looked at on the way down, printed on the standard error stream.
    pub watch: Watch,
}

impl CompileOptions {
    /// The defaults of the command line, for a target.
    pub fn new(target: CpuTarget, fp: FpMode) -> Self {
        let (law, watch) = (ReductionLaw::new(fp), Watch::default());
        Self { target, opt: OptLevel::O, law, specialize: Vec::new(), watch }
    }

    /// What the passes are told.
    pub fn passes(&self) -> PassOptions {
        let mut options = PassOptions::for_target(self.target, self.law.fp);
        options.law.clone_from(&self.law);
        options.kernel.specialize.clone_from(&self.specialize);
        options
    }
}

/// Why there is no bundle.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    /// A pass refused, or broke a law.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A construct that manifests cannot express.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// No plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// LLVM refused.
    #[error(transparent)]
    Llvm(#[from] LlvmError),
}

/// All levels of one compilation.
#[derive(Debug)]
pub struct Compilation {
    /// Host and loops functions.
    pub loops: Module,
    /// The kernels of each loops function.
    pub kernels: Vec<KernelSet>,
    /// All kernel variants in one module.
    pub kernel_module: Module,
    /// Their machine code.
    pub code: tiga_backend_llvm::Compiled,
}

/// Compiles a domain module down to machine code.
///
/// # Errors
/// [`CompileError`].
pub fn compile(module: &Module, options: &CompileOptions) -> Result<Compilation, CompileError> {
    let mut out = std::io::stderr();
    code(pipeline::lower(module.clone(), &options.passes(), &options.watch, &mut out)?, options)
}

/// Compiles host and loops functions, by what follows `lower_to_loops` in the pipeline.
///
/// # Errors
/// [`CompileError`].
pub fn compile_loops(loops: Module, options: &CompileOptions) -> Result<Compilation, CompileError> {
    let mut out = std::io::stderr();
    code(pipeline::lower_loops(loops, &options.passes(), &options.watch, &mut out)?, options)
}

fn code(lowered: Lowered, options: &CompileOptions) -> Result<Compilation, CompileError> {
    let Lowered { loops, kernels } = lowered;
    let mut kernel_module = Module::new();
    for set in &kernels {
        for variant in &set.variants {
            kernel_module.add(variant.clone());
        }
    }
    let names: Vec<Symbol> = kernel_module.funcs.keys().cloned().collect();
    let code =
        tiga_backend_llvm::compile(&kernel_module, &names, &Options { target: options.target, opt: options.opt })?;
    Ok(Compilation { loops, kernels, kernel_module, code })
}

/// The contents of the bundle of a compilation.
///
/// # Errors
/// A program without a plan; kernels that do not link.
pub fn contents(
    compilation: &Compilation,
    programs: Vec<Program>,
    options: &CompileOptions,
) -> Result<Contents, CompileError> {
    with_kernels(compilation, programs, options, compilation.code.shared_object()?)
}

/// The same without kernels, for an object that programs are linked with: they are in the object.
///
/// # Errors
/// A program without a plan.
pub fn contents_of_linked(
    compilation: &Compilation,
    programs: Vec<Program>,
    options: &CompileOptions,
) -> Result<Contents, CompileError> {
    Ok(Contents { ir: BTreeMap::new(), ..with_kernels(compilation, programs, options, Vec::new())? })
}

fn with_kernels(
    compilation: &Compilation,
    programs: Vec<Program>,
    options: &CompileOptions,
    object: Vec<u8>,
) -> Result<Contents, CompileError> {
    let hosts = compilation.loops.funcs.values().filter(|f| f.level == Level::Host);
    let hosts = hosts.filter(|f| programs.iter().any(|p| p.name == *f.name));
    let plans = hosts.map(|host| plan::lower(&compilation.loops, host, &compilation.kernels));
    let plans = plans.collect::<Result<Vec<_>, _>>()?;
    let target = options.target.name().to_owned();
    let mut kernels = plan::kernels(&compilation.loops, &compilation.kernels)?;
    for variant in kernels.iter_mut().flat_map(|k| &mut k.variants) {
        // The back end knows what it called each function.
        if let Some(symbol) = compilation.code.symbols().get(variant.entry.as_str()) {
            variant.entry.clone_from(symbol);
        }
    }
    let manifest = Manifest {
        format: FORMAT,
        language: LANGUAGE.into(),
        compiler: format!("tigac {}", env!("CARGO_PKG_VERSION")),
        fp: options.law.fp,
        targets: vec![Target {
            name: target.clone(),
            features: required_features(options.target).into_iter().map(String::from).collect(),
            entry: format!("kernels/{target}.so"),
        }],
        programs,
        kernels,
    };
    let objects = BTreeMap::from([(target.clone(), object)]);
    let ir = BTreeMap::from([(target, print_module(&compilation.kernel_module))]);
    Ok(Contents { manifest, plans, kernels: objects, ir })
}
