//! Graphs in `.gz` and `.zst` files: what plain ones hold, every cut and every damage refused, bombs stopped.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use flate2::{Compression, write::GzEncoder};
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use tiga_formats::{FileErrorKind, GraphFile, InputError, Limits, UnpackError, open_graph};

const LIMITS: Limits = Limits { memory: 256 << 20 };

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

/// A frame that decoders skip.
fn skippable(bytes: &[u8]) -> Vec<u8> {
    [&0x184d_2a50u32.to_le_bytes()[..], &(bytes.len() as u32).to_le_bytes(), bytes].concat()
}

fn open(path: &Path, bytes: &[u8]) -> Result<GraphFile, FileErrorKind> {
    std::fs::write(path, bytes).unwrap();
    open_graph(path, &LIMITS).map_err(|error| error.kind)
}

fn plain(folder: &Path) -> (String, GraphFile) {
    let text: String = (0..2000u64).map(|i| format!("{} {} {}.5\n", i * i % 331, i % 97, i)).collect();
    let file = open(&folder.join("g.txt"), text.as_bytes()).unwrap();
    (text, file)
}

#[test]
fn compressed_files_hold_what_plain_ones_do() {
    let folder = TempDir::new().unwrap();
    let (text, file) = plain(folder.path());
    let (head, tail) = text.as_bytes().split_at(1000);
    let (gz, zst) = (folder.path().join("g.txt.gz"), folder.path().join("g.TXT.ZST"));
    assert_eq!(open(&gz, &gzip(text.as_bytes())).unwrap(), file);
    assert_eq!(open(&zst, &zstandard(text.as_bytes())).unwrap(), file);
    // Members and frames behind each other are one file.
    assert_eq!(open(&gz, &[gzip(head), gzip(tail)].concat()).unwrap(), file);
    let frames = [skippable(b"abc"), zstandard(head), skippable(&[]), zstandard(b""), zstandard(tail), skippable(b"x")];
    assert_eq!(open(&zst, &frames.concat()).unwrap(), file);
    let mtx = b"%%MatrixMarket matrix coordinate pattern general\n2 3 1\n2 3\n";
    let graph = open(&folder.path().join("m.mtx.gz"), &gzip(mtx)).unwrap();
    assert_eq!((graph.csr.num_src(), graph.csr.num_dst()), (3, 2));
    assert_eq!(open(&folder.path().join("e.csv.gz"), &gzip(b"")).unwrap().csr.num_src(), 0);
}

/// A frame by the format's own library, which has a checksum: `zstd --ultra -22`.
#[test]
fn frames_of_the_library_are_read_and_their_checksums_compared() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/edges.txt.zst");
    let file = open_graph(&fixture, &LIMITS).unwrap();
    assert_eq!((file.csr.num_src(), file.csr.num_edges()), (330, 2000));
    let folder = TempDir::new().unwrap();
    let mut bytes = std::fs::read(fixture).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    let error = open(&folder.path().join("e.txt.zst"), &bytes).unwrap_err().to_string();
    assert_eq!(error, "the Zstandard data are damaged: a checksum is wrong");
}

#[test]
fn every_cut_is_one() {
    let folder = TempDir::new().unwrap();
    let (text, _) = plain(folder.path());
    let text = &text.as_bytes()[..600];
    for (name, packed) in [("g.txt.gz", gzip(text)), ("g.txt.zst", zstandard(text))] {
        let path = folder.path().join(name);
        assert!(open(&path, &packed).is_ok());
        for end in 0..packed.len() {
            match open(&path, &packed[..end]).unwrap_err() {
                FileErrorKind::Unpack(UnpackError::CutOff(_)) => {}
                other => panic!("{name}, {end} of {} bytes: {other}", packed.len()),
            }
        }
    }
}

#[test]
fn damage_is_an_error_or_does_not_matter() {
    let folder = TempDir::new().unwrap();
    let (text, _) = plain(folder.path());
    let text = &text.as_bytes()[..600];
    let mut damaged = 0;
    for (name, packed) in [("g.txt.gz", gzip(text)), ("g.txt.zst", zstandard(text))] {
        let path: PathBuf = folder.path().join(name);
        for at in 0..packed.len() {
            let mut flipped = packed.clone();
            flipped[at] ^= 1 << (at % 8);
            std::fs::remove_file(&path).ok();
            if let Err(error) = open(&path, &flipped) {
                assert!(!error.to_string().is_empty() && error.to_string().len() < 500, "{error}");
                damaged += 1;
            }
        }
        let error = open(&path, b"0 1\n1 2\n2 0\nno such bytes").unwrap_err();
        assert!(matches!(error, FileErrorKind::Unpack(UnpackError::Damaged { .. })), "{error}");
    }
    assert!(damaged > 100);
}

#[test]
fn bombs_are_not_unpacked() {
    let folder = TempDir::new().unwrap();
    let zeros = vec![b'\n'; 64 << 20];
    for (name, packed) in [("b.txt.gz", gzip(&zeros)), ("b.txt.zst", zstandard(&zeros))] {
        let allowed = (16 << 20) + 16 * packed.len();
        let error = open(&folder.path().join(name), &packed).unwrap_err().to_string();
        let expected = "bytes, which is all that is read from a file of this size; unpack it first";
        assert_eq!(error, format!("unpacks to more than {allowed} {expected}"));
    }
}

#[test]
fn what_is_not_unpacked_is_named() {
    let folder = TempDir::new().unwrap();
    for name in ["a.npy.gz", "a.gz", "a.npz.zst"] {
        let error = open(&folder.path().join(name), b"").unwrap_err();
        assert!(matches!(error, FileErrorKind::UnknownPacked { .. }), "{error}");
    }
    let missing = open_graph(&folder.path().join("no.txt.gz"), &LIMITS).unwrap_err().kind;
    assert!(matches!(missing, FileErrorKind::Unpack(UnpackError::Input(InputError::Io(_)))), "{missing}");
}
