//! The plan template: tasks, loops and resources of one program, with symbolic capacities.
//!
//! Naming law: a [`Owner::Borrowed`] resource carries the name of the program's parameter or
//! result, or `<graph parameter>.<part>` for an array of a graph (`g.row_ptr`, `g.col`). Derived
//! arrays of a graph are named the same way (`g.t.perm`, `g.long_rows.512`) and are recognised by
//! the task that builds them. [`Relation`](crate::Relation) reads and writes what stands before the part.

use crate::dag::Dag;
use cranelift_entity::{EntityRef, PrimaryMap, entity_impl};
use tiga_abi::{DType, SizeExpr, Symbol, Tier};

/// A resource of a [`Template`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResourceId(u32);
entity_impl!(ResourceId, "resource");

/// A task of one [`Body`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(u32);
entity_impl!(TaskId, "task");

/// The body of a loop or of one side of a branch.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId(u32);
entity_impl!(BodyId, "body");

/// Everything that runs for one program.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// The program's name, also that of the root document.
    pub program: String,
    /// The sizes that capacities mention, in order of first use.
    pub symbols: Vec<Symbol>,
    /// All resources of all bodies.
    pub resources: PrimaryMap<ResourceId, Resource>,
    /// The tasks of the program itself; its externals are all resources that it does not own.
    pub root: Body,
    /// Bodies of loops and branches. A body mentions only earlier bodies, so nesting ends.
    pub bodies: PrimaryMap<BodyId, Body>,
}

/// One array, in one tier.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// The logical name, such as `T` or `v3`; an instance is called `T@ram:host:0`.
    pub name: String,
    /// Where it lives.
    pub tier: Tier,
    /// Which one it is of the instances that this value has there, one after the other: from 1.
    pub copy: u32,
    /// Who allocates and releases it.
    pub owner: Owner,
    /// Type of one element.
    pub dtype: DType,
    /// Elements along each axis; empty for a scalar.
    pub shape: Vec<SizeExpr>,
    /// Bytes.
    pub capacity: SizeExpr,
    /// Arrangement of the bytes; `contiguous` for row-major arrays.
    pub layout: String,
}

/// Who allocates a resource, and who may release it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Owner {
    /// The caller's (parameters and results), or, in a loop's body, a rotating handle of the parent.
    Borrowed,
    /// The plan's: temporaries, partial results, scratch. Released by the plan, counted in its peak.
    Owned,
    /// The graph handle's: built once in `materialize`, cached, released with the handle.
    Derived,
    /// A file's: never released by a plan.
    Stored,
}

/// A list of tasks: the program's, a loop round's, or one side of a branch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The name of its document, such as `pagerank.loop0`.
    pub name: String,
    /// The tasks. One may only depend on earlier ones.
    pub tasks: PrimaryMap<TaskId, Task>,
    /// What it uses without owning it, sorted.
    pub externals: Vec<ResourceId>,
}

/// One step of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// `<kind>:<ordinal>`, unique in its body.
    pub name: String,
    /// What it does.
    pub kind: TaskKind,
    /// When it belongs: derived structures and first staging are `materialize`.
    pub phase: Phase,
    /// Tasks that must be complete before it starts, sorted.
    pub after: Vec<TaskId>,
    /// Tasks that it waits for only because they make room for what it is the first to write, sorted; none is in `after`.
    pub room_after: Vec<TaskId>,
    /// What it is given, by parameter name.
    pub args: Vec<Arg>,
    /// What it touches.
    pub accesses: Vec<Access>,
}

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Once a graph handle: derived structures, first staging. Never depends on `execute`.
    Materialize,
    /// Every run.
    Execute,
}

/// What a task does.
#[derive(Clone, Debug, PartialEq)]
pub enum TaskKind {
    /// Launches a kernel over its units.
    Kernel {
        /// The kernel's name in the manifest.
        symbol: String,
        /// The graph parameter whose rows and edges it walks, if any.
        relation: Option<String>,
        /// The sequence of units, cut anywhere among workers.
        units: Units,
    },
    /// `tiga.loop`: runs a body again and again.
    Loop {
        /// One round.
        body: BodyId,
        /// The values that rotate from round to round.
        rotate: Vec<Rotation>,
        /// How often.
        trip: Trip,
    },
    /// `tiga.if`: runs one of two bodies.
    Branch {
        /// A boolean scalar.
        condition: ResourceId,
        /// Run if it is 1.
        then_body: BodyId,
        /// Run if it is 0.
        else_body: BodyId,
    },
    /// `__gf_join`: a point that several tasks reach. No arguments, no accesses.
    Join,
    /// `__gf_release`: ends the life of an owned resource. Argument `instance`.
    Release,
    /// `__gf_transfer`: moves a resource to another tier. Arguments `source`, `destination`.
    Transfer,
    /// `tiga.copy`: copies bytes between equal shapes. Arguments `source`, `destination`.
    Copy,
    /// `tiga.build_transpose`: the transposed CSR in stable order. Arguments `row_ptr`, `col` (read),
    /// `t_row_ptr`, `t_col`, `perm` (written).
    BuildTranspose {
        /// The graph parameter.
        relation: String,
    },
    /// `tiga.build_joined`: a relation made of others. Arguments `row_ptr`, `col`, and `perm` where it has one, of
    /// what it is made of (read, as `a.row_ptr` of the first and `b.row_ptr` of the second), then its own (written).
    BuildJoined {
        /// Its text: see [`Relation`](crate::Relation).
        relation: String,
    },
    /// `tiga.build_units`: the rows longer than a leaf, the first leaf of each, the row of each leaf. Arguments
    /// `row_ptr` (read), `long_rows`, `leaf_base`, `leaf_row` (written).
    BuildUnits {
        /// The relation whose rows are cut: see [`Relation`](crate::Relation).
        relation: String,
        /// Edges in a leaf.
        leaf: i64,
    },
}

/// The sequence of units of a kernel: `0..count`, where the count is known at bind.
#[derive(Clone, Debug, PartialEq)]
pub enum Units {
    /// One unit.
    Once,
    /// As many as the expression says: rows of a set.
    Rows(SizeExpr),
    /// `ceildiv(extent, size)` blocks.
    Blocks {
        /// What is cut.
        extent: SizeExpr,
        /// The size of a block, at least 1.
        size: i64,
    },
    /// The leaves of the rows longer than a leaf; their number is known once the units are built.
    Leaves {
        /// The relation of the [`TaskKind::BuildUnits`].
        relation: String,
        /// Edges in a leaf.
        leaf: i64,
    },
    /// The rows longer than a leaf.
    LongRows {
        /// The relation of the [`TaskKind::BuildUnits`].
        relation: String,
        /// Edges in a leaf.
        leaf: i64,
    },
}

/// One value that a loop carries: the body reads `read` and writes `write`; the parent holds the
/// two buffers `a` (first value, and the result after the loop) and `b`, whose handles are swapped
/// after each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rotation {
    /// In the body: the value of this round. Borrowed there.
    pub read: ResourceId,
    /// In the body: the value of the next round. Borrowed there.
    pub write: ResourceId,
    /// In the parent: the first value, and the last.
    pub a: ResourceId,
    /// In the parent: the other buffer.
    pub b: ResourceId,
}

/// How often a loop runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trip {
    /// A fixed number of rounds; less than one is none.
    Counted(Count),
    /// While a boolean scalar of the parent is 1; the parent computes it before the loop, the body in each round.
    While {
        /// The boolean.
        condition: ResourceId,
        /// Rounds after which the loop stops anyway.
        at_most: Count,
    },
}

/// A number of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Known to the compiler.
    Const(i64),
    /// An `i64` scalar, read when the loop starts.
    Resource(ResourceId),
}

/// One argument of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    /// The kernel's parameter, unique within the task.
    pub parameter: String,
    /// What it is bound to.
    pub resource: ResourceId,
    /// What it is to the relation: pages and halos are inserted by this.
    pub role: Role,
}

/// What an argument is to the relation of its kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Indexed by the source.
    Src,
    /// Indexed by the destination, or by the only set.
    Dst,
    /// Indexed by the edge.
    Edge,
    /// No set: scalars and tensors.
    Param,
    /// Reduced over all edges or a set.
    Total,
    /// A result, indexed by the destination or the edge.
    Out,
    /// An array of the graph itself, or derived from it.
    Relation,
    /// Working memory: partial results between kernels.
    Scratch,
}

/// One access of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// What is touched.
    pub resource: ResourceId,
    /// How.
    pub mode: Mode,
    /// Which part: other parts of the same scheme are disjoint from it.
    pub partition: Option<Partition>,
}

/// How a resource is touched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Only read.
    Read,
    /// Only written.
    Write,
    /// Both; counts as writing.
    ReadWrite,
}

/// One part of a scheme, such as `rows`/`short` and `rows`/`long`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Partition {
    /// The scheme. Different schemes prove nothing.
    pub scheme: String,
    /// The part within it.
    pub part: String,
}

impl Resource {
    /// The name of its instance in a document: `T@ram:host:0`, and `T@ram:host:0#2` when the value comes back there.
    pub fn binding(&self) -> String {
        let nth = if self.copy > 1 { format!("#{}", self.copy) } else { String::new() };
        format!("{}@{}:{}{nth}", self.name, self.tier.name(), self.device())
    }

    /// Its type at these sizes: `f64[200, 12]`; an extent without value stands as it is.
    pub fn ty(&self, sizes: &dyn Fn(&str) -> Option<i64>) -> String {
        let extent = |e: &SizeExpr| e.eval(sizes).map_or_else(|_| e.to_string(), |n| n.to_string());
        let shape: Vec<String> = self.shape.iter().map(extent).collect();
        format!("{}[{}]", self.dtype, shape.join(", "))
    }

    /// How tasks are printed to use it: the name, and what tells it from the value's first instance in main memory.
    pub fn label(&self) -> String {
        let tier = if self.tier == Tier::Ram { String::new() } else { format!("@{}", self.tier.name()) };
        let nth = if self.copy > 1 { format!("#{}", self.copy) } else { String::new() };
        format!("{}{tier}{nth}", self.name)
    }

    /// The device that holds it.
    pub const fn device(&self) -> &'static str {
        match self.tier {
            Tier::Device | Tier::Register | Tier::Shared => "cuda:0",
            Tier::HostPinned | Tier::Ram | Tier::Nvme => "host:0",
            Tier::Remote => "mesh",
        }
    }
}

impl Body {
    /// The order that the dependencies of its tasks leave open.
    pub fn dag(&self) -> Dag {
        let waits = self.tasks.values().map(|task| task.waits_for().into_iter().map(|id| id.index()).collect());
        Dag::new(waits.collect()).expect("tasks of a verified template wait for earlier tasks only")
    }
}

/// Adds another instance of a value in a tier.
pub(crate) fn another_instance(
    resources: &mut PrimaryMap<ResourceId, Resource>,
    of: ResourceId,
    tier: Tier,
) -> ResourceId {
    let like = resources[of].clone();
    let same = resources.values().filter(|resource| resource.name == like.name && resource.tier == tier);
    let copy = same.map(|resource| resource.copy).max().unwrap_or(0) + 1;
    resources.push(Resource { tier, copy, ..like })
}

impl Task {
    /// The release of a resource, which waits for nothing yet.
    pub(crate) fn release(name: String, instance: ResourceId) -> Task {
        let arg = Arg { parameter: "instance".into(), resource: instance, role: Role::Scratch };
        let access = Access { resource: instance, mode: Mode::ReadWrite, partition: None };
        Task::of_storage(name, TaskKind::Release, vec![arg], vec![access])
    }

    /// A transfer, which waits for nothing yet.
    pub(crate) fn transfer(name: String, source: ResourceId, destination: ResourceId) -> Task {
        let arg = |parameter: &str, resource, role| Arg { parameter: parameter.into(), resource, role };
        let access = |resource, mode| Access { resource, mode, partition: None };
        let args = vec![arg("source", source, Role::Param), arg("destination", destination, Role::Out)];
        let accesses = vec![access(source, Mode::Read), access(destination, Mode::Write)];
        Task::of_storage(name, TaskKind::Transfer, args, accesses)
    }

    fn of_storage(name: String, kind: TaskKind, args: Vec<Arg>, accesses: Vec<Access>) -> Task {
        Task { name, kind, phase: Phase::Execute, after: Vec::new(), room_after: Vec::new(), args, accesses }
    }

    /// All tasks that it waits for, ascending.
    pub fn waits_for(&self) -> Vec<TaskId> {
        let mut all: Vec<TaskId> = self.after.iter().chain(&self.room_after).copied().collect();
        all.sort_unstable();
        all
    }
}

impl Mode {
    /// Whether it reads.
    pub const fn reads(self) -> bool {
        matches!(self, Mode::Read | Mode::ReadWrite)
    }

    /// Whether it writes.
    pub const fn writes(self) -> bool {
        matches!(self, Mode::Write | Mode::ReadWrite)
    }
}
