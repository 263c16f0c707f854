//! `cargo xtask plant`: committed one-line bugs, each applied alone to a copy of the tree; a test must notice.
//!
//! A plant is a file `testsuite/plants/NAME.patch`: two header lines, then a diff as git writes it.
//! ```text
//! Bug: the last element of a row is skipped
//! Killed-by: cargo test -p tiga-ir --test rows
//! ```

use crate::{setup, shell};
use anyhow::{Context, Result, bail, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[derive(clap::Args)]
pub struct Options {
    /// Only plants whose name contains this
    filter: Option<String>,
    /// Only list the plants
    #[arg(long)]
    list: bool,
}

/// One bug.
struct Plant {
    name: String,
    patch: PathBuf,
    bug: String,
    killed_by: String,
}

/// What became of a bug.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Killed,
    Survived,
    /// The compiler caught it: it shows nothing about the tests.
    DoesNotBuild,
    DoesNotApply,
}

/// Plants each bug, runs the command that must fail, restores the file; the working tree itself is never touched.
pub fn run(options: &Options) -> Result<()> {
    let filter = options.filter.as_deref().unwrap_or("");
    let plants: Vec<Plant> = plants()?.into_iter().filter(|plant| plant.name.contains(filter)).collect();
    ensure!(!plants.is_empty(), "no plant matches `{filter}` in testsuite/plants");
    if options.list {
        for plant in &plants {
            println!("{:<32} {} [{}]", plant.name, plant.bug, plant.killed_by);
        }
        return Ok(());
    }
    setup::run(setup::Need::Everything)?;
    let field = Field::new()?;
    let commands: BTreeSet<&str> = plants.iter().map(|plant| plant.killed_by.as_str()).collect();
    for command in commands {
        eprintln!("without a bug: {command}");
        ensure!(field.passes(command)?, "`{command}` fails without any bug planted");
    }
    let mut alive = Vec::new();
    for plant in &plants {
        let fate = field.plant(plant)?;
        let word = match fate {
            Fate::Killed => "killed",
            Fate::Survived => "SURVIVED",
            Fate::DoesNotBuild => "DOES NOT BUILD",
            Fate::DoesNotApply => "DOES NOT APPLY",
        };
        println!("{word:<14} {:<32} {}", plant.name, plant.bug);
        if fate != Fate::Killed {
            alive.push(plant.name.as_str());
        }
    }
    println!("{} of {} planted bugs killed", plants.len() - alive.len(), plants.len());
    ensure!(alive.is_empty(), "not killed: {}", alive.join(", "));
    Ok(())
}

/// All plants, by name.
fn plants() -> Result<Vec<Plant>> {
    let folder = shell::root().join("testsuite/plants");
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(&folder).context("cannot list testsuite/plants")? {
        let path = entry?.path();
        if path.extension().is_some_and(|ext| ext == "patch") {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            let (bug, killed_by) = header(&text).with_context(|| format!("plant {name}"))?;
            found.insert(name.clone(), Plant { name, patch: path, bug, killed_by });
        }
    }
    Ok(found.into_values().collect())
}

/// The two header lines of a plant: its bug and the command that must fail.
fn header(text: &str) -> Result<(String, String)> {
    let field = |key: &str| {
        let line = text.lines().take_while(|line| !line.starts_with("diff ")).find_map(|line| line.strip_prefix(key));
        line.map(|value| value.trim().to_owned()).with_context(|| format!("the header lacks a line `{key} …`"))
    };
    let (bug, killed_by) = (field("Bug:")?, field("Killed-by:")?);
    ensure!(killed_by.starts_with("cargo test "), "`Killed-by:` must be a `cargo test …` command");
    Ok((bug, killed_by))
}

/// A copy of the tree with a build folder of its own.
struct Field {
    tree: PathBuf,
    target: PathBuf,
}

impl Field {
    fn new() -> Result<Self> {
        let folder = shell::target_dir().join("plant");
        let field = Self { tree: folder.join("tree"), target: folder.join("target") };
        // Files that are still the same keep their age, so that a second run builds little.
        let kept = copy_tree(shell::root(), &field.tree)?;
        remove_others(&field.tree, Path::new(""), &kept)?;
        Ok(field)
    }

    fn plant(&self, plant: &Plant) -> Result<Fate> {
        if !self.git_apply(&plant.patch, &[])? {
            return Ok(Fate::DoesNotApply);
        }
        let fate = self.fate(&plant.killed_by);
        ensure!(self.git_apply(&plant.patch, &["--reverse"])?, "plant {} could not be taken out again", plant.name);
        fate
    }

    fn fate(&self, command: &str) -> Result<Fate> {
        if !self.shell(&without_run(command))? {
            return Ok(Fate::DoesNotBuild);
        }
        Ok(if self.shell(command)? { Fate::Survived } else { Fate::Killed })
    }

    fn passes(&self, command: &str) -> Result<bool> {
        self.shell(command)
    }

    /// Runs a line in the copy; its output is dropped.
    fn shell(&self, line: &str) -> Result<bool> {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&self.tree).env("CARGO_TARGET_DIR", &self.target);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command.status().with_context(|| format!("`{line}` did not start"))?.success())
    }

    /// Applies a patch in the copy. Git must not take the copy for a part of the repository around it: it would
    /// then skip the patch in silence.
    fn git_apply(&self, patch: &Path, extra: &[&str]) -> Result<bool> {
        let mut command = Command::new("git");
        command.arg("apply").args(extra).arg(patch).current_dir(&self.tree);
        command.env("GIT_CEILING_DIRECTORIES", self.tree.parent().expect("the copy lies in a folder"));
        Ok(command.status().context("`git apply` did not start: is git installed?")?.success())
    }
}

/// The same `cargo test` command, building only.
fn without_run(command: &str) -> String {
    match command.split_once(" -- ") {
        Some((cargo, _)) => format!("{cargo} --no-run"),
        None => format!("{command} --no-run"),
    }
}

/// Copies what git knows or would add; returns the relative paths. Unchanged files are left as they are.
fn copy_tree(from: &Path, to: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut command = shell::command("git");
    let output = command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output();
    let output = output.context("`git ls-files` did not start: is git installed?")?;
    ensure!(output.status.success(), "`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr));
    let listing = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let mut copied = BTreeSet::new();
    for name in listing.split('\0').filter(|name| !name.is_empty()) {
        let source = from.join(name);
        if !source.is_file() {
            continue; // deleted, but not yet in a commit
        }
        let content = fs::read(&source).with_context(|| format!("cannot read {name}"))?;
        let target = to.join(name);
        if fs::read(&target).ok().as_deref() != Some(&content[..]) {
            let parent = target.parent().expect("a file lies in a folder");
            fs::create_dir_all(parent).with_context(|| format!("cannot create {}", parent.display()))?;
            fs::write(&target, content).with_context(|| format!("cannot write {}", target.display()))?;
        }
        copied.insert(PathBuf::from(name));
    }
    if copied.is_empty() {
        bail!("git lists no file in {}", from.display());
    }
    Ok(copied)
}

/// Removes files of an earlier copy that are no longer in the tree.
fn remove_others(root: &Path, below: &Path, kept: &BTreeSet<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(root.join(below)).context("cannot list the copy")? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            remove_others(root, &path, kept)?;
        } else if !kept.contains(&path) {
            fs::remove_file(entry.path()).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_read_and_checked() {
        let good = "Bug: off by one\nKilled-by: cargo test -p tiga-ir\ndiff --git a/x b/x\n";
        assert_eq!(header(good).unwrap(), ("off by one".into(), "cargo test -p tiga-ir".into()));
        let late = "diff --git a/x b/x\n+Bug: x\n+Killed-by: cargo test -p y\n";
        assert!(header(late).is_err());
        assert!(header("Bug: b\nKilled-by: true\n").unwrap_err().to_string().contains("cargo test"));
    }

    #[test]
    fn building_only_drops_the_arguments_of_the_test() {
        assert_eq!(without_run("cargo test -p a -- b"), "cargo test -p a --no-run");
        assert_eq!(without_run("cargo test -p a"), "cargo test -p a --no-run");
    }
}
