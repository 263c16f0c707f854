//! Running other programs from the repository's root, each shown before it runs.

use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The repository's root: the folder above this crate.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate lies one folder below the root")
}

/// The folder cargo builds into.
pub fn target_dir() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// A command that starts in the repository's root.
pub fn command(program: impl AsRef<Path>) -> Command {
    let mut command = Command::new(program.as_ref());
    command.current_dir(root());
    command
}

/// The cargo that runs this task, or the one on PATH, with `args`.
pub fn cargo<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args);
    command
}

/// Shows the command, runs it and demands success.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    eprintln!("$ {line}");
    let status = command.status().with_context(|| format!("`{line}` did not start"))?;
    if !status.success() {
        bail!("`{line}` failed ({status})");
    }
    Ok(())
}

/// What the command prints, without showing it; demands success.
pub fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("`{line}` did not start"))?;
    if !output.status.success() {
        bail!("`{line}` failed ({})", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("`{line}` printed no UTF-8"))
}

/// The folder of the Rust toolchain in use.
pub fn sysroot() -> Result<PathBuf> {
    Ok(PathBuf::from(output(command("rustc").args(["--print", "sysroot"]))?.trim_end()))
}

/// The command as one would type it in the root: paths below it are relative, arguments quoted where needed.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| quoted(&relative(Path::new(word)).to_string_lossy())).collect::<Vec<_>>().join(" ")
}

/// `path` as seen from the root, when it lies below it; a program with a path is shown by name.
fn relative(path: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(root()) {
        return below.to_path_buf();
    }
    match path.file_name() {
        Some(name) if path.is_absolute() && name == "cargo" => PathBuf::from(name),
        _ => path.to_path_buf(),
    }
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=,:+@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_shown_as_typed() {
        let mut command = cargo(["test", "--", "a b", "it's"]);
        command.arg(root().join("examples/pagerank.tg"));
        assert_eq!(shown(&command), r"cargo test -- 'a b' 'it'\''s' examples/pagerank.tg");
    }
}
