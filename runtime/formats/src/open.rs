//! The front door: a file by its name.

use crate::edge_list::EdgeListError;
use crate::input::{self, InputError};
use crate::matrix_market::MatrixMarketError;
use crate::npy::NpyError;
use crate::{Array, GraphFile, Limits, WouldNotFit, WriteError, edge_list, matrix_market, npy, write_file};
use std::path::{Path, PathBuf};

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
    /// The name says no format.
    #[error("the name ends in none of {known}, so its format is not known")]
    UnknownFormat {
        /// The endings that say one.
        known: &'static str,
    },
}

/// Reads a graph; the format follows the ending of the name: `.mtx` is Matrix
/// Market, `.txt .tsv .csv .edges .el` are edge lists.
///
/// # Errors
/// [`FileError`].
pub fn open_graph(path: &Path, limits: &Limits) -> Result<GraphFile, FileError> {
    let open = || -> Result<GraphFile, FileErrorKind> {
        match extension(path).as_str() {
            "mtx" => {
                let (reader, size) = input::open(path)?;
                Ok(matrix_market::read(reader, size, limits)?)
            }
            "txt" | "tsv" | "csv" | "edges" | "el" => {
                let (reader, size) = input::open(path)?;
                Ok(edge_list::read(reader, size, limits)?)
            }
            _ => Err(FileErrorKind::UnknownFormat { known: ".mtx, .txt, .tsv, .csv, .edges, .el" }),
        }
    };
    open().map_err(|kind| FileError { path: path.to_owned(), kind })
}

/// Reads an array: `FILE.npy`.
///
/// # Errors
/// [`FileError`].
pub fn open_array(spec: &str, limits: &Limits) -> Result<Array, FileError> {
    let path = Path::new(spec);
    let open = || -> Result<Array, FileErrorKind> {
        match extension(path).as_str() {
            "npy" => {
                let (reader, size) = input::open(path)?;
                limits.check(size)?;
                Ok(npy::read(reader, size)?)
            }
            _ => Err(FileErrorKind::UnknownFormat { known: ".npy" }),
        }
    };
    open().map_err(|kind| FileError { path: path.to_owned(), kind })
}

/// Writes a `.npy` file, whole or not at all.
///
/// # Errors
/// [`WriteError`]; a file that stood there is kept.
pub fn save_array(path: &Path, array: &Array) -> Result<(), WriteError> {
    write_file(path, |writer| npy::write(writer, array))
}

fn extension(path: &Path) -> String {
    path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default()
}
