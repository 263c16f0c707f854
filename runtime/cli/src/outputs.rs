//! `--out` and `--expect`: which result and which file they mean, checked before anything runs.

use crate::trace::Trace;
use anyhow::{Context as _, Result, bail};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tiga_bundle::{Program, Type};
use tiga_formats::{Array, Counted, Limits, NotCounted, check_result_target, file_identity, open_array, whole_number};
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
        check_result_target(&path).map_err(|error| error.kind).with_context(place)?;
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

/// A result that `--top` ranks, and how many of its entries are shown.
pub(crate) struct Top<'p> {
    pub(crate) result: &'p str,
    pub(crate) count: usize,
}

impl<'p> Top<'p> {
    /// The result of this name, or the only one; it has one axis.
    pub(crate) fn of(program: &'p Program, given: &TopOption) -> Result<Self> {
        let known: Vec<&str> = program.results.iter().map(|r| r.name.as_str()).collect();
        let result = match (&given.result, program.results.as_slice()) {
            (Some(name), results) => match results.iter().find(|r| r.name == *name) {
                Some(result) => result,
                None => bail!("--top: {}", unknown(&program.name, "result", name, &known)),
            },
            (None, [only]) => only,
            (None, _) => bail!(
                "--top {}: the program has several results, say which: {}",
                given.count,
                known.iter().map(|name| format!("{name}={}", given.count)).collect::<Vec<_>>().join(", ")
            ),
        };
        match &result.ty {
            Type::Tensor { shape, .. } if shape.len() == 1 => {}
            Type::Tensor { shape, .. } => {
                bail!("--top {}: the result has {} axes, a ranking needs one", result.name, shape.len())
            }
            Type::Graph { .. } => bail!("--top {}: the result is a graph, a ranking needs an array", result.name),
        }
        Ok(Self { result: &result.name, count: usize::try_from(given.count).unwrap_or(usize::MAX) })
    }
}

/// `[RESULT=]N` of `--top`.
#[derive(Clone, Debug)]
pub(crate) struct TopOption {
    result: Option<String>,
    count: i64,
}

impl FromStr for TopOption {
    type Err = NotCounted;

    fn from_str(text: &str) -> Result<Self, NotCounted> {
        if text.contains('=') {
            let Counted { name, value } = text.parse()?;
            return Ok(Self { result: Some(name), count: value });
        }
        Ok(Self { result: None, count: whole_number(text)? })
    }
}

/// What results are compared with.
pub(crate) fn expected(program: &Program, given: &[String], trace: &Trace) -> Result<Vec<Expected>> {
    let one = |text: &String| {
        let (result, file) = result_and_file(program, text)?;
        let option = format!("--expect {text}");
        let array = trace.step("read", || option.clone(), || open_array(file, &Limits::of_this_machine()));
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
