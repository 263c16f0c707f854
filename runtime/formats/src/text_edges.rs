//! What Matrix Market and edge lists share: edges read line by line, then sorted into a graph.

use crate::graph::{EdgeValues, GraphFile, TextValues};
use crate::number::Words;
use crate::{Csr, CsrError, Indices, WouldNotFit, room};

/// Node numbers of text files stay below this: the other formats serve larger graphs.
pub(crate) const MAX_NODES: u64 = i32::MAX as u64;
/// Bytes of memory that one edge takes while it is read and sorted: both ends, order, column.
pub(crate) const BYTES_PER_EDGE: u64 = 16;
/// Bytes of memory that one row takes: its start.
pub(crate) const BYTES_PER_ROW: u64 = 8;

/// One edge a line, as it stands in the file.
pub(crate) struct TextEdges {
    src: Vec<i32>,
    dst: Vec<i32>,
    pub(crate) words: Option<Words>,
}

/// Which lines stand for two edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mirror {
    /// None.
    No,
    /// Those off the diagonal, with the same value.
    Same,
    /// Those off the diagonal, with the negated value.
    Negated,
}

impl TextEdges {
    /// No edge yet; `words` if each is to have a value.
    pub(crate) fn new(words: Option<Words>) -> Self {
        Self { src: Vec::new(), dst: Vec::new(), words }
    }

    /// Adds an edge between nodes below [`MAX_NODES`].
    pub(crate) fn push(&mut self, src: u64, dst: u64) -> Result<(), WouldNotFit> {
        room::push(&mut self.src, src as i32)?;
        room::push(&mut self.dst, dst as i32)
    }

    /// The number of lines.
    pub(crate) fn len(&self) -> usize {
        self.src.len()
    }

    /// Bytes that are held while lines are read.
    pub(crate) fn bytes(&self) -> u64 {
        8 * self.len() as u64 + self.words.as_ref().map_or(0, Words::bytes)
    }

    /// The largest node number plus one.
    pub(crate) fn num_nodes(&self) -> u64 {
        self.src.iter().chain(&self.dst).max().map_or(0, |max| u64::from(max.unsigned_abs()) + 1)
    }

    /// The graph. Mirrored edges follow all lines of the file, in the file's order, before sorting by destination.
    pub(crate) fn into_graph(mut self, num_src: u64, num_dst: u64, mirror: Mirror) -> Result<GraphFile, CsrError> {
        let lines = self.len();
        let mut mirrored = Vec::new();
        if mirror != Mirror::No {
            let off_diagonal = |line: &usize| self.src[*line] != self.dst[*line];
            let more = (0..lines).filter(off_diagonal).count();
            mirrored = room::collected(more, (0..lines).filter(off_diagonal))?;
            room::make(&mut self.src, more)?;
            room::make(&mut self.dst, more)?;
            for &line in &mirrored {
                let (src, dst) = (self.src[line], self.dst[line]);
                self.src.push(dst);
                self.dst.push(src);
            }
        }
        let (src, dst) = (Indices::I32(self.src), Indices::I32(self.dst));
        let (csr, mut input_order) = Csr::from_coo(&src, &dst, Some(num_src as usize), Some(num_dst as usize))?;
        for edge in 0..input_order.len() {
            if let Some(position) = input_order.at(edge).checked_sub(lines) {
                input_order.set(edge, mirrored[position]);
            }
        }
        let negate_above_diagonal = mirror == Mirror::Negated;
        let values = self.words.map(|words| EdgeValues::Text(TextValues { words, negate_above_diagonal }));
        Ok(GraphFile { csr, values, input_order, inputs: lines, names: None, first_id: 0, sized_by_ids: false })
    }
}
