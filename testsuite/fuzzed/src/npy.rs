//! NumPy's array files.

use crate::values::{LIMITS, array_is_sound, with_file};
use crate::{Memory, Repository, Target, Verdict};
use tiga_formats::{GraphSource, npy};

pub(crate) const TARGET: Target =
    Target { name: "npy", run, seeds, words: WORDS, longest: 4096, memory: Memory { free: 64 << 20, by_byte: 512 } };

/// The words of a header.
pub(crate) const WORDS: &[&str] = &[
    "'descr': '<f8'",
    "'descr': '>i4'",
    "'descr': '|b1'",
    "'descr': '<u2'",
    "'descr': '|i1'",
    "'descr': '<f2'",
    "'descr': '|S3'",
    "'fortran_order': True",
    "'fortran_order': False",
    "'shape': (2, 3)",
    "'shape': (0,)",
    "'shape': ()",
    "(1,1,1,1,1,1,1,1,",
    "18446744073709551615",
    "\u{1}\u{0}",
    "<i8",
    "|u1",
];

/// What the first byte says of the rest: a file as it is, or the dictionary of a header, a line end, and the elements.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let files = repository.files("npy", TARGET.longest);
    let mut seeds: Vec<Vec<u8>> = files.iter().map(|file| [&[0], file.as_slice()].concat()).collect();
    seeds.extend(files.iter().filter_map(|file| Some([&[1], file.get(10..)?].concat())));
    for (dictionary, bytes) in [
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3)}", 48),
        ("{'shape': (2,3,), 'fortran_order': True, 'descr': '>f4'}", 24),
        ("{'descr': '|b1', 'fortran_order': False, 'shape': (4,), }", 4),
        ("{'descr': '<u2', 'fortran_order': False, 'shape': (), }", 2),
        ("{'descr': '<f2', 'fortran_order': True, 'shape': (3, 1, 2), }", 12),
        ("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 4), }", 8),
    ] {
        seeds.push([&[1], dictionary.as_bytes(), b"\n", &vec![0; bytes]].concat());
    }
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, rest)) = bytes.split_first() else { return Verdict::Refused };
    if kind % 2 == 0 { read(rest) } else { read(&built(rest)) }
}

/// A file whose header has the length that it says.
fn built(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == b'\n').map_or(bytes.len(), |at| at + 1);
    let (header, body) = bytes.split_at(end);
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX).to_le_bytes();
    [b"\x93NUMPY\x01\x00", length.as_slice(), header, body].concat()
}

fn read(bytes: &[u8]) -> Verdict {
    let array = npy::read(bytes, bytes.len() as u64, &LIMITS);
    match &array {
        Ok(array) => array_is_sound(array),
        Err(error) => drop(error.to_string()),
    }
    // The same bytes by the front door, as the edges of a graph.
    match with_file("npy", bytes, |path| GraphSource::from(path).open(&LIMITS)) {
        Ok(graph) => crate::values::graph_is_sound(&graph),
        Err(error) => drop(error.to_string()),
    }
    Verdict::of(&array)
}
