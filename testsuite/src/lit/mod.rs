//! Tests that are programs: files whose first lines say which commands to run and what to expect of them.
//!
//! `README.md` of this crate explains the format.

mod case;
mod diagnostics;
mod shell;
mod tools;

pub use case::Case;
pub use tools::{DataNeed, Tools};

use std::path::Path;

/// Runs a case; on failure, the text that says why.
pub fn run(case: &Case, tools: &Tools) -> Result<(), String> {
    if let Some(problem) = &case.problem {
        return Err(problem.clone());
    }
    let scratch = tools.scratch(&case.name).map_err(|error| format!("cannot make the scratch folder: {error}"))?;
    case.readers.iter().try_for_each(|reader| is_read(case, reader, tools))?;
    for run in &case.runs {
        shell::run(run, case, tools, &scratch)?;
    }
    if !case.diagnostics.is_empty() {
        let output = shell::capture(&format!("%tigac check {}", case.name), case, tools, &scratch)?;
        diagnostics::compare(&case.diagnostics, &output)?;
    }
    Ok(())
}

/// The test named by `Read-by:` must exist and name the file.
fn is_read(case: &Case, reader: &str, tools: &Tools) -> Result<(), String> {
    let text = std::fs::read_to_string(tools.root.join("..").join(reader));
    let text = text.map_err(|error| format!("cannot read {reader}: {error}"))?;
    if text.contains(&case.name) { Ok(()) } else { Err(format!("{reader} does not name {}", case.name)) }
}

/// All cases below `folder` (the testsuite), by name.
pub fn find(folder: &Path) -> std::io::Result<Vec<Case>> {
    let mut cases = Vec::new();
    case::collect(folder, "", &mut cases)?;
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(cases)
}
