//! Manifest, plans and entries must fit together.

use crate::manifest::*;
use std::collections::{BTreeMap, BTreeSet};
use tiga_abi::Symbol;
use tiga_plan::{Body, TaskKind, Template};

/// Parts of a bundle contradict each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Mismatch {
    /// Two programs, kernels, targets, parameters or symbols of one name.
    #[error("the manifest names `{0}` twice")]
    Name(String),
    /// An entry of the manifest that is not called as the format wants.
    #[error("the manifest points at `{found}` instead of `{expected}`")]
    Entry {
        /// What it says.
        found: String,
        /// What it must say.
        expected: String,
    },
    /// A symbol that the program or kernel does not declare.
    #[error("`{place}` uses the size `{symbol}` without declaring it")]
    Symbol {
        /// The parameter or kernel.
        place: String,
        /// The symbol.
        symbol: String,
    },
    /// A kernel whose last variant does not always apply, or which has none.
    #[error("kernel `{0}` has no variant for all sizes")]
    NoGeneric(String),
    /// A result that is a graph.
    #[error("the result `{0}` is a graph")]
    GraphResult(String),
    /// A plan for another program.
    #[error("the plan of `{program}` is that of `{found}`")]
    Program {
        /// The manifest's program.
        program: String,
        /// The plan's.
        found: String,
    },
    /// A plan whose sizes are not those of its program.
    #[error("the plan of `{program}` uses the size `{symbol}`, which no parameter fixes")]
    PlanSymbol {
        /// The program.
        program: String,
        /// The symbol.
        symbol: String,
    },
    /// A kernel that the manifest does not have.
    #[error("the plan of `{program}` runs the kernel `{kernel}`, which the manifest does not have")]
    Kernel {
        /// The program.
        program: String,
        /// The kernel.
        kernel: String,
    },
    /// Arguments of a task that are not those of its kernel.
    #[error("task `{task}` of `{program}` and its kernel disagree on the argument `{parameter}`")]
    Argument {
        /// The program.
        program: String,
        /// The task.
        task: String,
        /// The argument that one of them lacks or types otherwise.
        parameter: String,
    },
    /// A kernel of a program that mentions a size the program does not have.
    #[error("kernel `{kernel}` needs the size `{symbol}`, which `{program}` does not have")]
    KernelSymbol {
        /// The program.
        program: String,
        /// The kernel.
        kernel: String,
        /// The symbol.
        symbol: String,
    },
}

/// Checks a manifest against its plans, which come in the order of its programs.
pub(crate) fn check(manifest: &Manifest, plans: &[Template]) -> Result<(), Mismatch> {
    unique(manifest.targets.iter().map(|target| &*target.name))?;
    unique(manifest.programs.iter().map(|program| &*program.name))?;
    unique(manifest.kernels.iter().map(|kernel| &*kernel.symbol))?;
    for target in &manifest.targets {
        entry(&target.entry, format!("kernels/{}.so", target.name))?;
    }
    let kernels: BTreeMap<&str, &Kernel> = manifest.kernels.iter().map(|kernel| (&*kernel.symbol, kernel)).collect();
    manifest.kernels.iter().try_for_each(check_kernel)?;
    for (program, plan) in manifest.programs.iter().zip(plans) {
        check_program(program)?;
        check_plan(program, plan, &kernels)?;
    }
    Ok(())
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Result<(), Mismatch> {
    let mut seen = BTreeSet::new();
    let mut names = names;
    match names.find(|name| !seen.insert(*name)) {
        Some(name) => Err(Mismatch::Name(name.to_owned())),
        None => Ok(()),
    }
}

fn entry(found: &str, expected: String) -> Result<(), Mismatch> {
    if found == expected { Ok(()) } else { Err(Mismatch::Entry { found: found.to_owned(), expected }) }
}

fn check_kernel(kernel: &Kernel) -> Result<(), Mismatch> {
    unique(kernel.syms.iter().map(|symbol| &**symbol))?;
    unique(kernel.ptrs.iter().map(|pointer| &*pointer.parameter))?;
    if kernel.variants.last().is_none_or(|generic| generic.guard != Guard::ALWAYS) {
        return Err(Mismatch::NoGeneric(kernel.symbol.clone()));
    }
    let mut symbols = kernel.scratch.symbols().into_iter();
    match symbols.find(|symbol| !kernel.syms.contains(symbol)) {
        Some(symbol) => Err(Mismatch::Symbol { place: kernel.symbol.clone(), symbol: symbol.to_string() }),
        None => Ok(()),
    }
}

fn check_program(program: &Program) -> Result<(), Mismatch> {
    unique(program.symbols.iter().map(|decl| &*decl.name))?;
    unique(program.params.iter().map(|param| &*param.name))?;
    unique(program.results.iter().map(|param| &*param.name))?;
    entry(&program.plan, format!("plans/{}.json", program.name))?;
    for param in program.params.iter().chain(&program.results) {
        let used: Vec<Symbol> = match &param.ty {
            Type::Graph { src, dst, edges } => vec![src.clone(), dst.clone(), edges.clone()],
            Type::Tensor { shape, .. } => shape.iter().flat_map(|extent| extent.symbols()).collect(),
        };
        if let Some(symbol) = used.iter().find(|symbol| !declares(program, symbol)) {
            return Err(Mismatch::Symbol { place: param.name.clone(), symbol: symbol.to_string() });
        }
    }
    let graph = |param: &&Param| matches!(param.ty, Type::Graph { .. });
    match program.results.iter().find(graph) {
        Some(result) => Err(Mismatch::GraphResult(result.name.clone())),
        None => Ok(()),
    }
}

fn declares(program: &Program, symbol: &str) -> bool {
    program.symbols.iter().any(|decl| &*decl.name == symbol)
}

fn check_plan(program: &Program, plan: &Template, kernels: &BTreeMap<&str, &Kernel>) -> Result<(), Mismatch> {
    if plan.program != program.name {
        return Err(Mismatch::Program { program: program.name.clone(), found: plan.program.clone() });
    }
    if let Some(symbol) = plan.symbols.iter().find(|symbol| !declares(program, symbol)) {
        return Err(Mismatch::PlanSymbol { program: program.name.clone(), symbol: symbol.to_string() });
    }
    plan.bodies.values().chain([&plan.root]).try_for_each(|body| check_body(program, plan, body, kernels))
}

fn check_body(
    program: &Program,
    plan: &Template,
    body: &Body,
    kernels: &BTreeMap<&str, &Kernel>,
) -> Result<(), Mismatch> {
    for task in body.tasks.values() {
        let TaskKind::Kernel { symbol, .. } = &task.kind else { continue };
        let name = || program.name.clone();
        let Some(kernel) = kernels.get(&**symbol) else {
            return Err(Mismatch::Kernel { program: name(), kernel: symbol.clone() });
        };
        if let Some(symbol) = kernel.syms.iter().find(|symbol| !declares(program, symbol)) {
            let (kernel, symbol) = (kernel.symbol.clone(), symbol.to_string());
            return Err(Mismatch::KernelSymbol { program: name(), kernel, symbol });
        }
        let bound: BTreeMap<_, _> =
            task.args.iter().map(|arg| (&*arg.parameter, plan.resources[arg.resource].dtype)).collect();
        let wanted: BTreeMap<_, _> = kernel.ptrs.iter().map(|ptr| (&*ptr.parameter, ptr.dtype)).collect();
        let mut all = wanted.keys().chain(bound.keys());
        if let Some(parameter) = all.find(|parameter| wanted.get(*parameter) != bound.get(*parameter)) {
            let (task, parameter) = (task.name.clone(), (*parameter).to_owned());
            return Err(Mismatch::Argument { program: name(), task, parameter });
        }
    }
    Ok(())
}
