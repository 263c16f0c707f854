//! The refusal of a budget: the smallest that would do, and what asks for it.

use super::model::{Model, Step};
use super::{Fit, SpillError};
use crate::instantiate::Peak;
use crate::template::*;
use std::collections::BTreeMap;
use std::fmt;
use tiga_abi::Tier;

/// A budget of main memory that no schedule was found for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TooSmall {
    /// The program.
    pub program: String,
    /// What main memory was allowed; `None` without limit.
    pub budget: Option<u64>,
    /// What storage was allowed; `None` without limit.
    pub storage: Option<u64>,
    /// The smallest budget of main memory that a plan is found for; `None` if storage alone is too small.
    pub smallest: Option<u64>,
    /// The task that needs most at once.
    pub task: String,
    /// What it needs, the largest first: a value with its type, or what else takes memory, and its bytes.
    pub pinned: Vec<(String, u64)>,
}

impl fmt::Display for TooSmall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { program, budget, storage, smallest, task, pinned } = self;
        let limits = [("ram", budget), ("nvme", storage)].into_iter();
        let limits: Vec<String> =
            limits.filter_map(|(tier, bytes)| bytes.map(|bytes| format!("{tier}={bytes}B"))).collect();
        write!(f, "`{program}` does not fit into {}: ", limits.join(","))?;
        let Some(smallest) = smallest else {
            return f.write_str("more must be in storage, however much main memory there is");
        };
        // What cannot leave for want of storage is more than any task holds.
        match pinned.iter().map(|(_, bytes)| bytes).sum::<u64>() < *smallest {
            true => write!(f, "with so little storage it needs ram={smallest}B at least; task `{task}` holds at once")?,
            false => write!(f, "it needs ram={smallest}B at least, as task `{task}` holds at once")?,
        }
        for (index, (name, bytes)) in pinned.iter().take(NAMED).enumerate() {
            write!(f, "{} {name} ({bytes} B)", if index == 0 { "" } else { "," })?;
        }
        match pinned.len().saturating_sub(NAMED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// Of what a task holds, so many are named in the message.
const NAMED: usize = 5;

/// Bytes of main memory without which something cannot run, and for what.
#[derive(Clone, Debug, Default)]
struct Least {
    bytes: u64,
    task: String,
    pinned: Vec<(String, u64)>,
}

impl Fit<'_> {
    /// Finds the smallest budget that would do, and what asks for it.
    pub(super) fn too_small(&self, budget: Option<u64>) -> SpillError {
        let Least { bytes, task, mut pinned } = self.least(&self.template.root);
        let least = bytes.saturating_add(self.derived);
        if self.derived > 0 {
            pinned.push(("what is derived of graphs".into(), self.derived));
        }
        pinned.retain(|(_, bytes)| *bytes > 0);
        pinned.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let smallest = if self.within(least).is_some() { Some(least) } else { self.enough(least) };
        let storage = self.room.budgets.get(&Tier::Nvme).copied();
        let program = self.template.program.clone();
        SpillError::Small(Box::new(TooSmall { program, budget, storage, smallest, task, pinned }))
    }

    /// The smallest budget that does where storage is short, too: what cannot leave needs more room.
    fn enough(&self, least: u64) -> Option<u64> {
        // All that the plan owns is enough, if anything is.
        let mut enough = self.capacities.values().fold(least, |sum, bytes| sum.saturating_add(*bytes));
        self.within(enough)?;
        let mut short = least;
        while enough - short > 1 {
            let middle = short + (enough - short) / 2;
            if self.within(middle).is_some() {
                enough = middle;
            } else {
                short = middle;
            }
        }
        Some(enough)
    }

    /// What a body needs at least if all else can leave.
    fn least(&self, body: &Body) -> Least {
        let inner: BTreeMap<&str, Least> =
            body.tasks.values().map(|task| (task.name.as_str(), self.least_of(task))).collect();
        let own = |task: &Task| Peak::from([(Tier::Ram, inner.get(&*task.name).map_or(0, |own| own.bytes))]);
        let model = Model::new(self.template, body, &|id| self.capacities[id], &own);
        let Some(step) = model.widest() else { return Least::default() };
        self.widest(&model, step, inner.get(&*body.tasks[step.task].name))
    }

    /// What a task needs of its own.
    fn least_of(&self, task: &Task) -> Least {
        match &task.kind {
            TaskKind::Kernel { symbol, .. } => {
                let bytes = (self.room.scratch)(task);
                Least { bytes, task: task.name.clone(), pinned: vec![(format!("scratch memory of `{symbol}`"), bytes)] }
            }
            kind => {
                let bodies = kind.bodies().into_iter().map(|id| self.least(&self.template.bodies[id]));
                let most = bodies.max_by_key(|least| least.bytes).unwrap_or_default();
                if most.task.is_empty() { Least { task: task.name.clone(), ..most } } else { most }
            }
        }
    }

    fn widest(&self, model: &Model, step: &Step, own: Option<&Least>) -> Least {
        let Least { task, mut pinned, .. } = own.cloned().unwrap_or_default();
        for value in &step.uses {
            let value = &model.values[*value];
            let resource = &self.template.resources[value.resource];
            pinned.push((format!("`{}`: {}", resource.label(), resource.ty(self.room.sizes)), value.bytes));
        }
        Least { bytes: model.working_set(step), task, pinned }
    }
}
