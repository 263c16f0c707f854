//! The container: values, instructions, blocks and regions of one function, in arenas.

use crate::{Attrs, Block, Inst, Op, Region, Type, Value};
use cranelift_entity::PrimaryMap;
use std::sync::Arc;
use tiga_source::Loc;

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// A parameter of a block.
    Param(Block, u32),
    /// A result of an instruction.
    Result(Inst, u32),
}

/// A value.
#[derive(Clone, Debug)]
pub struct ValueData {
    /// Its type.
    pub ty: Type,
    /// Its definition.
    pub def: ValueDef,
    /// The name it prints under, if it has one.
    pub name: Option<Arc<str>>,
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct InstData {
    /// What it does.
    pub op: Op,
    /// What it reads.
    pub operands: Vec<Value>,
    /// What it defines.
    pub results: Vec<Value>,
    /// What else it carries.
    pub attrs: Attrs,
    /// Nested code.
    pub regions: Vec<Region>,
    /// Blocks it may jump to, with arguments.
    pub targets: Vec<(Block, Vec<Value>)>,
    /// Where it comes from.
    pub loc: Loc,
}

/// A block.
#[derive(Clone, Debug, Default)]
pub struct BlockData {
    /// Its parameters.
    pub params: Vec<Value>,
    /// Its instructions; the last one is a terminator.
    pub insts: Vec<Inst>,
}

/// A region.
#[derive(Clone, Debug, Default)]
pub struct RegionData {
    /// Its blocks; the first is the entry.
    pub blocks: Vec<Block>,
}

/// The code of a function or reducer.
#[derive(Clone, Debug, Default)]
pub struct Body {
    values: PrimaryMap<Value, ValueData>,
    insts: PrimaryMap<Inst, InstData>,
    blocks: PrimaryMap<Block, BlockData>,
    regions: PrimaryMap<Region, RegionData>,
}

impl Body {
    /// Without any code.
    pub fn new() -> Self {
        Self::default()
    }

    /// A value's data.
    pub fn value(&self, value: Value) -> &ValueData {
        &self.values[value]
    }

    /// A value's type.
    pub fn ty(&self, value: Value) -> &Type {
        &self.values[value].ty
    }

    /// How many instructions were made, also those that stand nowhere any more.
    pub fn inst_count(&self) -> usize {
        self.insts.len()
    }

    /// An instruction's data.
    pub fn inst(&self, inst: Inst) -> &InstData {
        &self.insts[inst]
    }

    /// An instruction's data, to change.
    pub fn inst_mut(&mut self, inst: Inst) -> &mut InstData {
        &mut self.insts[inst]
    }

    /// Takes the places away from all instructions.
    pub fn forget_places(&mut self) {
        self.insts.values_mut().for_each(|inst| inst.loc = Loc::unknown());
    }

    /// A block's data.
    pub fn block(&self, block: Block) -> &BlockData {
        &self.blocks[block]
    }

    /// A block's data, to change.
    pub fn block_mut(&mut self, block: Block) -> &mut BlockData {
        &mut self.blocks[block]
    }

    /// A region's data.
    pub fn region(&self, region: Region) -> &RegionData {
        &self.regions[region]
    }

    /// A region's entry block; every region has one.
    pub fn entry(&self, region: Region) -> Block {
        self.regions[region].blocks[0]
    }

    /// The instruction that defines a value, if one does.
    pub fn def(&self, value: Value) -> Option<Inst> {
        match self.values[value].def {
            ValueDef::Result(inst, _) => Some(inst),
            ValueDef::Param(..) => None,
        }
    }

    /// The only result of an instruction.
    pub fn result(&self, inst: Inst) -> Value {
        self.insts[inst].results[0]
    }

    /// A new region with an empty entry block.
    pub fn add_region(&mut self) -> Region {
        let region = self.regions.push(RegionData::default());
        self.add_block(region);
        region
    }

    /// A new block at the end of a region.
    pub fn add_block(&mut self, region: Region) -> Block {
        let block = self.blocks.push(BlockData::default());
        self.regions[region].blocks.push(block);
        block
    }

    /// A new parameter of a block.
    pub fn add_param(&mut self, block: Block, ty: Type, name: Option<Arc<str>>) -> Value {
        let index = self.blocks[block].params.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Param(block, index), name });
        self.blocks[block].params.push(value);
        value
    }

    /// A new instruction that stands nowhere yet and has no results yet.
    pub fn add_inst(&mut self, data: InstData) -> Inst {
        self.insts.push(data)
    }

    /// A new result of an instruction.
    pub fn add_result(&mut self, inst: Inst, ty: Type) -> Value {
        let index = self.insts[inst].results.len() as u32;
        let value = self.values.push(ValueData { ty, def: ValueDef::Result(inst, index), name: None });
        self.insts[inst].results.push(value);
        value
    }

    /// Names a value.
    pub fn set_name(&mut self, value: Value, name: Option<Arc<str>>) {
        self.values[value].name = name;
    }

    /// Changes a value's type (the verifier will check the uses).
    pub fn set_type(&mut self, value: Value, ty: Type) {
        self.values[value].ty = ty;
    }

    /// Drops the parameters of a block that `keep` refuses; nothing may use them.
    pub fn retain_params(&mut self, block: Block, keep: impl Fn(Value) -> bool) {
        let kept: Vec<Value> = self.blocks[block].params.iter().copied().filter(|v| keep(*v)).collect();
        for (i, value) in kept.iter().enumerate() {
            self.values[*value].def = ValueDef::Param(block, i as u32);
        }
        self.blocks[block].params = kept;
    }

    /// Drops the results of an instruction that `keep` refuses; nothing may use them.
    pub fn retain_results(&mut self, inst: Inst, keep: impl Fn(Value) -> bool) {
        let kept: Vec<Value> = self.insts[inst].results.iter().copied().filter(|v| keep(*v)).collect();
        for (i, value) in kept.iter().enumerate() {
            self.values[*value].def = ValueDef::Result(inst, i as u32);
        }
        self.insts[inst].results = kept;
    }

    /// All instructions under a region in printing order, nested ones after the one that holds them.
    pub fn walk(&self, region: Region) -> Vec<Inst> {
        let mut out = Vec::new();
        let mut stack: Vec<Inst> = self.insts_of(region).into_iter().rev().collect();
        while let Some(inst) = stack.pop() {
            out.push(inst);
            for nested in self.insts[inst].regions.iter().rev() {
                stack.extend(self.insts_of(*nested).into_iter().rev());
            }
        }
        out
    }

    fn insts_of(&self, region: Region) -> Vec<Inst> {
        self.regions[region].blocks.iter().flat_map(|b| self.blocks[*b].insts.iter().copied()).collect()
    }

    /// Replaces every use of `old` under a region.
    pub fn replace_uses(&mut self, region: Region, old: Value, new: Value) {
        for inst in self.walk(region) {
            let data = &mut self.insts[inst];
            let arguments = data.targets.iter_mut().flat_map(|(_, args)| args.iter_mut());
            for operand in data.operands.iter_mut().chain(arguments).filter(|v| **v == old) {
                *operand = new;
            }
        }
    }
}
