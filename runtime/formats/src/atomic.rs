//! Writing a file whole or not at all: a temporary beside the target, renamed onto it at the end.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

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
    /// The folder to write in is not there.
    #[error("cannot write: there is no folder `{}`", .0.display())]
    NoFolder(PathBuf),
    /// The name says neither of the formats that results are written in.
    #[error("results are written as .npy or .tsv files, and the name says another kind")]
    NotAResult,
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

/// Whether the name of a file says that results go there as text.
pub fn is_table(path: &Path) -> bool {
    path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tsv"))
}

/// Whether a result could be written to `path` now, as an array or as a table.
///
/// # Errors
/// [`WriteErrorKind::NotAResult`]; else as [`check_writable`].
pub fn check_result_target(path: &Path) -> Result<(), WriteError> {
    match is_table(path) || path.extension().is_some_and(|e| e.eq_ignore_ascii_case("npy")) {
        true => check_writable(path),
        false => Err(WriteError { path: path.to_owned(), kind: WriteErrorKind::NotAResult }),
    }
}

/// Whether `path` could be written now: its folder is there and takes new files, and what stands there is a file.
///
/// # Errors
/// [`WriteError`], as [`write_file`] would give it.
pub fn check_writable(path: &Path) -> Result<(), WriteError> {
    let probe = || Temporary::beside(&target_of(path)?).map(drop);
    probe().map_err(|kind| WriteError { path: path.to_owned(), kind })
}

/// One path for all names of a file, which need not be there yet: what [`write_file`] would replace.
pub fn file_identity(path: &Path) -> PathBuf {
    let path = end_of_links(path);
    if let Ok(whole) = fs::canonicalize(&path) {
        return whole;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match (fs::canonicalize(folder), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        // Nothing can be written there; whoever tries says why.
        _ => path,
    }
}

/// Links that are followed, as many as Linux does.
const MOST_LINKS: usize = 40;

/// Where a link leads, also to what is not there yet.
fn end_of_links(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Ok(next) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(next);
    }
    path
}

/// Removes the temporaries of writes in progress and lets no write go on: for a process about to end by a signal.
pub(crate) fn stop_writing() {
    let mut unfinished = unfinished();
    while let Some(path) = unfinished.pop_first() {
        // It is gone already if its writer finished just now.
        let _ = fs::remove_file(path);
    }
    // Who makes or finishes a temporary waits for this lock, until the process is gone.
    std::mem::forget(unfinished);
}

fn unfinished() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file beside the target, which is in [`UNFINISHED`] while it exists.
struct Temporary {
    // Dropped first: a file that is not listed would be left behind by a signal.
    file: NamedTempFile,
    _listed: Listed,
}

struct Listed(PathBuf);

impl Temporary {
    fn beside(target: &Path) -> Result<Self, WriteErrorKind> {
        let folder = target.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        if matches!(fs::metadata(folder), Err(error) if error.kind() == io::ErrorKind::NotFound) {
            return Err(WriteErrorKind::NoFolder(folder.to_owned()));
        }
        let mut unfinished = unfinished();
        let file = make_in(folder)?;
        // Whoever kept the old file from others keeps the new one.
        if let Ok(old) = fs::metadata(target) {
            file.as_file().set_permissions(old.permissions())?;
        }
        unfinished.insert(file.path().to_owned());
        let listed = Listed(file.path().to_owned());
        Ok(Self { file, _listed: listed })
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        unfinished().remove(&self.0);
    }
}

/// The file to replace: a link's own target.
fn target_of(path: &Path) -> Result<PathBuf, WriteErrorKind> {
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => Err(WriteErrorKind::NotARegularFile),
        Ok(_) => Ok(fs::canonicalize(path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(end_of_links(path)),
        Err(error) => Err(error.into()),
    }
}

fn write_beside(path: &Path, body: impl FnOnce(&mut dyn WriteSeek) -> io::Result<()>) -> Result<(), WriteErrorKind> {
    let target = target_of(path)?;
    let mut temporary = Temporary::beside(&target)?;
    let mut buffered = BufWriter::with_capacity(256 * 1024, temporary.file.as_file_mut());
    body(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    let Temporary { file, _listed } = temporary;
    file.persist(&target).map_err(|error| error.error)?;
    Ok(())
}

/// A new file, with the permissions of a file made in the ordinary way, not the private ones of a secret. The crate's
/// own way to open one would name it in errors, and nobody asked for that name.
fn make_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".tiga-").suffix(".partial");
    builder.make_in(folder, |path| File::options().read(true).write(true).create_new(true).open(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn a_file_that_is_replaced_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("secret.tg");
        write_file(&path, |w| w.write_all(b"old")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        write_file(&path, |w| w.write_all(b"new")).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
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
    }

    #[test]
    fn a_folder_that_is_not_there_is_named_and_a_temporary_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("no/such.npy");
        for error in [write_file(&path, |_| Ok(())).unwrap_err(), check_writable(&path).unwrap_err()] {
            assert!(matches!(&error.kind, WriteErrorKind::NoFolder(p) if *p == folder.path().join("no")), "{error}");
        }
        fs::write(folder.path().join("file"), "").unwrap();
        let error = check_writable(&folder.path().join("file/such.npy")).unwrap_err().to_string();
        assert!(error.contains("such.npy: cannot write: Not a directory") && !error.contains("partial"), "{error}");
    }

    #[test]
    fn what_may_be_written_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("y.npy");
        check_writable(&path).unwrap();
        assert_eq!(names(folder.path()), [""; 0]);
        fs::write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!((fs::read(&path).unwrap(), names(folder.path())), (b"old".to_vec(), vec!["y.npy".to_owned()]));
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

    #[cfg(unix)]
    #[test]
    fn a_link_to_what_is_not_there_yet_stays_too() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        let (target, link) = (folder.path().join("sub/y.npy"), folder.path().join("link.npy"));
        std::os::unix::fs::symlink("sub/y.npy", &link).unwrap();
        assert_eq!(file_identity(&link), file_identity(&target));
        write_file(&link, |file| file.write_all(b"new")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&target).unwrap(), b"new");
        let round = folder.path().join("round.npy");
        std::os::unix::fs::symlink("round.npy", &round).unwrap();
        assert!(write_file(&round, |_| Ok(())).is_err());
    }

    #[test]
    fn a_file_is_itself_under_all_its_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("sub")).unwrap();
        for name in ["there", "not-yet"] {
            let (plain, dotted) = (folder.path().join(name), folder.path().join("sub/..").join(name));
            assert_eq!(file_identity(&plain), file_identity(&dotted));
            assert_ne!(file_identity(&plain), file_identity(&folder.path().join("sub").join(name)));
            fs::write(folder.path().join("there"), "").unwrap();
        }
    }
}
