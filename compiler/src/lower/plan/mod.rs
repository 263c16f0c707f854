//! Host → plan: launches become tasks, memory becomes resources with owners, loops become rotations.
//!
//! Nothing here decides an order: tasks stand in program order, and the plan's own passes derive what must wait.

mod control;
mod manifest;
mod tasks;

use super::LowerError;
use super::kernel::KernelSet;
use cranelift_entity::PrimaryMap;
use indexmap::IndexMap;
use std::collections::BTreeSet;
use tiga_abi::{DType, SizeExpr, Symbol, Tier};
use tiga_ir::{Block, Func, Inst, Module, SymKind, TensorType, Type, Value, ops};
use tiga_plan::{Body, Mode, Owner, Relation, Resource, ResourceId, Task, TaskId, Template};

pub use manifest::kernels;

/// A plan could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The host function holds something that has no task.
    #[error(transparent)]
    Lower(#[from] LowerError),
    /// The tasks break a law of plans: our bug.
    #[error("the plan of `{program}` is broken: {error}")]
    Broken {
        /// The program.
        program: Symbol,
        /// The law.
        error: tiga_plan::passes::PassError,
    },
}

/// The complete plan of one host function.
///
/// # Errors
/// A construct without a task; a broken law (our bug).
pub fn lower(module: &Module, host: &Func, kernels: &[KernelSet]) -> Result<Template, PlanError> {
    let mut planner = Planner::new(module, host, kernels);
    planner.program()?;
    let mut template = planner.template;
    name_values(&mut template);
    tiga_plan::passes::complete(&mut template)
        .map_err(|error| PlanError::Broken { program: host.name.clone(), error })?;
    Ok(template)
}

/// Calls temporaries what the source calls them, as far as the kernels that write them know: `%h` instead of `%7`.
fn name_values(template: &mut Template) {
    let mut taken: BTreeSet<String> = template.resources.values().map(|resource| resource.name.clone()).collect();
    let bodies = template.bodies.values().chain([&template.root]);
    for task in bodies.flat_map(|body| body.tasks.values()) {
        for access in task.accesses.iter().filter(|access| access.mode == Mode::Write) {
            let resource = &mut template.resources[access.resource];
            let numbered = resource.name.strip_prefix('%').is_some_and(|name| name.parse::<usize>().is_ok());
            let arg = task.args.iter().find(|arg| arg.resource == access.resource);
            // The compiler's own name for what has none.
            let Some(arg) = arg.filter(|arg| resource.owner == Owner::Owned && numbered && arg.parameter != "out")
            else {
                continue;
            };
            let name = format!("%{}", arg.parameter);
            if !arg.parameter.contains('.') && taken.insert(name.clone()) {
                resource.name = name;
            }
        }
    }
}

/// A relation by how it is made, with its sets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RelPath {
    relation: Relation,
    rel: tiga_ir::RelType,
}

/// What host values are inside one body.
#[derive(Clone, Default)]
struct Scope {
    memory: IndexMap<Value, ResourceId>,
    relations: IndexMap<Value, RelPath>,
}

struct Planner<'a> {
    module: &'a Module,
    host: &'a Func,
    kernels: &'a [KernelSet],
    template: Template,
    /// Resources of graphs, by name.
    parts: IndexMap<String, ResourceId>,
    /// Tasks that build derived structures, in order.
    builders: Vec<Task>,
    /// Every use of a host value, in program order.
    uses: IndexMap<Value, Vec<Inst>>,
    values: usize,
    loops: usize,
}

impl<'a> Planner<'a> {
    fn new(module: &'a Module, host: &'a Func, kernels: &'a [KernelSet]) -> Self {
        let not_bound = |(_, kind): &(&Symbol, &SymKind)| !matches!(kind, SymKind::Bound(_));
        let template = Template {
            program: host.name.to_string(),
            symbols: host.symbols.iter().filter(not_bound).map(|(name, _)| name.clone()).collect(),
            resources: PrimaryMap::new(),
            root: Body { name: host.name.to_string(), ..Body::default() },
            bodies: PrimaryMap::new(),
        };
        let mut uses: IndexMap<Value, Vec<Inst>> = IndexMap::new();
        for inst in host.body.walk(host.region) {
            for operand in &host.body.inst(inst).operands {
                uses.entry(*operand).or_default().push(inst);
            }
        }
        let (parts, builders) = (IndexMap::new(), Vec::new());
        Self { module, host, kernels, template, parts, builders, uses, values: 0, loops: 0 }
    }

    fn program(&mut self) -> Result<(), LowerError> {
        let mut scope = Scope::default();
        for (i, param) in self.host.params().iter().enumerate() {
            let name = self.host.param_name(i).to_owned();
            match self.host.body.ty(*param) {
                Type::Buffer(t) => {
                    let resource = self.resource(&name, t, Owner::Borrowed);
                    scope.memory.insert(*param, resource);
                }
                Type::Rel(rel) => {
                    let path = RelPath { relation: Relation::graph(name), rel: rel.clone() };
                    scope.relations.insert(*param, path);
                }
                _ => return Err(self.unsupported("a parameter that is neither memory nor a relation")),
            }
        }
        let entry = self.host.body.entry(self.host.region);
        let mut body = Body { name: self.host.name.to_string(), ..Body::default() };
        let outputs: Vec<(String, TensorType)> = self
            .host
            .results
            .iter()
            .filter_map(|(name, ty)| ty.as_buffer().map(|t| (name.to_string(), t.clone())))
            .collect();
        let targets: Vec<ResourceId> =
            outputs.iter().map(|(name, ty)| self.resource(name, ty, Owner::Borrowed)).collect();
        self.block(entry, &mut scope, &mut body, &targets)?;
        self.prepend_builders(&mut body);
        self.template.root = body;
        Ok(())
    }

    /// Tasks of derived structures come first; the ids of the others move up.
    fn prepend_builders(&mut self, body: &mut Body) {
        let mut tasks: PrimaryMap<TaskId, Task> = PrimaryMap::new();
        for task in self.builders.drain(..).chain(std::mem::take(&mut body.tasks).into_iter().map(|(_, task)| task)) {
            tasks.push(task);
        }
        body.tasks = tasks;
    }

    /// Lowers a block whose last instruction hands over values: each goes into its target resource, directly where
    /// the value is memory of this block alone, else by a copy.
    fn block(
        &mut self,
        block: Block,
        scope: &mut Scope,
        body: &mut Body,
        targets: &[ResourceId],
    ) -> Result<(), LowerError> {
        let insts = self.host.body.block(block).insts.clone();
        let (last, insts) = insts.split_last().expect("verified: a block has a terminator");
        let handed = self.host.body.inst(*last).operands.clone();
        for (i, value) in handed.iter().enumerate() {
            let here = self.host.body.def(*value).is_some_and(|d| {
                self.host.body.inst(d).op == ops::ALLOC && insts.contains(&d) && !scope.memory.contains_key(value)
            });
            // A loop that takes the value over owns its memory.
            let given_up = self.uses[value].iter().any(|user| self.takes_over(*user, *value));
            if here && !given_up {
                scope.memory.insert(*value, targets[i]);
            }
        }
        for inst in insts {
            self.inst(*inst, scope, body)?;
        }
        for (value, target) in handed.iter().zip(targets) {
            self.hand_over(*value, *target, scope, body)?;
        }
        Ok(())
    }

    fn hand_over(
        &mut self,
        value: Value,
        target: ResourceId,
        scope: &Scope,
        body: &mut Body,
    ) -> Result<(), LowerError> {
        let source = self.memory(scope, value)?;
        if source != target {
            self.copy(source, target, body);
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst, scope: &mut Scope, body: &mut Body) -> Result<(), LowerError> {
        let data = self.host.body.inst(inst);
        match data.op {
            op if op == ops::ALLOC => {
                let value = data.results[0];
                if !scope.memory.contains_key(&value) {
                    let ty = self.host.body.ty(value).as_buffer().expect("verified: alloc makes memory").clone();
                    let resource = self.owned(&ty);
                    scope.memory.insert(value, resource);
                }
                Ok(())
            }
            op if [ops::TRANSPOSE, ops::ADD_SELF_LOOPS, ops::CONCAT_GRAPHS].contains(&op) => {
                let of = |i: usize| self.relation(scope, data.operands[i]).map(|path| path.relation.clone());
                let relation = match op {
                    op if op == ops::TRANSPOSE => of(0)?.transposed(),
                    op if op == ops::ADD_SELF_LOOPS => Relation::Loops(Box::new(of(0)?)),
                    _ => Relation::Concat(Box::new(of(0)?), Box::new(of(1)?)),
                };
                let rel = self.host.body.ty(data.results[0]).as_rel().expect("verified: a relation").clone();
                scope.relations.insert(data.results[0], RelPath { relation, rel });
                Ok(())
            }
            op if op == ops::COPY => {
                let (from, to) = (self.memory(scope, data.operands[0])?, self.memory(scope, data.operands[1])?);
                self.copy(from, to, body);
                Ok(())
            }
            op if op == ops::LAUNCH => self.launch(inst, scope, body),
            op if op == ops::WHILE => self.while_loop(inst, scope, body),
            op if op == ops::REPEAT => self.repeat(inst, scope, body),
            op if op == ops::IF => self.branch(inst, scope, body),
            op => Err(LowerError::operation(op, &data.loc)),
        }
    }

    fn memory(&self, scope: &Scope, value: Value) -> Result<ResourceId, LowerError> {
        scope.memory.get(&value).copied().ok_or_else(|| self.unsupported("memory that no task defines"))
    }

    fn relation<'s>(&self, scope: &'s Scope, value: Value) -> Result<&'s RelPath, LowerError> {
        scope.relations.get(&value).ok_or_else(|| self.unsupported("a relation that no task defines"))
    }

    fn unsupported(&self, what: &'static str) -> LowerError {
        LowerError::Unsupported { what, loc: self.host.loc.clone() }
    }

    /// A resource for a tensor.
    fn resource(&mut self, name: &str, ty: &TensorType, owner: Owner) -> ResourceId {
        let shape: Vec<SizeExpr> = ty.extents().iter().map(|extent| self.size(extent)).collect();
        self.add_resource(name, ty.dtype, shape, owner)
    }

    fn add_resource(&mut self, name: &str, dtype: DType, shape: Vec<SizeExpr>, owner: Owner) -> ResourceId {
        let bytes = SizeExpr::Const(dtype.bytes() as i64);
        let capacity =
            shape.iter().cloned().fold(bytes, |product, extent| SizeExpr::Mul(Box::new(product), Box::new(extent)));
        let layout = "contiguous".into();
        self.template.resources.push(Resource {
            name: name.into(),
            tier: Tier::Ram,
            copy: 1,
            owner,
            dtype,
            shape,
            capacity,
            layout,
        })
    }

    /// Memory of the plan's own, under a name that no parameter or result can have.
    fn owned(&mut self, ty: &TensorType) -> ResourceId {
        let name = format!("%{}", self.values);
        self.values += 1;
        self.resource(&name, ty, Owner::Owned)
    }

    /// An extent with bounds written out.
    fn size(&self, extent: &tiga_abi::Poly) -> SizeExpr {
        let bound = extent.as_symbol().and_then(|s| self.host.symbols.get(s));
        match bound {
            Some(SymKind::Bound(size)) => size.clone(),
            _ => SizeExpr::from(extent),
        }
    }
}

/// A name for the next task of a body: `kernel:3`.
fn task_name(body: &Body, kind: &str) -> String {
    let count = body.tasks.values().filter(|t| t.name.starts_with(&format!("{kind}:"))).count();
    format!("{kind}:{count}")
}
