//! From a template to documents: sizes become numbers, each body a document of its own.

use crate::bind::{BindError, bind};
use crate::dag::Dag;
use crate::document::{Argument, Document, DocumentAccess, DocumentError, Invocation, Requirement};
use crate::peak::{Life, in_execution_order};
use crate::template::*;
use cranelift_entity::EntityRef;
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};
use tiga_abi::{SizeError, Tier};

/// Bytes of owned resources by tier, at the worst moment of a run.
pub type Peak = BTreeMap<Tier, u64>;

/// One body with sizes; invocation `i` of the document is task `i` of the body.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// The body's name; that of the root is the program's.
    pub name: String,
    /// What runs.
    pub document: Document,
    /// What it needs of its own when its tasks run one after the other in execution order, and those of the bodies
    /// that it runs in theirs.
    pub peak: Peak,
}

/// A template has no instance for these sizes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InstantiateError {
    /// A size without value.
    #[error("{place}: {source}")]
    Size {
        /// The resource or task.
        place: String,
        /// Why.
        source: SizeError,
    },
    /// More bytes than 64 bits count.
    #[error("the resources of `{0}` need more than 2^64 bytes")]
    Peak(String),
}

/// An instance may not run: our own mistake.
#[derive(Debug, thiserror::Error)]
pub enum InstanceError {
    /// It is not a valid document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// It is not what its own text says.
    #[error("the plan differs from its own text")]
    Text,
    /// It breaks a rule of binding, such as the hazard law.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A reserved symbol with other arguments than its own.
    #[error("`{invocation}` needs the arguments {parameters:?}")]
    Contract {
        /// The invocation.
        invocation: String,
        /// Its parameters.
        parameters: &'static [&'static str],
    },
    /// An argument whose resource is not listed, or of another version.
    #[error("`{invocation}` uses `{resource}`, which is not a resource of this version")]
    Resource {
        /// The invocation.
        invocation: String,
        /// The resource.
        resource: String,
    },
    /// An argument that no access speaks of.
    #[error("`{invocation}` does not say how it touches `{resource}`")]
    Silent {
        /// The invocation.
        invocation: String,
        /// The resource.
        resource: String,
    },
}

/// The version of data that lives in memory only.
const SNAPSHOT: u64 = 0;

/// Makes the documents of a verified template: first the root's, then those of its bodies in order.
///
/// # Errors
/// A size that is unbound, negative or too large.
pub fn instantiate(
    template: &Template,
    sizes: &dyn Fn(&str) -> Option<i64>,
) -> Result<Vec<Instance>, InstantiateError> {
    let capacities = template.resources.values().map(|resource| resource.bytes(sizes)).collect::<Result<_, _>>()?;
    let mut make = Make { template, sizes, capacities, peaks: Vec::new() };
    let mut instances = Vec::with_capacity(template.bodies.len() + 1);
    for body in template.bodies.values() {
        let instance = make.instance(body)?;
        make.peaks.push(instance.peak.clone());
        instances.push(instance);
    }
    instances.insert(0, make.instance(&template.root)?);
    Ok(instances)
}

/// Proves that an instance may run: its text is a valid document that says the same, it binds, the
/// hazard law holds, reserved symbols have their arguments. Gives the order of its invocations.
///
/// # Errors
/// The first thing that is not so.
pub fn check_instance(document: &Document) -> Result<Dag, InstanceError> {
    if Document::parse(document.to_json().as_bytes())? != *document {
        return Err(InstanceError::Text);
    }
    let dag = bind(document, &mut |_| Ok(Some(())))?.dag().clone();
    let versions: BTreeMap<&str, u64> =
        document.resources.iter().map(|resource| (resource.name.as_str(), resource.snapshot_version)).collect();
    for task in &document.invocations {
        check_invocation(task, &versions)?;
    }
    Ok(dag)
}

fn check_invocation(task: &Invocation, versions: &BTreeMap<&str, u64>) -> Result<(), InstanceError> {
    let invocation = || task.name.clone();
    let given = task.arguments.iter().map(|argument| argument.parameter.as_str());
    match parameters_of(&task.executable_symbol) {
        Some(parameters) if !given.eq(parameters.iter().copied()) => {
            return Err(InstanceError::Contract { invocation: invocation(), parameters });
        }
        _ => {}
    }
    let touched: BTreeSet<&str> = task.accesses.iter().map(|access| access.binding.as_str()).collect();
    for argument in &task.arguments {
        let resource = || argument.resource.clone();
        if versions.get(argument.resource.as_str()) != Some(&task.snapshot_version) {
            return Err(InstanceError::Resource { invocation: invocation(), resource: resource() });
        }
        if !touched.contains(argument.resource.as_str()) {
            return Err(InstanceError::Silent { invocation: invocation(), resource: resource() });
        }
    }
    Ok(())
}

/// The parameters of a reserved symbol that has a fixed list of them.
pub fn parameters_of(symbol: &str) -> Option<&'static [&'static str]> {
    match symbol {
        "__gf_join" => Some(&[]),
        "__gf_release" => Some(&["instance"]),
        "__gf_transfer" | "tiga.copy" => Some(&["source", "destination"]),
        "tiga.build_transpose" => Some(&["row_ptr", "col", "t_row_ptr", "t_col", "perm"]),
        "tiga.build_units" => Some(&["row_ptr", "long_rows", "leaf_base", "leaf_row"]),
        _ => None,
    }
}

impl Resource {
    /// Its bytes.
    ///
    /// # Errors
    /// A size that is unbound, negative or too large.
    pub fn bytes(&self, sizes: &dyn Fn(&str) -> Option<i64>) -> Result<u64, InstantiateError> {
        let place = || format!("resource `{}`", self.binding());
        let bytes = self.capacity.eval(sizes);
        Ok(bytes.map_err(|source| InstantiateError::Size { place: place(), source })?.unsigned_abs())
    }
}

impl TaskKind {
    /// The bodies that it runs, of which only one at once.
    pub fn bodies(&self) -> Vec<BodyId> {
        match self {
            TaskKind::Loop { body, .. } => vec![*body],
            TaskKind::Branch { then_body, else_body, .. } => vec![*then_body, *else_body],
            _ => Vec::new(),
        }
    }

    /// Whether it touches bytes itself, and so needs them in main memory.
    pub fn runs_in_memory(&self) -> bool {
        match self {
            TaskKind::Kernel { .. }
            | TaskKind::Copy
            | TaskKind::BuildTranspose { .. }
            | TaskKind::BuildJoined { .. }
            | TaskKind::BuildUnits { .. } => true,
            TaskKind::Loop { .. }
            | TaskKind::Branch { .. }
            | TaskKind::Join
            | TaskKind::Release
            | TaskKind::Transfer => false,
        }
    }

    /// The kind and the symbol in documents.
    pub fn spelling(&self) -> (&'static str, &str) {
        match self {
            TaskKind::Kernel { symbol, .. } => ("local", symbol),
            TaskKind::Loop { .. } => ("loop", "tiga.loop"),
            TaskKind::Branch { .. } => ("branch", "tiga.if"),
            TaskKind::Join => ("join", "__gf_join"),
            TaskKind::Release => ("release", "__gf_release"),
            TaskKind::Transfer => ("storage-transfer", "__gf_transfer"),
            TaskKind::Copy => ("copy", "tiga.copy"),
            TaskKind::BuildTranspose { .. } => ("build-transpose", "tiga.build_transpose"),
            TaskKind::BuildJoined { .. } => ("build-joined", "tiga.build_joined"),
            TaskKind::BuildUnits { .. } => ("build-units", "tiga.build_units"),
        }
    }
}

impl Units {
    /// How many units there are; `None` if only the graph's built units tell.
    ///
    /// # Errors
    /// A size that is unbound, negative or too large.
    pub fn count(&self, sizes: &dyn Fn(&str) -> Option<i64>) -> Result<Option<i64>, SizeError> {
        match self {
            Units::Once => Ok(Some(1)),
            Units::Rows(count) => count.eval(sizes).map(Some),
            Units::Blocks { size, .. } if *size < 1 => Err(SizeError::DivisionByZero(size.to_string())),
            Units::Blocks { extent, size } => {
                let extent = extent.eval(sizes)?;
                Ok(Some(extent / size + i64::from(extent % size != 0)))
            }
            Units::Leaves { .. } | Units::LongRows { .. } => Ok(None),
        }
    }
}

struct Make<'a> {
    template: &'a Template,
    sizes: &'a dyn Fn(&str) -> Option<i64>,
    /// Bytes of each resource.
    capacities: Vec<u64>,
    /// Of the bodies made so far.
    peaks: Vec<Peak>,
}

impl Make<'_> {
    fn instance(&self, body: &Body) -> Result<Instance, InstantiateError> {
        let invocations = body.tasks.values().map(|task| self.invocation(body, task)).collect::<Result<_, _>>()?;
        let accessed = body.tasks.values().flat_map(|task| task.accesses.iter().map(|access| access.resource));
        let used: BTreeSet<ResourceId> = accessed.chain(body.externals.iter().copied()).collect();
        let waited_for: BTreeSet<TaskId> = body.tasks.values().flat_map(Task::waits_for).collect();
        let last = body.tasks.iter().filter(|(id, _)| !waited_for.contains(id));
        let document = Document {
            resources: used.into_iter().map(|id| self.requirement(body, id)).collect(),
            invocations,
            terminals: last.map(|(_, task)| task.name.clone()).collect(),
        };
        let peak = self.peak(body)?;
        Ok(Instance { name: body.name.clone(), document, peak })
    }

    fn requirement(&self, body: &Body, id: ResourceId) -> Requirement {
        let resource = &self.template.resources[id];
        Requirement {
            name: resource.binding(),
            memory_space: resource.tier.name().into(),
            layout: resource.layout.clone(),
            device: resource.device().into(),
            capacity_bytes: self.capacities[id.index()],
            snapshot_version: SNAPSHOT,
            external: resource.owner != Owner::Owned || body.externals.contains(&id),
        }
    }

    fn invocation(&self, body: &Body, task: &Task) -> Result<Invocation, InstantiateError> {
        let (kind, symbol) = task.kind.spelling();
        let binding = |id: ResourceId| self.template.resources[id].binding();
        let names = |tasks: &[TaskId]| tasks.iter().map(|id| body.tasks[*id].name.clone()).collect::<Vec<_>>();
        let mut metadata = self.metadata(body, task)?;
        if !task.room_after.is_empty() {
            metadata.insert("memory_after".into(), json!(names(&task.room_after)));
        }
        let argument = |arg: &Arg| Argument { parameter: arg.parameter.clone(), resource: binding(arg.resource) };
        let access = |access: &Access| DocumentAccess {
            binding: binding(access.resource),
            mode: access.mode,
            snapshot_version: SNAPSHOT,
            partition: access.partition.clone(),
        };
        Ok(Invocation {
            name: task.name.clone(),
            task_kind: kind.into(),
            phase: task.phase,
            executable_symbol: symbol.into(),
            depends_on: names(&task.waits_for()),
            arguments: task.args.iter().map(argument).collect(),
            accesses: task.accesses.iter().map(access).collect(),
            snapshot_version: SNAPSHOT,
            metadata,
        })
    }

    fn metadata(&self, body: &Body, task: &Task) -> Result<Map<String, Value>, InstantiateError> {
        // A value's first instance in main memory is called like the value.
        let name = |id: ResourceId| self.template.resources[id].label();
        let body_name = |id: BodyId| self.template.bodies[id].name.as_str();
        let count = |count: &Count| match count {
            Count::Const(value) => json!(value),
            Count::Resource(id) => json!(name(*id)),
        };
        let tree = match &task.kind {
            TaskKind::Kernel { relation, units, .. } => {
                let place = || format!("`{}` task `{}`", body.name, task.name);
                let units = self.units(units).map_err(|source| InstantiateError::Size { place: place(), source })?;
                let roles = task.args.iter().map(|arg| (arg.parameter.clone(), json!(arg.role.name())));
                json!({"relation": relation, "roles": Value::Object(roles.collect()), "units": units})
            }
            TaskKind::Loop { body, rotate, trip } => {
                let rotate: Vec<_> = rotate.iter().map(|r| [r.read, r.write, r.a, r.b].map(name)).collect();
                let mut tree =
                    json!({"body": body_name(*body), "rotate": rotate, "peak_bytes": self.nested(&task.kind)});
                match trip {
                    Trip::Counted(rounds) => tree["count"] = count(rounds),
                    Trip::While { condition, at_most } => {
                        tree["condition"] = json!(name(*condition));
                        tree["at_most"] = count(at_most);
                    }
                }
                tree
            }
            TaskKind::Branch { condition, then_body, else_body } => json!({
                "condition": name(*condition), "then": body_name(*then_body), "else": body_name(*else_body),
                "peak_bytes": self.nested(&task.kind),
            }),
            TaskKind::BuildTranspose { relation } | TaskKind::BuildJoined { relation } => json!({"relation": relation}),
            TaskKind::BuildUnits { relation, leaf } => json!({"relation": relation, "leaf": leaf}),
            TaskKind::Join | TaskKind::Release | TaskKind::Transfer | TaskKind::Copy => json!({}),
        };
        Ok(tree.as_object().cloned().unwrap_or_default())
    }

    fn units(&self, units: &Units) -> Result<Value, SizeError> {
        let count = units.count(self.sizes)?;
        Ok(match units {
            Units::Once => json!({"are": "once", "count": count}),
            Units::Rows(_) => json!({"are": "rows", "count": count}),
            Units::Blocks { size, .. } => json!({"are": "blocks", "count": count, "size": size}),
            Units::Leaves { relation, leaf } => json!({"are": "leaves", "relation": relation, "leaf": leaf}),
            Units::LongRows { relation, leaf } => json!({"are": "long-rows", "relation": relation, "leaf": leaf}),
        })
    }

    fn nested(&self, kind: &TaskKind) -> Value {
        let peak = nested_peak(kind, &self.peaks);
        peak.into_iter().map(|(tier, bytes)| (tier.name().to_owned(), json!(bytes))).collect::<Map<_, _>>().into()
    }

    /// What the body needs of its own in execution order.
    fn peak(&self, body: &Body) -> Result<Peak, InstantiateError> {
        let dag = body.dag();
        let bytes = |id: ResourceId| self.capacities[id.index()];
        let mut peak = Peak::from([(Tier::Ram, 0)]);
        for (tier, lives) in lives(self.template, body, &bytes, &|task| nested_peak(&task.kind, &self.peaks)) {
            let most = in_execution_order(&dag, &lives);
            peak.insert(tier, most.ok_or_else(|| InstantiateError::Peak(body.name.clone()))?);
        }
        Ok(peak)
    }
}

/// What the bodies that a task runs need of their own: both sides of a branch never run at once.
fn nested_peak(kind: &TaskKind, peaks: &[Peak]) -> Peak {
    let mut all = Peak::new();
    kind.bodies().into_iter().for_each(|id| widen(&mut all, &peaks[id.index()]));
    all
}

/// Makes room for another peak, which is at another time.
pub(crate) fn widen(peak: &mut Peak, other: &Peak) {
    for (tier, bytes) in other {
        let most = peak.entry(*tier).or_default();
        *most = (*most).max(*bytes);
    }
}

/// What lives how long in each tier: what the body owns, and what its tasks need of their own while they run.
pub(crate) fn lives(
    template: &Template,
    body: &Body,
    bytes: &dyn Fn(ResourceId) -> u64,
    own: &dyn Fn(&Task) -> Peak,
) -> BTreeMap<Tier, Vec<Life>> {
    let mut of: BTreeMap<ResourceId, Life> = BTreeMap::new();
    let mut all: BTreeMap<Tier, Vec<Life>> = BTreeMap::new();
    for (id, task) in &body.tasks {
        let index = id.index();
        for access in &task.accesses {
            let resource = &template.resources[access.resource];
            if resource.owner != Owner::Owned || body.externals.binary_search(&access.resource).is_ok() {
                continue;
            }
            let fresh = || Life { bytes: bytes(access.resource), writers: Vec::new(), release: None };
            let life = of.entry(access.resource).or_insert_with(fresh);
            if task.kind == TaskKind::Release {
                life.release = Some(index);
            } else if access.mode.writes() && life.writers.last() != Some(&index) {
                life.writers.push(index);
            }
        }
        for (tier, bytes) in own(task) {
            all.entry(tier).or_default().push(Life { bytes, writers: vec![index], release: Some(index) });
        }
    }
    for (id, life) in of {
        if !life.writers.is_empty() {
            all.entry(template.resources[id].tier).or_default().push(life);
        }
    }
    all
}

#[cfg(test)]
mod tests;
