//! Moves what an edge function computes of its source alone out of the edges: each source computes it once, and edges
//! gather what it gives. Where the node function computes the same of its own entity, it reads that too.

use super::add_operand;
use super::cost::{self, EDGES};
use crate::passes::{Pass, PassError, PassOptions, Remarks};
use indexmap::{IndexMap, IndexSet};
use tiga_ir::{
    Block, Body, Builder, Inst, Level, Module, OpView, Region, Role, TensorType, Type, TypeError, Value, ops,
};

/// Work of sources, once a source.
pub const PASS: Pass = Pass {
    name: "hoist",
    about: "computes what depends on an edge's source alone once for each source, where that moves less",
    levels: &[Level::Domain],
    makes: None,
    needed: false,
    run,
};

/// Looks at each message of each program.
///
/// # Errors
/// An instruction that it built and that is ill-typed: our bug.
pub fn run(module: &Module, _: &PassOptions, remarks: &mut Remarks) -> Result<Module, PassError> {
    let mut out = module.clone();
    for func in out.funcs.values_mut().filter(|f| f.level == Level::Domain) {
        let region = func.region;
        Hoisting { module, body: &mut func.body, remarks }.region(region)?;
    }
    Ok(out)
}

struct Hoisting<'a> {
    module: &'a Module,
    body: &'a mut Body,
    remarks: &'a mut Remarks,
}

/// What an edge function computes of its source.
struct Cone {
    /// Its last value.
    root: Value,
    /// What leads to it, in order.
    insts: Vec<Inst>,
    /// The parameters that it reads.
    params: IndexSet<Value>,
}

impl Hoisting<'_> {
    fn region(&mut self, region: Region) -> Result<(), PassError> {
        for block in self.body.region(region).blocks.clone() {
            for inst in self.body.block(block).insts.clone() {
                if self.body.inst(inst).op == ops::APPLY {
                    self.message(inst, block)?;
                    continue;
                }
                for nested in self.body.inst(inst).regions.clone() {
                    self.region(nested)?;
                }
            }
        }
        Ok(())
    }

    fn message(&mut self, apply: Inst, block: Block) -> Result<(), PassError> {
        let mut seen = IndexSet::new();
        while let Some(root) = self.roots(apply).into_iter().find(|v| !seen.contains(v)) {
            seen.insert(root);
            let cone = self.cone(apply, root);
            if self.pays(apply, &cone) {
                self.hoist(apply, block, &cone)?;
            }
        }
        Ok(())
    }

    fn edge(&self, apply: Inst) -> Block {
        self.body.entry(self.body.inst(apply).regions[0])
    }

    fn roles(&self, apply: Inst) -> Vec<Role> {
        self.body.inst(apply).attrs.roles().expect("verified: an apply has roles").to_vec()
    }

    /// Values of the edge function that depend on its source, on parameters and on constants alone: true for those that
    /// do depend on the source.
    fn of_source(&self, apply: Inst) -> IndexMap<Value, bool> {
        let block = self.body.block(self.edge(apply));
        let mut known: IndexMap<Value, bool> = IndexMap::new();
        for (param, role) in block.params.iter().zip(self.roles(apply)) {
            match role {
                Role::Src => drop(known.insert(*param, true)),
                Role::Param => drop(known.insert(*param, false)),
                Role::Dst | Role::Edge => {}
            }
        }
        let inside: IndexSet<Value> = block
            .params
            .iter()
            .copied()
            .chain(block.insts.iter().flat_map(|inst| self.body.inst(*inst).results.clone()))
            .collect();
        for inst in &block.insts {
            let data = self.body.inst(*inst);
            let lifts =
                data.op.elementwise().is_some() || [ops::CONST, ops::REDUCE_AXIS, ops::MATMUL].contains(&data.op);
            // What comes from outside of the function is a constant.
            let of = |v: &Value| if inside.contains(v) { known.get(v).copied() } else { Some(false) };
            let operands: Option<Vec<bool>> = data.operands.iter().map(of).collect();
            if let (true, Some(operands), [result]) = (lifts, operands, data.results.as_slice()) {
                known.insert(*result, operands.contains(&true));
            }
        }
        known
    }

    /// What depends on the source alone, and is used by something that does not.
    fn roots(&self, apply: Inst) -> Vec<Value> {
        let (known, block) = (self.of_source(apply), self.body.block(self.edge(apply)));
        let leaves = |inst: &Inst| {
            let data = self.body.inst(*inst);
            !data.results.iter().any(|v| known.get(v) == Some(&true))
        };
        let used: IndexSet<Value> =
            block.insts.iter().filter(|i| leaves(i)).flat_map(|i| self.body.inst(*i).operands.clone()).collect();
        let computed = |v: &Value| known.get(v) == Some(&true) && !block.params.contains(v);
        block
            .insts
            .iter()
            .flat_map(|i| self.body.inst(*i).results.clone())
            .filter(|v| computed(v) && used.contains(v))
            .collect()
    }

    fn cone(&self, apply: Inst, root: Value) -> Cone {
        let block = self.body.block(self.edge(apply));
        let (mut needed, mut insts) = (IndexSet::from([root]), Vec::new());
        for inst in block.insts.iter().rev() {
            let data = self.body.inst(*inst);
            if data.results.iter().any(|v| needed.contains(v)) {
                needed.extend(data.operands.iter().copied());
                insts.push(*inst);
            }
        }
        insts.reverse();
        Cone { root, insts, params: block.params.iter().copied().filter(|p| needed.contains(p)).collect() }
    }

    /// What the edge function still needs if it is given a value.
    fn needed_without(&self, apply: Inst, root: Value) -> IndexSet<Value> {
        let mut needed: IndexSet<Value> = IndexSet::new();
        for inst in self.body.block(self.edge(apply)).insts.iter().rev() {
            let data = self.body.inst(*inst);
            let ends = data.results.is_empty();
            if ends || data.results.iter().any(|v| needed.contains(v) && *v != root) {
                needed.extend(data.operands.iter().copied());
            }
        }
        needed
    }

    /// The cost rule, and its remark where the answer is no.
    fn pays(&mut self, apply: Inst, cone: &Cone) -> bool {
        let ty = |v: &Value| self.body.ty(*v).as_tensor().expect("verified: messages compute on tensors");
        let (needed, roles) = (self.needed_without(apply, cone.root), self.roles(apply));
        let params = &self.body.block(self.edge(apply)).params;
        let of_source = |p: &&Value| params.iter().position(|q| q == *p).is_some_and(|i| roles[i] == Role::Src);
        let read: Vec<&Value> = cone.params.iter().filter(of_source).collect();
        let freed = cost::total(read.iter().filter(|p| !needed.contains(**p)).map(|p| cost::gathered(ty(p))));
        let moved = cost::total(read.iter().copied().chain([&cone.root]).map(|v| cost::bytes(ty(v))));
        let gathered = cost::gathered(ty(&cone.root));
        let gone = cone.insts.iter().filter(|i| {
            let result = self.body.result(**i);
            result == cone.root || !needed.contains(&result)
        });
        let view = |inst: Inst| OpView { module: self.module, body: self.body, inst };
        let operations = cost::total(gone.map(|i| cost::operations(view(*i))));
        let of_row = |edge: u64| edge.saturating_mul(EDGES);
        let again = operations.saturating_mul(EDGES - 1);
        let pays = cost::pays(again, of_row(freed), of_row(gathered).saturating_add(moved));
        let loc = self.body.inst(self.body.def(cone.root).expect("a root is computed")).loc.clone();
        if pays {
            let text = format!(
                "computed once for each source, not for each edge: an edge gathers {gathered} bytes and not {freed}, and \
                 is spared {} ({})",
                cost::counted(operations, "operation"),
                cost::ASSUMED
            );
            self.remarks.passed(PASS.name, &loc, text);
        } else {
            let text = format!(
                "depends on the source alone, but stays with the edges: computed for each source it would be gathered, \
                 {gathered} bytes an edge for {freed} and {}, and {moved} bytes a source would be moved ({})",
                cost::counted(operations, "operation"),
                cost::ASSUMED
            );
            self.remarks.missed(PASS.name, &loc, text);
        }
        pays
    }

    fn hoist(&mut self, apply: Inst, block: Block, cone: &Cone) -> Result<(), PassError> {
        let data = self.body.inst(apply).clone();
        let params = self.body.block(self.edge(apply)).params.clone();
        let rel = self.body.ty(data.operands[0]).as_rel().expect("verified: the first operand is a relation").clone();
        let at = self.body.block(block).insts.iter().position(|i| *i == apply).expect("it stands in its block");
        let rest = self.body.block_mut(block).insts.split_off(at);
        let outer: IndexMap<Value, Value> = params.iter().copied().zip(data.operands[1..].iter().copied()).collect();
        let lifted = self.lift(block, cone, outer);
        self.body.block_mut(block).insts.extend(rest);
        let lifted = lifted?;
        let root = self.body.ty(cone.root).as_tensor().expect("verified: messages compute on tensors").clone();
        debug_assert_eq!(
            self.body.ty(lifted),
            &Type::from(TensorType { set: Some(rel.src.clone()), ..root.clone() }),
            "a field of what an edge sees"
        );
        let same = (rel.src == rel.dst).then(|| self.same_in_node(apply, cone)).flatten();
        let (edge, _) = add_operand(self.body, apply, lifted, Role::Src, &root);
        self.body.replace_uses(data.regions[0], cone.root, edge);
        if let Some(same) = same
            && let (_, Some(node)) = add_operand(self.body, apply, lifted, Role::Dst, &root)
        {
            self.body.replace_uses(data.regions[1], same, node);
        }
        Ok(())
    }

    /// Appends what a cone computes of elements, as operations on fields.
    fn lift(&mut self, block: Block, cone: &Cone, mut values: IndexMap<Value, Value>) -> Result<Value, TypeError> {
        for inst in &cone.insts {
            let data = self.body.inst(*inst).clone();
            let operands: Vec<Value> = data.operands.iter().map(|v| values.get(v).copied().unwrap_or(*v)).collect();
            let mut builder = Builder::new(self.module, self.body, block);
            builder.loc = data.loc.clone();
            let value = builder.value(data.op, &operands, data.attrs.clone())?;
            values.insert(data.results[0], value);
        }
        Ok(values[&cone.root])
    }

    /// The value of the node function that is of its own entity what the cone's root is of a source.
    fn same_in_node(&self, apply: Inst, cone: &Cone) -> Option<Value> {
        let data = self.body.inst(apply);
        let node = self.body.block(self.body.entry(*data.regions.get(1)?));
        let roles = self.roles(apply);
        let mut numbers = Numbers::default();
        let params = &self.body.block(self.edge(apply)).params;
        let operands = || data.operands[1..].iter().copied();
        let of_edge = numbers.number(self.body, params.iter().copied().zip(operands()), &cone.insts);
        let seen = |role: &Role| matches!(role, Role::Dst | Role::Param);
        let kept: Vec<Value> = operands().zip(&roles).filter(|(_, role)| seen(role)).map(|(v, _)| v).collect();
        let own = node.params[node.params.len() - kept.len()..].iter().copied();
        let of_node = numbers.number(self.body, own.zip(kept), &node.insts);
        let wanted = of_edge[&cone.root];
        of_node.into_iter().find(|(_, number)| *number == wanted).map(|(value, _)| value)
    }
}

/// Numbers of what is computed: equal for equal computations on equal operands.
#[derive(Default)]
struct Numbers {
    all: IndexSet<String>,
}

impl Numbers {
    fn of(&mut self, key: String) -> usize {
        self.all.insert_full(key).0
    }

    fn number(
        &mut self,
        body: &Body,
        params: impl Iterator<Item = (Value, Value)>,
        insts: &[Inst],
    ) -> IndexMap<Value, usize> {
        let mut out: IndexMap<Value, usize> =
            params.map(|(param, outer)| (param, self.of(outer.to_string()))).collect();
        for inst in insts {
            let data = body.inst(*inst);
            let [result] = data.results.as_slice() else { continue };
            let mut operands: Vec<usize> = Vec::new();
            for operand in &data.operands {
                operands.push(out.get(operand).copied().unwrap_or_else(|| self.of(operand.to_string())));
            }
            if data.op.elementwise().is_some_and(|e| e.commutative()) {
                operands.sort_unstable();
            }
            let attrs: Vec<String> = data.attrs.iter().map(|(key, attr)| format!("{}({attr})", key.name())).collect();
            let number = self.of(format!("{} {operands:?} {}", data.op.name(), attrs.join(" ")));
            out.insert(*result, number);
        }
        out
    }
}
