//! The pipeline: the passes from what sema writes down to kernels, read top to bottom.

use crate::lower::kernel::KernelSet;
use crate::passes::domain::{fuse, hoist, inline, lower_to_loops, trim};
use crate::passes::loops::{contract, lower_to_kernels, split_units};
use crate::passes::ssa::{canonicalise, cse, dce};
use crate::passes::{Pass, PassOptions, PipelineError, Watch, run};
use indexmap::IndexMap;
use std::io::Write;
use tiga_abi::Symbol;
use tiga_ir::{Func, Level, Module};

/// From domain functions to kernels. Strict mode runs the same passes: `contract` and the shapes that `lower_to_loops`
/// writes know the mode.
///
/// `contract` looks at the uses within one loops function: products are merged before, so that one which two sums use
/// stays a product, and what nothing needs is dropped before, so that it is no use.
pub const PASSES: &[Pass] = &[
    inline::PASS,
    canonicalise::PASS,
    cse::PASS,
    dce::PASS,
    hoist::PASS,
    // What moved out of an edge function is no reason against fusing it.
    dce::PASS,
    fuse::PASS,
    cse::PASS,
    dce::PASS,
    trim::PASS,
    dce::PASS,
    // What only results need that were dropped.
    trim::PASS,
    dce::PASS,
    lower_to_loops::PASS,
    canonicalise::PASS,
    cse::PASS,
    dce::PASS,
    contract::PASS,
    split_units::PASS,
    lower_to_kernels::PASS,
    dce::PASS,
];

/// What is left of the pipeline for host and loops functions.
pub fn of_loops() -> &'static [Pass] {
    let made = PASSES.iter().position(|pass| pass.makes == Some(Level::Loops));
    &PASSES[made.expect("the pipeline makes loops functions") + 1..]
}

/// A module on the levels below the domain.
#[derive(Clone, Debug)]
pub struct Lowered {
    /// Reducers, host and loops functions.
    pub loops: Module,
    /// The kernels of each loops function.
    pub kernels: Vec<KernelSet>,
}

/// Runs the pipeline on domain functions.
///
/// # Errors
/// [`PipelineError`].
pub fn lower(
    module: Module,
    options: &PassOptions,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<Lowered, PipelineError> {
    Ok(apart(run(module, PASSES, options, watch, out)?))
}

/// Runs what is left of the pipeline on host and loops functions.
///
/// # Errors
/// [`PipelineError`].
pub fn lower_loops(
    loops: Module,
    options: &PassOptions,
    watch: &Watch,
    out: &mut dyn Write,
) -> Result<Lowered, PipelineError> {
    Ok(apart(run(loops, of_loops(), options, watch, out)?))
}

/// Takes the kernels out of a module, by the loops function that each says it is of; other kernels stay.
pub fn apart(module: Module) -> Lowered {
    let mut loops = Module { reducers: module.reducers, ..Module::new() };
    let is_loops = |(name, func): (&Symbol, &Func)| (func.level == Level::Loops).then(|| (name.clone(), Vec::new()));
    let mut sets: IndexMap<Symbol, Vec<Func>> = module.funcs.iter().filter_map(is_loops).collect();
    for (name, func) in module.funcs {
        match func.of.as_ref().and_then(|source| sets.get_mut(source)) {
            Some(variants) => variants.push(func),
            None => drop(loops.funcs.insert(name, func)),
        }
    }
    let kernels = sets.into_iter().filter(|(_, variants)| !variants.is_empty());
    Lowered { loops, kernels: kernels.map(|(source, variants)| KernelSet { source, variants }).collect() }
}
