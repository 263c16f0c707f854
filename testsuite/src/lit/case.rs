//! One test file, as read.

use super::diagnostics::Expected;
use std::path::Path;

/// Kinds of files that are tests.
const KINDS: &[&str] = &["tg", "tir", "test"];

/// Folders of the testsuite without tests: `inputs` holds what other tests read, `verify` is run by a test of `ir`.
const SKIPPED: &[&str] = &["src", "tests", "bin", "plants", "target", "inputs", "verify"];

/// A test file.
#[derive(Clone, Debug, Default)]
pub struct Case {
    /// The path from the testsuite's folder, with `/`.
    pub name: String,
    /// Lines to run, without `RUN:`, in order.
    pub runs: Vec<String>,
    /// What `tigac check` must say, if any of it is marked.
    pub(super) diagnostics: Vec<Expected>,
    /// Tests elsewhere in the repository that read the file, as paths from its root.
    pub readers: Vec<String>,
    /// Some line reads the shared data.
    pub needs_data: bool,
    /// Why the file is no test.
    pub problem: Option<String>,
}

impl Case {
    /// Reads the marks in `text`.
    pub fn parse(name: &str, text: &str) -> Self {
        let mut case = Self { name: name.to_owned(), ..Self::default() };
        let mut open = false;
        for (number, line) in text.lines().enumerate() {
            if let Some(run) = mark(line, "RUN:") {
                let (run, continues) = match run.strip_suffix('\\') {
                    Some(run) => (run.trim_end(), true),
                    None => (run, false),
                };
                match case.runs.last_mut() {
                    Some(last) if open => *last = format!("{last} {run}"),
                    _ => case.runs.push(run.to_owned()),
                }
                open = continues;
            }
            if let Some(reader) = mark(line, "Read-by:") {
                case.readers.push(reader.to_owned());
            }
            match Expected::parse(line, number + 1) {
                Ok(expected) => case.diagnostics.extend(expected),
                Err(problem) => case.problem = Some(format!("line {}: {problem}", number + 1)),
            }
        }
        case.needs_data = case.runs.iter().any(|run| run.contains("%data"));
        if case.problem.is_some() {
            return case;
        }
        if open {
            case.problem = Some("the last RUN line ends in `\\`".to_owned());
        } else if case.runs.is_empty() && case.readers.is_empty() && case.diagnostics.is_empty() {
            case.problem = Some("no RUN line, no `//~` mark, no Read-by".to_owned());
        }
        case
    }
}

/// What follows `key` in a comment line, which opens with punctuation only.
fn mark<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (before, after) = line.split_once(key)?;
    before.chars().all(|c| !c.is_alphanumeric()).then(|| after.trim())
}

/// Adds the cases in a folder and below.
pub fn collect(root: &Path, below: &str, cases: &mut Vec<Case>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        let name = if below.is_empty() { file.clone() } else { format!("{below}/{file}") };
        if entry.file_type()?.is_dir() {
            if !SKIPPED.contains(&file.as_str()) {
                collect(root, &name, cases)?;
            }
        } else if KINDS.iter().any(|kind| file.ends_with(&format!(".{kind}"))) {
            cases.push(Case::parse(&name, &std::fs::read_to_string(entry.path())?));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_read() {
        let text = "// RUN: a %s \\\n// RUN:   b\n# RUN: c %data/x\nlet x = RUN: no\n// Read-by: ir/tests/x.rs\n";
        let case = Case::parse("x.tir", text);
        assert_eq!(case.runs, ["a %s b", "c %data/x"]);
        assert_eq!(case.readers, ["ir/tests/x.rs"]);
        assert!(case.needs_data && case.problem.is_none());
    }

    #[test]
    fn a_file_that_tests_nothing_is_a_problem() {
        assert!(Case::parse("x.tg", "program p() {}\n").problem.unwrap().contains("no RUN line"));
        assert!(Case::parse("x.tg", "// RUN: a \\\n").problem.unwrap().contains("ends in"));
        assert!(Case::parse("x.tg", "x //~ EROR TG0101\n").problem.unwrap().contains("line 1"));
    }
}
