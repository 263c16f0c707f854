//! Loops and branches as tasks with bodies.

use super::tasks::access;
use super::{LowerError, Planner, Scope, task_name};
use tiga_ir::{Inst, TensorType, Value, ops};
use tiga_plan::{Body, Count, Mode, Owner, Phase, ResourceId, Rotation, Task, TaskKind, Trip};

impl Planner<'_> {
    /// Whether a loop may use a value's memory as its own: the value was made for it, and nobody reads it afterwards.
    pub(super) fn takes_over(&self, inst: Inst, value: Value) -> bool {
        let body = &self.host.body;
        let data = body.inst(inst);
        let carried = match data.op {
            op if op == ops::WHILE => &data.operands[..],
            op if op == ops::REPEAT => &data.operands[1..],
            _ => return false,
        };
        let own = body.def(value).is_some_and(|d| body.inst(d).op == ops::ALLOC);
        let once = carried.iter().filter(|v| **v == value).count() == 1;
        own && once && self.uses[&value].last() == Some(&inst) && self.same_block(value, inst)
    }

    /// Whether a value and an instruction stand in one block (a loop in a nested block runs more than once).
    fn same_block(&self, value: Value, inst: Inst) -> bool {
        let body = &self.host.body;
        let regions = body.walk(self.host.region).into_iter().flat_map(|i| body.inst(i).regions.clone());
        let mut blocks = std::iter::once(self.host.region).chain(regions).flat_map(|r| body.region(r).blocks.clone());
        let def = body.def(value);
        blocks.any(|b| body.block(b).insts.contains(&inst) && def.is_some_and(|d| body.block(b).insts.contains(&d)))
    }

    fn tensor(&self, value: Value) -> TensorType {
        self.host.body.ty(value).as_buffer().expect("verified: loops carry memory").clone()
    }

    /// The two buffers of a carried value in the parent: the first holds the initial value.
    fn carried(
        &mut self,
        inst: Inst,
        value: Value,
        scope: &Scope,
        body: &mut Body,
    ) -> Result<(ResourceId, ResourceId), LowerError> {
        let ty = self.tensor(value);
        let initial = self.memory(scope, value)?;
        let first = if self.takes_over(inst, value) {
            initial
        } else {
            let own = self.owned(&ty);
            self.copy(initial, own, body);
            own
        };
        Ok((first, self.owned(&ty)))
    }

    /// Lowers `init` into rotations; inside, the parameters of the body's block stand for the read handles.
    fn rotations(
        &mut self,
        inst: Inst,
        init: &[Value],
        scope: &Scope,
        body: &mut Body,
        stem: &str,
    ) -> Result<Vec<Rotation>, LowerError> {
        // Handles are no part of a graph: `g.loop0` would be one of a graph `g` in a program `g`.
        let stem = stem.rsplit('.').next().unwrap_or(stem);
        let mut out = Vec::new();
        for (i, value) in init.iter().enumerate() {
            let (a, b) = self.carried(inst, *value, scope, body)?;
            let ty = self.tensor(*value);
            let read = self.resource(&format!("%{stem}.in{i}"), &ty, Owner::Borrowed);
            let write = self.resource(&format!("%{stem}.out{i}"), &ty, Owner::Borrowed);
            out.push(Rotation { read, write, a, b });
        }
        Ok(out)
    }

    fn loop_name(&mut self) -> String {
        self.loops += 1;
        format!("{}.loop{}", self.host.name, self.loops - 1)
    }

    pub(super) fn while_loop(&mut self, inst: Inst, scope: &mut Scope, body: &mut Body) -> Result<(), LowerError> {
        let data = self.host.body.inst(inst).clone();
        let name = self.loop_name();
        let rotate = self.rotations(inst, &data.operands, scope, body, &name)?;
        let condition = self.owned(&TensorType::scalar(tiga_abi::DType::Bool));
        let first: Vec<ResourceId> = rotate.iter().map(|r| r.a).collect();
        self.condition(inst, &first, condition, scope, body)?;
        let mut round = Body { name, ..Body::default() };
        self.round(inst, 1, 0, &rotate, scope, &mut round)?;
        let next: Vec<ResourceId> = rotate.iter().map(|r| r.write).collect();
        self.condition(inst, &next, condition, scope, &mut round)?;
        let at_most = Count::Const(*data.attrs.at_most().expect("verified: while has at_most"));
        self.push_loop(&data.results, round, rotate, Trip::While { condition, at_most }, scope, body);
        Ok(())
    }

    /// The condition's launches, on given values, leaving the decision in `target`.
    fn condition(
        &mut self,
        inst: Inst,
        values: &[ResourceId],
        target: ResourceId,
        scope: &Scope,
        body: &mut Body,
    ) -> Result<(), LowerError> {
        let block = self.host.body.entry(self.host.body.inst(inst).regions[0]);
        let mut inner = scope.clone();
        let params = &self.host.body.block(block).params;
        inner.memory.extend(params.iter().copied().zip(values.iter().copied()));
        self.block(block, &mut inner, body, &[target])
    }

    /// One round: region `region`, whose first `skip` parameters are not carried.
    fn round(
        &mut self,
        inst: Inst,
        region: usize,
        skip: usize,
        rotate: &[Rotation],
        scope: &Scope,
        round: &mut Body,
    ) -> Result<(), LowerError> {
        let block = self.host.body.entry(self.host.body.inst(inst).regions[region]);
        let mut inner = scope.clone();
        let params = &self.host.body.block(block).params[skip..];
        inner.memory.extend(params.iter().copied().zip(rotate.iter().map(|r| r.read)));
        let targets: Vec<ResourceId> = rotate.iter().map(|r| r.write).collect();
        self.block(block, &mut inner, round, &targets)
    }

    fn push_loop(
        &mut self,
        results: &[Value],
        round: Body,
        rotate: Vec<Rotation>,
        trip: Trip,
        scope: &mut Scope,
        body: &mut Body,
    ) {
        scope.memory.extend(results.iter().copied().zip(rotate.iter().map(|r| r.a)));
        let inner = self.template.bodies.push(round);
        body.tasks.push(Task {
            name: task_name(body, "loop"),
            kind: TaskKind::Loop { body: inner, rotate, trip },
            phase: Phase::Execute,
            after: Vec::new(),
            room_after: Vec::new(),
            args: Vec::new(),
            accesses: Vec::new(),
        });
    }

    pub(super) fn repeat(&mut self, inst: Inst, scope: &mut Scope, body: &mut Body) -> Result<(), LowerError> {
        let data = self.host.body.inst(inst).clone();
        let name = self.loop_name();
        let count = self.memory(scope, data.operands[0])?;
        let rotate = self.rotations(inst, &data.operands[1..], scope, body, &name)?;
        let mut round = Body { name, ..Body::default() };
        self.round(inst, 0, 1, &rotate, scope, &mut round)?;
        self.push_loop(&data.results, round, rotate, Trip::Counted(Count::Resource(count)), scope, body);
        Ok(())
    }

    /// `if`: both sides write the same memory of the parent.
    pub(super) fn branch(&mut self, inst: Inst, scope: &mut Scope, body: &mut Body) -> Result<(), LowerError> {
        let data = self.host.body.inst(inst).clone();
        let condition = self.memory(scope, data.operands[0])?;
        let mut targets = Vec::new();
        for result in &data.results {
            let target = match scope.memory.get(result) {
                Some(target) => *target,
                None => self.owned(&self.tensor(*result)),
            };
            targets.push(target);
        }
        let mut sides = Vec::new();
        let number = self.loops;
        self.loops += 1;
        for (region, side) in data.regions.iter().zip(["then", "else"]) {
            let mut inner = scope.clone();
            let mut branch = Body { name: format!("{}.{side}{}", self.host.name, number), ..Body::default() };
            self.block(self.host.body.entry(*region), &mut inner, &mut branch, &targets)?;
            sides.push(self.template.bodies.push(branch));
        }
        scope.memory.extend(data.results.iter().copied().zip(targets));
        body.tasks.push(Task {
            name: task_name(body, "if"),
            kind: TaskKind::Branch { condition, then_body: sides[0], else_body: sides[1] },
            phase: Phase::Execute,
            after: Vec::new(),
            room_after: Vec::new(),
            args: Vec::new(),
            accesses: vec![access(condition, Mode::Read, None)],
        });
        Ok(())
    }
}
