//! `tigac FILE`: compiles a model, and writes what `--emit` asks for.

use super::codegen::{Codegen, CodegenArgs, program};
use super::front::{Front, SemaArgs};
use super::header::{header, model_name};
use super::output::{check_distinct, is_standard, write};
use super::report::ReportArgs;
use super::{Outcome, refusal};
use crate::passes::WatchArgs;
use anyhow::{Context, bail};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// What is wrong with a model of which no code can be made.
pub(super) const NO_PROGRAM: &str =
    "the model has no program; `tigac check` checks a model of messages and functions only";

/// The arguments of a compilation.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE", required_unless_present = "version")]
    file: Option<PathBuf>,
    /// Where the output goes; `-` is the standard output, for texts.
    #[arg(short, value_name = "PATH")]
    output: Option<PathBuf>,
    /// What to write, and where: ast, the syntax tree; ir, the module before all passes (the domain level); plan, the
    /// tasks of each program, what they use and wait for; llvm-ir and asm, the code of all kernels; obj, an object file
    /// of them, to be linked with a host; header, the programs as functions in C for that host; bundle, what `tiga run`
    /// takes. Without a path, the texts ast, ir, plan, llvm-ir and asm go to the standard output, obj, header and bundle
    /// to FILE's name with `.o`, `.h` and `.tgb` in this folder.
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
    #[command(flatten)]
    pub(super) report: ReportArgs,
}

/// A form of the program that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The syntax tree.
    Ast,
    /// The domain level of the IR.
    Ir,
    /// The plans of all programs.
    Plan,
    /// LLVM's IR of all kernels, optimised.
    LlvmIr,
    /// Assembly of all kernels.
    Asm,
    /// An object file of all kernels, with the table by which a host finds them.
    Obj,
    /// The programs as functions in C, for a host that links the object.
    Header,
    /// A bundle.
    Bundle,
}

impl Kind {
    const ALL: [(&'static str, Kind); 8] = [
        ("ast", Kind::Ast),
        ("ir", Kind::Ir),
        ("plan", Kind::Plan),
        ("llvm-ir", Kind::LlvmIr),
        ("asm", Kind::Asm),
        ("obj", Kind::Obj),
        ("header", Kind::Header),
        ("bundle", Kind::Bundle),
    ];

    /// What it is called on the command line.
    fn name(self) -> &'static str {
        Kind::ALL.into_iter().find(|(_, kind)| *kind == self).map_or("", |(name, _)| name)
    }

    /// Whether passes and a back end make it.
    fn is_code(self) -> bool {
        !matches!(self, Kind::Ast | Kind::Ir | Kind::Header)
    }

    /// Whether it is for one target.
    fn of_one_target(self) -> bool {
        matches!(self, Kind::LlvmIr | Kind::Asm | Kind::Obj)
    }

    /// The ending of its file, for forms that go to one by default.
    fn ending(self) -> Option<&'static str> {
        match self {
            Kind::Obj => Some("o"),
            Kind::Header => Some("h"),
            Kind::Bundle => Some("tgb"),
            Kind::Ast | Kind::Ir | Kind::Plan | Kind::LlvmIr | Kind::Asm => None,
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
        match emit.path.as_deref().or(self.output.as_deref()) {
            Some(path) if is_standard(path) => None,
            Some(path) => Some(path.into()),
            None => emit.kind.ending().map(|e| Path::new(file.file_name().unwrap_or_default()).with_extension(e)),
        }
    }

    /// Whether it is for what programs become.
    fn wants_code(&self) -> bool {
        !self.watch.stops() && self.emit.iter().any(|emit| emit.kind.is_code())
    }

    /// Where the module goes that `--stop-after` prints.
    fn stopped_path(&self) -> Option<&Path> {
        self.output.as_deref().filter(|path| !is_standard(path))
    }

    /// Refuses outputs that cannot all be written without a loss.
    fn check_outputs(&self, file: &Path) -> anyhow::Result<()> {
        if self.watch.stops() {
            self.codegen.only_target("--stop-after")?;
            return Ok(check_distinct(&[file], self.stopped_path().as_slice())?);
        }
        if let Some(emit) = self.emit.iter().find(|emit| emit.kind.of_one_target()) {
            self.codegen.only_target(&format!("--emit={}", emit.kind.name()))?;
        }
        if self.output.is_some() && self.emit.iter().filter(|e| e.path.is_none()).count() > 1 {
            bail!("`-o` names one file, but `--emit` asks for several: give each its own as KIND=PATH");
        }
        let paths: Vec<Option<PathBuf>> = self.emit.iter().map(|emit| self.path(emit, file)).collect();
        if let Some(emit) =
            self.emit.iter().zip(&paths).find(|(e, path)| matches!(e.kind, Kind::Obj | Kind::Bundle) && path.is_none())
        {
            bail!("`{}` is no text, and does not go to the standard output: name a file", emit.0.kind.name());
        }
        let paths: Vec<&Path> = paths.iter().flatten().map(PathBuf::as_path).collect();
        Ok(check_distinct(&[file], &paths)?)
    }
}

pub(super) fn run(args: &Args) -> anyhow::Result<Outcome> {
    compile(args).or_else(|error| args.report.refusal(error))
}

fn compile(args: &Args) -> anyhow::Result<Outcome> {
    let file = args.file.as_deref().context("no file is given")?;
    let front = Front::read(file, &args.sema.options())?;
    args.check_outputs(file)?;
    let outcome = args.report.show(&front.sources, &front.diagnostics);
    if outcome == Outcome::Done && front.analysis.programs.is_empty() && args.wants_code() {
        bail!(NO_PROGRAM);
    }
    forms(args, file, &front, outcome).or_else(|error| refusal::show(error, &front, &args.report))
}

/// Writes what is asked for.
fn forms(args: &Args, file: &Path, front: &Front, outcome: Outcome) -> anyhow::Result<Outcome> {
    let watch = args.watch.watch();
    if outcome == Outcome::Done {
        args.codegen.check_dimensions(&front.analysis)?;
        if watch.stop_after.is_some() {
            let target = args.codegen.only_target("--stop-after")?;
            let module = args.codegen.run_passes(&front.analysis, &watch, target)?;
            write(args.stopped_path(), tiga_ir::print_module(&module).as_bytes())?;
            return Ok(outcome);
        }
        // Code generation shows the passes itself; they are watched whatever is emitted.
        let shown_later = cfg!(feature = "llvm") && args.emit.iter().any(|e| e.kind.is_code());
        if watch.shows() && !shown_later {
            args.codegen.show_passes(&front.analysis, &watch)?;
        }
    }
    let model = model_name(&file.file_stem().unwrap_or_default().to_string_lossy());
    let mut codegen = Codegen::new(&args.codegen, &watch);
    for emit in &args.emit {
        let bytes = match emit.kind {
            Kind::Ast => tiga_syntax::dump(&front.module).into_bytes(),
            _ if outcome != Outcome::Done => continue,
            Kind::Ir => tiga_ir::print_module(&front.analysis.ir).into_bytes(),
            Kind::Header => {
                header(&model, &front.analysis.programs.iter().map(program).collect::<Vec<_>>()).into_bytes()
            }
            kind => codegen.emit(kind, &front.analysis, &model)?,
        };
        let path = args.path(emit, file);
        write(path.as_deref(), &bytes)?;
        if let Some(path) = path {
            args.report.progress(format_args!(
                "wrote `{}`: {}, {} bytes",
                path.display(),
                emit.kind.name(),
                bytes.len()
            ));
        }
    }
    Ok(outcome)
}
