//! Executes a plan: tasks in order, loops by rotation, memory at its first writer and until its release.
#![allow(unsafe_code)]

mod tiers;

use crate::admit::describe;
use crate::bindings::Bindings;
use crate::call::{Call, Footprint};
use crate::context::Context;
use crate::error::PlanProblem;
use crate::fit::workers;
use crate::frame::{Deriving, Frame, Refused, Slot, division, rows};
use crate::hooks::{LogLevel, Progress};
use crate::launch::{Halt, Launch, Scratch};
use crate::managed::Managed;
use crate::memory::{Memory, check_room};
use crate::prepared::HeldMemory;
use crate::steps::{Source, Step, Steps};
use crate::trace::{self, Launched, Work};
use crate::{CancelToken, Graph, RuntimeError};
use cranelift_entity::EntityRef;
use std::time::Instant;
use tiga_bundle::Program;
use tiga_formats::Limits;
use tiga_plan::{Body, BodyId, Count, Owner, ResourceId, Rotation, Task, TaskId, TaskKind, Template, Trip, Units};

/// One run of a plan.
pub(crate) struct Execution<'c, 'a> {
    call: &'c Call<'a>,
    bindings: &'c Bindings,
    context: &'c Context,
    program: &'a Program,
    plan: &'c Template,
    steps: &'c Steps,
    frame: &'c mut Frame,
    /// Memory in tiers, if the context has them.
    managed: Option<Managed<'c>>,
    /// The memory of a prepared program: nothing else may be allocated.
    held: Option<&'c HeldMemory>,
    /// Tasks done, and how many there can be at most, if anyone wants to know.
    done: u64,
    at_most: Option<u64>,
    /// The kernel that the present task has launched.
    launched: Option<Launched<'a>>,
}

/// Makes what a plan derives of graphs.
pub(crate) fn derive(call: &Call<'_>, steps: &Steps) -> Result<(), RuntimeError> {
    footprint(call, steps).map(drop)
}

/// The same, and the bytes of all that the plan borrows.
pub(crate) fn footprint(call: &Call<'_>, steps: &Steps) -> Result<Footprint, RuntimeError> {
    let mut frame = Frame::new(call.plan, steps);
    let deriving = Deriving::Make(call.cancel.as_ref());
    let mut all = Footprint::default();
    for (number, resource) in call.plan.resources.values().enumerate() {
        let borrowed = frame.borrow(steps, call.bindings.get(), (number, &resource.name), deriving);
        borrowed.map_err(|refused| error(call.program, refused))?;
        let bytes = frame.slots[number].map_or(0, |slot| slot.bytes as u64);
        match steps.sources[number] {
            Some(Source::Param(_)) => all.inputs += bytes,
            Some(Source::Result(_)) => all.results += bytes,
            Some(Source::Part(..)) => all.graphs += bytes,
            None => {}
        }
    }
    Ok(all)
}

/// The bytes of what graphs hold for the plan, which is made for it where it is not there.
pub(crate) fn derived(call: &Call<'_>, steps: &Steps) -> Result<u64, RuntimeError> {
    let mut frame = Frame::new(call.plan, steps);
    let mut all = 0u64;
    for (number, resource) in call.plan.resources.values().enumerate() {
        if resource.owner == Owner::Derived {
            let place = (number, resource.name.as_str());
            let borrowed = frame.borrow(steps, call.bindings.get(), place, Deriving::Make(call.cancel.as_ref()));
            borrowed.map_err(|refused| error(call.program, refused))?;
            all += frame.slots[number].map_or(0, |slot| slot.bytes as u64);
        }
    }
    Ok(all)
}

fn error(program: &Program, refused: Refused) -> RuntimeError {
    match refused {
        Refused::Plan(reason) => RuntimeError::Plan { program: program.name.clone(), reason },
        Refused::Runtime(error) => error,
    }
}

impl<'c, 'a> Execution<'c, 'a> {
    pub(crate) fn new(
        call: &'c Call<'a>,
        (plan, steps): (&'c Template, &'c Steps),
        context: &'c Context,
        frame: &'c mut Frame,
        held: Option<&'c HeldMemory>,
    ) -> Result<Self, RuntimeError> {
        let (program, bindings) = (call.program, call.bindings.get());
        let at_most = call.progress.as_ref().and_then(|_| tasks_at_most(plan, &plan.root));
        let (managed, launched) = (None, None);
        let mut execution =
            Self { call, bindings, context, program, plan, steps, frame, managed, held, done: 0, at_most, launched };
        for (number, resource) in plan.resources.values().enumerate() {
            execution.borrow_traced(number, &resource.name)?;
        }
        Ok(execution)
    }

    pub(crate) fn run(&mut self) -> Result<(), RuntimeError> {
        let (plan, start) = (self.plan, Instant::now());
        let begun = self.context.begin();
        let outcome = self.body(plan.bodies.len());
        let outcome = match &mut self.managed {
            Some(managed) => outcome.and(managed.end()),
            None => outcome,
        };
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

    /// The value of a size.
    fn size(&self) -> impl Fn(&str) -> Option<i64> + use<'c, 'a> {
        let (bindings, program) = (self.bindings, self.program);
        move |size: &str| bindings.sizes.get(program, size)
    }

    /// What happens to structures that graphs lack.
    fn deriving(&self) -> Deriving<'c> {
        match self.held {
            Some(_) => Deriving::Find,
            None => Deriving::Make(self.call.cancel.as_ref()),
        }
    }

    /// Counts a task, and says so.
    fn report(&mut self, task: &str) {
        self.done += 1;
        if let Some(sink) = &self.call.progress {
            sink(&Progress { task, done: self.done, at_most: self.at_most });
        }
    }

    fn problem(&self, reason: PlanProblem) -> RuntimeError {
        RuntimeError::Plan { program: self.program.name.clone(), reason }
    }

    /// Finds an array that the plan borrows, with a span if something was derived for it.
    fn borrow_traced(&mut self, number: usize, name: &str) -> Result<(), RuntimeError> {
        let begun = self.context.begin();
        let outcome = self.frame.borrow(self.steps, self.bindings, (number, name), self.deriving());
        if !matches!(outcome, Ok(false)) {
            self.context.end(begun, || Work::Derive { part: name });
        }
        outcome.map(drop).map_err(|refused| error(self.program, refused))
    }

    /// Runs a body by its number; the root's follows those of the others.
    fn body(&mut self, number: usize) -> Result<(), RuntimeError> {
        let plan = self.plan;
        let body = if number == plan.bodies.len() { &plan.root } else { &plan.bodies[BodyId::new(number)] };
        if self.managed.is_some() {
            return self.body_in_tiers(number, body);
        }
        for id in body.tasks.keys() {
            self.one(number, body, id)?;
        }
        Ok(())
    }

    /// Runs a task to its end.
    fn one(&mut self, number: usize, body: &'c Body, id: TaskId) -> Result<(), RuntimeError> {
        let task = &body.tasks[id];
        self.look()?;
        let begun = self.context.begin();
        self.launched = None;
        let step = self.steps.step(number, id);
        let outcome = self.allocate_written(task).and_then(|()| self.task(task, step));
        let kernel = self.launched.take();
        self.context.end(begun, || Work::Task {
            task: &task.name,
            body: &body.name,
            kind: trace::TaskKind::of(task),
            kernel,
        });
        outcome?;
        self.report(&task.name);
        Ok(())
    }

    /// Memory for owned resources that this task is the first to write.
    fn allocate_written(&mut self, task: &Task) -> Result<(), RuntimeError> {
        for access in &task.accesses {
            let resource = &self.plan.resources[access.resource];
            let absent = !self.frame.holds(access.resource.index());
            if resource.owner == Owner::Owned && absent && access.mode.writes() && task.kind != TaskKind::Release {
                self.allocate(access.resource)?;
            }
        }
        Ok(())
    }

    fn allocate(&mut self, id: ResourceId) -> Result<(), RuntimeError> {
        let (resource, size) = (&self.plan.resources[id], self.size());
        let bytes = resource.capacity.eval(&size)? as usize;
        if let Some(managed) = &mut self.managed {
            let instance = managed.allocate(&self.steps.identities[id.index()], resource.tier, bytes as u64)?;
            let slot = instance.address().map(|address| Slot { address, bytes });
            self.frame.slots[id.index()] = slot;
            self.frame.instances[id.index()] = Some(instance);
            return Ok(());
        }
        let what = || describe(resource, &size);
        let slot = match self.held {
            Some(held) => held.slot(id, bytes as u64).map_err(|prepared| RuntimeError::PreparedBytes {
                what: what(),
                bytes: bytes as u64,
                prepared,
            })?,
            None => {
                let memory = Memory::new(bytes, self.context.allocator.as_ref());
                let memory = memory.ok_or_else(|| self.short(bytes as u64, what()))?;
                let address = memory.address();
                self.frame.owned[id.index()] = Some(memory);
                Slot { address, bytes }
            }
        };
        self.frame.slots[id.index()] = Some(slot);
        Ok(())
    }

    fn slot(&self, id: ResourceId) -> Result<Slot, RuntimeError> {
        let name = || self.plan.resources[id].name.clone();
        self.frame.slots[id.index()].ok_or_else(|| self.problem(PlanProblem::Unwritten(name())))
    }

    fn task(&mut self, task: &'c Task, step: Option<&'c Step>) -> Result<(), RuntimeError> {
        match &task.kind {
            TaskKind::Kernel { symbol, units, .. } => match step {
                Some(step) => self.kernel(step, units),
                None => Err(self.problem(PlanProblem::Kernel(symbol.clone()))),
            },
            TaskKind::Loop { body, rotate, trip } => self.run_loop(*body, rotate, trip),
            TaskKind::Branch { condition, then_body, else_body } => {
                let side = if self.bool(*condition)? { *then_body } else { *else_body };
                self.body(side.index())
            }
            TaskKind::Copy => self.copy(task.args[0].resource, task.args[1].resource),
            TaskKind::Release => self.release(task.args[0].resource),
            // Derived structures were built when the graph's arrays were borrowed.
            TaskKind::Join
            | TaskKind::BuildTranspose { .. }
            | TaskKind::BuildJoined { .. }
            | TaskKind::BuildUnits { .. } => Ok(()),
            TaskKind::Transfer => Err(self.problem(PlanProblem::Task(task.name.clone()))),
        }
    }

    fn release(&mut self, id: ResourceId) -> Result<(), RuntimeError> {
        let number = id.index();
        self.frame.slots[number] = None;
        self.frame.owned[number] = None;
        match (&mut self.managed, self.frame.instances[number].take()) {
            (Some(managed), Some(instance)) => managed.release(&instance),
            _ => Ok(()),
        }
    }

    fn kernel(&mut self, step: &'c Step, units: &Units) -> Result<(), RuntimeError> {
        let kernel = &self.call.bundle.manifest().kernels[step.kernel];
        let (symbol, size) = (&kernel.symbol, self.size());
        let variant = kernel.variants.iter().position(|variant| variant.guard.holds(&size));
        let variant = variant.ok_or_else(|| self.problem(PlanProblem::Variant(symbol.clone())))?;
        self.frame.syms.clear();
        for (number, name) in step.syms.iter().zip(&kernel.syms) {
            let value = self.bindings.sizes.of(*number);
            self.frame.syms.push(value.ok_or_else(|| RuntimeError::Unbound(name.to_string()))?.0);
        }
        self.frame.ptrs.clear();
        let mut given: usize = 0;
        for id in &step.ptrs {
            let slot = self.slot(*id)?;
            given = given.saturating_add(slot.bytes);
            self.frame.ptrs.push(slot.address.cast());
        }
        let count = self.unit_count(step, units)?;
        let bytes = kernel.scratch.eval(&size)? as u64;
        let running = (self.context.threads() as u64).min(count.max(1) as u64);
        let all = bytes.saturating_mul(running);
        let what = || format!("the scratch memory of kernel `{symbol}` for {running} threads");
        let counted = match &self.managed {
            Some(_) => bytes.saturating_mul(workers(units, &size, self.context.threads())),
            None => 0,
        };
        self.managed.as_mut().map_or(Ok(()), |managed| managed.begin_scratch(counted))?;
        let scratch = match self.held {
            Some(held) => held.scratch(bytes).map_err(|prepared| RuntimeError::PreparedBytes {
                what: what(),
                bytes: all,
                prepared,
            })?,
            None => {
                check_room(all, what)?;
                Scratch::Fresh(bytes as usize)
            }
        };
        let entry = &kernel.variants[variant].entry;
        self.launched = Some(Launched { symbol, entry, units: count });
        self.context.log(LogLevel::Debug, || format!("kernel `{symbol}` as `{entry}`: {count} units"));
        let (sym, ptr) = (&self.frame.syms, &self.frame.ptrs);
        let launch = Launch { symbol, kernel: step.entries[variant], sym, ptr, bytes: given, scratch };
        let outcome = launch.run(count, self.context, self.call.cancel.as_ref());
        if let Some(managed) = &mut self.managed {
            managed.end_scratch(counted);
        }
        outcome.map_err(|halt| match halt {
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

    fn unit_count(&self, step: &Step, units: &Units) -> Result<i64, RuntimeError> {
        let (relation, leaf) = match units {
            Units::Leaves { relation, leaf } | Units::LongRows { relation, leaf } => (relation, *leaf),
            plain => return Ok(plain.count(&self.size())?.unwrap_or(0)),
        };
        let unknown = || self.problem(PlanProblem::Part(relation.clone()));
        let key = &self.steps.relations[step.relation.ok_or_else(unknown)?];
        let graphs: &[Option<Graph>] = &self.bindings.graphs;
        let stored = rows(key, relation, graphs, self.deriving())?.ok_or_else(unknown)?;
        let parts = division(&stored.parts, leaf, relation, self.deriving())?.parts;
        let long = matches!(units, Units::LongRows { .. });
        Ok(if long { parts.long_rows.len() } else { parts.leaf_row.len() } as i64)
    }

    fn run_loop(&mut self, body: BodyId, rotate: &[Rotation], trip: &Trip) -> Result<(), RuntimeError> {
        let plan = self.plan;
        let rounds = match trip {
            Trip::Counted(count) | Trip::While { at_most: count, .. } => self.count(*count)?,
        };
        for rotation in rotate {
            for id in [rotation.a, rotation.b] {
                if plan.resources[id].owner != Owner::Owned {
                    return Err(self.problem(PlanProblem::Rotation(plan.resources[id].name.clone())));
                }
                if !self.frame.holds(id.index()) {
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
                self.frame.alias(rotation.read.index(), rotation.a.index());
                self.frame.alias(rotation.write.index(), rotation.b.index());
            }
            let begun = self.context.begin();
            let outcome = self.body(body.index());
            self.context.end(begun, || Work::Round { body: &plan.bodies[body].name, round });
            outcome?;
            for rotation in rotate {
                // The memory of the two goes the other way round.
                self.frame.swap(rotation.a.index(), rotation.b.index());
            }
            round += 1;
        }
        Ok(())
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
pub(crate) fn begins(call: &Call<'_>, context: &Context, peak: u64) -> String {
    let sizes = call
        .program
        .symbols
        .iter()
        .map(|s| format!("{} = {}", s.name, call.bindings.get().sizes.get(call.program, &s.name).unwrap_or(0)));
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
