//! Opening a bundle: everything is checked before anything is used.
//!
//! The file is read, not mapped: what was checked is what runs, even if the file changes meanwhile.

use crate::check::check;
use crate::{ALIGNMENT, BundleError, FORMAT, LIST, MANIFEST, MAX_BUNDLE, Manifest, comment, is_safe, sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Cursor, Read};
use std::ops::Range;
use std::path::Path;
use tiga_plan::Template;
use zip::{CompressionMethod, ZipArchive};

type Result<T> = std::result::Result<T, BundleError>;

/// A checked bundle.
#[derive(Clone, Debug)]
pub struct Bundle {
    bytes: Vec<u8>,
    entries: BTreeMap<String, Range<usize>>,
    manifest: Manifest,
    plans: BTreeMap<String, Template>,
}

impl Bundle {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn open(path: &Path) -> Result<Self> {
        let mut bytes = Vec::new();
        File::open(path)?.take(MAX_BUNDLE + 1).read_to_end(&mut bytes)?;
        Self::from_bytes(bytes)
    }

    /// Checks the bytes of a file.
    ///
    /// # Errors
    /// The first thing that is not as it must be.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let end = end_of_archive(&bytes)?;
        let entries = read_directory(&bytes)?;
        check_sums(&bytes, end, &entries)?;
        let text = |name: &str| -> Result<&[u8]> {
            entries.get(name).map(|range| &bytes[range.clone()]).ok_or_else(|| missing(name))
        };
        let manifest = Manifest::from_json(text(MANIFEST)?).map_err(BundleError::Manifest)?;
        let mut plans = Vec::new();
        for program in &manifest.programs {
            let plan = Template::from_json(text(&program.plan)?);
            plans.push(plan.map_err(|source| BundleError::Plan { name: program.plan.clone(), source })?);
        }
        check(&manifest, &plans)?;
        check_entries(&manifest, &bytes, &entries)?;
        let plans = plans.into_iter().map(|plan| (plan.program.clone(), plan)).collect();
        Ok(Bundle { bytes, entries, manifest, plans })
    }

    /// What the bundle says about itself.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The plan of a program.
    pub fn plan(&self, program: &str) -> Option<&Template> {
        self.plans.get(program)
    }

    /// The shared object of a target.
    pub fn kernels(&self, target: &str) -> Option<&[u8]> {
        self.entry(&format!("kernels/{target}.so"))
    }

    /// The SHA-256 of the shared object of a target, in hexadecimal. Opening has compared it.
    pub fn kernels_checksum(&self, target: &str) -> Option<&str> {
        let entry = format!("kernels/{target}.so");
        let list = std::str::from_utf8(self.entry(LIST)?).ok()?;
        list.lines().filter_map(|line| line.split_once("  ")).find(|(_, name)| *name == entry).map(|(sum, _)| sum)
    }

    /// Intermediate code by name.
    pub fn ir(&self, name: &str) -> Option<&str> {
        // Opening has checked that it is UTF-8.
        self.entry(&format!("ir/{name}.tir")).and_then(|bytes| std::str::from_utf8(bytes).ok())
    }

    /// The bytes of an entry.
    pub fn entry(&self, name: &str) -> Option<&[u8]> {
        self.entries.get(name).map(|range| &self.bytes[range.clone()])
    }

    /// All entries with their sizes in bytes, in the order of their names.
    pub fn entries(&self) -> impl Iterator<Item = (&str, usize)> {
        self.entries.iter().map(|(name, range)| (name.as_str(), range.len()))
    }
}

fn missing(name: &str) -> BundleError {
    BundleError::MissingEntry { name: name.to_owned() }
}

/// Where the archive's comment starts. Recognises what is no bundle at all, and other versions.
fn end_of_archive(bytes: &[u8]) -> Result<usize> {
    let len = bytes.len() as u64;
    if bytes.is_empty() {
        return Err(BundleError::Empty);
    }
    if len > MAX_BUNDLE {
        return Err(BundleError::TooLarge { found: len, limit: MAX_BUNDLE });
    }
    if !b"PK\x03\x04".starts_with(&bytes[..bytes.len().min(4)]) {
        return Err(BundleError::NotZip { found: bytes[..bytes.len().min(4)].to_vec() });
    }
    // The end record: a signature, 16 bytes, the length of the comment, the comment.
    let ends_here = |start: &usize| {
        let record = &bytes[*start..];
        record.starts_with(b"PK\x05\x06")
            && record.get(20..22).is_some_and(|n| 22 + usize::from(u16::from_le_bytes([n[0], n[1]])) == record.len())
    };
    let nearest = bytes.len().saturating_sub(22);
    let start = (nearest.saturating_sub(usize::from(u16::MAX))..=nearest).rev().find(ends_here);
    let comment = start.ok_or(BundleError::Truncated { len })? + 22;
    let text = String::from_utf8_lossy(&bytes[comment..]);
    let version = text.strip_prefix("tiga-bundle ").and_then(|rest| rest.lines().next());
    match version {
        None => Err(BundleError::NotBundle { found: text.chars().take(40).collect() }),
        Some(found) if found != FORMAT.to_string() => {
            Err(BundleError::Version { found: found.chars().take(40).collect(), known: FORMAT })
        }
        Some(_) => Ok(comment),
    }
}

fn read_directory(bytes: &[u8]) -> Result<BTreeMap<String, Range<usize>>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).map_err(BundleError::Directory)?;
    if archive.has_duplicate_names() {
        return Err(BundleError::Duplicate);
    }
    let mut entries = BTreeMap::new();
    for index in 0..archive.len() {
        let (name, range) = read_entry(&mut archive, index, bytes.len())?;
        entries.insert(name, range);
    }
    match archive.has_overlapping_entries() {
        Ok(false) => Ok(entries),
        Ok(true) => Err(BundleError::Overlap),
        Err(error) => Err(BundleError::Directory(error)),
    }
}

fn read_entry(archive: &mut ZipArchive<Cursor<&[u8]>>, index: usize, len: usize) -> Result<(String, Range<usize>)> {
    let file = archive.by_index_raw(index).map_err(BundleError::Directory)?;
    let name = String::from_utf8_lossy(file.name_raw()).into_owned();
    if !is_safe(&name) {
        return Err(BundleError::UnsafeName { name });
    }
    if file.encrypted() {
        return Err(BundleError::Encrypted { name });
    }
    if file.compression() != CompressionMethod::Stored {
        return Err(BundleError::Compressed { name, method: file.compression().to_string() });
    }
    let start = file.data_start().unwrap_or(u64::MAX);
    let claimed = file.size().max(file.compressed_size());
    let end = start.checked_add(claimed).filter(|end| *end <= len as u64 && file.size() == file.compressed_size());
    let Some(end) = end else {
        return Err(BundleError::Size { name, claimed, start, len: len as u64 });
    };
    if !start.is_multiple_of(u64::from(ALIGNMENT)) {
        return Err(BundleError::Misaligned { name, start });
    }
    // Both are at most the length of a slice.
    Ok((name, start as usize..end as usize))
}

/// Every entry has the bytes that the list says, the list those that the comment says, and so has the rest.
fn check_sums(bytes: &[u8], end: usize, entries: &BTreeMap<String, Range<usize>>) -> Result<()> {
    let list = &bytes[entries.get(LIST).ok_or_else(|| missing(LIST))?.clone()];
    let said = String::from_utf8_lossy(&bytes[end..]);
    let says = |key: &str| said.lines().find_map(|line| line.strip_prefix(key)).unwrap_or("nothing").to_owned();
    let (found, expected) = (sha256(list), says("list "));
    if found != expected {
        return Err(BundleError::Checksum { name: LIST.into(), found, expected });
    }
    let listed = read_list(list)?;
    for (name, expected) in &listed {
        let found = sha256(&bytes[entries.get(name).ok_or_else(|| missing(name))?.clone()]);
        if found != *expected {
            return Err(BundleError::Checksum { name: name.clone(), found, expected: expected.clone() });
        }
    }
    if let Some(name) = entries.keys().find(|name| *name != LIST && !listed.contains_key(*name)) {
        return Err(BundleError::UnknownEntry { name: name.clone() });
    }
    if said == comment(list, &bytes[..end]) {
        return Ok(());
    }
    Err(BundleError::Outside { found: sha256(&bytes[..end]), expected: says("file ") })
}

/// Reads lines of a checksum, two spaces and a name, in the order of the names.
fn read_list(list: &[u8]) -> Result<BTreeMap<String, String>> {
    let text = std::str::from_utf8(list).map_err(|_| BundleError::NotText { name: LIST.into() })?;
    let mut sums: BTreeMap<String, String> = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        let refuse = BundleError::List { line: index + 1 };
        let Some((sum, name)) = line.split_once("  ") else { return Err(refuse) };
        let ascending = sums.last_key_value().is_none_or(|(last, _)| last.as_str() < name);
        if sum.len() != 64 || !ascending {
            return Err(refuse);
        }
        sums.insert(name.to_owned(), sum.to_owned());
    }
    Ok(sums)
}

/// There is an entry for all that the manifest mentions, and no other one.
fn check_entries(manifest: &Manifest, bytes: &[u8], entries: &BTreeMap<String, Range<usize>>) -> Result<()> {
    let targets = manifest.targets.iter().map(|target| &target.entry);
    let mentioned: Vec<&String> = targets.chain(manifest.programs.iter().map(|program| &program.plan)).collect();
    if let Some(name) = mentioned.iter().find(|name| !entries.contains_key(**name)) {
        return Err(missing(name));
    }
    for (name, range) in entries {
        let ir = name.starts_with("ir/") && name.ends_with(".tir");
        if !ir && name != MANIFEST && name != LIST && !mentioned.contains(&name) {
            return Err(BundleError::UnknownEntry { name: name.clone() });
        }
        if ir && std::str::from_utf8(&bytes[range.clone()]).is_err() {
            return Err(BundleError::NotText { name: name.clone() });
        }
    }
    Ok(())
}
