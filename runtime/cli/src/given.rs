//! What `tiga run` and `tiga bench` are given: a bundle, a program, its inputs, threads.

use crate::inputs::Inputs;
use crate::names;
use crate::trace::Trace;
use anyhow::{Context as _, Result, bail};
use clap::Args;
use std::path::PathBuf;
use tiga_bundle::Program;
use tiga_formats::{Counted, GraphSource, Named};
use tiga_runtime::{Bundle, Context};

#[derive(Args)]
pub(crate) struct Given {
    /// The bundle.
    #[arg(value_name = "BUNDLE.tgb")]
    pub(crate) bundle: PathBuf,
    /// The program; may be left out if the bundle has only one.
    program: Option<String>,
    /// Binds a graph: .mtx, .npz, an edge list (.txt .tsv .csv .edges .el), or an array [2, E] of edges (.npy,
    /// .npz:NAME, .safetensors:NAME).
    #[arg(long = "graph", value_name = "G=FILE")]
    pub(crate) graphs: Vec<Named<GraphSource>>,
    /// Binds an array or number: FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME, a number, or G.values for a graph's edge values; with
    /// `:input-order` behind a file, an edge field has a row for each line of its graph's file.
    #[arg(long = "in", value_name = "X=FILE|NUMBER|G.values")]
    pub(crate) inputs: Vec<Named>,
    /// Gives a dimension that no input fixes.
    #[arg(long = "dim", value_name = "F=N")]
    pub(crate) dims: Vec<Counted>,
    /// Runs the kernels for this target of the bundle; the best that this machine can run if left out.
    #[arg(long, value_name = "CPU")]
    target: Option<String>,
    /// Worker threads; one for each core if left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

impl Given {
    /// The bundle, opened.
    pub(crate) fn open(&self, trace: &Trace) -> Result<Bundle> {
        let file = || self.bundle.display().to_string();
        let open = || {
            let bundle = Bundle::open(&self.bundle)?;
            self.target.as_ref().map_or(Ok(bundle.clone()), |target| bundle.with_target(target))
        };
        trace.step("load", file, open).with_context(file)
    }

    /// The program that is meant, to which the options bind everything.
    pub(crate) fn program<'b>(&self, bundle: &'b Bundle) -> Result<&'b Program> {
        let programs = &bundle.manifest().programs;
        let names = || programs.iter().map(|p| p.name.as_str()).collect::<Vec<_>>().join(", ");
        let program = match (&self.program, programs.as_slice()) {
            (_, []) => bail!("{}: the bundle has no program", self.bundle.display()),
            (Some(name), _) => match bundle.manifest().program(name) {
                Some(program) => program,
                None => bail!("the bundle has no program `{name}`; it has {}", names()),
            },
            (None, [only]) => only,
            (None, _) => bail!("the bundle has several programs, name one: {}", names()),
        };
        names::check(program, &self.graphs, &self.inputs, &self.dims)?;
        Ok(program)
    }

    /// What the options bind, read.
    pub(crate) fn read(&self, program: &Program, trace: &Trace) -> Result<Inputs> {
        Inputs::read(program, &self.graphs, &self.inputs, trace)
    }

    /// Threads to run on.
    pub(crate) fn context(&self) -> Result<Context> {
        Ok(Context::new(self.threads.unwrap_or(0).into())?)
    }
}
