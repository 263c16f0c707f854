//! The search for an order of steps, and for what leaves main memory when, that moves few bytes.
//!
//! A beam: level by level, one step more is done in each state; of the states that a level reaches, the best go on. Two
//! things may wait without loss, so they always do: a value leaves only when its room is needed, and comes back only
//! when a step uses it. A state is judged by the bytes moved so far and those that must come back in any case. This
//! chooses what Belady's rule chooses (the value that is needed last leaves first; IBM Systems Journal 5, 1966) where
//! sizes are equal and all values are clean, and weighs sizes and writes where they are not.

use super::model::{Model, Value};
use fixedbitset::FixedBitSet;
use indexmap::IndexMap;

/// One thing to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// A value leaves main memory; it is written to storage if what stands there is not the same.
    Evict(usize),
    /// A value comes back.
    Load(usize),
    /// A step runs.
    Run(usize),
}

/// A schedule.
#[derive(Debug)]
pub(super) struct Schedule {
    pub(super) actions: Vec<Action>,
}

/// Bytes that may be in use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) ram: u64,
    pub(super) stored: u64,
}

/// Up to so many steps every order is looked at, and more states are kept.
const FEW: usize = 24;

/// Up to so many values that may leave, every set of them that makes just enough room is looked at.
const FEW_VALUES: usize = 8;

/// Finds a schedule within the limits, if one is found.
pub(super) fn search(model: &Model, limits: Limits) -> Option<Schedule> {
    let steps = model.steps.len();
    let (width, spread) = if steps <= FEW { (512, usize::MAX) } else { ((50_000 / steps).clamp(8, 64), 3) };
    let search = Search { model, limits, spread };
    let mut trails = Vec::new();
    let mut level = vec![State::new(model)];
    for _ in 0..steps {
        let mut reached: IndexMap<Placement, State> = IndexMap::new();
        for state in &level {
            for step in search.ready(&state.placement) {
                search.expand(state, step, &mut |next| match reached.get_mut(&next.placement) {
                    Some(known) if known.rank() <= next.rank() => {}
                    Some(known) => *known = next,
                    None => {
                        reached.insert(next.placement.clone(), next);
                    }
                });
            }
        }
        level = reached.into_values().collect();
        level.sort_by_key(State::rank);
        level.truncate(width);
        for state in &mut level {
            trails.push(Trail { before: state.trail, actions: std::mem::take(&mut state.actions) });
            state.trail = Some(trails.len() - 1);
        }
    }
    let mut actions = Vec::new();
    let mut at = level.first()?.trail;
    while let Some(Trail { before, actions: own }) = at.map(|at| &trails[at]) {
        actions.extend(own.iter().rev());
        at = *before;
    }
    actions.reverse();
    Some(Schedule { actions })
}

/// Actions that lead to a state, after those that lead to another.
struct Trail {
    before: Option<usize>,
    actions: Vec<Action>,
}

/// Which steps are done, and where values are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Placement {
    done: FixedBitSet,
    resident: FixedBitSet,
    /// Values whose last version stands in storage.
    stored: FixedBitSet,
}

#[derive(Clone, Debug)]
struct State {
    placement: Placement,
    ram: u64,
    in_storage: u64,
    moved: u64,
    /// Bytes of values that are needed and not in main memory.
    owed: u64,
    /// How many steps have been overtaken.
    overtaken: usize,
    trail: Option<usize>,
    /// Since the last trail.
    actions: Vec<Action>,
}

impl State {
    fn new(model: &Model) -> Self {
        let values = || FixedBitSet::with_capacity(model.values.len());
        let placement =
            Placement { done: FixedBitSet::with_capacity(model.steps.len()), resident: values(), stored: values() };
        let (ram, moved, owed, overtaken) = (0, 0, 0, 0);
        State { placement, ram, in_storage: model.stored, moved, owed, overtaken, trail: None, actions: Vec::new() }
    }

    /// Less is better.
    fn rank(&self) -> (u64, u64, usize) {
        (self.moved.saturating_add(self.owed), self.moved, self.overtaken)
    }
}

struct Search<'m> {
    model: &'m Model,
    limits: Limits,
    spread: usize,
}

/// A value that may leave.
#[derive(Clone, Copy)]
struct Candidate {
    value: usize,
    bytes: u64,
    /// Bytes that leaving moves now.
    cost: u64,
    /// The next step that uses it.
    next: usize,
}

impl Search<'_> {
    fn ready<'s>(&'s self, placement: &'s Placement) -> impl Iterator<Item = usize> + 's {
        let ready = move |step: &usize| self.model.steps[*step].waits.iter().all(|w| placement.done.contains(*w));
        placement.done.zeroes().filter(ready).take(self.spread)
    }

    /// All states that one more step leads to.
    fn expand(&self, state: &State, step: usize, reach: &mut dyn FnMut(State)) {
        let (model, placement) = (self.model, &state.placement);
        let todo = &model.steps[step];
        let bytes = |value: usize| model.values[value].bytes;
        let missing: Vec<usize> = todo.uses.iter().copied().filter(|v| !placement.resident.contains(*v)).collect();
        let needed = missing.iter().fold(state.ram.saturating_add(todo.own), |sum, v| sum.saturating_add(bytes(*v)));
        let over = needed.saturating_sub(self.limits.ram);
        let leaving = placement.resident.ones().filter(|value| todo.uses.binary_search(value).is_err());
        let candidates: Vec<Candidate> = leaving
            .map(|value| {
                let next = model.values[value].users.iter().copied().find(|user| !placement.done.contains(*user));
                let cost = if placement.stored.contains(value) { 0 } else { bytes(value) };
                Candidate { value, bytes: bytes(value), cost, next: next.unwrap_or(usize::MAX) }
            })
            .collect();
        for set in evictions(&candidates, over) {
            let mut next = state.clone();
            for value in set {
                next.evict(value, bytes(value));
            }
            if next.in_storage.saturating_add(todo.own_stored) > self.limits.stored {
                continue;
            }
            for value in &missing {
                let comes_back = placement.stored.contains(*value);
                next.load(*value, bytes(*value), comes_back);
            }
            next.overtaken += placement.done.zeroes().take_while(|earlier| *earlier < step).count();
            next.run(model, step);
            reach(next);
        }
    }
}

impl State {
    fn evict(&mut self, value: usize, bytes: u64) {
        if !self.placement.stored.put(value) {
            self.moved = self.moved.saturating_add(bytes);
            self.in_storage = self.in_storage.saturating_add(bytes);
        }
        self.placement.resident.remove(value);
        self.ram -= bytes;
        self.owed = self.owed.saturating_add(bytes);
        self.actions.push(Action::Evict(value));
    }

    fn load(&mut self, value: usize, bytes: u64, comes_back: bool) {
        self.placement.resident.insert(value);
        self.ram += bytes;
        if comes_back {
            self.moved = self.moved.saturating_add(bytes);
            self.owed -= bytes;
            self.actions.push(Action::Load(value));
        }
    }

    fn run(&mut self, model: &Model, step: usize) {
        self.placement.done.insert(step);
        self.actions.push(Action::Run(step));
        let todo = &model.steps[step];
        for &value in &todo.uses {
            let Value { bytes, users, .. } = &model.values[value];
            let over = users.iter().all(|user| self.placement.done.contains(*user));
            let changed = todo.writes.binary_search(&value).is_ok();
            if (over || changed) && self.placement.stored.contains(value) {
                self.placement.stored.remove(value);
                self.in_storage -= bytes;
            }
            if over {
                self.placement.resident.remove(value);
                self.ram -= bytes;
            }
        }
    }
}

/// Sets of values that make so much room, none with a value that is not needed for it.
fn evictions(candidates: &[Candidate], over: u64) -> Vec<Vec<usize>> {
    if over == 0 {
        return vec![Vec::new()];
    }
    let all = candidates.iter().fold(0u64, |sum, candidate| sum.saturating_add(candidate.bytes));
    if all < over {
        return Vec::new();
    }
    if candidates.len() <= FEW_VALUES {
        return minimal_sets(candidates, over);
    }
    let last_first = |c: &Candidate| (std::cmp::Reverse(c.next), c.value);
    let mut by_use = candidates.to_vec();
    by_use.sort_by_key(last_first);
    let mut by_cost = candidates.to_vec();
    by_cost.sort_by_key(|c| (c.cost, last_first(c)));
    let mut by_size = candidates.to_vec();
    by_size.sort_by_key(|c| (std::cmp::Reverse(c.bytes), last_first(c)));
    let mut sets: Vec<Vec<usize>> = [by_use, by_cost, by_size].iter().map(|order| greedy(order, over)).collect();
    // One that is just large enough on its own.
    let single = candidates.iter().filter(|c| c.bytes >= over).min_by_key(|c| (c.bytes + c.cost, last_first(c)));
    sets.extend(single.map(|c| vec![c.value]));
    sets.sort();
    sets.dedup();
    sets
}

/// Takes candidates in order until there is room, then lets go of those that are not needed.
fn greedy(order: &[Candidate], over: u64) -> Vec<usize> {
    let mut taken: Vec<Candidate> = Vec::new();
    let mut room = 0u64;
    for candidate in order.iter().filter(|candidate| candidate.bytes > 0) {
        if room >= over {
            break;
        }
        room += candidate.bytes;
        taken.push(*candidate);
    }
    for index in (0..taken.len()).rev() {
        if room - taken[index].bytes >= over {
            room -= taken[index].bytes;
            taken.remove(index);
        }
    }
    let mut values: Vec<usize> = taken.iter().map(|candidate| candidate.value).collect();
    values.sort_unstable();
    values
}

fn minimal_sets(candidates: &[Candidate], over: u64) -> Vec<Vec<usize>> {
    let mut sets = Vec::new();
    for set in 0u32..1 << candidates.len() {
        let members = || candidates.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1).map(|(_, c)| c);
        let room: u64 = members().map(|candidate| candidate.bytes).sum();
        if room >= over && members().all(|candidate| room - candidate.bytes < over) {
            sets.push(members().map(|candidate| candidate.value).collect());
        }
    }
    sets
}
