//! Refusals of the runtime: what was found, what was expected.

use tiga_abi::{DType, SizeError};

/// Where a size was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A count of a graph: its sources, destinations or edges.
    Graph {
        /// What is counted.
        what: &'static str,
        /// The parameter.
        parameter: String,
    },
    /// An extent of an array.
    Axis {
        /// Which, from 0.
        axis: usize,
        /// The parameter or result.
        parameter: String,
    },
    /// Given by the caller ([`crate::Call::dim`]).
    Given,
    /// Computed from the sizes of the other inputs.
    Others,
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::Graph { what, parameter } => write!(f, "the {what} of `{parameter}`"),
            Origin::Axis { axis, parameter } => write!(f, "axis {axis} of `{parameter}`"),
            Origin::Given => f.write_str("the value given"),
            Origin::Others => f.write_str("the sizes of the other inputs"),
        }
    }
}

/// Why a bundle could not be opened, bound or run.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The file is not a bundle.
    #[error("{0}")]
    Bundle(Box<tiga_bundle::BundleError>),
    /// No kernels for this machine.
    #[error("the bundle has kernels for {available}, none of which this machine can run: {missing} missing")]
    NoTarget {
        /// Targets in the bundle.
        available: String,
        /// Features of the last one that this machine lacks.
        missing: String,
    },
    /// A target that the bundle does not have.
    #[error("the bundle has no kernels for `{found}`; it has those for {available}")]
    TargetAbsent {
        /// What was asked for.
        found: String,
        /// Targets in the bundle.
        available: String,
    },
    /// A target of the bundle that this machine cannot run.
    #[error("this machine cannot run the kernels for `{target}`: {missing} missing")]
    TargetUnfit {
        /// What was asked for.
        target: String,
        /// Features that it lacks.
        missing: String,
    },
    /// The shared object could not be loaded.
    #[error("the kernels of target {target} cannot be loaded: {reason}")]
    Load {
        /// The target.
        target: String,
        /// The loader's message.
        reason: String,
    },
    /// The kernels could not be written where the user wants them to be kept.
    #[error("the kernels cannot be kept as TIGA_KEEP_KERNELS says: {0}")]
    Keep(Box<tiga_formats::WriteError>),
    /// No such program.
    #[error("the bundle has no program `{found}`; it has {available}")]
    NoProgram {
        /// What was asked for.
        found: String,
        /// Programs in the bundle.
        available: String,
    },
    /// A name that is no parameter or result of the program.
    #[error("`{program}` has no {what} `{found}`; it has {available}")]
    NoParameter {
        /// The program.
        program: String,
        /// `input`, `result` or `size`.
        what: &'static str,
        /// What was bound.
        found: String,
        /// What could be.
        available: String,
    },
    /// A parameter bound twice.
    #[error("`{0}` is bound twice")]
    BoundTwice(String),
    /// Parameters left unbound.
    #[error("not bound: {0}")]
    Missing(String),
    /// A graph where an array is expected, or the other way round.
    #[error("`{parameter}` is {expected}, found {found}")]
    Kind {
        /// The parameter.
        parameter: String,
        /// What it is.
        expected: &'static str,
        /// What was bound.
        found: &'static str,
    },
    /// Another element type.
    #[error("`{parameter}` has elements of type {expected}, found {found}")]
    DType {
        /// The parameter.
        parameter: String,
        /// The type expected.
        expected: DType,
        /// The type found.
        found: DType,
    },
    /// Another number of axes.
    #[error("`{parameter}` has {}, found {found}", axes(*.expected))]
    Rank {
        /// The parameter.
        parameter: String,
        /// Axes expected.
        expected: usize,
        /// Axes found.
        found: usize,
    },
    /// The same size with two values.
    #[error("{symbol} is {first} by {first_origin}, but {second} by {second_origin}")]
    Conflict {
        /// What has two values.
        symbol: String,
        /// The first value.
        first: i64,
        /// Where it was seen.
        first_origin: Origin,
        /// The second value.
        second: i64,
        /// Where it was seen.
        second_origin: Origin,
    },
    /// A size that no input fixes.
    #[error("no input fixes the size `{0}`: give it a value")]
    Unbound(String),
    /// A capacity that has no value.
    #[error("a size of the plan has no value: {0}")]
    Size(#[from] SizeError),
    /// An array whose bytes do not have its shape.
    #[error("`{parameter}` has {expected} bytes by its shape, found {found}")]
    Bytes {
        /// The parameter.
        parameter: String,
        /// Bytes by shape and type.
        expected: usize,
        /// Bytes given.
        found: usize,
    },
    /// An array that is not aligned to its elements.
    #[error("`{0}` is not aligned to its elements")]
    Alignment(String),
    /// An array with strides.
    #[error("`{0}` is not contiguous: copy it first")]
    Strides(String),
    /// A result that shares memory with another array.
    #[error("`{first}` and `{second}` share memory, and one of them is a result")]
    Overlap {
        /// The one at the lower address.
        first: String,
        /// The other.
        second: String,
    },
    /// A graph too large for 32-bit columns.
    #[error("a graph of {nodes} nodes: kernels have 32-bit columns, so at most {} are possible", i32::MAX)]
    WideColumns {
        /// Sources or destinations, whichever are more.
        nodes: usize,
    },
    /// A size below zero.
    #[error("{symbol} cannot be {value} ({origin})")]
    Negative {
        /// The size.
        symbol: String,
        /// Its value.
        value: i64,
        /// Where it was seen.
        origin: Origin,
    },
    /// A `bool` that is neither 0 nor 1.
    #[error("`{parameter}` is of type bool, but element {position} is the byte {found}")]
    Bool {
        /// The parameter.
        parameter: String,
        /// Which element.
        position: usize,
        /// Its byte.
        found: u8,
    },
    /// More memory than there is.
    #[error("{what} needs {bytes} bytes of memory, {available} may be used")]
    Memory {
        /// What it is for: a value with its type and shape, scratch memory, a part of a graph.
        what: String,
        /// Bytes asked for.
        bytes: u64,
        /// Bytes that the machine has to give.
        available: u64,
    },
    /// Budgets that no schedule was found for.
    #[error("{0}")]
    Budget(Box<tiga_plan::passes::TooSmall>),
    /// Memory in tiers refused or failed.
    #[error(transparent)]
    Tiers(Box<crate::MemoryError>),
    /// A prepared program on a context whose memory has tiers.
    #[error("`{0}` is prepared: its memory is there already, and no hierarchy may hold it")]
    PreparedTiers(String),
    /// The host's allocator refused.
    #[error("the host's allocator gave no {bytes} bytes, aligned to 64, for {what}")]
    Allocator {
        /// What it is for.
        what: String,
        /// Bytes asked for.
        bytes: u64,
    },
    /// A size beyond what the program is prepared for.
    #[error("{symbol} is {found} by {origin}, but the program is prepared for at most {prepared}")]
    PreparedSize {
        /// The size.
        symbol: String,
        /// Its value.
        found: i64,
        /// Where it was seen.
        origin: Origin,
        /// The largest one that is prepared.
        prepared: i64,
    },
    /// A context with more threads than the program is prepared for.
    #[error("the context has {found} threads, but the program is prepared for at most {prepared}")]
    PreparedThreads {
        /// Threads of the context.
        found: usize,
        /// Threads of that for which it was prepared.
        prepared: usize,
    },
    /// A value that is larger at smaller sizes than at those that are prepared.
    #[error(
        "{what} needs {bytes} bytes of memory, more than the {prepared} of the sizes that the program is prepared for"
    )]
    PreparedBytes {
        /// What it is for: a value with its type and shape, scratch memory.
        what: String,
        /// Bytes that it needs.
        bytes: u64,
        /// Bytes that are prepared for it.
        prepared: u64,
    },
    /// A graph without something that a prepared program derives of it.
    #[error("`{part}` is not yet derived of the graph, and a prepared run makes nothing: derive it before the run")]
    NotDerived {
        /// The array, as plans name it: `g.t.col`, `g.long_rows.512`.
        part: String,
    },
    /// The token asked for it.
    #[error("cancelled; the results are incomplete")]
    Cancelled,
    /// The plan asks for something this runtime has not.
    #[error("the plan of `{program}` cannot run here: {reason}")]
    Plan {
        /// The program.
        program: String,
        /// What is wrong.
        reason: PlanProblem,
    },
    /// The thread pool could not be made.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// How many.
        threads: usize,
        /// Why.
        reason: String,
    },
}

/// `1 axis`, `2 axes`.
fn axes(count: usize) -> String {
    if count == 1 { "1 axis".into() } else { format!("{count} axes") }
}

impl From<crate::MemoryError> for RuntimeError {
    fn from(error: crate::MemoryError) -> Self {
        RuntimeError::Tiers(Box::new(error))
    }
}

impl From<tiga_bundle::BundleError> for RuntimeError {
    fn from(error: tiga_bundle::BundleError) -> Self {
        RuntimeError::Bundle(Box::new(error))
    }
}

/// What is wrong with a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanProblem {
    /// A kernel that the manifest does not list.
    #[error("kernel `{0}` is not in the manifest")]
    Kernel(String),
    /// A kernel whose entry the shared object lacks.
    #[error("kernel entry `{0}` is not in the shared object")]
    Entry(String),
    /// No variant whose guard holds.
    #[error("no variant of kernel `{0}` may be used at these sizes")]
    Variant(String),
    /// An argument of a kernel that the task does not bind.
    #[error("argument `{argument}` of kernel `{kernel}` is not bound")]
    Argument {
        /// The kernel.
        kernel: String,
        /// The parameter.
        argument: String,
    },
    /// A resource read before anything was written.
    #[error("`{0}` is used before it is written")]
    Unwritten(String),
    /// Tasks that wait for each other, or for a transfer that nobody has begun.
    #[error("nothing of `{0}` can start")]
    Stuck(String),
    /// A transfer where there is one tier only.
    #[error("task `{0}` is a transfer, and the context has no memory in tiers")]
    Task(String),
    /// A rotating array that is not the plan's own.
    #[error("`{0}` rotates in a loop, but is not the plan's own")]
    Rotation(String),
    /// A graph part that does not exist.
    #[error("`{0}` is not a part of a graph of this program")]
    Part(String),
    /// A task that writes what is not the program's to write.
    #[error("task `{task}` writes `{resource}`, which is only to be read")]
    Writes {
        /// The task.
        task: String,
        /// An input, a graph, or something derived from it.
        resource: String,
    },
    /// It breaks a law after it was made to fit: our bug.
    #[error(transparent)]
    Broken(Box<tiga_plan::passes::PassError>),
    /// A size that its documents cannot hold.
    #[error(transparent)]
    Size(#[from] tiga_plan::instantiate::InstantiateError),
    /// A document of the plan that may not run.
    #[error("`{body}`: {error}")]
    Instance {
        /// The body.
        body: String,
        /// The law it breaks.
        error: Box<tiga_plan::instantiate::InstanceError>,
    },
}
