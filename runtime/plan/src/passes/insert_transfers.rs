//! Brings values to where tasks can use them, and back to where they live.

use super::fresh_names;
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::BTreeMap;
use tiga_abi::Tier;

/// Adds a transfer wherever a task uses a value that lives elsewhere: into main memory before the first use of a
/// version, and home after its last writer. A version has one copy in a tier, which all its readers share.
///
/// Loops and branches take values where they live: their bodies bring them.
pub fn insert_transfers(template: &mut Template) {
    let resources = &mut template.resources;
    for body in [&mut template.root].into_iter().chain(template.bodies.values_mut()) {
        let names = Box::new(fresh_names(body, "transfer"));
        let tasks: Vec<Task> = std::mem::take(&mut body.tasks).into_iter().map(|(_, task)| task).collect();
        let mut insert = Insert { resources, body, names, copies: BTreeMap::new(), moved: Vec::new() };
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
    /// By the number that a task had, its number now.
    moved: Vec<TaskId>,
}

impl Insert<'_> {
    fn task(&mut self, mut task: Task, later: &[Task]) {
        for earlier in task.after.iter_mut().chain(&mut task.room_after) {
            *earlier = self.moved[earlier.index()];
        }
        if !runs_in_memory(&task.kind) {
            // Its accesses are to values where they live; what it writes there is another version.
            let written = task.accesses.iter().filter(|access| access.mode.writes());
            written.for_each(|access| {
                self.copies.remove(&access.resource);
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
                    if reads {
                        self.transfer(id, copy);
                    }
                    copy
                }
            };
            self.copies.insert(id, copy);
            renamed.insert(id, copy);
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
        let like = self.resources[of].clone();
        let same = self.resources.values().filter(|r| r.name == like.name && r.tier == Tier::Ram);
        let copy = same.map(|resource| resource.copy).max().unwrap_or(0) + 1;
        self.resources.push(Resource { tier: Tier::Ram, owner: Owner::Owned, copy, ..like })
    }

    fn transfer(&mut self, source: ResourceId, destination: ResourceId) {
        let name = self.names.next().expect("there is always another name");
        self.body.tasks.push(Task::transfer(name, source, destination));
    }
}

/// Whether a task touches bytes itself, and so needs them in main memory.
fn runs_in_memory(kind: &TaskKind) -> bool {
    match kind {
        TaskKind::Kernel { .. }
        | TaskKind::Copy
        | TaskKind::BuildTranspose { .. }
        | TaskKind::BuildJoined { .. }
        | TaskKind::BuildUnits { .. } => true,
        TaskKind::Loop { .. } | TaskKind::Branch { .. } | TaskKind::Join | TaskKind::Release | TaskKind::Transfer => {
            false
        }
    }
}

/// Whether the next task that touches a value writes a part of it: then the version is not complete yet.
fn next_writes_a_part(id: ResourceId, later: &[Task]) -> bool {
    let next = later.iter().flat_map(|task| &task.accesses).find(|access| access.resource == id);
    next.is_some_and(|access| access.mode == Mode::Write && access.partition.is_some())
}

impl Task {
    /// A transfer, which waits for nothing yet.
    pub(crate) fn transfer(name: String, source: ResourceId, destination: ResourceId) -> Task {
        let arg = |parameter: &str, resource, role| Arg { parameter: parameter.into(), resource, role };
        let access = |resource, mode| Access { resource, mode, partition: None };
        Task {
            name,
            kind: TaskKind::Transfer,
            phase: Phase::Execute,
            after: Vec::new(),
            room_after: Vec::new(),
            args: vec![arg("source", source, Role::Param), arg("destination", destination, Role::Out)],
            accesses: vec![access(source, Mode::Read), access(destination, Mode::Write)],
        }
    }
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
