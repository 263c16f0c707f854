//! `cargo xtask sanitize`: hosts of the C library under valgrind's memcheck and helgrind, and with AddressSanitizer.

use crate::{setup, shell};
use anyhow::Result;
use std::path::PathBuf;

/// Builds the C library with AddressSanitizer, then runs the ignored test `sanitized` of the testsuite, which says what
/// was found clean and what was not looked at.
pub fn run() -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let library = with_address_sanitizer()?;
    let arguments = ["test", "-p", "testsuite", "--test", "embedding", "--", "--ignored", "--exact", "sanitized"];
    shell::run(shell::cargo(arguments).arg("--nocapture").env("TIGA_ASAN_LIBRARY", library))
}

/// The static library with every access to memory checked, the crates it depends on included, Rust's own not. The C
/// compiler's AddressSanitizer has the same interface (version 8), and is linked with the host.
fn with_address_sanitizer() -> Result<PathBuf> {
    const TARGET: &str = "x86_64-unknown-linux-gnu";
    let folder = shell::target_dir().join("asan");
    // The flag is not among those of a stable compiler. A target is named so that build scripts are built without it.
    shell::run(
        shell::cargo(["build", "-p", "tiga-capi", "--target", TARGET, "--target-dir"])
            .arg(&folder)
            .env("RUSTC_BOOTSTRAP", "1")
            .env("RUSTFLAGS", "-Zsanitizer=address"),
    )?;
    Ok(folder.join(TARGET).join("debug/libtiga.a"))
}
