//! The exchanged form of one plan instance: an executable-bundle-plan document of version 1.
//!
//! [`Document::parse`] accepts what the format's definition accepts, also unordered hazards and
//! cycles; [`bind`](crate::bind) judges those.

use crate::few::few;
use crate::json::{self, JsonError, JsonProblem, Node};
use crate::template::{Mode, Partition, Phase};
use indexmap::IndexSet;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use tiga_abi::Tier;

/// The version of the document.
pub const DOCUMENT_SCHEMA: &str = "tiga.executable-bundle-plan.v1";

/// Bytes of a document that are read at all.
pub const MAX_DOCUMENT: usize = 64 << 20;

/// A list of invocations with the resources they need.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Resources; one that invocations name without its standing here is the caller's.
    pub resources: Vec<Requirement>,
    /// What runs, in declaration order.
    pub invocations: Vec<Invocation>,
    /// The invocations that nobody waits for.
    pub terminals: Vec<String>,
}

/// One resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// Unique, `<logical name>@<memory space>:<device>`.
    pub name: String,
    /// The tier.
    pub memory_space: String,
    /// Free text, such as `contiguous`.
    pub layout: String,
    /// Such as `host:0`.
    pub device: String,
    /// Bytes.
    pub capacity_bytes: u64,
    /// Version of the data.
    pub snapshot_version: u64,
    /// Whether the caller supplies it; otherwise the plan owns it.
    pub external: bool,
}

/// One task.
#[derive(Clone, Debug, PartialEq)]
pub struct Invocation {
    /// Unique.
    pub name: String,
    /// Free text.
    pub task_kind: String,
    /// When it belongs.
    pub phase: Phase,
    /// What a resolver turns into something executable.
    pub executable_symbol: String,
    /// Names of invocations that are complete before it starts.
    pub depends_on: Vec<String>,
    /// Resources by parameter.
    pub arguments: Vec<Argument>,
    /// What it touches.
    pub accesses: Vec<DocumentAccess>,
    /// Version of the data.
    pub snapshot_version: u64,
    /// Everything else, for the resolver.
    pub metadata: Map<String, Value>,
}

/// One argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The parameter.
    pub parameter: String,
    /// The resource bound to it.
    pub resource: String,
}

/// One access.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentAccess {
    /// The resource.
    pub binding: String,
    /// How.
    pub mode: Mode,
    /// Version of the data.
    pub snapshot_version: u64,
    /// Which part.
    pub partition: Option<Partition>,
}

/// A text is not a document of version 1. Variants stand in the order in which they are checked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// The text is not JSON.
    #[error("invalid executable-bundle plan JSON: {0}")]
    Json(JsonError),
    /// Not an object, or of another version.
    #[error("unsupported executable-bundle plan schema {0}; this program reads \"{DOCUMENT_SCHEMA}\"")]
    Schema(String),
    /// One of the three lists is missing or no list.
    #[error("`{0}` must be an array")]
    List(&'static str),
    /// A resource has not exactly its seven fields.
    #[error("malformed bundle plan resource: {0}")]
    Resource(JsonError),
    /// An invocation lacks a field or has one of another type.
    #[error("malformed bundle plan invocation: {0}")]
    Invocation(JsonError),
    /// An access has one of `partitioning` and `partition`.
    #[error("malformed bundle plan invocation: partitioning and partition must be specified together in `{0}`")]
    Partitioning(String),
    /// The version of an invocation is not a non-negative integer.
    #[error("the snapshot version of an invocation must be a non-negative integer: {0}")]
    Version(JsonError),
    /// A terminal is not a name.
    #[error("terminals must be non-empty strings: {0}")]
    TerminalName(JsonError),
    /// There is nothing to run.
    #[error("a bundle plan needs at least one invocation")]
    NoInvocations,
    /// Two invocations of one name.
    #[error("invocation names must be unique: `{0}`")]
    InvocationName(String),
    /// Two resources of one name.
    #[error("resource names must be unique: `{0}`")]
    ResourceName(String),
    /// No terminals, or one that is no invocation.
    #[error("terminals must name invocations of the plan: {}", few(.0))]
    Terminals(Vec<String>),
    /// An invocation without a symbol.
    #[error("`{0}` has no executable symbol")]
    Symbol(String),
    /// A phase that is neither `materialize` nor `execute`.
    #[error("`{invocation}` has an invalid phase {found:?} (materialize, execute)")]
    Phase {
        /// The invocation.
        invocation: String,
        /// Its phase.
        found: String,
    },
    /// A dependency that is no invocation.
    #[error("`{invocation}` has unknown dependencies {}", few(.unknown))]
    Dependencies {
        /// The invocation.
        invocation: String,
        /// The names.
        unknown: Vec<String>,
    },
    /// An access of another version than its invocation.
    #[error("`{invocation}` mixes snapshot versions: {own} and {access}")]
    MixedVersions {
        /// The invocation.
        invocation: String,
        /// Its version.
        own: u64,
        /// The access's version.
        access: u64,
    },
}

impl Requirement {
    /// The tier in its usual spelling; what names none stays as it is.
    pub fn space(&self) -> String {
        self.memory_space.parse::<Tier>().map_or_else(|_| self.memory_space.clone(), |tier| tier.name().to_owned())
    }

    /// The name without its place: that of the data, of which there may be several instances.
    pub fn logical_name(&self) -> &str {
        self.name.split('@').next().unwrap_or(&self.name)
    }
}

type Result<T> = std::result::Result<T, DocumentError>;

/// The keys of an invocation that are not metadata.
const INVOCATION_KEYS: [&str; 8] =
    ["name", "task_kind", "phase", "executable_symbol", "depends_on", "arguments", "accesses", "snapshot_version"];

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// The first check that fails, in the order of [`DocumentError`].
    pub fn parse(text: &[u8]) -> Result<Self> {
        let top = json::shallow(text, MAX_DOCUMENT).map_err(DocumentError::Json)?;
        let read = |key: &str| top.get(key).map(|raw| json::deep(raw)).transpose().map_err(DocumentError::Json);
        let schema = read("schema")?.unwrap_or(Value::Null);
        if schema != DOCUMENT_SCHEMA {
            return Err(DocumentError::Schema(schema.to_string().chars().take(80).collect()));
        }
        let list = |key: &'static str| match top.get(key).map(|raw| json::items(raw)) {
            Some(Some(items)) => Ok(items),
            None if key == "resources" => Ok(Vec::new()),
            _ => Err(DocumentError::List(key)),
        };
        let (resources, invocations, terminals) = (list("resources")?, list("invocations")?, list("terminals")?);
        let resources = json::rows("resources", &resources, read_resource).map_err(refused(DocumentError::Resource))?;
        let mut drafts = read_invocations(&invocations)?;
        for draft in &mut drafts {
            draft.invocation.snapshot_version = draft.version.clone().map_err(DocumentError::Version)?;
        }
        let terminals = json::rows("terminals", &terminals, |name| name.name());
        let terminals = terminals.map_err(refused(DocumentError::TerminalName))?;
        check_names(&resources, &drafts, &terminals)?;
        let phased = |Draft { phase, mut invocation, .. }: Draft| {
            invocation.phase = Phase::from_name(&phase).unwrap_or(invocation.phase);
            invocation
        };
        let invocations = drafts.into_iter().map(phased).collect();
        Ok(Document { resources, invocations, terminals })
    }

    /// The text; the same document gives the same bytes.
    pub fn to_json(&self) -> String {
        json::write(json!({
            "schema": DOCUMENT_SCHEMA,
            "resources": self.resources.iter().map(write_resource).collect::<Vec<_>>(),
            "invocations": self.invocations.iter().map(write_invocation).collect::<Vec<_>>(),
            "terminals": self.terminals,
        }))
    }

    /// The resource of that name.
    pub fn resource(&self, name: &str) -> Option<&Requirement> {
        self.resources.iter().find(|resource| resource.name == name)
    }
}

/// An invocation whose phase and version are not checked yet.
struct Draft {
    phase: String,
    version: std::result::Result<u64, JsonError>,
    invocation: Invocation,
}

fn read_resource(node: Node<'_>) -> std::result::Result<Requirement, JsonError> {
    const KEYS: [&str; 7] =
        ["name", "memory_space", "layout", "device", "capacity_bytes", "snapshot_version", "external"];
    node.keys(&KEYS)?;
    Ok(Requirement {
        name: node.get("name")?.name()?,
        memory_space: node.get("memory_space")?.name()?,
        layout: node.get("layout")?.name()?,
        device: node.get("device")?.name()?,
        capacity_bytes: node.get("capacity_bytes")?.natural()?,
        snapshot_version: node.get("snapshot_version")?.natural()?,
        external: node.get("external")?.bool()?,
    })
}

fn read_invocations(list: &[&RawValue]) -> Result<Vec<Draft>> {
    let mut half = None;
    let read = json::rows("invocations", list, |node| {
        let accesses = node.get("accesses")?.list(|access| {
            let (scheme, part) = (access.find("partitioning"), access.find("partition"));
            if scheme.is_some() != part.is_some() {
                half = node.find("name").and_then(|name| name.text().ok());
                return Err(access.refuse(JsonProblem::Missing("partitioning or partition".into())));
            }
            read_access(access)
        })?;
        read_invocation(node, accesses)
    });
    match (half, read) {
        (_, Ok(drafts)) => Ok(drafts),
        (Some(name), Err(_)) => Err(DocumentError::Partitioning(name)),
        (None, Err(error)) => Err(refused(DocumentError::Invocation)(error)),
    }
}

/// A refusal of one item of a list; what is no JSON there makes the whole text none.
fn refused(kind: fn(JsonError) -> DocumentError) -> impl Fn(JsonError) -> DocumentError {
    move |error| match error.problem {
        JsonProblem::Syntax(_) => DocumentError::Json(error),
        _ => kind(error),
    }
}

fn read_access(node: Node<'_>) -> std::result::Result<DocumentAccess, JsonError> {
    let binding = node.get("binding")?.name()?;
    let mode = Mode::from_json(node.get("mode")?)?;
    let snapshot_version = node.get("snapshot_version")?.natural()?;
    let partition = match (node.find("partitioning"), node.find("partition")) {
        (Some(scheme), Some(part)) => Some(Partition { scheme: scheme.name()?, part: part.name()? }),
        _ => None,
    };
    Ok(DocumentAccess { binding, mode, snapshot_version, partition })
}

fn read_invocation(node: Node<'_>, accesses: Vec<DocumentAccess>) -> std::result::Result<Draft, JsonError> {
    let arguments = node.get("arguments")?.list(|argument| {
        Ok(Argument { parameter: argument.get("parameter")?.name()?, resource: argument.get("resource")?.name()? })
    })?;
    // Its value is looked at when all invocations have been read.
    let version = node.get("snapshot_version")?.natural();
    let extra = node.value().as_object().into_iter().flatten();
    let extra = extra.filter(|(key, _)| !INVOCATION_KEYS.contains(&key.as_str()));
    let invocation = Invocation {
        name: node.get("name")?.text()?,
        task_kind: node.get("task_kind")?.text()?,
        phase: Phase::Execute,
        executable_symbol: node.get("executable_symbol")?.text()?,
        depends_on: node.get("depends_on")?.list(|name| name.text())?,
        arguments,
        accesses,
        snapshot_version: 0,
        metadata: extra.map(|(key, value)| (key.clone(), value.clone())).collect(),
    };
    Ok(Draft { phase: node.get("phase")?.text()?, version, invocation })
}

fn check_names(resources: &[Requirement], drafts: &[Draft], terminals: &[String]) -> Result<()> {
    if drafts.is_empty() {
        return Err(DocumentError::NoInvocations);
    }
    let mut names = IndexSet::with_capacity(drafts.len());
    if let Some(draft) = drafts.iter().find(|draft| !names.insert(draft.invocation.name.as_str())) {
        return Err(DocumentError::InvocationName(draft.invocation.name.clone()));
    }
    let mut seen = IndexSet::with_capacity(resources.len());
    if let Some(resource) = resources.iter().find(|resource| !seen.insert(resource.name.as_str())) {
        return Err(DocumentError::ResourceName(resource.name.clone()));
    }
    let unknown: Vec<String> = terminals.iter().filter(|name| !names.contains(name.as_str())).cloned().collect();
    if terminals.is_empty() || !unknown.is_empty() {
        return Err(DocumentError::Terminals(unknown));
    }
    drafts.iter().try_for_each(|draft| check_invocation(draft, &names))
}

fn check_invocation(Draft { phase, invocation, .. }: &Draft, names: &IndexSet<&str>) -> Result<()> {
    let name = || invocation.name.clone();
    if invocation.executable_symbol.is_empty() {
        return Err(DocumentError::Symbol(name()));
    }
    if Phase::from_name(phase).is_none() {
        return Err(DocumentError::Phase { invocation: name(), found: phase.clone() });
    }
    let unknown = invocation.depends_on.iter().filter(|name| !names.contains(name.as_str()));
    let unknown: Vec<String> = unknown.cloned().collect();
    if !unknown.is_empty() {
        return Err(DocumentError::Dependencies { invocation: name(), unknown });
    }
    let own = invocation.snapshot_version;
    match invocation.accesses.iter().map(|access| access.snapshot_version).find(|version| *version != own) {
        Some(access) => Err(DocumentError::MixedVersions { invocation: name(), own, access }),
        None => Ok(()),
    }
}

fn write_resource(resource: &Requirement) -> Value {
    json!({
        "name": resource.name,
        "memory_space": resource.memory_space,
        "layout": resource.layout,
        "device": resource.device,
        "capacity_bytes": resource.capacity_bytes,
        "snapshot_version": resource.snapshot_version,
        "external": resource.external,
    })
}

fn write_invocation(invocation: &Invocation) -> Value {
    let argument = |a: &Argument| json!({"parameter": a.parameter, "resource": a.resource});
    let access = |access: &DocumentAccess| {
        let version = access.snapshot_version;
        let mut tree = json!({"binding": access.binding, "mode": access.mode.name(), "snapshot_version": version});
        if let Some(Partition { scheme, part }) = &access.partition {
            tree["partitioning"] = json!(scheme);
            tree["partition"] = json!(part);
        }
        tree
    };
    let fixed = [
        json!(invocation.name),
        json!(invocation.task_kind),
        json!(invocation.phase.name()),
        json!(invocation.executable_symbol),
        json!(invocation.depends_on),
        invocation.arguments.iter().map(argument).collect(),
        invocation.accesses.iter().map(access).collect(),
        json!(invocation.snapshot_version),
    ];
    let mut map = invocation.metadata.clone();
    map.extend(INVOCATION_KEYS.map(str::to_owned).into_iter().zip(fixed));
    Value::Object(map)
}
