//! The C library: `tiga_*`, each function declared and described in `include/tiga.h`, which is made from these files.
//!
//! Every function that can fail runs inside [`border::guarded`]: arguments are checked, panics are caught, what went
//! wrong becomes a number and an error object.

#![allow(non_camel_case_types, reason = "types and constants have their C names")]
#![allow(
    clippy::missing_safety_doc,
    reason = "the contract of every call is its description, which stands in the header"
)]

mod array;
mod border;
mod bundle;
mod call;
mod cancel;
mod context;
mod error;
mod graph;
mod hierarchy;
mod instance;
mod status;
mod version;

pub use array::{tiga_array, tiga_array_mut, tiga_dtype};
pub use border::tiga_str;
pub use bundle::*;
pub use call::*;
pub use cancel::*;
pub use context::*;
pub use error::*;
pub use graph::*;
pub use hierarchy::*;
pub use instance::*;
pub use status::{STATUSES, tiga_status};
pub use version::{TIGA_ABI_MAJOR, TIGA_ABI_MINOR, tiga_abi_version};
