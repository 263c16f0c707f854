//! Room that is handed on: a task that is the first to write waits for the releases whose bytes it takes.
//!
//! Bytes are dealt out along the schedule. A task takes those first that were released by tasks it waits for anyway,
//! then those that nobody has had, then those that were released longest ago; for the last it has to wait. Each byte
//! then belongs to one value at a time in whatever order the dependencies allow, so no order needs more than there are.

use crate::peak::{Life, first_writers};
use crate::template::*;
use cranelift_entity::EntityRef;
use std::collections::{BTreeSet, VecDeque};

/// Adds to the tasks of a body what they must wait for, so that values with these lives fit into `limit` bytes.
///
/// The schedule, which the tasks stand in, must need no more.
pub(super) fn hand_on(body: &mut Body, lives: &[Life], limit: u64) {
    let dag = body.dag();
    let mut begins: Vec<Vec<usize>> = vec![Vec::new(); dag.len()];
    let mut ends: Vec<u64> = vec![0; dag.len()];
    for (index, life) in lives.iter().enumerate() {
        let first = life.writers.iter().min().expect("a value has a writer");
        begins[*first].push(index);
        if let Some(release) = life.release {
            ends[release] += life.bytes;
        }
    }
    let mut room = Free { fresh: limit, released: VecDeque::new() };
    for task in 0..dag.len() {
        for &index in &begins[task] {
            let life = &lives[index];
            let first = first_writers(&dag, &life.writers);
            let ordered = |release| first.iter().all(|writer| reaches(body, release, *writer));
            let waits = room.take(life.bytes, ordered);
            for release in waits {
                for writer in &first {
                    add(body, release, *writer);
                }
            }
        }
        if ends[task] > 0 {
            room.released.push_back((ends[task], task));
        }
    }
}

/// Bytes that nobody has.
struct Free {
    /// Nobody has had them yet.
    fresh: u64,
    /// Bytes and the task that has released them, the earliest first.
    released: VecDeque<(u64, usize)>,
}

impl Free {
    /// Takes bytes; gives the releases that must be waited for. `ordered` says which are in any case.
    fn take(&mut self, bytes: u64, ordered: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut missing = bytes;
        for (released, by) in &mut self.released {
            if missing > 0 && ordered(*by) {
                let taken = missing.min(*released);
                (missing, *released) = (missing - taken, *released - taken);
            }
        }
        let taken = missing.min(self.fresh);
        (missing, self.fresh) = (missing - taken, self.fresh - taken);
        let mut waits = Vec::new();
        for (released, by) in &mut self.released {
            if missing > 0 && *released > 0 {
                let taken = missing.min(*released);
                (missing, *released) = (missing - taken, *released - taken);
                waits.push(*by);
            }
        }
        self.released.retain(|(released, _)| *released > 0);
        debug_assert_eq!(missing, 0, "the schedule fits");
        waits
    }
}

/// Whether a task waits for another one, directly or not.
fn reaches(body: &Body, earlier: usize, later: usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![later];
    while let Some(task) = open.pop() {
        let task = &body.tasks[TaskId::new(task)];
        for next in task.after.iter().chain(&task.room_after).map(|id| id.index()) {
            if next == earlier {
                return true;
            }
            if next > earlier && seen.insert(next) {
                open.push(next);
            }
        }
    }
    false
}

fn add(body: &mut Body, release: usize, writer: usize) {
    let release = TaskId::new(release);
    let task = &mut body.tasks[TaskId::new(writer)];
    if !task.after.contains(&release)
        && let Err(place) = task.room_after.binary_search(&release)
    {
        task.room_after.insert(place, release);
    }
}
