//! Passes, by level. A pass is one file and one row here (and its place in the pipeline).

pub mod loops;
