//! The format's definition, a test for each of its rows: `testsuite/spec/coverage.txt` lists them.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

mod allocation;
mod binding;
mod halo;
mod parsing;
mod plans;
mod rows;
mod sections;
mod submission;
mod tiers;
