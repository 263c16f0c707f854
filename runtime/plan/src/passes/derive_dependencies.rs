//! Orders tasks by what they touch: a later one waits for the earlier ones it conflicts with.

use super::latest;
use crate::hazard::Fronts;
use crate::template::{Body, TaskId, Template};
use crate::verify::touches;
use cranelift_entity::EntityRef;

/// Adds the dependencies that the program order and the accesses ask for (read after write, write
/// after read, write after write), keeps those that are there, and drops what others imply.
pub fn derive_dependencies(template: &mut Template) {
    template.bodies.values_mut().chain([&mut template.root]).for_each(derive);
}

/// The same for one body.
pub(crate) fn derive(body: &mut Body) {
    let touches = touches(body);
    let mut fronts = Fronts::default();
    let mut waits: Vec<Vec<usize>> = Vec::with_capacity(body.tasks.len());
    for (id, task) in &mut body.tasks {
        let touches = &touches[id.index()];
        let mut earlier = fronts.needed(touches);
        earlier.extend(task.after.iter().map(|id| id.index()).filter(|earlier| *earlier < id.index()));
        fronts.record(id.index(), touches);
        let earlier = latest(earlier, &waits);
        task.after = earlier.iter().map(|index| TaskId::new(*index)).collect();
        waits.push(earlier);
    }
}
