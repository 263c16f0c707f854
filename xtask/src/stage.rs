//! What ships, laid out in a folder as it will lie below a prefix: commands, libraries, headers, what build systems
//! read, manual pages, completions, licences, examples, and the sources of the crates that Rust hosts use.

use crate::{notices, shell};
use anyhow::{Context, Result, bail};
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Files that are copied: from, below the repository's root or, with `build/`, the folder of what was built; to, below
/// the prefix.
const FILES: &[(&str, &str)] = &[
    ("build/tigac", "bin/tigac"),
    ("build/tiga", "bin/tiga"),
    ("build/libtiga.so", "lib/libtiga.so.1.2"),
    ("build/libtiga.a", "lib/libtiga.a"),
    ("runtime/capi/include/tiga.h", "include/tiga.h"),
    ("runtime/capi/include/tiga.hpp", "include/tiga.hpp"),
    ("LICENSE", "share/doc/tiga/LICENSE"),
    ("CHANGELOG.md", "share/doc/tiga/CHANGELOG.md"),
    ("SECURITY.md", "share/doc/tiga/SECURITY.md"),
    ("docs/c-abi.md", "share/doc/tiga/c-abi.md"),
    ("docs/debugging.md", "share/doc/tiga/debugging.md"),
    ("docs/determinism.md", "share/doc/tiga/determinism.md"),
    ("docs/diagnostics.md", "share/doc/tiga/diagnostics.md"),
    ("docs/diagnostics.schema.json", "share/doc/tiga/diagnostics.schema.json"),
    ("docs/differences.md", "share/doc/tiga/differences.md"),
    ("docs/embedding.md", "share/doc/tiga/embedding.md"),
    ("docs/inspect.schema.json", "share/doc/tiga/inspect.schema.json"),
    ("docs/language.md", "share/doc/tiga/language.md"),
    ("docs/math.md", "share/doc/tiga/math.md"),
    ("docs/memory.md", "share/doc/tiga/memory.md"),
    ("docs/packages.md", "share/doc/tiga/packages.md"),
    ("docs/plans.md", "share/doc/tiga/plans.md"),
    ("docs/running.md", "share/doc/tiga/running.md"),
    ("docs/stability.md", "share/doc/tiga/stability.md"),
    ("docs/tools.md", "share/doc/tiga/tools.md"),
    ("examples/embed/c/eight_bytes.c", "share/tiga/examples/embed/c/eight_bytes.c"),
    ("examples/embed/c/heat.c", "share/tiga/examples/embed/c/heat.c"),
    ("examples/embed/c/linked.c", "share/tiga/examples/embed/c/linked.c"),
    ("examples/embed/cpp/heat.cpp", "share/tiga/examples/embed/cpp/heat.cpp"),
    ("examples/embed/cpp/CMakeLists.txt", "share/tiga/examples/embed/cpp/CMakeLists.txt"),
    ("examples/embed/rust/build.rs", "share/tiga/examples/embed/rust/build.rs"),
    ("examples/embed/rust/src/main.rs", "share/tiga/examples/embed/rust/src/main.rs"),
    // The versions that Tiga is tested with; cargo drops the rows that the example does not need.
    ("Cargo.lock", "share/tiga/examples/embed/rust/Cargo.lock"),
];

/// Folders whose files with these endings are copied; folders within them are not.
const FOLDERS: &[(&str, &str, &[&str])] =
    &[("docs/cookbook", "share/doc/tiga/cookbook", &["md", "svg"]), ("examples", "share/tiga/examples", &["tg"])];

/// Texts in which `@VERSION@`, `@MAJOR@` and `@MINOR@` stand for this version.
const TEXTS: &[(&str, &str)] = &[
    ("xtask/install/tiga.pc", "lib/pkgconfig/tiga.pc"),
    ("xtask/install/TigaConfig.cmake", "lib/cmake/Tiga/TigaConfig.cmake"),
    ("xtask/install/TigaConfigVersion.cmake", "lib/cmake/Tiga/TigaConfigVersion.cmake"),
    (RUST_EXAMPLE.0, RUST_EXAMPLE.1),
];

/// The one file that names the prefix, as `@PREFIX@`, which `install.sh` fills in: cargo knows no path relative to the
/// folder of a copied example.
pub const RUST_EXAMPLE: (&str, &str) =
    ("examples/embed/rust/Cargo.toml.in", "share/tiga/examples/embed/rust/Cargo.toml");

/// Names of the library beside its file: what programs ask the loader for, and what the linker looks for.
const LINKS: &[(&str, &str)] = &[("lib/libtiga.so.1", "libtiga.so.1.2"), ("lib/libtiga.so", "libtiga.so.1")];

/// Where each shell looks for the completions of a command.
const COMPLETIONS: &[(&str, &str)] = &[
    ("bash", "share/bash-completion/completions/{}"),
    ("zsh", "share/zsh/site-functions/_{}"),
    ("fish", "share/fish/vendor_completions.d/{}.fish"),
];

/// The crates of a Rust host: the runtime and what it stands on.
const CRATES: &[&str] =
    &["ir/source", "runtime/abi", "runtime/plan", "runtime/bundle", "runtime/formats", "runtime", "runtime/bindgen"];

/// Where they go.
const RUST: &str = "share/tiga/rust";

/// Fills `folder`, which must be empty or absent, from what cargo built in `built` or in `built/deps`.
pub fn make(built: &Path, folder: &Path) -> Result<()> {
    for (from, to) in FILES {
        let from = match from.strip_prefix("build/") {
            Some(name) => find(built, name)?,
            None => shell::root().join(from),
        };
        copy(&from, &folder.join(to))?;
    }
    for (from, to, endings) in FOLDERS {
        let from = shell::root().join(from);
        for path in walk(&from)?.into_iter().filter(|path| path.is_file() && path.parent() == Some(&from)) {
            let name = path.strip_prefix(&from).expect("it was found there");
            let ending = path.extension().and_then(|ending| ending.to_str());
            if !is_hidden(name) && ending.is_some_and(|ending| endings.contains(&ending)) {
                copy(&path, &folder.join(to).join(name))?;
            }
        }
    }
    for (link, to) in LINKS {
        let link = folder.join(link);
        symlink(to, &link).with_context(|| format!("cannot make {}", link.display()))?;
    }
    for (from, to) in TEXTS {
        let words = [
            ("@VERSION@", env!("CARGO_PKG_VERSION")),
            ("@MAJOR@", env!("CARGO_PKG_VERSION_MAJOR")),
            ("@MINOR@", env!("CARGO_PKG_VERSION_MINOR")),
        ];
        let text = read(&shell::root().join(from))?;
        write(&folder.join(to), &words.iter().fold(text, |text, (word, value)| text.replace(word, value)))?;
    }
    rust(&folder.join(RUST))?;
    for command in ["tigac", "tiga"] {
        about(&find(built, command)?, command, folder)?;
    }
    notices::write(&folder.join("share/doc/tiga"))?;
    modes(folder, &folder.join("bin"))
}

/// What editors leave beside a file.
fn is_hidden(name: &Path) -> bool {
    name.to_string_lossy().starts_with('.')
}

/// A file that cargo built: commands lie in the folder itself, libraries perhaps among the dependencies of tests.
fn find(built: &Path, name: &str) -> Result<PathBuf> {
    let places = [built.join(name), built.join("deps").join(name)];
    match places.into_iter().find(|place| place.exists()) {
        Some(place) => Ok(place),
        None => bail!("{} is not built", built.join(name).display()),
    }
}

/// Manual pages and completions, as the command writes them.
fn about(program: &Path, name: &str, folder: &Path) -> Result<()> {
    let pages = folder.join("share/man/man1");
    fs::create_dir_all(&pages).with_context(|| format!("cannot create {}", pages.display()))?;
    shell::output(shell::command(program).arg("man").arg(&pages))?;
    for (shell, place) in COMPLETIONS {
        let text = shell::output(shell::command(program).args(["completions", shell]))?;
        write(&folder.join(place.replace("{}", name)), &text)?;
    }
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

/// What lies in `programs`, and scripts, may be run by all, everything else may be read by all, whoever built it and
/// under whatever umask.
pub fn modes(folder: &Path, programs: &Path) -> Result<()> {
    for path in std::iter::once(folder.to_owned()).chain(walk(folder)?) {
        let kind = path.symlink_metadata().with_context(|| format!("cannot look at {}", path.display()))?;
        let runs = kind.is_dir() || path.extension().is_some_and(|e| e == "sh") || path.starts_with(programs);
        if !kind.is_symlink() {
            let mode = fs::Permissions::from_mode(if runs { 0o755 } else { 0o644 });
            fs::set_permissions(&path, mode).with_context(|| format!("cannot set the mode of {}", path.display()))?;
        }
    }
    Ok(())
}

/// Everything below a folder, in the order of names: folders before what they hold; links are not followed.
pub fn walk(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    let mut entries = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    let mut found = Vec::new();
    for path in entries {
        let below = if path.is_dir() && !path.is_symlink() { walk(&path)? } else { Vec::new() };
        found.push(path);
        found.extend(below);
    }
    Ok(found)
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

/// With its time of change, so that cargo does not build again what is installed again.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    make_parent(to)?;
    let failed = || format!("cannot copy {} to {}", from.display(), to.display());
    fs::copy(from, to).with_context(failed)?;
    let changed = fs::metadata(from).and_then(|kind| kind.modified()).with_context(failed)?;
    fs::File::options().write(true).open(to).and_then(|file| file.set_modified(changed)).with_context(failed)
}

pub fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

pub fn write(path: &Path, text: &str) -> Result<()> {
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
