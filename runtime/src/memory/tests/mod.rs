//! Tests that need to stand between the hierarchy and its files.

mod closing;
mod faults;
mod hooked;
mod ordering;
mod sizes;
