//! Where commands, data and scratch folders are, and the words that stand for them in `RUN:` lines.

use super::Case;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

/// Where Debian puts LLVM's tools; `.cargo/config.toml` names the prefix for builds.
const LLVM: &str = "/usr/lib/llvm-22";

/// Whether a case that reads the shared data can run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DataNeed {
    /// The data is there, or its absence is a failure.
    Run,
    /// The data is absent and nobody demands it.
    Skip,
}

/// The surroundings of all cases.
#[derive(Clone, Debug)]
pub struct Tools {
    /// The testsuite's folder: every line starts here.
    pub root: PathBuf,
    /// Write snapshots instead of comparing them.
    pub bless: bool,
    pub(super) path: OsString,
    bin: PathBuf,
    data: PathBuf,
    scratch: PathBuf,
}

impl Tools {
    /// Builds the commands, as the test itself was built, and finds the rest.
    ///
    /// `root` is the testsuite's folder, `scratch` a folder for temporary files.
    pub fn new(root: &Path, scratch: &Path) -> io::Result<Self> {
        let bin = bin_folder()?;
        build(root, &bin)?;
        let llvm = env::var_os("LLVM_SYS_221_PREFIX").map_or_else(|| PathBuf::from(LLVM), PathBuf::from);
        let own = [root.join("bin"), bin.clone(), llvm.join("bin")];
        let inherited = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(own.into_iter().chain(env::split_paths(&inherited))).map_err(io::Error::other)?;
        let data = env::var_os("TIGA_DATA").map_or_else(|| root.join("../../shared/data"), PathBuf::from);
        let bless = env::var_os("BLESS").is_some_and(|value| value == "1");
        Ok(Self { root: root.to_owned(), bless, path, bin, data, scratch: scratch.join("lit") })
    }

    /// Whether `case` can run here. With `TIGA_DATA_REQUIRED=1` absent data is a failure, not a reason to skip.
    pub fn data_need(&self, case: &Case) -> DataNeed {
        let required = env::var_os("TIGA_DATA_REQUIRED").is_some_and(|value| value == "1");
        if !case.needs_data || required || self.data.is_dir() { DataNeed::Run } else { DataNeed::Skip }
    }

    /// An empty folder for one case.
    pub fn scratch(&self, name: &str) -> io::Result<PathBuf> {
        let folder = self.scratch.join(name.replace(['/', '.'], "-"));
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        fs::create_dir_all(&folder)?;
        Ok(folder)
    }

    /// One of the project's commands, such as `tigac`.
    pub fn command(&self, name: &str) -> Command {
        Command::new(self.bin.join(name))
    }

    /// Runs one of the commands in a folder; what it prints.
    ///
    /// # Panics
    /// It fails.
    pub fn succeeds(&self, folder: &Path, name: &str, arguments: &[&str]) -> String {
        let output = self.command(name).args(arguments).current_dir(folder).output().expect("the command is built");
        let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{name} {arguments:?}\n{text}");
        text.into_owned()
    }

    /// The folder of the shared data, or `None` with a note that `test` was skipped.
    ///
    /// With `TIGA_DATA_REQUIRED=1` absent data is a failure.
    pub fn data_for(&self, test: &str) -> Option<&Path> {
        if self.data.is_dir() {
            return Some(&self.data);
        }
        let required = env::var_os("TIGA_DATA_REQUIRED").is_some_and(|value| value == "1");
        assert!(!required, "{} is missing", self.data.display());
        println!("{test}: skipped, {} is missing", self.data.display());
        None
    }

    /// Replaces the words that open with `%`; `%%` is a percent sign, an unknown word stays.
    pub fn expand(&self, line: &str, case: &Case, scratch: &Path) -> String {
        let command = |name: &str| self.bin.join(name).display().to_string();
        // A word that opens with another one stands before it.
        let words: [(&str, String); 8] = [
            ("tigac", command("tigac")),
            ("tiga-opt", command("tiga-opt")),
            ("tiga", command("tiga")),
            ("data", self.data.display().to_string()),
            ("examples", "../examples".to_owned()),
            ("s", case.name.clone()),
            ("t", scratch.join("t").display().to_string()),
            ("%", "%".to_owned()),
        ];
        let mut expanded = String::new();
        let mut rest = line;
        while let Some((before, after)) = rest.split_once('%') {
            let known = words.iter().find_map(|(word, text)| Some((text.as_str(), after.strip_prefix(word)?)));
            let (text, left) = known.unwrap_or(("%", after));
            expanded.push_str(before);
            expanded.push_str(text);
            rest = left;
        }
        expanded.push_str(rest);
        expanded
    }
}

/// The folder of the commands: the one above this test's own `deps`.
fn bin_folder() -> io::Result<PathBuf> {
    let own = env::current_exe()?;
    let folder = own.parent().and_then(Path::parent).ok_or_else(|| io::Error::other("the test lies in no folder"))?;
    Ok(folder.to_owned())
}

/// Cargo builds commands only for tests of their own crate, so ask it; nothing happens when they are up to date.
/// `cargo xtask test` tests all crates and has them built: `TIGA_COMMANDS_BUILT=1`. Started by hand, without cargo, the
/// test takes the commands that are there.
fn build(root: &Path, bin: &Path) -> io::Result<()> {
    let built = env::var_os("TIGA_COMMANDS_BUILT").is_some_and(|value| value == "1");
    let Some(cargo) = env::var_os("CARGO").filter(|_| !built) else {
        let absent = ["tigac", "tiga"].into_iter().find(|name| !bin.join(name).exists());
        return absent.map_or(Ok(()), |name| Err(io::Error::other(format!("{name} is not built"))));
    };
    let mut command = Command::new(cargo);
    command.args(["build", "--quiet", "--workspace", "--bins"]).current_dir(root);
    if bin.ends_with("release") {
        command.arg("--release");
    }
    if command.status()?.success() { Ok(()) } else { Err(io::Error::other("the commands do not build")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_longest_first() {
        let tools = Tools {
            root: "r".into(),
            bless: false,
            path: OsString::new(),
            bin: "/b".into(),
            data: "/d".into(),
            scratch: "/x".into(),
        };
        let case = Case { name: "a/b.tg".to_owned(), ..Case::default() };
        let expand = |line: &str| tools.expand(line, &case, Path::new("/x/a"));
        assert_eq!(expand("%tigac %s -o %t.tgb"), "/b/tigac a/b.tg -o /x/a/t.tgb");
        assert_eq!(expand("%tiga-opt x; %tiga run"), "/b/tiga-opt x; /b/tiga run");
        assert_eq!(expand("printf '%%s %d' %data/x%"), "printf '%s %d' /d/x%");
    }
}
