//! Executes a plan: tasks in order, loops by rotation, memory at its first writer and until its release.
#![allow(unsafe_code)]

use crate::RuntimeError;
use crate::admit::{check_instances, check_peak, check_writes, describe};
use crate::call::Call;
use crate::cancel::CancelToken;
use crate::context::Context;
use crate::error::PlanProblem;
use crate::graph::{Derived, Stored, Units as RowUnits};
use crate::hooks::{LogLevel, Progress};
use crate::launch::{Halt, Launch};
use crate::memory::{Memory, check_room};
use crate::relations;
use crate::trace::{self, Launched, Work};
use cranelift_entity::SecondaryMap;
use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::Arc;
use std::time::Instant;
use tiga_formats::Limits;
use tiga_plan::{Body, BodyId, Count, Owner, Relation, ResourceId, Rotation, Task, TaskKind, Template, Trip, Units};

/// Where a resource is at the moment.
#[derive(Clone, Copy, Debug)]
struct Slot {
    address: *mut u8,
    bytes: usize,
}

/// One run of a plan.
pub(crate) struct Execution<'c, 'a> {
    call: &'c mut Call<'a>,
    context: &'c Context,
    plan: &'a Template,
    slots: SecondaryMap<ResourceId, Option<Slot>>,
    owned: BTreeMap<ResourceId, Memory>,
    /// Keeps derived structures alive while their addresses are in slots.
    rows: Vec<Arc<Stored>>,
    units: Vec<Arc<RowUnits>>,
    /// Whether a structure was made for what is borrowed at present.
    made: bool,
    /// Tasks done, and how many there can be at most, if anyone wants to know.
    done: u64,
    at_most: Option<u64>,
    /// The kernel that the present task has launched.
    launched: Option<Launched<'a>>,
}

impl<'c, 'a> Execution<'c, 'a> {
    pub(crate) fn new(call: &'c mut Call<'a>, context: &'c Context) -> Result<Self, RuntimeError> {
        let plan = call.plan;
        let size = |s: &str| call.sizes.get(s);
        let peak = check_writes(plan, call.program)
            .and_then(|()| check_instances(plan, &size))
            .map_err(|reason| RuntimeError::Plan { program: call.program.name.clone(), reason })?;
        check_peak(plan, peak, &size)?;
        context.log(LogLevel::Info, || begins(call, context, peak));
        let at_most = call.progress.as_ref().and_then(|_| tasks_at_most(plan, &plan.root));
        let (slots, owned, rows, units) = Default::default();
        let mut execution =
            Self { call, context, plan, slots, owned, rows, units, made: false, done: 0, at_most, launched: None };
        for (id, resource) in &plan.resources {
            if resource.owner == Owner::Borrowed || resource.owner == Owner::Derived {
                execution.slots[id] = execution.borrow_traced(&resource.name)?;
            }
        }
        Ok(execution)
    }

    pub(crate) fn run(&mut self) -> Result<(), RuntimeError> {
        let (plan, start) = (self.plan, Instant::now());
        let begun = self.context.begin();
        let outcome = self.body(&plan.root);
        self.context.end(begun, || Work::Run { program: &plan.program });
        outcome?;
        let program = || format!("`{}` is done after {:.3} ms", plan.program, start.elapsed().as_secs_f64() * 1e3);
        self.context.log(LogLevel::Info, program);
        Ok(())
    }

    /// Fails once the token asks for it.
    fn look(&self) -> Result<(), RuntimeError> {
        self.call.cancel.as_ref().map_or(Ok(()), CancelToken::check)
    }

    /// Counts a task, and says so.
    fn report(&mut self, task: &str) {
        self.done += 1;
        if let Some(sink) = &self.call.progress {
            sink(&Progress { task, done: self.done, at_most: self.at_most });
        }
    }

    fn problem(&self, reason: PlanProblem) -> RuntimeError {
        RuntimeError::Plan { program: self.call.program.name.clone(), reason }
    }

    /// [`Self::borrow`], with a span if something was derived for it.
    fn borrow_traced(&mut self, name: &'a str) -> Result<Option<Slot>, RuntimeError> {
        let begun = self.context.begin();
        self.made = false;
        let outcome = self.borrow(name);
        if self.made || outcome.is_err() {
            self.context.end(begun, || Work::Derive { part: name });
        }
        outcome
    }

    /// The caller's memory of a name, or an array of a graph. Handles that rotate have none before their loop runs.
    fn borrow(&mut self, name: &str) -> Result<Option<Slot>, RuntimeError> {
        if let Some(array) = self.call.outputs.get_mut(name) {
            return Ok(Some(Slot { address: array.bytes.as_mut_ptr(), bytes: array.bytes.len() }));
        }
        if let Some(array) = self.call.inputs.get(name) {
            // Kernels only read what the plan only reads; the verifier of templates has checked the modes.
            return Ok(Some(Slot { address: array.bytes.as_ptr().cast_mut(), bytes: array.bytes.len() }));
        }
        let Some((relation, part)) = Relation::of_resource(name) else { return Ok(None) };
        let Some(Derived { parts: stored, made }) = self.stored(&relation)? else { return Ok(None) };
        self.made = made;
        let unknown = || PlanProblem::Part(name.to_owned());
        if let Some((part, leaf)) = part.split_once('.') {
            let leaf: i64 = leaf.parse().ok().filter(|n| *n > 0).ok_or_else(|| self.problem(unknown()))?;
            let Derived { parts: units, made } = stored.units(leaf, self.call.cancel.as_ref())?;
            self.made |= made;
            let slot = match part {
                "long_rows" => slot_of(&units.long_rows),
                "leaf_base" => slot_of(&units.leaf_base),
                "leaf_row" => slot_of(&units.leaf_row),
                _ => return Err(self.problem(unknown())),
            };
            self.units.push(units);
            return Ok(Some(slot));
        }
        let rows = &stored.rows;
        let slot = match (part, &rows.perm) {
            ("row_ptr", _) => slot_of(&rows.row_ptr),
            ("col", _) => slot_of(&rows.col),
            ("perm", Some(perm)) => slot_of(perm),
            _ => return Err(self.problem(unknown())),
        };
        self.rows.push(stored);
        Ok(Some(slot))
    }

    /// A relation of this program's graphs, built if it must be.
    fn stored(&self, relation: &Relation) -> Result<Option<Derived<Stored>>, RuntimeError> {
        let graphs = |name: &str| self.call.graphs.get(name).cloned();
        relations::stored(relation, &graphs, self.call.cancel.as_ref())
    }

    fn body(&mut self, body: &'a Body) -> Result<(), RuntimeError> {
        for task in body.tasks.values() {
            self.look()?;
            let begun = self.context.begin();
            self.launched = None;
            let outcome = self.allocate_written(task).and_then(|()| self.task(task));
            let kernel = self.launched.take();
            self.context.end(begun, || Work::Task {
                task: &task.name,
                body: &body.name,
                kind: trace::TaskKind::of(task),
                kernel,
            });
            outcome?;
            self.report(&task.name);
        }
        Ok(())
    }

    /// Memory for owned resources that this task is the first to write.
    fn allocate_written(&mut self, task: &Task) -> Result<(), RuntimeError> {
        for access in &task.accesses {
            let resource = &self.plan.resources[access.resource];
            let absent = self.slots[access.resource].is_none();
            if resource.owner == Owner::Owned && absent && access.mode.writes() && task.kind != TaskKind::Release {
                self.allocate(access.resource)?;
            }
        }
        Ok(())
    }

    fn allocate(&mut self, id: ResourceId) -> Result<(), RuntimeError> {
        let resource = &self.plan.resources[id];
        let size = |s: &str| self.call.sizes.get(s);
        let bytes = resource.capacity.eval(&size)? as usize;
        let memory = Memory::new(bytes, self.context.allocator.as_ref());
        let memory = memory.ok_or_else(|| self.short(bytes as u64, describe(resource, &size)))?;
        self.slots[id] = Some(Slot { address: memory.address(), bytes });
        self.owned.insert(id, memory);
        Ok(())
    }

    fn slot(&self, id: ResourceId) -> Result<Slot, RuntimeError> {
        let name = || self.plan.resources[id].name.clone();
        self.slots[id].ok_or_else(|| self.problem(PlanProblem::Unwritten(name())))
    }

    fn task(&mut self, task: &'a Task) -> Result<(), RuntimeError> {
        match &task.kind {
            TaskKind::Kernel { symbol, units, .. } => self.kernel(task, symbol, units),
            TaskKind::Loop { body, rotate, trip } => self.run_loop(*body, rotate, trip),
            TaskKind::Branch { condition, then_body, else_body } => {
                let side = if self.bool(*condition)? { *then_body } else { *else_body };
                let plan = self.plan;
                self.body(&plan.bodies[side])
            }
            TaskKind::Copy => self.copy(task.args[0].resource, task.args[1].resource),
            TaskKind::Release => {
                let id = task.args[0].resource;
                self.slots[id] = None;
                self.owned.remove(&id);
                Ok(())
            }
            // Derived structures were built when the graph's arrays were borrowed.
            TaskKind::Join
            | TaskKind::BuildTranspose { .. }
            | TaskKind::BuildJoined { .. }
            | TaskKind::BuildUnits { .. } => Ok(()),
            TaskKind::Transfer => Err(self.problem(PlanProblem::Task(task.name.clone()))),
        }
    }

    fn kernel(&mut self, task: &Task, symbol: &'a str, units: &Units) -> Result<(), RuntimeError> {
        let bundle = self.call.bundle;
        let manifest = bundle.manifest();
        let kernel = manifest.kernel(symbol).ok_or_else(|| self.problem(PlanProblem::Kernel(symbol.into())))?;
        let size = |s: &str| self.call.sizes.get(s);
        let variant = kernel.select(&size).ok_or_else(|| self.problem(PlanProblem::Variant(symbol.into())))?;
        let entry = bundle.inner.library()?.kernel(&variant.entry);
        let entry = entry.ok_or_else(|| self.problem(PlanProblem::Entry(variant.entry.clone())))?;
        let mut sym = Vec::new();
        for name in &kernel.syms {
            sym.push(size(name).ok_or_else(|| RuntimeError::Unbound(name.to_string()))?);
        }
        let mut ptr: Vec<*mut c_void> = Vec::new();
        for pointer in &kernel.ptrs {
            let arg = task.args.iter().find(|a| a.parameter == pointer.parameter);
            let arg = arg.ok_or_else(|| {
                self.problem(PlanProblem::Argument { kernel: symbol.into(), argument: pointer.parameter.clone() })
            })?;
            ptr.push(self.slot(arg.resource)?.address.cast());
        }
        let scratch = kernel.scratch.eval(&size)? as usize;
        let count = self.unit_count(units)?;
        let workers = (self.context.threads() as u64).min(count.max(1) as u64);
        let all = (scratch as u64).saturating_mul(workers);
        let what = || format!("the scratch memory of kernel `{symbol}` for {workers} threads");
        check_room(all, what)?;
        let launch = Launch { symbol, kernel: entry, sym, ptr, scratch };
        self.launched = Some(Launched { symbol, entry: &variant.entry, units: count });
        self.context.log(LogLevel::Debug, || format!("kernel `{symbol}` as `{}`: {count} units", variant.entry));
        launch.run(count, self.context, self.call.cancel.as_ref()).map_err(|halt| match halt {
            Halt::Memory => self.short(all, what()),
            Halt::Cancelled => RuntimeError::Cancelled,
        })
    }

    /// Whoever gives memory gave none, although there seemed to be so much.
    fn short(&self, bytes: u64, what: String) -> RuntimeError {
        match self.context.allocator {
            Some(_) => RuntimeError::Allocator { what, bytes },
            None => RuntimeError::Memory { what, bytes, available: Limits::of_this_machine().memory },
        }
    }

    fn unit_count(&self, units: &Units) -> Result<i64, RuntimeError> {
        let size = |s: &str| self.call.sizes.get(s);
        let of = |text: &str, leaf: i64| {
            let stored = Relation::parse(text).map(|relation| self.stored(&relation)).transpose()?.flatten();
            let stored = stored.ok_or_else(|| self.problem(PlanProblem::Part(text.to_owned())))?;
            stored.parts.units(leaf, self.call.cancel.as_ref()).map(|units| units.parts)
        };
        Ok(match units {
            Units::Once => 1,
            Units::Rows(rows) => rows.eval(&size)?,
            Units::Blocks { extent, size: block } => (extent.eval(&size)? as u64).div_ceil(*block as u64) as i64,
            Units::Leaves { relation, leaf } => of(relation, *leaf)?.leaf_row.len() as i64,
            Units::LongRows { relation, leaf } => of(relation, *leaf)?.long_rows.len() as i64,
        })
    }

    fn run_loop(&mut self, body: BodyId, rotate: &[Rotation], trip: &Trip) -> Result<(), RuntimeError> {
        let plan = self.plan;
        let rounds = match trip {
            Trip::Counted(count) | Trip::While { at_most: count, .. } => self.count(*count)?,
        };
        for rotation in rotate {
            for id in [rotation.a, rotation.b] {
                if self.plan.resources[id].owner != Owner::Owned {
                    return Err(self.problem(PlanProblem::Rotation(self.plan.resources[id].name.clone())));
                }
                if self.slots[id].is_none() {
                    self.allocate(id)?;
                }
            }
        }
        let mut round = 0;
        while round < rounds {
            if let Trip::While { condition, .. } = trip
                && !self.bool(*condition)?
            {
                break;
            }
            self.look()?;
            for rotation in rotate {
                self.slots[rotation.read] = self.slots[rotation.a];
                self.slots[rotation.write] = self.slots[rotation.b];
            }
            let begun = self.context.begin();
            let outcome = self.body(&plan.bodies[body]);
            self.context.end(begun, || Work::Round { body: &plan.bodies[body].name, round });
            outcome?;
            for rotation in rotate {
                self.swap(rotation.a, rotation.b);
            }
            round += 1;
        }
        Ok(())
    }

    /// Exchanges the memory of two resources.
    fn swap(&mut self, a: ResourceId, b: ResourceId) {
        let (first, second) = (self.slots[a], self.slots[b]);
        self.slots[a] = second;
        self.slots[b] = first;
        let (first, second) = (self.owned.remove(&a), self.owned.remove(&b));
        self.owned.extend(second.map(|memory| (a, memory)));
        self.owned.extend(first.map(|memory| (b, memory)));
    }

    fn copy(&mut self, source: ResourceId, destination: ResourceId) -> Result<(), RuntimeError> {
        let (from, to) = (self.slot(source)?, self.slot(destination)?);
        // SAFETY: both are live for their stated bytes; equal shapes by the plan's laws, `min` in any case.
        unsafe { std::ptr::copy(from.address, to.address, from.bytes.min(to.bytes)) };
        Ok(())
    }

    fn bool(&self, id: ResourceId) -> Result<bool, RuntimeError> {
        let slot = self.slot(id)?;
        // SAFETY: a boolean scalar has one byte.
        Ok(slot.bytes >= 1 && unsafe { *slot.address } != 0)
    }

    fn count(&self, count: Count) -> Result<i64, RuntimeError> {
        match count {
            Count::Const(n) => Ok(n),
            Count::Resource(id) => {
                let slot = self.slot(id)?;
                if slot.bytes < 8 {
                    return Err(self.problem(PlanProblem::Unwritten(self.plan.resources[id].name.clone())));
                }
                // SAFETY: an i64 scalar has eight bytes, aligned.
                Ok(unsafe { slot.address.cast::<i64>().read_unaligned() })
            }
        }
    }
}

/// The line that opens a run.
fn begins(call: &Call<'_>, context: &Context, peak: u64) -> String {
    let sizes = call.program.symbols.iter().map(|s| format!("{} = {}", s.name, call.sizes.get(&s.name).unwrap_or(0)));
    let (program, sizes) = (&call.program.name, sizes.collect::<Vec<_>>().join(", "));
    format!("`{program}` with {sizes} on {} threads, {peak} bytes of temporaries", context.threads())
}

/// How many tasks a body can run, with those of the bodies it runs; `None` if a bound is computed.
fn tasks_at_most(plan: &Template, body: &Body) -> Option<u64> {
    let mut tasks = 0u64;
    for task in body.tasks.values() {
        let inner = |id: BodyId| tasks_at_most(plan, &plan.bodies[id]);
        let below = match &task.kind {
            TaskKind::Loop { body, trip, .. } => {
                let (Trip::Counted(count) | Trip::While { at_most: count, .. }) = trip;
                let Count::Const(rounds) = count else { return None };
                inner(*body)?.saturating_mul(u64::try_from(*rounds).unwrap_or(0))
            }
            TaskKind::Branch { then_body, else_body, .. } => inner(*then_body)?.max(inner(*else_body)?),
            _ => 0,
        };
        tasks = tasks.saturating_add(below).saturating_add(1);
    }
    Some(tasks)
}

fn slot_of<T>(values: &[T]) -> Slot {
    Slot { address: values.as_ptr().cast_mut().cast(), bytes: std::mem::size_of_val(values) }
}
