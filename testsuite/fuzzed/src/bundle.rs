//! Bundles: read and inspected, never run.
//!
//! The first byte says what the rest is: entries as pieces, of which a whole bundle is made, or a file, whose sums are
//! made right where it is still an archive.

use crate::pieces::{join, split};
use crate::zip_sums::mend;
use crate::{Memory, Repository, Target, Verdict, plan};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Write as _};
use tiga_bundle::Bundle;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

pub(crate) const TARGET: Target = Target {
    name: "bundle",
    run,
    seeds,
    words: &[
        "\u{2}@\u{2}",
        "manifest.json\n",
        "plans/",
        "kernels/",
        "ir/",
        ".json\n",
        ".so\n",
        ".tir\n",
        "sha256.txt",
        "\"format\":1",
        "\"language\":",
        "\"compiler\":",
        "\"fp\":",
        "\"targets\":",
        "\"programs\":",
        "\"kernels\":",
        "\"features\":",
        "\"entry\":",
        "\"origin\":",
        "\"params\":",
        "\"results\":",
        "\"plan\":",
        "\"type\":",
        "\"is\":",
        "\"graph\"",
        "\"tensor\"",
        "\"dtype\":",
        "\"shape\":",
        "\"variants\":",
        "\"guard\":",
        "\"syms\":",
        "\"ptrs\":",
        "\"scratch\":",
        "\"relation\":",
        "\"doc\":",
        "ceildiv(",
        "\"tiga.plan-template.v1\"",
        "tiga-bundle 1\nlist ",
        "PK\u{1}\u{2}",
        "PK\u{3}\u{4}",
        "PK\u{5}\u{6}",
    ],
    longest: 16384,
    memory: Memory { free: 16 << 20, by_byte: 1 << 10 },
};

/// Bytes of an object that seeds keep: nothing reads it.
const OBJECT: usize = 64;

/// The golden bundles, as pieces and as files, their objects cut short.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for file in repository.files("tgb", usize::MAX) {
        let bundle = Bundle::from_bytes(file).expect("a golden bundle is whole");
        let entries = bundle.entries().filter_map(|(name, _)| Some((name, bundle.entry(name)?)));
        let kept = entries.filter(|(name, _)| *name != "sha256.txt");
        let cut = kept.map(|(name, bytes)| {
            let least = name.ends_with(".so") || name.ends_with(".tir");
            (name, if least { bytes.get(..OBJECT).unwrap_or(bytes) } else { bytes })
        });
        let pieces = join(cut);
        let archive = bundle_of(&pieces);
        for seed in [[&[1], pieces.as_slice()].concat(), [&[0], archive.as_slice()].concat()] {
            if seed.len() <= TARGET.longest {
                seeds.push(seed);
            }
        }
    }
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, rest)) = bytes.split_first() else { return Verdict::Refused };
    if kind % 2 == 1 {
        return read(bundle_of(rest));
    }
    let mut file = rest.to_vec();
    mend_all(&mut file);
    read(file)
}

fn read(bytes: Vec<u8>) -> Verdict {
    let bundle = match Bundle::from_bytes(bytes) {
        Ok(bundle) => bundle,
        Err(error) => {
            let _ = error.to_string();
            return Verdict::Refused;
        }
    };
    tiga::inspect::print(&bundle, &mut std::io::sink()).expect("nothing refuses what is written");
    tiga::inspect_json::document(&bundle);
    for (name, size) in bundle.entries() {
        assert_eq!(bundle.entry(name).map(<[u8]>::len), Some(size));
    }
    for target in &bundle.manifest().targets {
        assert!(bundle.kernels(&target.name).is_some(), "a checked bundle has the kernels of its targets");
    }
    for program in &bundle.manifest().programs {
        plan::template_is_sound(bundle.plan(&program.name).expect("a checked bundle has a plan for each program"));
    }
    Verdict::Accepted
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The comment of an archive whose other bytes are `before`.
fn comment(list: &[u8], before: &[u8]) -> String {
    format!("tiga-bundle 1\nlist {}\nfile {}\n", hex(list), hex(before))
}

/// A bundle of these entries, with its list of sums and its comment.
fn bundle_of(bytes: &[u8]) -> Vec<u8> {
    let mut entries: BTreeMap<String, Vec<u8>> =
        split(bytes).into_iter().map(|(name, bytes)| (name, bytes.to_vec())).collect();
    entries.remove("sha256.txt");
    let list: String = entries.iter().map(|(name, bytes)| format!("{}  {name}\n", hex(bytes))).collect();
    entries.insert("sha256.txt".into(), list.clone().into_bytes());
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored).with_alignment(64);
    for (name, bytes) in &entries {
        if archive.start_file(name.as_str(), options).is_ok() {
            archive.write_all(bytes).expect("memory can be written");
        }
    }
    let placeholder = comment(b"", b"");
    archive.set_comment(placeholder.as_str()).expect("the comment is short");
    let Ok(archive) = archive.finish() else { return Vec::new() };
    let mut bytes = archive.into_inner();
    bytes.truncate(bytes.len() - placeholder.len());
    let comment = comment(list.as_bytes(), &bytes);
    bytes.extend_from_slice(comment.as_bytes());
    bytes
}

/// Makes the sums of an archive right: those of its members, those of the list, those of the comment.
fn mend_all(bytes: &mut [u8]) {
    let members = mend(bytes);
    let Some(list) = members.iter().find(|member| member.name == b"sha256.txt") else { return };
    let text = bytes[list.data.clone()].to_vec();
    let mut at = list.data.start;
    for line in text.split_inclusive(|byte| *byte == b'\n') {
        let name = line.get(66..).map(<[u8]>::trim_ascii_end);
        if let Some(member) = members.iter().find(|member| Some(member.name.as_slice()) == name) {
            let sum = hex(&bytes[member.data.clone()]);
            bytes[at..at + 64].copy_from_slice(sum.as_bytes());
        }
        at += line.len();
    }
    // The list has other bytes now.
    mend(bytes);
    let length = comment(b"", b"").len();
    let Some(before) = bytes.len().checked_sub(length) else { return };
    let comment = comment(&bytes[list.data.clone()], &bytes[..before]);
    if bytes[before..].starts_with(b"tiga-bundle ") {
        bytes[before..].copy_from_slice(comment.as_bytes());
    }
}
