//! The Tiga compiler: semantic analysis, lowerings, passes, packing, driver.

pub mod builtin;
pub mod driver;
mod limits;
pub mod lower;
#[cfg(feature = "llvm")]
pub mod pack;
pub mod passes;
pub mod pipeline;
pub mod sema;
