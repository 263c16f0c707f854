//! `edge_index` arrays as PyTorch Geometric has them: `[2, E]`, row 0 the sources, row 1 the destinations.

use crate::graph::GraphFile;
use crate::limits::{TooSparse, WouldNotFit, check_nodes};
use crate::text_edges::{BYTES_PER_EDGE, BYTES_PER_ROW};
use crate::{Array, ArrayType, Csr, CsrError, Elements, Indices, Limits, NodeCounts, room};

/// Why an array is not the edges of a graph.
#[derive(Debug, thiserror::Error)]
pub enum EdgeIndexError {
    /// Another shape or type than edges have.
    #[error(
        "{found} of shape {shape:?} is no edge_index: expected integers of shape [2, E], row 0 the sources and row 1 \
         the destinations{}", if transposed(.shape) { "; this looks like its transpose" } else { "" }
    )]
    Kind {
        /// The type found.
        found: ArrayType,
        /// The shape found.
        shape: Vec<usize>,
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

fn transposed(shape: &[usize]) -> bool {
    matches!(shape, [_, 2])
}

/// The graph of an array that stood in a file of `size` bytes: column `e` is edge `e` of the input order. Without
/// `nodes` there are as many sources as destinations, the largest number plus one.
///
/// # Errors
/// [`EdgeIndexError`]; a node that is negative or not below the count is named with the edge that has it.
pub(crate) fn from_array(
    array: Array,
    size: u64,
    nodes: Option<NodeCounts>,
    limits: &Limits,
) -> Result<GraphFile, EdgeIndexError> {
    let (src, dst) = ends(array)?;
    let edges = src.len();
    let NodeCounts { sources, destinations } = match nodes {
        Some(nodes) => nodes,
        None => {
            let largest = src.iter().chain(dst.iter()).max().unwrap_or(-1);
            let nodes = u64::try_from(largest).map_or(0, |largest| largest + 1);
            check_nodes(nodes, size)?;
            NodeCounts::both(nodes)
        }
    };
    let rows = sources.max(destinations).saturating_mul(BYTES_PER_ROW);
    limits.check(rows.saturating_add(edges as u64 * BYTES_PER_EDGE))?;
    let (csr, input_order) = Csr::from_coo(&src, &dst, Some(sources as usize), Some(destinations as usize))?;
    Ok(GraphFile {
        csr,
        values: None,
        input_order,
        inputs: edges,
        names: None,
        first_id: 0,
        sized_by_ids: nodes.is_none(),
    })
}

/// The two rows.
fn ends(array: Array) -> Result<(Indices, Indices), EdgeIndexError> {
    let kind = EdgeIndexError::Kind { found: array.array_type(), shape: array.shape().to_vec() };
    let (shape, elements) = array.into_parts();
    let [2, edges] = shape[..] else { return Err(kind) };
    match elements {
        Elements::U8(bytes) => halves(room::collected(bytes.len(), bytes.into_iter().map(i32::from))?, edges),
        Elements::I32(both) => halves(both, edges),
        Elements::I64(both) => halves(both, edges),
        _ => Err(kind),
    }
}

/// What stands before and behind a position.
fn halves<T: Copy>(mut both: Vec<T>, at: usize) -> Result<(Indices, Indices), EdgeIndexError>
where
    Indices: From<Vec<T>>,
{
    let behind = room::collected(both.len() - at, both[at..].iter().copied())?;
    both.truncate(at);
    Ok((both.into(), behind.into()))
}
