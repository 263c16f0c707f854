//! Edge lists: `src dst` or `src dst value` a line, nodes numbered from 0 or named.

use crate::fields::{Delimiter, FieldError, FirstLine, fields, first_line};
use crate::graph::GraphFile;
use crate::input::{LineError, Lines, parse_position, quote};
use crate::limits::{TooSparse, WouldNotFit, check_nodes};
use crate::number::{NumberKind, Words};
use crate::text_edges::{BYTES_PER_EDGE, BYTES_PER_ROW, MAX_NODES, Mirror, TextEdges};
use crate::{CsrError, End, Limits, Names, NodeCounts, room};
use indexmap::IndexSet;
use std::io::BufRead;

/// Lines that begin so are skipped.
const COMMENTS: &[u8] = b"#%";

/// Why bytes are not an edge list. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum EdgeListError {
    /// The next line cannot be had.
    #[error(transparent)]
    Line(#[from] LineError),
    /// A line without the words it needs, or with more.
    #[error("line {line}: {found} words, expected {expected}")]
    Arity {
        /// The line.
        line: u64,
        /// Words on it.
        found: usize,
        /// The first edge decides whether there are values.
        expected: &'static str,
    },
    /// A node that is no number from 0 on, or that the graph does not have.
    #[error("line {line}: node `{found}`, expected an integer {}", below(*.count))]
    Node {
        /// The line.
        line: u64,
        /// The word.
        found: String,
        /// The number of nodes at this end.
        count: u64,
    },
    /// A name that is no text.
    #[error("line {line}: node `{found}` is not UTF-8")]
    Name {
        /// The line.
        line: u64,
        /// The word.
        found: String,
    },
    /// More names than nodes are numbered.
    #[error("line {line}: more than {MAX_NODES} names of nodes")]
    TooManyNames {
        /// The line.
        line: u64,
    },
    /// Fields that cannot be told apart.
    #[error("line {line}: {error}")]
    Field {
        /// The line.
        line: u64,
        /// Why.
        error: FieldError,
    },
    /// A header whose columns stand in another order than they are read in.
    #[error("line {line}: the header has the destination first; an edge is read as source destination")]
    Backwards {
        /// The line.
        line: u64,
    },
    /// A value that is no number.
    #[error("line {line}: `{found}` is not {expected}")]
    Value {
        /// The line.
        line: u64,
        /// The word.
        found: String,
        /// The kind of number.
        expected: &'static str,
    },
    /// The largest node number is far above what the file accounts for.
    #[error(transparent)]
    TooSparse(#[from] TooSparse),
    /// More memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// The edges are no graph.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// What an edge list does not say itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EdgeListOptions {
    /// The number of nodes; without it there is one set of them, as large as the largest number needs.
    pub nodes: Option<NodeCounts>,
    /// Whether nodes have names, any words: the first one is node 0, the next new one node 1. Then `nodes` says nothing.
    pub named: bool,
}

/// Reads a file of `size` bytes. Fields stand between semicolons, commas, tabs or spaces; `#` and `%` lines are comments,
/// and a first line of words with other signs than spaces between them, or of known ones, is a header; all edges have a
/// value or none has. Unless the options count them there are as many sources as destinations, the largest number plus
/// one, which may be a million and one a byte of the file.
///
/// # Errors
/// [`EdgeListError`]; nothing is skipped or repaired.
pub fn read(
    reader: impl BufRead,
    size: u64,
    options: &EdgeListOptions,
    limits: &Limits,
) -> Result<GraphFile, EdgeListError> {
    let mut lines = Lines::new(reader);
    let mut nodes = Nodes::of(options, limits);
    let mut edges: Option<TextEdges> = None;
    let mut first = true;
    let (mut delimiter, mut held) = (None, 0);
    while let Some((line, text)) = lines.next_content(COMMENTS)? {
        // A number is no number with another sign in it; a name may have any, and so has one sign between all.
        let delimiter = match options.named {
            true => *delimiter.get_or_insert_with(|| Delimiter::of(text, true)),
            false => Delimiter::of(text, false),
        };
        let fields = fields(text, delimiter).map_err(|error| EdgeListError::Field { line, error })?;
        if std::mem::take(&mut first) {
            match first_line(text, &fields, options.named) {
                FirstLine::Header => continue,
                FirstLine::Backwards => return Err(EdgeListError::Backwards { line }),
                FirstLine::Edge => {}
            }
        }
        if edges.is_none() {
            // How many edges follow is not known; lines like the first one are assumed.
            let with_value = fields.len() > 2;
            let guess = size / (text.len() as u64 + 1);
            limits.check(guess * (BYTES_PER_EDGE + BYTES_PER_ROW) + if with_value { size } else { 0 })?;
            edges = Some(TextEdges::new(with_value.then(Words::default)));
        }
        if let Some(edges) = &mut edges {
            read_edge(line, &fields, &mut nodes, edges)?;
            // The first line may have been no measure: what is held is looked at each time that it has doubled.
            if edges.bytes() > held {
                held = 2 * edges.bytes();
                limits.check(held)?;
            }
        }
    }
    let edges = edges.unwrap_or_else(|| TextEdges::new(None));
    let NodeCounts { sources, destinations } = match (&nodes, options.nodes) {
        (Nodes::Named { names, .. }, _) => NodeCounts::both(names.len() as u64),
        (Nodes::Numbered(_), Some(nodes)) => nodes,
        (Nodes::Numbered(_), None) => {
            let nodes = edges.num_nodes();
            check_nodes(nodes, size)?;
            NodeCounts::both(nodes)
        }
    };
    let rows = sources.max(destinations).saturating_mul(BYTES_PER_ROW);
    limits.check(rows.saturating_add(edges.len() as u64 * BYTES_PER_EDGE))?;
    let mut file = edges.into_graph(sources, destinations, Mirror::No)?;
    file.sized_by_ids = options.nodes.is_none() && !options.named;
    file.names = nodes.into_names()?;
    Ok(file)
}

/// How nodes are written.
enum Nodes<'l> {
    /// From 0, below these counts.
    Numbered(NodeCounts),
    /// By name; the position of a name is its node.
    Named { names: IndexSet<Box<str>>, bytes: u64, held: u64, limits: &'l Limits },
}

/// Memory that a name takes besides its own bytes, its places in the set and in the graph's text included.
const BYTES_PER_NAME: u64 = 64;

impl<'l> Nodes<'l> {
    fn of(options: &EdgeListOptions, limits: &'l Limits) -> Self {
        if options.named {
            return Nodes::Named { names: IndexSet::new(), bytes: 0, held: 0, limits };
        }
        let NodeCounts { sources, destinations } = options.nodes.unwrap_or(NodeCounts::both(MAX_NODES));
        Nodes::Numbered(NodeCounts { sources: sources.min(MAX_NODES), destinations: destinations.min(MAX_NODES) })
    }

    /// The node at an end of an edge.
    fn node(&mut self, line: u64, word: &[u8], end: End) -> Result<u64, EdgeListError> {
        match self {
            Nodes::Numbered(counts) => {
                let count = if end == End::Source { counts.sources } else { counts.destinations };
                let node = parse_position(word).filter(|node| *node < count);
                node.ok_or_else(|| EdgeListError::Node { line, found: quote(word), count })
            }
            Nodes::Named { names, bytes, held, limits } => {
                let name = std::str::from_utf8(word).map_err(|_| EdgeListError::Name { line, found: quote(word) })?;
                if let Some(node) = names.get_index_of(name) {
                    return Ok(node as u64);
                }
                if names.len() as u64 >= MAX_NODES {
                    return Err(EdgeListError::TooManyNames { line });
                }
                *bytes += BYTES_PER_NAME + 2 * name.len() as u64;
                if *bytes > *held {
                    *held = 2 * *bytes;
                    limits.check(*held)?;
                }
                names.try_reserve(1).map_err(|_| WouldNotFit::Refused { bytes: *bytes })?;
                Ok(names.insert_full(room::boxed(name)?).0 as u64)
            }
        }
    }

    fn into_names(self) -> Result<Option<Names>, WouldNotFit> {
        match self {
            Nodes::Numbered(_) => Ok(None),
            Nodes::Named { names, .. } => {
                let mut text = String::new();
                for name in names {
                    room::push_text(&mut text, &name)?;
                    room::push_text(&mut text, "\n")?;
                }
                Ok(Some(Names::from_lines(text)?))
            }
        }
    }
}

fn below(count: u64) -> String {
    count.checked_sub(1).map_or("of no node: there is none".into(), |last| format!("from 0 to {last}"))
}

fn read_edge(line: u64, fields: &[&[u8]], nodes: &mut Nodes<'_>, out: &mut TextEdges) -> Result<(), EdgeListError> {
    match (fields, &mut out.words) {
        ([_, _], None) => {}
        ([_, _, word], Some(values)) => {
            if !NumberKind::Real.accepts(word) {
                let expected = NumberKind::Real.describe();
                return Err(EdgeListError::Value { line, found: quote(word), expected });
            }
            values.push(word)?;
        }
        (_, values) => {
            let expected = if values.is_some() { "source destination value" } else { "source destination" };
            return Err(EdgeListError::Arity { line, found: fields.len(), expected });
        }
    }
    let src = nodes.node(line, fields[0], End::Source)?;
    let dst = nodes.node(line, fields[1], End::Destination)?;
    Ok(out.push(src, dst)?)
}
