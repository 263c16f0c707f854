//! Kernels in files: debuggers and profilers read the code of a process again, by the path that it was loaded from.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tiga_bundle::Bundle;
use tiga_formats::{WriteError, WriteErrorKind, write_file};

/// The variable that names the folder.
const FOLDER: &str = "TIGA_KEEP_KERNELS";

/// Digits of a file's checksum in its name: two files of one folder that agree in so many are the same.
const DIGITS: usize = 16;

/// The folder that the user wants kernels to be kept in.
pub(crate) fn folder() -> Option<PathBuf> {
    let wanted: Option<OsString> = std::env::var_os(FOLDER).filter(|folder| !folder.is_empty());
    wanted.filter(|_| !crate::library::has_more_rights()).map(PathBuf::from)
}

/// Writes the kernels of a target into `folder`, as `<first program>.<target>.<checksum>.so`; the path of the file.
/// What several processes keep at once is one file, which is never written to while one of them runs it.
///
/// # Errors
/// The folder takes no file.
pub(crate) fn keep(folder: &Path, bundle: &Bundle, target: &str, object: &[u8]) -> Result<PathBuf, WriteError> {
    let program = bundle.manifest().programs.first().map(|program| program.name.as_str());
    let program = program.filter(|name| is_plain(name)).unwrap_or("kernels");
    let target = if is_plain(target) { target } else { "target" };
    let checksum = bundle.kernels_checksum(target).unwrap_or_default();
    let path = folder.join(format!("{program}.{target}.{}.so", checksum.get(..DIGITS).unwrap_or(checksum)));
    if !std::fs::read(&path).is_ok_and(|there| there == object) {
        write_file(&path, |file| file.write_all(object))?;
    }
    // A debugger need not run in the folder of the process that it looks at.
    std::fs::canonicalize(&path).map_err(|error| WriteError { path, kind: WriteErrorKind::Io(error) })
}

/// Whether a name that a file gives can be part of another file's: short, and of letters, digits, `_` and `-` only.
fn is_plain(name: &str) -> bool {
    name.len() <= 64 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn names_of_bundles_lead_nowhere_else() {
        for name in ["heat", "x86-64-v3", "layer_2"] {
            assert!(is_plain(name), "{name}");
        }
        for name in ["../heat", "/heat", "a/b", "..", "é", &"a".repeat(65)] {
            assert!(!is_plain(name), "{name}");
        }
    }
}
