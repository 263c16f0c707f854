//! Drops what nothing needs: instructions, values that loops and branches carry, parameters of blocks.
//!
//! Needed is what writes memory, what a function returns or jumps on, and whatever those depend on. Loops and branches
//! count by what they hold, not by their own effect: all of them end.

use super::each_body;
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use indexmap::{IndexMap, IndexSet};
use tiga_ir::{Block, Body, Effect, Inst, Level, Module, Region, Value, ValueDef, ops};

/// What nothing needs.
pub const PASS: Pass = Pass {
    name: "dce",
    about: "drops instructions and carried values that nothing needs",
    levels: LEVELS,
    makes: None,
    needed: false,
    run,
};

const LEVELS: &[Level] = &[Level::Domain, Level::Loops, Level::Kernel];

/// Keeps what is needed.
///
/// # Errors
/// None.
pub fn run(module: &Module, _: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    each_body(module, LEVELS, |body, region, _| {
        let needs = Needs::of(body, region);
        trim_blocks(body, region, &needs);
        sweep(body, region, &needs);
        Ok(())
    })
}

/// A loop or branch, by how its results, operands and regions hang together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Control {
    While,
    Repeat,
    If,
}

impl Control {
    fn of(body: &Body, inst: Inst) -> Option<Self> {
        match body.inst(inst).op {
            op if op == ops::WHILE => Some(Control::While),
            op if op == ops::REPEAT => Some(Control::Repeat),
            op if op == ops::IF => Some(Control::If),
            _ => None,
        }
    }

    /// Operands, and parameters of regions, before those of the carried values.
    fn leading(self) -> usize {
        usize::from(self == Control::Repeat)
    }

    /// Regions that yield the carried values or results.
    fn yielding(self, regions: &[Region]) -> &[Region] {
        if self == Control::While { &regions[1..] } else { regions }
    }
}

/// The last instruction of a region of one block.
fn last(body: &Body, region: Region) -> Inst {
    *body.block(body.entry(region)).insts.last().expect("verified: a block ends with a terminator")
}

/// What a body needs.
#[derive(Default)]
struct Needs {
    insts: IndexSet<Inst>,
    values: IndexSet<Value>,
    /// Numbers of needed results, by loop or branch.
    slots: IndexSet<(Inst, usize)>,
    /// The instruction around each block, and that around each instruction.
    owners: IndexMap<Block, Inst>,
    around: IndexMap<Inst, Inst>,
    /// Jumps to each block: instruction and number of the target.
    jumps: IndexMap<Block, Vec<(Inst, usize)>>,
    /// Values whose definitions are still to be looked at.
    work: Vec<Value>,
}

impl Needs {
    fn of(body: &Body, region: Region) -> Self {
        let mut needs = Needs::default();
        needs.survey(body, region, None);
        for inst in body.walk(region) {
            let data = body.inst(inst);
            let root = match data.op.effect() {
                Effect::Write => Control::of(body, inst).is_none(),
                Effect::Terminator => !needs.around.contains_key(&inst),
                Effect::Pure | Effect::Read => false,
            };
            if root {
                needs.inst(body, inst);
            }
        }
        while let Some(value) = needs.work.pop() {
            needs.definition(body, value);
        }
        needs
    }

    fn survey(&mut self, body: &Body, region: Region, owner: Option<Inst>) {
        for block in &body.region(region).blocks {
            if let Some(owner) = owner {
                self.owners.insert(*block, owner);
            }
            for inst in &body.block(*block).insts {
                if let Some(owner) = owner {
                    self.around.insert(*inst, owner);
                }
                for (i, (target, _)) in body.inst(*inst).targets.iter().enumerate() {
                    self.jumps.entry(*target).or_default().push((*inst, i));
                }
                for nested in &body.inst(*inst).regions {
                    self.survey(body, *nested, Some(*inst));
                }
            }
        }
    }

    fn value(&mut self, value: Value) {
        if self.values.insert(value) {
            self.work.push(value);
        }
    }

    fn values(&mut self, values: &[Value]) {
        values.iter().for_each(|v| self.value(*v));
    }

    /// The instruction runs: so does what is around it, and what decides it is needed.
    fn inst(&mut self, body: &Body, inst: Inst) {
        if !self.insts.insert(inst) {
            return;
        }
        if let Some(owner) = self.around.get(&inst).copied() {
            self.inst(body, owner);
        }
        let data = body.inst(inst);
        match Control::of(body, inst) {
            Some(Control::While) => self.values(&body.inst(last(body, data.regions[0])).operands),
            Some(Control::Repeat | Control::If) => self.value(data.operands[0]),
            None => {
                self.values(&data.operands);
                data.regions.iter().for_each(|region| self.values(&body.inst(last(body, *region)).operands));
            }
        }
    }

    fn definition(&mut self, body: &Body, value: Value) {
        match body.value(value).def {
            ValueDef::Result(inst, index) => {
                self.inst(body, inst);
                self.slot(body, inst, index as usize);
            }
            ValueDef::Param(block, index) => {
                let index = index as usize;
                for (jump, target) in self.jumps.get(&block).cloned().unwrap_or_default() {
                    self.value(body.inst(jump).targets[target].1[index]);
                }
                if let Some(owner) = self.owners.get(&block).copied()
                    && let Some(control) = Control::of(body, owner)
                    && let Some(slot) = index.checked_sub(control.leading())
                {
                    self.slot(body, owner, slot);
                }
            }
        }
    }

    /// A carried value: what it begins with, and what each round makes of it.
    fn slot(&mut self, body: &Body, inst: Inst, slot: usize) {
        let Some(control) = Control::of(body, inst) else { return };
        if !self.slots.insert((inst, slot)) {
            return;
        }
        let data = body.inst(inst);
        if control != Control::If {
            self.value(data.operands[control.leading() + slot]);
        }
        for region in control.yielding(&data.regions) {
            self.value(body.inst(last(body, *region)).operands[slot]);
        }
    }
}

/// Drops parameters of blocks, and what jumps pass for them.
fn trim_blocks(body: &mut Body, region: Region, needs: &Needs) {
    let blocks = body.region(region).blocks[1..].to_vec();
    let needed = |body: &Body, block: Block| -> Vec<bool> {
        body.block(block).params.iter().map(|v| needs.values.contains(v)).collect()
    };
    let kept: IndexMap<Block, Vec<bool>> = blocks.iter().map(|block| (*block, needed(body, *block))).collect();
    for inst in body.walk(region) {
        for (target, args) in &mut body.inst_mut(inst).targets {
            let mut kept = kept.get(target).into_iter().flatten();
            args.retain(|_| kept.next().copied().unwrap_or(true));
        }
    }
    for block in blocks {
        body.retain_params(block, |v| needs.values.contains(&v));
    }
}

/// Drops instructions, and what is not needed of those that stay.
fn sweep(body: &mut Body, region: Region, needs: &Needs) {
    for block in body.region(region).blocks.clone() {
        let mut kept = std::mem::take(&mut body.block_mut(block).insts);
        kept.retain(|i| body.inst(*i).op.effect() == Effect::Terminator || needs.insts.contains(i));
        for inst in &kept {
            if let Some(control) = Control::of(body, *inst) {
                trim(body, *inst, control, needs);
            }
            for nested in body.inst(*inst).regions.clone() {
                sweep(body, nested, needs);
            }
        }
        body.block_mut(block).insts = kept;
    }
}

/// Drops the carried values that nothing needs.
fn trim(body: &mut Body, inst: Inst, control: Control, needs: &Needs) {
    let kept: Vec<bool> = (0..body.inst(inst).results.len()).map(|slot| needs.slots.contains(&(inst, slot))).collect();
    let keep = |leading: usize, values: &[Value]| -> Vec<Value> {
        let kept = |i: usize| i < leading || kept.get(i - leading).copied().unwrap_or(false);
        values.iter().enumerate().filter(|(i, _)| kept(*i)).map(|(_, v)| *v).collect()
    };
    let data = body.inst(inst).clone();
    if control != Control::If {
        body.inst_mut(inst).operands = keep(control.leading(), &data.operands);
        for region in &data.regions {
            let block = body.entry(*region);
            let params = keep(control.leading(), &body.block(block).params);
            body.retain_params(block, |v| params.contains(&v));
        }
    }
    for region in control.yielding(&data.regions) {
        let last = last(body, *region);
        let yields = keep(0, &body.inst(last).operands);
        body.inst_mut(last).operands = yields;
    }
    let results = keep(0, &data.results);
    body.retain_results(inst, |v| results.contains(&v));
}
