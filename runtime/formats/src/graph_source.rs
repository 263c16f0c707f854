//! What `--graph` names: a file, an array in it, and what the file itself does not say.

use crate::edge_list::EdgeListOptions;
use crate::npz::Npz;
use crate::open::{extension, open_member};
use crate::{
    FileError, FileErrorKind, GraphFile, Limits, edge_index, edge_list, graph_npz, input, matrix_market, split_member,
};
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// How many nodes a graph has at either end; one set has the same number twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NodeCounts {
    /// Where edges begin.
    pub sources: u64,
    /// Where edges end.
    pub destinations: u64,
}

impl NodeCounts {
    /// The counts of a graph over one set of nodes.
    pub const fn both(nodes: u64) -> Self {
        Self { sources: nodes, destinations: nodes }
    }
}

/// The text is no `N` and no `N,M`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`:nodes={found}`: expected the number of nodes, or those of sources and of destinations as in `:nodes=3,5`")]
pub struct NotNodeCounts {
    /// What was found.
    found: String,
}

impl FromStr for NodeCounts {
    type Err = NotNodeCounts;

    fn from_str(text: &str) -> Result<Self, NotNodeCounts> {
        let bad = || NotNodeCounts { found: input::quote(text.as_bytes()) };
        let count = |word: &str| {
            let count = input::parse_position(word.as_bytes()).ok_or_else(bad)?;
            // What is counted in bytes must fit in 63 bits as well.
            if count < 1 << 59 { Ok(count) } else { Err(bad()) }
        };
        match text.split_once(',') {
            Some((sources, destinations)) => Ok(Self { sources: count(sources)?, destinations: count(destinations)? }),
            None => Ok(Self::both(count(text)?)),
        }
    }
}

/// Behind the name of a file: how many nodes the graph has.
const NODES: &str = ":nodes=";

/// A graph's file as a command line names it: `FILE[:MEMBER][:nodes=N[,M]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphSource {
    text: String,
    path: PathBuf,
    member: Option<String>,
    nodes: Option<NodeCounts>,
}

impl GraphSource {
    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads the graph; the format follows the ending of the file's name: `.mtx` is Matrix Market,
    /// `.txt .tsv .csv .edges .el` are edge lists, `.npz` is an archive of arrays, and `.npy` or a member of an archive
    /// is an array of edges.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn open(&self, limits: &Limits) -> Result<GraphFile, FileError> {
        self.read(limits).map_err(|kind| FileError { path: self.path.clone(), kind })
    }

    fn read(&self, limits: &Limits) -> Result<GraphFile, FileErrorKind> {
        let path = &*self.path;
        match (extension(path).as_str(), &self.member) {
            ("npy", _) | (_, Some(_)) => {
                let (array, size) = open_member(path, self.member.as_deref(), limits)?;
                Ok(edge_index::from_array(array, size, self.nodes, limits)?)
            }
            ("txt" | "tsv" | "csv" | "edges" | "el", None) => {
                let (reader, size) = input::open(path)?;
                Ok(edge_list::read(reader, size, &EdgeListOptions { nodes: self.nodes }, limits)?)
            }
            ("mtx" | "npz", None) if self.nodes.is_some() => Err(FileErrorKind::OwnNodes),
            ("mtx", None) => {
                let (reader, size) = input::open(path)?;
                Ok(matrix_market::read(reader, size, limits)?)
            }
            ("npz", None) => Ok(graph_npz::read(&mut Npz::open(path, limits)?)?),
            _ => Err(FileErrorKind::UnknownFormat { known: ".mtx, .npz, .npy, .txt, .tsv, .csv, .edges, .el" }),
        }
    }
}

impl From<&Path> for GraphSource {
    /// The file of this name, whatever signs are in it.
    fn from(path: &Path) -> Self {
        Self { text: path.to_string_lossy().into_owned(), path: path.to_owned(), member: None, nodes: None }
    }
}

impl FromStr for GraphSource {
    type Err = NotNodeCounts;

    fn from_str(text: &str) -> Result<Self, NotNodeCounts> {
        if Path::new(text).exists() {
            return Ok(Path::new(text).into());
        }
        let (file, nodes) = match text.rsplit_once(NODES) {
            Some((file, nodes)) => (file, Some(nodes.parse()?)),
            None => (text, None),
        };
        let (path, member) = split_member(file);
        Ok(Self { text: text.into(), path: path.into(), member: member.map(str::to_owned), nodes })
    }
}

impl fmt::Display for GraphSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
