//! Graphs and arrays in files: what `tigac eval` and the runtime read and write.
//!
//! Every byte is untrusted: a reader gives a value that keeps its laws or a typed error that says where, what was found
//! and what was expected. Memory follows the size of the file, never a claim in it.

mod array;
mod atomic;
mod csr;
pub mod edge_list;
mod graph;
mod indices;
mod input;
mod limits;
pub mod matrix_market;
mod names;
pub mod npy;
mod number;
mod open;
mod text_edges;

pub use array::{Array, ArrayError, ArrayType, Elements, element_count};
pub use atomic::{WriteError, WriteErrorKind, remove_unfinished, write_file};
pub use csr::{Csr, CsrError, End};
pub use graph::{GraphFile, ValuesError};
pub use indices::Indices;
pub use input::{InputError, LineError};
pub use limits::{Limits, TooSparse, WouldNotFit};
pub use names::Names;
pub use number::NotOfType;
pub use open::{FileError, FileErrorKind, open_array, open_graph, save_array};
