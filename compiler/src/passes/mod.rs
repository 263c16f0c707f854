//! Passes, by what they know. A pass is one file and one row in [`ALL`] (and its place in `pipeline.rs`).

pub mod domain;
pub mod loops;
mod remarks;
mod runner;
pub mod ssa;

pub use remarks::{Remark, Remarks, Verdict};
pub(crate) use runner::print_time;
pub use runner::{Excess, Pass, PassError, PassOptions, PipelineError, Printing, Watch, WatchArgs, optional_pass, run};

use tiga_source::nearest;

/// All passes, a row each.
pub const ALL: &[Pass] = &[
    domain::inline::PASS,
    ssa::canonicalise::PASS,
    ssa::cse::PASS,
    ssa::dce::PASS,
    domain::hoist::PASS,
    domain::fuse::PASS,
    domain::trim::PASS,
    domain::lower_to_loops::PASS,
    loops::contract::PASS,
    loops::split_units::PASS,
    loops::lower_to_kernels::PASS,
];

/// A flag that is no pass's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}there are {}", nearest.as_ref().map_or(String::new(), |n| format!("did you mean `{n}`? ")), known.join(", "))]
pub struct UnknownPass {
    /// The pass that may be meant.
    pub nearest: Option<String>,
    /// Those that there are.
    pub known: Vec<String>,
}

/// The pass of a flag.
///
/// # Errors
/// There is none.
pub fn named(flag: &str) -> Result<Pass, UnknownPass> {
    ALL.iter().copied().find(|pass| pass.flag() == flag).ok_or_else(|| UnknownPass::among(flag, flags()))
}

impl UnknownPass {
    /// A flag that is none of some.
    fn among(flag: &str, known: Vec<String>) -> Self {
        Self { nearest: nearest(flag, known.iter().map(String::as_str)).map(String::from), known }
    }
}

fn flags() -> Vec<String> {
    ALL.iter().map(Pass::flag).collect()
}
