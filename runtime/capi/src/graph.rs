//! Graphs from the host's arrays.
#![allow(unsafe_code)]

use crate::border::{free, give, guarded, handle, slice};
use crate::error::tiga_error;
use crate::status::{Failure, tiga_status};
use std::ffi::c_void;
use tiga_formats::{Csr, Indices, Limits};
use tiga_runtime::Graph;

/// A checked graph. Made by tiga_graph_from_csr or tiga_graph_from_coo, ended by tiga_graph_free. May be shared by
/// threads and by calls; a call that it is bound to keeps it alive.
pub struct tiga_graph {
    pub(crate) graph: Graph,
}

/// Makes a graph from rows by destination: row i holds the edges into destination i.
///
/// row_ptr: [num_dst + 1] where each row begins in col; the last element is num_edges.
/// col: [num_edges] the source of each edge, of type index_type: TIGA_I32 or TIGA_I64.
///
/// The arrays are checked and copied: they may go when this returns, and what was checked stays true. An edge field has
/// its elements in the order of col. Errors: TIGA_GRAPH says which element is wrong; TIGA_WIDE_COLUMNS; TIGA_MEMORY.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_from_csr(
    num_src: usize,
    num_dst: usize,
    num_edges: usize,
    row_ptr: *const i64,
    col: *const c_void,
    index_type: i32,
    out: *mut *mut tiga_graph,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        let rows = num_dst.checked_add(1).ok_or_else(|| Failure::argument("`num_dst` is too large"))?;
        // SAFETY: the arrays hold what the sizes say, by the contract of the call.
        let row_ptr = unsafe { slice(row_ptr, rows, "row_ptr") }?;
        // SAFETY: as above.
        let col = unsafe { Ends::read(col, num_edges, index_type, "col") }?;
        room(8 * (rows as u64) + col.bytes())?;
        let csr = Csr::from_csr(row_ptr.to_vec(), col.copied(), Some(num_src))?;
        Ok(tiga_graph { graph: Graph::new(&csr)? })
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// Makes a graph from the two ends of each edge, in any order.
///
/// src, dst: [num_edges] the ends, of type index_type: TIGA_I32 or TIGA_I64.
/// order: [num_edges] is filled with the input position of each edge of the graph: an edge field for the graph is
/// field[i] = yours[order[i]]. May be null; within a destination edges keep their order.
///
/// The arrays are checked and copied. Errors: as for tiga_graph_from_csr.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_from_coo(
    num_src: usize,
    num_dst: usize,
    num_edges: usize,
    src: *const c_void,
    dst: *const c_void,
    index_type: i32,
    order: *mut i64,
    out: *mut *mut tiga_graph,
    error: *mut *mut tiga_error,
) -> tiga_status {
    let make = || {
        // SAFETY: the arrays hold what the sizes say, by the contract of the call.
        let src = unsafe { Ends::read(src, num_edges, index_type, "src") }?;
        // SAFETY: as above.
        let dst = unsafe { Ends::read(dst, num_edges, index_type, "dst") }?;
        let rows = (num_dst as u64).saturating_add(2).saturating_mul(8);
        room(rows.saturating_add(3 * src.bytes()).saturating_add(8 * num_edges as u64))?;
        let (csr, positions) = Csr::from_coo(&src.copied(), &dst.copied(), Some(num_src), Some(num_dst))?;
        let graph = Graph::new(&csr)?;
        if !order.is_null() {
            for (edge, position) in positions.iter().enumerate() {
                // SAFETY: `order` holds `num_edges` numbers, by the contract of the call.
                unsafe { order.add(edge).write_unaligned(position) };
            }
        }
        Ok(tiga_graph { graph })
    };
    // SAFETY: by the contract of the call.
    unsafe { guarded(error, || give(out, "out", make)) }
}

/// The number of sources; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_num_src(graph: *const tiga_graph) -> usize {
    // SAFETY: null, or a graph that lives, by the contract of the call.
    unsafe { handle(graph, "graph") }.map_or(0, |graph| graph.graph.num_src())
}

/// The number of destinations; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_num_dst(graph: *const tiga_graph) -> usize {
    // SAFETY: null, or a graph that lives, by the contract of the call.
    unsafe { handle(graph, "graph") }.map_or(0, |graph| graph.graph.num_dst())
}

/// The number of edges; 0 for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_num_edges(graph: *const tiga_graph) -> usize {
    // SAFETY: null, or a graph that lives, by the contract of the call.
    unsafe { handle(graph, "graph") }.map_or(0, |graph| graph.graph.num_edges())
}

/// Ends a graph; nothing happens for null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tiga_graph_free(graph: *mut tiga_graph) {
    // SAFETY: by the contract of the call.
    unsafe { free(graph) };
}

/// One end of each edge, in the host's memory.
enum Ends<'a> {
    Narrow(&'a [i32]),
    Wide(&'a [i64]),
}

impl<'a> Ends<'a> {
    unsafe fn read(data: *const c_void, len: usize, index_type: i32, what: &str) -> Result<Self, Failure> {
        if index_type == crate::tiga_dtype::TIGA_I32 as i32 {
            // SAFETY: the contract of the caller.
            Ok(Ends::Narrow(unsafe { slice(data.cast(), len, what) }?))
        } else if index_type == crate::tiga_dtype::TIGA_I64 as i32 {
            // SAFETY: as above.
            Ok(Ends::Wide(unsafe { slice(data.cast(), len, what) }?))
        } else {
            Err(Failure::argument(format!("`index_type` is {index_type}, expected TIGA_I32 or TIGA_I64")))
        }
    }

    fn bytes(&self) -> u64 {
        match self {
            Ends::Narrow(ends) => size_of_val(*ends) as u64,
            Ends::Wide(ends) => size_of_val(*ends) as u64,
        }
    }

    fn copied(&self) -> Indices {
        match self {
            Ends::Narrow(ends) => Indices::I32(ends.to_vec()),
            Ends::Wide(ends) => Indices::I64(ends.to_vec()),
        }
    }
}

/// Refuses copies that need more memory than there is.
fn room(bytes: u64) -> Result<(), Failure> {
    Limits::room_for(bytes).map_err(|short| Failure::new(tiga_status::TIGA_MEMORY, short.to_string()))
}
