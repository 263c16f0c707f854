//! NumPy's `.npz` archives: named arrays in a ZIP file, stored or deflated.

use crate::input::InputError;
use crate::limits::most_unpacked;
use crate::npy::NpyError;
use crate::{Array, Limits, WouldNotFit, input, npy};
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// Why an archive or a member of it is not read.
#[derive(Debug, thiserror::Error)]
pub enum NpzError {
    /// The file cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// Not a ZIP file, or a damaged one.
    #[error("is not a readable .npz archive: {0}")]
    Zip(#[source] ZipError),
    /// No member has this name.
    #[error("has no member `{member}`; it has {}", .found.join(", "))]
    Missing {
        /// The name asked for.
        member: String,
        /// The names there are, at most 16 of them.
        found: Vec<String>,
    },
    /// The archive unpacks to far more than its size.
    #[error(
        "member `{member}` brings the unpacked size to {size} bytes, at most {allowed} are read from an archive of \
         this size; save it without compression"
    )]
    Bomb {
        /// The member.
        member: String,
        /// Its claim, with what was read before.
        size: u64,
        /// What is allowed.
        allowed: u64,
    },
    /// More memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// A member is damaged in the archive.
    #[error("member `{member}`: {error}")]
    Damaged {
        /// The member.
        member: String,
        /// What the archive's reader says.
        error: ZipError,
    },
    /// A member unpacks to another size than the archive says.
    #[error("member `{member}` does not unpack to the {size} bytes that the archive claims")]
    MemberSize {
        /// The member.
        member: String,
        /// The claim.
        size: u64,
    },
    /// A member is not an array.
    #[error("member `{member}`: {error}")]
    Member {
        /// The member.
        member: String,
        /// Why not.
        error: NpyError,
    },
}

/// An open archive.
pub struct Npz {
    archive: ZipArchive<BufReader<File>>,
    size: u64,
    limits: Limits,
    unpacked: u64,
}

impl Npz {
    /// Opens an archive and reads its table of contents.
    ///
    /// # Errors
    /// [`NpzError`].
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, NpzError> {
        let (file, size) = input::open_file(path)?;
        let archive = ZipArchive::new(BufReader::new(file)).map_err(NpzError::Zip)?;
        Ok(Self { archive, size, limits: *limits, unpacked: 0 })
    }

    /// The size of the archive in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The names of the arrays, in the archive's order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.archive.file_names_raw().filter_map(|name| std::str::from_utf8(name).ok()?.strip_suffix(".npy"))
    }

    /// Whether there is an array of this name.
    pub fn contains(&self, member: &str) -> bool {
        self.names().any(|name| name == member)
    }

    /// Reads one array. What all arrays read from an archive may unpack to is bounded by its size.
    ///
    /// # Errors
    /// [`NpzError`].
    pub fn array(&mut self, member: &str) -> Result<Array, NpzError> {
        let before = self.unpacked;
        let limits = self.limits;
        let array = self.with_member(member, |reader, size| npy::read(reader, size, &limits))?;
        // Narrow integers are wider in memory than in the file.
        self.unpacked = self.unpacked.max(before.saturating_add(array.as_bytes().len() as u64));
        Ok(array)
    }

    /// Reads one byte string, which archives of SciPy use to say what they hold.
    ///
    /// # Errors
    /// [`NpzError`].
    pub(crate) fn word(&mut self, member: &str) -> Result<String, NpzError> {
        self.with_member(member, |reader, size| npy::read_word(reader, size))
    }

    fn with_member<T>(
        &mut self,
        member: &str,
        read: impl FnOnce(&mut dyn Read, u64) -> Result<T, NpyError>,
    ) -> Result<T, NpzError> {
        if !self.contains(member) {
            let found = self.names().take(16).map(|name| input::quote(name.as_bytes())).collect();
            return Err(NpzError::Missing { member: member.to_owned(), found });
        }
        let damaged = |error| NpzError::Damaged { member: member.to_owned(), error };
        let mut file = self.archive.by_name(&format!("{member}.npy")).map_err(damaged)?;
        let claim = file.size();
        let size = self.unpacked.saturating_add(claim);
        let allowed = most_unpacked(self.size);
        if size > allowed {
            return Err(NpzError::Bomb { member: member.to_owned(), size, allowed });
        }
        self.limits.check(size)?;
        self.unpacked = size;
        let value = read(&mut file.by_ref().take(claim), claim)
            .map_err(|error| NpzError::Member { member: member.to_owned(), error })?;
        // The checksum is compared at the end of the member, so the end is read as well.
        match file.read(&mut [0; 1]) {
            Ok(0) => Ok(value),
            Ok(_) => Err(NpzError::MemberSize { member: member.to_owned(), size: claim }),
            Err(error) => Err(damaged(ZipError::Io(error))),
        }
    }
}

/// Writes an archive of named arrays without compression; the same arrays give the same bytes.
///
/// # Errors
/// Those of the writer, and of names that occur twice.
pub fn write<'a>(
    writer: impl Write + io::Seek,
    arrays: impl IntoIterator<Item = (&'a str, &'a Array)>,
) -> io::Result<()> {
    let mut archive = ZipWriter::new(writer);
    for (name, array) in arrays {
        let large = array.as_bytes().len() as u64 >= u64::from(u32::MAX) - 1024;
        let options = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored).large_file(large);
        archive.start_file(format!("{name}.npy"), options)?;
        npy::write(&mut archive, array)?;
    }
    archive.finish()?;
    Ok(())
}
