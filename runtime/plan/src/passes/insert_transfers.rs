//! Brings values to where tasks can use them, and back to where they live.

use super::{fresh_names, task_names};
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::{BTreeMap, BTreeSet};
use tiga_abi::Tier;

/// Adds a transfer wherever a task uses a value that lives elsewhere: into main memory before the first use of a
/// version, and home after its last writer. A version has one copy in a tier, which all its readers share.
///
/// Loops and branches take values where they live: their bodies bring them.
pub fn insert_transfers(template: &mut Template) {
    let resources = &mut template.resources;
    for body in [&mut template.root].into_iter().chain(template.bodies.values_mut()) {
        let names = Box::new(fresh_names(task_names(body), "transfer"));
        let tasks: Vec<Task> = std::mem::take(&mut body.tasks).into_iter().map(|(_, task)| task).collect();
        let (copies, written) = (BTreeMap::new(), body.externals.iter().copied().collect());
        let mut insert = Insert { resources, body, names, copies, written, moved: Vec::new() };
        for (index, task) in tasks.iter().enumerate() {
            insert.task(task.clone(), &tasks[index + 1..]);
        }
    }
}

struct Insert<'a> {
    resources: &'a mut cranelift_entity::PrimaryMap<ResourceId, Resource>,
    body: &'a mut Body,
    names: Box<dyn Iterator<Item = String>>,
    /// By value that lives elsewhere, the copy of its present version in main memory.
    copies: BTreeMap<ResourceId, ResourceId>,
    /// Values that live elsewhere and that may hold something: others have written them, or this body has.
    written: BTreeSet<ResourceId>,
    /// By the number that a task had, its number now.
    moved: Vec<TaskId>,
}

impl Insert<'_> {
    fn task(&mut self, mut task: Task, later: &[Task]) {
        for earlier in task.after.iter_mut().chain(&mut task.room_after) {
            *earlier = self.moved[earlier.index()];
        }
        if !task.kind.runs_in_memory() {
            // Its accesses are to values where they live; what it writes there is another version.
            let written = task.accesses.iter().filter(|access| access.mode.writes());
            written.for_each(|access| {
                self.copies.remove(&access.resource);
                self.written.insert(access.resource);
            });
            self.moved.push(self.body.tasks.push(task));
            return;
        }
        let mut home = Vec::new();
        let mut renamed = BTreeMap::new();
        for access in &task.accesses {
            let id = access.resource;
            if self.resources[id].tier.is_addressable() || renamed.contains_key(&id) {
                continue;
            }
            let all = || task.accesses.iter().filter(|access| access.resource == id);
            let (reads, writes) = (all().any(|access| access.mode.reads()), all().any(|access| access.mode.writes()));
            // The parts of one version are written one after the other.
            let part = access.partition.as_ref().is_some_and(|_| self.copies.contains_key(&id));
            let copy = match self.copies.get(&id) {
                Some(copy) if reads || part => *copy,
                _ => {
                    let copy = self.copy(id);
                    // Of what is written in parts, the other parts may stand there already.
                    if reads || (access.partition.is_some() && self.written.contains(&id)) {
                        self.transfer(id, copy);
                    }
                    copy
                }
            };
            self.copies.insert(id, copy);
            renamed.insert(id, copy);
            if writes {
                self.written.insert(id);
            }
            if writes && !next_writes_a_part(id, later) {
                home.push((copy, id));
            }
        }
        task.args.iter_mut().for_each(|arg| arg.resource = *renamed.get(&arg.resource).unwrap_or(&arg.resource));
        let accesses = task.accesses.iter_mut();
        accesses.for_each(|access| access.resource = *renamed.get(&access.resource).unwrap_or(&access.resource));
        self.moved.push(self.body.tasks.push(task));
        for (copy, id) in home {
            self.transfer(copy, id);
        }
    }

    /// Another instance of a value in main memory, this body's own.
    fn copy(&mut self, of: ResourceId) -> ResourceId {
        let copy = another_instance(self.resources, of, Tier::Ram);
        self.resources[copy].owner = Owner::Owned;
        copy
    }

    fn transfer(&mut self, source: ResourceId, destination: ResourceId) {
        let name = self.names.next().expect("there is always another name");
        self.body.tasks.push(Task::transfer(name, source, destination));
    }
}

/// Whether the next task that touches a value writes a part of it: then the version is not complete yet.
fn next_writes_a_part(id: ResourceId, later: &[Task]) -> bool {
    let next = later.iter().flat_map(|task| &task.accesses).find(|access| access.resource == id);
    next.is_some_and(|access| access.mode == Mode::Write && access.partition.is_some())
}

#[cfg(test)]
mod tests {
    use crate::passes::complete;
    use crate::sample;
    use crate::template::*;
    use tiga_abi::Tier;

    /// The sample with the carried value in storage.
    fn stored() -> Template {
        let mut template = sample::looped();
        let a = template.resources.iter().find(|(_, r)| r.name == "r.a").unwrap().0;
        template.resources[a].tier = Tier::Nvme;
        complete(&mut template).unwrap();
        template
    }

    #[test]
    fn a_carried_value_in_storage_comes_and_goes_once_a_round() {
        let template = stored();
        let transfers = |body: &Body| {
            let transfers = body.tasks.values().filter(|task| task.kind == TaskKind::Transfer);
            let label = |id: ResourceId| template.resources[id].label();
            transfers
                .map(|t| format!("{} -> {}", label(t.args[0].resource), label(t.args[1].resource)))
                .collect::<Vec<_>>()
        };
        assert_eq!(transfers(&template.root), ["r.a -> r.a@nvme"]);
        let round = &template.bodies[BodyId::from_u32(0)];
        assert_eq!(transfers(round), ["r.in@nvme -> r.in", "r.out -> r.out@nvme"]);
        // Both kernels of a round that read the old value share its copy.
        let sides: Vec<_> = template.bodies.values().skip(1).map(transfers).collect();
        assert_eq!(sides, [["r.a@nvme -> r.a#2"], ["r.a@nvme -> r.a#3"]]);
    }
}
