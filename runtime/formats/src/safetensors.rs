//! `.safetensors` files: eight bytes that say how long the header is, a JSON header, the arrays back to back.
//!
//! The format's own crate wants the whole file in memory; this reader takes one array out of a file of any size.

use crate::array::element_count;
use crate::decode::{DecodeError, Stored, read_elements};
use crate::input::{self, InputError, printable, quote};
use crate::npy::MAX_DIMENSIONS;
use crate::{Array, Limits, WouldNotFit, room};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

/// The longest header that the format's own library reads.
const MAX_HEADER: u64 = 100_000_000;
/// Memory that a byte of the header may take once it is read: an entry of 50 bytes becomes a node of a tree.
const BYTES_PER_HEADER_BYTE: u64 = 8;
/// How much an error repeats of what is wrong with a header, in characters.
const MAX_REASON: usize = 120;
/// What stands under this name is no array.
const METADATA: &str = "__metadata__";

/// Why bytes are not an array in this format.
#[derive(Debug, thiserror::Error)]
pub enum SafetensorsError {
    /// The file cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file ends before the length of its header does.
    #[error("is no .safetensors file: it has {found} bytes, and eight say how long its header is")]
    TooShort {
        /// The size of the file.
        found: u64,
    },
    /// The header is longer than the file or than headers are.
    #[error("the header claims {found} bytes, at most {limit} are possible")]
    HeaderSize {
        /// Its claim.
        found: u64,
        /// What the file or the limit leaves.
        limit: u64,
    },
    /// The header is not the object of the format.
    #[error("header, line {line}, column {column}: {reason}")]
    Header {
        /// The line of the header, from 1; it has one as a rule.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// More memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// No array has this name.
    #[error("has no array `{member}`; it has {}", .found.join(", "))]
    Missing {
        /// The name asked for.
        member: String,
        /// The names there are, at most 16 of them.
        found: Vec<String>,
    },
    /// An element type that is not read.
    #[error(
        "array `{member}`: elements of type `{found}` are not read (BOOL, I8 to I64, U8 to U32, F16, BF16, F32, F64 are)"
    )]
    ElementType {
        /// The array.
        member: String,
        /// The format's name of the type.
        found: String,
    },
    /// More axes than arrays have.
    #[error("array `{member}` has {found} axes, at most {MAX_DIMENSIONS} are read")]
    Dimensions {
        /// The array.
        member: String,
        /// The number of its axes.
        found: usize,
    },
    /// Extents whose product no file could hold.
    #[error("array `{member}`: the shape {shape:?} is too large")]
    Shape {
        /// The array.
        member: String,
        /// The extents.
        shape: Vec<usize>,
    },
    /// Another number of bytes than shape and type ask for.
    #[error("array `{member}`: its offsets hold {found} bytes, its shape and type ask for {expected}")]
    Size {
        /// The array.
        member: String,
        /// Bytes between the offsets; none if they are in the wrong order.
        found: u64,
        /// Bytes that the shape needs.
        expected: u64,
    },
    /// An array ends behind the file.
    #[error("array `{member}` ends at byte {end} behind the header, the file has {size} there")]
    Outside {
        /// The array.
        member: String,
        /// Where it ends.
        end: u64,
        /// Bytes behind the header.
        size: u64,
    },
    /// A bool that is neither 0 nor 1.
    #[error("array `{member}`: element {position} of a bool array is the byte {found}, expected 0 or 1")]
    Bool {
        /// The array.
        member: String,
        /// The position in C order.
        position: usize,
        /// The byte.
        found: u8,
    },
}

/// An open file with its header.
pub struct Safetensors {
    file: BufReader<File>,
    size: u64,
    /// Where the arrays begin.
    body: u64,
    entries: BTreeMap<String, Entry>,
    limits: Limits,
}

/// What the header says of one array.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    dtype: String,
    shape: Shape,
    data_offsets: [u64; 2],
}

/// The extents of an array; more than any array has are counted only, since a byte of the header takes eight then.
#[derive(Debug)]
enum Shape {
    Extents(Vec<usize>),
    TooMany(usize),
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Extents)
    }
}

struct Extents;

impl<'de> Visitor<'de> for Extents {
    type Value = Shape;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of extents")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Shape, A::Error> {
        let mut extents = Vec::new();
        while let Some(extent) = list.next_element()? {
            if extents.len() == MAX_DIMENSIONS {
                let mut found = MAX_DIMENSIONS + 1;
                while list.next_element::<usize>()?.is_some() {
                    found += 1;
                }
                return Ok(Shape::TooMany(found));
            }
            extents.push(extent);
        }
        Ok(Shape::Extents(extents))
    }
}

impl Safetensors {
    /// Opens a file and reads its header.
    ///
    /// # Errors
    /// [`SafetensorsError`].
    pub fn open(path: &Path, limits: &Limits) -> Result<Self, SafetensorsError> {
        let (file, size) = input::open_file(path)?;
        let mut file = BufReader::new(file);
        let Some(behind) = size.checked_sub(8) else { return Err(SafetensorsError::TooShort { found: size }) };
        let io = |error| SafetensorsError::Input(InputError::Io(error));
        let mut length = [0; 8];
        file.read_exact(&mut length).map_err(io)?;
        let (length, limit) = (u64::from_le_bytes(length), behind.min(MAX_HEADER));
        if length > limit {
            return Err(SafetensorsError::HeaderSize { found: length, limit });
        }
        limits.check(length.saturating_mul(BYTES_PER_HEADER_BYTE))?;
        let mut text = room::filled(0, length as usize)?;
        file.read_exact(&mut text).map_err(io)?;
        let Header(entries) = serde_json::from_slice(&text).map_err(|error| header_error(&error))?;
        Ok(Self { file, size, body: 8 + length, entries, limits: *limits })
    }

    /// The size of the file in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// The names of the arrays, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// Reads one array. `I8 I16 U16` become `i32`, `U32` `i64`, all exact.
    ///
    /// # Errors
    /// [`SafetensorsError`].
    pub fn array(&mut self, member: &str) -> Result<Array, SafetensorsError> {
        let name = || quote(member.as_bytes());
        let Some(Entry { dtype, shape, data_offsets: [begin, end] }) = self.entries.get(member) else {
            let found = self.names().take(16).map(|name| quote(name.as_bytes())).collect();
            return Err(SafetensorsError::Missing { member: name(), found });
        };
        let unknown = || SafetensorsError::ElementType { member: name(), found: quote(dtype.as_bytes()) };
        let stored = stored(dtype).ok_or_else(unknown)?;
        let shape = match shape {
            Shape::Extents(shape) => shape,
            Shape::TooMany(found) => return Err(SafetensorsError::Dimensions { member: name(), found: *found }),
        };
        let too_large = || SafetensorsError::Shape { member: name(), shape: shape.clone() };
        let count = element_count(shape).ok_or_else(too_large)?;
        let (found, expected) = (end.saturating_sub(*begin), count as u64 * stored.bytes());
        if found != expected {
            return Err(SafetensorsError::Size { member: name(), found, expected });
        }
        let size = self.size - self.body;
        if *end > size {
            return Err(SafetensorsError::Outside { member: name(), end: *end, size });
        }
        self.limits.check(count as u64 * stored.bytes_read())?;
        let io = |error| SafetensorsError::Input(InputError::Io(error));
        self.file.seek(SeekFrom::Start(self.body + begin)).map_err(io)?;
        let elements = read_elements(&mut self.file, stored, false, count).map_err(|error| match error {
            DecodeError::Io(error) => io(error),
            DecodeError::WouldNotFit(error) => SafetensorsError::WouldNotFit(error),
            // The file was longer when it was opened.
            DecodeError::Short(_) => SafetensorsError::Outside { member: name(), end: *end, size },
            DecodeError::Bool { position, found } => SafetensorsError::Bool { member: name(), position, found },
        })?;
        Array::new(shape.clone(), elements).map_err(|_| too_large())
    }
}

/// The reader of JSON repeats what it found, of any length, and says the place at the end.
fn header_error(error: &serde_json::Error) -> SafetensorsError {
    let text = error.to_string();
    let reason = text.rsplit_once(" at line ").map_or(&*text, |(reason, _)| reason);
    let reason = printable(reason.as_bytes(), MAX_REASON);
    SafetensorsError::Header { line: error.line(), column: error.column(), reason }
}

/// The element type of a name in the header.
fn stored(dtype: &str) -> Option<Stored> {
    Some(match dtype {
        "BOOL" => Stored::Bool,
        "I8" => Stored::I8,
        "U8" => Stored::U8,
        "I16" => Stored::I16,
        "U16" => Stored::U16,
        "I32" => Stored::I32,
        "U32" => Stored::U32,
        "I64" => Stored::I64,
        "F16" => Stored::F16,
        "BF16" => Stored::Bf16,
        "F32" => Stored::F32,
        "F64" => Stored::F64,
        _ => return None,
    })
}

/// The arrays of a header by name; what else it says is skipped.
struct Header(BTreeMap<String, Entry>);

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Entries)
    }
}

struct Entries;

impl<'de> Visitor<'de> for Entries {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object with an entry for each array")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        let mut out = BTreeMap::new();
        while let Some(name) = map.next_key::<String>()? {
            if name == METADATA {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let entry = map.next_value()?;
            if out.contains_key(&name) {
                return Err(A::Error::custom(format!("two arrays are named `{}`", quote(name.as_bytes()))));
            }
            out.insert(name, entry);
        }
        Ok(Header(out))
    }
}
