//! The house rules as checks over a tree of files, so that they can be tried on planted violations.

mod imports;
mod laws;
mod names;
mod pages;
mod plants;
mod rust;
mod sizes;
mod tables;
mod words;

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::Path;

/// The files of the repository: path from the root, with `/`, to text. Binary files have empty text.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    files: BTreeMap<String, String>,
}

/// One broken house rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The guilty file.
    pub path: String,
    /// The guilty line, from 1.
    pub line: usize,
    /// What is wrong and, where it is not obvious, what to do.
    pub message: String,
}

/// A house rule: its name and its check.
type Check = (&'static str, fn(&Tree) -> Vec<Finding>);

/// All house rules. To add one: a file in this folder, a row here.
const CHECKS: &[Check] = &[
    ("imports", imports::check),
    ("names", names::check),
    ("sizes", sizes::check),
    ("words", words::check),
    ("pages", pages::check),
    ("laws", laws::check),
    ("plants", plants::check),
    ("tables", tables::check),
];

/// Folders that hold no sources of ours.
const SKIPPED: &[&str] = &["target", "out", "__pycache__"];

/// Hidden folders that do.
const HIDDEN: &[&str] = &[".cargo", ".ci"];

impl Tree {
    /// Reads the tree below `root`, without build outputs.
    pub fn read(root: &Path) -> io::Result<Self> {
        let mut tree = Self::default();
        tree.read_folder(root, "")?;
        Ok(tree)
    }

    /// A tree made of `(path, text)` pairs.
    pub fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned())).collect() }
    }

    /// The same tree with one file added, or replaced.
    pub fn with(mut self, path: &str, text: &str) -> Self {
        self.files.insert(path.to_owned(), text.to_owned());
        self
    }

    /// The text of a file.
    pub fn get(&self, path: &str) -> Option<&str> {
        self.files.get(path).map(String::as_str)
    }

    /// All files, by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// The Rust sources, by path.
    pub fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.iter().filter(|(path, _)| path.ends_with(".rs"))
    }

    fn read_folder(&mut self, folder: &Path, below: &str) -> io::Result<()> {
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{below}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() {
                let hidden = name.starts_with('.') && !HIDDEN.contains(&name.as_str());
                if !hidden && !SKIPPED.contains(&name.as_str()) {
                    self.read_folder(&entry.path(), &format!("{path}/"))?;
                }
            } else if kind.is_file() && name != ".git" && !name.ends_with(".tgb") {
                let text = String::from_utf8(std::fs::read(entry.path())?).unwrap_or_default();
                self.files.insert(path, text);
            }
        }
        Ok(())
    }
}

/// Applies every rule; empty when the house is tidy.
pub fn check(tree: &Tree) -> Vec<(&'static str, Finding)> {
    CHECKS.iter().flat_map(|(rule, check)| check(tree).into_iter().map(move |finding| (*rule, finding))).collect()
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self { path: path.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}
