//! Runs where memory has tiers: transfers beside other tasks, each task as soon as those it waits for are complete.

use super::Execution;
use crate::error::PlanProblem;
use crate::managed::{Managed, MemoryUse};
use crate::memory::{Hierarchy, Instance};
use crate::ready::{Ready, TaskOrder};
use crate::{LogLevel, RuntimeError};
use cranelift_entity::EntityRef;
use tiga_plan::{Body, Owner, ResourceId, Task, TaskId, TaskKind};

impl<'c> Execution<'c, '_> {
    /// The same run in a hierarchy, from which all that the plan owns will come.
    pub(crate) fn in_hierarchy(
        mut self,
        hierarchy: &'c Hierarchy,
        mut expected: MemoryUse,
    ) -> Result<Self, RuntimeError> {
        let resources = self.plan.resources.iter().filter(|(_, resource)| resource.owner == Owner::Borrowed);
        let slots = resources.filter_map(|(id, _)| self.frame.slots[id.index()]);
        expected.borrowed = slots.map(|slot| slot.bytes as u64).sum();
        self.managed = Some(Managed::new(hierarchy, expected)?);
        Ok(self)
    }

    /// What a run in a hierarchy has used.
    pub(crate) fn memory_use(&self) -> Option<MemoryUse> {
        self.managed.as_ref().map(|managed| managed.used.clone())
    }

    pub(super) fn body_in_tiers(&mut self, number: usize, body: &'c Body) -> Result<(), RuntimeError> {
        let order = self.context.tasks;
        let is_transfer = |task: usize| body.tasks[TaskId::new(task)].kind == TaskKind::Transfer;
        let mut ready = Ready::new(self.steps.dag(number), order, &is_transfer);
        let run = self.managed().begin_body();
        while !ready.is_done() {
            let cancel = self.call.cancel.as_ref();
            while let Some(task) = self.managed().arrived(run, false, cancel)? {
                self.arrived(body, task);
                ready.complete(task, &is_transfer);
            }
            let next = ready.next();
            let Some(task) = next else {
                let cancel = self.call.cancel.as_ref();
                let ended = self.managed().arrived(run, true, cancel)?;
                let ended = ended.ok_or_else(|| self.problem(PlanProblem::Stuck(body.name.clone())))?;
                self.arrived(body, ended);
                ready.complete(ended, &is_transfer);
                continue;
            };
            if !is_transfer(task) {
                self.one(number, body, TaskId::new(task))?;
                ready.complete(task, &is_transfer);
                continue;
            }
            self.begin_transfer((run, task), &body.tasks[TaskId::new(task)])?;
            if order == TaskOrder::Serial {
                let cancel = self.call.cancel.as_ref();
                while let Some(ended) = self.managed().arrived(run, true, cancel)? {
                    self.arrived(body, ended);
                    ready.complete(ended, &is_transfer);
                }
            }
        }
        Ok(())
    }

    fn managed(&mut self) -> &mut Managed<'c> {
        self.managed.as_mut().expect("bodies run here in hierarchies only")
    }

    /// A transfer of this body has ended.
    fn arrived(&mut self, body: &Body, task: usize) {
        self.report(&body.tasks[TaskId::new(task)].name);
    }

    fn begin_transfer(&mut self, number: (u64, usize), task: &Task) -> Result<(), RuntimeError> {
        self.look()?;
        self.allocate_written(task)?;
        let [source, destination] = [0, 1].map(|argument| self.instance(task.args[argument].resource));
        let (source, destination) = (source?, destination?);
        self.context.log(LogLevel::Debug, || {
            let (bytes, from, to) = (source.capacity(), source.tier(), destination.tier());
            format!("transfer `{}`: `{}`, {bytes} bytes from {from} to {to}", task.name, source.logical_name())
        });
        self.managed().transfer(number, &source, &destination)
    }

    fn instance(&self, id: ResourceId) -> Result<Instance, RuntimeError> {
        let name = || self.plan.resources[id].binding();
        let instance = self.frame.instances[id.index()].clone();
        instance.ok_or_else(|| self.problem(PlanProblem::Unwritten(name())))
    }
}
