//! Drops dependencies that follow from others.

use super::{latest, waits};
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::BTreeSet;

/// Keeps, for each task, only the tasks to wait for that no other one of them waits for, directly or not. What data ask
/// for stays where only room asks for it, too: without budgets it would be missing.
pub fn reduce_dependencies(template: &mut Template) {
    template.bodies.values_mut().chain([&mut template.root]).for_each(reduce);
}

/// What each task waits for, room aside, by index.
fn waits_for_data(body: &Body) -> Vec<Vec<usize>> {
    body.tasks.values().map(|task| task.after.iter().map(|id| id.index()).collect()).collect()
}

fn reduce(body: &mut Body) {
    let (waits, data) = (waits(body), waits_for_data(body));
    for (id, task) in &mut body.tasks {
        let kept = latest(data[id.index()].iter().copied().collect(), &data);
        task.after.retain(|earlier| kept.binary_search(&earlier.index()).is_ok());
        let all: BTreeSet<usize> = waits[id.index()].iter().copied().collect();
        let kept = latest(all, &waits);
        task.room_after.retain(|earlier| kept.binary_search(&earlier.index()).is_ok());
    }
}
