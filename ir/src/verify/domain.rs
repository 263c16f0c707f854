//! The law book of the domain level: what to compute, without order, memory or sizes.
//!
//! What a domain function no longer contains: names, inference variables, overloads; memory, lanes and addresses.
//!
//! - A value is a tensor, a field or a relation.
//! - The regions of an `apply` work on small tensors: what one edge or one node sees. From outside they take constants
//!   and extents only, so that an edge depends on its roles and nothing else.
//! - Calls form no cycle, and the arguments of a call fix every size of the callee: all of them can be inlined.

use super::{At, Checker, Law, Violation};
use crate::{Func, Inst, Level, Module, Region, Type, Value, ops};
use indexmap::IndexSet;
use tiga_abi::Symbol;

/// A law of the domain level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Rule {
    /// Memory, a vector or an address.
    #[error("a domain value is a tensor, a field or a relation")]
    DomainTypes,
    /// A field or relation inside an `apply`.
    #[error("inside an `apply` values are small tensors")]
    MessageField,
    /// A value from outside an `apply` that is no constant.
    #[error("an `apply` sees its parameters, constants and extents, nothing else from outside")]
    MessageCapture,
    /// A call of a program that has a size which no argument has.
    #[error("the arguments of a call fix every size of the callee")]
    FreeSize,
    /// A program that calls itself, at once or by others.
    #[error("calls form no cycle")]
    RecursiveCall,
}

/// Checks a domain function of sound structure.
pub(super) fn func(checker: &mut Checker<'_>, func: &Func) {
    let body = checker.body;
    for value in checker.values(func.region) {
        if !matches!(body.ty(value), Type::Tensor(_) | Type::Rel(_)) {
            checker.report(At::Value(value), Rule::DomainTypes, "");
        }
    }
    for inst in body.walk(func.region) {
        match body.inst(inst).op {
            op if op == ops::APPLY => body.inst(inst).regions.iter().for_each(|region| message(checker, *region)),
            op if op == ops::CALL => call(checker, inst),
            _ => {}
        }
    }
}

fn call(checker: &mut Checker<'_>, inst: Inst) {
    let data = checker.body.inst(inst);
    let Some(callee) = data.attrs.callee().and_then(|name| checker.module.funcs.get(name)) else { return };
    let params: Vec<&Type> = callee.params().iter().map(|v| callee.body.ty(*v)).collect();
    let args: Vec<&Type> = data.operands.iter().map(|v| checker.body.ty(*v)).collect();
    let Some(map) = ops::unify(&params, &args) else { return };
    for symbol in callee.symbols.keys().filter(|symbol| !map.contains_key(*symbol)) {
        checker.report(At::Inst(inst), Rule::FreeSize, symbol.to_string());
    }
}

fn message(checker: &mut Checker<'_>, region: Region) {
    let body = checker.body;
    let own: IndexSet<Value> = checker.values(region).into_iter().collect();
    for value in &own {
        if body.ty(*value).as_tensor().is_none_or(|t| t.set.is_some()) {
            checker.report(At::Value(*value), Rule::MessageField, "");
        }
    }
    for inst in body.walk(region) {
        for operand in body.inst(inst).operands.iter().filter(|v| !own.contains(*v)) {
            let constant = |inst: Inst| [ops::CONST, ops::LEN].contains(&body.inst(inst).op);
            if !body.def(*operand).is_some_and(constant) {
                checker.report(At::Inst(inst), Rule::MessageCapture, checker.names.value(*operand));
            }
        }
    }
}

/// Checks that no program calls itself.
pub(super) fn calls(module: &Module, found: &mut Vec<Violation>) {
    for func in module.funcs.values().filter(|f| f.level == Level::Domain) {
        let mut reached: IndexSet<Symbol> = callees(func).into_iter().collect();
        let mut next = 0;
        while let Some(name) = reached.get_index(next).cloned() {
            next += 1;
            reached.extend(module.funcs.get(&name).into_iter().flat_map(callees));
        }
        if reached.contains(&func.name) {
            found.push(Violation {
                owner: format!("domain @{}", func.name),
                at: format!("`@{}`", func.name),
                rule: Law::Domain(Rule::RecursiveCall),
                detail: String::new(),
                loc: func.loc.clone(),
            });
        }
    }
}

fn callees(func: &Func) -> Vec<Symbol> {
    let calls = func.body.walk(func.region).into_iter().filter(|i| func.body.inst(*i).op == ops::CALL);
    calls.filter_map(|i| func.body.inst(i).attrs.callee().cloned()).collect()
}
