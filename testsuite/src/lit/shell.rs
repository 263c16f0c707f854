//! Runs the lines of a case and compares snapshots.

use super::{Case, Tools};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// How long one line may take, in seconds.
const LIMIT: &str = "300";

/// What a line printed and how it ended.
#[derive(Clone, Debug)]
pub struct Output {
    /// The exit code; 124 after the time limit, -1 after a signal.
    pub code: i32,
    /// Standard output, then standard error.
    pub text: String,
}

/// Runs a `RUN:` line. One that ends in `| %golden` or `| %golden NAME` compares its standard output with the file
/// beside the case that has the extension NAME (`expected` if none is given); `BLESS=1` writes that file.
pub fn run(line: &str, case: &Case, tools: &Tools, scratch: &Path) -> Result<(), String> {
    let (line, golden) = match line.rsplit_once("| %golden") {
        Some((line, name)) => (line.trim_end(), Some(if name.trim().is_empty() { "expected" } else { name.trim() })),
        None => (line, None),
    };
    let output = start(line, case, tools, scratch)?;
    let code = output.status.code().unwrap_or(-1);
    if code != 0 {
        let streams = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        return Err(format!("$ {}\nexit code {code}\n{}", tools.expand(line, case, scratch), streams.concat()));
    }
    match golden {
        Some(extension) => compare(&Path::new(&case.name).with_extension(extension), &output.stdout, tools, scratch),
        None => Ok(()),
    }
}

/// Runs a line for what it prints.
pub fn capture(line: &str, case: &Case, tools: &Tools, scratch: &Path) -> Result<Output, String> {
    let output = start(line, case, tools, scratch)?;
    let text = [output.stdout, output.stderr].concat();
    Ok(Output { code: output.status.code().unwrap_or(-1), text: String::from_utf8_lossy(&text).into_owned() })
}

/// bash, because a command that fails in the middle of a pipe must fail the line.
fn start(line: &str, case: &Case, tools: &Tools, scratch: &Path) -> Result<std::process::Output, String> {
    let mut command = Command::new("timeout");
    command.args([LIMIT, "bash", "-euo", "pipefail", "-c", &tools.expand(line, case, scratch)]);
    command.current_dir(&tools.root).env("PATH", &tools.path).env("LC_ALL", "C.UTF-8").env("NO_COLOR", "1");
    command.env_remove("BLESS").stdin(Stdio::null());
    command.output().map_err(|error| format!("bash did not start: {error}"))
}

fn compare(golden: &Path, actual: &[u8], tools: &Tools, scratch: &Path) -> Result<(), String> {
    let path = tools.root.join(golden);
    let known = fs::read(&path).ok();
    if known.as_deref() == Some(actual) {
        return Ok(());
    }
    if tools.bless {
        return fs::write(&path, actual).map_err(|error| format!("cannot write {}: {error}", path.display()));
    }
    if known.is_none() {
        return Err(format!("{} is missing; BLESS=1 writes it", golden.display()));
    }
    let new = scratch.join("actual");
    fs::write(&new, actual).map_err(|error| format!("cannot write {}: {error}", new.display()))?;
    let diff = Command::new("diff").arg("-u").arg(&path).arg(&new).output();
    let diff = diff.map_err(|error| format!("diff did not start: {error}"))?;
    let text = String::from_utf8_lossy(&diff.stdout).into_owned();
    Err(format!("{} differs (BLESS=1 takes the new text):\n{text}", golden.display()))
}
