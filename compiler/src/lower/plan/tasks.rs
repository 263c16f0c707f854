//! Launches and copies as tasks, and the structures derived from graphs.

use super::{LowerError, Planner, RelPath, Scope, task_name};
use indexmap::IndexMap;
use tiga_abi::{DType, SizeExpr, Symbol};
use tiga_ir::{Func, Inst, Over, Space, Type, Value, ops};
use tiga_plan::{Access, Arg, Body, Mode, Owner, Partition, Phase, ResourceId, Role, Task, TaskKind, Units};

/// What the arguments of one launch are, by the loops function's parameter name.
struct Arguments {
    memory: IndexMap<String, ResourceId>,
    relations: IndexMap<String, RelPath>,
}

impl Planner<'_> {
    pub(super) fn copy(&mut self, source: ResourceId, destination: ResourceId, body: &mut Body) {
        let arg = |parameter: &str, resource, role| Arg { parameter: parameter.into(), resource, role };
        body.tasks.push(Task {
            name: task_name(body, "copy"),
            kind: TaskKind::Copy,
            phase: Phase::Execute,
            after: Vec::new(),
            args: vec![arg("source", source, Role::Param), arg("destination", destination, Role::Out)],
            accesses: vec![access(source, Mode::Read, None), access(destination, Mode::Write, None)],
        });
    }

    pub(super) fn launch(&mut self, inst: Inst, scope: &Scope, body: &mut Body) -> Result<(), LowerError> {
        let data = self.host.body.inst(inst);
        let name = data.attrs.callee().expect("verified: a launch has a callee");
        let func = &self.module.funcs[name];
        let set = self.kernels.iter().find(|k| k.source == *name);
        let set = set.ok_or_else(|| self.unsupported("a launch of a function without kernels"))?.clone();
        let mut arguments = Arguments { memory: IndexMap::new(), relations: IndexMap::new() };
        for (i, value) in data.operands.iter().enumerate() {
            let parameter = func.param_name(i).to_owned();
            match self.host.body.ty(*value) {
                Type::Rel(_) => {
                    arguments.relations.insert(parameter, self.relation(scope, *value)?.clone());
                }
                _ => {
                    arguments.memory.insert(parameter, self.memory(scope, *value)?);
                }
            }
        }
        let space = space_of(func);
        let (mut args, mut accesses) = (Vec::new(), Vec::new());
        for pointer in super::manifest::pointers(&set) {
            let (resource, role) = self.argument(&arguments, func, &pointer, &space)?;
            let partition = rows_partition(&space).filter(|_| pointer.mode.writes() && role == Role::Out);
            args.push(Arg { parameter: pointer.parameter, resource, role });
            accesses.push(access(resource, pointer.mode, partition));
        }
        let relation = arguments.relations.values().next().map(RelPath::path);
        let units = self.units(&space, relation.as_deref())?;
        body.tasks.push(Task {
            name: task_name(body, "kernel"),
            kind: TaskKind::Kernel { symbol: set.source.to_string(), relation, units },
            phase: Phase::Execute,
            after: Vec::new(),
            args,
            accesses,
        });
        Ok(())
    }

    /// The resource of one pointer of a kernel, and its role.
    fn argument(
        &mut self,
        arguments: &Arguments,
        func: &Func,
        pointer: &tiga_bundle::Pointer,
        space: &Space,
    ) -> Result<(ResourceId, Role), LowerError> {
        if let Some(resource) = arguments.memory.get(&pointer.parameter) {
            return Ok((*resource, role(func, &pointer.parameter, pointer.mode)));
        }
        let part = pointer.parameter.rsplit_once('.');
        let found = part.and_then(|(rel, part)| arguments.relations.get(rel).map(|path| (path.clone(), part)));
        let (path, part) = found.ok_or_else(|| self.unsupported("a kernel argument that nothing binds"))?;
        let leaf = match space {
            Space::Leaves(leaf) | Space::Long(leaf) => *leaf as i64,
            _ => 0,
        };
        Ok((self.part(&path, part, leaf), Role::Relation))
    }

    fn units(&self, space: &Space, relation: Option<&str>) -> Result<Units, LowerError> {
        let relation = relation.unwrap_or_default().to_owned();
        Ok(match space {
            Space::Once => Units::Once,
            Space::Rows(extent) => Units::Rows(self.size(extent)),
            Space::Blocks(extent, size) => Units::Blocks { extent: self.size(extent), size: *size as i64 },
            Space::Short(_) => Units::Rows(SizeExpr::Sym(self.destinations(&relation))),
            Space::Leaves(leaf) => Units::Leaves { relation, leaf: *leaf as i64 },
            Space::Long(leaf) => Units::LongRows { relation, leaf: *leaf as i64 },
            Space::Edges => Units::Rows(SizeExpr::Sym(self.edges(&relation))),
        })
    }

    /// The destination set of a relation by its path.
    fn destinations(&self, path: &str) -> Symbol {
        let (rel, transposed) = self.graph_of(path);
        if transposed { rel.src.clone() } else { rel.dst.clone() }
    }

    fn edges(&self, path: &str) -> Symbol {
        self.graph_of(path).0.edges.clone()
    }

    /// The graph parameter that a path begins with, and whether it is transposed.
    fn graph_of(&self, path: &str) -> (&tiga_ir::RelType, bool) {
        let (graph, transposed) = path.strip_suffix(".t").map_or((path, false), |graph| (graph, true));
        let params = self.host.params().iter().enumerate();
        let graph = params.filter(|(i, _)| self.host.param_name(*i) == graph).map(|(_, v)| self.host.body.ty(*v));
        (graph.filter_map(Type::as_rel).next().expect("paths begin with a graph parameter"), transposed)
    }

    /// An array of a relation; what is derived gets a task that builds it.
    fn part(&mut self, path: &RelPath, part: &str, leaf: i64) -> ResourceId {
        let edges = SizeExpr::Sym(path.rel.edges.clone());
        let rows = SizeExpr::Sym(path.rel.dst.clone());
        let one = || Box::new(SizeExpr::Const(1));
        let ends = |count: SizeExpr| SizeExpr::Add(Box::new(count), one());
        let long = || SizeExpr::Div(Box::new(SizeExpr::Sym(path.rel.edges.clone())), Box::new(SizeExpr::Const(leaf)));
        let leaves = || SizeExpr::Mul(Box::new(SizeExpr::Const(2)), Box::new(long()));
        let (name, dtype, size) = match part {
            "row_ptr" => (format!("{}.row_ptr", path.path()), DType::I64, ends(rows)),
            "col" => (format!("{}.col", path.path()), DType::I32, edges),
            "perm" => (format!("{}.perm", path.path()), DType::I64, edges),
            "long_rows" => (format!("{}.long_rows.{leaf}", path.path()), DType::I64, long()),
            "leaf_base" => (format!("{}.leaf_base.{leaf}", path.path()), DType::I64, ends(long())),
            _ => (format!("{}.leaf_row.{leaf}", path.path()), DType::I64, leaves()),
        };
        if let Some(resource) = self.parts.get(&name) {
            return *resource;
        }
        let derived = path.transposed || leaf > 0 && part != "row_ptr" && part != "col";
        let owner = if derived { Owner::Derived } else { Owner::Borrowed };
        let resource = self.add_resource(&name, dtype, vec![size], owner);
        self.parts.insert(name, resource);
        if matches!(part, "long_rows" | "leaf_base" | "leaf_row") {
            self.build_units(path, leaf);
        } else if path.transposed {
            self.build_transpose(path);
        }
        resource
    }

    fn build_transpose(&mut self, path: &RelPath) {
        let kind = TaskKind::BuildTranspose { relation: path.graph.to_string() };
        if self.builders.iter().any(|t| t.kind == kind) {
            return;
        }
        let rel = tiga_ir::RelType { src: path.rel.dst.clone(), dst: path.rel.src.clone(), ..path.rel.clone() };
        let plain = RelPath { graph: path.graph.clone(), transposed: false, rel };
        // Reserve the place first: asking for the parts below must not ask for the task again.
        let at = self.builders.len();
        self.builders.push(builder(kind.clone(), format!("transpose:{at}"), Vec::new()));
        let mut args = vec![("row_ptr", self.part(&plain, "row_ptr", 0), Mode::Read)];
        args.push(("col", self.part(&plain, "col", 0), Mode::Read));
        args.push(("t_row_ptr", self.part(path, "row_ptr", 0), Mode::Write));
        args.push(("t_col", self.part(path, "col", 0), Mode::Write));
        args.push(("perm", self.part(path, "perm", 0), Mode::Write));
        self.builders[at] = builder(kind, format!("transpose:{at}"), args);
    }

    fn build_units(&mut self, path: &RelPath, leaf: i64) {
        let kind = TaskKind::BuildUnits { relation: path.path(), leaf };
        if self.builders.iter().any(|t| t.kind == kind) {
            return;
        }
        // The transpose's own task, if any, comes before this one.
        let row_ptr = self.part(path, "row_ptr", 0);
        let at = self.builders.len();
        self.builders.push(builder(kind.clone(), format!("units:{at}"), Vec::new()));
        let mut args = vec![("row_ptr", row_ptr, Mode::Read)];
        for part in ["long_rows", "leaf_base", "leaf_row"] {
            args.push((part, self.part(path, part, leaf), Mode::Write));
        }
        self.builders[at] = builder(kind, format!("units:{at}"), args);
    }
}

fn builder(kind: TaskKind, name: String, args: Vec<(&str, ResourceId, Mode)>) -> Task {
    let arg = |(parameter, resource, _): &(&str, ResourceId, Mode)| Arg {
        parameter: (*parameter).into(),
        resource: *resource,
        role: Role::Relation,
    };
    Task {
        name,
        kind,
        phase: Phase::Materialize,
        after: Vec::new(),
        args: args.iter().map(arg).collect(),
        accesses: args.iter().map(|(_, resource, mode)| access(*resource, *mode, None)).collect(),
    }
}

pub(super) fn access(resource: ResourceId, mode: Mode, partition: Option<Partition>) -> Access {
    Access { resource, mode, partition }
}

/// The space of a loops function's only loop.
pub(super) fn space_of(func: &Func) -> Space {
    let first = func.body.block(func.body.entry(func.region)).insts.first();
    first.and_then(|i| func.body.inst(*i).attrs.space().cloned()).unwrap_or(Space::Once)
}

/// Short and long rows of one result are written by two kernels, disjoint by this scheme.
fn rows_partition(space: &Space) -> Option<Partition> {
    let part = match space {
        Space::Short(_) => "short",
        Space::Long(_) => "long",
        _ => return None,
    };
    Some(Partition { scheme: "rows".into(), part: part.into() })
}

/// The role of a parameter: how the loops function indexes it.
fn role(func: &Func, parameter: &str, mode: Mode) -> Role {
    let body = &func.body;
    let params = func.params();
    let memory = params.iter().enumerate().find(|(i, _)| func.param_name(*i) == parameter).map(|(_, v)| *v);
    if parameter.starts_with("tiga.partial") {
        return Role::Scratch;
    }
    if mode.writes() {
        return Role::Out;
    }
    let insts = body.walk(func.region);
    // Where all of it is read, it is no row of anything.
    let whole = |data: &tiga_ir::InstData| {
        data.operands.iter().enumerate().any(|(i, v)| data.op.whole(i) && Some(v) == memory.as_ref())
    };
    if insts.iter().any(|i| whole(body.inst(*i))) {
        return Role::Param;
    }
    let load = insts.iter().map(|i| body.inst(*i)).find(|d| d.op == ops::LOAD && d.operands.first() == memory.as_ref());
    match load.and_then(|d| d.operands.get(1)) {
        None => Role::Param,
        Some(index) => edge_index(func, *index).unwrap_or(Role::Dst),
    }
}

/// Whether an index is the edge or the source of an element of a reduction, or of an iteration over edges.
fn edge_index(func: &Func, index: Value) -> Option<Role> {
    let body = &func.body;
    for inst in body.walk(func.region) {
        let data = body.inst(inst);
        let of_edges = data.op == ops::FOR && data.attrs.space() == Some(&Space::Edges);
        if of_edges
            || data.op == ops::REDUCE && matches!(data.attrs.over(), Some(Over::Neighbours | Over::Leaf | Over::Edges))
        {
            let params = &body.block(body.entry(data.regions[0])).params;
            match params.iter().position(|p| *p == index) {
                Some(1) => return Some(Role::Edge),
                Some(2) => return Some(Role::Src),
                _ => {}
            }
        }
    }
    None
}
