//! Makes a plan fit into budgets: values leave main memory and come back, and tasks wait for room, so that no order
//! that the dependencies allow exceeds any budget.
//!
//! A body whose worst order fits stays as it is. Another one gets a schedule ([`search`]), which becomes tasks
//! ([`emit`]), whose bytes are then handed from release to writer ([`hand_on`]). A loop or branch holds what it uses
//! in main memory; the bodies that it runs get what is left beside that.

mod emit;
mod hand_on;
mod model;
mod search;
#[cfg(test)]
mod tests;
mod too_small;

use super::derive_dependencies::derive;
use super::{PassError, insert_joins, insert_releases, reduce_dependencies};
use crate::dag::Dag;
use crate::instantiate::{InstantiateError, Peak, lives, widen};
use crate::peak::{Life, in_any_order, in_execution_order};
use crate::template::*;
use cranelift_entity::SecondaryMap;
use emit::Place;
use model::Model;
use search::Limits;
use std::collections::BTreeMap;
use tiga_abi::Tier;

pub use too_small::TooSmall;

/// Bytes that a run may use in each tier; a tier without a number has no limit.
pub type Budgets = BTreeMap<Tier, u64>;

/// What is known when a plan is made to fit.
#[derive(Clone, Copy)]
pub struct Room<'a> {
    /// The value of a size.
    pub sizes: &'a dyn Fn(&str) -> Option<i64>,
    /// Bytes of scratch memory that a task of a kernel takes while it runs.
    pub scratch: &'a dyn Fn(&Task) -> u64,
    /// Bytes of what graphs hold for the plan, if they are known; otherwise those of its capacities.
    pub derived: Option<u64>,
    /// What a run may use: of what the plan owns or derives, scratch included. What it borrows does not count.
    pub budgets: &'a Budgets,
}

/// A plan cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SpillError {
    /// A size without value, or more bytes than 64 bits count.
    #[error(transparent)]
    Instantiate(#[from] InstantiateError),
    /// Main memory is too small.
    #[error("{0}")]
    Small(Box<TooSmall>),
    /// The plan that fits breaks a law: our bug.
    #[error(transparent)]
    Broken(#[from] PassError),
}

/// Makes a complete plan fit.
///
/// # Errors
/// A size without value; budgets that no schedule was found for, with the smallest that would do.
pub fn schedule_spills(template: &Template, room: Room<'_>) -> Result<Template, SpillError> {
    let fit = Fit::new(template, room)?;
    let Some(&ram) = room.budgets.get(&Tier::Ram) else {
        // Nothing has to leave. What has its home in storage must still fit there.
        return fit.within(u64::MAX).ok_or_else(|| fit.too_small(None)).and_then(|fitted| complete(fitted, template));
    };
    match fit.within(ram) {
        Some(fitted) => complete(fitted, template),
        None => Err(fit.too_small(Some(ram))),
    }
}

/// What a plan needs in each tier with its kernels' scratch memory, what graphs hold for it aside: in execution order,
/// and in any order.
///
/// # Errors
/// A size without value, or more bytes than 64 bits count.
pub fn peaks(template: &Template, room: Room<'_>) -> Result<(Peak, Peak), SpillError> {
    let fit = Fit::new(template, room)?;
    let peak = |count| fit.total(&template.root, count);
    let counted = peak(in_execution_order as Count).zip(peak(in_any_order));
    Ok(counted.ok_or_else(|| InstantiateError::Peak(template.program.clone()))?)
}

/// How many bytes live at once.
type Count = fn(&Dag, &[Life]) -> Option<u64>;

/// Ends the bodies, and proves that all laws hold.
fn complete(mut fitted: Template, before: &Template) -> Result<Template, SpillError> {
    if fitted != *before {
        // What lives in storage has lost its release with all others.
        insert_releases(&mut fitted);
        insert_joins(&mut fitted);
        reduce_dependencies(&mut fitted);
        fitted.verify().map_err(|violation| PassError { pass: "schedule-spills", violation })?;
    }
    Ok(fitted)
}

struct Fit<'a> {
    template: &'a Template,
    room: Room<'a>,
    /// Bytes of each resource of the template.
    capacities: SecondaryMap<ResourceId, u64>,
    /// Bytes of what graphs hold for the plan from beginning to end.
    derived: u64,
}

impl<'a> Fit<'a> {
    fn new(template: &'a Template, room: Room<'a>) -> Result<Self, SpillError> {
        let mut capacities = SecondaryMap::new();
        let (mut all, mut derived) = (0u64, 0u64);
        for (id, resource) in &template.resources {
            let bytes = resource.bytes(room.sizes)?;
            let sum = all.checked_add(bytes).and_then(|sum| sum.checked_mul(2));
            all = sum.ok_or_else(|| InstantiateError::Peak(template.program.clone()))? / 2;
            if resource.owner == Owner::Derived {
                derived += bytes;
            }
            capacities[id] = bytes;
        }
        Ok(Self { template, room, capacities, derived: room.derived.unwrap_or(derived) })
    }

    /// The plan within so much main memory.
    fn within(&self, ram: u64) -> Option<Template> {
        let mut template = self.template.clone();
        let storage = self.room.budgets.get(&Tier::Nvme).copied().unwrap_or(u64::MAX);
        let limits = Limits { ram: ram.checked_sub(self.derived)?, stored: storage };
        self.body(&mut template, Place::Root, limits)?;
        Some(template)
    }

    /// Bytes of a resource; a new instance is as large as the first.
    fn bytes(&self, template: &Template, id: ResourceId) -> u64 {
        match self.template.resources.get(id) {
            Some(_) => self.capacities[id],
            None => template.resources[id].bytes(self.room.sizes).expect("its first instance has a size"),
        }
    }

    /// Makes a body fit, those that it runs first; gives what it needs in any order.
    fn body(&self, template: &mut Template, place: Place, limits: Limits) -> Option<Peak> {
        let tasks: Vec<Task> = place.body(template).tasks.values().cloned().collect();
        let mut nested: BTreeMap<String, Peak> = BTreeMap::new();
        for task in &tasks {
            let held = self.held(template, place.body(template), task);
            let limits = Limits { ram: limits.ram.checked_sub(held)?, ..limits };
            let mut own = Peak::new();
            for id in task.kind.bodies() {
                widen(&mut own, &self.body(template, Place::Body(id), limits)?);
            }
            if matches!(task.kind, TaskKind::Kernel { .. }) {
                own.insert(Tier::Ram, (self.room.scratch)(task));
            }
            nested.insert(task.name.clone(), own);
        }
        let own = |task: &Task| nested.get(&task.name).cloned().unwrap_or_default();
        let fits = |peak: &Peak| {
            let of = |tier| peak.get(&tier).copied().unwrap_or(0);
            of(Tier::Ram) <= limits.ram && of(Tier::Nvme) <= limits.stored
        };
        let peak = self.peak(template, place, &own)?;
        if fits(&peak) {
            return Some(peak);
        }
        let model = Model::new(template, place.body(template), &|id| self.bytes(template, id), &own);
        let schedule = search::search(&model, limits)?;
        emit::emit(template, place, &model, &schedule);
        derive(place.body_mut(template));
        let mut all = lives(template, place.body(template), &|id| self.bytes(template, id), &own);
        for (tier, limit) in [(Tier::Ram, limits.ram), (Tier::Nvme, limits.stored)] {
            let lives = all.remove(&tier).unwrap_or_default();
            hand_on::hand_on(place.body_mut(template), &lives, limit);
        }
        self.peak(template, place, &own).filter(fits)
    }

    /// What a body needs, those that it runs included.
    fn total(&self, body: &Body, count: Count) -> Option<Peak> {
        let mut own = BTreeMap::new();
        for task in body.tasks.values() {
            let mut most = Peak::new();
            for id in task.kind.bodies() {
                widen(&mut most, &self.total(&self.template.bodies[id], count)?);
            }
            if matches!(task.kind, TaskKind::Kernel { .. }) {
                most.insert(Tier::Ram, (self.room.scratch)(task));
            }
            own.insert(task.name.as_str(), most);
        }
        let own = |task: &Task| own.get(&*task.name).cloned().unwrap_or_default();
        let lives = lives(self.template, body, &|id| self.capacities[id], &own);
        let dag = body.dag();
        lives.into_iter().map(|(tier, lives)| Some((tier, count(&dag, &lives)?))).collect()
    }

    /// What a body needs in any order.
    fn peak(&self, template: &Template, place: Place, own: &dyn Fn(&Task) -> Peak) -> Option<Peak> {
        let body = place.body(template);
        let dag = body.dag();
        let lives = lives(template, body, &|id| self.bytes(template, id), own);
        lives.into_iter().map(|(tier, lives)| Some((tier, in_any_order(&dag, &lives)?))).collect()
    }

    /// Bytes of main memory that a body holds for a task which runs others.
    fn held(&self, template: &Template, body: &Body, task: &Task) -> u64 {
        let mut held: Vec<ResourceId> = task.accesses.iter().map(|access| access.resource).collect();
        held.sort_unstable();
        held.dedup();
        let owned = |id: &ResourceId| {
            let resource = &template.resources[*id];
            resource.owner == Owner::Owned && resource.tier == Tier::Ram && body.externals.binary_search(id).is_err()
        };
        held.into_iter().filter(owned).map(|id| self.bytes(template, id)).sum()
    }
}
