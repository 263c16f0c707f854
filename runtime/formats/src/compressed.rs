//! `.gz` and `.zst` files: read twice, first to learn how much they hold, so that every bound of a reader holds for them.

use crate::input::{self, InputError, printable};
use crate::limits::most_unpacked;
use flate2::bufread::MultiGzDecoder;
use ruzstd::decoding::BlockDecodingStrategy;
use ruzstd::decoding::FrameDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use std::io::{self, BufRead, BufReader, Read, Take};
use std::path::Path;

/// How much an error repeats of what a decoder says, in characters.
const MAX_REASON: usize = 120;

/// How a file is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// gzip, several members behind each other included (RFC 1952).
    Gzip,
    /// Zstandard, several frames behind each other included (RFC 8878).
    Zstandard,
}

impl Packing {
    /// The kind that the ending of a name says.
    pub(crate) fn of(extension: &str) -> Option<Self> {
        match extension {
            "gz" => Some(Packing::Gzip),
            "zst" => Some(Packing::Zstandard),
            _ => None,
        }
    }
}

impl std::fmt::Display for Packing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if *self == Packing::Gzip { "gzip" } else { "Zstandard" })
    }
}

/// Why a compressed file is not unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// The file cannot be read at all.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file ends before its data does.
    #[error("the {0} data are cut off: the file ends before they do")]
    CutOff(Packing),
    /// The bytes are not those of the format, or their checksum is another one.
    #[error("the {packing} data are damaged: {reason}")]
    Damaged {
        /// What they should be.
        packing: Packing,
        /// What the decoder says.
        reason: String,
    },
    /// The file unpacks to far more than its size.
    #[error(
        "unpacks to more than {allowed} bytes, which is all that is read from a file of this size; unpack it first"
    )]
    Bomb {
        /// What is allowed.
        allowed: u64,
    },
}

/// A file unpacked while it is read, as far as it was unpacked the first time.
pub(crate) type Unpacked = Take<BufReader<Box<dyn Read>>>;

/// Opens a compressed file, and says how many bytes it holds; all of it was unpacked once and is undamaged.
pub(crate) fn open(path: &Path, packing: Packing) -> Result<(Unpacked, u64), UnpackError> {
    let (packed, size) = input::open(path)?;
    let allowed = most_unpacked(size);
    let mut source = Ending { source: packed, ended: false };
    let measured = io::copy(&mut decoder(&mut source, packing).take(allowed.saturating_add(1)), &mut io::sink());
    let unpacked = measured.map_err(|error| match error.downcast::<FrameDecoderError>() {
        _ if source.ended => UnpackError::CutOff(packing),
        Ok(error) => UnpackError::Damaged { packing, reason: printable(error.to_string().as_bytes(), MAX_REASON) },
        Err(error) if error.raw_os_error().is_some() => UnpackError::Input(InputError::Io(error)),
        Err(error) => UnpackError::Damaged { packing, reason: printable(error.to_string().as_bytes(), MAX_REASON) },
    })?;
    if unpacked > allowed {
        return Err(UnpackError::Bomb { allowed });
    }
    let (packed, _) = input::open(path)?;
    Ok((BufReader::with_capacity(64 * 1024, decoder(packed, packing)).take(unpacked), unpacked))
}

fn decoder<'r>(source: impl BufRead + 'r, packing: Packing) -> Box<dyn Read + 'r> {
    match packing {
        Packing::Gzip => Box::new(MultiGzDecoder::new(source)),
        Packing::Zstandard => Box::new(Frames { source, decoder: FrameDecoder::new(), state: State::Start }),
    }
}

/// A reader that remembers whether somebody wanted more than there was.
struct Ending<R> {
    source: R,
    ended: bool,
}

impl<R: BufRead> Read for Ending<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(bytes)?;
        self.ended |= read == 0 && !bytes.is_empty();
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Ending<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.source.fill_buf()?;
        self.ended |= bytes.is_empty();
        Ok(bytes)
    }

    fn consume(&mut self, amount: usize) {
        self.source.consume(amount);
    }
}

/// Zstandard frames behind each other; the decoder knows one at a time.
struct Frames<R> {
    source: R,
    decoder: FrameDecoder,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    /// Before the first frame, which there must be.
    Start,
    Inside,
    Between,
}

impl<R: BufRead> Frames<R> {
    /// Begins the next frame; `false` at the end of the file.
    fn begin(&mut self) -> io::Result<bool> {
        loop {
            if self.state == State::Between && self.source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.init(&mut self.source) {
                Ok(()) => {
                    self.state = State::Inside;
                    return Ok(true);
                }
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    let skipped = io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
                    if skipped < u64::from(length) {
                        return Err(io::ErrorKind::UnexpectedEof.into());
                    }
                    self.state = State::Between;
                }
                Err(error) => return Err(io::Error::other(error)),
            }
        }
    }

    fn check(&self) -> io::Result<()> {
        match (self.decoder.get_checksum_from_data(), self.decoder.get_calculated_checksum()) {
            (Some(stored), Some(found)) if stored != found => Err(io::Error::other("a checksum is wrong")),
            _ => Ok(()),
        }
    }
}

impl<R: BufRead> Read for Frames<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.state != State::Inside && !self.begin()? {
                return Ok(0);
            }
            while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                self.decoder
                    .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                    .map_err(io::Error::other)?;
            }
            let read = self.decoder.read(bytes)?;
            if read > 0 || bytes.is_empty() {
                return Ok(read);
            }
            self.check()?;
            self.state = State::Between;
        }
    }
}
