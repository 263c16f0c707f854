//! What the compiler says of itself: `--print`, `--version`, completions and man pages.

use super::output::print;
use crate::builtin::{BuiltinReducer, top};
use crate::passes;
use crate::sema::written_reducers;
use anyhow::{Context, Result};
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;
use std::fmt::Write as _;
use std::path::PathBuf;
use tiga_abi::CpuTarget;

/// What can be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum List {
    /// CPUs to compile for.
    Targets,
    /// Passes, for --print-after.
    Passes,
    /// Reducers that need no declaration.
    Reducers,
}

/// CPUs to compile for, and what they are.
const TARGETS: [(CpuTarget, &str); 4] = [
    (CpuTarget::Native, "this machine"),
    (CpuTarget::X86_64V2, "any x86-64 CPU with SSE4.2"),
    (CpuTarget::X86_64V3, "any x86-64 CPU with AVX2 and FMA"),
    (CpuTarget::X86_64V4, "any x86-64 CPU with AVX-512"),
];

/// Prints a list, an entry a line with what it is.
pub(super) fn list(what: List) -> Result<()> {
    let rows: Vec<(String, &str)> = match what {
        List::Targets => TARGETS.iter().map(|(target, about)| (target.name().to_owned(), *about)).collect(),
        List::Passes => passes::ALL.iter().map(|pass| (pass.flag(), pass.about)).collect(),
        List::Reducers => {
            let plain = BuiltinReducer::ALL.iter().map(|r| (r.name().to_owned(), r.about()));
            let top = ("top<K>".to_owned(), top::ABOUT);
            let written = written_reducers().map(|(name, about)| (name.to_owned(), about));
            plain.chain([top]).chain(written).collect()
        }
    };
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for (name, about) in rows {
        writeln!(text, "{name:width$}  {about}")?;
    }
    print(text.as_bytes())
}

/// The version; with `verbose`, of what it was built with, and what for.
pub(super) fn version(verbose: bool) -> Result<()> {
    let release = env!("CARGO_PKG_VERSION");
    let mut text = format!("tigac {release}\n");
    if verbose {
        writeln!(text, "release: {release}")?;
        writeln!(text, "host: {}-{}", std::env::consts::ARCH, std::env::consts::OS)?;
        writeln!(text, "targets: {}", TARGETS.map(|(target, _)| target.name()).join(", "))?;
        backend(&mut text)?;
    }
    print(text.as_bytes())
}

#[cfg(feature = "llvm")]
fn backend(text: &mut String) -> std::fmt::Result {
    writeln!(text, "host features: {}", tiga_backend_llvm::native_features().join(", "))?;
    writeln!(text, "LLVM version: {}", tiga_backend_llvm::llvm_version())
}

#[cfg(not(feature = "llvm"))]
fn backend(text: &mut String) -> std::fmt::Result {
    writeln!(text, "LLVM version: none")
}

/// The arguments of `tigac completions`.
#[derive(Debug, clap::Args)]
pub(super) struct CompletionArgs {
    /// The shell that reads them.
    #[arg(value_enum)]
    shell: Shell,
}

/// The arguments of `tigac man`.
#[derive(Debug, clap::Args)]
pub(super) struct ManArgs {
    /// Where a page for each command goes; without it, the page of `tigac` goes to the standard output.
    #[arg(value_name = "FOLDER")]
    folder: Option<PathBuf>,
}

/// Prints what a shell needs to complete a command line.
pub(super) fn completions(args: &CompletionArgs) -> Result<()> {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut super::Cli::command(), "tigac", &mut out);
    print(&out)
}

/// Writes manual pages.
pub(super) fn man(args: &ManArgs) -> Result<()> {
    let command = super::Cli::command();
    if let Some(folder) = &args.folder {
        return clap_mangen::generate_to(command, folder)
            .with_context(|| format!("cannot write pages in `{}`", folder.display()));
    }
    let mut out = Vec::new();
    clap_mangen::Man::new(command).render(&mut out)?;
    print(&out)
}
