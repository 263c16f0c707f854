//! The law book of the loops level: in which order, over what.
//!
//! What a loops function no longer contains: `apply`, operators on fields, fields as values; threads and vectors it
//! does not contain yet.
//!
//! - Parameters are memory and relations; there is no result. A value is a small tensor, a relation or memory.
//! - A function is one `for`, perhaps after what it needs, then `return`; a `for` holds no other.
//! - Stores stand in the `for` itself, not in a reduction, and each iteration stores where no other does: at an index
//!   that is its own. So iterations may run in any order, at once.
//! - A function reads nothing that it stores to: a read gives the same wherever it stands.

use super::{At, Checker};
use crate::{Effect, Func, Inst, Space, Type, Value, ops};
use indexmap::IndexSet;

/// A law of the loops level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Rule {
    /// A parameter that is no memory or relation, or a result.
    #[error("a loops function takes memory and relations and returns nothing")]
    LoopsSignature,
    /// A field as a value, a vector or an address.
    #[error("a loops value is a small tensor, a relation or memory")]
    LoopsTypes,
    /// No `for`, several, one inside another, or work after it.
    #[error("a loops function is one `for`, then `return`")]
    OneFor,
    /// A store outside the `for`, or inside a reduction.
    #[error("stores stand in the `for` itself")]
    StrayStore,
    /// A store that another iteration makes as well.
    #[error("each iteration stores at an index of its own")]
    SharedStore,
    /// A read of memory that the function stores to.
    #[error("a function reads nothing that it stores to")]
    ReadOfStored,
}

/// Checks a loops function of sound structure.
pub(super) fn func(checker: &mut Checker<'_>, func: &Func) {
    let body = checker.body;
    if !func.results.is_empty() {
        checker.report(At::Owner, Rule::LoopsSignature, "it declares results");
    }
    for param in func.params() {
        if !matches!(body.ty(*param), Type::Buffer(_) | Type::Rel(_)) {
            checker.report(At::Value(*param), Rule::LoopsSignature, "");
        }
    }
    for value in checker.values(func.region) {
        let fits = match body.ty(value) {
            Type::Tensor(t) => t.set.is_none(),
            Type::Rel(_) | Type::Buffer(_) => true,
            Type::Vector(..) | Type::Ptr(_) => false,
        };
        if !fits {
            checker.report(At::Value(value), Rule::LoopsTypes, "");
        }
    }
    let main = one_for(checker, func);
    memory(checker, func, main);
}

/// The only `for`.
fn one_for(checker: &mut Checker<'_>, func: &Func) -> Option<Inst> {
    let body = checker.body;
    let insts = &body.block(body.entry(func.region)).insts;
    let main = insts.iter().copied().find(|i| body.inst(*i).op == ops::FOR);
    if main.is_none() {
        checker.report(At::Owner, Rule::OneFor, "there is none");
    }
    for inst in body.walk(func.region) {
        if body.inst(inst).op == ops::FOR && Some(inst) != main {
            checker.report(At::Inst(inst), Rule::OneFor, "another one");
        }
    }
    let after = insts.iter().skip_while(|i| Some(**i) != main).skip(1);
    for inst in after.filter(|i| body.inst(**i).op.effect() != Effect::Terminator && body.inst(**i).op != ops::FOR) {
        checker.report(At::Inst(*inst), Rule::OneFor, "work after it");
    }
    main
}

fn memory(checker: &mut Checker<'_>, func: &Func, main: Option<Inst>) {
    let body = checker.body;
    let region = main.and_then(|inst| body.inst(inst).regions.first());
    let inside: &[Inst] = region.map_or(&[], |region| &body.block(body.entry(*region)).insts);
    let mut stored: IndexSet<Value> = IndexSet::new();
    let all = body.walk(func.region);
    for inst in all.iter().filter(|i| body.inst(**i).op == ops::STORE) {
        stored.extend(body.inst(*inst).operands.get(1));
        if !inside.contains(inst) {
            checker.report(At::Inst(*inst), Rule::StrayStore, "");
        } else if !owns(checker, main, *inst) {
            checker.report(At::Inst(*inst), Rule::SharedStore, "");
        }
    }
    for inst in &all {
        let data = body.inst(*inst);
        let target = (data.op == ops::STORE).then_some(1);
        for (i, operand) in data.operands.iter().enumerate() {
            if Some(i) != target && stored.contains(operand) {
                checker.report(At::Inst(*inst), Rule::ReadOfStored, checker.names.value(*operand));
            }
        }
    }
}

/// Whether no other iteration has the first index of a store.
fn owns(checker: &Checker<'_>, main: Option<Inst>, store: Inst) -> bool {
    let body = checker.body;
    let Some(main) = main.map(|inst| body.inst(inst)) else { return false };
    let params = &body.block(body.entry(main.regions[0])).params;
    let own = match main.attrs.space() {
        None | Some(Space::Once) => return true,
        Some(Space::Rows(_) | Space::Blocks(..) | Space::Short(_) | Space::Leaves(_)) => 1,
        // The number of a long row and the row; the position of an edge and the edge.
        Some(Space::Long(_) | Space::Edges) => 2,
    };
    body.inst(store).operands.get(2).is_some_and(|index| params[..own.min(params.len())].contains(index))
}
