//! Launches and copies as tasks, and the structures derived from graphs.

use super::{LowerError, Planner, RelPath, Scope, task_name};
use indexmap::IndexMap;
use tiga_abi::{DType, SizeExpr};
use tiga_ir::{Func, Inst, Over, Space, Type, Value, joined, ops};
use tiga_plan::{Access, Arg, Body, Mode, Owner, Partition, Phase, Relation, ResourceId, Role, Task, TaskKind, Units};

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
            room_after: Vec::new(),
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
        let relation = arguments.relations.values().next();
        let units = self.units(&space, relation);
        let relation = relation.map(|path| path.relation.to_string());
        body.tasks.push(Task {
            name: task_name(body, "kernel"),
            kind: TaskKind::Kernel { symbol: set.source.to_string(), relation, units },
            phase: Phase::Execute,
            after: Vec::new(),
            room_after: Vec::new(),
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

    fn units(&self, space: &Space, path: Option<&RelPath>) -> Units {
        let relation = path.map(|path| path.relation.to_string()).unwrap_or_default();
        let of = |which: usize| path.map_or(SizeExpr::Const(0), |path| SizeExpr::from(&path.rel.sizes()[which]));
        match space {
            Space::Once => Units::Once,
            Space::Rows(extent) => Units::Rows(self.size(extent)),
            Space::Blocks(extent, size) => Units::Blocks { extent: self.size(extent), size: *size as i64 },
            Space::Short(_) => Units::Rows(of(1)),
            Space::Leaves(leaf) => Units::Leaves { relation, leaf: *leaf as i64 },
            Space::Long(leaf) => Units::LongRows { relation, leaf: *leaf as i64 },
            Space::Edges => Units::Rows(of(2)),
        }
    }

    /// An array of a relation; what is derived gets a task that builds it.
    fn part(&mut self, path: &RelPath, part: &str, leaf: i64) -> ResourceId {
        let [_, rows, edges] = path.rel.sizes().map(|size| SizeExpr::from(&size));
        let one = || Box::new(SizeExpr::Const(1));
        let ends = |count: SizeExpr| SizeExpr::Add(Box::new(count), one());
        let long = || SizeExpr::Div(Box::new(edges.clone()), Box::new(SizeExpr::Const(leaf)));
        let leaves = || SizeExpr::Mul(Box::new(SizeExpr::Const(2)), Box::new(long()));
        let (dtype, size) = match part {
            "row_ptr" => (DType::I64, ends(rows)),
            "col" => (DType::I32, edges),
            "perm" => (DType::I64, edges),
            "long_rows" => (DType::I64, long()),
            "leaf_base" => (DType::I64, ends(long())),
            _ => (DType::I64, leaves()),
        };
        let of_units = matches!(part, "long_rows" | "leaf_base" | "leaf_row");
        let name = match of_units {
            true => format!("{}.{part}.{leaf}", path.relation),
            false => format!("{}.{part}", path.relation),
        };
        if let Some(resource) = self.parts.get(&name) {
            return *resource;
        }
        let owner = if path.relation.derived() || of_units { Owner::Derived } else { Owner::Borrowed };
        let resource = self.add_resource(&name, dtype, vec![size], owner);
        self.parts.insert(name, resource);
        match &path.relation {
            _ if of_units => self.build_units(path, leaf),
            Relation::Graph { transposed: false, .. } => {}
            Relation::Graph { name, .. } => self.build_transpose(path, name),
            _ => self.build_joined(path),
        }
        resource
    }

    fn build_transpose(&mut self, path: &RelPath, graph: &str) {
        let kind = TaskKind::BuildTranspose { relation: graph.to_owned() };
        if self.builders.iter().any(|t| t.kind == kind) {
            return;
        }
        let plain = self.path_of(&path.relation.transposed());
        // Reserve the place first: asking for the parts below must not ask for the task again.
        let at = self.builders.len();
        self.builders.push(builder(kind.clone(), format!("transpose:{at}"), Vec::new()));
        let mut args = vec![("row_ptr".into(), self.part(&plain, "row_ptr", 0), Mode::Read)];
        args.push(("col".into(), self.part(&plain, "col", 0), Mode::Read));
        args.push(("t_row_ptr".into(), self.part(path, "row_ptr", 0), Mode::Write));
        args.push(("t_col".into(), self.part(path, "col", 0), Mode::Write));
        args.push(("perm".into(), self.part(path, "perm", 0), Mode::Write));
        self.builders[at] = builder(kind, format!("transpose:{at}"), args);
    }

    /// The task of a relation made of others, after those of what it is made of.
    fn build_joined(&mut self, path: &RelPath) {
        let kind = TaskKind::BuildJoined { relation: path.relation.to_string() };
        if self.builders.iter().any(|t| t.kind == kind) {
            return;
        }
        let arrays = |relation: &Relation| if relation.numbered() { &PARTS[..] } else { &PARTS[..2] };
        let mut args = Vec::new();
        for (made_of, of) in path.relation.made_of().into_iter().zip(["a", "b"]) {
            let made_of = self.path_of(made_of);
            for array in arrays(&made_of.relation) {
                args.push((format!("{of}.{array}"), self.part(&made_of, array, 0), Mode::Read));
            }
        }
        let at = self.builders.len();
        self.builders.push(builder(kind.clone(), format!("joined:{at}"), Vec::new()));
        for array in arrays(&path.relation) {
            args.push(((*array).to_owned(), self.part(path, array, 0), Mode::Write));
        }
        self.builders[at] = builder(kind, format!("joined:{at}"), args);
    }

    /// A relation with its sets: those of the graph parameters in it, joined as it is.
    fn path_of(&self, relation: &Relation) -> RelPath {
        let rel = match relation {
            Relation::Graph { name, transposed } => {
                let params = self.host.params().iter().enumerate();
                let graph =
                    params.filter(|(i, _)| self.host.param_name(*i) == name).map(|(_, v)| self.host.body.ty(*v));
                let rel =
                    graph.filter_map(Type::as_rel).next().expect("relations are made of graph parameters").clone();
                let (src, dst) = if *transposed { (rel.dst, rel.src) } else { (rel.src, rel.dst) };
                tiga_ir::RelType { src, dst, ..rel }
            }
            Relation::Loops(inner) => {
                let rel = self.path_of(inner).rel;
                tiga_ir::RelType { edges: joined::join(&rel.edges, &rel.dst), ..rel }
            }
            Relation::Concat(a, b) => {
                let (a, b) = (self.path_of(a).rel, self.path_of(b).rel);
                let set = joined::join;
                let (src, dst, edges) = (set(&a.src, &b.src), set(&a.dst, &b.dst), set(&a.edges, &b.edges));
                tiga_ir::RelType { src, dst, edges, ..a }
            }
        };
        RelPath { relation: relation.clone(), rel }
    }

    fn build_units(&mut self, path: &RelPath, leaf: i64) {
        let kind = TaskKind::BuildUnits { relation: path.relation.to_string(), leaf };
        if self.builders.iter().any(|t| t.kind == kind) {
            return;
        }
        // The transpose's own task, if any, comes before this one.
        let row_ptr = self.part(path, "row_ptr", 0);
        let at = self.builders.len();
        self.builders.push(builder(kind.clone(), format!("units:{at}"), Vec::new()));
        let mut args = vec![("row_ptr".into(), row_ptr, Mode::Read)];
        for part in ["long_rows", "leaf_base", "leaf_row"] {
            args.push((part.into(), self.part(path, part, leaf), Mode::Write));
        }
        self.builders[at] = builder(kind, format!("units:{at}"), args);
    }
}

/// The arrays of a relation whose edges have numbers.
const PARTS: [&str; 3] = ["row_ptr", "col", "perm"];

fn builder(kind: TaskKind, name: String, args: Vec<(String, ResourceId, Mode)>) -> Task {
    // A graph beside itself is read once.
    let accessed: IndexMap<ResourceId, Mode> = args.iter().map(|(_, resource, mode)| (*resource, *mode)).collect();
    let arg = |(parameter, resource, _)| Arg { parameter, resource, role: Role::Relation };
    Task {
        name,
        kind,
        phase: Phase::Materialize,
        after: Vec::new(),
        room_after: Vec::new(),
        args: args.into_iter().map(arg).collect(),
        accesses: accessed.into_iter().map(|(resource, mode)| access(resource, mode, None)).collect(),
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
