//! Makes a failing case smaller as long as it fails: fewer results, instructions, parameters, edges, nodes, features,
//! and plainer numbers.

use super::Case;
use super::keep::Keep;
use super::program::two_sets;
use std::collections::BTreeSet;
use std::sync::Arc;
use tiga_ir::interp::{Relation, Tensor};
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Attr, Block, Body, Effect, Func, Inst, InstData, Key, Region, Role, Scalar, Target, Value, ops};

/// The smallest case found for which `fails` still holds; it must hold for the first one.
pub fn shrink(case: Case, fails: impl Fn(&Case) -> bool) -> Case {
    let mut shrinker = Shrinker { case, fails };
    loop {
        let steps = [
            Shrinker::results,
            Shrinker::earlier,
            Shrinker::instructions,
            Shrinker::nests,
            Shrinker::regions,
            Shrinker::callees,
            Shrinker::parameters,
            Shrinker::features,
            Shrinker::edges,
            Shrinker::nodes,
            Shrinker::sources,
            Shrinker::numbers,
        ];
        // All steps run in each round, so `any` would be wrong.
        let smaller = steps.iter().filter(|step| step(&mut shrinker)).count();
        if smaller == 0 {
            return shrinker.case;
        }
    }
}

struct Shrinker<F> {
    case: Case,
    fails: F,
}

impl<F: Fn(&Case) -> bool> Shrinker<F> {
    /// Takes a smaller case if it is well-formed and fails.
    fn take(&mut self, candidate: Case) -> bool {
        let good = verify(&candidate.module, Machine::FULL).is_ok() && (self.fails)(&candidate);
        if good {
            self.case = candidate;
        }
        good
    }

    fn func(&self) -> &Func {
        &self.case.module.funcs[&self.case.program]
    }

    /// Takes the case with another function, without what nothing uses any more.
    fn take_func(&mut self, edit: impl FnOnce(&mut Func)) -> bool {
        let mut candidate = self.case.clone();
        let func = candidate.module.funcs.get_mut(&candidate.program).expect("a case has its program");
        edit(func);
        sweep(&mut func.body, func.region);
        let insts: Vec<&InstData> = func.body.walk(func.region).into_iter().map(|i| func.body.inst(i)).collect();
        let called: BTreeSet<Arc<str>> = insts.iter().filter_map(|i| i.attrs.callee().cloned()).collect();
        candidate.module.funcs.retain(|name, _| *name == candidate.program || called.contains(&**name));
        let funcs = candidate.module.funcs.values();
        let reducers: BTreeSet<Arc<str>> = funcs.flat_map(reducers).collect();
        candidate.module.reducers.retain(|name, _| reducers.contains(&**name));
        self.take(candidate)
    }

    fn results(&mut self) -> bool {
        let count = self.func().results.len();
        count > 1
            && (0..count).any(|keep| {
                self.take_func(|func| {
                    let last = *func.body.block(func.body.entry(func.region)).insts.last().expect("a function returns");
                    let operands = &mut func.body.inst_mut(last).operands;
                    *operands = vec![operands[keep]];
                    func.results = vec![func.results[keep].clone()];
                })
            })
    }

    /// Returns what some instruction makes, in place of what is made of it.
    fn earlier(&mut self) -> bool {
        let func = self.func();
        let insts = &func.body.block(func.body.entry(func.region)).insts;
        let (last, insts) = insts.split_last().expect("a function returns");
        let (last, returned) = (*last, func.body.inst(*last).operands.clone());
        let made: Vec<Value> = insts.iter().flat_map(|i| func.body.inst(*i).results.clone()).collect();
        let fields = made.into_iter().filter(|v| func.body.ty(*v).as_tensor().is_some() && !returned.contains(v));
        fields.collect::<Vec<_>>().into_iter().any(|value| {
            self.take_func(|func| {
                func.body.inst_mut(last).operands = vec![value];
                func.results = vec![(func.results[0].0.clone(), func.body.ty(value).clone())];
            })
        })
    }

    /// Puts an earlier value of the same type in the place of each result, the last ones first.
    fn instructions(&mut self) -> bool {
        let mut smaller = false;
        let mut done = BTreeSet::new();
        loop {
            let func = self.func();
            let next = func.body.walk(func.region).into_iter().rev().find(|i| !done.contains(i));
            let Some(inst) = next else { return smaller };
            done.insert(inst);
            for (result, other) in substitutes(func, inst) {
                if self.take_func(|func| func.body.replace_uses(func.region, result, other)) {
                    smaller = true;
                    break;
                }
            }
        }
    }

    /// The body of a loop once, or one of two branches, in its place.
    fn nests(&mut self) -> bool {
        let mut smaller = false;
        let mut done = BTreeSet::new();
        loop {
            let func = self.func();
            let nest = |i: &Inst| [ops::REPEAT, ops::WHILE, ops::IF].contains(&func.body.inst(*i).op);
            let next = func.body.walk(func.region).into_iter().find(|i| nest(i) && !done.contains(i));
            let Some(inst) = next else { return smaller };
            done.insert(inst);
            let regions = func.body.inst(inst).regions.len();
            smaller |= (0..regions).rev().any(|index| self.take_func(|func| unnest(func, inst, index)));
        }
    }

    /// Messages without their node region, and without reductions, results and operands that nothing uses.
    fn regions(&mut self) -> bool {
        let func = self.func();
        let applies: Vec<Inst> =
            func.body.walk(func.region).into_iter().filter(|i| func.body.inst(*i).op == ops::APPLY).collect();
        let mut smaller = false;
        for inst in applies {
            smaller |= self.func().body.inst(inst).regions.len() > 1
                && self.take_func(|func| func.body.inst_mut(inst).regions.truncate(1));
            let of_rows =
                |data: &InstData| data.results.len() - self.parts(data).iter().filter(|p| p.of_edge()).count();
            for index in (0..of_rows(self.func().body.inst(inst))).rev() {
                smaller |= self.func().body.inst(inst).regions.len() > 1
                    && self.take_func(|func| drop_result(&mut func.body, inst, index));
            }
            for index in (0..self.parts(self.func().body.inst(inst)).len()).rev() {
                let parts = self.parts(self.func().body.inst(inst));
                smaller |= parts.len() > 1 && self.take_func(|func| drop_message(&mut func.body, inst, &parts, index));
            }
            for index in (0..self.func().body.inst(inst).operands.len() - 1).rev() {
                let parts = self.parts(self.func().body.inst(inst));
                smaller |= self.take_func(|func| drop_operand(&mut func.body, inst, &parts, index));
            }
        }
        smaller
    }

    /// Programs that are called without the results and parameters that nothing uses, and what is then dead.
    fn callees(&mut self) -> bool {
        let func = self.func();
        let calls: Vec<Inst> =
            func.body.walk(func.region).into_iter().filter(|i| func.body.inst(*i).op == ops::CALL).collect();
        // Several calls of one program would have to agree.
        let [call] = calls.as_slice() else { return false };
        let mut smaller = false;
        for index in (0..func.body.inst(*call).results.len()).rev() {
            let func = self.func();
            let data = func.body.inst(*call);
            let (result, last) = (data.results[index], data.results.len() == 1);
            if last || used(&func.body, func.region).contains(&result) {
                continue;
            }
            let name = data.attrs.callee().expect("a call has a callee").clone();
            let mut candidate = self.case.clone();
            let caller = candidate.module.funcs.get_mut(&candidate.program).expect("a case has its program");
            caller.body.retain_results(*call, |v| v != result);
            let callee = candidate.module.funcs.get_mut(&name).expect("verified: the callee is there");
            callee.results.remove(index);
            drop_yield(&mut callee.body, callee.region, index);
            sweep(&mut callee.body, callee.region);
            let named: BTreeSet<Arc<str>> = candidate.module.funcs.values().flat_map(reducers).collect();
            candidate.module.reducers.retain(|name, _| named.contains(&**name));
            smaller |= self.take(candidate);
        }
        smaller | self.arguments(*call)
    }

    /// A call without the arguments that the callee does not use; they fix its sizes, so that some must stay.
    fn arguments(&mut self, call: Inst) -> bool {
        let mut smaller = false;
        for index in (1..self.func().body.inst(call).operands.len()).rev() {
            let name = self.func().body.inst(call).attrs.callee().expect("a call has a callee").clone();
            let callee = &self.case.module.funcs[&name];
            let param = callee.params()[index];
            if used(&callee.body, callee.region).contains(&param) {
                continue;
            }
            let mut candidate = self.case.clone();
            let callee = candidate.module.funcs.get_mut(&name).expect("verified: the callee is there");
            let entry = callee.body.entry(callee.region);
            callee.body.retain_params(entry, |v| v != param);
            let caller = candidate.module.funcs.get_mut(&candidate.program).expect("a case has its program");
            caller.body.inst_mut(call).operands.remove(index);
            sweep(&mut caller.body, caller.region);
            smaller |= self.take(candidate);
        }
        smaller
    }

    /// What each target of a message takes and gives.
    fn parts(&self, data: &InstData) -> Vec<Part> {
        let of_target = |target: &Target| match target {
            Target::Edge => Part { yields: 1, totals: None },
            Target::Row { reducer, .. } | Target::Total { reducer } => {
                let reducer = &self.case.module.reducers[reducer];
                Part { yields: reducer.message().len(), totals: Some(reducer.outs.len()) }
            }
        };
        data.attrs.targets().into_iter().flatten().map(of_target).collect()
    }

    fn parameters(&mut self) -> bool {
        let mut smaller = false;
        for index in (0..self.func().params().len()).rev() {
            let func = self.func();
            let param = func.params()[index];
            // The relation gives the sizes of everything else.
            if func.body.ty(param).as_rel().is_some() || used(&func.body, func.region).contains(&param) {
                continue;
            }
            let mut candidate = self.case.clone();
            candidate.inputs.values.remove(index);
            let func = candidate.module.funcs.get_mut(&candidate.program).expect("a case has its program");
            let entry = func.body.entry(func.region);
            func.body.retain_params(entry, |v| v != param);
            smaller |= self.take(candidate);
        }
        smaller
    }

    fn relation(&self) -> Option<&Relation> {
        self.case.inputs.relations().next()
    }

    /// What keeps everything; `None` if there is no graph.
    fn all(&self) -> Option<Keep> {
        Keep::all(&self.case.inputs)
    }

    /// Takes the inputs cut down to some nodes, edges and features.
    fn cut(&mut self, keep: &Keep) -> bool {
        let mut candidate = self.case.clone();
        let Some(inputs) = keep.inputs(self.func(), &self.case.inputs) else { return false };
        candidate.inputs = inputs;
        self.take(candidate)
    }

    fn features(&mut self) -> bool {
        let Some(keep) = self.all() else { return false };
        let now = self.case.inputs.features;
        [0, 1, 2, 3, 5, 17].into_iter().any(|f| f < now && self.cut(&Keep { features: f, ..keep.clone() }))
    }

    fn edges(&mut self) -> bool {
        let graphs = self.case.inputs.relations().count();
        // All graphs run out of edges, so `any` would be wrong.
        (0..graphs).filter(|graph| self.edges_of(*graph)).count() > 0
    }

    fn edges_of(&mut self, graph: usize) -> bool {
        let mut smaller = false;
        let mut size = self.case.inputs.relations().nth(graph).map_or(0, Relation::num_edges);
        while size > 0 {
            let mut start = 0;
            while let Some(mut keep) = self.all().filter(|k| start < k.edges[graph].len()) {
                let edges = &mut keep.edges[graph];
                edges.drain(start..(start + size).min(edges.len()));
                if self.cut(&keep) {
                    smaller = true;
                } else {
                    start += size;
                }
            }
            size /= 2;
        }
        smaller
    }

    /// Fewer destinations, with which sources go if they are the same set.
    fn nodes(&mut self) -> bool {
        let mut smaller = false;
        for node in (0..self.relation().map_or(0, Relation::num_dst)).rev() {
            let Some(mut keep) = self.all() else { break };
            keep.nodes.remove(node);
            if !two_sets(self.func()) {
                keep.sources = keep.nodes.clone();
            }
            smaller |= self.cut(&keep);
        }
        smaller
    }

    fn sources(&mut self) -> bool {
        let mut smaller = false;
        let count = if two_sets(self.func()) { self.relation().map_or(0, Relation::num_src) } else { 0 };
        for node in (0..count).rev() {
            let Some(mut keep) = self.all() else { break };
            keep.sources.remove(node);
            smaller |= self.cut(&keep);
        }
        smaller
    }

    /// Whole inputs of zeros or ones; else, if there are few elements, each of them.
    fn numbers(&mut self) -> bool {
        let mut smaller = false;
        for index in 0..self.case.inputs.values.len() {
            let Some(tensor) = self.case.inputs.values[index].as_tensor().cloned() else { continue };
            let plain = [0, 1].map(|n| Scalar::from_i64(tensor.dtype(), n));
            let all = |n: Scalar| vec![n; tensor.elems().len()];
            if tensor.elems().iter().all(|e| e.same(plain[0])) || tensor.elems().iter().all(|e| e.same(plain[1])) {
                continue;
            }
            if plain.into_iter().any(|n| self.set(index, &tensor, all(n))) {
                smaller = true;
                continue;
            }
            for at in 0..tensor.elems().len().min(16) {
                let now = self.case.inputs.values[index].as_tensor().cloned().expect("it is a tensor");
                let plainer = plain.into_iter().take_while(|n| !now.elems()[at].same(*n)).collect::<Vec<_>>();
                smaller |= plainer.into_iter().any(|n| {
                    let mut elems = now.elems().to_vec();
                    elems[at] = n;
                    self.set(index, &now, elems)
                });
            }
        }
        smaller
    }

    fn set(&mut self, index: usize, like: &Tensor, elems: Vec<Scalar>) -> bool {
        let mut candidate = self.case.clone();
        let tensor = Tensor::new(like.dtype(), like.shape().to_vec(), elems).expect("as many elements as before");
        candidate.inputs.values[index] = tensor.into();
        self.take(candidate)
    }
}

/// What each result of an instruction might be instead: an operand first, then what stands before it.
fn substitutes(func: &Func, inst: Inst) -> Vec<(Value, Value)> {
    let body = &func.body;
    let data = body.inst(inst);
    if data.op.effect() == Effect::Terminator {
        return Vec::new();
    }
    let mut before: Vec<Value> = data.operands.clone();
    before.extend(func.params());
    for other in body.walk(func.region) {
        if other == inst {
            break;
        }
        before.extend(&body.inst(other).results);
    }
    let fits = |result: Value| {
        let found: Vec<Value> = before.iter().copied().filter(|v| alike(body, *v, result)).take(4).collect();
        found.into_iter().map(move |v| (result, v))
    };
    let used = used(body, func.region);
    data.results.iter().copied().filter(|r| used.contains(r)).flat_map(fits).collect()
}

/// Whether one value may stand in another's place: its type is the same, or it is a relation on the same sets, which may
/// be visited in another order.
fn alike(body: &Body, a: Value, b: Value) -> bool {
    let sets = |v: Value| body.ty(v).as_rel().map(|rel| (&rel.src, &rel.dst, &rel.edges));
    body.ty(a) == body.ty(b) || sets(a).is_some_and(|sets_of_a| sets(b) == Some(sets_of_a))
}

/// The reducers that a function names.
pub(super) fn reducers(func: &Func) -> Vec<Arc<str>> {
    let named = |inst: Inst| {
        let attrs = &func.body.inst(inst).attrs;
        let of_target = |target: &Target| match target {
            Target::Row { reducer, .. } | Target::Total { reducer } => Some(reducer.clone()),
            Target::Edge => None,
        };
        let targets = attrs.targets().into_iter().flatten().filter_map(of_target);
        targets.chain(attrs.reducer().cloned()).collect::<Vec<_>>()
    };
    func.body.walk(func.region).into_iter().flat_map(named).collect()
}

/// Everything that some instruction under a region reads.
pub(super) fn used(body: &Body, region: Region) -> BTreeSet<Value> {
    body.walk(region).into_iter().flat_map(|i| body.inst(i).operands.clone()).collect()
}

/// Removes instructions without a used result, until there is none.
pub(super) fn sweep(body: &mut Body, region: Region) {
    loop {
        let used = used(body, region);
        let dead = |body: &Body, inst: Inst| {
            let data = body.inst(inst);
            data.op.effect() != Effect::Terminator && data.results.iter().all(|r| !used.contains(r))
        };
        let mut removed = false;
        for block in blocks(body, region) {
            let kept: Vec<Inst> = body.block(block).insts.iter().copied().filter(|i| !dead(body, *i)).collect();
            removed |= kept.len() < body.block(block).insts.len();
            body.block_mut(block).insts = kept;
        }
        if !removed {
            return;
        }
    }
}

/// The blocks of a region and of all regions in it.
fn blocks(body: &Body, region: Region) -> Vec<Block> {
    let mut all = body.region(region).blocks.clone();
    for inst in body.walk(region) {
        all.extend(body.inst(inst).regions.iter().flat_map(|r| body.region(*r).blocks.clone()));
    }
    all
}

/// Puts a region of a loop or branch in its place.
fn unnest(func: &mut Func, inst: Inst, index: usize) {
    let data = func.body.inst(inst).clone();
    let body = &mut func.body;
    let inner = body.block(body.entry(data.regions[index])).clone();
    let (last, insts) = inner.insts.split_last().expect("a region yields");
    let of_param = |v: Value| inner.params.iter().position(|p| *p == v).map_or(v, |i| data.operands[i]);
    let yields: Vec<Value> = body.inst(*last).operands.iter().map(|v| of_param(*v)).collect();
    let holds = |block: &Block| body.block(*block).insts.contains(&inst);
    let Some(outer) = blocks(body, func.region).into_iter().find(holds) else { return };
    let outer = &mut body.block_mut(outer).insts;
    let at = outer.iter().position(|i| *i == inst).expect("the block holds it");
    outer.splice(at..=at, insts.iter().copied());
    let params = inner.params.iter().copied().zip(data.operands.iter().copied());
    for (old, new) in params.chain(data.results.iter().copied().zip(yields)) {
        body.replace_uses(func.region, old, new);
    }
}

fn drop_yield(body: &mut Body, region: Region, index: usize) {
    let last = *body.block(body.entry(region)).insts.last().expect("a region yields");
    body.inst_mut(last).operands.remove(index);
}

/// Takes a result from a node region.
fn drop_result(body: &mut Body, inst: Inst, index: usize) {
    let (node, result) = (body.inst(inst).regions[1], body.inst(inst).results[index]);
    drop_yield(body, node, index);
    body.retain_results(inst, |v| v != result);
}

/// One target of a message.
struct Part {
    /// Values of the edge region.
    yields: usize,
    /// Values that the node region sees, or results; `None` for a result per edge, which stands behind all others.
    totals: Option<usize>,
}

impl Part {
    fn of_edge(&self) -> bool {
        self.totals.is_none()
    }
}

/// Takes a message with its reduction: results, or parameters of the node region.
fn drop_message(body: &mut Body, inst: Inst, parts: &[Part], index: usize) {
    let Some(mut targets) = body.inst(inst).attrs.targets().cloned() else { return };
    targets.remove(index);
    let data = body.inst_mut(inst);
    data.attrs.set(Key::Targets, Attr::Targets(targets));
    let (regions, results) = (data.regions.clone(), data.results.clone());
    let first: usize = parts[..index].iter().map(|p| p.yields).sum();
    for _ in 0..parts[index].yields {
        drop_yield(body, regions[0], first);
    }
    let totals: usize = parts[..index].iter().filter_map(|p| p.totals).sum();
    match (parts[index].totals, regions.get(1)) {
        (None, _) => {
            let behind = parts[index..].iter().filter(|p| p.of_edge()).count();
            let dropped = results[results.len() - behind];
            body.retain_results(inst, |v| v != dropped);
        }
        (Some(count), None) => body.retain_results(inst, |v| !results[totals..totals + count].contains(&v)),
        (Some(count), Some(node)) => {
            let entry = body.entry(*node);
            let dropped = body.block(entry).params[totals..totals + count].to_vec();
            body.retain_params(entry, |v| !dropped.contains(&v));
        }
    }
}

/// Takes an operand with its role and parameters from a message, whose regions must not use them.
fn drop_operand(body: &mut Body, inst: Inst, parts: &[Part], index: usize) {
    let Some(mut roles) = body.inst(inst).attrs.roles().cloned() else { return };
    let seen = |r: &Role| matches!(r, Role::Dst | Role::Param);
    let totals: usize = parts.iter().filter_map(|p| p.totals).sum();
    let in_node = seen(&roles[index]).then(|| totals + roles[..index].iter().filter(|r| seen(r)).count());
    roles.remove(index);
    let regions = body.inst(inst).regions.clone();
    let data = body.inst_mut(inst);
    data.operands.remove(index + 1);
    data.attrs.set(Key::Roles, Attr::Roles(roles));
    for (region, param) in regions.into_iter().zip([Some(index), in_node]) {
        let entry = body.entry(region);
        let dropped = param.map(|p| body.block(entry).params[p]);
        body.retain_params(entry, |v| Some(v) != dropped);
    }
}
