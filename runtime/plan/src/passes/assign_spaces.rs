//! Gives all instances of a value one tier: where a carried value lives at first, it lives in every round.

use crate::template::*;

/// Puts the handles and both buffers of a carried value where its first value lives.
pub fn assign_spaces(template: &mut Template) {
    // A loop stands in a later body than its own: going backwards, a handle has its tier before it is handed on.
    let bodies = [&template.root].into_iter().chain(template.bodies.values().rev());
    let loops = bodies.flat_map(|body| body.tasks.values()).filter_map(|task| match &task.kind {
        TaskKind::Loop { rotate, .. } => Some(rotate.clone()),
        _ => None,
    });
    for Rotation { read, write, a, b } in loops.collect::<Vec<_>>().into_iter().flatten() {
        let tier = template.resources[a].tier;
        for id in [read, write, b] {
            template.resources[id].tier = tier;
        }
    }
}
