//! Ends a body with one task that all others lead to.

use super::{fresh_names, task_names};
use crate::template::{Body, Phase, Task, TaskKind, Template};
use std::collections::BTreeSet;

/// Adds a join to each body that has more than one last task.
pub fn insert_joins(template: &mut Template) {
    template.bodies.values_mut().chain([&mut template.root]).for_each(join);
}

fn join(body: &mut Body) {
    let waited_for: BTreeSet<_> = body.tasks.values().flat_map(Task::waits_for).collect();
    let last: Vec<_> = body.tasks.keys().filter(|id| !waited_for.contains(id)).collect();
    if last.len() < 2 {
        return;
    }
    let Some(name) = fresh_names(task_names(body), "join").next() else { return };
    let (phase, args, accesses) = (Phase::Execute, Vec::new(), Vec::new());
    body.tasks.push(Task { name, kind: TaskKind::Join, phase, after: last, room_after: Vec::new(), args, accesses });
}
