//! What `install.sh` and `uninstall.sh` do with a small package: they can be stopped anywhere and repeated or undone,
//! take only folders that they made, and refuse before they change anything.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const SCRIPTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../xtask/install");

const LIST: &str = "share/tiga/installed.txt";
const UNDO: &str = "share/tiga/uninstall.sh";

/// One of each kind of file; the last has the prefix filled in.
const FILES: [&str; 5] = ["bin/tiga", "lib/libtiga.so.1", "include/tiga.h", "share/doc/tiga/LICENSE", CARGO];
const CARGO: &str = "share/tiga/examples/embed/rust/Cargo.toml";

/// What the scripts change files with. In the test of stopping, a script stands before each of them.
const CHANGING: [&str; 5] = ["mkdir", "install", "cp", "rm", "rmdir"];

/// Counts the commands, and kills its whole group instead of running the one that is meant.
const STOP: &str = r#"#!/bin/sh
read -r count < "$COUNT"
echo $((count + 1)) > "$COUNT"
[ "$count" -lt "$STOP" ] || kill -9 0
PATH=${PATH#*:}
exec "${0##*/}" "$@"
"#;

/// A folder with a package in `package` and a place for prefixes, `place`.
struct Scratch {
    folder: TempDir,
    place: PathBuf,
}

impl Scratch {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let package = root.join("package");
        for file in FILES {
            put(&package.join(file), "prefix = \"@PREFIX@\"\n");
        }
        symlink("libtiga.so.1", package.join("lib/libtiga.so")).unwrap();
        for (from, to) in [("install.sh", "install.sh"), ("uninstall.sh", UNDO)] {
            put(&package.join(to), &fs::read_to_string(Path::new(SCRIPTS).join(from)).unwrap());
        }
        fs::create_dir(root.join("place")).unwrap();
        Self { place: root.join("place"), folder }
    }

    fn package(&self, path: &str) -> PathBuf {
        self.folder.path().join("package").join(path)
    }

    /// A script of the package, run in `place` with arguments.
    fn script(&self, path: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new("sh");
        command.arg(self.package(path)).args(arguments).current_dir(&self.place);
        command
    }

    #[track_caller]
    fn install(&self, prefix: &str) {
        succeeds(&mut self.script("install.sh", &[prefix]));
    }

    /// As its owner does it, with the script in the prefix.
    #[track_caller]
    fn uninstall(&self, prefix: &str) {
        succeeds(Command::new("sh").arg(self.place.join(prefix).join(UNDO)));
    }

    /// Everything in `place`, with kind and mode.
    fn left(&self) -> BTreeMap<String, String> {
        let mut found = BTreeMap::new();
        let mut folders = vec![self.place.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
                let kind = entry.metadata().unwrap();
                let sort = if kind.is_dir() { "folder" } else { "file" };
                let mode = if kind.is_symlink() { "link".into() } else { format!("{sort} {:o}", kind.mode()) };
                found.insert(entry.path().strip_prefix(&self.place).unwrap().display().to_string(), mode);
                folders.extend(kind.is_dir().then(|| entry.path()));
            }
        }
        found
    }

    fn paths(&self) -> Vec<String> {
        self.left().into_keys().collect()
    }
}

trait Mode {
    fn mode(&self) -> u32;
}

impl Mode for fs::Metadata {
    fn mode(&self) -> u32 {
        self.permissions().mode() & 0o7777
    }
}

#[test]
fn a_first_installation_can_be_stopped_anywhere() {
    stopped_anywhere(false, "install.sh");
}

#[test]
fn an_upgrade_can_be_stopped_anywhere() {
    stopped_anywhere(true, "install.sh");
}

#[test]
fn a_removal_can_be_stopped_anywhere() {
    stopped_anywhere(true, UNDO);
}

/// Stops a script before each of its commands in turn. What is there then is undone, or installed again and undone.
/// Only empty folders may be left, and only where the script had no list yet, or none any more.
fn stopped_anywhere(installed: bool, script: &str) {
    let mut stops = 0;
    while stopped(installed, script, stops, |scratch, prefix| {
        let listed = scratch.place.join(prefix).join(LIST).exists();
        if listed {
            succeeds(&mut scratch.script(UNDO, &[prefix]));
        }
        let left = scratch.left();
        assert!(left.values().all(|kind| !listed && kind.starts_with("folder")), "{stops}: {left:?}");
    }) {
        stopped(installed, script, stops, |scratch, prefix| {
            let forgotten = if scratch.place.join(prefix).join(LIST).exists() { Vec::new() } else { scratch.paths() };
            scratch.install(prefix);
            scratch.uninstall(prefix);
            assert_eq!(scratch.paths(), forgotten, "{stops}");
        });
        stops += 1;
    }
    assert!(stops > 8, "it was stopped {stops} times");
}

/// Has a script killed before a command, then looks; whether the script did not end by itself.
fn stopped(installed: bool, script: &str, stop: usize, look: impl Fn(&Scratch, &str)) -> bool {
    let scratch = Scratch::new();
    let prefix = "above/prefix";
    if installed {
        scratch.install(prefix);
    }
    let before = scratch.folder.path().join("before");
    for name in CHANGING {
        put(&before.join(name), STOP);
        fs::set_permissions(before.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    let count = scratch.folder.path().join("count");
    put(&count, "0\n");
    let path = format!("{}:{}", before.display(), std::env::var("PATH").unwrap());
    let mut command = scratch.script(script, &[prefix]);
    command.env("PATH", path).env("COUNT", count).env("STOP", stop.to_string()).process_group(0);
    if command.output().unwrap().status.success() {
        return false;
    }
    look(&scratch, prefix);
    true
}

#[test]
fn only_folders_that_were_made_are_removed() {
    for (prefix, real) in [
        ("there/a/./b", "there/a/b"),
        ("there/a/../b", "there/b"),
        ("there/../a//b/", "a/b"),
        ("./a/b/../..//there/c", "there/c"),
        ("link/a", "there/a"),
    ] {
        let scratch = Scratch::new();
        fs::create_dir(scratch.place.join("there")).unwrap();
        symlink("there", scratch.place.join("link")).unwrap();
        scratch.install(prefix);
        assert!(scratch.place.join(real).join("bin/tiga").exists(), "{prefix}: {:?}", scratch.paths());
        scratch.uninstall(real);
        assert_eq!(scratch.paths(), ["link", "there"], "{prefix}");
    }
}

#[test]
fn folders_that_a_prefix_was_moved_into_stay() {
    let scratch = Scratch::new();
    scratch.install("above/prefix");
    fs::create_dir_all(scratch.place.join("home/u")).unwrap();
    fs::rename(scratch.place.join("above/prefix"), scratch.place.join("home/u/tiga")).unwrap();
    scratch.uninstall("home/u/tiga");
    assert_eq!(scratch.paths(), ["above", "home", "home/u", "home/u/tiga"]);
}

#[test]
fn an_upgrade_that_is_refused_leaves_the_old_version() {
    let scratch = Scratch::new();
    scratch.install("prefix");
    let before = scratch.left();
    put(&scratch.package("bin/new"), "");
    put(&scratch.place.join("prefix/bin/new"), "another's");
    let output = scratch.script("install.sh", &["prefix"]).output().unwrap();
    refused(&output, 1, "bin/new is there, but not of an installation of Tiga");
    fs::remove_file(scratch.place.join("prefix/bin/new")).unwrap();
    assert_eq!(scratch.left(), before);

    // Nor is a file in the place of a folder overwritten, or a folder in the place of a file.
    put(&scratch.package("lib/more/new"), "");
    put(&scratch.place.join("prefix/lib/more"), "another's");
    refused(&scratch.script("install.sh", &["prefix"]).output().unwrap(), 1, "lib/more is there, but is no folder");
    fs::remove_file(scratch.place.join("prefix/lib/more")).unwrap();
    fs::create_dir(scratch.place.join("prefix/bin/new")).unwrap();
    refused(&scratch.script("install.sh", &["prefix"]).output().unwrap(), 1, "bin/new is there");
    fs::remove_dir(scratch.place.join("prefix/bin/new")).unwrap();
    assert_eq!(scratch.left(), before);

    // What the new version lacks goes with the old one.
    fs::remove_file(scratch.package("include/tiga.h")).unwrap();
    scratch.install("prefix");
    assert!(!scratch.place.join("prefix/include/tiga.h").exists() && scratch.place.join("prefix/bin/new").exists());
    scratch.uninstall("prefix");
    assert!(scratch.paths().is_empty());
}

#[test]
fn installing_again_remembers_the_folders_that_were_made() {
    let scratch = Scratch::new();
    scratch.install("above/prefix");
    let own = scratch.place.join("above/prefix/share/tiga/own.txt");
    put(&own, "");
    scratch.install("above/prefix");
    scratch.uninstall("above/prefix");
    assert_eq!(scratch.paths().last().unwrap(), "above/prefix/share/tiga/own.txt", "it stays");
    scratch.install("above/prefix");
    fs::remove_file(own).unwrap();
    scratch.uninstall("above/prefix");
    let own = ["above", "above/prefix", "above/prefix/share", "above/prefix/share/tiga"];
    assert_eq!(scratch.paths(), own, "they were left to another, and were there when Tiga came again");

    let scratch = Scratch::new();
    scratch.install("above/prefix");
    let own = scratch.place.join("above/prefix/share/tiga/own.txt");
    put(&own, "");
    scratch.install("above/prefix");
    scratch.install("above/prefix");
    fs::remove_file(own).unwrap();
    scratch.uninstall("above/prefix");
    assert!(scratch.paths().is_empty(), "{:?}", scratch.paths());
}

#[test]
fn a_private_package_is_installed_for_all() {
    let scratch = Scratch::new();
    succeeds(Command::new("chmod").args(["-R", "go-rwx"]).arg(scratch.package("")));
    let mut shell = Command::new("sh");
    shell.args(["-c", "umask 077 && exec sh \"$0\" above/prefix"]).arg(scratch.package("install.sh"));
    succeeds(shell.current_dir(&scratch.place));
    for (path, kind) in scratch.left() {
        let runs = path.starts_with("above/prefix/bin/") || path.ends_with(".sh");
        let expected = match kind.as_str() {
            "link" => "link",
            kind if kind.starts_with("folder") => "folder 755",
            _ if runs => "file 755",
            _ => "file 644",
        };
        assert_eq!(kind, expected, "{path}");
    }
    let prefix = scratch.place.join("above/prefix");
    assert_eq!(fs::read_link(prefix.join("lib/libtiga.so")).unwrap(), Path::new("libtiga.so.1"));
    assert_eq!(fs::read_to_string(prefix.join(CARGO)).unwrap(), format!("prefix = \"{}\"\n", prefix.display()));
}

#[test]
fn a_prefix_that_is_none_is_refused() {
    let scratch = Scratch::new();
    let usage = "Installs Tiga below a folder: ./install.sh [PREFIX]";
    for (arguments, code, part) in [
        (&[""][..], 1, "the prefix is empty"),
        (&["my", "folder"], 2, usage),
        (&["--help"], 2, usage),
        (&["a\nb"], 1, "control characters"),
        (&["a|b"], 1, "a prefix without"),
    ] {
        refused(&scratch.script("install.sh", arguments).output().unwrap(), code, part);
    }
    for (arguments, code, part) in [(&[""][..], 2, "uninstall.sh [PREFIX]"), (&["."], 1, "nothing is installed")] {
        refused(&scratch.script(UNDO, arguments).output().unwrap(), code, part);
    }
    assert!(scratch.paths().is_empty());
    // A link is followed, and what it leads to is looked at as well.
    symlink("a\\b", scratch.place.join("link")).unwrap();
    refused(&scratch.script("install.sh", &["link"]).output().unwrap(), 1, "a prefix without");
    assert_eq!(scratch.paths(), ["link"]);
}

#[test]
fn names_with_spaces_and_a_search_path_for_folders_do_no_harm() {
    let scratch = Scratch::new();
    // In a folder that also has a `package`, of which CDPATH would have the scripts go to the wrong one.
    let other = scratch.folder.path().join("other");
    fs::create_dir_all(other.join("package")).unwrap();
    fs::create_dir_all(other.join("share/tiga")).unwrap();
    let root = scratch.folder.path();
    let mut install = Command::new("sh");
    succeeds(install.args(["package/install.sh", "place/my tools"]).env("CDPATH", &other).current_dir(root));
    let prefix = scratch.place.join("my tools");
    assert!(prefix.join("bin/tiga").exists());
    succeeds(Command::new("sh").args(["share/tiga/uninstall.sh"]).env("CDPATH", &other).current_dir(&prefix));
    assert!(scratch.paths().is_empty(), "{:?}", scratch.paths());
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

#[track_caller]
fn succeeds(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

#[track_caller]
fn refused(output: &Output, code: i32, part: &str) {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(code) && said.contains(part), "{output:?}");
}
