//! A body as the search for a schedule sees it: steps, the values that they use, and what may leave main memory.

use crate::instantiate::Peak;
use crate::passes::derive_dependencies::derive;
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::BTreeMap;
use tiga_abi::Tier;

/// Steps in program order, and the values that may leave main memory between two of them.
#[derive(Debug, Default)]
pub(super) struct Model {
    pub(super) values: Vec<Value>,
    pub(super) steps: Vec<Step>,
    /// Bytes of storage that the body's values have there from the first step to the last.
    pub(super) stored: u64,
}

/// A value that the body owns in main memory.
#[derive(Debug)]
pub(super) struct Value {
    pub(super) resource: ResourceId,
    pub(super) bytes: u64,
    /// The steps that use it, ascending.
    pub(super) users: Vec<usize>,
}

/// A task that must be run.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) task: TaskId,
    /// Steps that must be complete before.
    pub(super) waits: Vec<usize>,
    /// Values that must be in main memory meanwhile, ascending.
    pub(super) uses: Vec<usize>,
    /// Those of them that it writes.
    pub(super) writes: Vec<usize>,
    /// Bytes of main memory that it needs of its own meanwhile.
    pub(super) own: u64,
    /// Bytes of storage that it needs of its own meanwhile.
    pub(super) own_stored: u64,
}

impl Model {
    /// `bytes` says how large a resource is, `own` what a task needs of its own while it runs.
    pub(super) fn new(
        template: &Template,
        body: &Body,
        bytes: &dyn Fn(ResourceId) -> u64,
        own: &dyn Fn(&Task) -> Peak,
    ) -> Self {
        let mut kept = Body { tasks: Default::default(), ..body.clone() };
        let mut tasks = Vec::new();
        for (id, task) in &body.tasks {
            // Both are made anew when the schedule is known.
            if !matches!(task.kind, TaskKind::Release | TaskKind::Join) {
                kept.tasks.push(Task { after: Vec::new(), room_after: Vec::new(), ..task.clone() });
                tasks.push(id);
            }
        }
        derive(&mut kept);
        let mut model = Model::default();
        let mut numbers: BTreeMap<ResourceId, usize> = BTreeMap::new();
        let mut homes: BTreeMap<ResourceId, u64> = BTreeMap::new();
        for (id, task) in &kept.tasks {
            let own = own(task);
            let own = |tier| own.get(&tier).copied().unwrap_or(0);
            let waits = task.after.iter().map(|earlier| earlier.index()).collect();
            let (uses, writes) = (Vec::new(), Vec::new());
            let (own, own_stored) = (own(Tier::Ram), own(Tier::Nvme));
            let mut step = Step { task: tasks[id.index()], waits, uses, writes, own, own_stored };
            for access in &task.accesses {
                let resource = &template.resources[access.resource];
                if resource.owner != Owner::Owned || body.externals.binary_search(&access.resource).is_ok() {
                    continue;
                }
                if resource.tier != Tier::Ram {
                    homes.insert(access.resource, bytes(access.resource));
                    continue;
                }
                let number = *numbers.entry(access.resource).or_insert_with(|| {
                    let (resource, bytes) = (access.resource, bytes(access.resource));
                    model.values.push(Value { resource, bytes, users: Vec::new() });
                    model.values.len() - 1
                });
                step.uses.push(number);
                if access.mode.writes() {
                    step.writes.push(number);
                }
            }
            for list in [&mut step.uses, &mut step.writes] {
                list.sort_unstable();
                list.dedup();
            }
            for value in &step.uses {
                model.values[*value].users.push(id.index());
            }
            model.steps.push(step);
        }
        model.stored = homes.values().fold(0, |sum: u64, bytes| sum.saturating_add(*bytes));
        model
    }

    /// Bytes of main memory without which a step cannot run.
    pub(super) fn working_set(&self, step: &Step) -> u64 {
        step.uses.iter().fold(step.own, |sum, value| sum.saturating_add(self.values[*value].bytes))
    }

    /// The step that needs most.
    pub(super) fn widest(&self) -> Option<&Step> {
        self.steps.iter().rev().max_by_key(|step| self.working_set(step))
    }
}
