//! The Tiga compiler: semantic analysis, lowerings, passes, packing, driver.

pub mod lower;
pub mod passes;
