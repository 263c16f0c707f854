//! Links an object into a shared object that exports its kernels and needs nothing.

use crate::LlvmError;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Linkers, the best first.
const LINKERS: [&str; 3] = ["ld.lld-22", "ld.lld", "ld"];

/// Where Debian's LLVM packages put their tools.
const LLVM_TOOLS: &str = "/usr/lib/llvm-22/bin";

/// No build id, no name and no local symbols: nothing in the file depends on where or when it was made. Line tables
/// and the symbols of kernels stay, for debuggers and profilers.
const FLAGS: [&str; 10] = [
    "-shared",
    "-nostdlib",
    "--build-id=none",
    "--hash-style=gnu",
    "--no-undefined",
    "--discard-all",
    "-z",
    "noexecstack",
    "-z",
    "now",
];

/// The shared object of an object.
pub(crate) fn shared_object(object: &[u8]) -> Result<Vec<u8>, LlvmError> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).chain([PathBuf::from(LLVM_TOOLS)]).collect();
    let linker = find_linker(&folders)?;
    let io_error = |action| move |source: io::Error| LlvmError::Io { action, source };
    let folder = tempfile::tempdir().map_err(io_error("create a folder for"))?;
    let (input, output) = (folder.path().join("tiga.o"), folder.path().join("tiga.so"));
    std::fs::write(&input, object).map_err(io_error("write"))?;
    let result = Command::new(&linker).args(FLAGS).arg("-o").arg(&output).arg(&input).output();
    let failed = |message: String| LlvmError::Linker { linker: linker.clone(), message };
    let result = result.map_err(|e| failed(e.to_string()))?;
    if !result.status.success() {
        return Err(failed(String::from_utf8_lossy(&result.stderr).trim().to_owned()));
    }
    std::fs::read(&output).map_err(io_error("read"))
}

fn find_linker(folders: &[PathBuf]) -> Result<PathBuf, LlvmError> {
    let mut candidates = LINKERS.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    let missing = || LlvmError::NoLinker { names: LINKERS.join(", "), folder: LLVM_TOOLS };
    candidates.find(|file| is_program(file)).ok_or_else(missing)
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::{find_linker, shared_object};
    use crate::LlvmError;

    #[test]
    fn a_missing_linker_is_said() {
        let empty = tempfile::tempdir().unwrap();
        let error = find_linker(&[empty.path().to_owned()]).unwrap_err();
        assert!(error.to_string().starts_with("no linker found: looked for ld.lld-22, ld.lld, ld on PATH"), "{error}");
    }

    #[test]
    fn what_the_linker_says_is_kept() {
        match shared_object(b"not an object") {
            Err(LlvmError::Linker { message, .. }) => assert!(!message.is_empty()),
            other => panic!("{other:?}"),
        }
    }
}
