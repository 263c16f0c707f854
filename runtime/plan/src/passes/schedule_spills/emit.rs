//! A schedule as tasks: copies between tiers, instances that come and go, tasks that use the instance of the moment.

use super::model::Model;
use super::search::{Action, Schedule};
use crate::passes::fresh_names;
use crate::template::*;
use cranelift_entity::PrimaryMap;
use std::collections::{BTreeMap, BTreeSet};
use tiga_abi::Tier;

/// Puts the tasks of a schedule in place of the body's. They wait for nothing yet.
pub(super) fn emit(template: &mut Template, place: Place, model: &Model, schedule: &Schedule) {
    let body = place.body_mut(template);
    let tasks = std::mem::take(&mut body.tasks);
    let kept: BTreeSet<String> = model.steps.iter().map(|step| tasks[step.task].name.clone()).collect();
    let values = model.values.len();
    let mut emit = Emit {
        model,
        place,
        resident: model.values.iter().map(|value| Some(value.resource)).collect(),
        stored: vec![None; values],
        done: vec![0; values],
        transfers: Box::new(fresh_names(kept.clone(), "transfer")),
        releases: Box::new(fresh_names(kept, "release")),
        old: &tasks,
        template,
    };
    for action in &schedule.actions {
        match *action {
            Action::Evict(value) => emit.evict(value),
            Action::Load(value) => emit.load(value),
            Action::Run(step) => emit.run(step),
        }
    }
}

/// Which body of a template.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    Root,
    Body(BodyId),
}

impl Place {
    pub(super) fn body(self, template: &Template) -> &Body {
        match self {
            Place::Root => &template.root,
            Place::Body(id) => &template.bodies[id],
        }
    }

    pub(super) fn body_mut(self, template: &mut Template) -> &mut Body {
        match self {
            Place::Root => &mut template.root,
            Place::Body(id) => &mut template.bodies[id],
        }
    }
}

struct Emit<'a> {
    model: &'a Model,
    place: Place,
    template: &'a mut Template,
    old: &'a PrimaryMap<TaskId, Task>,
    /// By value, the instance in main memory; the first one stands here before it is written.
    resident: Vec<Option<ResourceId>>,
    /// By value, the instance in storage that holds the same.
    stored: Vec<Option<ResourceId>>,
    /// By value, how many of its users have run.
    done: Vec<usize>,
    transfers: Box<dyn Iterator<Item = String>>,
    releases: Box<dyn Iterator<Item = String>>,
}

impl Emit<'_> {
    fn evict(&mut self, value: usize) {
        let Some(resident) = self.resident[value].take() else { return };
        if self.stored[value].is_none() {
            let stored = another_instance(&mut self.template.resources, resident, Tier::Nvme);
            self.transfer(resident, stored);
            self.stored[value] = Some(stored);
        }
        self.release(resident);
    }

    fn load(&mut self, value: usize) {
        let Some(stored) = self.stored[value] else { return };
        let resident = another_instance(&mut self.template.resources, self.model.values[value].resource, Tier::Ram);
        self.transfer(stored, resident);
        self.resident[value] = Some(resident);
    }

    fn run(&mut self, step: usize) {
        let step = &self.model.steps[step];
        let mut task = self.old[step.task].clone();
        (task.after, task.room_after) = (Vec::new(), Vec::new());
        let moved = step.uses.iter().filter_map(|value| {
            let (first, now) = (self.model.values[*value].resource, self.resident[*value]?);
            (first != now).then_some((first, now))
        });
        let moved: BTreeMap<ResourceId, ResourceId> = moved.collect();
        for body in task.kind.bodies() {
            self.template.rename_external(body, &moved);
        }
        task.rename(&moved);
        self.push(task);
        for &value in &step.uses {
            self.done[value] += 1;
            let over = self.done[value] == self.model.values[value].users.len();
            if over || step.writes.binary_search(&value).is_ok() {
                let stored = self.stored[value].take();
                stored.into_iter().for_each(|stored| self.release(stored));
            }
            if over {
                let resident = self.resident[value].take();
                resident.into_iter().for_each(|resident| self.release(resident));
            }
        }
    }

    fn transfer(&mut self, source: ResourceId, destination: ResourceId) {
        let name = self.transfers.next().expect("there is always another name");
        self.push(Task::transfer(name, source, destination));
    }

    fn release(&mut self, instance: ResourceId) {
        let name = self.releases.next().expect("there is always another name");
        self.push(Task::release(name, instance));
    }

    fn push(&mut self, task: Task) {
        self.place.body_mut(self.template).tasks.push(task);
    }
}

impl Task {
    /// Puts other resources in the place of some.
    fn rename(&mut self, to: &BTreeMap<ResourceId, ResourceId>) {
        let rename = |id: &mut ResourceId| *id = to.get(id).copied().unwrap_or(*id);
        let count = |count: &mut Count| {
            if let Count::Resource(id) = count {
                rename(id);
            }
        };
        self.args.iter_mut().for_each(|arg| rename(&mut arg.resource));
        self.accesses.iter_mut().for_each(|access| rename(&mut access.resource));
        match &mut self.kind {
            TaskKind::Loop { rotate, trip, .. } => {
                rotate.iter_mut().flat_map(|r| [&mut r.read, &mut r.write, &mut r.a, &mut r.b]).for_each(rename);
                match trip {
                    Trip::Counted(rounds) => count(rounds),
                    Trip::While { condition, at_most } => {
                        rename(condition);
                        count(at_most);
                    }
                }
            }
            TaskKind::Branch { condition, .. } => rename(condition),
            _ => {}
        }
    }
}

impl Template {
    /// Puts other resources in the place of externals of a body, and of the bodies that it runs.
    fn rename_external(&mut self, id: BodyId, to: &BTreeMap<ResourceId, ResourceId>) {
        let body = &mut self.bodies[id];
        body.externals.iter_mut().for_each(|id| *id = to.get(id).copied().unwrap_or(*id));
        body.externals.sort_unstable();
        body.tasks.values_mut().for_each(|task| task.rename(to));
        let inner: Vec<BodyId> = body.tasks.values().flat_map(|task| task.kind.bodies()).collect();
        inner.into_iter().for_each(|id| self.rename_external(id, to));
    }
}
