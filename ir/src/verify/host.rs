//! The law book of the host level: which tasks, on which memory.
//!
//! What a host function no longer contains: values that are not in memory, operators, `apply`.
//!
//! - A value is memory or a relation.
//! - Tasks write only memory that the function allocated; what it was given is borrowed.
//! - Memory is written, by a launch or copy, before anything reads it.
//! - A task is given memory that it writes once: it reads nothing that it writes.

use super::{At, Checker};
use crate::{Func, Inst, InstData, Region, Type, Value, ops};
use indexmap::IndexSet;

/// A law of the host level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Rule {
    /// A tensor, a vector or an address.
    #[error("a host value is memory or a relation")]
    HostTypes,
    /// Memory that some way reads before it is written.
    #[error("memory is written before it is read")]
    UnwrittenRead,
    /// A task that writes a parameter or what a loop carries.
    #[error("tasks write memory that their function allocated")]
    BorrowedWrite,
    /// Memory that a task writes, given to it twice.
    #[error("a task is given the memory it writes once")]
    AliasedWrite,
}

/// Checks a host function of sound structure.
pub(super) fn func(checker: &mut Checker<'_>, func: &Func) {
    for value in checker.values(func.region) {
        if !matches!(checker.body.ty(value), Type::Buffer(_) | Type::Rel(_)) {
            checker.report(At::Value(value), Rule::HostTypes, "");
        }
    }
    Writes { checker }.region(func.region, &mut IndexSet::new());
}

/// What a launch does with each of its operands.
struct Access {
    read: bool,
    written: bool,
}

/// Follows the writes in order.
struct Writes<'w, 'a> {
    checker: &'w mut Checker<'a>,
}

impl Writes<'_, '_> {
    /// Adds to `written` what certainly has been after the region.
    fn region(&mut self, region: Region, written: &mut IndexSet<Value>) {
        let body = self.checker.body;
        for inst in &body.block(body.entry(region)).insts {
            self.inst(*inst, written);
        }
    }

    fn inst(&mut self, inst: Inst, written: &mut IndexSet<Value>) {
        let data = self.checker.body.inst(inst);
        match data.op {
            op if op == ops::LAUNCH => self.launch(inst, written),
            op if op == ops::COPY => {
                self.read(inst, data.operands[0], written);
                self.write(inst, data.operands[1], written);
            }
            _ => data.operands.iter().for_each(|v| self.read(inst, *v, written)),
        }
        match (data.op, data.regions.as_slice()) {
            // The condition runs at least once, the body perhaps never.
            (op, [condition, body]) if op == ops::WHILE => {
                self.region(*condition, written);
                self.region(*body, &mut written.clone());
            }
            (op, [then, otherwise]) if op == ops::IF => {
                let mut left = written.clone();
                self.region(*then, &mut left);
                self.region(*otherwise, written);
                written.retain(|v| left.contains(v));
            }
            (_, regions) => regions.iter().for_each(|region| self.region(*region, &mut written.clone())),
        }
    }

    fn launch(&mut self, inst: Inst, written: &mut IndexSet<Value>) {
        let data = self.checker.body.inst(inst);
        let accesses = self.accesses(data);
        for (i, operand) in data.operands.iter().enumerate() {
            if accesses.get(i).is_some_and(|a| a.read) {
                self.read(inst, *operand, written);
            }
        }
        for (i, operand) in data.operands.iter().enumerate() {
            if accesses.get(i).is_some_and(|a| a.written) {
                self.write(inst, *operand, written);
                if data.operands.iter().filter(|v| *v == operand).count() > 1 {
                    self.checker.report(At::Inst(inst), Rule::AliasedWrite, self.checker.names.value(*operand));
                }
            }
        }
    }

    /// How the callee touches its parameters.
    fn accesses(&self, data: &InstData) -> Vec<Access> {
        let callee = data.attrs.callee().and_then(|name| self.checker.module.funcs.get(name));
        let Some(func) = callee else { return Vec::new() };
        let mut read: IndexSet<Value> = IndexSet::new();
        let mut written: IndexSet<Value> = IndexSet::new();
        for inst in func.body.walk(func.region) {
            let data = func.body.inst(inst);
            let stored = (data.op == ops::STORE).then(|| data.operands.get(1)).flatten();
            written.extend(stored);
            read.extend(data.operands.iter().filter(|v| Some(*v) != stored));
        }
        func.params().iter().map(|v| Access { read: read.contains(v), written: written.contains(v) }).collect()
    }

    /// Parameters, and what a loop carries, have been written by whoever gave them.
    fn read(&mut self, inst: Inst, value: Value, written: &IndexSet<Value>) {
        if self.allocated(value) && !written.contains(&value) {
            self.checker.report(At::Inst(inst), Rule::UnwrittenRead, self.checker.names.value(value));
        }
    }

    fn write(&mut self, inst: Inst, value: Value, written: &mut IndexSet<Value>) {
        if !self.allocated(value) {
            self.checker.report(At::Inst(inst), Rule::BorrowedWrite, self.checker.names.value(value));
        }
        written.insert(value);
    }

    fn allocated(&self, value: Value) -> bool {
        let body = self.checker.body;
        body.def(value).is_some_and(|inst| body.inst(inst).op == ops::ALLOC)
    }
}
