//! What `--graph` names: a file, an array in it, and what the file itself does not say.

use crate::compressed::{self, Packing};
use crate::edge_list::EdgeListOptions;
use crate::input::{self, STANDARD_INPUT};
use crate::npz::Npz;
use crate::open::{extension, open_member};
use crate::{
    FileError, FileErrorKind, GraphFile, Limits, edge_index, edge_list, graph_npz, matrix_market, split_member,
};
use std::fmt;
use std::io::BufRead;
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

/// Why a text names no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GraphSourceError {
    /// Behind `:nodes=` stands no `N` and no `N,M`.
    #[error(
        "`:nodes={found}`: expected the number of nodes, or those of sources and of destinations as in `:nodes=3,5`"
    )]
    Nodes {
        /// What stands there.
        found: String,
    },
    /// Something else stands behind a file that there is.
    #[error("`:{found}`: behind a graph's file stand `:nodes=N` or `:names`, each once")]
    Option {
        /// What stands there.
        found: String,
    },
    /// Both options.
    #[error("`:names` and `:nodes` exclude each other: there are as many nodes as names")]
    Both,
}

impl FromStr for NodeCounts {
    type Err = GraphSourceError;

    fn from_str(text: &str) -> Result<Self, GraphSourceError> {
        let bad = || GraphSourceError::Nodes { found: input::quote(text.as_bytes()) };
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
/// Behind the name of an edge list: nodes have names.
const NAMES: &str = ":names";

/// A graph's file as a command line names it: `FILE[:MEMBER][:nodes=N[,M]]` or `FILE[:names]`; `-` is the standard input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GraphSource {
    text: String,
    path: PathBuf,
    member: Option<String>,
    options: EdgeListOptions,
}

impl GraphSource {
    /// The file; nothing for the standard input.
    pub fn path(&self) -> Option<&Path> {
        if self.is_standard_input() { None } else { Some(&self.path) }
    }

    /// Whether it is the standard input, which can be read once.
    pub fn is_standard_input(&self) -> bool {
        self.path == Path::new(STANDARD_INPUT)
    }

    /// Reads the graph; the format follows the ending of the file's name: `.mtx` is Matrix Market,
    /// `.txt .tsv .csv .edges .el` are edge lists, both also with `.gz` or `.zst` behind them; `.npz` is an archive of
    /// arrays, and `.npy` or an array in an archive (`.npz`, `.safetensors`) is one of edges. What comes by the standard
    /// input is Matrix Market if it begins so, else an edge list.
    ///
    /// # Errors
    /// [`FileError`].
    pub fn open(&self, limits: &Limits) -> Result<GraphFile, FileError> {
        self.read(limits).map_err(|kind| FileError { path: self.path.clone(), kind })
    }

    fn read(&self, limits: &Limits) -> Result<GraphFile, FileErrorKind> {
        if self.is_standard_input() {
            let (mut text, size) = input::standard_input(limits)?;
            if let Some(found) = input::known_format(text.get_ref()) {
                return Err(FileErrorKind::StandardInput { found, wanted: "text: Matrix Market, or an edge list" });
            }
            let format = if matrix_market::is_banner(text.fill_buf().unwrap_or_default()) { "mtx" } else { "el" };
            return self.read_text(format, text, size, limits);
        }
        let path = &*self.path;
        let ending = extension(path);
        if let Some(packing) = Packing::of(&ending) {
            let format = extension(Path::new(path.file_stem().unwrap_or_default()));
            if !is_text(&format) {
                return Err(FileErrorKind::UnknownPacked { known: KNOWN_TEXT });
            }
            let (text, size) = compressed::open(path, packing)?;
            return self.read_text(&format, text, size, limits);
        }
        match (ending.as_str(), &self.member) {
            ("npy" | "safetensors", _) | (_, Some(_)) => {
                self.refuse_names()?;
                let (array, size) = open_member(path, self.member.as_deref(), limits)?;
                Ok(edge_index::from_array(array, size, self.options.nodes, limits)?)
            }
            ("npz", None) => {
                self.refuse_names()?;
                self.refuse_nodes()?;
                Ok(graph_npz::read(&mut Npz::open(path, limits)?)?)
            }
            (text, None) if is_text(text) => {
                let (reader, size) = input::open(path)?;
                self.read_text(text, reader, size, limits)
            }
            _ => Err(FileErrorKind::UnknownFormat { known: KNOWN }),
        }
    }

    fn read_text(
        &self,
        format: &str,
        text: impl BufRead,
        size: u64,
        limits: &Limits,
    ) -> Result<GraphFile, FileErrorKind> {
        if format == "mtx" {
            self.refuse_names()?;
            self.refuse_nodes()?;
            return Ok(matrix_market::read(text, size, limits)?);
        }
        Ok(edge_list::read(text, size, &self.options, limits)?)
    }

    fn refuse_nodes(&self) -> Result<(), FileErrorKind> {
        if self.options.nodes.is_some() { Err(FileErrorKind::OwnNodes) } else { Ok(()) }
    }

    fn refuse_names(&self) -> Result<(), FileErrorKind> {
        if self.options.named { Err(FileErrorKind::NoNames) } else { Ok(()) }
    }
}

/// What a graph's file may end in.
const KNOWN: &str = ".mtx, .npz, .npy, .safetensors, .txt, .tsv, .csv, .edges, .el";
/// What it may end in before `.gz` or `.zst`.
const KNOWN_TEXT: &str = ".mtx, .txt, .tsv, .csv, .edges, .el";

fn is_text(extension: &str) -> bool {
    matches!(extension, "mtx" | "txt" | "tsv" | "csv" | "edges" | "el")
}

impl From<&Path> for GraphSource {
    /// The file of this name, whatever signs are in it; one of the name `-` is `./-`.
    fn from(path: &Path) -> Self {
        let text = path.to_string_lossy().into_owned();
        Self { text, path: path.to_owned(), member: None, options: EdgeListOptions::default() }
    }
}

impl FromStr for GraphSource {
    type Err = GraphSourceError;

    fn from_str(text: &str) -> Result<Self, GraphSourceError> {
        let mut options = EdgeListOptions::default();
        let mut file = text;
        while !Path::new(file).exists() {
            if let Some(rest) = file.strip_suffix(NAMES).filter(|_| !options.named) {
                (file, options.named) = (rest, true);
            } else if let Some((rest, nodes)) = file.rsplit_once(NODES).filter(|_| options.nodes.is_none()) {
                (file, options.nodes) = (rest, Some(nodes.parse()?));
            } else {
                break;
            }
        }
        if options.named && options.nodes.is_some() {
            return Err(GraphSourceError::Both);
        }
        let (path, member) = split_member(file);
        if let Some((before, option)) = file.rsplit_once(':')
            && member.is_none()
            && !Path::new(file).exists()
            && Path::new(before).is_file()
        {
            return Err(GraphSourceError::Option { found: input::quote(option.as_bytes()) });
        }
        Ok(Self { text: text.into(), path: path.into(), member: member.map(str::to_owned), options })
    }
}

impl fmt::Display for GraphSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
