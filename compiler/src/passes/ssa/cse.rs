//! Merges instructions that compute the same from the same operands.
//!
//! A read may be merged where no function reads what it stores to: on the loops level (a law of its verifier). What an
//! `apply` computes for an edge or a node is kept apart from its surroundings, from which it may take constants only.

use super::each_body;
use super::replace::Replacements;
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use indexmap::IndexMap;
use std::fmt::Write;
use tiga_ir::{Body, Effect, Inst, Level, Module, Region, Value, ops};

/// Equal computations once.
pub const PASS: Pass = Pass {
    name: "cse",
    about: "merges instructions that compute the same",
    levels: LEVELS,
    makes: None,
    needed: false,
    run,
};

const LEVELS: &[Level] = &[Level::Domain, Level::Loops];

/// Keeps the first of equal instructions.
///
/// # Errors
/// None.
pub fn run(module: &Module, _: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    each_body(module, LEVELS, |body, region, level| {
        let reads = level == Some(Level::Loops);
        Merger { body, reads, replaced: Replacements::default(), scopes: Vec::new() }.region(region);
        Ok(())
    })
}

/// One walk over a body.
struct Merger<'a> {
    body: &'a mut Body,
    /// Whether reads may be merged.
    reads: bool,
    replaced: Replacements,
    /// What is computed already in the regions around, by what it computes.
    scopes: Vec<IndexMap<String, Inst>>,
}

impl Merger<'_> {
    fn region(&mut self, region: Region) {
        // The entry dominates the other blocks, which see nothing of each other.
        let depth = self.scopes.len();
        for block in self.body.region(region).blocks.clone() {
            self.scopes.truncate(depth + 1);
            self.scopes.push(IndexMap::new());
            for inst in std::mem::take(&mut self.body.block_mut(block).insts) {
                if !self.merged(inst) {
                    self.body.block_mut(block).insts.push(inst);
                }
            }
        }
        self.scopes.truncate(depth);
    }

    /// Whether an equal instruction stands for this one now.
    fn merged(&mut self, inst: Inst) -> bool {
        self.replaced.apply(self.body, inst);
        let outer = (self.body.inst(inst).op == ops::APPLY).then(|| std::mem::take(&mut self.scopes));
        for region in self.body.inst(inst).regions.clone() {
            self.region(region);
        }
        if let Some(outer) = outer {
            self.scopes = outer;
        }
        let mut key = String::new();
        if self.body.inst(inst).op.effect() == Effect::Terminator || !self.key(inst, &mut IndexMap::new(), &mut key) {
            return false;
        }
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(&key).copied());
        let Some(first) = known else {
            self.scopes.last_mut().expect("an instruction stands in a region").insert(key, inst);
            return false;
        };
        let pairs = self.body.inst(inst).results.clone().into_iter().zip(self.body.inst(first).results.clone());
        for (old, new) in pairs {
            self.replaced.set(self.body, old, new);
        }
        true
    }

    /// Writes what an instruction computes, with values defined inside it numbered in order; false if that is not all
    /// it does.
    fn key(&self, inst: Inst, inside: &mut IndexMap<Value, usize>, out: &mut String) -> bool {
        let data = self.body.inst(inst);
        let mergeable = match data.op.effect() {
            Effect::Pure | Effect::Terminator => true,
            Effect::Read => self.reads,
            Effect::Write => false,
        };
        if !mergeable {
            return false;
        }
        let name = |v: &Value| inside.get(v).map_or_else(|| v.to_string(), |number| format!("#{number}"));
        let mut operands: Vec<String> = data.operands.iter().map(name).collect();
        if data.op.elementwise().is_some_and(|e| e.commutative()) {
            operands.sort_unstable();
        }
        let types: Vec<String> = data.results.iter().map(|v| self.body.ty(*v).to_string()).collect();
        let attrs: Vec<String> = data.attrs.iter().map(|(key, attr)| format!("{}({attr})", key.name())).collect();
        let (operands, attrs, types) = (operands.join(","), attrs.join(","), types.join(","));
        write!(out, "{} {operands};{attrs};{types}", data.op.name()).expect("writing to a string cannot fail");
        for region in &data.regions {
            out.push('{');
            let block = self.body.block(self.body.entry(*region));
            for param in &block.params {
                inside.insert(*param, inside.len());
                write!(out, "{},", self.body.ty(*param)).expect("writing to a string cannot fail");
            }
            for nested in &block.insts {
                if !self.key(*nested, inside, out) {
                    return false;
                }
                out.push('\n');
            }
            out.push('}');
        }
        for result in &data.results {
            inside.insert(*result, inside.len());
        }
        true
    }
}
