//! The stored form of a [`Template`]: JSON, written and read by hand here and nowhere else.

use crate::json::{self, JsonError, JsonProblem, Node};
use crate::template::*;
use cranelift_entity::{EntityRef, PrimaryMap};
use serde_json::{Value, json};
use tiga_abi::Tier;

/// The version of the stored form.
pub const TEMPLATE_SCHEMA: &str = "tiga.plan-template.v1";

/// Instances that one value may have in a tier, one after the other.
const MAX_COPIES: usize = 1 << 24;

type Result<T> = std::result::Result<T, JsonError>;

const OWNERS: &[(&str, Owner)] =
    &[("borrowed", Owner::Borrowed), ("owned", Owner::Owned), ("derived", Owner::Derived), ("stored", Owner::Stored)];
const TIERS: &[(&str, Tier)] = &[("ram", Tier::Ram), ("nvme", Tier::Nvme)];
const PHASES: &[(&str, Phase)] = &[("materialize", Phase::Materialize), ("execute", Phase::Execute)];
const ROLES: &[(&str, Role)] = &[
    ("src", Role::Src),
    ("dst", Role::Dst),
    ("edge", Role::Edge),
    ("param", Role::Param),
    ("total", Role::Total),
    ("out", Role::Out),
    ("relation", Role::Relation),
    ("scratch", Role::Scratch),
];
const MODES: &[(&str, Mode)] = &[("read", Mode::Read), ("write", Mode::Write), ("read_write", Mode::ReadWrite)];

fn word<T: PartialEq>(table: &[(&'static str, T)], value: &T) -> &'static str {
    table.iter().find(|(_, known)| known == value).expect("the table has a row for every variant").0
}

macro_rules! spelled {
    ($($ty:ident $table:ident),*) => { $(impl $ty {
        /// The word in plans.
        pub fn name(self) -> &'static str {
            word($table, &self)
        }
    })* };
}
spelled!(Owner OWNERS, Phase PHASES, Role ROLES, Mode MODES);

impl Phase {
    /// The phase of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        PHASES.iter().find(|(known, _)| *known == name).map(|(_, phase)| *phase)
    }
}

impl Mode {
    /// Reads `read`, `write` or `read_write`.
    ///
    /// # Errors
    /// Another value.
    pub fn from_json(node: Node<'_>) -> Result<Self> {
        node.choice(MODES)
    }
}

impl Template {
    /// The stored form; the same template gives the same bytes.
    pub fn to_json(&self) -> String {
        json::write(json!({
            "schema": TEMPLATE_SCHEMA,
            "program": self.program,
            "symbols": self.symbols.iter().map(|symbol| &**symbol).collect::<Vec<_>>(),
            "resources": self.resources.values().map(write_resource).collect::<Vec<_>>(),
            "root": write_body(&self.root),
            "bodies": self.bodies.values().map(write_body).collect::<Vec<_>>(),
        }))
    }

    /// Reads the stored form and checks the template's laws.
    ///
    /// # Errors
    /// The path to the first value that is not as the format says, or the first broken law.
    pub fn from_json(text: &[u8]) -> std::result::Result<Self, TemplateError> {
        let tree = json::parse(text, json::MAX_TEXT)?;
        let template = read_template(Node::root(&tree))?;
        template.verify()?;
        Ok(template)
    }
}

/// A stored template cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TemplateError {
    /// Its form is wrong.
    #[error(transparent)]
    Form(#[from] JsonError),
    /// It breaks a law.
    #[error(transparent)]
    Law(#[from] crate::verify::Violation),
}

fn read_template(node: Node<'_>) -> Result<Template> {
    let schema = node.get("schema")?;
    let found = schema.text()?;
    if found != TEMPLATE_SCHEMA {
        return Err(schema.refuse(JsonProblem::Version { found, known: TEMPLATE_SCHEMA.into() }));
    }
    node.keys(&["schema", "program", "symbols", "resources", "root", "bodies"])?;
    let resources: PrimaryMap<_, _> = node.get("resources")?.list(read_resource)?.into_iter().collect();
    let limits = Limits { resources: resources.len(), bodies: node.get("bodies")?.len() };
    Ok(Template {
        program: node.get("program")?.name()?,
        symbols: node.get("symbols")?.list(|symbol| symbol.name().map(Into::into))?,
        root: read_body(node.get("root")?, limits)?,
        bodies: node.get("bodies")?.list(|body| read_body(body, limits))?.into_iter().collect(),
        resources,
    })
}

/// The lengths that indices are checked against.
#[derive(Clone, Copy)]
struct Limits {
    resources: usize,
    bodies: usize,
}

impl Limits {
    fn resource(self, node: Node<'_>) -> Result<ResourceId> {
        node.index(self.resources).map(ResourceId::from_u32)
    }

    fn body(self, node: Node<'_>) -> Result<BodyId> {
        node.index(self.bodies).map(BodyId::from_u32)
    }
}

fn write_resource(resource: &Resource) -> Value {
    let mut tree = json!({
        "name": resource.name,
        "tier": resource.tier.name(),
        "owner": resource.owner.name(),
        "dtype": resource.dtype.name(),
        "shape": resource.shape.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "capacity": resource.capacity.to_string(),
        "layout": resource.layout,
    });
    if resource.copy > 1 {
        tree["copy"] = json!(resource.copy);
    }
    tree
}

fn read_resource(node: Node<'_>) -> Result<Resource> {
    node.keys_and(&["name", "tier", "owner", "dtype", "shape", "capacity", "layout"], &["copy"])?;
    Ok(Resource {
        name: node.get("name")?.name()?,
        tier: node.get("tier")?.choice(TIERS)?,
        copy: node.find("copy").map_or(Ok(1), read_copy)?,
        owner: node.get("owner")?.choice(OWNERS)?,
        dtype: node.get("dtype")?.dtype()?,
        shape: node.get("shape")?.list(|extent| extent.size())?,
        capacity: node.get("capacity")?.size()?,
        layout: node.get("layout")?.name()?,
    })
}

/// The first instance does not say which one it is.
fn read_copy(node: Node<'_>) -> Result<u32> {
    match node.index(MAX_COPIES)? {
        first @ (0 | 1) => Err(node.refuse(JsonProblem::Index { found: first.into(), len: MAX_COPIES })),
        copy => Ok(copy),
    }
}

fn write_body(body: &Body) -> Value {
    json!({
        "name": body.name,
        "externals": body.externals.iter().map(|id| id.index()).collect::<Vec<_>>(),
        "tasks": body.tasks.values().map(write_task).collect::<Vec<_>>(),
    })
}

fn read_body(node: Node<'_>, limits: Limits) -> Result<Body> {
    node.keys(&["name", "externals", "tasks"])?;
    let tasks = node.get("tasks")?;
    let count = tasks.len();
    Ok(Body {
        name: node.get("name")?.name()?,
        externals: node.get("externals")?.list(|id| limits.resource(id))?,
        tasks: tasks.list(|task| read_task(task, limits, count))?.into_iter().collect(),
    })
}

fn write_task(task: &Task) -> Value {
    let args = task.args.iter().map(|arg| json!([arg.parameter, arg.resource.index(), arg.role.name()]));
    let accesses = task.accesses.iter().map(|access| match &access.partition {
        None => json!([access.resource.index(), access.mode.name()]),
        Some(Partition { scheme, part }) => json!([access.resource.index(), access.mode.name(), scheme, part]),
    });
    let tasks = |list: &[TaskId]| list.iter().map(|id| id.index()).collect::<Vec<_>>();
    let mut tree = json!({
        "name": task.name,
        "kind": write_kind(&task.kind),
        "phase": task.phase.name(),
        "after": tasks(&task.after),
        "args": args.collect::<Vec<_>>(),
        "accesses": accesses.collect::<Vec<_>>(),
    });
    if !task.room_after.is_empty() {
        tree["room_after"] = json!(tasks(&task.room_after));
    }
    tree
}

fn read_task(node: Node<'_>, limits: Limits, tasks: usize) -> Result<Task> {
    node.keys_and(&["name", "kind", "phase", "after", "args", "accesses"], &["room_after"])?;
    let tasks = |list: Node<'_>| list.list(|id| id.index(tasks).map(TaskId::from_u32));
    Ok(Task {
        name: node.get("name")?.name()?,
        kind: read_kind(node.get("kind")?, limits)?,
        phase: node.get("phase")?.choice(PHASES)?,
        after: tasks(node.get("after")?)?,
        room_after: node.find("room_after").map_or(Ok(Vec::new()), tasks)?,
        args: node.get("args")?.list(|arg| {
            let [parameter, resource, role] = arg.tuple()?;
            let (parameter, resource) = (parameter.name()?, limits.resource(resource)?);
            Ok(Arg { parameter, resource, role: role.choice(ROLES)? })
        })?,
        accesses: node.get("accesses")?.list(|access| read_access(access, limits))?,
    })
}

fn read_access(node: Node<'_>, limits: Limits) -> Result<Access> {
    if node.len() == 2 {
        let [resource, mode] = node.tuple()?;
        return Ok(Access { resource: limits.resource(resource)?, mode: mode.choice(MODES)?, partition: None });
    }
    let [resource, mode, scheme, part] = node.tuple()?;
    Ok(Access {
        resource: limits.resource(resource)?,
        mode: mode.choice(MODES)?,
        partition: Some(Partition { scheme: scheme.name()?, part: part.name()? }),
    })
}

fn write_kind(kind: &TaskKind) -> Value {
    match kind {
        TaskKind::Kernel { symbol, relation, units } => {
            json!({"is": "kernel", "symbol": symbol, "relation": relation, "units": write_units(units)})
        }
        TaskKind::Loop { body, rotate, trip } => {
            let rotate = rotate.iter().map(|r| [r.read, r.write, r.a, r.b].map(|id| id.index()));
            json!({"is": "loop", "body": body.index(), "rotate": rotate.collect::<Vec<_>>(), "trip": write_trip(trip)})
        }
        TaskKind::Branch { condition, then_body, else_body } => json!({
            "is": "branch", "condition": condition.index(), "then": then_body.index(), "else": else_body.index(),
        }),
        TaskKind::Join => json!({"is": "join"}),
        TaskKind::Release => json!({"is": "release"}),
        TaskKind::Transfer => json!({"is": "transfer"}),
        TaskKind::Copy => json!({"is": "copy"}),
        TaskKind::BuildTranspose { relation } => json!({"is": "build-transpose", "relation": relation}),
        TaskKind::BuildJoined { relation } => json!({"is": "build-joined", "relation": relation}),
        TaskKind::BuildUnits { relation, leaf } => json!({"is": "build-units", "relation": relation, "leaf": leaf}),
    }
}

/// What tasks can be.
const KINDS: [&str; 10] = [
    "kernel",
    "loop",
    "branch",
    "join",
    "release",
    "transfer",
    "copy",
    "build-transpose",
    "build-joined",
    "build-units",
];

fn read_kind(node: Node<'_>, limits: Limits) -> Result<TaskKind> {
    let is = node.get("is")?.choice(&KINDS.map(|kind| (kind, kind)))?;
    match is {
        "kernel" => {
            node.keys(&["is", "symbol", "relation", "units"])?;
            Ok(TaskKind::Kernel {
                symbol: node.get("symbol")?.name()?,
                relation: node.get("relation")?.optional_name()?,
                units: read_units(node.get("units")?)?,
            })
        }
        "loop" => {
            node.keys(&["is", "body", "rotate", "trip"])?;
            let rotate = node.get("rotate")?.list(|rotation| {
                let [read, write, a, b] = rotation.tuple()?.map(|id| limits.resource(id));
                Ok(Rotation { read: read?, write: write?, a: a?, b: b? })
            })?;
            Ok(TaskKind::Loop {
                body: limits.body(node.get("body")?)?,
                rotate,
                trip: read_trip(node.get("trip")?, limits)?,
            })
        }
        "branch" => {
            node.keys(&["is", "condition", "then", "else"])?;
            Ok(TaskKind::Branch {
                condition: limits.resource(node.get("condition")?)?,
                then_body: limits.body(node.get("then")?)?,
                else_body: limits.body(node.get("else")?)?,
            })
        }
        "build-transpose" | "build-joined" => {
            node.keys(&["is", "relation"])?;
            let relation = node.get("relation")?.name()?;
            let transpose = is == "build-transpose";
            Ok(if transpose { TaskKind::BuildTranspose { relation } } else { TaskKind::BuildJoined { relation } })
        }
        "build-units" => {
            node.keys(&["is", "relation", "leaf"])?;
            Ok(TaskKind::BuildUnits { relation: node.get("relation")?.name()?, leaf: node.get("leaf")?.int()? })
        }
        plain => {
            node.keys(&["is"])?;
            Ok(match plain {
                "join" => TaskKind::Join,
                "release" => TaskKind::Release,
                "transfer" => TaskKind::Transfer,
                _ => TaskKind::Copy,
            })
        }
    }
}

fn write_trip(trip: &Trip) -> Value {
    let count = |count: &Count| match count {
        Count::Const(value) => json!({"const": value}),
        Count::Resource(id) => json!({"resource": id.index()}),
    };
    match trip {
        Trip::Counted(rounds) => json!({"count": count(rounds)}),
        Trip::While { condition, at_most } => json!({"while": condition.index(), "at_most": count(at_most)}),
    }
}

fn read_trip(node: Node<'_>, limits: Limits) -> Result<Trip> {
    let count = |node: Node<'_>| {
        if node.get("const").is_ok() {
            node.keys(&["const"])?;
            return Ok(Count::Const(node.get("const")?.int()?));
        }
        node.keys(&["resource"])?;
        Ok(Count::Resource(limits.resource(node.get("resource")?)?))
    };
    if node.get("count").is_ok() {
        node.keys(&["count"])?;
        return Ok(Trip::Counted(count(node.get("count")?)?));
    }
    node.keys(&["while", "at_most"])?;
    Ok(Trip::While { condition: limits.resource(node.get("while")?)?, at_most: count(node.get("at_most")?)? })
}

fn write_units(units: &Units) -> Value {
    match units {
        Units::Once => json!({"are": "once"}),
        Units::Rows(count) => json!({"are": "rows", "count": count.to_string()}),
        Units::Blocks { extent, size } => json!({"are": "blocks", "extent": extent.to_string(), "size": size}),
        Units::Leaves { relation, leaf } => json!({"are": "leaves", "relation": relation, "leaf": leaf}),
        Units::LongRows { relation, leaf } => json!({"are": "long-rows", "relation": relation, "leaf": leaf}),
    }
}

fn read_units(node: Node<'_>) -> Result<Units> {
    let are = node.get("are")?.choice(&["once", "rows", "blocks", "leaves", "long-rows"].map(|are| (are, are)))?;
    let relation = || Ok::<_, JsonError>((node.get("relation")?.name()?, node.get("leaf")?.int()?));
    match are {
        "once" => node.keys(&["are"]).map(|()| Units::Once),
        "rows" => {
            node.keys(&["are", "count"])?;
            node.get("count")?.size().map(Units::Rows)
        }
        "blocks" => {
            node.keys(&["are", "extent", "size"])?;
            Ok(Units::Blocks { extent: node.get("extent")?.size()?, size: node.get("size")?.int()? })
        }
        "leaves" => {
            node.keys(&["are", "relation", "leaf"])?;
            relation().map(|(relation, leaf)| Units::Leaves { relation, leaf })
        }
        _ => {
            node.keys(&["are", "relation", "leaf"])?;
            relation().map(|(relation, leaf)| Units::LongRows { relation, leaf })
        }
    }
}

#[cfg(test)]
mod tests;
