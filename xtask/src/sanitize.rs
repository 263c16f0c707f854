//! `cargo xtask sanitize`: hosts of the C library under valgrind's memcheck and helgrind, and with AddressSanitizer.

use crate::{setup, shell};
use anyhow::Result;

/// Runs the ignored test `sanitized` of the testsuite, which says what was found clean and what was not looked at.
pub fn run() -> Result<()> {
    setup::run(setup::Need::Sanitizers)?;
    let arguments = ["test", "-p", "testsuite", "--test", "embedding", "--", "--ignored", "--exact", "sanitized"];
    shell::run(shell::cargo(arguments).arg("--nocapture"))
}
