//! Text in `.gz` and `.zst`: the decoders, and the bounds that hold for what they unpack.

use crate::values::{LIMITS, graph_is_sound, with_file};
use crate::{Memory, Repository, Target, Verdict};
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::{Read as _, Write as _};
use tiga_formats::GraphSource;

pub(crate) const TARGET: Target = Target {
    name: "compressed",
    run,
    seeds,
    words: &["\u{1f}\u{8b}\u{8}", "(\u{b5}/\u{fd}"],
    longest: 4096,
    // A frame of Zstandard names its window, of at most 128 MiB, which the system gives as it is used.
    memory: Memory { free: 224 << 20, by_byte: 4 << 10 },
};

/// Bytes that are unpacked to learn their sum; a bomb is not looked at to its end.
const SUMMED: u64 = 1 << 20;

/// What the first byte says of the rest: the form of the text, and what packs it. A body of deflate has its sum made.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let texts: [&[u8]; 3] =
        [b"0 1\n1 2\n2 0\n", b"%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", &[b'#'; 3000]];
    let mut seeds: Vec<Vec<u8>> =
        repository.files("zst", TARGET.longest).iter().map(|file| [&[1], file.as_slice()].concat()).collect();
    for (i, text) in texts.iter().enumerate() {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        encoder.write_all(text).expect("memory can be written");
        let body = encoder.finish().expect("memory can be written");
        let form = u8::from(i == 1) << 2;
        seeds.push([&[form], gzip(&body).as_slice()].concat());
        seeds.push([&[form | 2], body.as_slice()].concat());
        seeds.push([&[form | 1], frame(text).as_slice()].concat());
    }
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, rest)) = bytes.split_first() else { return Verdict::Refused };
    let form = if kind & 4 == 0 { "el" } else { "mtx" };
    match kind & 3 {
        0 => read(&format!("{form}.gz"), rest),
        1 => read(&format!("{form}.zst"), rest),
        _ => read(&format!("{form}.gz"), &gzip(rest)),
    }
}

/// A gzip file around deflated bytes, with the sum and the length of what they unpack to, if they do.
fn gzip(body: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    let _ = DeflateDecoder::new(body).take(SUMMED).read_to_end(&mut text);
    let mut sum = Crc::new();
    sum.update(&text);
    [b"\x1f\x8b\x08\0\0\0\0\0\0\xff", body, &sum.sum().to_le_bytes(), &(text.len() as u32).to_le_bytes()].concat()
}

/// A frame of Zstandard with the text as it is: magic, a segment of known size (two bytes), one raw block.
fn frame(text: &[u8]) -> Vec<u8> {
    if text.len() < 256 {
        let block = ((text.len() as u32) << 3 | 1).to_le_bytes();
        return [b"\x28\xb5\x2f\xfd\x20".as_slice(), &[text.len() as u8], &block[..3], text].concat();
    }
    let block = ((text.len() as u32) << 3 | 1 << 1 | 1).to_le_bytes();
    let size = (text.len() as u16 - 256).to_le_bytes();
    [b"\x28\xb5\x2f\xfd\x60".as_slice(), &size, &block[..3], &text[..1]].concat()
}

fn read(ending: &str, bytes: &[u8]) -> Verdict {
    let graph = with_file(ending, bytes, |path| GraphSource::from(path).open(&LIMITS));
    match &graph {
        Ok(graph) => graph_is_sound(graph),
        Err(error) => drop(error.to_string()),
    }
    Verdict::of(&graph)
}
