//! The pipelines: lists of passes from what sema writes down to kernels, read top to bottom.

use crate::lower::kernel::KernelSet;
use crate::passes::domain::{inline, lower_to_loops};
use crate::passes::loops::{contract, lower_to_kernels, split_units};
use crate::passes::ssa::{canonicalise, cse, dce};
use crate::passes::{Pass, PassOptions, PipelineError, Watch, run};
use std::io::Write;
use tiga_abi::FpMode;
use tiga_ir::{Level, Module};

/// With fixed trees and fused multiply-add. Products are merged before they are contracted: one that two sums use
/// stays a product.
pub const DEFAULT: &[Pass] = &[
    inline::PASS,
    canonicalise::PASS,
    cse::PASS,
    dce::PASS,
    lower_to_loops::PASS,
    canonicalise::PASS,
    cse::PASS,
    contract::PASS,
    dce::PASS,
    split_units::PASS,
    lower_to_kernels::PASS,
    dce::PASS,
];

/// The plain left fold, without contraction: bit-equal to the domain interpreter.
pub const STRICT: &[Pass] = &[
    inline::PASS,
    canonicalise::PASS,
    cse::PASS,
    dce::PASS,
    lower_to_loops::PASS,
    canonicalise::PASS,
    cse::PASS,
    dce::PASS,
    split_units::PASS,
    lower_to_kernels::PASS,
    dce::PASS,
];

/// From split loops functions to kernels.
pub const KERNELS: &[Pass] = &[lower_to_kernels::PASS, dce::PASS];

/// The pipeline of a mode.
pub fn of(fp: FpMode) -> &'static [Pass] {
    match fp {
        FpMode::Default => DEFAULT,
        FpMode::Strict => STRICT,
    }
}

/// A module on the levels below the domain.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Reducers, host and loops functions.
    pub loops: Module,
    /// The kernels of each loops function.
    pub kernels: Vec<KernelSet>,
}

/// Runs the pipeline of the options' mode on domain functions.
///
/// # Errors
/// [`PipelineError`].
pub fn lower(
    module: Module,
    options: &PassOptions,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<Lowered, PipelineError> {
    Ok(apart(run(module, of(options.law.fp), options, watch, out)?))
}

/// Runs what is left of a pipeline once reductions have been split into units.
///
/// # Errors
/// [`PipelineError`].
pub fn kernels(
    loops: Module,
    options: &PassOptions,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<Lowered, PipelineError> {
    Ok(apart(run(loops, KERNELS, options, watch, out)?))
}

/// Takes the kernels out of a module; a kernel is called like its loops function, a dot, and its variant.
pub fn apart(module: Module) -> Lowered {
    let (kernels, others): (Vec<_>, Vec<_>) = module.funcs.into_iter().partition(|(_, f)| f.level == Level::Kernel);
    let mut sets: Vec<KernelSet> = Vec::new();
    for (name, kernel) in kernels {
        let source = name.rsplit_once('.').map_or(&*name, |(source, _)| source);
        match sets.last_mut().filter(|set| *set.source == *source) {
            Some(set) => set.variants.push(kernel),
            None => sets.push(KernelSet { source: source.into(), variants: vec![kernel] }),
        }
    }
    Lowered { loops: Module { reducers: module.reducers, funcs: others.into_iter().collect() }, kernels: sets }
}
