//! Graphs and arrays in files: what `tigac eval` and the runtime read and write.
//!
//! Every byte is untrusted: a reader gives a value that keeps its laws or a typed error that says where, what was found
//! and what was expected. Memory follows the size of the file, never a claim in it.

mod array;
mod atomic;
mod compare;
mod compressed;
mod convert;
mod csr;
mod decode;
mod edge_index;
pub mod edge_list;
mod fields;
mod graph;
mod graph_npz;
mod graph_source;
mod indices;
mod input;
mod interrupt;
mod limits;
pub mod matrix_market;
mod named;
mod names;
pub mod npy;
pub mod npz;
mod number;
mod open;
mod room;
pub mod safetensors;
mod scalar;
mod text_edges;
mod tsv;

pub use array::{Array, ArrayError, ArrayType, Elements, element_count};
pub use atomic::{
    WriteError, WriteErrorKind, WriteSeek, check_result_target, check_writable, file_identity, is_table, write_file,
};
pub use compare::{Comparison, Pair, ShapesDiffer, Tolerance, compare};
pub use compressed::{Packing, UnpackError};
pub use convert::{Conversion, ConvertError};
pub use csr::{Csr, CsrError, End};
pub use edge_index::EdgeIndexError;
pub use fields::FieldError;
pub use graph::{GraphFile, ValuesError};
pub use graph_npz::GraphNpzError;
pub use graph_source::{GraphSource, GraphSourceError, NodeCounts};
pub use indices::Indices;
pub use input::{InputError, LineError};
pub use interrupt::remove_unfinished_on_signals;
pub use limits::{Limits, OverLimit, TooSparse, WouldNotFit};
pub use named::{
    Counted, INPUT_ORDER, INPUTS_HELP, Named, NotCounted, NotNamed, StandardInputTwice, array_path,
    check_standard_input, is_array_file, whole_number,
};
pub use names::Names;
pub use number::{NotOfType, NumberError, parse_number};
pub use open::{FileError, FileErrorKind, open_array, open_graph, open_names, save_array, save_arrays, split_member};
pub use scalar::Scalar;
pub use tsv::{RowIds, save_table};
