//! Matrix Market coordinate files: entry `(i, j)` is the edge `j -> i`, so that the sum of a row's messages is `A x`.

use crate::graph::GraphFile;
use crate::input::{LineError, Lines, parse_position, quote, words};
use crate::limits::{TooSparse, WouldNotFit, check_nodes};
use crate::number::{NumberKind, Words};
use crate::text_edges::{BYTES_PER_EDGE, BYTES_PER_ROW, MAX_NODES, Mirror, TextEdges};
use crate::{CsrError, Limits};
use std::io::BufRead;

const BANNER: &[u8] = b"%%MatrixMarket";
/// Lines that begin so are skipped.
const COMMENT: &[u8] = b"%";
/// The bytes of the shortest entry, `1 1` and its line end.
const MIN_ENTRY: u64 = 4;

/// Why bytes are not a graph in this format. Lines count from 1.
#[derive(Debug, thiserror::Error)]
pub enum MatrixMarketError {
    /// The next line cannot be had.
    #[error(transparent)]
    Line(#[from] LineError),
    /// The first line is not a banner.
    #[error("line 1: expected `%%MatrixMarket matrix coordinate <field> <symmetry>`, found `{found}`")]
    Banner {
        /// The beginning of the line.
        found: String,
    },
    /// A kind of file the format has and this reader has not.
    #[error("line 1: `{found}` files are not read; expected one of {expected}")]
    Unsupported {
        /// The word of the banner.
        found: String,
        /// What is read in its place.
        expected: &'static str,
    },
    /// The file ends before its size line.
    #[error("line {line}: the file ends before its size line")]
    NoSizeLine {
        /// The last line.
        line: u64,
    },
    /// The size line does not hold three sizes.
    #[error("line {line}: expected `rows columns entries`, found `{found}`")]
    SizeLine {
        /// The line.
        line: u64,
        /// Its beginning.
        found: String,
    },
    /// More nodes than the reader numbers.
    #[error("line {line}: {found} rows or columns, at most {MAX_NODES} are read")]
    TooManyNodes {
        /// The line.
        line: u64,
        /// The extent.
        found: u64,
    },
    /// A symmetric matrix that is not square.
    #[error("line {line}: a symmetric matrix of {rows} rows and {columns} columns")]
    NotSquare {
        /// The line.
        line: u64,
        /// Rows.
        rows: u64,
        /// Columns.
        columns: u64,
    },
    /// More entries than a file of this size can hold.
    #[error("line {line}: claims {claimed} entries, the file holds at most {possible}")]
    Claim {
        /// The size line.
        line: u64,
        /// Its third number.
        claimed: u64,
        /// What the size of the file allows.
        possible: u64,
    },
    /// Far more nodes than the file accounts for.
    #[error(transparent)]
    TooSparse(#[from] TooSparse),
    /// More memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// An entry without the words it needs, or with more.
    #[error("line {line}: {found} words, expected {expected}")]
    Arity {
        /// The line.
        line: u64,
        /// Words on it.
        found: usize,
        /// `row column` or `row column value`.
        expected: &'static str,
    },
    /// A position that is no number or outside the matrix.
    #[error("line {line}: {what} `{found}`, expected 1 to {limit}")]
    Position {
        /// The line.
        line: u64,
        /// `row` or `column`.
        what: &'static str,
        /// The word.
        found: String,
        /// The extent.
        limit: u64,
    },
    /// A value that is not a number of the file's field.
    #[error("line {line}: `{found}` is not {expected}")]
    Value {
        /// The line.
        line: u64,
        /// The word.
        found: String,
        /// The kind of number.
        expected: &'static str,
    },
    /// A symmetric file stores the lower triangle, a skew-symmetric one without the diagonal.
    #[error(
        "line {line}: row {row}, column {column} is not below the diagonal, where a symmetric file has its entries"
    )]
    Triangle {
        /// The line.
        line: u64,
        /// Row, from 1.
        row: u64,
        /// Column, from 1.
        column: u64,
    },
    /// The file ends early.
    #[error("line {line}: the file ends after {found} of {expected} entries")]
    TooFew {
        /// The last line.
        line: u64,
        /// Entries read.
        found: u64,
        /// Entries claimed.
        expected: u64,
    },
    /// Something follows the last entry.
    #[error("line {line}: more than the {expected} entries that the size line claims")]
    TooMany {
        /// The line.
        line: u64,
        /// Entries claimed.
        expected: u64,
    },
    /// The entries are no graph.
    #[error(transparent)]
    Csr(#[from] CsrError),
}

/// Reads a file of `size` bytes: `coordinate`, `real integer pattern`, `general symmetric skew-symmetric`. Symmetric
/// entries off the diagonal become two edges; `%` lines are comments; lines end at 64 KiB.
///
/// # Errors
/// [`MatrixMarketError`]; nothing is skipped or repaired.
pub fn read(reader: impl BufRead, size: u64, limits: &Limits) -> Result<GraphFile, MatrixMarketError> {
    let mut lines = Lines::new(reader);
    let banner = Banner::read(lines.next()?.map_or(&[], |(_, line)| line))?;
    let extent = Extent::read(&mut lines, &banner, size)?;
    let edges = extent.entries * if banner.mirror == Mirror::No { 1 } else { 2 };
    let text = if banner.field.is_some() { size } else { 0 };
    limits.check(BYTES_PER_ROW * (extent.rows + 1) + BYTES_PER_EDGE * edges + text)?;
    let mut out = TextEdges::new(banner.field.map(|_| Words::default()));
    for found in 0..extent.entries {
        let Some((number, line)) = lines.next_content(COMMENT)? else {
            return Err(MatrixMarketError::TooFew { line: lines.number(), found, expected: extent.entries });
        };
        read_entry(number, line, &banner, &extent, &mut out)?;
    }
    if let Some((line, _)) = lines.next_content(COMMENT)? {
        return Err(MatrixMarketError::TooMany { line, expected: extent.entries });
    }
    let file = out.into_graph(extent.columns, extent.rows, banner.mirror)?;
    Ok(GraphFile { first_id: 1, ..file })
}

/// Whether bytes begin as a file in this format does.
pub(crate) fn is_banner(bytes: &[u8]) -> bool {
    bytes.get(..BANNER.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(BANNER))
}

/// What the first line says.
struct Banner {
    /// The kind of value; none in a `pattern` file.
    field: Option<NumberKind>,
    mirror: Mirror,
}

impl Banner {
    fn read(line: &[u8]) -> Result<Self, MatrixMarketError> {
        let lower = line.to_ascii_lowercase();
        let found: Vec<&[u8]> = words(&lower, is_space).collect();
        let [b"%%matrixmarket", object, format, field, symmetry] = found[..] else {
            return Err(MatrixMarketError::Banner { found: quote(line) });
        };
        let unsupported = |word: &[u8], expected| Err(MatrixMarketError::Unsupported { found: quote(word), expected });
        if object != b"matrix" {
            return unsupported(object, "matrix");
        }
        if format != b"coordinate" {
            return unsupported(format, "coordinate");
        }
        let field = match field {
            b"real" => Some(NumberKind::Real),
            b"integer" => Some(NumberKind::Integer),
            b"pattern" => None,
            _ => return unsupported(field, "real, integer, pattern"),
        };
        let mirror = match symmetry {
            b"general" => Mirror::No,
            b"symmetric" => Mirror::Same,
            b"skew-symmetric" => Mirror::Negated,
            _ => return unsupported(symmetry, "general, symmetric, skew-symmetric"),
        };
        Ok(Self { field, mirror })
    }
}

/// What the size line says.
struct Extent {
    rows: u64,
    columns: u64,
    entries: u64,
}

impl Extent {
    fn read(lines: &mut Lines<impl BufRead>, banner: &Banner, size: u64) -> Result<Self, MatrixMarketError> {
        let Some((line, text)) = lines.next_content(COMMENT)? else {
            return Err(MatrixMarketError::NoSizeLine { line: lines.number() });
        };
        let sizes: Option<Vec<u64>> = words(text, is_space).map(parse_position).collect();
        let Some([rows, columns, entries]) = sizes.as_deref() else {
            return Err(MatrixMarketError::SizeLine { line, found: quote(text) });
        };
        let (rows, columns, entries) = (*rows, *columns, *entries);
        if rows.max(columns) > MAX_NODES {
            return Err(MatrixMarketError::TooManyNodes { line, found: rows.max(columns) });
        }
        if banner.mirror != Mirror::No && rows != columns {
            return Err(MatrixMarketError::NotSquare { line, rows, columns });
        }
        let possible = size.div_ceil(MIN_ENTRY);
        if entries > possible {
            return Err(MatrixMarketError::Claim { line, claimed: entries, possible });
        }
        check_nodes(rows.max(columns), size)?;
        Ok(Self { rows, columns, entries })
    }
}

fn read_entry(
    line: u64,
    text: &[u8],
    banner: &Banner,
    extent: &Extent,
    out: &mut TextEdges,
) -> Result<(), MatrixMarketError> {
    let mut found = words(text, is_space);
    let expected = if banner.field.is_some() { "row column value" } else { "row column" };
    let arity = |found| MatrixMarketError::Arity { line, found, expected };
    let row = position(found.next().ok_or_else(|| arity(0))?, line, "row", extent.rows)?;
    let column = position(found.next().ok_or_else(|| arity(1))?, line, "column", extent.columns)?;
    if let (Some(kind), Some(values)) = (banner.field, &mut out.words) {
        let word = found.next().ok_or_else(|| arity(2))?;
        if !kind.accepts(word) {
            return Err(MatrixMarketError::Value { line, found: quote(word), expected: kind.describe() });
        }
        values.push(word)?;
    }
    let beyond = found.count();
    if beyond > 0 {
        return Err(arity(2 + usize::from(banner.field.is_some()) + beyond));
    }
    let in_triangle = match banner.mirror {
        Mirror::No => true,
        Mirror::Same => column <= row,
        Mirror::Negated => column < row,
    };
    if !in_triangle {
        return Err(MatrixMarketError::Triangle { line, row, column });
    }
    Ok(out.push(column - 1, row - 1)?)
}

fn position(word: &[u8], line: u64, what: &'static str, limit: u64) -> Result<u64, MatrixMarketError> {
    match parse_position(word) {
        Some(position) if (1..=limit).contains(&position) => Ok(position),
        _ => Err(MatrixMarketError::Position { line, what, found: quote(word), limit }),
    }
}

fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}
