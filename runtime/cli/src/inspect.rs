//! `tiga inspect`.

use anyhow::{Context as _, Result};
use clap::Args;
use std::path::PathBuf;
use tiga_bundle::{Bundle, Guard, Param, Program, Type, Variant};

#[derive(Args)]
pub(crate) struct Inspect {
    /// The bundle.
    #[arg(value_name = "BUNDLE.tgb")]
    bundle: PathBuf,
}

impl Inspect {
    pub(crate) fn run(&self) -> Result<bool> {
        let bundle = Bundle::open(&self.bundle).with_context(|| self.bundle.display().to_string())?;
        let manifest = bundle.manifest();
        println!("format {}, language {}, made by {}", manifest.format, manifest.language, manifest.compiler);
        println!("floating point: {}", format!("{:?}", manifest.fp).to_lowercase());
        for target in &manifest.targets {
            println!("target {}: needs {}", target.name, target.features.join(" "));
        }
        for program in &manifest.programs {
            print_program(program);
            if let Some(plan) = bundle.plan(&program.name) {
                let bodies = plan.bodies.values().map(|b| b.tasks.len()).sum::<usize>();
                println!(
                    "  plan: {} tasks, {} in loops and branches, {} resources",
                    plan.root.tasks.len(),
                    bodies,
                    plan.resources.len()
                );
            }
        }
        println!("kernels:");
        for kernel in &manifest.kernels {
            println!("{}", format!("  {} {}", kernel.symbol, kernel.shape).trim_end());
            for variant in &kernel.variants {
                println!("    {}", guarded(variant));
            }
        }
        println!("entries:");
        for (name, bytes) in bundle.entries() {
            println!("  {bytes:>10}  {name}");
        }
        Ok(true)
    }
}

/// A kernel's name with the condition under which it runs, if it has one.
pub(crate) fn guarded(variant: &Variant) -> String {
    if variant.guard == Guard::ALWAYS {
        return variant.entry.clone();
    }
    format!("{} if {}", variant.entry, variant.guard)
}

fn print_program(program: &Program) {
    let list =
        |params: &[Param]| params.iter().map(|p| format!("{}: {}", p.name, ty(&p.ty))).collect::<Vec<_>>().join(", ");
    println!("program {}({}) -> ({})", program.name, list(&program.params), list(&program.results));
    for line in program.doc.lines() {
        println!("  {line}");
    }
    for param in program.params.iter().chain(&program.results).filter(|p| !p.doc.is_empty()) {
        println!("  {}: {}", param.name, param.doc.replace('\n', " "));
    }
}

fn ty(ty: &Type) -> String {
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
