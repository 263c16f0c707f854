//! What an instruction does together with its surroundings: cells of the coverage that no operator's name shows.

use super::program::two_sets;
use super::shrink::used;
use tiga_abi::DType;
use tiga_ir::{Body, Func, InstData, RelKind, RelType, Role, TensorType, Value, joined, ops};

/// What reducers yield.
const NUMBERS: [DType; 6] = [DType::I32, DType::I64, DType::F16, DType::BF16, DType::F32, DType::F64];

/// Each pattern, with the element types that it must be met on.
pub(super) const PATTERNS: [(&str, &[DType]); 22] = [
    ("apply: an edge field of a transpose", &DType::ALL),
    ("apply: 2 messages", &DType::ALL),
    ("apply: 3 messages", &DType::ALL),
    ("apply: a node reads several totals", &NUMBERS),
    ("apply: a node has several results", &DType::ALL),
    ("apply: between two sets", &DType::ALL),
    ("apply: to the other set", &DType::ALL),
    ("apply: a second graph on one set", &DType::ALL),
    ("apply: a second graph, back", &DType::ALL),
    ("apply: a second graph among sources", &DType::ALL),
    ("apply: a second graph among destinations", &DType::ALL),
    ("apply: with self-loops", &DType::ALL),
    ("apply: an edge field of self-loops", &DType::ALL),
    ("apply: side by side", &DType::ALL),
    ("apply: an edge field of two side by side", &DType::ALL),
    ("field on a joined set", &DType::ALL),
    ("field of sources", &DType::ALL),
    ("field of edges", &DType::ALL),
    ("repeat: the round is read", &[DType::I64]),
    ("repeat: a computed number", &[DType::I64]),
    ("call: a later result", &DType::ALL),
    ("call: features twice as wide", &DType::ALL),
];

type Found = Vec<(&'static str, Option<DType>)>;

/// The patterns that an instruction of a function is part of.
pub(super) fn patterns(func: &Func, data: &InstData) -> Found {
    let body = &func.body;
    let mut found = match data.op {
        op if op == ops::APPLY => of_apply(func, data),
        op if op == ops::REPEAT => of_repeat(body, data),
        op if op == ops::CALL => of_call(func, data),
        _ => Vec::new(),
    };
    let rel = func.params().iter().find_map(|v| body.ty(*v).as_rel());
    for ty in data.results.iter().filter_map(|v| body.ty(*v).as_tensor()).filter(|t| t.set.is_some()) {
        if ty.set.as_ref().is_some_and(|set| joined::is_joined(set)) {
            found.push(("field on a joined set", Some(ty.dtype)));
        } else if ty.set.as_ref() == rel.map(|r| &r.edges) {
            found.push(("field of edges", Some(ty.dtype)));
        } else if two_sets(func) && ty.set.as_ref() == rel.map(|r| &r.src) {
            found.push(("field of sources", Some(ty.dtype)));
        }
    }
    found
}

fn dtype(body: &Body, value: Value) -> Option<DType> {
    body.ty(value).dtype()
}

fn of_apply(func: &Func, data: &InstData) -> Found {
    let body = &func.body;
    let mut found = Vec::new();
    let (Some(rel), Some(roles)) = (body.ty(data.operands[0]).as_rel(), data.attrs.roles()) else { return found };
    let params = |index: usize| body.block(body.entry(data.regions[index])).params.clone();
    let yields = |index: usize| {
        let last = body.block(body.entry(data.regions[index])).insts.last();
        last.map(|last| body.inst(*last).operands.clone()).unwrap_or_default()
    };
    let read = used(body, data.regions[0]);
    for (param, role) in params(0).into_iter().zip(roles) {
        if *role == Role::Edge && rel.kind == RelKind::Transpose && read.contains(&param) {
            found.push(("apply: an edge field of a transpose", dtype(body, param)));
        }
        if *role == Role::Edge && joined::is_joined(&rel.edges) && read.contains(&param) {
            let loops = "apply: an edge field of self-loops";
            let side = "apply: an edge field of two side by side";
            found.push((if joined::is_joined(&rel.dst) { side } else { loops }, dtype(body, param)));
        }
    }
    let of_relation = of_relation(func, rel);
    let messages = yields(0);
    let count = ["", "", "apply: 2 messages", "apply: 3 messages"][messages.len().min(3)];
    let two_sets = if rel.kind == RelKind::Transpose { "apply: to the other set" } else { "apply: between two sets" };
    for message in &messages {
        found.extend((messages.len() > 1).then(|| (count, dtype(body, *message))));
        found.extend((rel.src != rel.dst).then(|| (two_sets, dtype(body, *message))));
        found.extend(of_relation.map(|name| (name, dtype(body, *message))));
    }
    if let Some(node) = data.regions.get(1) {
        let read = used(body, *node);
        let totals = params(1).into_iter().take(messages.len()).filter(|v| read.contains(v)).collect::<Vec<_>>();
        let results = yields(1);
        let several = |name, values: &[Value]| -> Found {
            let each = values.iter().map(|v| (name, dtype(body, *v)));
            if values.len() > 1 { each.collect() } else { Vec::new() }
        };
        found.extend(several("apply: a node reads several totals", &totals));
        found.extend(several("apply: a node has several results", &results));
    }
    found
}

/// Which relation a message is on, if it is not of the first graph alone.
fn of_relation(func: &Func, rel: &RelType) -> Option<&'static str> {
    let first = func.params().iter().find_map(|v| func.body.ty(*v).as_rel())?;
    if joined::is_joined(&rel.dst) {
        return Some("apply: side by side");
    }
    if joined::is_joined(&rel.edges) {
        return Some("apply: with self-loops");
    }
    if rel.edges == first.edges {
        return None;
    }
    Some(match (rel.src == first.src, rel.dst == first.dst) {
        _ if first.src == first.dst => "apply: a second graph on one set",
        (true, false) => "apply: a second graph among sources",
        (false, true) => "apply: a second graph among destinations",
        // Its transpose leads where the first one does.
        _ => "apply: a second graph, back",
    })
}

fn of_repeat(body: &Body, data: &InstData) -> Found {
    let round = body.block(body.entry(data.regions[0])).params[0];
    let read = used(body, data.regions[0]).contains(&round);
    let computed = body.def(data.operands[0]).is_none_or(|inst| body.inst(inst).op != ops::CONST);
    let cells = [(read, "repeat: the round is read"), (computed, "repeat: a computed number")];
    cells.into_iter().filter(|(holds, _)| *holds).map(|(_, name)| (name, Some(DType::I64))).collect()
}

/// Results after the first that something uses, and arguments whose width is no symbol of the caller.
fn of_call(func: &Func, data: &InstData) -> Found {
    let body = &func.body;
    let mut found = Vec::new();
    let read = used(body, func.region);
    let later = data.results.iter().skip(1).filter(|v| read.contains(v));
    found.extend(later.map(|v| ("call: a later result", dtype(body, *v))));
    let is_wide = |t: &TensorType| t.dims.iter().any(|d| d.as_symbol().is_none() && d.as_constant().is_none());
    for ty in data.operands.iter().filter_map(|v| body.ty(*v).as_tensor()) {
        found.extend(is_wide(ty).then_some(("call: features twice as wide", Some(ty.dtype))));
    }
    found
}
