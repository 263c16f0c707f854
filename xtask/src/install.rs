//! `cargo xtask install`: commands, libraries, headers, and what pkg-config, CMake and cargo read, below one folder.

use crate::{setup, shell};
use anyhow::{Context, Result};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct Options {
    /// Where to: gets bin, lib, include and share
    #[arg(long)]
    prefix: PathBuf,
}

/// Files that are copied: from, below the repository's root or, with `build/`, the folder of what was built; to, below
/// the prefix.
const FILES: &[(&str, &str)] = &[
    ("build/tigac", "bin/tigac"),
    ("build/tiga", "bin/tiga"),
    ("build/libtiga.so", "lib/libtiga.so.1.0"),
    ("build/libtiga.a", "lib/libtiga.a"),
    ("runtime/capi/include/tiga.h", "include/tiga.h"),
    ("runtime/capi/include/tiga.hpp", "include/tiga.hpp"),
    ("examples/heat.tg", "share/tiga/examples/heat.tg"),
    ("examples/embed/c/heat.c", "share/tiga/examples/embed/c/heat.c"),
    ("examples/embed/c/linked.c", "share/tiga/examples/embed/c/linked.c"),
    ("examples/embed/cpp/heat.cpp", "share/tiga/examples/embed/cpp/heat.cpp"),
    ("examples/embed/cpp/CMakeLists.txt", "share/tiga/examples/embed/cpp/CMakeLists.txt"),
    ("examples/embed/rust/build.rs", "share/tiga/examples/embed/rust/build.rs"),
    ("examples/embed/rust/src/main.rs", "share/tiga/examples/embed/rust/src/main.rs"),
];

/// Texts in which `@VERSION@`, `@MAJOR@` and `@MINOR@` stand for this version, `@PREFIX@` for where it goes.
const TEXTS: &[(&str, &str)] = &[
    ("xtask/install/tiga.pc", "lib/pkgconfig/tiga.pc"),
    ("xtask/install/TigaConfig.cmake", "lib/cmake/Tiga/TigaConfig.cmake"),
    ("xtask/install/TigaConfigVersion.cmake", "lib/cmake/Tiga/TigaConfigVersion.cmake"),
    ("examples/embed/rust/Cargo.toml.in", "share/tiga/examples/embed/rust/Cargo.toml"),
];

/// The crates of a Rust host: the runtime and what it stands on.
const CRATES: &[&str] =
    &["ir/source", "runtime/abi", "runtime/plan", "runtime/bundle", "runtime/formats", "runtime", "runtime/bindgen"];

/// Where they go.
const RUST: &str = "share/tiga/rust";

pub fn run(options: &Options) -> Result<()> {
    setup::run(setup::Need::Llvm)?;
    shell::run(&mut shell::cargo(["build", "--release", "-p", "tigac", "-p", "tiga", "-p", "tiga-capi"]))?;
    let prefix = std::path::absolute(&options.prefix).context("the prefix is no path")?;
    let built = shell::target_dir().join("release");
    for (from, to) in FILES {
        let from = from.strip_prefix("build/").map_or_else(|| shell::root().join(from), |name| built.join(name));
        copy(&from, &prefix.join(to))?;
    }
    for (link, to) in [("libtiga.so.1", "libtiga.so.1.0"), ("libtiga.so", "libtiga.so.1")] {
        let link = prefix.join("lib").join(link);
        if link.symlink_metadata().is_ok() {
            fs::remove_file(&link).with_context(|| format!("cannot replace {}", link.display()))?;
        }
        symlink(to, &link).with_context(|| format!("cannot make {}", link.display()))?;
    }
    for (from, to) in TEXTS {
        let text = read(&shell::root().join(from))?;
        let words = [
            ("@VERSION@", env!("CARGO_PKG_VERSION")),
            ("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR")),
            ("@MINOR@", env!("CARGO_PKG_VERSION_MINOR")),
            ("@PREFIX@", &prefix.to_string_lossy()),
        ];
        let text = words.iter().fold(text, |text, (word, stands_for)| text.replace(word, stands_for));
        write(&prefix.join(to), &text)?;
    }
    rust(&prefix.join(RUST))?;
    println!("installed in {}", prefix.display());
    Ok(())
}

/// The sources of the crates that a host in Rust depends on, as a workspace of their own.
fn rust(folder: &Path) -> Result<()> {
    let manifest = read(&shell::root().join("Cargo.toml"))?;
    write(&folder.join("Cargo.toml"), &with_members(&manifest, CRATES)?)?;
    copy(&shell::root().join("Cargo.lock"), &folder.join("Cargo.lock"))?;
    for name in CRATES {
        let (from, to) = (shell::root().join(name), folder.join(name));
        copy(&from.join("Cargo.toml"), &to.join("Cargo.toml"))?;
        copy_folder(&from.join("src"), &to.join("src"))?;
    }
    Ok(())
}

/// A workspace's manifest with other members.
fn with_members(manifest: &str, members: &[&str]) -> Result<String> {
    let (before, rest) = manifest.split_once("members = [").context("the manifest lists no members")?;
    let (_, after) = rest.split_once(']').context("the list of members has no end")?;
    let members: Vec<String> = members.iter().map(|name| format!("\"{name}\"")).collect();
    Ok(format!("{before}members = [{}]{after}", members.join(", ")))
}

fn copy_folder(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from).with_context(|| format!("cannot list {}", from.display()))? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_folder(&entry.path(), &target)?;
        } else {
            copy(&entry.path(), &target)?;
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    // A file that runs cannot be written, but it can be replaced.
    let _ = fs::remove_file(to);
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<()> {
    make_parent(path)?;
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn make_parent(path: &Path) -> Result<()> {
    let parent = path.parent().context("a file lies in a folder")?;
    fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_replaced() {
        let text = with_members("[workspace]\nmembers = [\n    \"a\",\n]\nx = [1]\n", &["b", "c"]).unwrap();
        assert_eq!(text, "[workspace]\nmembers = [\"b\", \"c\"]\nx = [1]\n");
    }
}
