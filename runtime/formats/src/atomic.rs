//! Writing a file whole or not at all: a temporary beside the target, renamed onto it at the end.

use std::collections::BTreeSet;
use std::fs::{self, Permissions};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A file was not written; what stood there still stands.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", .path.display())]
pub struct WriteError {
    /// The target.
    pub path: PathBuf,
    /// Why.
    pub kind: WriteErrorKind,
}

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteErrorKind {
    /// The system refused.
    #[error("cannot write: {0}")]
    Io(#[from] io::Error),
    /// The target is a directory, pipe or device, which a rename would replace.
    #[error("cannot write: it exists and is not a regular file")]
    NotARegularFile,
}

/// Temporaries of this process that exist now.
static UNFINISHED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// What a body writes to.
pub trait WriteSeek: Write + Seek {}
impl<T: Write + Seek> WriteSeek for T {}

/// Writes `path` through `body`. Readers see the old file or the new one, never a part; a failure leaves the old one.
/// A symbolic link is followed and stays.
///
/// # Errors
/// [`WriteError`]; those of `body` come back in it.
pub fn write_file(path: &Path, body: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> Result<(), WriteError> {
    write_beside(path, body).map_err(|kind| WriteError { path: path.to_owned(), kind })
}

/// Removes the temporaries of writes in progress: for a process about to exit without unwinding.
pub fn remove_unfinished() {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    while let Some(path) = unfinished.pop_first() {
        // It is gone already if its writer finished just now.
        let _ = fs::remove_file(path);
    }
}

/// Keeps a temporary in [`UNFINISHED`] while it exists.
struct Registered(PathBuf);

impl Registered {
    fn new(path: &Path) -> Self {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
        Self(path.to_owned())
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}

fn write_beside(path: &Path, body: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> Result<(), WriteErrorKind> {
    let target = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(WriteErrorKind::NotARegularFile),
        Ok(_) => fs::canonicalize(path)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => path.to_owned(),
        Err(error) => return Err(error.into()),
    };
    let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut temporary = builder().tempfile_in(folder)?;
    let registered = Registered::new(temporary.path());
    let mut buffered = BufWriter::with_capacity(256 * 1024, temporary.as_file_mut());
    body(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    temporary.persist(&target).map_err(|error| error.error)?;
    drop(registered);
    Ok(())
}

/// Temporaries get the permissions of a file made in the ordinary way, not the private ones of a secret.
fn builder() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tiga-").suffix(".partial");
    #[cfg(unix)]
    builder.permissions(<Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o666));
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.npy");
        write_file(&path, |w| w.write_all(b"old")).unwrap();
        let failing = write_file(&path, |w| {
            w.write_all(&[0; 1 << 20])?;
            Err(io::Error::other("disk full"))
        });
        assert!(matches!(failing.unwrap_err().kind, WriteErrorKind::Io(_)));
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"old".to_vec(), vec!["out.npy".to_owned()]));
        write_file(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn devices_and_folders_are_not_replaced() {
        let folder = tempfile::tempdir().unwrap();
        for path in [folder.path(), Path::new("/dev/null")] {
            let error = write_file(path, |_| Ok(())).unwrap_err();
            assert!(matches!(error.kind, WriteErrorKind::NotARegularFile), "{error}");
        }
        let missing = write_file(&folder.path().join("no/such.npy"), |_| Ok(())).unwrap_err();
        assert!(matches!(missing.kind, WriteErrorKind::Io(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (target, link) = (folder.path().join("target"), folder.path().join("link"));
        fs::write(&target, "old").unwrap();
        std::os::unix::fs::symlink(&target, &link).unwrap();
        write_file(&link, |w| w.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn unfinished_temporaries_can_be_removed() {
        let folder = tempfile::tempdir().unwrap();
        let result = write_file(&folder.path().join("out"), |_| {
            assert_eq!(names(folder.path()).len(), 1);
            remove_unfinished();
            assert_eq!(names(folder.path()).len(), 0);
            Ok(())
        });
        assert!(matches!(result.unwrap_err().kind, WriteErrorKind::Io(_)));
    }
}
