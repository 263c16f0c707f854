//! The `.tgb` bundle file: a ZIP of stored, aligned, checksummed entries.
//!
//! | entry | holds |
//! |---|---|
//! | `manifest.json` | the [`Manifest`] |
//! | `plans/<program>.json` | the plan template of each program |
//! | `kernels/<target>.so` | the kernels of each target |
//! | `ir/<name>.tir` | intermediate code, for reading |
//! | `sha256.txt` | the SHA-256 of every other entry, as `sha256sum` prints it |
//!
//! Entries stand in the order of their names, data at multiples of 64 bytes, all times 1980-01-01.
//! The archive's comment names the version of the format, the SHA-256 of `sha256.txt`, and that of
//! all bytes before the comment, so that no bit of the file is unchecked.

mod check;
mod error;
mod manifest;
mod manifest_json;
mod open;
mod write;

pub use check::Mismatch;
pub use error::{BundleError, WriteError};
pub use manifest::*;
pub use open::Bundle;
pub use write::{Contents, save, write};

/// The entry with the manifest.
const MANIFEST: &str = "manifest.json";
/// The entry with the list of checksums.
const LIST: &str = "sha256.txt";
/// Data of every entry starts at a multiple of this.
const ALIGNMENT: u16 = 64;
/// Bytes of a bundle that are read at all.
const MAX_BUNDLE: u64 = 128 << 20;

/// SHA-256 in lower-case hexadecimal.
fn sha256(bytes: &[u8]) -> String {
    use sha2::{Digest, Sha256};
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The list of checksums of entries that come in the order of their names.
fn checksums<'a>(entries: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> String {
    entries.into_iter().map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect()
}

/// The archive's comment.
fn comment(list: &[u8], before: &[u8]) -> String {
    format!("tiga-bundle {FORMAT}\nlist {}\nfile {}\n", sha256(list), sha256(before))
}

/// Whether a name may stand in a bundle: segments of letters, digits, `.`, `_`, `-`, none of which starts with a dot.
fn is_safe(name: &str) -> bool {
    let segment = |segment: &str| {
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        !segment.is_empty() && !segment.starts_with('.') && segment.chars().all(plain)
    };
    name.split('/').all(segment)
}
