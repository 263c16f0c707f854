//! Why a bundle is refused.

use crate::check::Mismatch;
use std::io;
use tiga_plan::TemplateError;
use tiga_plan::json::JsonError;
use zip::result::ZipError;

/// A file is not a bundle that can be used.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The file cannot be read.
    #[error("cannot read the bundle: {0}")]
    Io(#[from] io::Error),
    /// The file has no bytes.
    #[error("the bundle is empty")]
    Empty,
    /// The file is larger than any bundle.
    #[error("the bundle has {found} bytes, at most {limit} are read")]
    TooLarge {
        /// Its size, or the first size beyond the limit.
        found: u64,
        /// What is read.
        limit: u64,
    },
    /// Something else than an archive.
    #[error("not a bundle: it begins with {:?}, an archive with \"PK\\u{{3}}\\u{{4}}\"", String::from_utf8_lossy(.found))]
    NotZip {
        /// The first bytes.
        found: Vec<u8>,
    },
    /// The end of the archive is missing.
    #[error("the bundle is cut off: no end record in the last bytes of {len}")]
    Truncated {
        /// Its size.
        len: u64,
    },
    /// An archive that no Tiga compiler made.
    #[error("an archive, but not a bundle: its comment is {found:?}")]
    NotBundle {
        /// The start of its comment.
        found: String,
    },
    /// A version of the format that this program does not read.
    #[error("the bundle has format {found}, this program reads format {known}")]
    Version {
        /// The version found.
        found: String,
        /// The version read.
        known: u32,
    },
    /// The archive's directory is broken.
    #[error("the bundle's directory is broken: {0}")]
    Directory(#[source] ZipError),
    /// Two entries of one name.
    #[error("two entries of the bundle have the same name")]
    Duplicate,
    /// A name that could leave the bundle, such as `../x` or `/x`.
    #[error("the entry name {name:?} is not allowed")]
    UnsafeName {
        /// The name.
        name: String,
    },
    /// An entry that belongs in no bundle.
    #[error("the bundle has an entry `{name}` that it does not mention")]
    UnknownEntry {
        /// The name.
        name: String,
    },
    /// An entry that is mentioned but not there.
    #[error("the bundle has no entry `{name}`")]
    MissingEntry {
        /// The name.
        name: String,
    },
    /// An entry that is not stored as it is.
    #[error("the entry `{name}` is compressed ({method}); entries of a bundle are stored")]
    Compressed {
        /// The name.
        name: String,
        /// The method.
        method: String,
    },
    /// An entry that needs a password.
    #[error("the entry `{name}` is encrypted")]
    Encrypted {
        /// The name.
        name: String,
    },
    /// An entry that claims more bytes than there are.
    #[error("the entry `{name}` claims {claimed} bytes at offset {start} of a file of {len}")]
    Size {
        /// The name.
        name: String,
        /// The size it claims.
        claimed: u64,
        /// Where its data starts.
        start: u64,
        /// The size of the file.
        len: u64,
    },
    /// Two entries share bytes.
    #[error("entries of the bundle overlap")]
    Overlap,
    /// An entry whose data starts at the wrong place.
    #[error("the entry `{name}` starts at offset {start}, not at a multiple of 64")]
    Misaligned {
        /// The name.
        name: String,
        /// Where its data starts.
        start: u64,
    },
    /// An entry does not have the bytes that the list of checksums says.
    #[error("the entry `{name}` is damaged: its SHA-256 is {found}, the bundle says {expected}")]
    Checksum {
        /// The name.
        name: String,
        /// Computed from its bytes.
        found: String,
        /// Written in the bundle.
        expected: String,
    },
    /// The entries are whole, but something between them is not.
    #[error("the bundle is damaged outside its entries: its SHA-256 is {found}, its comment says {expected}")]
    Outside {
        /// Computed from the file.
        found: String,
        /// Written in the comment.
        expected: String,
    },
    /// The list of checksums is not one.
    #[error("line {line} of `sha256.txt` is not a checksum and a name in order")]
    List {
        /// The line, from 1.
        line: usize,
    },
    /// An entry that must be text is not UTF-8.
    #[error("the entry `{name}` is not UTF-8 text")]
    NotText {
        /// The name.
        name: String,
    },
    /// The manifest is not as the format says.
    #[error("the manifest is wrong {0}")]
    Manifest(#[source] JsonError),
    /// A plan is not as the format says.
    #[error("the plan `{name}` is wrong: {source}")]
    Plan {
        /// The entry.
        name: String,
        /// Why.
        source: TemplateError,
    },
    /// Manifest, plans and entries do not fit together.
    #[error(transparent)]
    Mismatch(#[from] Mismatch),
}

/// A bundle cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file cannot be written.
    #[error("cannot write the bundle: {0}")]
    Io(#[from] io::Error),
    /// The archive cannot be made.
    #[error("cannot make the archive: {0}")]
    Zip(#[from] ZipError),
    /// The result would not be read again.
    #[error("the bundle would be refused: {0}")]
    Refused(#[source] Box<BundleError>),
}
