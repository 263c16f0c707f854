//! Says, for each body, what it uses without owning it, and gives it to the task that runs it.

use crate::template::*;
use cranelift_entity::{EntityRef, PrimaryMap, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet};

/// Sets the externals of all bodies, and the arguments and accesses of loops and branches.
///
/// An owned resource belongs to the innermost body around all its uses. A loop or branch may leave
/// what its body writes as it was, so it both reads and writes it.
pub fn close_bodies(template: &mut Template) {
    let frame = Frame::new(template);
    let mut seen: Vec<BTreeMap<ResourceId, Use>> = Vec::new();
    for index in 0..=template.bodies.len() {
        let Template { bodies, root, resources, .. } = template;
        let body = if index == bodies.len() { root } else { &mut bodies[BodyId::new(index)] };
        for task in body.tasks.values_mut() {
            if let Some(uses) = nested_uses(&task.kind, &seen) {
                bind(resources, task, uses);
            }
        }
        let owned = |id: ResourceId| resources[id].owner == Owner::Owned && frame.owners[id] == Some(index);
        let mut uses = uses(body);
        uses.retain(|id, _| !owned(*id));
        let externals: BTreeSet<_> = uses.keys().chain(&frame.handles[index]).copied().collect();
        body.externals = externals.into_iter().collect();
        seen.push(uses);
    }
}

/// How a body uses a resource.
#[derive(Clone, Copy)]
struct Use {
    writes: bool,
    role: Role,
}

/// Bodies by index, the root last.
struct Frame {
    /// The body that each resource belongs to, if it is owned.
    owners: SecondaryMap<ResourceId, Option<usize>>,
    /// The handles that rotate in each body.
    handles: Vec<Vec<ResourceId>>,
}

impl Frame {
    fn new(template: &Template) -> Self {
        let root = template.bodies.len();
        // Until a task is found that runs it, a body counts as one of the root's.
        let mut parents = vec![root; root + 1];
        let mut handles = vec![Vec::new(); root + 1];
        for (index, body) in template.bodies.values().chain([&template.root]).enumerate() {
            for task in body.tasks.values() {
                for inner in bodies_of(&task.kind).filter(|inner| inner.index() < index) {
                    parents[inner.index()] = index;
                }
                if let TaskKind::Loop { body, rotate, .. } = &task.kind {
                    handles[body.index()].extend(rotate.iter().flat_map(|r| [r.read, r.write]));
                }
            }
        }
        let mut owners: SecondaryMap<ResourceId, Option<usize>> = SecondaryMap::new();
        for (index, body) in template.bodies.values().chain([&template.root]).enumerate() {
            for task in body.tasks.values() {
                for id in own_uses(task) {
                    let around = |other| innermost_around(&parents, other, index);
                    owners[id] = Some(owners[id].map_or(index, around));
                }
            }
        }
        Frame { owners, handles }
    }
}

/// A body's parent stands after it, so the walk up meets.
fn innermost_around(parents: &[usize], mut left: usize, mut right: usize) -> usize {
    while left != right {
        let lower = if left < right { &mut left } else { &mut right };
        *lower = parents[*lower];
    }
    left
}

fn bodies_of(kind: &TaskKind) -> impl Iterator<Item = BodyId> {
    let (first, second) = match kind {
        TaskKind::Loop { body, .. } => (Some(*body), None),
        TaskKind::Branch { then_body, else_body, .. } => (Some(*then_body), Some(*else_body)),
        _ => (None, None),
    };
    first.into_iter().chain(second)
}

/// What a task itself uses: of a loop or branch what decides and rotates, not what its bodies touch.
fn own_uses(task: &Task) -> Vec<ResourceId> {
    match &task.kind {
        TaskKind::Loop { rotate, trip, .. } => rotate.iter().flat_map(|r| [r.a, r.b]).chain(trip.resources()).collect(),
        TaskKind::Branch { condition, .. } => vec![*condition],
        _ => task.accesses.iter().map(|access| access.resource).collect(),
    }
}

fn uses(body: &Body) -> BTreeMap<ResourceId, Use> {
    let mut uses: BTreeMap<ResourceId, Use> = BTreeMap::new();
    for task in body.tasks.values() {
        for access in &task.accesses {
            let arg = task.args.iter().find(|arg| arg.resource == access.resource);
            let role = arg.map_or(Role::Param, |arg| arg.role);
            let seen = uses.entry(access.resource).or_insert(Use { writes: false, role });
            seen.writes |= access.mode.writes();
        }
    }
    uses
}

/// What a loop or branch uses, itself and in its bodies; `None` for other tasks.
fn nested_uses(kind: &TaskKind, seen: &[BTreeMap<ResourceId, Use>]) -> Option<BTreeMap<ResourceId, Use>> {
    let mut all: BTreeMap<ResourceId, Use> = BTreeMap::new();
    for (id, inner) in bodies_of(kind).filter_map(|body| seen.get(body.index())).flatten() {
        let merged = all.entry(*id).or_insert(*inner);
        merged.writes |= inner.writes;
    }
    let mut add = |id, writes, role| all.entry(id).or_insert(Use { writes, role }).writes |= writes;
    match kind {
        TaskKind::Loop { rotate, trip, .. } => {
            trip.resources().into_iter().for_each(|id| add(id, false, Role::Param));
            let role =
                |rotation: &Rotation| seen.iter().find_map(|uses| uses.get(&rotation.read)).map(|seen| seen.role);
            for rotation in rotate {
                let role = role(rotation).unwrap_or(Role::Dst);
                [rotation.a, rotation.b].into_iter().for_each(|id| add(id, true, role));
            }
            all.retain(|id, _| !rotate.iter().any(|r| r.read == *id || r.write == *id));
        }
        TaskKind::Branch { condition, .. } => add(*condition, false, Role::Param),
        _ => return None,
    }
    Some(all)
}

fn bind(resources: &PrimaryMap<ResourceId, Resource>, task: &mut Task, uses: BTreeMap<ResourceId, Use>) {
    let arg = |(id, seen): (&ResourceId, &Use)| Arg {
        parameter: resources[*id].name.clone(),
        resource: *id,
        role: seen.role,
    };
    task.args = uses.iter().map(arg).collect();
    let mode = |seen: &Use| if seen.writes { Mode::ReadWrite } else { Mode::Read };
    let access = |(id, seen): (&ResourceId, &Use)| Access { resource: *id, mode: mode(seen), partition: None };
    task.accesses = uses.iter().map(access).collect();
}
