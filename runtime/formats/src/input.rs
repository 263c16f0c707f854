//! Untrusted input: regular files of known size, and lines of bounded length.

use crate::{Limits, WouldNotFit};
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::Path;

/// The longest line of a text format, in bytes.
pub(crate) const MAX_LINE: u64 = 64 * 1024;
/// How much of a bad word an error repeats, in characters.
const MAX_QUOTE: usize = 40;

/// Why a file cannot be read at all.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A directory, pipe or device, whose size says nothing.
    #[error("is not a regular file")]
    NotARegularFile,
    /// The standard input needs more memory than is allowed.
    #[error(transparent)]
    WouldNotFit(#[from] WouldNotFit),
}

/// A file and its size when it was opened; what is appended later is not read.
pub(crate) type Input = Take<BufReader<File>>;

/// Opens a regular file and says how large it is.
pub(crate) fn open_file(path: &Path) -> Result<(File, u64), InputError> {
    // Before opening, because opening a pipe waits for its writer.
    if !fs::metadata(path)?.is_file() {
        return Err(InputError::NotARegularFile);
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(InputError::NotARegularFile);
    }
    Ok((file, metadata.len()))
}

/// The name that means the standard input.
pub(crate) const STANDARD_INPUT: &str = "-";

/// All of the standard input and its size. It is held in memory, as its size must be known before it is read.
pub(crate) fn standard_input(limits: &Limits) -> Result<(io::Cursor<Vec<u8>>, u64), InputError> {
    read_all(io::stdin().lock(), limits)
}

/// What the first bytes say that a file is, if it is none of text.
pub(crate) fn known_format(bytes: &[u8]) -> Option<&'static str> {
    let known: [(&[u8], &str); 4] = [
        (b"\x1f\x8b", "compressed by gzip"),
        (b"\x28\xb5\x2f\xfd", "compressed by zstd"),
        (b"\x93NUMPY", "an .npy file"),
        (b"PK\x03\x04", "a zip archive, as .npz files are"),
    ];
    known.into_iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, what)| what)
}

fn read_all(mut reader: impl Read, limits: &Limits) -> Result<(io::Cursor<Vec<u8>>, u64), InputError> {
    let mut bytes = Vec::new();
    loop {
        let piece = (bytes.len() as u64).max(MAX_LINE);
        // What is there is copied when it grows.
        limits.check(2 * (bytes.len() as u64 + piece))?;
        if (reader.by_ref().take(piece).read_to_end(&mut bytes)? as u64) < piece {
            let size = bytes.len() as u64;
            return Ok((io::Cursor::new(bytes), size));
        }
    }
}

/// Opens a regular file to be read once from its beginning.
pub(crate) fn open(path: &Path) -> Result<(Input, u64), InputError> {
    let (file, size) = open_file(path)?;
    Ok((BufReader::with_capacity(64 * 1024, file).take(size), size))
}

/// Why the next line cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum LineError {
    /// The system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A line longer than 64 KiB.
    #[error("line {line} is longer than {MAX_LINE} bytes")]
    TooLong {
        /// The line, from 1.
        line: u64,
    },
}

/// Lines of a text file, numbered from 1.
pub(crate) struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(reader: R) -> Self {
        Self { reader, buffer: Vec::new(), number: 0 }
    }

    /// The number of the line last returned.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// The number of the next line and what stands on it between white space.
    pub(crate) fn next(&mut self) -> Result<Option<(u64, &[u8])>, LineError> {
        self.buffer.clear();
        let taken = self.reader.by_ref().take(MAX_LINE + 1).read_until(b'\n', &mut self.buffer)?;
        self.number += u64::from(taken > 0);
        if taken as u64 > MAX_LINE {
            return Err(LineError::TooLong { line: self.number });
        }
        Ok((taken > 0).then(|| (self.number, self.buffer.trim_ascii())))
    }

    /// The next line that is neither empty nor a comment, which begins with one of `marks`.
    pub(crate) fn next_content(&mut self, marks: &[u8]) -> Result<Option<(u64, &[u8])>, LineError> {
        loop {
            match self.next()? {
                None => return Ok(None),
                Some((_, [])) => {}
                Some((_, [first, ..])) if marks.contains(first) => {}
                Some(_) => return Ok(Some((self.number, self.buffer.trim_ascii()))),
            }
        }
    }
}

/// The words of a line.
pub(crate) fn words(line: &[u8], is_separator: fn(u8) -> bool) -> impl Iterator<Item = &[u8]> {
    line.split(move |b| is_separator(*b)).filter(|word| !word.is_empty())
}

/// The beginning of a bad word, printable.
pub(crate) fn quote(word: &[u8]) -> String {
    printable(word, MAX_QUOTE)
}

/// The first `most` characters of a text, printable.
pub(crate) fn printable(text: &[u8], most: usize) -> String {
    let text = String::from_utf8_lossy(text);
    let mut out: String = text.chars().take(most).flat_map(char::escape_debug).collect();
    if text.chars().nth(most).is_some() {
        out.push('…');
    }
    out
}

/// A decimal integer without sign.
pub(crate) fn parse_position(word: &[u8]) -> Option<u64> {
    word.first()?.is_ascii_digit().then(|| std::str::from_utf8(word).ok()?.parse().ok())?
}
