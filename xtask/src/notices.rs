//! Licences of what is linked into the commands and libraries: which packages, under which terms, with their texts.

use crate::{shell, stage};
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// What ships in binary form.
const SHIPPED: [&str; 3] = ["tigac", "tiga", "tiga-capi"];
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// The notices of Rust's standard library, where a toolchain has them; it is linked into everything.
const STANDARD_LIBRARY: &str = "share/doc/rust/COPYRIGHT-library.html";

/// What files with the terms of a package are called.
const TERMS: [&str; 6] = ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A package, and the files with its terms.
struct Package {
    name: String,
    version: String,
    licence: String,
    folder: PathBuf,
}

/// Writes `third-party.txt` and `rust-standard-library.html`.
pub fn write(folder: &Path) -> Result<()> {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut list = String::new();
    for package in packages()? {
        let mut carried = Vec::new();
        for (file, text) in terms(&package.folder)? {
            texts.entry(text).or_default().push(format!("{} {}: {file}", package.name, package.version));
            carried.push(file);
        }
        let files = if carried.is_empty() { "carries no text".into() } else { carried.join(", ") };
        writeln!(list, "{} {}: {} ({files})", package.name, package.version, package.licence)?;
    }
    let mut out = format!("{}\n{list}", include_str!("../install/third-party.txt"));
    // In the order of the packages that come first with them, not of the texts.
    let mut texts: Vec<(Vec<String>, String)> = texts.into_iter().map(|(text, of)| (of, text)).collect();
    texts.sort();
    for (of, text) in texts {
        write!(out, "\n{}\n{}\n\n{}\n", "-".repeat(80), of.join("\n"), text.trim_matches('\n'))?;
    }
    stage::write(&folder.join("third-party.txt"), &out)?;
    let library = shell::sysroot()?.join(STANDARD_LIBRARY);
    ensure!(library.exists(), "this Rust toolchain has no notices of its library: {} is missing", library.display());
    stage::copy(&library, &folder.join("rust-standard-library.html"))
}

/// The packages of others, by name and version.
fn packages() -> Result<Vec<Package>> {
    let linked = linked()?;
    let arguments = ["metadata", "--locked", "--format-version", "1", "--filter-platform", PLATFORM];
    let metadata: Value = serde_json::from_str(&shell::output(&mut shell::cargo(arguments))?)?;
    let mut packages = Vec::new();
    for package in metadata["packages"].as_array().context("cargo metadata lists no packages")? {
        let text = |key: &str| package[key].as_str().unwrap_or_default().to_owned();
        let known = linked.contains(&(text("name"), text("version")));
        // Our own packages have no source.
        if !known || package["source"].is_null() {
            continue;
        }
        let folder = PathBuf::from(text("manifest_path")).parent().context("a manifest lies in a folder")?.to_owned();
        let licence = Some(text("license")).filter(|l| !l.is_empty()).unwrap_or_else(|| text("license_file"));
        ensure!(!licence.is_empty(), "{} {} does not say its licence", text("name"), text("version"));
        packages.push(Package { name: text("name"), version: text("version"), licence, folder });
    }
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(packages)
}

/// Names and versions of what is linked: no procedural macros, nothing that only builds or tests need.
fn linked() -> Result<BTreeSet<(String, String)>> {
    let mut command = shell::cargo(["tree", "--locked", "--prefix", "none", "--format", "{p}", "--no-dedupe"]);
    command.args(["--edges", "normal,no-proc-macro", "--target", PLATFORM]);
    command.args(SHIPPED.iter().flat_map(|name| ["-p", name]));
    let pair = |line: &str| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    };
    Ok(shell::output(&mut command)?.lines().filter_map(pair).collect())
}

/// The files with terms in a package's folder and their texts, by name.
fn terms(folder: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let upper = name.to_uppercase();
        if TERMS.iter().any(|word| upper.starts_with(word)) && entry.file_type()?.is_file() {
            // Some texts are as old as Latin-1.
            let text = fs::read(entry.path()).with_context(|| format!("cannot read {}", entry.path().display()))?;
            found.insert(name, String::from_utf8_lossy(&text).replace("\r\n", "\n"));
        }
    }
    Ok(found)
}
