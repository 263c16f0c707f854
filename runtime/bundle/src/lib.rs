//! The `.tgb` bundle file: a ZIP of stored, aligned, checksummed entries.

mod manifest;

pub use manifest::*;
