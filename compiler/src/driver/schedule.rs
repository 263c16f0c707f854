//! `tigac explain-schedule`: what becomes of a model's programs, on one page.

use super::compile::NO_PROGRAM;
use super::front::{Front, SemaArgs};
use super::options::PassArgs;
use super::output::print;
use super::report::ReportArgs;
use super::targets::Targets;
use super::{Outcome, refusal};
use crate::lower::kernel::lower_func;
use crate::passes::domain::ASSUMED;
use crate::passes::{self, PassOptions, Verdict, Watch, optional_pass};
use crate::pipeline;
use anyhow::{Result, bail};
use indexmap::{IndexMap, IndexSet};
use std::fmt::Write as _;
use std::path::PathBuf;
use tiga_ir::{Func, Inst, Level, Module, Region, Space, Type, Value, ops};

/// What the help says after the options.
const DETAILS: &str = "\
For each program the page lists its launches in order: the place in the model, what is gone
through, the arrays that are read and written, and for each kernel the condition under which it is
chosen and how it goes through the features of its entities. At the end it lists what passes did,
and what they found not worth it, and why. docs/schedules.md explains the words.";

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
    /// Leave out these passes, of those that only make programs faster.
    #[arg(long, value_name = "PASS", value_delimiter = ',', value_parser = optional_pass)]
    skip_pass: Vec<String>,
    #[command(flatten)]
    report: ReportArgs,
}

pub(super) fn run(args: &Args) -> Result<Outcome> {
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
        bail!(NO_PROGRAM);
    }
    args.passes.check_dimensions(&front.analysis)?;
    let mut options = PassOptions::for_target(target, args.passes.fp());
    options.kernel.specialize = args.passes.specialize();
    let (bytes, fp) = (options.kernel.simd_bytes, args.passes.fp().name());
    let head = format!("{} for {target} (vectors of {bytes} bytes), floating point: {fp}\n", args.file.display());
    match page(&front.analysis.ir, &options, &args.skip_pass) {
        Ok(page) => print((head + &page).as_bytes())?,
        Err(error) => return refusal::show(error, &front, &args.report),
    }
    let programs = front.analysis.programs.len();
    args.report.progress(format_args!("explained {programs} program{}", if programs == 1 { "" } else { "s" }));
    Ok(outcome)
}

/// The page of a module.
fn page(module: &Module, options: &PassOptions, skip: &[String]) -> Result<String> {
    let (stop_after, remarks) = (Some(Level::Loops), Verdict::ALL.to_vec());
    let watch = Watch { stop_after, remarks, skip: skip.to_vec(), ..Watch::default() };
    let mut remarks = Vec::new();
    let module = passes::run(module.clone(), pipeline::PASSES, options, &watch, &mut remarks)?;
    let mut out = String::new();
    for host in module.funcs.values().filter(|func| func.level == Level::Host) {
        write!(out, "\nprogram {}, {}\n", host.name, host.loc)?;
        Page { module: &module, options, host, out: &mut out, names: IndexMap::new() }.program()?;
    }
    write!(out, "\n{}", decisions(&String::from_utf8_lossy(&remarks)))?;
    Ok(out)
}

/// The remarks, each once; what all of them take as given stands above them.
fn decisions(remarks: &str) -> String {
    let mut lines: IndexMap<String, usize> = IndexMap::new();
    for line in remarks.lines() {
        *lines.entry(line.replacen("remark: ", "", 1).replace(&format!(" ({ASSUMED})"), "")).or_default() += 1;
    }
    if lines.is_empty() {
        return "decisions of passes: none\n".to_owned();
    }
    let times = |times: usize| if times > 1 { format!(" ({times} times)") } else { String::new() };
    let lines: Vec<String> = lines.into_iter().map(|(line, n)| format!("  {line}{}\n", times(n))).collect();
    format!("decisions of passes, {ASSUMED}\n{}", lines.concat())
}

/// The part of the page that is about one program.
struct Page<'a> {
    module: &'a Module,
    options: &'a PassOptions,
    host: &'a Func,
    out: &'a mut String,
    /// What arrays and graphs are called: as in the program, or by a number.
    names: IndexMap<Value, String>,
}

impl Page<'_> {
    fn program(mut self) -> Result<()> {
        let results: Vec<&str> = self.host.results.iter().map(|(name, _)| &**name).collect();
        self.region(self.host.region, 1, &results)
    }

    /// The launches of a region, those of the loops and branches in it, and what it gives, under names if it has some.
    fn region(&mut self, region: Region, depth: usize, results: &[&str]) -> Result<()> {
        let body = &self.host.body;
        for inst in &body.block(body.entry(region)).insts {
            let data = body.inst(*inst);
            if data.op == ops::LAUNCH {
                self.launch(*inst, depth)?;
            } else if !data.regions.is_empty() {
                self.control(*inst, depth)?;
            } else if [ops::YIELD, ops::RETURN].contains(&data.op) {
                let mut given = self.names(&data.operands);
                for (value, name) in given.iter_mut().zip(results).filter(|(value, name)| value != *name) {
                    *value = format!("{name} = {value}");
                }
                self.line(depth, &format!("gives   {}", given.join(", ")))?;
            } else if let [graph] = data.results[..]
                && body.ty(graph).as_rel().is_some()
            {
                let of = self.names(&data.operands).join(", ");
                let text = format!("{} = {} of {of}, {}", self.name(graph), data.op.name(), data.loc);
                self.line(depth, &text)?;
            }
        }
        Ok(())
    }

    /// A loop or a branch: what it takes, its regions, and what its results are called.
    fn control(&mut self, inst: Inst, depth: usize) -> Result<()> {
        let body = &self.host.body;
        let data = body.inst(inst);
        let labels = match data.op {
            op if op == ops::IF => ["then", "else"],
            op if op == ops::WHILE => ["condition", "body"],
            _ => ["body", "body"],
        };
        let (taken, made) = (self.names(&data.operands).join(", "), self.names(&data.results).join(", "));
        self.line(depth, &format!("{made} = {} of {taken}, {}", data.op.name(), data.loc))?;
        for (label, region) in labels.into_iter().zip(&data.regions) {
            let params = self.names(&body.block(body.entry(*region)).params).join(", ");
            let of = if params.is_empty() { String::new() } else { format!(" of {params}") };
            self.line(depth + 1, &format!("{label}{of}"))?;
            self.region(*region, depth + 2, &[])?;
        }
        Ok(())
    }

    fn launch(&mut self, inst: Inst, depth: usize) -> Result<()> {
        let data = self.host.body.inst(inst);
        let callee = data.attrs.callee().expect("verified: a launch has a callee");
        let func = &self.module.funcs[callee];
        let called: IndexMap<Value, Value> = func.params().iter().copied().zip(data.operands.iter().copied()).collect();
        let over = self.spaces(func, &called);
        self.line(depth, &format!("{callee}, {}: {over}", data.loc))?;
        for (word, params) in [("reads", read(func)), ("writes", written(func))] {
            let mut shown = Vec::new();
            for param in params {
                self.name_like(called[&param], func.body.value(param).name.as_deref());
                shown.push(self.shown(called[&param]));
            }
            if !shown.is_empty() {
                self.line(depth + 1, &format!("{word:<7} {}", shown.join(", ")))?;
            }
        }
        for (i, variant) in lower_func(self.module, func, &self.options.kernel)?.iter().enumerate() {
            let guard = &variant.kernel.guard;
            let head = match (guard.terms.is_empty(), i) {
                (false, 0) => Some(format!("if {guard}")),
                (false, _) => Some(format!("else if {guard}")),
                (true, 0) => None,
                (true, _) => Some("else".to_owned()),
            };
            let inner = depth + 1 + usize::from(head.is_some());
            if let Some(head) = head {
                self.line(depth + 1, &head)?;
            }
            for line in variant.schedule.lines() {
                self.line(inner, &line)?;
            }
        }
        Ok(())
    }

    fn line(&mut self, depth: usize, text: &str) -> Result<()> {
        writeln!(self.out, "{:1$}{text}", "", 2 * depth)?;
        Ok(())
    }

    /// What a value of the program is called on the page.
    fn name(&mut self, value: Value) -> String {
        self.name_like(value, None);
        self.names[&value].clone()
    }

    fn names(&mut self, values: &[Value]) -> Vec<String> {
        values.iter().map(|value| self.name(*value)).collect()
    }

    /// Calls a value as the program does, else as the first launch that has it, else by a number; each in its own
    /// way.
    fn name_like(&mut self, value: Value, launch: Option<&str>) {
        if self.names.contains_key(&value) {
            return;
        }
        let own = self.host.body.value(value).name.as_deref();
        let wanted = own
            .or(launch.filter(|name| name.trim_end_matches(char::is_numeric) != "out" && !name.starts_with("tiga.")));
        let spelt = |wanted: &str, i: usize| if i == 0 { wanted.to_owned() } else { format!("{wanted}.{i}") };
        let free = |name: &String| !self.names.values().any(|known| known == name);
        let named = wanted.and_then(|wanted| (0..).map(|i| spelt(wanted, i)).find(free));
        let name = named.unwrap_or_else(|| format!("%{}", self.names.len()));
        self.names.insert(value, name);
    }

    /// An array and what it is: `h: f32[N, F]`.
    fn shown(&mut self, value: Value) -> String {
        let name = self.name(value);
        match self.host.body.ty(value) {
            Type::Buffer(tensor) => format!("{name}: {tensor}"),
            _ => name,
        }
    }

    /// What a loops function goes through.
    fn spaces(&mut self, func: &Func, called: &IndexMap<Value, Value>) -> String {
        let body = &func.body;
        let mut spaces = Vec::new();
        for inst in &body.block(body.entry(func.region)).insts {
            let data = body.inst(*inst);
            let Some(space) = data.attrs.space() else { continue };
            let mut graph = || data.operands.first().map_or(String::new(), |graph| self.name(called[graph]));
            spaces.push(match space {
                Space::Once => "once".to_owned(),
                Space::Rows(extent) => format!("each of {extent}"),
                Space::Blocks(extent, size) => format!("each block of {size} of {extent}"),
                Space::Edges => format!("each edge of {}", graph()),
                Space::Short(leaf) => format!("each row of {} with up to {leaf} edges", graph()),
                Space::Leaves(leaf) => format!("each leaf of {leaf} edges of longer rows of {}", graph()),
                Space::Long(leaf) => {
                    format!("each row of {} with more than {leaf} edges, its leaves joined", graph())
                }
            });
        }
        spaces.join(", then ")
    }
}

/// Parameters that a loops function stores to.
fn stored(func: &Func) -> IndexSet<Value> {
    let body = &func.body;
    let stores = body.walk(func.region).into_iter().filter(|inst| body.inst(*inst).op == ops::STORE);
    stores.map(|store| body.inst(store).operands[1]).collect()
}

fn written(func: &Func) -> Vec<Value> {
    let stored = stored(func);
    func.params().iter().copied().filter(|param| stored.contains(param)).collect()
}

fn read(func: &Func) -> Vec<Value> {
    let (body, stored) = (&func.body, stored(func));
    let used: IndexSet<Value> =
        body.walk(func.region).into_iter().flat_map(|i| body.inst(i).operands.clone()).collect();
    func.params().iter().copied().filter(|param| used.contains(param) && !stored.contains(param)).collect()
}
