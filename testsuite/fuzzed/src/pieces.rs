//! Named pieces in one input, so that a fuzzer can change the parts of an archive whose sums are made afterwards.
//!
//! A piece begins with [`MARK`], its name and a line end; what stands before the first one is not read.

/// What begins a piece: bytes that archives, arrays and texts do not have behind each other.
pub(crate) const MARK: &[u8] = b"\x02@\x02";

/// The pieces of an input, in order.
pub(crate) fn split(bytes: &[u8]) -> Vec<(String, &[u8])> {
    let mut starts: Vec<usize> =
        bytes.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK).map(|(at, _)| at).collect();
    starts.push(bytes.len());
    let parts = starts.windows(2).filter_map(|ends| bytes.get(ends[0] + MARK.len()..ends[1]));
    let piece = |part: &'_ [u8]| part.iter().position(|byte| *byte == b'\n').unwrap_or(part.len());
    parts
        .map(|part| {
            let end = piece(part);
            (String::from_utf8_lossy(&part[..end]).into_owned(), part.get(end + 1..).unwrap_or_default())
        })
        .collect()
}

/// The input of these pieces.
pub(crate) fn join<'a>(pieces: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Vec<u8> {
    let mut out = Vec::new();
    for (name, bytes) in pieces {
        out.extend_from_slice(MARK);
        out.extend_from_slice(name.as_bytes());
        out.push(b'\n');
        out.extend_from_slice(bytes);
    }
    out
}
