//! Damaged and forged bundles: always a typed refusal, never a panic, never more memory than the file asks for.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

mod sample;

use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::io::{Cursor, Write};
use std::ops::Range;
use tiga_bundle::{Bundle, BundleError, write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

fn sound() -> Vec<u8> {
    write(&sample::contents()).unwrap()
}

fn refusal(bytes: Vec<u8>) -> BundleError {
    Bundle::from_bytes(bytes).expect_err("a hostile bundle was accepted")
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The entries of a sound bundle.
fn entries(bytes: &[u8]) -> BTreeMap<String, Range<usize>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut all = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).unwrap();
        let start = entry.data_start().unwrap() as usize;
        all.insert(entry.name().unwrap().into_owned(), start..start + entry.size() as usize);
    }
    all
}

/// Makes the last line of the comment true again.
fn reseal(bytes: &mut [u8]) {
    let comment = bytes.len() - b"tiga-bundle 1\nlist \nfile \n".len() - 128;
    let sum = sha256(&bytes[..comment]);
    let end = bytes.len() - 1;
    bytes[end - 64..end].copy_from_slice(sum.as_bytes());
}

/// A bundle of any entries, with correct checksums.
fn forge(entries: &BTreeMap<String, Vec<u8>>, version: &str, alignment: u16) -> Vec<u8> {
    forge_unlisted(entries, version, alignment, None)
}

/// The same with one entry that the list does not have.
fn forge_unlisted(
    entries: &BTreeMap<String, Vec<u8>>,
    version: &str,
    alignment: u16,
    unlisted: Option<&str>,
) -> Vec<u8> {
    let listed = entries.iter().filter(|(name, _)| Some(name.as_str()) != unlisted);
    let list: String = listed.map(|(name, bytes)| format!("{}  {name}\n", sha256(bytes))).collect();
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored).with_alignment(alignment);
    let list = [("sha256.txt", list.as_bytes())];
    for (name, bytes) in entries.iter().map(|(name, bytes)| (name.as_str(), bytes.as_slice())).chain(list) {
        zip.start_file(name, options).unwrap();
        zip.write_all(bytes).unwrap();
    }
    let comment = |file: &str| format!("tiga-bundle {version}\nlist {}\nfile {file}\n", sha256(list[0].1));
    zip.set_comment(comment(&"0".repeat(64)).as_str()).unwrap();
    let mut bytes = zip.finish().unwrap().into_inner();
    bytes.truncate(bytes.len() - comment(&"0".repeat(64)).len());
    let comment = comment(&sha256(&bytes));
    bytes.extend(comment.into_bytes());
    bytes
}

fn parts() -> BTreeMap<String, Vec<u8>> {
    let bytes = sound();
    let all = entries(&bytes).into_iter().filter(|(name, _)| name != "sha256.txt");
    all.map(|(name, range)| (name, bytes[range].to_vec())).collect()
}

fn forged(change: impl FnOnce(&mut BTreeMap<String, Vec<u8>>)) -> BundleError {
    let mut entries = parts();
    change(&mut entries);
    refusal(forge(&entries, "1", 64))
}

/// Rewrites all places where one text stands by another of the same length.
fn patch(bytes: &mut [u8], from: &[u8], to: &[u8]) -> usize {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = (0..=bytes.len() - from.len()).filter(|i| bytes[*i..].starts_with(from)).collect();
    places.iter().for_each(|i| bytes[*i..*i + to.len()].copy_from_slice(to));
    places.len()
}

/// Changes a field of the local and of the central header of the manifest.
fn patch_headers(local: usize, central: usize, value: &[u8]) -> Vec<u8> {
    let mut bytes = sound();
    let name = b"manifest.json";
    let places: Vec<usize> = (0..bytes.len() - name.len()).filter(|i| bytes[*i..].starts_with(name)).collect();
    for place in places {
        let header = if bytes[place - 30..].starts_with(b"PK\x03\x04") {
            place - 30 + local
        } else if bytes[place - 46..].starts_with(b"PK\x01\x02") {
            place - 46 + central
        } else {
            continue;
        };
        bytes[header..header + value.len()].copy_from_slice(value);
    }
    reseal(&mut bytes);
    bytes
}

#[test]
fn forging_makes_what_writing_makes() {
    assert_eq!(*Bundle::from_bytes(forge(&parts(), "1", 64)).unwrap().manifest(), sample::contents().manifest);
}

#[test]
fn cut_at_every_64th() {
    let bytes = sound();
    assert!(matches!(refusal(Vec::new()), BundleError::Empty));
    for part in 1..64 {
        let error = refusal(bytes[..bytes.len() * part / 64].to_vec());
        assert!(matches!(error, BundleError::Truncated { .. }), "{part}/64: {error}");
    }
    for cut in 1..200 {
        refusal(bytes[..bytes.len() - cut].to_vec());
    }
}

#[test]
fn a_bit_flipped_in_every_entry_names_the_entry() {
    let bytes = sound();
    for (name, range) in entries(&bytes) {
        for place in [range.start, (range.start + range.end) / 2, range.end - 1] {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[place] ^= 1 << bit;
                match refusal(flipped) {
                    BundleError::Checksum { name: found, .. } => assert_eq!(found, name),
                    error => panic!("{name} byte {place} bit {bit}: {error}"),
                }
            }
        }
    }
}

#[test]
fn a_bit_flipped_anywhere_else_is_noticed() {
    let bytes = sound();
    let inside: Vec<Range<usize>> = entries(&bytes).into_values().collect();
    let outside: Vec<usize> = (0..bytes.len()).filter(|i| !inside.iter().any(|range| range.contains(i))).collect();
    assert!(outside.len() > 500);
    for place in outside {
        for bit in 0..8 {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            refusal(flipped);
        }
    }
}

#[test]
fn a_bit_flipped_and_sealed_again_changes_no_content() {
    let (bytes, sound) = (sound(), Bundle::from_bytes(sound()).unwrap());
    let contents = |bundle: &Bundle| {
        let names: Vec<String> = bundle.entries().map(|(name, _)| name.to_owned()).collect();
        names.into_iter().map(|name| (bundle.entry(&name).unwrap().to_vec(), name)).collect::<Vec<_>>()
    };
    let inside: Vec<Range<usize>> = entries(&bytes).into_values().collect();
    for place in (0..bytes.len() - 160).filter(|i| !inside.iter().any(|range| range.contains(i))) {
        for bit in [0, 3, 7] {
            let mut flipped = bytes.clone();
            flipped[place] ^= 1 << bit;
            reseal(&mut flipped);
            if let Ok(bundle) = Bundle::from_bytes(flipped) {
                assert_eq!(contents(&bundle), contents(&sound));
            }
        }
    }
}

#[test]
fn no_archive_and_another_archive() {
    assert!(matches!(refusal(b"\x7fELF and more".to_vec()), BundleError::NotZip { .. }));
    assert!(matches!(refusal(vec![b'P']), BundleError::Truncated { .. }));
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file("manifest.json", SimpleFileOptions::default()).unwrap();
    let plain = zip.finish().unwrap().into_inner();
    assert!(matches!(refusal(plain), BundleError::NotBundle { .. }));
}

#[test]
fn future_versions() {
    match refusal(forge(&parts(), "2", 64)) {
        BundleError::Version { found, known } => assert_eq!((found.as_str(), known), ("2", 1)),
        error => panic!("{error}"),
    }
    let error = forged(|entries| {
        let manifest = String::from_utf8(entries["manifest.json"].clone()).unwrap();
        entries.insert("manifest.json".into(), manifest.replace("\"format\":1", "\"format\":2").into_bytes());
    });
    assert_eq!(error.to_string(), "the manifest is wrong at $.format: version `2`, this program reads `1`");
}

#[test]
fn two_entries_of_one_name() {
    let mut entries = parts();
    entries.insert("manifesu.json".into(), b"{}".to_vec());
    let mut bytes = forge(&entries, "1", 64);
    assert!(patch(&mut bytes, b"manifesu.json", b"manifest.json") >= 2);
    reseal(&mut bytes);
    assert!(matches!(refusal(bytes), BundleError::Duplicate));
}

#[test]
fn names_that_lead_outside() {
    for name in ["../evil", "/etc/passwd", "ir/../x.tir", "ir//x.tir", "ir\\x.tir", "C:evil", ".hidden", "ir/", "a\0b"]
    {
        // The archive's writer cleans some names: forge a harmless one of the same length and patch it.
        let harmless = "Z".repeat(name.len());
        let mut entries = parts();
        entries.insert(harmless.clone(), b"x".to_vec());
        let mut bytes = forge(&entries, "1", 64);
        assert!(patch(&mut bytes, harmless.as_bytes(), name.as_bytes()) >= 2);
        reseal(&mut bytes);
        let error = refusal(bytes);
        assert!(matches!(&error, BundleError::UnsafeName { name: found } if found == name), "{name}: {error}");
    }
}

#[test]
fn compressed_and_encrypted_entries() {
    let deflated = patch_headers(8, 10, &8_u16.to_le_bytes());
    assert!(matches!(refusal(deflated), BundleError::Compressed { name, .. } if name == "manifest.json"));
    let encrypted = patch_headers(6, 8, &1_u16.to_le_bytes());
    assert!(matches!(refusal(encrypted), BundleError::Encrypted { name } if name == "manifest.json"));
}

#[test]
fn sizes_beyond_the_file() {
    let huge = 0x7fff_fff0_u32.to_le_bytes();
    let both = patch_headers(18, 20, &[huge, huge].concat());
    assert!(matches!(refusal(both), BundleError::Size { claimed: 0x7fff_fff0, .. }));
    // A zip bomb: few bytes in the archive, many when read.
    let bomb = patch_headers(22, 24, &huge);
    assert!(matches!(refusal(bomb), BundleError::Size { claimed: 0x7fff_fff0, .. }));
}

#[test]
fn overlapping_entries() {
    let mut bytes = sound();
    let all = entries(&bytes);
    let reach = (all["plans/heat.json"].start + 8 - all["manifest.json"].start) as u32;
    bytes = patch_headers(18, 20, &[reach.to_le_bytes(), reach.to_le_bytes()].concat());
    assert!(matches!(refusal(bytes), BundleError::Overlap));
}

#[test]
fn data_at_the_wrong_place() {
    for alignment in [1, 8, 16, 32] {
        let error = refusal(forge(&parts(), "1", alignment));
        assert!(matches!(error, BundleError::Misaligned { .. }), "{alignment}: {error}");
    }
}

#[test]
fn too_few_and_too_many_entries() {
    for name in ["manifest.json", "plans/heat.json", "kernels/x86-64-v3.so"] {
        let error = forged(|entries| drop(entries.remove(name)));
        assert!(matches!(&error, BundleError::MissingEntry { name: found } if found == name), "{error}");
    }
    for name in ["more.txt", "plans/other.json", "kernels/none.so", "ir/readme.md"] {
        let error = forged(|entries| drop(entries.insert(name.into(), b"x".to_vec())));
        assert!(matches!(&error, BundleError::UnknownEntry { name: found } if found == name), "{error}");
    }
    let error = forged(|entries| drop(entries.insert("ir/x.tir".into(), vec![0xff])));
    assert!(matches!(error, BundleError::NotText { .. }));
}

#[test]
fn an_entry_that_the_list_does_not_name() {
    let mut entries = parts();
    entries.insert("ir/a.tir".into(), b"x".to_vec());
    let error = refusal(forge_unlisted(&entries, "1", 64, Some("ir/a.tir")));
    assert!(matches!(&error, BundleError::UnknownEntry { name } if name == "ir/a.tir"), "{error}");

    let mut bytes = forge(&entries, "1", 64);
    // The list names another entry; its own checksum in the comment is made true.
    let list = self::entries(&bytes)["sha256.txt"].clone();
    let changed = String::from_utf8(bytes[list.clone()].to_vec()).unwrap().replace("ir/a.tir", "ir/b.tir");
    let old = sha256(&bytes[list.clone()]);
    bytes[list].copy_from_slice(changed.as_bytes());
    assert_eq!(patch(&mut bytes, old.as_bytes(), sha256(changed.as_bytes()).as_bytes()), 1);
    reseal(&mut bytes);
    assert!(matches!(refusal(bytes), BundleError::MissingEntry { name } if name == "ir/b.tir"));
}

#[test]
fn manifests_and_plans_that_are_wrong_say_where() {
    let manifest = |from: &'static str, to: &'static str| {
        forged(move |entries| {
            let text = String::from_utf8(entries["manifest.json"].clone()).unwrap();
            assert!(text.contains(from), "{from}");
            entries.insert("manifest.json".into(), text.replace(from, to).into_bytes());
        })
        .to_string()
    };
    assert_eq!(
        manifest("\"dtype\":\"f32\"", "\"dtype\":\"f31\""),
        "the manifest is wrong at $.programs[0].params[1].type.dtype: `\"f31\"` is none of bool, i32, i64, f16, bf16, f32, f64"
    );
    assert_eq!(manifest("\"fp\"", "\"fq\""), "the manifest is wrong at $: `fp` is missing");
    assert!(manifest("{", "[").starts_with("the manifest is wrong at $: not JSON"));
    assert!(manifest("4*D", "4*(D").contains("$.kernels[0].scratch: `4*(D` is not a size expression"));
    let error = forged(|entries| drop(entries.insert("plans/heat.json".into(), b"[".repeat(1000))));
    assert!(matches!(error, BundleError::Plan { name, .. } if name == "plans/heat.json"));
    let error = forged(|entries| drop(entries.insert("plans/heat.json".into(), vec![b' '; 5 << 20])));
    assert!(error.to_string().contains("at most 4194304 are read"), "{error}");
}
