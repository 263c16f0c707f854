//! Ends the life of what a body owns as soon as nobody needs it.

use super::{fresh_names, latest, task_names, waits};
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::{BTreeMap, BTreeSet};

/// Adds a release, after its last uses, of each owned resource of a body that is not released yet.
pub fn insert_releases(template: &mut Template) {
    let Template { resources, bodies, root, .. } = template;
    for body in bodies.values_mut().chain([root]) {
        let owned = |id: ResourceId| resources[id].owner == Owner::Owned;
        release(body, &owned);
    }
}

fn release(body: &mut Body, owned: &dyn Fn(ResourceId) -> bool) {
    let mut uses: BTreeMap<ResourceId, BTreeSet<usize>> = BTreeMap::new();
    let mut released = BTreeSet::new();
    for (id, task) in &body.tasks {
        for access in &task.accesses {
            uses.entry(access.resource).or_default().insert(id.index());
            if task.kind == TaskKind::Release {
                released.insert(access.resource);
            }
        }
    }
    uses.retain(|id, _| owned(*id) && !body.externals.contains(id) && !released.contains(id));
    let mut by_last_use: BTreeMap<usize, Vec<ResourceId>> = BTreeMap::new();
    for (id, tasks) in &uses {
        by_last_use.entry(*tasks.last().expect("a used resource has a use")).or_default().push(*id);
    }
    let waits = waits(body);
    let mut names = fresh_names(task_names(body), "release");
    let mut moved: Vec<TaskId> = Vec::with_capacity(body.tasks.len());
    for (id, mut task) in std::mem::take(&mut body.tasks) {
        for earlier in task.after.iter_mut().chain(&mut task.room_after) {
            *earlier = moved[earlier.index()];
        }
        moved.push(body.tasks.push(task));
        for resource in by_last_use.get(&id.index()).into_iter().flatten() {
            let after = latest(uses[resource].clone(), &waits).into_iter().map(|task| moved[task]).collect();
            let name = names.next().expect("there is always another name");
            body.tasks.push(Task { after, ..Task::release(name, *resource) });
        }
    }
}
