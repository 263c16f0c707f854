//! Drops dependencies that follow from others.

use super::{latest, waits};
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::BTreeSet;

/// Keeps, for each task, only the tasks to wait for that no other one of them waits for, directly or not.
pub fn reduce_dependencies(template: &mut Template) {
    template.bodies.values_mut().chain([&mut template.root]).for_each(reduce);
}

fn reduce(body: &mut Body) {
    let waits = waits(body);
    for (id, task) in &mut body.tasks {
        let all: BTreeSet<usize> = waits[id.index()].iter().copied().collect();
        let kept = latest(all, &waits);
        for list in [&mut task.after, &mut task.room_after] {
            list.retain(|earlier| kept.binary_search(&earlier.index()).is_ok());
        }
    }
}
