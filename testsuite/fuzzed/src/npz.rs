//! NumPy's archives, of arrays and of graphs.

use crate::pieces::{join, split};
use crate::values::{LIMITS, array_is_sound, graph_is_sound, with_file};
use crate::zip_sums::mend;
use crate::{Memory, Repository, Target, Verdict};
use std::io::{Cursor, Write as _};
use tiga_formats::npz::{self, Npz};
use tiga_formats::{Array, Elements, GraphSource};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) const TARGET: Target = Target {
    name: "npz",
    run,
    seeds,
    words: &[
        "\u{2}@\u{2}",
        "src\n",
        "dst\n",
        "num_nodes\n",
        "num_src\n",
        "num_dst\n",
        "row_ptr\n",
        "col_idx\n",
        "values\n",
        "names\n",
        "format\n",
        "shape\n",
        "data\n",
        "indptr\n",
        "indices\n",
        "row\n",
        "col\n",
        "*\n",
        "csr",
        "coo",
        "'descr': '<f8'",
        "'descr': '|S3'",
        "'descr': '<i4'",
        "'shape': (2, 3)",
        "'shape': ()",
        "PK\u{1}\u{2}",
        "PK\u{3}\u{4}",
        "PK\u{5}\u{6}",
    ],
    longest: 4096,
    memory: Memory { free: 96 << 20, by_byte: 1 << 10 },
};

/// Members of one archive that are read as arrays.
const READ: usize = 8;

/// Graphs in all forms, as pieces and as archives.
fn seeds(_: &Repository) -> Vec<Vec<u8>> {
    let ints = |v: &[i64]| Array::vector(Elements::I64(v.to_vec()));
    let narrow = |v: &[i32]| Array::vector(Elements::I32(v.to_vec()));
    let floats = |v: &[f64]| Array::vector(Elements::F64(v.to_vec()));
    let names = Array::vector(Elements::U8(b"a\nb\nc\n".to_vec()));
    let graphs: [Vec<(&str, Array)>; 4] = [
        vec![("src", ints(&[0, 1, 2])), ("dst", ints(&[1, 2, 0])), ("num_nodes", ints(&[3])), ("names", names)],
        vec![("row_ptr", ints(&[0, 1, 3])), ("col_idx", narrow(&[0, 1, 0])), ("values", floats(&[0.5, 1.0, -2.0]))],
        vec![
            ("shape", ints(&[2, 3])),
            ("indptr", narrow(&[0, 1, 2])),
            ("indices", narrow(&[2, 0])),
            ("data", floats(&[1.0, 2.0])),
        ],
        vec![
            ("shape", ints(&[2, 2])),
            ("row", narrow(&[0, 1])),
            ("col", narrow(&[1, 0])),
            ("data", floats(&[1.0, 2.0])),
        ],
    ];
    let mut seeds = Vec::new();
    for (i, graph) in graphs.iter().enumerate() {
        let mut archive = Cursor::new(Vec::new());
        npz::write(&mut archive, graph.iter().map(|(name, array)| (*name, array))).expect("memory can be written");
        seeds.push([&[0], archive.get_ref().as_slice()].concat());
        let mut files: Vec<(String, Vec<u8>)> =
            graph.iter().map(|(name, array)| ((*name).to_owned(), file(array))).collect();
        if i >= 2 {
            files.push(("format".to_owned(), word(if i == 2 { b"csr" } else { b"coo" })));
        }
        seeds.push(
            [&[1], join(files.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice()))).as_slice()].concat(),
        );
        let packed: Vec<String> = files.iter().map(|(name, _)| format!("{name}*")).collect();
        let pieces = packed.iter().zip(&files).map(|(name, (_, bytes))| (name.as_str(), bytes.as_slice()));
        let pieces = join(pieces);
        seeds.push([&[0], archive_of(&pieces).as_slice()].concat());
        seeds.push([&[1], pieces.as_slice()].concat());
    }
    seeds
}

fn file(array: &Array) -> Vec<u8> {
    let mut bytes = Vec::new();
    tiga_formats::npy::write(&mut bytes, array).expect("memory can be written");
    bytes
}

/// The file of a byte string.
fn word(text: &[u8; 3]) -> Vec<u8> {
    let header = b"{'descr': '|S3', 'fortran_order': False, 'shape': ()}\n";
    [b"\x93NUMPY\x01\x00".as_slice(), &[header.len() as u8, 0], header, text].concat()
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, rest)) = bytes.split_first() else { return Verdict::Refused };
    if kind % 2 == 1 {
        return read(&archive_of(rest));
    }
    let mut archive = rest.to_vec();
    mend(&mut archive);
    read(&archive)
}

/// An archive of pieces; those whose name ends in a star are deflated.
fn archive_of(bytes: &[u8]) -> Vec<u8> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, bytes) in split(bytes) {
        let (name, method) = match name.strip_suffix('*') {
            Some(name) => (name, CompressionMethod::Deflated),
            None => (name.as_str(), CompressionMethod::Stored),
        };
        // Names that stand there twice or are too long are left out: the writer has no archive for them.
        let options = SimpleFileOptions::DEFAULT.compression_method(method);
        if archive.start_file(format!("{name}.npy"), options).is_ok() {
            archive.write_all(bytes).expect("memory can be written");
        }
    }
    archive.finish().map(Cursor::into_inner).unwrap_or_default()
}

fn read(bytes: &[u8]) -> Verdict {
    with_file("npz", bytes, |path| {
        if let Ok(mut archive) = Npz::open(path, &LIMITS) {
            let names: Vec<String> = archive.names().take(READ).map(str::to_owned).collect();
            for name in names {
                match archive.array(&name) {
                    Ok(array) => array_is_sound(&array),
                    Err(error) => drop(error.to_string()),
                }
            }
        }
        let graph = GraphSource::from(path).open(&LIMITS);
        match &graph {
            Ok(graph) => graph_is_sound(graph),
            Err(error) => drop(error.to_string()),
        }
        Verdict::of(&graph)
    })
}
