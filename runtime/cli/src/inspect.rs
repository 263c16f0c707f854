//! `tiga inspect`.

use crate::inspect_json;
use crate::show::visible;
use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};
use tiga_bundle::{Bundle, Guard, Param, Program, Type, Variant};

/// The arguments of `tiga inspect`.
#[derive(Args)]
pub struct Inspect {
    /// The bundle.
    #[arg(value_name = "BUNDLE.tgb")]
    bundle: PathBuf,
    /// How it is shown; the fields of json stay as they are.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Forms of what is shown.
#[derive(Clone, Copy, ValueEnum)]
enum Format {
    /// For people.
    Text,
    /// For programs, as docs/inspect.schema.json describes it.
    Json,
}

impl Inspect {
    /// Shows the bundle.
    ///
    /// # Errors
    /// It is no bundle, or what it says cannot be written.
    pub fn run(&self, out: &mut dyn Write) -> Result<bool> {
        refuse_model(&self.bundle)?;
        let bundle = Bundle::open(&self.bundle).with_context(|| self.bundle.display().to_string())?;
        match self.format {
            Format::Text => print(&bundle, out)?,
            Format::Json => out.write_all(inspect_json::document(&bundle).as_bytes())?,
        }
        Ok(true)
    }
}

/// The text form: all that a bundle says of itself.
///
/// # Errors
/// Those of the writer.
pub fn print(bundle: &Bundle, out: &mut dyn Write) -> Result<()> {
    let manifest = bundle.manifest();
    writeln!(out, "format {}, language {}, made by {}", manifest.format, manifest.language, manifest.compiler)?;
    writeln!(out, "floating point: {}", manifest.fp.name())?;
    for target in &manifest.targets {
        writeln!(out, "target {}: needs {}", target.name, target.features.join(" "))?;
    }
    for program in &manifest.programs {
        print_program(program, out)?;
        if let Some(plan) = bundle.plan(&program.name) {
            let bodies = plan.bodies.values().map(|b| b.tasks.len()).sum::<usize>();
            writeln!(
                out,
                "  plan: {} tasks, {} in loops and branches, {} resources",
                plan.root.tasks.len(),
                bodies,
                plan.resources.len()
            )?;
        }
    }
    writeln!(out, "kernels:")?;
    for kernel in &manifest.kernels {
        writeln!(out, "{}", format!("  {} {}", kernel.symbol, visible(&kernel.shape)).trim_end())?;
        for variant in &kernel.variants {
            writeln!(out, "    {}", guarded(variant))?;
        }
    }
    writeln!(out, "entries:")?;
    for (name, bytes) in bundle.entries() {
        writeln!(out, "  {bytes:>10}  {name}")?;
    }
    Ok(())
}

/// A model is not a bundle, and whoever gives one wants to hear how to make one of it.
pub fn refuse_model(path: &Path) -> Result<()> {
    if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("tg")) && path.is_file() {
        let (model, bundle) = (path.display(), path.with_extension("tgb"));
        bail!("{model}: this is a model, not a bundle: compile it with tigac {model} -o {}", bundle.display());
    }
    Ok(())
}

/// A kernel's name with the condition under which it runs, if it has one.
pub fn guarded(variant: &Variant) -> String {
    if variant.guard == Guard::ALWAYS {
        return variant.entry.clone();
    }
    format!("{} if {}", variant.entry, variant.guard)
}

fn print_program(program: &Program, out: &mut dyn Write) -> Result<()> {
    let list = |params: &[Param]| {
        params.iter().map(|p| format!("{}: {}", p.name, type_text(&p.ty))).collect::<Vec<_>>().join(", ")
    };
    writeln!(out, "program {}({}) -> ({})", program.name, list(&program.params), list(&program.results))?;
    for line in program.doc.lines() {
        writeln!(out, "  {}", visible(line))?;
    }
    for param in program.params.iter().chain(&program.results).filter(|p| !p.doc.is_empty()) {
        writeln!(out, "  {}: {}", param.name, visible(&param.doc.replace('\n', " ")))?;
    }
    Ok(())
}

/// `f64[N, 3]`, `f64`, `graph<g.src -> g.dst>`.
pub fn type_text(ty: &Type) -> String {
    match ty {
        Type::Graph { src, dst, .. } if src == dst => format!("graph<{src}>"),
        Type::Graph { src, dst, .. } => format!("graph<{src} -> {dst}>"),
        Type::Tensor { dtype, shape } if shape.is_empty() => dtype.to_string(),
        Type::Tensor { dtype, shape } => {
            let axes: Vec<String> = shape.iter().map(ToString::to_string).collect();
            format!("{dtype}[{}]", axes.join(", "))
        }
    }
}
