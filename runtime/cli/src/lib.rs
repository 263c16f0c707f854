//! What the command `tiga` shows of bundles and arrays, apart from the command line, so that tests reach it.

pub mod inspect;
pub mod inspect_json;
pub mod plan;
pub mod show;
