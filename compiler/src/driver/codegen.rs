//! What follows the front end: kernels, machine code, bundles.

use super::compile::Kind;
use crate::sema::Analysis;
use tiga_abi::CpuTarget;

/// Options of code generation on the command line.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct CodegenArgs {
    /// The CPU to compile for: native, x86-64-v3.
    #[arg(long, value_name = "CPU", default_value = "native")]
    pub(super) target: CpuTarget,
    /// Optimise, as is done anyway; `-O0` does not. Results have the same bits either way.
    #[arg(short = 'O')]
    optimise: bool,
    /// The 0 of `-O0`.
    #[arg(short = '0', requires = "optimise", hide = true)]
    zero: bool,
    /// Floating point: default (fixed trees, fused multiply-add) or strict (the plain left fold).
    #[arg(long, value_name = "MODE", value_enum, default_value = "default")]
    pub(super) fp: Fp,
    /// Add kernels for these feature extents, as in F=16,64.
    #[arg(long, value_name = "DIM=N[,N…]", value_parser = extents)]
    pub(super) specialize: Vec<Extents>,
}

/// How floating-point arithmetic may be arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Fp {
    /// Fixed leaves and accumulators, products contracted into sums.
    Default,
    /// The plain left fold without contraction.
    Strict,
}

/// Extents of one dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Extents {
    pub(super) dim: String,
    pub(super) values: Vec<i64>,
}

fn extents(text: &str) -> Result<Extents, String> {
    let usage = || "expected DIM=N or DIM=N,N, as in F=16,64".to_owned();
    let (dim, values) = text.split_once('=').ok_or_else(usage)?;
    let values: Option<Vec<i64>> = values.split(',').map(|v| v.parse().ok().filter(|n| *n >= 0)).collect();
    Ok(Extents { dim: dim.to_owned(), values: values.filter(|_| !dim.is_empty()).ok_or_else(usage)? })
}

#[cfg(feature = "llvm")]
pub(super) use with_llvm::{Codegen, refused};
#[cfg(not(feature = "llvm"))]
pub(super) use without_llvm::{Codegen, refused};

#[cfg(feature = "llvm")]
mod with_llvm {
    use super::super::{Front, Outcome, refusal};
    use super::{Analysis, CodegenArgs, Fp, Kind};
    use crate::pack::{Compilation, CompileError, CompileOptions, compile, contents};
    use crate::passes::{Watch, run};
    use crate::pipeline;
    use crate::sema::{ParamInfo, ProgramInfo};
    use anyhow::Result;
    use tiga_abi::FpMode;
    use tiga_backend_llvm::OptLevel;
    use tiga_bundle::{Param, Program, SymbolDecl, SymbolKind, Type};
    use tiga_ir::{SymKind, print_module};

    /// A compilation that is made when the first form of it is asked for.
    pub(in crate::driver) struct Codegen {
        options: CompileOptions,
        done: Option<Compilation>,
    }

    impl Codegen {
        pub(in crate::driver) fn new(args: &CodegenArgs, watch: &Watch) -> Self {
            let fp = match args.fp {
                Fp::Default => FpMode::Default,
                Fp::Strict => FpMode::Strict,
            };
            let mut options = CompileOptions::new(args.target, fp);
            options.watch.clone_from(watch);
            options.opt = if args.zero { OptLevel::O0 } else { OptLevel::O };
            for extents in &args.specialize {
                for value in &extents.values {
                    let one = (extents.dim.as_str().into(), *value);
                    if !options.specialize.contains(&one) {
                        options.specialize.push(one);
                    }
                }
            }
            Self { options, done: None }
        }

        /// Compiles, if that has not been done.
        pub(in crate::driver) fn compile(&mut self, analysis: &Analysis) -> Result<()> {
            self.check_dimensions(analysis)?;
            if self.done.is_none() {
                self.done = Some(compile(&analysis.ir, &self.options)?);
            }
            Ok(())
        }

        /// The module, as text, at the level where the passes stop.
        pub(in crate::driver) fn stopped(&self, analysis: &Analysis) -> Result<Vec<u8>> {
            self.check_dimensions(analysis)?;
            let (passes, options) = (pipeline::of(self.options.law.fp), self.options.passes());
            let module = run(analysis.ir.clone(), passes, &options, &self.options.watch, &mut std::io::stderr());
            let module = module.map_err(CompileError::from)?;
            Ok(print_module(&module).into_bytes())
        }

        pub(in crate::driver) fn emit(&mut self, kind: Kind, analysis: &Analysis) -> Result<Vec<u8>> {
            self.compile(analysis)?;
            let done = self.done.as_ref().expect("made above");
            Ok(match kind {
                Kind::LlvmIr => done.code.llvm_ir().as_bytes().to_vec(),
                Kind::Asm => done.code.asm().map_err(CompileError::from)?.into_bytes(),
                Kind::Obj => done.code.object().to_vec(),
                Kind::Bundle => {
                    let programs = analysis.programs.iter().map(program).collect();
                    tiga_bundle::write(&contents(done, programs, &self.options)?)?
                }
                Kind::Ast | Kind::Ir => anyhow::bail!("the front end emits these"),
            })
        }
    }

    impl Codegen {
        /// Refuses to specialise for a dimension that no program has.
        fn check_dimensions(&self, analysis: &Analysis) -> Result<()> {
            let symbols = analysis.programs.iter().flat_map(|p| &p.symbols).filter(|s| s.kind == SymKind::Dim);
            let dims: Vec<&str> = symbols.map(|s| &*s.name).collect();
            for (dim, _) in &self.options.specialize {
                if dims.contains(&&**dim) {
                    continue;
                }
                let nearest = tiga_source::nearest(dim, dims.iter().copied());
                let hint = nearest.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
                anyhow::bail!("--specialize: no program has a dimension `{dim}`{hint}");
            }
            Ok(())
        }
    }

    /// Shows what stopped a compilation as a finding, if it says something of the model or of the compiler.
    pub(in crate::driver) fn refused(error: anyhow::Error, front: &Front) -> Result<Outcome> {
        refusal::show(error.downcast()?, front)
    }

    /// What a manifest says of a program.
    fn program(info: &ProgramInfo) -> Program {
        let kind = |kind: &SymKind| match kind {
            SymKind::Set => SymbolKind::Set,
            SymKind::Edges => SymbolKind::Edges,
            SymKind::Dim | SymKind::Bound(_) => SymbolKind::Dim,
        };
        let symbols = info.symbols.iter().map(|s| SymbolDecl {
            name: s.name.clone(),
            kind: kind(&s.kind),
            origin: s.origin.clone(),
        });
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
}

#[cfg(not(feature = "llvm"))]
mod without_llvm {
    use super::super::{Front, Outcome};
    use super::{Analysis, CodegenArgs, Kind};
    use crate::passes::Watch;
    use anyhow::{Result, bail};

    const WITHOUT: &str =
        "this tigac was built without LLVM: it has check, eval and --emit=ast,ir; tiga-opt runs passes";

    /// What stopped a compilation is no finding here.
    pub(in crate::driver) fn refused(error: anyhow::Error, _: &Front) -> Result<Outcome> {
        Err(error)
    }

    /// A compiler without a back end: check, IR and the interpreter only.
    pub(in crate::driver) struct Codegen;

    impl Codegen {
        pub(in crate::driver) fn new(_: &CodegenArgs, _: &Watch) -> Self {
            Codegen
        }

        pub(in crate::driver) fn compile(&mut self, _: &Analysis) -> Result<()> {
            bail!(WITHOUT)
        }

        pub(in crate::driver) fn stopped(&self, _: &Analysis) -> Result<Vec<u8>> {
            bail!(WITHOUT)
        }

        pub(in crate::driver) fn emit(&mut self, _: Kind, _: &Analysis) -> Result<Vec<u8>> {
            bail!(WITHOUT)
        }
    }
}
