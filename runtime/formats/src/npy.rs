//! NumPy's `.npy` files, versions 1 to 3: reading either order and either byte order, writing version 1.

use crate::array::{element_count, map_elements};
use crate::decode::{DecodeError, Stored, fill, read_elements};
use crate::{Array, ArrayType, Elements, Limits, WouldNotFit, room};
use half::bf16;
use std::io::{self, Read, Write};

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// NumPy's own headers are below 10,000 bytes.
const MAX_HEADER: u64 = 64 * 1024;
/// The longest byte string that is read.
const MAX_WORD: u64 = 64;
/// NumPy's own limit.
pub(crate) const MAX_DIMENSIONS: usize = 64;
/// The body starts at a multiple of this.
const ALIGNMENT: usize = 64;
/// Elements of bf16 that are written at a time, 64 KiB of f32.
const BLOCK: usize = 16 * 1024;

/// Why bytes are not an array. Offsets count bytes from 0.
#[derive(Debug, thiserror::Error)]
pub enum NpyError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// There is no memory for it.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
    /// The first bytes are not those of the format.
    #[error("does not begin with \\x93NUMPY: not an .npy file")]
    Magic,
    /// A version that is not known.
    #[error("version {major}.{minor} of the .npy format is not known (known: 1.0, 2.0, 3.0)")]
    Version {
        /// First number.
        major: u8,
        /// Second number.
        minor: u8,
    },
    /// The header is longer than the file or than 64 KiB.
    #[error("the header claims {found} bytes, at most {limit} are possible")]
    HeaderSize {
        /// Its claim.
        found: u64,
        /// What the file or the limit leaves.
        limit: u64,
    },
    /// The header is not the dictionary of the format.
    #[error("header, byte {at}: expected {expected}")]
    Header {
        /// Where in the file.
        at: usize,
        /// What should stand there.
        expected: &'static str,
    },
    /// An element type that is not read: structures, strings, objects, complex numbers and other widths.
    #[error(
        "{} (`{found}`) are not read; bool, int8 to int64, uint8 to uint32 and float16 to float64 are", in_words(.found)
    )]
    ElementType {
        /// NumPy's code of it.
        found: String,
    },
    /// Extents whose product no file could hold.
    #[error("the shape {shape:?} is too large")]
    Shape {
        /// The extents.
        shape: Vec<usize>,
    },
    /// More axes than NumPy has.
    #[error("more than {MAX_DIMENSIONS} axes")]
    Dimensions,
    /// The body has another size than shape and type ask for.
    #[error("the body has {found} bytes, the header asks for {expected}")]
    BodySize {
        /// Bytes after the header.
        found: u64,
        /// Bytes that the shape needs.
        expected: u64,
    },
    /// A bool that is neither 0 nor 1.
    #[error("element {position} of a bool array is the byte {found}, expected 0 or 1")]
    Bool {
        /// The position in the file's order.
        position: usize,
        /// The byte.
        found: u8,
    },
}

/// What NumPy's code of an element type stands for.
fn in_words(code: &str) -> String {
    let kind = code.trim_start_matches(['<', '>', '=', '|']);
    let bits = |digits: &str| digits.parse::<u32>().ok().filter(|bytes| *bytes <= 64).map(|bytes| 8 * bytes);
    let number = |name: &str, digits: &str| bits(digits).map(|bits| format!("{name}{bits} elements"));
    let known = match kind.split_at_checked(1) {
        Some(("u", digits)) => number("uint", digits),
        Some(("i", digits)) => number("int", digits),
        Some(("f", digits)) => number("float", digits),
        Some(("c", digits)) => number("complex", digits),
        Some(("S" | "U" | "a", _)) => Some("texts".to_owned()),
        Some(("O", _)) => Some("Python objects".to_owned()),
        Some(("M" | "m", _)) => Some("dates and times".to_owned()),
        Some(("V", _)) => Some("structures".to_owned()),
        _ => None,
    };
    known.unwrap_or_else(|| "elements of another type".to_owned())
}

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// NumPy's type string, such as `<f8`.
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads an array of `size` bytes, header included. Column-major arrays are reordered, big-endian ones swapped;
/// `int8 int16 uint16` become `i32` and `uint32` `i64`, exactly; `bool uint8 int32 int64 float16 float32 float64` stay.
/// What that takes of memory is checked first; memory grows with the bytes read, not with what the header claims.
///
/// # Errors
/// [`NpyError`].
pub fn read(mut reader: impl Read, size: u64, limits: &Limits) -> Result<Array, NpyError> {
    let (header, body) = read_header(&mut reader, size)?;
    let count = element_count(&header.shape).ok_or_else(|| NpyError::Shape { shape: header.shape.clone() })?;
    let elements = read_body(&mut reader, &header, count, body, limits)?;
    let elements = if header.fortran { from_fortran(elements, &header.shape)? } else { elements };
    Array::new(header.shape.clone(), elements).map_err(|_| NpyError::Shape { shape: header.shape })
}

/// Reads a single byte string, which NumPy pads with zeros.
pub(crate) fn read_word(mut reader: impl Read, size: u64) -> Result<String, NpyError> {
    let (header, body) = read_header(&mut reader, size)?;
    let width = header.descr.strip_prefix("|S").and_then(|width| width.parse::<u64>().ok());
    match width {
        Some(width @ 1..=MAX_WORD) if header.shape.is_empty() => {
            if body != width {
                return Err(NpyError::BodySize { found: body, expected: width });
            }
            let mut bytes = vec![0; width as usize];
            fill(&mut reader, &mut bytes)?;
            Ok(crate::input::quote(bytes.split(|b| *b == 0).next().unwrap_or_default()))
        }
        _ => Err(NpyError::ElementType { found: crate::input::quote(header.descr.as_bytes()) }),
    }
}

/// The header and the number of bytes that follow it.
fn read_header(reader: &mut impl Read, size: u64) -> Result<(Header, u64), NpyError> {
    let mut start = [0; 8];
    if size < start.len() as u64 {
        return Err(NpyError::Magic);
    }
    fill(reader, &mut start)?;
    if &start[..6] != MAGIC {
        return Err(NpyError::Magic);
    }
    let [.., major, minor] = start;
    let (length, prefix) = match (major, minor) {
        (1, 0) => {
            let mut bytes = [0; 2];
            fill(reader, &mut bytes)?;
            (u64::from(u16::from_le_bytes(bytes)), 10)
        }
        (2 | 3, 0) => {
            let mut bytes = [0; 4];
            fill(reader, &mut bytes)?;
            (u64::from(u32::from_le_bytes(bytes)), 12)
        }
        _ => return Err(NpyError::Version { major, minor }),
    };
    let limit = size.saturating_sub(prefix).min(MAX_HEADER);
    if length > limit {
        return Err(NpyError::HeaderSize { found: length, limit });
    }
    let mut text = room::filled(0, length as usize)?;
    fill(reader, &mut text)?;
    let header = HeaderParser { text: &text, at: 0, offset: prefix as usize }.parse()?;
    Ok((header, size - prefix - length))
}

impl From<DecodeError> for NpyError {
    fn from(error: DecodeError) -> Self {
        match error {
            DecodeError::Io(error) => NpyError::Io(error),
            DecodeError::WouldNotFit(error) => NpyError::WouldNotFit(error),
            DecodeError::Short(expected) => NpyError::BodySize { found: 0, expected },
            DecodeError::Bool { position, found } => NpyError::Bool { position, found },
        }
    }
}

fn read_body(
    reader: &mut impl Read,
    header: &Header,
    count: usize,
    body: u64,
    limits: &Limits,
) -> Result<Elements, NpyError> {
    let descr = header.descr.as_str();
    let unknown = || NpyError::ElementType { found: crate::input::quote(descr.as_bytes()) };
    let (order, kind) = descr.split_at_checked(1).ok_or_else(unknown)?;
    let stored = match kind {
        "b1" => Stored::Bool,
        "u1" => Stored::U8,
        "i1" => Stored::I8,
        "i2" => Stored::I16,
        "u2" => Stored::U16,
        "i4" => Stored::I32,
        "u4" => Stored::U32,
        "i8" => Stored::I64,
        "f2" => Stored::F16,
        "f4" => Stored::F32,
        "f8" => Stored::F64,
        _ => return Err(unknown()),
    };
    let big_endian = match order {
        "<" | "=" => false,
        ">" => true,
        "|" if stored.bytes() == 1 => false,
        _ => return Err(unknown()),
    };
    let expected = count as u64 * stored.bytes();
    if body != expected {
        return Err(NpyError::BodySize { found: body, expected });
    }
    // Elements in another order are copied into the right one.
    let copies = if header.fortran { 2 } else { 1 };
    limits.check((count as u64).saturating_mul(stored.bytes_read()).saturating_mul(copies))?;
    Ok(read_elements(reader, stored, big_endian, count)?)
}

/// C order from column-major order.
fn from_fortran(elements: Elements, shape: &[usize]) -> Result<Elements, WouldNotFit> {
    if elements.is_empty() || shape.len() < 2 {
        return Ok(elements);
    }
    let sources = || {
        let mut index = vec![0; shape.len()];
        std::iter::repeat_with(move || {
            let source = index.iter().zip(shape).rev().fold(0, |position, (i, extent)| position * extent + i);
            for (i, extent) in index.iter_mut().zip(shape).rev() {
                *i += 1;
                if *i < *extent {
                    break;
                }
                *i = 0;
            }
            source
        })
    };
    Ok(map_elements!(elements, v => room::collected(v.len(), sources().map(|source| v[source]))?))
}

/// Reads `{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }`, the keys in any order.
struct HeaderParser<'a> {
    text: &'a [u8],
    at: usize,
    offset: usize,
}

impl<'a> HeaderParser<'a> {
    fn parse(mut self) -> Result<Header, NpyError> {
        let (mut descr, mut fortran, mut shape) = (None, None, None);
        self.expect(b'{', "`{`")?;
        while !self.eat(b'}') {
            let at = self.at;
            let key = self.string("a quoted key")?;
            self.expect(b':', "`:`")?;
            match key {
                b"descr" if descr.is_none() => descr = Some(self.descr()?),
                b"fortran_order" if fortran.is_none() => fortran = Some(self.boolean()?),
                b"shape" if shape.is_none() => shape = Some(self.shape()?),
                _ => {
                    self.at = at;
                    return self.fail("one each of the keys descr, fortran_order and shape");
                }
            }
            if !self.eat(b',') {
                self.expect(b'}', "`,` or `}`")?;
                break;
            }
        }
        self.skip_space();
        if self.at != self.text.len() {
            return self.fail("nothing but white space after `}`");
        }
        match (descr, fortran, shape) {
            (Some(descr), Some(fortran), Some(shape)) => Ok(Header { descr, fortran, shape }),
            _ => self.fail("all of the keys descr, fortran_order and shape"),
        }
    }

    fn fail<T>(&self, expected: &'static str) -> Result<T, NpyError> {
        Err(NpyError::Header { at: self.offset + self.at, expected })
    }

    fn skip_space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn eat(&mut self, byte: u8) -> bool {
        self.skip_space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), NpyError> {
        if self.eat(byte) { Ok(()) } else { self.fail(expected) }
    }

    fn string(&mut self, expected: &'static str) -> Result<&'a [u8], NpyError> {
        self.skip_space();
        let rest = &self.text[self.at..];
        match rest {
            [quote @ (b'\'' | b'"'), body @ ..] => match body.iter().position(|b| b == quote) {
                Some(end) => {
                    self.at += end + 2;
                    Ok(&body[..end])
                }
                None => self.fail("the closing quote"),
            },
            _ => self.fail(expected),
        }
    }

    fn descr(&mut self) -> Result<String, NpyError> {
        self.skip_space();
        if self.text.get(self.at) == Some(&b'[') {
            return Err(NpyError::ElementType { found: crate::input::quote(&self.text[self.at..]) });
        }
        self.string("a quoted type").map(|word| String::from_utf8_lossy(word).into_owned())
    }

    fn word(&mut self, is_part: fn(&u8) -> bool) -> &'a [u8] {
        self.skip_space();
        let rest = &self.text[self.at..];
        let end = rest.iter().position(|b| !is_part(b)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn boolean(&mut self) -> Result<bool, NpyError> {
        match self.word(u8::is_ascii_alphabetic) {
            b"True" => Ok(true),
            b"False" => Ok(false),
            _ => self.fail("True or False"),
        }
    }

    fn shape(&mut self) -> Result<Vec<usize>, NpyError> {
        self.expect(b'(', "`(`")?;
        let mut shape = Vec::new();
        while !self.eat(b')') {
            if shape.len() == MAX_DIMENSIONS {
                return Err(NpyError::Dimensions);
            }
            let digits = std::str::from_utf8(self.word(u8::is_ascii_digit)).unwrap_or_default();
            match digits.parse() {
                Ok(extent) => shape.push(extent),
                Err(_) => return self.fail("an extent"),
            }
            if !self.eat(b',') {
                self.expect(b')', "`,` or `)`")?;
                break;
            }
        }
        Ok(shape)
    }
}

/// Writes a version 1 file, C order, little-endian, the body aligned to 64 bytes. NumPy has no `bf16`: such an array is
/// written as `f32`, exactly, and is read back as either.
///
/// # Errors
/// Those of the writer.
pub fn write(mut writer: impl Write, array: &Array) -> io::Result<()> {
    let descr = match array.array_type() {
        ArrayType::Bool => "|b1",
        ArrayType::U8 => "|u1",
        ArrayType::I32 => "<i4",
        ArrayType::I64 => "<i8",
        ArrayType::F16 => "<f2",
        ArrayType::BF16 | ArrayType::F32 => "<f4",
        ArrayType::F64 => "<f8",
    };
    let extents: Vec<String> = array.shape().iter().map(|extent| format!("{extent},")).collect();
    let extents = extents.join(" ");
    // Like NumPy: `(2, 3)` but `(2,)`.
    let extents = if array.shape().len() > 1 { extents.trim_end_matches(',') } else { &extents };
    let dictionary = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({extents}), }}");
    let total = (MAGIC.len() + 4 + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
    let length = total - MAGIC.len() - 4;
    let claim = u16::try_from(length).map_err(|_| io::Error::other("too many axes for a version 1 header"))?;
    writer.write_all(MAGIC)?;
    writer.write_all(&[1, 0])?;
    writer.write_all(&claim.to_le_bytes())?;
    writeln!(writer, "{dictionary:<width$}", width = length - 1)?;
    match array.elements() {
        Elements::BF16(v) => write_as_singles(&mut writer, v),
        _ => writer.write_all(array.as_bytes()),
    }
}

/// A block at a time: an array may be most of the memory there is.
fn write_as_singles(writer: &mut impl Write, elements: &[bf16]) -> io::Result<()> {
    let mut block = Vec::with_capacity(4 * BLOCK.min(elements.len()));
    for elements in elements.chunks(BLOCK) {
        block.clear();
        block.extend(elements.iter().flat_map(|x| x.to_f32().to_le_bytes()));
        writer.write_all(&block)?;
    }
    Ok(())
}
