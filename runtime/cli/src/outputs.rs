//! `--out` and `--expect`: which result and which file they mean, checked before anything runs.

use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use tiga_bundle::Program;
use tiga_formats::{Array, Limits, check_array_target, file_identity, open_array};
use tiga_source::unknown;

/// A result and the file that it is written to.
pub(crate) struct Target {
    pub(crate) result: String,
    pub(crate) path: PathBuf,
}

/// A result and the array that it is compared with.
pub(crate) struct Expected {
    pub(crate) result: String,
    /// The option, for messages.
    pub(crate) option: String,
    pub(crate) array: Array,
}

/// A file that the command reads, and the option that says so.
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) option: String,
}

/// Where results go. Each file can be written, is written once, and is not one of those that are read.
pub(crate) fn targets(program: &Program, given: &[String], sources: &[Source]) -> Result<Vec<Target>> {
    let mut out: Vec<Target> = Vec::new();
    for text in given {
        let (result, file) = result_and_file(program, text)?;
        let path = PathBuf::from(file);
        let place = || format!("--out {text}");
        check_array_target(&path).map_err(|error| error.kind).with_context(place)?;
        if let Some(other) = out.iter().find(|other| file_identity(&other.path) == file_identity(&path)) {
            bail!("{}: the file is written twice, for `{}` and for `{result}`", place(), other.result);
        }
        if let Some(source) = sources.iter().find(|source| file_identity(&source.path) == file_identity(&path)) {
            bail!("{}: the file would replace {}, which is read", place(), source.option);
        }
        out.push(Target { result: result.to_owned(), path });
    }
    Ok(out)
}

/// What results are compared with.
pub(crate) fn expected(program: &Program, given: &[String]) -> Result<Vec<Expected>> {
    let one = |text: &String| {
        let (result, file) = result_and_file(program, text)?;
        let option = format!("--expect {text}");
        let array = open_array(file, &Limits::of_this_machine());
        let array = array.map_err(|error| error.kind).with_context(|| option.clone())?;
        Ok(Expected { result: result.to_owned(), option, array })
    };
    given.iter().map(one).collect()
}

/// The file of `[RESULT=]FILE`, for [`Source`].
pub(crate) fn file_of<'t>(program: &'t Program, text: &'t str) -> Result<&'t str> {
    Ok(result_and_file(program, text)?.1)
}

/// `[RESULT=]FILE` with the result it means.
fn result_and_file<'t>(program: &'t Program, text: &'t str) -> Result<(&'t str, &'t str)> {
    let known: Vec<&str> = program.results.iter().map(|r| r.name.as_str()).collect();
    match text.split_once('=') {
        Some((name, file)) if known.contains(&name) => Ok((name, file)),
        Some((name, _)) if !Path::new(text).exists() && !name.contains(['/', '.']) => {
            bail!(unknown(&program.name, "result", name, &known))
        }
        _ => match known.as_slice() {
            [only] => Ok((only, text)),
            _ => bail!("`{text}`: the program has several results, say which: {}", known.join(", ")),
        },
    }
}
