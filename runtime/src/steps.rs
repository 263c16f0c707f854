//! A plan with its names resolved, made once for each program of a bundle: a run looks nothing up.

use crate::RuntimeError;
use crate::admit::check_writes;
use crate::bundle::Loaded;
use crate::error::PlanProblem;
use crate::relations::Key;
use cranelift_entity::EntityRef;
use petgraph::unionfind::UnionFind;
use std::collections::BTreeMap;
use tiga_abi::KernelFn;
use tiga_bundle::{Program, Type};
use tiga_plan::dag::Dag;
use tiga_plan::{Owner, Relation, ResourceId, Rotation, Task, TaskId, TaskKind, Template, Units};

/// What a plan's names stand for.
#[derive(Debug)]
pub(crate) struct Steps {
    /// The kernels of each body's tasks by their numbers; the root's come last.
    launches: Vec<Vec<Option<Step>>>,
    /// The order of each body's tasks; the root's comes last.
    dags: Vec<Dag>,
    /// What each resource is called in a hierarchy.
    pub(crate) identities: Vec<String>,
    /// Where each resource is that the plan does not own.
    pub(crate) sources: Vec<Option<Source>>,
    /// Relations whose arrays or divisions the plan uses.
    pub(crate) relations: Vec<Key>,
    /// The most sizes and arrays that a kernel takes.
    pub(crate) most_syms: usize,
    pub(crate) most_ptrs: usize,
}

/// A kernel with its arguments.
#[derive(Debug)]
pub(crate) struct Step {
    /// Its place in the manifest.
    pub(crate) kernel: usize,
    /// Its functions, in the order of its variants.
    pub(crate) entries: Vec<KernelFn>,
    /// By position, the program's size.
    pub(crate) syms: Vec<usize>,
    /// By position, the array.
    pub(crate) ptrs: Vec<ResourceId>,
    /// The relation that its units are of, if a graph must be asked how many there are.
    pub(crate) relation: Option<usize>,
}

/// Where an array is that a plan borrows.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    /// An input.
    Param(usize),
    /// A result.
    Result(usize),
    /// A part of a relation.
    Part(usize, Part),
}

/// An array of a relation.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    RowPtr,
    Col,
    Perm,
    LongRows(i64),
    LeafBase(i64),
    LeafRow(i64),
}

impl Steps {
    /// Resolves a plan.
    ///
    /// # Errors
    /// The kernels cannot be loaded; the plan may not run, or names what is not there.
    pub(crate) fn new(loaded: &Loaded, program: &Program, plan: &Template) -> Result<Self, RuntimeError> {
        let problem = |reason| RuntimeError::Plan { program: program.name.clone(), reason };
        check_writes(plan, program).map_err(problem)?;
        let mut resolve = Resolve { loaded, program, relations: Vec::new() };
        let mut sources = Vec::new();
        for resource in plan.resources.values() {
            let borrowed = matches!(resource.owner, Owner::Borrowed | Owner::Derived);
            sources.push(if borrowed { resolve.source(&resource.name).map_err(problem)? } else { None });
        }
        let (mut launches, mut dags) = (Vec::new(), Vec::new());
        for body in plan.bodies.values().chain([&plan.root]) {
            let steps = body.tasks.values().map(|task| resolve.step(task));
            launches.push(steps.collect::<Result<Vec<_>, _>>()?);
            dags.push(body.dag());
        }
        let steps = || launches.iter().flatten().flatten();
        let most_syms = steps().map(|step| step.syms.len()).max().unwrap_or(0);
        let most_ptrs = steps().map(|step| step.ptrs.len()).max().unwrap_or(0);
        let relations = resolve.relations.into_iter().map(|(_, key)| key).collect();
        Ok(Self { launches, dags, identities: identities(plan), sources, relations, most_syms, most_ptrs })
    }

    /// The kernel of a task, both by their numbers; the root's number follows those of the other bodies.
    pub(crate) fn step(&self, body: usize, task: TaskId) -> Option<&Step> {
        self.launches.get(body)?.get(task.index())?.as_ref()
    }

    /// The order of a body's tasks.
    pub(crate) fn dag(&self, body: usize) -> &Dag {
        &self.dags[body]
    }

    /// Of each kernel that the plan launches, its place in the manifest; perhaps several times.
    pub(crate) fn kernels(&self) -> impl Iterator<Item = usize> {
        self.launches.iter().flatten().flatten().map(|step| step.kernel)
    }
}

/// A name for each resource, the same for all that are ever the same value: its instances in several tiers, and the
/// buffers and handles of a carried value, which exchange their memory.
fn identities(plan: &Template) -> Vec<String> {
    let mut same: UnionFind<usize> = UnionFind::new(plan.resources.len());
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    for (id, resource) in &plan.resources {
        let known = *first.entry(&resource.name).or_insert(id.index());
        same.union(known, id.index());
    }
    for task in plan.bodies.values().chain([&plan.root]).flat_map(|body| body.tasks.values()) {
        if let TaskKind::Loop { rotate, .. } = &task.kind {
            for Rotation { read, write, a, b } in rotate {
                for id in [read, write, b] {
                    same.union(a.index(), id.index());
                }
            }
        }
    }
    let names: Vec<&str> = plan.resources.values().map(|resource| resource.name.as_str()).collect();
    (0..names.len()).map(|id| names[same.find(id)].to_owned()).collect()
}

struct Resolve<'p> {
    loaded: &'p Loaded,
    program: &'p Program,
    relations: Vec<(Relation, Key)>,
}

impl Resolve<'_> {
    fn problem(&self, reason: PlanProblem) -> RuntimeError {
        RuntimeError::Plan { program: self.program.name.clone(), reason }
    }

    /// The caller's memory of a name, or an array of a graph. Handles that rotate have none before their loop runs.
    fn source(&mut self, name: &str) -> Result<Option<Source>, PlanProblem> {
        if let Some(result) = self.program.results.iter().position(|result| result.name == name) {
            return Ok(Some(Source::Result(result)));
        }
        let array = |param: &tiga_bundle::Param| param.name == name && matches!(param.ty, Type::Tensor { .. });
        if let Some(param) = self.program.params.iter().position(array) {
            return Ok(Some(Source::Param(param)));
        }
        let Some((relation, part)) = Relation::of_resource(name) else { return Ok(None) };
        let Some(relation) = self.relation(relation) else { return Ok(None) };
        let unknown = || PlanProblem::Part(name.to_owned());
        let part = match part.split_once('.') {
            Some((part, leaf)) => {
                let leaf: i64 = leaf.parse().ok().filter(|n| *n > 0).ok_or_else(unknown)?;
                match part {
                    "long_rows" => Part::LongRows(leaf),
                    "leaf_base" => Part::LeafBase(leaf),
                    "leaf_row" => Part::LeafRow(leaf),
                    _ => return Err(unknown()),
                }
            }
            None => match part {
                "row_ptr" => Part::RowPtr,
                "col" => Part::Col,
                "perm" => Part::Perm,
                _ => return Err(unknown()),
            },
        };
        Ok(Some(Source::Part(relation, part)))
    }

    /// The number of a relation; `None` if it is of something that is no graph of this program.
    fn relation(&mut self, relation: Relation) -> Option<usize> {
        if let Some(known) = self.relations.iter().position(|(other, _)| *other == relation) {
            return Some(known);
        }
        let params = &self.program.params;
        let graph = |name: &str| params.iter().position(|p| p.name == name && matches!(p.ty, Type::Graph { .. }));
        let key = Key::of(&relation, &graph)?;
        self.relations.push((relation, key));
        Some(self.relations.len() - 1)
    }

    fn step(&mut self, task: &Task) -> Result<Option<Step>, RuntimeError> {
        let TaskKind::Kernel { symbol, units, .. } = &task.kind else { return Ok(None) };
        let file = &self.loaded.file;
        let kernels = &file.manifest().kernels;
        let kernel = kernels.iter().position(|kernel| kernel.symbol == *symbol);
        let number = kernel.ok_or_else(|| self.problem(PlanProblem::Kernel(symbol.clone())))?;
        let kernel = &kernels[number];
        let library = self.loaded.library()?;
        let mut entries = Vec::new();
        for variant in &kernel.variants {
            let entry = library.kernel(&variant.entry);
            entries.push(entry.ok_or_else(|| self.problem(PlanProblem::Entry(variant.entry.clone())))?);
        }
        let mut syms = Vec::new();
        for name in &kernel.syms {
            let size = self.program.symbols.iter().position(|size| size.name == *name);
            syms.push(size.ok_or_else(|| RuntimeError::Unbound(name.to_string()))?);
        }
        let mut ptrs = Vec::new();
        for pointer in &kernel.ptrs {
            let arg = task.args.iter().find(|arg| arg.parameter == pointer.parameter);
            let arg = arg.ok_or_else(|| {
                self.problem(PlanProblem::Argument { kernel: symbol.clone(), argument: pointer.parameter.clone() })
            })?;
            ptrs.push(arg.resource);
        }
        let relation = match units {
            Units::Leaves { relation, .. } | Units::LongRows { relation, .. } => {
                let known = Relation::parse(relation).and_then(|relation| self.relation(relation));
                Some(known.ok_or_else(|| self.problem(PlanProblem::Part(relation.clone())))?)
            }
            Units::Once | Units::Rows(_) | Units::Blocks { .. } => None,
        };
        Ok(Some(Step { kernel: number, entries, syms, ptrs, relation }))
    }
}
