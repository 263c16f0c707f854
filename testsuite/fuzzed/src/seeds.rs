//! What fuzzing begins with: files that the repository has anyway, found when they are needed.

use std::fs;
use std::path::{Path, PathBuf};

/// Folders that hold no sources.
const SKIPPED: &[&str] = &["target", "out", "finds", ".git"];

/// The repository's files.
pub struct Repository {
    root: PathBuf,
}

impl Repository {
    /// The repository that this crate was built from.
    pub fn here() -> Self {
        Self { root: Path::new(env!("CARGO_MANIFEST_DIR")).join("../..") }
    }

    /// The contents of all files whose names end so, of at most `longest` bytes, in the order of their paths.
    pub(crate) fn files(&self, extension: &str, longest: usize) -> Vec<Vec<u8>> {
        let mut paths = Vec::new();
        collect(&self.root, extension, &mut paths);
        paths.sort();
        paths.iter().filter_map(|path| fs::read(path).ok()).filter(|bytes| bytes.len() <= longest).collect()
    }

    /// The folder of the inputs that once broke a target.
    pub fn finds(&self, target: &str) -> PathBuf {
        self.root.join("testsuite/fuzzed/finds").join(target)
    }
}

fn collect(folder: &Path, extension: &str, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && SKIPPED.iter().any(|skipped| name == *skipped) => {}
            Ok(kind) if kind.is_dir() => collect(&path, extension, out),
            _ if path.extension().is_some_and(|found| found == extension) => out.push(path),
            _ => {}
        }
    }
}
