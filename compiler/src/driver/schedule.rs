//! `tigac explain-schedule`: what becomes of a model's programs, on one page.

use super::codegen::check_dimensions;
use super::front::{Front, SemaArgs};
use super::options::PassArgs;
use super::output::print;
use super::report::ReportArgs;
use super::targets::Targets;
use super::{Outcome, refusal};
use crate::lower::kernel::lower_func;
use crate::passes::{PassOptions, Verdict, Watch, run};
use crate::pipeline;
use anyhow::{Result, bail};
use std::fmt::Write as _;
use std::path::PathBuf;
use tiga_ir::{Func, Inst, Level, Module, Region, Space, Type, Value, ops};

/// What the help says after the options.
const DETAILS: &str = "\
For each program the page lists its launches in order: the place in the model, what is gone through, the arrays that
are read and written, and for each kernel the condition under which it is chosen and how it goes through the features
of its entities. At the end it lists what passes did, and what they found not worth it, and why. docs/schedules.md
explains the words.";

/// The arguments of `tigac explain-schedule`.
#[derive(Debug, clap::Args)]
#[command(after_help = DETAILS)]
pub(super) struct Args {
    /// The model.
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    sema: SemaArgs,
    /// The CPU to explain: native, x86-64-v2, x86-64-v3 or x86-64-v4.
    #[arg(long, value_name = "CPU", default_value = "native")]
    target: Targets,
    #[command(flatten)]
    passes: PassArgs,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn run_command(args: &Args) -> Result<Outcome> {
    explain(args).or_else(|error| args.report.refusal(error))
}

fn explain(args: &Args) -> Result<Outcome> {
    let target = args.target.only("explain-schedule")?;
    let front = Front::read(&args.file, &args.sema.options())?;
    let outcome = args.report.show(&front.sources, &front.diagnostics);
    if outcome != Outcome::Done {
        return Ok(outcome);
    }
    if front.analysis.programs.is_empty() {
        bail!("the model has no program, and messages are scheduled where programs apply them");
    }
    check_dimensions(&args.passes, &front.analysis)?;
    let mut options = PassOptions::for_target(target, args.passes.fp());
    options.kernel.specialize = args.passes.specialize();
    let head = format!("{} for {target}, floating point: {}\n", args.file.display(), args.passes.fp().name());
    match page(&front.analysis.ir, &options) {
        Ok(page) => print((head + &page).as_bytes())?,
        Err(error) => return refusal::show(error, &front, &args.report),
    }
    Ok(outcome)
}

/// The page of a module.
fn page(module: &Module, options: &PassOptions) -> Result<String> {
    let watch = Watch { stop_after: Some(Level::Loops), remarks: Verdict::ALL.to_vec(), ..Watch::default() };
    let mut remarks = Vec::new();
    let module = run(module.clone(), pipeline::PASSES, options, &watch, &mut remarks)?;
    let mut out = String::new();
    for host in module.funcs.values().filter(|func| func.level == Level::Host) {
        write!(out, "\nprogram {}, {}\n", host.name, host.loc)?;
        Page { module: &module, options, host, out: &mut out }.region(host.region, 1)?;
    }
    write!(out, "\n{}", decisions(&String::from_utf8_lossy(&remarks)))?;
    Ok(out)
}

/// The remarks, each once.
fn decisions(remarks: &str) -> String {
    let mut lines: Vec<(&str, usize)> = Vec::new();
    for line in remarks.lines() {
        match lines.iter_mut().find(|(known, _)| *known == line) {
            Some((_, times)) => *times += 1,
            None => lines.push((line, 1)),
        }
    }
    if lines.is_empty() {
        return "passes found nothing to decide\n".to_owned();
    }
    let times = |times: usize| if times > 1 { format!(" ({times} times)") } else { String::new() };
    let lines: Vec<String> = lines.into_iter().map(|(line, n)| format!("  {line}{}\n", times(n))).collect();
    format!("decisions of passes\n{}", lines.concat())
}

/// The part of the page that is about one program.
struct Page<'a> {
    module: &'a Module,
    options: &'a PassOptions,
    host: &'a Func,
    out: &'a mut String,
}

impl Page<'_> {
    /// The launches of a region, and those of the loops and branches in it.
    fn region(&mut self, region: Region, depth: usize) -> Result<()> {
        let body = &self.host.body;
        for inst in &body.block(body.entry(region)).insts {
            let data = body.inst(*inst);
            if data.op == ops::LAUNCH {
                self.launch(*inst, depth)?;
            } else if !data.regions.is_empty() {
                self.line(depth, &format!("{}, {}", data.op.name(), data.loc))?;
                for region in &data.regions {
                    self.region(*region, depth + 1)?;
                }
            } else if data.results.iter().any(|value| body.ty(*value).as_rel().is_some()) {
                self.line(depth, &format!("{} of a graph, {}", data.op.name(), data.loc))?;
            }
        }
        Ok(())
    }

    fn launch(&mut self, inst: Inst, depth: usize) -> Result<()> {
        let data = self.host.body.inst(inst);
        let callee = data.attrs.callee().expect("verified: a launch has a callee");
        let func = &self.module.funcs[callee];
        self.line(depth, &format!("{callee}, {}: {}", data.loc, spaces(func)))?;
        for (word, params) in [("reads", read(func)), ("writes", written(func))] {
            if !params.is_empty() {
                self.line(depth + 1, &format!("{word:<7} {}", params.join(", ")))?;
            }
        }
        for (i, variant) in lower_func(self.module, func, &self.options.kernel)?.iter().enumerate() {
            let guard = &variant.kernel.guard;
            match (guard.terms.is_empty(), i) {
                (false, _) => self.line(depth + 1, &format!("if {guard}"))?,
                (true, 0) => {}
                (true, _) => self.line(depth + 1, "else")?,
            }
            for line in variant.schedule.lines() {
                self.line(depth + 2, &line)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, depth: usize, text: &str) -> Result<()> {
        writeln!(self.out, "{:1$}{text}", "", 2 * depth)?;
        Ok(())
    }
}

/// What a loops function goes through.
fn spaces(func: &Func) -> String {
    let body = &func.body;
    let over = |inst: &Inst| {
        let data = body.inst(*inst);
        let graph = || data.operands.first().map_or(String::new(), |graph| name(func, *graph));
        Some(match data.attrs.space()? {
            Space::Once => "once".to_owned(),
            Space::Rows(extent) => format!("each of {extent}"),
            Space::Blocks(extent, size) => format!("each block of {size} of {extent}"),
            Space::Edges => format!("each edge of {}", graph()),
            Space::Short(leaf) => format!("each row of {} with up to {leaf} edges", graph()),
            Space::Leaves(leaf) => format!("each leaf of {leaf} edges of longer rows of {}", graph()),
            Space::Long(leaf) => format!("each row of {} with more than {leaf} edges, its leaves joined", graph()),
        })
    };
    body.block(body.entry(func.region)).insts.iter().filter_map(over).collect::<Vec<_>>().join(", then ")
}

fn name(func: &Func, value: Value) -> String {
    func.body.value(value).name.as_deref().unwrap_or("?").to_owned()
}

/// Parameters that a loops function stores to.
fn stored(func: &Func) -> Vec<Value> {
    let body = &func.body;
    let stores = body.walk(func.region).into_iter().filter(|inst| body.inst(*inst).op == ops::STORE);
    stores.map(|store| body.inst(store).operands[1]).collect()
}

fn written(func: &Func) -> Vec<String> {
    let stored = stored(func);
    func.params().iter().filter(|param| stored.contains(param)).map(|param| shown(func, *param)).collect()
}

fn read(func: &Func) -> Vec<String> {
    let (body, stored) = (&func.body, stored(func));
    let used: Vec<Value> = body.walk(func.region).into_iter().flat_map(|i| body.inst(i).operands.clone()).collect();
    let is_read = |param: &&Value| used.contains(param) && !stored.contains(param);
    func.params().iter().filter(is_read).map(|param| shown(func, *param)).collect()
}

/// A parameter and what it is: `h: f32[N, F]`.
fn shown(func: &Func, param: Value) -> String {
    match func.body.ty(param) {
        Type::Buffer(tensor) => format!("{}: {tensor}", name(func, param)),
        _ => name(func, param),
    }
}
