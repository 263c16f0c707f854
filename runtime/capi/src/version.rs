//! The version of the binary interface.
#![allow(unsafe_code)]

/// Raised when a program built against an older header would no longer run.
pub const TIGA_ABI_MAJOR: u32 = 1;

/// Raised when something is added.
pub const TIGA_ABI_MINOR: u32 = 2;

/// The version of this library: major * 65536 + minor. A program built against a header runs with a library of the same
/// major version and at least its minor version. Never fails; from any thread.
#[unsafe(no_mangle)]
pub extern "C" fn tiga_abi_version() -> u32 {
    TIGA_ABI_MAJOR * 65536 + TIGA_ABI_MINOR
}
