//! Passes, by what they know. A pass is one file and one row here (and its place in the pipeline).

pub mod domain;
pub mod loops;
mod runner;
pub mod ssa;

pub use runner::{Pass, PassError, PassOptions, PipelineError, Printing, Watch, WatchArgs, run};

use crate::lower;
use tiga_ir::Level;

/// Calls of programs become their code.
pub const INLINE: Pass = Pass {
    name: "inline",
    about: "replaces calls of programs by their code",
    levels: &[Level::Domain],
    makes: None,
    run: domain::inline::run,
};

/// Simpler instructions with the same bits.
pub const CANONICALISE: Pass = Pass {
    name: "canonicalise",
    about: "folds constants and replaces instructions by simpler ones with the same bits",
    levels: ssa::canonicalise::LEVELS,
    makes: None,
    run: ssa::canonicalise::run,
};

/// Equal computations once.
pub const CSE: Pass = Pass {
    name: "cse",
    about: "merges instructions that compute the same",
    levels: ssa::cse::LEVELS,
    makes: None,
    run: ssa::cse::run,
};

/// What nothing needs.
pub const DCE: Pass = Pass {
    name: "dce",
    about: "drops instructions, carried values and blocks that nothing needs",
    levels: ssa::dce::LEVELS,
    makes: None,
    run: ssa::dce::run,
};

/// Domain functions become host and loops functions.
pub const LOWER_TO_LOOPS: Pass = Pass {
    name: "lower_to_loops",
    about: "domain functions become launches of loops functions on memory",
    levels: &[Level::Domain],
    makes: Some(Level::Loops),
    run: |module, options| Ok(lower::domain::lower(module, &options.law)?),
};

/// Products and sums become one rounding.
pub const CONTRACT: Pass = Pass {
    name: "contract",
    about: "makes fma of a product and a sum, also as the step of a reduction (not with --fp=strict)",
    levels: &[Level::Loops],
    makes: None,
    run: loops::contract::run,
};

/// Reductions become leaves and trees.
pub const SPLIT_UNITS: Pass = Pass {
    name: "split_units",
    about: "splits reductions into units: short rows, leaves, the tree that joins them",
    levels: &[Level::Host, Level::Loops],
    makes: None,
    run: |module, _| Ok(loops::split_units::run(module)?),
};

/// Loops functions get kernels.
pub const LOWER_TO_KERNELS: Pass = Pass {
    name: "lower_to_kernels",
    about: "adds the kernels of each loops function, the generic one last",
    levels: &[Level::Loops],
    makes: Some(Level::Kernel),
    run: runner::lower_to_kernels,
};

/// All passes.
pub const ALL: &[Pass] =
    &[INLINE, CANONICALISE, CSE, DCE, LOWER_TO_LOOPS, CONTRACT, SPLIT_UNITS, LOWER_TO_KERNELS];

/// The pass of a flag.
pub fn named(flag: &str) -> Option<Pass> {
    ALL.iter().copied().find(|pass| pass.flag() == flag)
}
