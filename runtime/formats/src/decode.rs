//! Elements as array files store them: read in pieces, so that memory grows with the bytes that are there.

use crate::{Elements, WouldNotFit, room};
use half::{bf16, f16};
use std::io::{self, Read};

/// How a file stores an element. Those that arrays do not hold become the next wider type that has all their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stored {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    F16,
    Bf16,
    F32,
    F64,
}

impl Stored {
    /// Bytes of one element in the file.
    pub(crate) const fn bytes(self) -> u64 {
        match self {
            Stored::Bool | Stored::I8 | Stored::U8 => 1,
            Stored::I16 | Stored::U16 | Stored::F16 | Stored::Bf16 => 2,
            Stored::I32 | Stored::U32 | Stored::F32 => 4,
            Stored::I64 | Stored::F64 => 8,
        }
    }

    /// Bytes of one element in memory.
    pub(crate) const fn bytes_read(self) -> u64 {
        match self {
            Stored::Bool | Stored::U8 => 1,
            Stored::F16 | Stored::Bf16 => 2,
            Stored::I8 | Stored::I16 | Stored::U16 | Stored::I32 | Stored::F32 => 4,
            Stored::U32 | Stored::I64 | Stored::F64 => 8,
        }
    }
}

/// Why there are no elements.
#[derive(Debug)]
pub(crate) enum DecodeError {
    /// The system refused.
    Io(io::Error),
    /// The file ends before these many bytes.
    Short(u64),
    /// There is no memory for them.
    WouldNotFit(WouldNotFit),
    /// A bool that is neither 0 nor 1.
    Bool { position: usize, found: u8 },
}

impl From<WouldNotFit> for DecodeError {
    fn from(error: WouldNotFit) -> Self {
        DecodeError::WouldNotFit(error)
    }
}

/// Reads `count` elements.
pub(crate) fn read_elements(
    reader: &mut impl Read,
    stored: Stored,
    big_endian: bool,
    count: usize,
) -> Result<Elements, DecodeError> {
    macro_rules! elements {
        ($file:ty, $into:ident) => {{
            let decode = if big_endian { <$file>::from_be_bytes } else { <$file>::from_le_bytes };
            Elements::$into(decode_all(reader, count, |bytes| decode(bytes).into())?)
        }};
    }
    Ok(match stored {
        Stored::Bool => {
            let bytes = decode_all(reader, count, u8::from_le_bytes)?;
            match bytes.iter().position(|b| *b > 1) {
                Some(position) => return Err(DecodeError::Bool { position, found: bytes[position] }),
                None => Elements::Bool(bytes),
            }
        }
        Stored::U8 => elements!(u8, U8),
        Stored::I8 => elements!(i8, I32),
        Stored::I16 => elements!(i16, I32),
        Stored::U16 => elements!(u16, I32),
        Stored::I32 => elements!(i32, I32),
        Stored::U32 => elements!(u32, I64),
        Stored::I64 => elements!(i64, I64),
        Stored::F16 => elements!(f16, F16),
        Stored::Bf16 => elements!(bf16, BF16),
        Stored::F32 => elements!(f32, F32),
        Stored::F64 => elements!(f64, F64),
    })
}

/// `read_exact` whose error at the end of the file is the format's, not the system's.
pub(crate) fn fill(reader: &mut impl Read, bytes: &mut [u8]) -> Result<(), DecodeError> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        io::ErrorKind::UnexpectedEof => DecodeError::Short(bytes.len() as u64),
        _ => DecodeError::Io(error),
    })
}

/// Reads `count` elements of `N` bytes in pieces of 64 KiB.
fn decode_all<const N: usize, T>(
    reader: &mut impl Read,
    count: usize,
    decode: impl Fn([u8; N]) -> T,
) -> Result<Vec<T>, DecodeError> {
    let mut piece = room::filled(0, 64 * 1024)?;
    let mut out = room::for_elements(count.min(piece.len()))?;
    while out.len() < count {
        let bytes = piece.len().min((count - out.len()) * N);
        fill(reader, &mut piece[..bytes])?;
        room::make(&mut out, bytes / N)?;
        out.extend(piece[..bytes].as_chunks().0.iter().map(|bytes| decode(*bytes)));
    }
    Ok(out)
}
