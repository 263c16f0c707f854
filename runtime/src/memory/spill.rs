//! The directory of spill files: a private one is locked while its process lives, so that what a dead one left behind
//! is known and removed.
//!
//! The lock is that of the open file `lock` inside; the system lets go of it when the process dies, however it dies. Who
//! holds the lock of a directory may remove it, and nobody else does.

use super::error::errno;
use super::{IoOperation, MemoryError};
use rustix::fs::{AtFlags, CWD, FlockOperation, Mode, OFlags, flock, fstat, mkdir, open, statat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

/// What the names of private directories begin with.
pub(crate) const PREFIX: &str = "tiga-spill-";

/// The file inside that is locked.
const LOCK: &str = "lock";

/// A directory without a lock that is older than this is nobody's who is about to lock it.
const IN_THE_MAKING: Duration = Duration::from_secs(60);

/// How often another name is tried.
const ATTEMPTS: usize = 16;

/// What a hierarchy removed as it was opened: private directories of processes that died.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// How many.
    pub directories: u64,
    /// Bytes of the files in them, by their lengths.
    pub bytes: u64,
}

/// Where spill files lie.
#[derive(Debug)]
pub(crate) enum Directory {
    /// Given by the user, who keeps it.
    Given(PathBuf),
    /// Made here.
    Private(Private),
}

/// A directory that is removed, and its lock.
#[derive(Debug)]
pub(crate) struct Private {
    path: PathBuf,
    lock: Mutex<Option<fs::File>>,
}

impl Directory {
    /// A directory that the user names; made if it is missing.
    pub(crate) fn given(path: &Path) -> Result<Self, MemoryError> {
        let path = &absolute(path)?;
        let made = fs::create_dir_all(path).map_err(|error| errno(&error));
        made.map_err(|errno| MemoryError::of_system(IoOperation::CreateDirectory, path, errno))?;
        Ok(Directory::Given(path.to_owned()))
    }

    /// A new directory below `parent`, once those of dead processes are removed there.
    pub(crate) fn private(parent: &Path) -> Result<(Self, Cleaned), MemoryError> {
        let parent = &absolute(parent)?;
        let cleaned = clean(parent);
        let mut last = Errno::EXIST;
        for _ in 0..ATTEMPTS {
            let path = parent.join(format!("{PREFIX}{:032x}", fastrand::u128(..)));
            match mkdir(&path, Mode::RWXU) {
                Ok(()) => {}
                Err(Errno::EXIST) => continue,
                Err(errno) => return Err(MemoryError::of_system(IoOperation::CreateDirectory, path, errno)),
            }
            match lock(&path, true) {
                Ok(lock) => {
                    return Ok((Directory::Private(Private { path, lock: Mutex::new(Some(lock)) }), cleaned));
                }
                // Somebody who cleans took it for left behind.
                Err(errno @ (Errno::WOULDBLOCK | Errno::NOENT)) => last = errno,
                Err(errno) => {
                    // The first failure is the one to tell.
                    let _ = fs::remove_dir_all(&path);
                    return Err(MemoryError::of_system(IoOperation::Lock, path, errno));
                }
            }
        }
        Err(MemoryError::of_system(IoOperation::CreateDirectory, parent, last))
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Directory::Given(path) | Directory::Private(Private { path, .. }) => path,
        }
    }

    /// Removes it with all that is in it, if it is private; nothing happens the second time.
    pub(crate) fn remove(&self) -> Result<(), MemoryError> {
        let Directory::Private(private) = self else { return Ok(()) };
        let Some(lock) = private.lock.lock().unwrap_or_else(PoisonError::into_inner).take() else { return Ok(()) };
        let removed = fs::remove_dir_all(&private.path);
        drop(lock);
        match removed {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(MemoryError::of_system(IoOperation::Remove, &private.path, errno(&error)))
            }
            _ => Ok(()),
        }
    }
}

/// The same place wherever the host goes to work.
fn absolute(path: &Path) -> Result<PathBuf, MemoryError> {
    let failed = |error| MemoryError::of_system(IoOperation::CreateDirectory, path, errno(&error));
    std::path::absolute(path).map_err(failed)
}

/// Locks a directory. [`Errno::WOULDBLOCK`] if somebody has it, [`Errno::NOENT`] if it is gone.
fn lock(directory: &Path, make: bool) -> Result<fs::File, Errno> {
    let path = directory.join(LOCK);
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let flags = if make { flags | OFlags::CREATE } else { flags };
    let file = open(&path, flags, Mode::RUSR | Mode::WUSR)?;
    retry_on_intr(|| flock(&file, FlockOperation::NonBlockingLockExclusive))?;
    // The one who had it before may have removed it.
    let (locked, named) = (fstat(&file)?, statat(CWD, &path, AtFlags::SYMLINK_NOFOLLOW)?);
    if (locked.st_dev, locked.st_ino) != (named.st_dev, named.st_ino) {
        return Err(Errno::NOENT);
    }
    Ok(file.into())
}

/// Removes private directories of dead processes. One that cannot be removed stays, for the next.
fn clean(parent: &Path) -> Cleaned {
    let mut cleaned = Cleaned::default();
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let path = entry.path();
        let ours = |data: &fs::Metadata| data.is_dir() && data.uid() == geteuid().as_raw();
        if !fs::symlink_metadata(&path).is_ok_and(|data| ours(&data)) {
            continue;
        }
        let lock = match lock(&path, false) {
            Ok(lock) => Some(lock),
            // Its owner died before it was locked, unless it is just being made.
            Err(Errno::NOENT) if is_old(&path) => None,
            Err(_) => continue,
        };
        let bytes = bytes_in(&path);
        if fs::remove_dir_all(&path).is_ok() {
            cleaned.directories += 1;
            cleaned.bytes += bytes;
        }
        drop(lock);
    }
    cleaned
}

fn is_old(path: &Path) -> bool {
    let changed = fs::symlink_metadata(path).and_then(|data| data.modified());
    changed.is_ok_and(|time| SystemTime::now().duration_since(time).is_ok_and(|age| age > IN_THE_MAKING))
}

fn bytes_in(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|data| data.len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_hierarchy_2_a_private_directory_is_cleaned_only_when_nobody_has_its_lock() {
        let parent = tempfile::tempdir().unwrap();
        let (living, none) = Directory::private(parent.path()).unwrap();
        assert_eq!(none, Cleaned::default());
        let dead = parent.path().join(format!("{PREFIX}dead"));
        let making = parent.path().join(format!("{PREFIX}making"));
        let other = parent.path().join("other-spill");
        for path in [&dead, &making, &other] {
            fs::create_dir(path).unwrap();
        }
        fs::write(dead.join(LOCK), "").unwrap();
        fs::write(dead.join("x.bin"), [1; 12]).unwrap();
        let link = parent.path().join(format!("{PREFIX}link"));
        std::os::unix::fs::symlink(&other, &link).unwrap();
        let (second, cleaned) = Directory::private(parent.path()).unwrap();
        assert_eq!(cleaned, Cleaned { directories: 1, bytes: 12 });
        for (path, stays) in [(dead.as_path(), false), (&making, true), (&other, true), (living.path(), true)] {
            assert_eq!(path.exists(), stays, "{}", path.display());
        }
        for directory in [living, second] {
            directory.remove().unwrap();
            directory.remove().unwrap();
            assert!(!directory.path().exists());
        }
    }

    #[test]
    fn memory_hierarchy_2_a_directory_without_a_lock_is_left_behind_when_it_is_old() {
        let parent = tempfile::tempdir().unwrap();
        let old = parent.path().join(format!("{PREFIX}old"));
        fs::create_dir(&old).unwrap();
        let long_ago = SystemTime::now() - 2 * IN_THE_MAKING;
        fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
        let (directory, cleaned) = Directory::private(parent.path()).unwrap();
        assert_eq!((cleaned.directories, old.exists()), (1, false));
        directory.remove().unwrap();
    }
}
