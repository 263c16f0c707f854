//! A plan made to fit into the budgets of a hierarchy, at the sizes of one call.

use crate::admit::check_instances;
use crate::bindings::Bindings;
use crate::managed::{MemoryUse, TierUse};
use crate::memory::Hierarchy;
use crate::steps::Steps;
use crate::{Bundle, Context, RuntimeError, TaskOrder};
use std::sync::Arc;
use tiga_abi::Tier;
use tiga_bundle::Program;
use tiga_plan::passes::{Budgets, Room, SpillError, schedule_spills};
use tiga_plan::{Task, TaskKind, Template, Units};

/// A plan for budgets, with what it says of its memory.
#[derive(Debug)]
pub(crate) struct Fitted {
    pub(crate) plan: Template,
    pub(crate) steps: Steps,
    /// What is enough when tasks run one after the other in execution order, and in any order.
    in_order: Budgets,
    in_any: Budgets,
    budgets: Budgets,
    /// Worker threads that scratch memory was counted for.
    threads: usize,
    /// Bytes of what graphs hold for the plan.
    derived: u64,
}

impl Fitted {
    /// # Errors
    /// The budgets are too small; a size without value; the plan cannot run here.
    pub(crate) fn new(
        bundle: &Bundle,
        program: &Program,
        plan: &Template,
        (bindings, derived): (&Bindings, u64),
        context: &Context,
        hierarchy: &Hierarchy,
    ) -> Result<Arc<Self>, RuntimeError> {
        let sizes = |size: &str| bindings.sizes.get(program, size);
        let threads = context.threads();
        let kernels = &bundle.manifest().kernels;
        let scratch = |task: &Task| {
            let TaskKind::Kernel { symbol, units, .. } = &task.kind else { return 0 };
            let kernel = kernels.iter().find(|kernel| kernel.symbol == *symbol);
            // What has no value here has none at the launch, which says so.
            let bytes = kernel.and_then(|kernel| kernel.scratch.eval(&sizes).ok()).unwrap_or(0).unsigned_abs();
            bytes.saturating_mul(workers(units, &sizes, threads))
        };
        let budgets = budgets(hierarchy);
        let room = Room { sizes: &sizes, scratch: &scratch, derived: Some(derived), budgets: &budgets };
        let plan = schedule_spills(plan, room).map_err(|error| refused(program, error))?;
        check_instances(&plan, &sizes).map_err(|reason| plan_problem(program, reason))?;
        let (in_order, in_any) = tiga_plan::passes::peaks(&plan, room).map_err(|error| refused(program, error))?;
        let steps = Steps::new(&bundle.inner, program, &plan)?;
        Ok(Arc::new(Self { plan, steps, in_order, in_any, budgets, threads, derived }))
    }

    /// Whether it fits what a run asks for now.
    pub(crate) fn serves(&self, context: &Context, hierarchy: &Hierarchy) -> bool {
        self.threads >= context.threads() && self.budgets == budgets(hierarchy)
    }

    /// What a run is expected to use.
    pub(crate) fn expected(&self, order: TaskOrder) -> MemoryUse {
        let peaks = if order == TaskOrder::Serial { &self.in_order } else { &self.in_any };
        let mut used = MemoryUse { derived: self.derived, ..MemoryUse::default() };
        for tier in [Tier::Ram, Tier::Nvme] {
            let own = if tier == Tier::Ram { self.derived } else { 0 };
            let predicted = peaks.get(&tier).copied().unwrap_or(0) + own;
            used.tiers.insert(tier, TierUse { predicted, peak: 0, budget: self.budgets.get(&tier).copied() });
        }
        used
    }
}

/// Threads that run units at once, each with scratch memory of its own.
pub(crate) fn workers(units: &Units, sizes: &dyn Fn(&str) -> Option<i64>, threads: usize) -> u64 {
    let most = units.count(sizes).ok().flatten().map_or(u64::MAX, |count| count.max(1).unsigned_abs());
    most.min(threads as u64)
}

fn budgets(hierarchy: &Hierarchy) -> Budgets {
    [Tier::Ram, Tier::Nvme].into_iter().filter_map(|tier| Some((tier, hierarchy.budget(tier)?))).collect()
}

fn refused(program: &Program, error: SpillError) -> RuntimeError {
    match error {
        SpillError::Small(small) => RuntimeError::Budget(small),
        SpillError::Instantiate(reason) => plan_problem(program, reason.into()),
        SpillError::Broken(broken) => plan_problem(program, crate::PlanProblem::Broken(Box::new(broken))),
    }
}

fn plan_problem(program: &Program, reason: crate::PlanProblem) -> RuntimeError {
    RuntimeError::Plan { program: program.name.clone(), reason }
}
