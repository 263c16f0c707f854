//! Each allocation of each reader refused in turn: an array that a file asks for gives a typed error where there is no
//! memory for it, and never the end of the process.
//!
//! Buffers of at most 64 KiB and what the libraries for archives and JSON keep are asked for where a refusal ends the
//! process, as everywhere in Rust; they are small whatever the file is, and counted here.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use fuzzed::meter::{self, Meter, Refusals};
use std::fs;
use std::io::Cursor;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;
use tiga_abi::DType;
use tiga_formats::edge_list::{self, EdgeListOptions};
use tiga_formats::safetensors::Safetensors;
use tiga_formats::{Array, Elements, GraphSource, Limits, NodeCounts, matrix_market, npy, npz, open_array, open_names};

#[global_allocator]
static METER: Meter = Meter;

/// Edges of graphs whose arrays are each larger than a buffer.
const MANY: i64 = 40_000;
/// Edges of graphs of which each allocation is refused.
const FEW: [i64; 2] = [100, 400];
/// The largest buffer that is asked for where a refusal ends the process.
const BUFFER: usize = 64 << 10;
/// What the process is told when it is to run one reader by itself.
const ALONE: &str = "TIGA_REFUSE";

/// A reader: whether it gave a value.
type Read = Box<dyn Fn() -> Result<(), String>>;

fn texts(folder: &Path, edges: i64) -> Vec<(&'static str, Read)> {
    let list: String = (0..edges).map(|i| format!("{} {} {}.5\n", i, (i * 7) % edges, i)).collect();
    let names: String = (0..edges).map(|i| format!("node-{}\tnode-{}\n", i, (i * 7) % edges)).collect();
    let matrix = |head: &str| {
        let entries: String = (1..edges).map(|i| format!("{} {} {i}\n", i + 1, i)).collect();
        format!("%%MatrixMarket matrix coordinate integer {head}\n{edges} {edges} {}\n{entries}", edges - 1)
    };
    let lines: String = (0..edges).map(|i| format!("name {i}\r\n")).collect();
    let file = folder.join("names.txt");
    fs::write(&file, lines).unwrap();
    let of_list = |text: String, options: EdgeListOptions| -> Read {
        Box::new(move || {
            let read = edge_list::read(text.as_bytes(), text.len() as u64, &options, &Limits { memory: u64::MAX });
            let graph = read.map_err(|error| error.to_string())?;
            if !graph.has_values() {
                return Ok(());
            }
            graph.values(DType::F64).map(drop).map_err(|error| error.to_string())
        })
    };
    let of_matrix = |text: String| -> Read {
        Box::new(move || {
            let read = matrix_market::read(text.as_bytes(), text.len() as u64, &Limits { memory: u64::MAX });
            let graph = read.map_err(|error| error.to_string())?;
            graph.values(DType::I64).map(drop).map_err(|error| error.to_string())
        })
    };
    vec![
        ("edge list", of_list(list.clone(), EdgeListOptions::default())),
        (
            "edge list, counted",
            of_list(list, EdgeListOptions { nodes: Some(NodeCounts::both(edges as u64)), named: false }),
        ),
        ("edge list, named", of_list(names, EdgeListOptions { nodes: None, named: true })),
        ("matrix market, general", of_matrix(matrix("general"))),
        ("matrix market, skew-symmetric", of_matrix(matrix("skew-symmetric"))),
        (
            "names",
            Box::new(move || open_names(&file, &Limits { memory: u64::MAX }).map(drop).map_err(|e| e.to_string())),
        ),
    ]
}

fn arrays(folder: &Path, edges: i64) -> Vec<(&'static str, Read)> {
    let count = edges as usize;
    let ends = Array::new(vec![2, count], Elements::I64((0..2 * edges).map(|i| i % edges).collect())).unwrap();
    let mut in_c = Vec::new();
    npy::write(&mut in_c, &ends).unwrap();
    let in_fortran = String::from_utf8_lossy(&in_c[..128]).into_owned();
    assert!(in_fortran.contains("False, "));
    let mut fortran = in_c.clone();
    let at = in_fortran.chars().collect::<String>().find("False, ").unwrap();
    // The first character is no UTF-8 and stands for itself in three bytes.
    fortran[at - 2..at + 5].copy_from_slice(b"True,  ");
    let path = folder.join("ends.npy");
    fs::write(&path, &in_c).unwrap();
    let header = format!(r#"{{"x":{{"dtype":"U16","shape":[{count}],"data_offsets":[0,{}]}}}}"#, 2 * count);
    let tensors = folder.join("x.safetensors");
    fs::write(&tensors, [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![0; 2 * count]].concat())
        .unwrap();
    let of_bytes = |bytes: Vec<u8>| -> Read {
        Box::new(move || {
            let read = npy::read(bytes.as_slice(), bytes.len() as u64, &Limits { memory: u64::MAX });
            read.map(drop).map_err(|error| error.to_string())
        })
    };
    let graph = path.clone();
    vec![
        ("npy", of_bytes(in_c)),
        ("npy, by columns", of_bytes(fortran)),
        (
            "npy, by its path",
            Box::new(move || {
                open_array(path.to_str().unwrap(), &Limits { memory: u64::MAX }).map(drop).map_err(|e| e.to_string())
            }),
        ),
        ("npy, edges", of_graph(graph)),
        (
            "safetensors",
            Box::new(move || {
                let mut file = Safetensors::open(&tensors, &Limits { memory: u64::MAX }).map_err(|e| e.to_string())?;
                file.array("x").map(drop).map_err(|e| e.to_string())
            }),
        ),
    ]
}

fn of_graph(path: PathBuf) -> Read {
    Box::new(move || {
        let graph = GraphSource::from(path.as_path()).open(&Limits { memory: u64::MAX }).map_err(|e| e.to_string())?;
        if !graph.has_values() {
            return Ok(());
        }
        graph.values(DType::F32).map(drop).map_err(|error| error.to_string())
    })
}

fn archives(folder: &Path, edges: i64) -> Vec<(&'static str, Read)> {
    let ints = |f: &dyn Fn(i64) -> i64, len: i64| Array::vector(Elements::I64((0..len).map(f).collect()));
    let narrow = |len: i64| Array::vector(Elements::I32((0..len as i32).collect()));
    let values = Array::vector(Elements::F32((0..edges).map(|i| i as f32).collect()));
    let names = Array::vector(Elements::U8((0..edges).flat_map(|i| format!("node {i}\n").into_bytes()).collect()));
    let save = |name: &str, members: &[(&str, &Array)]| {
        let path = folder.join(name);
        let mut archive = Cursor::new(Vec::new());
        npz::write(&mut archive, members.iter().copied()).unwrap();
        fs::write(&path, archive.into_inner()).unwrap();
        path
    };
    let (src, dst, starts) = (ints(&|i| i, edges), ints(&|i| (i * 7) % edges, edges), narrow(edges + 1));
    let listed = save("edges.npz", &[("src", &src), ("dst", &dst), ("values", &values), ("names", &names)]);
    let rows = save("rows.npz", &[("row_ptr", &starts), ("col_idx", &src), ("values", &values)]);
    let text = folder.join("edges.el.zst");
    fs::write(&text, fs::read(zst()).unwrap()).unwrap();
    vec![("npz, edges", of_graph(listed)), ("npz, rows", of_graph(rows)), ("zst", of_graph(text))]
}

/// A compressed list of edges that the repository has.
fn zst() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../run/inputs/edges.tsv.zst")
}

/// All readers, with their files in the folder, of graphs with so many edges.
fn readers(folder: &Path, edges: i64) -> Vec<(&'static str, Read)> {
    texts(folder, edges).into_iter().chain(arrays(folder, edges)).chain(archives(folder, edges)).collect()
}

/// A refusal of each array that is larger than a buffer is an error that says so, and nothing else happens.
#[test]
fn an_array_that_is_refused_is_an_error() {
    let folder = TempDir::new().unwrap();
    for (name, read) in readers(folder.path(), MANY) {
        read().unwrap();
        let (mut refused, mut otherwise) = (0, 0);
        loop {
            let (result, Refusals { calls, refused: bytes }) = meter::refusing(refused, BUFFER + 1, &read);
            if bytes == 0 {
                result.unwrap();
                assert_eq!(calls, refused, "{name}");
                break;
            }
            match result {
                Err(error) => assert!(error.contains("memory"), "{name}: {bytes} bytes refused: {error}"),
                // A table that may not double asks for less.
                Ok(()) => otherwise += 1,
            }
            refused += 1;
        }
        println!("{name:<30} {refused} arrays, each refused in turn; {otherwise} made do with less");
        assert!(otherwise <= refused / 2, "{name}");
        assert!(refused > 0 || name == "zst", "{name} asks for no array");
    }
}

/// What became of the refusals of one reader.
#[derive(Clone, Copy, Debug, Default)]
struct Ends {
    /// Those that are errors.
    errors: usize,
    /// Those that end the process.
    ends: usize,
    /// Those that unwind.
    panics: usize,
    /// The most bytes that one of these asked for.
    largest: usize,
}

/// Of the allocations that cannot be refused there are as many, whatever the size of the file, and they are small.
#[test]
fn what_cannot_be_refused_does_not_grow_with_the_file() {
    let folder = TempDir::new().unwrap();
    if let Ok(alone) = std::env::var(ALONE) {
        let numbers: Vec<i64> = alone.split(' ').map(|number| number.parse().unwrap()).collect();
        let readers = readers(folder.path(), numbers[1]);
        refuse_from(numbers[2] as u64, &readers[numbers[0] as usize].1);
        return;
    }
    for (number, (name, _)) in readers(folder.path(), FEW[0]).iter().enumerate() {
        let [few, more] = FEW.map(|edges| ends(name, number, edges));
        println!(
            "{name:<30} {:>4} refusals are errors, {:>3} end the process, of at most {} bytes",
            more.errors, more.ends, more.largest
        );
        // The decoder of Zstandard panics where there is no memory for a window, of at most 128 MiB; a file is unpacked
        // twice.
        assert_eq!(more.panics, 2 * usize::from(*name == "zst"), "{name}");
        assert!(few.ends == more.ends && few.largest.max(more.largest) <= BUFFER, "{name}: {few:?}, {more:?}");
    }
}

/// Refuses each allocation of a reader. One that ends the process is that of a process of its own, which says before what
/// it is about to refuse.
fn ends(name: &str, number: usize, edges: i64) -> Ends {
    let (mut counts, mut first) = (Ends::default(), 0);
    loop {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "what_cannot_be_refused_does_not_grow_with_the_file", "--nocapture"]);
        // The way to each end would take far longer than the end.
        child.env("RUST_BACKTRACE", "0").env(ALONE, format!("{number} {edges} {first}"));
        let output = child.output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        counts.panics += text.lines().filter(|line| line.starts_with("panic ")).count();
        counts.errors += text.lines().filter(|line| line.starts_with("error ")).count();
        if output.status.success() {
            return counts;
        }
        let last = |word: &str| text.lines().filter_map(|line| line.strip_prefix(word)).next_back().map(str::to_owned);
        let bytes = last("memory allocation of ").unwrap_or_else(|| panic!("{name}: {text}"));
        let bytes: usize = bytes.split(' ').next().unwrap().parse().unwrap();
        counts.ends += 1;
        counts.largest = counts.largest.max(bytes);
        first = last("refusing ").unwrap().parse::<u64>().unwrap() + 1;
    }
}

/// On the standard error stream, the number of an allocation that is about to be refused and what came of it.
fn refuse_from(first: u64, read: &Read) {
    for number in first.. {
        eprintln!("refusing {number}");
        let unwound = || std::panic::catch_unwind(AssertUnwindSafe(read));
        let (result, Refusals { refused, .. }) = meter::refusing(number, 1, unwound);
        if refused == 0 {
            return;
        }
        match result {
            Ok(Ok(())) => eprintln!("value {refused}"),
            Ok(Err(error)) => eprintln!("error {refused} {error}"),
            Err(_) => eprintln!("panic {refused}"),
        }
    }
}
