//! Where `tiga plan` finds a plan: a document, the standard input, or a program of a bundle with sizes.

use super::shown;
use crate::inspect::refuse_model;
use anyhow::{Context as _, Error, Result, bail, ensure};
use clap::Args;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use tiga_abi::Budget;
use tiga_bundle::Bundle;
use tiga_formats::Counted;
use tiga_plan::document::{Document, MAX_DOCUMENT};
use tiga_plan::instantiate::instantiate;
use tiga_plan::passes::{Room, schedule_spills};
use tiga_plan::strict::{Finding, duplicate_keys};
use tiga_plan::{Task, TaskKind, Template};
use tiga_source::unknown;

/// The plan that is meant.
#[derive(Args)]
pub(super) struct Source {
    /// A plan in JSON, `-` for the standard input, or a bundle (.tgb).
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The program of a bundle; may be left out if it has only one.
    #[arg(long, value_name = "NAME")]
    program: Option<String>,
    /// Gives a size to the plan of a bundle.
    #[arg(long = "size", value_name = "N=COUNT")]
    sizes: Vec<Counted>,
    /// Makes the plan of a bundle fit into these bytes, as a run does, with scratch memory for a thread on each core; a
    /// picture marks them.
    #[arg(long, value_name = "ram=N[,nvme=N]")]
    pub(super) budget: Option<Budget>,
    /// Only the rules of version 1 of the format.
    #[arg(long)]
    pub(super) v1: bool,
}

/// A document with what only its text shows.
pub(super) struct Planned {
    /// The name of the body; empty for what comes of a file.
    pub(super) name: String,
    pub(super) document: Document,
    pub(super) findings: Vec<Finding>,
}

impl Source {
    /// How messages call it.
    pub(super) fn name(&self) -> String {
        if self.is_standard_input() { "the standard input".into() } else { self.file.display().to_string() }
    }

    /// The name without its folder.
    pub(super) fn short_name(&self) -> String {
        let name = self.path().and_then(Path::file_name);
        name.map_or_else(|| self.name(), |name| name.to_string_lossy().into_owned())
    }

    /// The file that is read, if it is one.
    pub(super) fn path(&self) -> Option<&Path> {
        (!self.is_standard_input()).then_some(self.file.as_path())
    }

    fn is_standard_input(&self) -> bool {
        self.file.as_os_str() == "-"
    }

    fn is_bundle(&self) -> bool {
        self.file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tgb"))
    }

    /// The same for a command that has no other use for a budget than to make a plan fit.
    pub(super) fn read_to_fit(&self) -> Result<Vec<Planned>> {
        if self.budget.is_some() && !self.is_bundle() {
            bail!("--budget is for bundles (.tgb): a document is what it is");
        }
        self.read()
    }

    /// The documents: that of the file, or the program's first and then those of its bodies.
    pub(super) fn read(&self) -> Result<Vec<Planned>> {
        refuse_model(&self.file)?;
        if self.is_bundle() {
            return self.instances();
        }
        if let Some(option) = self.program.as_ref().map(|_| "--program").or(self.sizes.first().map(|_| "--size")) {
            bail!("{option} is for bundles (.tgb): a document has one plan, and its sizes are numbers");
        }
        let text = self.text()?;
        let refused =
            |error: &dyn std::error::Error| Error::msg(format!("{}: {}", self.name(), shown(&error.to_string())));
        let document = Document::parse(&text).map_err(|error| refused(&error))?;
        let findings = if self.v1 { Vec::new() } else { duplicate_keys(&text).map_err(|error| refused(&error))? };
        Ok(vec![Planned { name: String::new(), document, findings }])
    }

    /// The text, which is longer than what is read by one byte at most.
    fn text(&self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let limit = MAX_DOCUMENT as u64 + 1;
        let read = if self.is_standard_input() {
            std::io::stdin().lock().take(limit).read_to_end(&mut text)
        } else {
            File::open(&self.file).and_then(|file| file.take(limit).read_to_end(&mut text))
        };
        read.with_context(|| self.name())?;
        Ok(text)
    }

    fn instances(&self) -> Result<Vec<Planned>> {
        let bundle = Bundle::open(&self.file).with_context(|| self.name())?;
        let names: Vec<&str> = bundle.manifest().programs.iter().map(|program| program.name.as_str()).collect();
        let program = match (&self.program, names.as_slice()) {
            (_, []) => bail!("{}: the bundle has no program", self.name()),
            (Some(name), _) => name.as_str(),
            (None, [only]) => only,
            (None, _) => bail!("the bundle has several programs, name one with --program: {}", names.join(", ")),
        };
        let Some(template) = bundle.plan(program) else {
            bail!("the bundle has no program `{program}`; it has {}", names.join(", "))
        };
        let known: Vec<&str> = template.symbols.iter().map(|symbol| &**symbol).collect();
        for (place, size) in self.sizes.iter().enumerate() {
            ensure!(known.contains(&size.name.as_str()), unknown(program, "size", &size.name, &known));
            let twice = self.sizes[..place].iter().any(|other| other.name == size.name);
            ensure!(!twice, "`{}` is given twice by --size", size.name);
        }
        let missing: Vec<String> = known
            .iter()
            .filter(|name| !self.sizes.iter().any(|size| size.name == **name))
            .map(|name| format!("--size {name}=COUNT"))
            .collect();
        ensure!(missing.is_empty(), "the plan of `{program}` needs {}", missing.join(" "));
        let value = |name: &str| self.sizes.iter().find(|size| size.name == name).map(|size| size.value);
        let fitted = self.budget.as_ref().map(|budget| fit(&bundle, template, budget, &value)).transpose()?;
        let instances = instantiate(fitted.as_ref().unwrap_or(template), &value).with_context(|| self.name())?;
        let read = |instance: tiga_plan::instantiate::Instance| Planned {
            name: instance.name,
            document: instance.document,
            findings: Vec::new(),
        };
        Ok(instances.into_iter().map(read).collect())
    }
}

/// The plan as a run within a budget makes it.
fn fit(bundle: &Bundle, template: &Template, budget: &Budget, sizes: &dyn Fn(&str) -> Option<i64>) -> Result<Template> {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let kernels = &bundle.manifest().kernels;
    let scratch = |task: &Task| {
        let TaskKind::Kernel { symbol, units, .. } = &task.kind else { return 0 };
        let kernel = kernels.iter().find(|kernel| kernel.symbol == *symbol);
        let bytes = kernel.and_then(|kernel| kernel.scratch.eval(sizes).ok()).unwrap_or(0).unsigned_abs();
        let units = units.count(sizes).ok().flatten().map_or(u64::MAX, |count| count.max(1).unsigned_abs());
        bytes.saturating_mul(units.min(cores))
    };
    let budgets = budget.limits().collect();
    let room = Room { sizes, scratch: &scratch, derived: None, budgets: &budgets };
    schedule_spills(template, room).context("--budget")
}
