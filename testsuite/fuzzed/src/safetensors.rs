//! Files of safetensors.

use crate::values::{LIMITS, array_is_sound, graph_is_sound, with_file};
use crate::{Memory, Repository, Target, Verdict};
use tiga_formats::GraphSource;
use tiga_formats::safetensors::Safetensors;

pub(crate) const TARGET: Target = Target {
    name: "safetensors",
    run,
    seeds,
    words: &[
        "\"dtype\":",
        "\"shape\":",
        "\"data_offsets\":",
        "\"__metadata__\":",
        "\"F32\"",
        "\"F64\"",
        "\"F16\"",
        "\"BF16\"",
        "\"I8\"",
        "\"U16\"",
        "\"U32\"",
        "\"I64\"",
        "\"BOOL\"",
        "[0,0]",
        "[2,3]",
        "[]",
        "18446744073709551615",
        "{\"x\":{",
        "}}",
    ],
    longest: 4096,
    memory: Memory { free: 64 << 20, by_byte: 1 << 10 },
};

/// Arrays of one file that are read.
const READ: usize = 8;

/// What the first byte says of the rest: a file as it is, or its header, a zero, and the arrays.
fn seeds(_: &Repository) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (header, bytes) in [
        (r#"{"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}"#, 24),
        (
            r#"{"__metadata__":{"format":"pt"},"e":{"dtype":"I64","shape":[2,2],"data_offsets":[0,32]},"y":{"dtype":"BOOL","shape":[],"data_offsets":[32,33]}}"#,
            33,
        ),
        (
            r#"{"a":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]},"b":{"dtype":"U16","shape":[1],"data_offsets":[6,8]}}"#,
            8,
        ),
        (r#"{"i":{"dtype":"I8","shape":[0,4],"data_offsets":[0,0]}}"#, 0),
    ] {
        let input = [header.as_bytes(), b"\0", &vec![0; bytes]].concat();
        seeds.push([&[0], built(&input).as_slice()].concat());
        seeds.push([&[1], input.as_slice()].concat());
    }
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, rest)) = bytes.split_first() else { return Verdict::Refused };
    if kind % 2 == 0 { read(rest) } else { read(&built(rest)) }
}

/// A file whose header has the length that it says.
fn built(bytes: &[u8]) -> Vec<u8> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let body = bytes.get(end + 1..).unwrap_or_default();
    [&(end as u64).to_le_bytes(), &bytes[..end], body].concat()
}

fn read(bytes: &[u8]) -> Verdict {
    with_file("safetensors", bytes, |path| {
        let file = Safetensors::open(path, &LIMITS);
        let verdict = Verdict::of(&file);
        if let Ok(mut file) = file {
            let names: Vec<String> = file.names().take(READ).map(str::to_owned).collect();
            for name in names {
                match file.array(&name) {
                    Ok(array) => array_is_sound(&array),
                    Err(error) => drop(error.to_string()),
                }
            }
        }
        match GraphSource::from(path).open(&LIMITS) {
            Ok(graph) => graph_is_sound(&graph),
            Err(error) => drop(error.to_string()),
        }
        verdict
    })
}
