//! Edge lists: `src dst` or `src dst value` a line, nodes numbered from 0.

use crate::graph::GraphFile;
use crate::input::{LineError, Lines, parse_position, quote, words};
use crate::limits::{TooSparse, WouldNotFit, check_nodes};
use crate::number::{NumberKind, Words};
use crate::text_edges::{BYTES_PER_EDGE, BYTES_PER_ROW, MAX_NODES, Mirror, TextEdges};
use crate::{CsrError, Limits, NodeCounts};
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
}

/// Reads a file of `size` bytes. Words stand between spaces, tabs or commas; `#` and `%` lines are comments; all edges
/// have a value or none has. Unless the options count them there are as many sources as destinations, the largest number
/// plus one, which may be a million and one a byte of the file.
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
    let mut edges: Option<TextEdges> = None;
    let NodeCounts { sources, destinations } = options.nodes.unwrap_or(NodeCounts::both(MAX_NODES));
    let counts = NodeCounts { sources: sources.min(MAX_NODES), destinations: destinations.min(MAX_NODES) };
    while let Some((line, text)) = lines.next_content(COMMENTS)? {
        if edges.is_none() {
            // How many edges follow is not known; lines like the first one are assumed.
            let with_value = words(text, is_separator).count() > 2;
            let guess = size / (text.len() as u64 + 1);
            limits.check(guess * (BYTES_PER_EDGE + BYTES_PER_ROW) + if with_value { size } else { 0 })?;
            edges = Some(TextEdges::new(with_value.then(Words::default)));
        }
        if let Some(edges) = &mut edges {
            read_edge(line, text, counts, edges)?;
        }
    }
    let edges = edges.unwrap_or_else(|| TextEdges::new(None));
    let NodeCounts { sources, destinations } = match options.nodes {
        Some(nodes) => nodes,
        None => {
            let nodes = edges.num_nodes();
            check_nodes(nodes, size)?;
            NodeCounts::both(nodes)
        }
    };
    let rows = sources.max(destinations).saturating_mul(BYTES_PER_ROW);
    limits.check(rows.saturating_add(edges.len() as u64 * BYTES_PER_EDGE))?;
    Ok(edges.into_graph(sources, destinations, Mirror::No)?)
}

fn below(count: u64) -> String {
    count.checked_sub(1).map_or("of no node: there is none".into(), |last| format!("from 0 to {last}"))
}

fn read_edge(line: u64, text: &[u8], counts: NodeCounts, out: &mut TextEdges) -> Result<(), EdgeListError> {
    let found: Vec<&[u8]> = words(text, is_separator).take(4).collect();
    match (&found[..], &mut out.words) {
        ([_, _], None) => {}
        ([_, _, word], Some(values)) => {
            if !NumberKind::Real.accepts(word) {
                let expected = NumberKind::Real.describe();
                return Err(EdgeListError::Value { line, found: quote(word), expected });
            }
            values.push(word);
        }
        (_, values) => {
            let expected = if values.is_some() { "source destination value" } else { "source destination" };
            return Err(EdgeListError::Arity { line, found: found.len(), expected });
        }
    }
    let node = |word: &[u8], count: u64| {
        let node = parse_position(word).filter(|node| *node < count);
        node.ok_or_else(|| EdgeListError::Node { line, found: quote(word), count })
    };
    out.push(node(found[0], counts.sources)?, node(found[1], counts.destinations)?);
    Ok(())
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b','
}
