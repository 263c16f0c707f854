//! Copies instructions from one body into another.

use crate::{Block, Body, Inst, InstData, Region, Value};
use indexmap::IndexMap;

/// A copy under way: what each value of the source is in the destination.
pub struct Transplant<'a> {
    source: &'a Body,
    /// Values of the destination by value of the source.
    pub values: IndexMap<Value, Value>,
    blocks: IndexMap<Block, Block>,
}

impl<'a> Transplant<'a> {
    /// A copy out of `source` with nothing copied yet.
    pub fn new(source: &'a Body) -> Self {
        Self { source, values: IndexMap::new(), blocks: IndexMap::new() }
    }

    /// The destination's value: the source's own if it was not mapped (a copy within one body).
    pub fn value(&self, value: Value) -> Value {
        self.values.get(&value).copied().unwrap_or(value)
    }

    /// Appends a copy of `inst`, with its regions, to `block` of `to`.
    pub fn inst(&mut self, inst: Inst, to: &mut Body, block: Block) -> Inst {
        let data = self.source.inst(inst);
        let regions = data.regions.iter().map(|r| self.region(*r, to)).collect();
        let target = |(b, args): &(Block, Vec<Value>)| {
            (self.blocks.get(b).copied().unwrap_or(*b), args.iter().map(|v| self.value(*v)).collect())
        };
        let copy = InstData {
            op: data.op,
            operands: data.operands.iter().map(|v| self.value(*v)).collect(),
            results: Vec::new(),
            attrs: data.attrs.clone(),
            regions,
            targets: data.targets.iter().map(target).collect(),
            loc: data.loc.clone(),
        };
        let new = to.add_inst(copy);
        for result in &data.results {
            let value = to.add_result(new, self.source.ty(*result).clone());
            to.set_name(value, self.source.value(*result).name.clone());
            self.values.insert(*result, value);
        }
        to.block_mut(block).insts.push(new);
        new
    }

    /// A copy of a region with all its blocks.
    pub fn region(&mut self, region: Region, to: &mut Body) -> Region {
        let new = to.add_region();
        for (i, block) in self.source.region(region).blocks.iter().enumerate() {
            let copy = if i == 0 { to.entry(new) } else { to.add_block(new) };
            self.blocks.insert(*block, copy);
            for param in &self.source.block(*block).params {
                let data = self.source.value(*param);
                let value = to.add_param(copy, data.ty.clone(), data.name.clone());
                self.values.insert(*param, value);
            }
        }
        for block in &self.source.region(region).blocks {
            for inst in &self.source.block(*block).insts {
                let to_block = self.blocks[block];
                self.inst(*inst, to, to_block);
            }
        }
        new
    }
}
