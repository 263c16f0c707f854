//! Damaged files: cut at every 1/64, a bit flipped in many places, claims far beyond the file. Each gives a value or a
//! typed error, never a panic, and the whole process stays below 256 MB. One test, alone in its process, because peak
//! memory is the process's.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use std::io::Write;
use std::path::Path;
use tempfile::TempDir;
use tiga_formats::{Array, Elements, Limits, open_array, open_graph, save_array, save_arrays};

/// No limit of the machine: the readers' own bounds are what is tested.
const LIMITS: Limits = Limits { memory: u64::MAX };
/// Flips tried in one file at most.
const FLIPS: usize = 2000;

/// Opens a file every way there is; the number of ways that gave a value.
fn open_each_way(path: &Path, members: &[&str]) -> usize {
    let name = path.to_str().unwrap();
    let specs = std::iter::once(name.to_owned()).chain(members.iter().map(|m| format!("{name}:{m}")));
    let arrays = specs.filter(|spec| open_array(spec, &LIMITS).map_err(|e| e.to_string()).is_ok()).count();
    match open_graph(path, &LIMITS) {
        Ok(file) => {
            file.csr.transpose().unwrap();
            let _ = file.values(tiga_abi::DType::F32).map_err(|error| error.to_string());
            arrays + 1
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            arrays
        }
    }
}

/// A new file under an old name: some file systems wait for the disk when a file is truncated and written again.
fn rewrite(path: &Path, bytes: &[u8]) {
    std::fs::remove_file(path).unwrap();
    std::fs::write(path, bytes).unwrap();
}

fn damage(path: &Path, members: &[&str]) {
    let whole = std::fs::read(path).unwrap();
    assert!(open_each_way(path, members) > 0, "{} is not valid to begin with", path.display());
    for piece in 0..64 {
        rewrite(path, &whole[..whole.len() * piece / 64]);
        open_each_way(path, members);
    }
    let step = whole.len().div_ceil(FLIPS);
    for at in (0..whole.len()).step_by(step) {
        let mut flipped = whole.clone();
        flipped[at] ^= 1 << (at / step % 8);
        rewrite(path, &flipped);
        open_each_way(path, members);
    }
    rewrite(path, &whole);
}

fn deflated(path: &Path, members: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    let options = zip::write::SimpleFileOptions::DEFAULT.compression_method(zip::CompressionMethod::Deflated);
    for (name, body) in members {
        archive.start_file(format!("{name}.npy"), options).unwrap();
        archive.write_all(body).unwrap();
    }
    archive.finish().unwrap();
}

fn npy(array: &Array) -> Vec<u8> {
    let mut out = Vec::new();
    tiga_formats::npy::write(&mut out, array).unwrap();
    out
}

/// A header and a body.
fn safetensors(header: &str, body: &[u8]) -> Vec<u8> {
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), body].concat()
}

/// Edges and halves of 48 bytes.
const SOME_TENSORS: &str = r#"{"__metadata__":{"format":"pt"},
    "edge_index":{"dtype":"I64","shape":[2,2],"data_offsets":[0,32]},"x":{"dtype":"F16","shape":[8],"data_offsets":[32,48]}}"#;

/// Peak resident memory of this process in bytes.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap() * 1024
}

fn valid_files(folder: &Path) {
    let mtx = folder.join("a.mtx");
    std::fs::write(&mtx, "%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n2 1 7.5\n2 2 8\n3 2 -9e1\n").unwrap();
    damage(&mtx, &[]);
    let list = folder.join("a.txt");
    std::fs::write(&list, "# edges\n0 1 2.5\n3,1,4\n2\t2\t1e3\n").unwrap();
    damage(&list, &[]);
    let array = folder.join("a.npy");
    save_array(&array, &Array::new(vec![2, 3], Elements::F32(vec![1.0; 6])).unwrap()).unwrap();
    damage(&array, &[]);
    let tensors = folder.join("a.safetensors");
    std::fs::write(&tensors, safetensors(SOME_TENSORS, &[0; 48])).unwrap();
    damage(&tensors, &["edge_index", "x"]);
    let parts = [
        ("row_ptr", Array::vector(Elements::I64(vec![0, 1, 2]))),
        ("col_idx", Array::vector(Elements::I32(vec![1, 0]))),
        ("values", Array::vector(Elements::F32(vec![1.0, 2.0]))),
        ("names", Array::vector(Elements::U8(b"a\nb".to_vec()))),
    ];
    let members = parts.each_ref().map(|(name, _)| *name);
    let stored = folder.join("stored.npz");
    save_arrays(&stored, parts.iter().map(|(name, array)| (*name, array))).unwrap();
    damage(&stored, &members);
    let packed = folder.join("packed.npz");
    deflated(&packed, &parts.each_ref().map(|(name, array)| (*name, npy(array))));
    damage(&packed, &members);
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gzip.write_all(b"Source,Target\n0,1\n3,1\n").unwrap();
    let packed = folder.join("a.csv.gz");
    std::fs::write(&packed, gzip.finish().unwrap()).unwrap();
    damage(&packed, &[]);
    for name in ["scipy_csr.npz", "scipy_coo.npz", "edges.npz", "edges.txt.zst"] {
        let copy = folder.join(name);
        std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name), &copy).unwrap();
        damage(&copy, &[]);
    }
}

/// Files that claim, or unpack to, as much as the bounds let through, and more.
fn large_claims(folder: &Path) {
    let write = |name: &str, text: String| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        open_each_way(&path, &[])
    };
    let banner = "%%MatrixMarket matrix coordinate pattern symmetric\n";
    assert_eq!(write("rows.mtx", format!("{banner}1000000 1000000 0\n")), 1);
    assert_eq!(write("many.mtx", format!("{banner}2000000000 2000000000 0\n")), 0);
    assert_eq!(write("claim.mtx", format!("{banner}2 2 18446744073709551615\n")), 0);
    assert_eq!(write("full.mtx", format!("{banner}2 2 1000000\n{}", "2 1\n".repeat(1_000_000))), 1);
    assert_eq!(write("far.el", "0 2147483646\n".to_owned()), 0);
    assert_eq!(write("near.el", "0 1000000\n".to_owned()), 1);
    assert_eq!(write("full.el", "0 0 1\n".repeat(700_000)), 1);
    // An archive of a few kilobytes: as many rows as it may have, more than that, and more bytes than it may have.
    let empty = npy(&Array::vector(Elements::I32(vec![])));
    for (rows, ways) in [(1_000_000, 2), (4_000_000, 1), (5_000_000, 0)] {
        let path = folder.join("rows.npz");
        deflated(&path, &[("row_ptr", npy(&Array::vector(Elements::I32(vec![0; rows])))), ("col_idx", empty.clone())]);
        assert_eq!(open_each_way(&path, &["row_ptr"]), ways, "{rows}");
    }
    // Bytes that become i32, twice.
    let mut narrow = npy(&Array::vector(Elements::U8(vec![0; 15 << 20])));
    let at = narrow.windows(3).position(|w| w == b"|u1").unwrap();
    narrow[at + 1] = b'i';
    let path = folder.join("narrow.npz");
    deflated(&path, &[("src", narrow.clone()), ("dst", narrow)]);
    assert_eq!(open_each_way(&path, &["src"]), 1);
}

/// Headers of many megabytes, in each way that JSON is larger in memory than in the file.
fn large_headers(folder: &Path) {
    let path = folder.join("large.safetensors");
    let many = |item: &str, bytes: usize| item.repeat(bytes / item.len());
    let shape = format!(r#"{{"x":{{"dtype":"F32","shape":[{}0],"data_offsets":[0,0]}}}}"#, many("1,", 10 << 20));
    let nested = format!(r#"{{"__metadata__":{}"#, many("[", 20 << 20));
    let skipped = format!(r#"{{"__metadata__":[{}0]}}"#, many("[],", 20 << 20));
    let string = format!(r#"{{"x":{{"dtype":"{}","shape":[],"data_offsets":[0,0]}}}}"#, many(r"\u0041", 20 << 20));
    for header in [shape, nested, skipped, string] {
        std::fs::write(&path, safetensors(&header, &[])).unwrap();
        assert_eq!(open_each_way(&path, &["x"]), 0);
    }
    // A frame that claims a window of 120 MB, and ends.
    let window = folder.join("window.txt.zst");
    std::fs::write(&window, [&0xfd2f_b528u32.to_le_bytes()[..], &[0, 16 << 3 | 7, 1, 0, 0]].concat()).unwrap();
    assert_eq!(open_each_way(&window, &[]), 1);
    for claim in [u64::MAX, 1 << 40, 100_000_001] {
        std::fs::write(&path, claim.to_le_bytes()).unwrap();
        assert_eq!(open_each_way(&path, &["x"]), 0);
    }
}

#[test]
fn damaged_files_give_errors_in_bounded_memory() {
    let folder = TempDir::new().unwrap();
    valid_files(folder.path());
    large_claims(folder.path());
    large_headers(folder.path());
    let peak = peak();
    assert!(peak <= 256 << 20, "peak memory {peak} bytes");
}
