//! Drops operands of messages that their functions do not read, and rows and edges that nothing reads.

use crate::passes::{Pass, PassError, PassOptions, Remarks};
use indexmap::IndexSet;
use tiga_ir::{Attr, Body, Inst, Key, Level, Module, Role, Target, Value, ops};

/// Messages with what they need.
pub const PASS: Pass = Pass {
    name: "trim",
    about: "drops operands that a message does not read, and rows and edges that nothing reads",
    levels: &[Level::Domain],
    makes: None,
    needed: false,
    run,
};

/// Trims each message.
///
/// # Errors
/// None.
pub fn run(module: &Module, _: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    let mut out = module.clone();
    for func in out.funcs.values_mut().filter(|f| f.level == Level::Domain) {
        let insts = func.body.walk(func.region);
        let used: IndexSet<Value> = insts.iter().flat_map(|inst| func.body.inst(*inst).operands.clone()).collect();
        let applies: Vec<Inst> = insts.into_iter().filter(|inst| func.body.inst(*inst).op == ops::APPLY).collect();
        for apply in applies {
            results(&mut func.body, apply, &used);
            operands(&mut func.body, apply, &used);
        }
    }
    Ok(out)
}

/// Drops results that nothing reads, but for one: rows of a node function, or edges.
fn results(body: &mut Body, apply: Inst, used: &IndexSet<Value>) {
    let data = body.inst(apply).clone();
    let targets = data.attrs.targets().expect("verified: an apply has targets");
    let region = match data.regions.as_slice() {
        [_, node] if targets.iter().all(|t| matches!(t, Target::Row { .. })) => node,
        [edge] if targets.iter().all(|t| *t == Target::Edge) => edge,
        _ => return,
    };
    let mut kept: Vec<Value> = data.results.iter().copied().filter(|v| used.contains(v)).collect();
    if kept.is_empty() {
        kept.extend(data.results.first());
    }
    let end = *body.block(body.entry(*region)).insts.last().expect("verified: a region ends with a yield");
    let yields = body.inst(end).operands.clone();
    let left = yields.into_iter().zip(&data.results).filter(|(_, result)| kept.contains(result)).map(|(v, _)| v);
    body.inst_mut(end).operands = left.collect();
    if data.regions.len() == 1 {
        body.inst_mut(apply).attrs.set(Key::Targets, Attr::Targets(vec![Target::Edge; kept.len()]));
    }
    body.retain_results(apply, |v| kept.contains(&v));
}

/// Drops operands that neither function reads.
fn operands(body: &mut Body, apply: Inst, used: &IndexSet<Value>) {
    let data = body.inst(apply).clone();
    let roles = data.attrs.roles().expect("verified: an apply has roles");
    let edge = body.entry(data.regions[0]);
    let node = data.regions.get(1).map(|region| body.entry(*region));
    let own = |role: &Role| matches!(role, Role::Dst | Role::Param);
    let mut of_node = node.map_or(Vec::new(), |node| body.block(node).params.clone());
    let mut of_node =
        of_node.split_off(of_node.len().saturating_sub(roles.iter().filter(|r| own(r)).count())).into_iter();
    let (mut kept, mut dropped) = (Vec::new(), IndexSet::new());
    for (i, role) in roles.iter().enumerate() {
        let mut params = vec![body.block(edge).params[i]];
        params.extend(own(role).then(|| of_node.next()).flatten());
        if params.iter().any(|v| used.contains(v)) {
            kept.push(i);
        } else {
            dropped.extend(params);
        }
    }
    for block in [Some(edge), node].into_iter().flatten() {
        body.retain_params(block, |v| !dropped.contains(&v));
    }
    let left = body.inst_mut(apply);
    left.operands = [0].into_iter().chain(kept.iter().map(|i| i + 1)).map(|i| data.operands[i]).collect();
    left.attrs.set(Key::Roles, Attr::Roles(kept.iter().map(|i| roles[*i]).collect()));
}
