//! `tigac FILE`: compiles a model, and writes what `--emit` asks for.

use super::codegen::{Codegen, CodegenArgs};
use super::front::{Front, SemaArgs};
use super::{Outcome, refusal};
use crate::passes::WatchArgs;
use anyhow::{Context, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The arguments of a compilation.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE", required = true)]
    file: Option<PathBuf>,
    /// Where the output goes; a bundle goes to FILE's name with `.tgb` in this folder if left out.
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// What to write, and where: ast, ir, llvm-ir, asm, obj, bundle. Texts without a path go to the standard output.
    #[arg(
        long,
        value_name = "KIND[=PATH]",
        value_delimiter = ',',
        default_value = "bundle",
        conflicts_with = "stop_after"
    )]
    emit: Vec<Emit>,
    #[command(flatten)]
    sema: SemaArgs,
    #[command(flatten)]
    codegen: CodegenArgs,
    #[command(flatten)]
    watch: WatchArgs,
}

/// A form of the program that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The syntax tree.
    Ast,
    /// The domain level of the IR.
    Ir,
    /// LLVM's IR of all kernels, optimised.
    LlvmIr,
    /// Assembly of all kernels.
    Asm,
    /// An object file of all kernels.
    Obj,
    /// A bundle.
    Bundle,
}

impl Kind {
    const ALL: [(&'static str, Kind); 6] = [
        ("ast", Kind::Ast),
        ("ir", Kind::Ir),
        ("llvm-ir", Kind::LlvmIr),
        ("asm", Kind::Asm),
        ("obj", Kind::Obj),
        ("bundle", Kind::Bundle),
    ];

    /// Whether passes and a back end make it.
    fn is_code(self) -> bool {
        !matches!(self, Kind::Ast | Kind::Ir)
    }

    /// The ending of its file, for forms that are no text.
    fn ending(self) -> Option<&'static str> {
        match self {
            Kind::Obj => Some("o"),
            Kind::Bundle => Some("tgb"),
            Kind::Ast | Kind::Ir | Kind::LlvmIr | Kind::Asm => None,
        }
    }
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

impl Args {
    /// Where one form goes: its own path, `-o`, its default name, or the standard output.
    fn path(&self, emit: &Emit, file: &Path) -> Option<PathBuf> {
        let own = emit.path.clone().or_else(|| self.output.clone());
        own.or_else(|| emit.kind.ending().map(|e| Path::new(file.file_name().unwrap_or_default()).with_extension(e)))
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    let file = args.file.as_deref().context("no file is given")?;
    if args.output.is_some() && args.emit.iter().filter(|e| e.path.is_none()).count() > 1 {
        bail!("`-o` names one file, but `--emit` asks for several: give each its own as KIND=PATH");
    }
    let front = Front::read(file, &args.sema.options())?;
    let outcome = front.report();
    forms(args, file, &front, outcome).or_else(|error| refusal::show(error, &front))
}

/// Writes what is asked for.
fn forms(args: &Args, file: &Path, front: &Front, outcome: Outcome) -> anyhow::Result<Outcome> {
    let watch = args.watch.watch();
    if outcome == Outcome::Done {
        args.codegen.check_dimensions(&front.analysis)?;
        if watch.stop_after.is_some() {
            let module = args.codegen.run_passes(&front.analysis, &watch)?;
            write(args.output.as_deref(), tiga_ir::print_module(&module).as_bytes())?;
            return Ok(outcome);
        }
        // Code generation shows the passes itself; they are watched whatever is emitted.
        let shown_later = cfg!(feature = "llvm") && args.emit.iter().any(|e| e.kind.is_code());
        if watch.shows() && !shown_later {
            args.codegen.run_passes(&front.analysis, &watch)?;
        }
    }
    let mut codegen = Codegen::new(&args.codegen, &watch);
    for emit in &args.emit {
        let bytes = match emit.kind {
            Kind::Ast => tiga_syntax::dump(&front.module).into_bytes(),
            _ if outcome != Outcome::Done => continue,
            Kind::Ir => tiga_ir::print_module(&front.analysis.ir).into_bytes(),
            kind => codegen.emit(kind, &front.analysis)?,
        };
        write(args.path(emit, file).as_deref(), &bytes)?;
    }
    Ok(outcome)
}

/// Without a path to the standard output.
fn write(path: Option<&Path>, bytes: &[u8]) -> anyhow::Result<()> {
    match path {
        Some(path) => {
            let write = |w: &mut dyn tiga_formats::WriteSeek| w.write_all(bytes);
            tiga_formats::write_file(path, write)?;
        }
        None => {
            let mut out = std::io::stdout();
            out.write_all(bytes).context("cannot write to the standard output")?;
            out.flush().context("cannot write to the standard output")?;
        }
    }
    Ok(())
}
