//! `tigac FILE`: compiles a model, and writes what `--emit` asks for.

use super::Outcome;
use super::front::{Front, SemaArgs};
use anyhow::Context;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

/// The arguments of a compilation.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    /// What to write, and where; without a path, to the standard output stream.
    #[arg(long, value_name = "KIND[=PATH]", value_delimiter = ',', default_value = "ir")]
    emit: Vec<Emit>,
    #[command(flatten)]
    sema: SemaArgs,
}

/// A form of the program that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// The syntax tree.
    Ast,
    /// The domain level of the IR.
    Ir,
}

impl Kind {
    const ALL: [(&'static str, Kind); 2] = [("ast", Kind::Ast), ("ir", Kind::Ir)];
}

/// One item of `--emit`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Emit {
    kind: Kind,
    path: Option<PathBuf>,
}

/// An item of `--emit` that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` cannot be emitted; there are {}", Kind::ALL.map(|(name, _)| name).join(", "))]
struct UnknownKind {
    name: String,
}

impl FromStr for Emit {
    type Err = UnknownKind;

    fn from_str(text: &str) -> Result<Self, UnknownKind> {
        let (name, path) = match text.split_once('=') {
            Some((name, path)) => (name, Some(path.into())),
            None => (text, None),
        };
        let kind = Kind::ALL.into_iter().find(|(n, _)| *n == name).map(|(_, kind)| kind);
        Ok(Emit { kind: kind.ok_or_else(|| UnknownKind { name: name.to_owned() })?, path })
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let file = args.file.as_deref().context("no file is given")?;
    let front = Front::read(file, &args.sema.options())?;
    let outcome = front.report();
    for emit in &args.emit {
        let text = match emit.kind {
            Kind::Ast => tiga_syntax::dump(&front.module),
            Kind::Ir if outcome == Outcome::Done => tiga_ir::print_module(&front.analysis.ir),
            Kind::Ir => continue,
        };
        match &emit.path {
            Some(path) => {
                std::fs::write(path, text).with_context(|| format!("cannot write `{}`", path.display()))?;
            }
            None => std::io::stdout().write_all(text.as_bytes()).context("cannot write to the standard output")?,
        }
    }
    Ok(outcome)
}
