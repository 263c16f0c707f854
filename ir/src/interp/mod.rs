//! The reference interpreters, one per level: they define what programs mean, and are plain rather than fast.
//!
//! - Domain ([`run_domain`]): every reduction is the plain left fold in traversal order, without contraction. This is
//!   the meaning of `--fp=strict`.
//! - Loops and host ([`run_loops`], [`run_host`]): reductions have the tree of their `shape`; the iterations of a `for`
//!   are independent, which [`Options::shuffle`] and a check of every write prove. This is the meaning of the default.
//! - Kernel ([`run_kernel`]): blocks, lanes and addresses, each access checked.
//!
//! An accumulator without elements is absent: it is skipped, never combined. Where a state is asked for and there is
//! none (`keep` and `raw` of a row without edges), it is the identity, which `combine` leaves alone bit for bit, so that
//! nothing can tell the difference; a reducer without one is refused ([`ErrorKind::NoIdentity`]). Leaves and the blocks
//! of a range always have elements: there is none where there are no elements.
//!
//! No evaluation panics or runs forever: [`Options`] bounds steps and sizes.

mod apply;
mod control;
mod dense;
mod domain;
mod error;
mod fold;
mod host;
mod kernel;
mod loops;
mod machine;
mod memory;
mod rearrange;
mod reducer;
mod relation;
mod sizes;
mod value;

pub use domain::{run_domain, run_domain_with};
pub use error::{ErrorKind, InterpError, Place};
pub use host::run_host;
pub use kernel::{KernelCall, KernelMemory, run_kernel};
pub use loops::run_loops;
pub use reducer::run_reducer;
pub use relation::{Relation, RelationError, Units};
pub use value::{Buffer, Element, Tensor, TensorError, Value};

use indexmap::IndexMap;
use tiga_abi::Symbol;

/// Bounds and choices of one run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Steps allowed: one an instruction and one an element it makes.
    pub steps: u64,
    /// Elements that one value may have.
    pub elements: usize,
    /// Visits the iterations of every `for` in an order drawn from this seed.
    pub shuffle: Option<u64>,
    /// Values of symbols that no argument fixes.
    pub sizes: IndexMap<Symbol, i64>,
}

impl Default for Options {
    /// Ten billion steps, 2²⁶ elements, ascending order.
    fn default() -> Self {
        Options { steps: 10_000_000_000, elements: 1 << 26, shuffle: None, sizes: IndexMap::new() }
    }
}
