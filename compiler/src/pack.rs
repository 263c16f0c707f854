//! From a domain module to the contents of a bundle: all levels, all targets, plans and manifest.

use crate::lower::kernel::{Differ, KernelSet, unify};
use crate::lower::plan::PlanError;
use crate::lower::{LowerError, ReductionLaw, plan};
use crate::passes::{PassOptions, PipelineError, Watch, print_time};
use crate::pipeline::{self, Lowered};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::Instant;
use tiga_abi::{CpuTarget, FpMode, Symbol};
use tiga_backend_llvm::{LlvmError, OptLevel, Options, required_features};
use tiga_bundle::{Contents, FORMAT, Kernel, Manifest, Program, Target};
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Level, Module, print_module};
use tiga_plan::Template;

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
    /// What plans say depends on the target: our bug.
    #[error(transparent)]
    Kernels(#[from] Differ),
    /// The same.
    #[error("the plans for two targets are different")]
    Plans,
}

/// All levels of one compilation, for one target.
#[derive(Debug)]
pub struct Compilation {
    /// The CPU.
    pub target: CpuTarget,
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

/// The same for several CPUs, of which that in the options does not count; the least demanding comes first. Their
/// kernels take the same arguments, so that one plan launches them all.
///
/// # Errors
/// [`CompileError`].
pub fn compile_for(
    module: &Module,
    targets: &[CpuTarget],
    options: &CompileOptions,
) -> Result<Vec<Compilation>, CompileError> {
    let each = |target: &CpuTarget| CompileOptions { target: *target, ..options.clone() };
    let mut all: Vec<CompileOptions> = targets.iter().map(each).collect();
    all.sort_by_key(|options| (required_features(options.target).len(), options.target));
    if let [options] = &all[..] {
        return Ok(vec![compile(module, options)?]);
    }
    let mut out = std::io::stderr();
    let mut lowered = Vec::new();
    for options in &all {
        if options.watch.shows() {
            writeln!(out, "// target {}", options.target).map_err(PipelineError::Print)?;
        }
        lowered.push(pipeline::lower(module.clone(), &options.passes(), &options.watch, &mut out)?);
    }
    if let [first, ..] = &lowered[..] {
        let loops = first.loops.clone();
        unify(&loops, &mut lowered.iter_mut().map(|l| &mut l.kernels).collect::<Vec<_>>())?;
    }
    for (lowered, options) in lowered.iter().zip(&all) {
        // It is verified as passes are.
        let broken = |violations| PipelineError::Broken { pass: "unify".into(), violations };
        verify(&module_of(&lowered.kernels), Machine::from(options.target)).map_err(broken)?;
    }
    lowered.into_iter().zip(&all).map(|(lowered, options)| code(lowered, options)).collect()
}

/// Compiles host and loops functions, by what follows `lower_to_loops` in the pipeline.
///
/// # Errors
/// [`CompileError`].
pub fn compile_loops(loops: Module, options: &CompileOptions) -> Result<Compilation, CompileError> {
    let mut out = std::io::stderr();
    code(pipeline::lower_loops(loops, &options.passes(), &options.watch, &mut out)?, options)
}

/// All variants of all kernels.
fn module_of(kernels: &[KernelSet]) -> Module {
    let mut module = Module::new();
    for variant in kernels.iter().flat_map(|set| &set.variants) {
        module.add(variant.clone());
    }
    module
}

fn code(lowered: Lowered, options: &CompileOptions) -> Result<Compilation, CompileError> {
    let Lowered { loops, kernels } = lowered;
    let kernel_module = module_of(&kernels);
    let names: Vec<Symbol> = kernel_module.funcs.keys().cloned().collect();
    let target = options.target;
    let code = tiga_backend_llvm::compile(&kernel_module, &names, &Options { target, opt: options.opt })?;
    if options.watch.time {
        for (what, time) in code.times() {
            print_time(&mut std::io::stderr(), what, *time).map_err(PipelineError::Print)?;
        }
    }
    Ok(Compilation { target, loops, kernels, kernel_module, code })
}

/// The contents of the bundle of compilations for different targets, in the order of [`compile_for`].
///
/// # Errors
/// A program without a plan; kernels that do not link.
pub fn contents(
    compilations: &[Compilation],
    programs: Vec<Program>,
    options: &CompileOptions,
) -> Result<Contents, CompileError> {
    let begin = Instant::now();
    let object = |c: &Compilation| Ok::<_, LlvmError>((c.target.name().into(), c.code.shared_object()?));
    let objects = compilations.iter().map(object).collect::<Result<_, _>>()?;
    if options.watch.time {
        print_time(&mut std::io::stderr(), "link", begin.elapsed()).map_err(PipelineError::Print)?;
    }
    with_kernels(compilations, programs, options, objects)
}

/// The same of one, without kernels, for an object that programs are linked with: they are in the object.
///
/// # Errors
/// A program without a plan.
pub fn contents_of_linked(
    compilation: &Compilation,
    programs: Vec<Program>,
    options: &CompileOptions,
) -> Result<Contents, CompileError> {
    let objects = BTreeMap::from([(compilation.target.name().into(), Vec::new())]);
    let contents = with_kernels(std::slice::from_ref(compilation), programs, options, objects)?;
    Ok(Contents { ir: BTreeMap::new(), ..contents })
}

fn with_kernels(
    compilations: &[Compilation],
    programs: Vec<Program>,
    options: &CompileOptions,
    objects: BTreeMap<String, Vec<u8>>,
) -> Result<Contents, CompileError> {
    let sets = of_all_targets(compilations);
    let described = compilations.iter().map(|compilation| describe(compilation, &sets, &programs));
    let mut described = described.collect::<Result<Vec<_>, _>>()?;
    let (plans, kernels) = described.pop().unwrap_or_default();
    if described.iter().any(|(other, rows)| *other != plans || *rows != kernels) {
        return Err(CompileError::Plans);
    }
    let target = |compilation: &Compilation| Target {
        name: compilation.target.name().into(),
        features: required_features(compilation.target).into_iter().map(String::from).collect(),
        entry: format!("kernels/{}.so", compilation.target),
    };
    let manifest = Manifest {
        format: FORMAT,
        language: LANGUAGE.into(),
        compiler: format!("tigac {}", env!("CARGO_PKG_VERSION")),
        fp: options.law.fp,
        targets: compilations.iter().map(target).collect(),
        programs,
        kernels,
    };
    let ir = compilations.iter().map(|c| (c.target.name().into(), readable(&c.kernel_module))).collect();
    Ok(Contents { manifest, plans, kernels: objects, ir })
}

/// Kernels to be read. The places of their instructions would be a third of the text; line tables have them.
fn readable(kernels: &Module) -> String {
    let mut kernels = kernels.clone();
    kernels.funcs.values_mut().for_each(|kernel| kernel.body.forget_places());
    print_module(&kernels)
}

/// The kernels of each loops function for all targets: what plans and manifests say is true of each of them.
fn of_all_targets(compilations: &[Compilation]) -> Vec<KernelSet> {
    let sources = compilations.first().map_or(&[][..], |compilation| &compilation.kernels).iter().enumerate();
    let all = |i: usize| compilations.iter().flat_map(move |c| c.kernels[i].variants.clone()).collect();
    sources.map(|(i, set)| KernelSet { source: set.source.clone(), variants: all(i) }).collect()
}

/// The plans of programs, which are the same for all targets.
///
/// # Errors
/// A program without a plan.
pub fn plans(compilations: &[Compilation], programs: &[Program]) -> Result<Vec<Template>, CompileError> {
    let sets = of_all_targets(compilations);
    compilations.first().map_or(Ok(Vec::new()), |first| Ok(describe(first, &sets, programs)?.0))
}

/// The plans of the programs, and the manifest's rows for kernels.
fn describe(
    compilation: &Compilation,
    sets: &[KernelSet],
    programs: &[Program],
) -> Result<(Vec<Template>, Vec<Kernel>), CompileError> {
    let hosts = compilation.loops.funcs.values().filter(|f| f.level == Level::Host);
    let hosts = hosts.filter(|f| programs.iter().any(|p| p.name == *f.name));
    let plans = hosts.map(|host| plan::lower(&compilation.loops, host, sets)).collect::<Result<_, _>>()?;
    let mut kernels = plan::kernels(&compilation.loops, sets)?;
    for variant in kernels.iter_mut().flat_map(|k| &mut k.variants) {
        // The back end knows what it called each function.
        if let Some(symbol) = compilation.code.symbols().get(variant.entry.as_str()) {
            variant.entry.clone_from(symbol);
        }
    }
    Ok((plans, kernels))
}
