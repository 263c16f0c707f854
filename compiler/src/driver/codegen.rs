//! What follows the front end: passes, kernels, machine code, bundles.

use super::compile::Kind;
use super::options::PassArgs;
use super::targets::{SeveralTargets, Targets};
use crate::passes::{PassOptions, PipelineError, Watch, run};
use crate::pipeline;
use crate::sema::{Analysis, ParamInfo, ProgramInfo};
use std::io::Write;
use tiga_abi::CpuTarget;
use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
use tiga_ir::{Module, SymKind};

/// Options of code generation on the command line.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CodegenArgs {
    /// The CPUs to compile for: native, x86-64-v2, x86-64-v3, x86-64-v4. A bundle has kernels for each of them; where
    /// it is opened, the best that the machine can run are chosen.
    #[arg(long, value_name = "CPU[,CPU…]", default_value = "native")]
    target: Targets,
    /// Optimise, as is done anyway; `-O0` does not. Results have the same bits either way.
    #[arg(short = 'O')]
    optimise: bool,
    /// The 0 of `-O0`.
    #[arg(short = '0', requires = "optimise", hide = true)]
    zero: bool,
    #[command(flatten)]
    passes: PassArgs,
}

impl CodegenArgs {
    /// The module after the passes, as far as they are wanted; no back end is needed for that.
    pub(super) fn run_passes(
        &self,
        analysis: &Analysis,
        watch: &Watch,
        target: CpuTarget,
    ) -> Result<Module, PipelineError> {
        let mut options = PassOptions::for_target(target, self.passes.fp());
        options.kernel.specialize = self.passes.specialize();
        run(analysis.ir.clone(), pipeline::PASSES, &options, watch, &mut std::io::stderr())
    }

    /// Runs the passes for each target, for what is printed on the way.
    pub(super) fn show_passes(&self, analysis: &Analysis, watch: &Watch) -> Result<(), PipelineError> {
        for target in self.target.all() {
            if self.target.all().len() > 1 {
                writeln!(std::io::stderr(), "// target {target}")?;
            }
            self.run_passes(analysis, watch, *target)?;
        }
        Ok(())
    }

    /// Refuses several targets for what is made for one.
    pub(super) fn only_target(&self, what: &str) -> Result<CpuTarget, SeveralTargets> {
        self.target.only(what)
    }

    /// Refuses to specialise for a dimension that no program has.
    pub(super) fn check_dimensions(&self, analysis: &Analysis) -> anyhow::Result<()> {
        self.passes.check_dimensions(analysis)
    }
}

/// What a manifest says of a program.
pub(super) fn program(info: &ProgramInfo) -> Program {
    let kind = |kind: &SymKind| match kind {
        SymKind::Set => SymbolKind::Set,
        SymKind::Edges => SymbolKind::Edges,
        SymKind::Dim | SymKind::Bound(_) => SymbolKind::Dim,
    };
    let symbols =
        info.symbols.iter().map(|s| SymbolDecl { name: s.name.clone(), kind: kind(&s.kind), origin: s.origin.clone() });
    Program {
        name: info.name.clone(),
        doc: info.doc.clone(),
        symbols: symbols.collect(),
        params: info.params.iter().filter_map(param).collect(),
        results: info.results.iter().filter_map(param).collect(),
        plan: format!("plans/{}.json", info.name),
    }
}

/// A parameter; all of them are relations or tensors.
fn param(info: &ParamInfo) -> Option<Param> {
    let ty = match &info.ty {
        tiga_ir::Type::Rel(r) => Type::Graph { src: r.src.clone(), dst: r.dst.clone(), edges: r.edges.clone() },
        other => {
            let t = other.as_tensor()?;
            Type::Tensor { dtype: t.dtype, shape: t.extents() }
        }
    };
    Some(Param { name: info.name.to_string(), doc: info.doc.clone(), ty })
}

#[cfg(feature = "llvm")]
pub(super) use with_llvm::Codegen;
#[cfg(not(feature = "llvm"))]
pub(super) use without_llvm::Codegen;

#[cfg(feature = "llvm")]
mod with_llvm {
    use super::{Analysis, CodegenArgs, Kind, Program, program};
    use crate::driver::header::table_symbol;
    use crate::pack::{Compilation, CompileError, CompileOptions, compile_for, contents, contents_of_linked, plans};
    use crate::passes::Watch;
    use anyhow::Result;
    use tiga_abi::CpuTarget;
    use tiga_backend_llvm::OptLevel;

    /// Compilations, one for each target, that are made when the first form of them is asked for.
    pub(in crate::driver) struct Codegen {
        targets: Vec<CpuTarget>,
        options: CompileOptions,
        done: Option<Vec<Compilation>>,
    }

    impl Codegen {
        pub(in crate::driver) fn new(args: &CodegenArgs, watch: &Watch) -> Self {
            let targets = args.target.all().to_vec();
            let mut options = CompileOptions::new(targets[0], args.passes.fp());
            options.watch.clone_from(watch);
            options.opt = if args.zero { OptLevel::O0 } else { OptLevel::O };
            options.specialize = args.passes.specialize();
            Self { targets, options, done: None }
        }

        /// A form of the model that is called so in C.
        pub(in crate::driver) fn emit(&mut self, kind: Kind, analysis: &Analysis, model: &str) -> Result<Vec<u8>> {
            let done = match &mut self.done {
                Some(done) => done,
                none => none.insert(compile_for(&analysis.ir, &self.targets, &self.options)?),
            };
            let programs = || -> Vec<Program> { analysis.programs.iter().map(program).collect() };
            // The command line has one target for all but bundles.
            let only = &done[0];
            Ok(match kind {
                Kind::Plan => {
                    let plans = plans(done, &programs())?;
                    plans.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n").into_bytes()
                }
                Kind::LlvmIr => only.code.llvm_ir().as_bytes().to_vec(),
                Kind::Asm => only.code.asm().map_err(CompileError::from)?.into_bytes(),
                Kind::Obj => {
                    let bundle = tiga_bundle::write(&contents_of_linked(only, programs(), &self.options)?)?;
                    only.code.linked_object(&table_symbol(model), &bundle).map_err(CompileError::from)?
                }
                Kind::Bundle => tiga_bundle::write(&contents(done, programs(), &self.options)?)?,
                Kind::Ast | Kind::Ir | Kind::Header => anyhow::bail!("the front end emits these"),
            })
        }
    }
}

#[cfg(not(feature = "llvm"))]
mod without_llvm {
    use super::{Analysis, CodegenArgs, Kind};
    use crate::passes::Watch;
    use anyhow::{Result, bail};

    /// A compiler without a back end: all passes, and nothing after them.
    pub(in crate::driver) struct Codegen;

    impl Codegen {
        pub(in crate::driver) fn new(_: &CodegenArgs, _: &Watch) -> Self {
            Codegen
        }

        pub(in crate::driver) fn emit(&mut self, _: Kind, _: &Analysis, _: &str) -> Result<Vec<u8>> {
            bail!("this tigac was built without LLVM: it has --emit=ast,ir,header and --stop-after, check and eval")
        }
    }
}
