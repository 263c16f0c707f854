//! Runs bundles inside host applications: open, bind, execute. No compiler, no Python.
//!
//! Opening and inspecting a bundle is safe whatever its bytes are. *Running* one runs the machine code in it:
//! checksums catch damage, not malice.

mod admit;
mod array;
mod bindings;
mod bundle;
mod call;
mod cancel;
mod context;
mod error;
mod execute;
mod fit;
mod float_env;
mod frame;
mod graph;
mod hooks;
mod keep;
mod launch;
mod library;
mod managed;
mod memory;
mod pool;
mod prepared;
mod ready;
mod relations;
mod sizes;
mod steps;
mod trace;
mod workers;

pub use array::{ArrayMut, ArrayRef, zeroed};
pub use bundle::Bundle;
pub use call::{Call, Footprint};
pub use cancel::CancelToken;
pub use context::{Context, UnitOrder};
pub use error::{Origin, PlanProblem, RuntimeError};
pub use graph::Graph;
pub use hooks::{LogLevel, Progress};
pub use managed::{MemoryUse, TierUse};
pub use memory::{
    Allocator, BufferedBecause, Cleaned, Completion, Hierarchy, HierarchyOptions, Identity, Instance, IoOperation,
    MemoryError, Request, Storage, WantedStorage,
};
pub use prepared::Prepared;
pub use ready::TaskOrder;
pub use tiga_abi::{DType, Device, DeviceError, DeviceKind, Tier, TierError};
pub use tiga_formats::{Csr, Indices};
pub use trace::{Launched, Span, TaskKind, Work};
