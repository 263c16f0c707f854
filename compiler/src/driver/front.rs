//! The front end as one step: a file to its tree, its analysis and its mistakes.

use crate::lower::LowerError;
use crate::sema::{Analysis, SemaOptions, analyse};
use std::path::{Path, PathBuf};
use tiga_abi::DType;
use tiga_source::{Diagnostic, Severity, Sources, Span};
use tiga_syntax::ast;

/// The code of what analysis accepts and what comes after it does not.
pub(super) const INTERNAL: &str = "TG0999";

/// How an archive, and so a bundle, begins.
const ARCHIVE: &[u8] = b"PK\x03\x04";

/// Why a file has no tree.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is no text.
    #[error("`{}` is not UTF-8 text: byte {at} begins no character", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is wrong.
        at: usize,
    },
    /// It is a compiled model.
    #[error("`{}` is a bundle, not a model: run it with `tiga run`", .0.display())]
    Bundle(PathBuf),
    /// It is larger than spans can address.
    #[error("`{}` is larger than 4 GiB", .0.display())]
    TooLarge(PathBuf),
}

/// The text of a model.
pub(super) fn read_model(path: &Path) -> Result<String, FrontError> {
    let bytes = std::fs::read(path).map_err(|source| FrontError::Read { path: path.into(), source })?;
    if bytes.starts_with(ARCHIVE) && path.extension().is_some_and(|e| e == "tgb") {
        return Err(FrontError::Bundle(path.into()));
    }
    String::from_utf8(bytes).map_err(|e| FrontError::NotText { path: path.into(), at: e.utf8_error().valid_up_to() })
}

/// What the front end knows of a file.
#[derive(Debug)]
pub struct Front {
    /// The file.
    pub sources: Sources,
    /// Its tree.
    pub module: ast::Module,
    /// Its programs and their domain functions.
    pub analysis: Analysis,
    /// All findings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

impl Front {
    /// Reads and analyses a file.
    ///
    /// # Errors
    /// The file cannot be read as text. Mistakes in the text are [`Front::diagnostics`].
    pub fn read(path: &Path, options: &SemaOptions) -> Result<Front, FrontError> {
        let text = read_model(path)?;
        Front::of_text(&path.to_string_lossy(), text, options).ok_or_else(|| FrontError::TooLarge(path.into()))
    }

    /// Analyses a text; `None` if it is larger than spans can address.
    pub fn of_text(name: &str, text: String, options: &SemaOptions) -> Option<Front> {
        let mut sources = Sources::new();
        let file = sources.add(name, text)?;
        let parsed = tiga_syntax::parse(file, sources.file(file).text());
        let analysis = analyse(&parsed.module, &sources, options);
        let mut diagnostics = parsed.errors;
        diagnostics.extend(analysis.diagnostics.iter().cloned());
        diagnostics.sort_by_key(|d| d.primary.span.start);
        Some(Front { sources, module: parsed.module, analysis, diagnostics })
    }

    /// The number of errors, warnings aside.
    pub fn errors(&self) -> usize {
        self.diagnostics.iter().filter(|d| d.severity == Severity::Error).count()
    }

    /// What cannot be lowered yet, as a finding at the expression it comes from.
    pub fn limit(&self, error: &LowerError) -> Diagnostic {
        let start = Span { end: self.module.span.start, ..self.module.span };
        error.at(error.loc().and_then(|loc| self.analysis.places.get(loc)).copied().unwrap_or(start))
    }
}

/// Options of analysis on the command line.
#[derive(Debug, Default, clap::Args)]
pub(super) struct SemaArgs {
    /// Make a type of the model another element type, as in `real=f64`.
    #[arg(long = "set", value_name = "TYPE=DTYPE", value_parser = assignment)]
    set: Vec<(String, DType)>,
}

impl SemaArgs {
    pub(super) fn options(&self) -> SemaOptions {
        SemaOptions { set: self.set.iter().cloned().collect() }
    }
}

fn assignment(text: &str) -> Result<(String, DType), String> {
    let (name, dtype) = text.split_once('=').ok_or_else(|| "expected TYPE=DTYPE, as in real=f64".to_owned())?;
    match dtype.parse() {
        Ok(dtype) => Ok((name.to_owned(), dtype)),
        Err(error) => Err(format!("{error}")),
    }
}
