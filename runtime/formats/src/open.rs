//! The front door: a file by its name.

use crate::compressed::UnpackError;
use crate::edge_index::EdgeIndexError;
use crate::edge_list::EdgeListError;
use crate::graph_npz::GraphNpzError;
use crate::input::{self, InputError, STANDARD_INPUT};
use crate::matrix_market::MatrixMarketError;
use crate::npy::NpyError;
use crate::npz::{Npz, NpzError};
use crate::safetensors::{Safetensors, SafetensorsError};
use crate::{Array, GraphFile, GraphSource, Limits, Names, WouldNotFit, WriteError, npy, npz, write_file};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// How many names of members an error repeats.
const MAX_NAMES: usize = 16;

/// A file is not what it should be.
#[derive(Debug, thiserror::Error)]
#[error("{}: {kind}", .path.display())]
pub struct FileError {
    /// The file.
    pub path: PathBuf,
    /// Why.
    pub kind: FileErrorKind,
}

/// Why a file is not what it should be.
#[derive(Debug, thiserror::Error)]
pub enum FileErrorKind {
    /// It cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// More memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// Not a Matrix Market file.
    #[error(transparent)]
    MatrixMarket(#[from] MatrixMarketError),
    /// Not an edge list.
    #[error(transparent)]
    EdgeList(#[from] EdgeListError),
    /// Not an array file.
    #[error(transparent)]
    Npy(#[from] NpyError),
    /// Not an archive, or not one with this member.
    #[error(transparent)]
    Npz(#[from] NpzError),
    /// Not a file of this kind, or not one with this array.
    #[error(transparent)]
    Safetensors(#[from] SafetensorsError),
    /// Not a graph in an archive.
    #[error(transparent)]
    GraphNpz(#[from] GraphNpzError),
    /// Not the edges of a graph.
    #[error(transparent)]
    EdgeIndex(#[from] EdgeIndexError),
    /// The standard input is something else than what is read there.
    #[error("the standard input is {found}; what is read there is {wanted}")]
    StandardInput {
        /// What its first bytes say.
        found: &'static str,
        /// What is read.
        wanted: &'static str,
    },
    /// `:nodes` for a file that says it.
    #[error("this kind of file says how many nodes there are: `:nodes` is for edge lists and edge_index arrays")]
    OwnNodes,
    /// `:names` for a file whose nodes are numbers.
    #[error("the nodes of this kind of file are numbers: `:names` is for edge lists")]
    NoNames,
    /// A compressed file that is not unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
    /// The name before `.gz` or `.zst` says no format that is unpacked.
    #[error("the name before its last ending ends in none of {known}, which are what is unpacked")]
    UnknownPacked {
        /// The endings that are.
        known: &'static str,
    },
    /// Names that are no text.
    #[error("is not UTF-8 from byte {at} on")]
    NotText {
        /// The first bad byte.
        at: usize,
    },
    /// Several arrays, and none was named.
    #[error("name one of its arrays as FILE:NAME; it has {}", .found.join(", "))]
    WhichMember {
        /// The names there are, at most 16 of them.
        found: Vec<String>,
    },
    /// An archive with nothing in it.
    #[error("holds no array")]
    NoMember,
    /// The name says no format.
    #[error("the name ends in none of {known}, so its format is not known")]
    UnknownFormat {
        /// The endings that say one.
        known: &'static str,
    },
}

/// Reads a graph from the file of this name; [`GraphSource`] says which formats there are.
///
/// # Errors
/// [`FileError`].
pub fn open_graph(path: &Path, limits: &Limits) -> Result<GraphFile, FileError> {
    GraphSource::from(path).open(limits)
}

/// Reads names, one a line.
///
/// # Errors
/// [`FileError`].
pub fn open_names(path: &Path, limits: &Limits) -> Result<Names, FileError> {
    let open = || -> Result<Names, FileErrorKind> {
        let (mut reader, size) = input::open(path)?;
        // The text, and where each line ends.
        limits.check(size.saturating_mul(1 + size_of::<usize>() as u64))?;
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).map_err(InputError::Io)?;
        let text = String::from_utf8(bytes);
        let text = text.map_err(|error| FileErrorKind::NotText { at: error.utf8_error().valid_up_to() })?;
        Ok(Names::from_lines(without_returns(text))?)
    };
    open().map_err(|kind| FileError { path: path.to_owned(), kind })
}

/// Reads an array: `-`, an .npy file by the standard input, `FILE.npy`, `FILE.npz:member` or `FILE.safetensors:member`, where the member may be left out if there
/// is one only.
///
/// # Errors
/// [`FileError`].
pub fn open_array(spec: &str, limits: &Limits) -> Result<Array, FileError> {
    let (path, member) = split_member(spec);
    let array = open_member(path, member, limits).map(|(array, _)| array);
    array.map_err(|kind| FileError { path: path.to_owned(), kind })
}

/// The array of a file, or one of those in an archive, and the size of the file.
pub(crate) fn open_member(path: &Path, member: Option<&str>, limits: &Limits) -> Result<(Array, u64), FileErrorKind> {
    if path == Path::new(STANDARD_INPUT) {
        let (reader, size) = input::standard_input(limits)?;
        let wanted = "an .npy file";
        if let Some(found) = input::known_format(reader.get_ref()).filter(|found| *found != wanted) {
            return Err(FileErrorKind::StandardInput { found, wanted });
        }
        return Ok((npy::read(reader, size, limits)?, size));
    }
    match extension(path).as_str() {
        "npy" => {
            let (reader, size) = input::open(path)?;
            limits.check(size)?;
            Ok((npy::read(reader, size, limits)?, size))
        }
        "npz" => {
            let mut npz = Npz::open(path, limits)?;
            let names: Vec<String> = npz.names().take(MAX_NAMES).map(str::to_owned).collect();
            let array = npz.array(&one_of(member, names)?)?;
            Ok((array, npz.size()))
        }
        "safetensors" => {
            let mut file = Safetensors::open(path, limits)?;
            let names: Vec<String> = file.names().take(MAX_NAMES).map(str::to_owned).collect();
            let array = file.array(&one_of(member, names)?)?;
            Ok((array, file.size()))
        }
        _ => Err(FileErrorKind::UnknownFormat { known: ".npy, .npz, .safetensors" }),
    }
}

/// The array asked for, or the only one there is.
fn one_of(member: Option<&str>, mut names: Vec<String>) -> Result<String, FileErrorKind> {
    match (member, names.len()) {
        (Some(member), _) => Ok(member.to_owned()),
        (None, 0) => Err(FileErrorKind::NoMember),
        (None, 1) => Ok(names.remove(0)),
        (None, _) => Err(FileErrorKind::WhichMember { found: names }),
    }
}

/// Whether a file holds several arrays, by its name.
pub(crate) fn is_archive(path: &Path) -> bool {
    matches!(extension(path).as_str(), "npz" | "safetensors")
}

/// The file and the array in it that `FILE.npz:NAME` or `FILE.safetensors:NAME` names, unless there is a file of that
/// whole name.
pub fn split_member(spec: &str) -> (&Path, Option<&str>) {
    let archive = |(at, _): &(usize, &str)| is_archive(Path::new(&spec[..*at]));
    match spec.match_indices(':').find(archive) {
        Some((at, _)) if !Path::new(spec).exists() => (Path::new(&spec[..at]), Some(&spec[at + 1..])),
        _ => (Path::new(spec), None),
    }
}

/// Writes a `.npy` file, whole or not at all.
///
/// # Errors
/// [`WriteError`]; a file that stood there is kept.
pub fn save_array(path: &Path, array: &Array) -> Result<(), WriteError> {
    write_file(path, |writer| npy::write(writer, array))
}

/// Writes a `.npz` archive, whole or not at all.
///
/// # Errors
/// [`WriteError`]; a file that stood there is kept.
pub fn save_arrays<'a>(path: &Path, arrays: impl IntoIterator<Item = (&'a str, &'a Array)>) -> Result<(), WriteError> {
    write_file(path, |writer| npz::write(writer, arrays))
}

/// The text with its lines ended as here, in the memory that it has.
fn without_returns(mut text: String) -> String {
    if !text.contains("\r\n") {
        return text;
    }
    // A return is dropped once it is seen that a line ends behind it, so it is the one before that stays or goes.
    let mut bytes = std::mem::take(&mut text).into_bytes();
    let mut kept = 0;
    for at in 0..bytes.len() {
        if bytes[at] == b'\n' && at > 0 && bytes[at - 1] == b'\r' {
            kept -= 1;
        }
        bytes[kept] = bytes[at];
        kept += 1;
    }
    bytes.truncate(kept);
    String::from_utf8(bytes).expect("a text without some of its returns is one")
}

/// The ending of a file's name in small letters, without its dot.
pub(crate) fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
