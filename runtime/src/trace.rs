//! What took how long in a run, and on which thread: spans, told as they end.

use crate::context::Context;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;
use tiga_plan::{Task, TaskKind as Planned};

/// Something that a run did from `start` to `end` on one thread. Of two spans of a thread either one lies in the
/// other or they do not touch, and the inner one is told first.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Span<'t> {
    /// What was done.
    pub work: Work<'t>,
    /// The worker of the context's pool that did it, from 0; `None` for the thread that called.
    pub worker: Option<usize>,
    /// When it began.
    pub start: Instant,
    /// When it ended, well or not.
    pub end: Instant,
}

/// What a span is of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Work<'t> {
    /// A run of a program.
    Run {
        /// The program.
        program: &'t str,
    },
    /// An array that is made of a graph, once for each graph: `g.t.col` with all of the transpose, `g.leaf_row.512`
    /// with all of the division into leaves.
    Derive {
        /// The array asked for first.
        part: &'t str,
    },
    /// A task of the plan.
    Task {
        /// Its name in its body.
        task: &'t str,
        /// The body, the program's own or that of a loop or branch.
        body: &'t str,
        /// What kind it is.
        kind: TaskKind,
        /// The kernel that it launched, if it came to that.
        kernel: Option<Launched<'t>>,
    },
    /// A round of a loop.
    Round {
        /// The loop's body.
        body: &'t str,
        /// Which one, from 0.
        round: i64,
    },
    /// A part of a kernel's units.
    Chunk {
        /// The kernel, as the plan names it.
        kernel: &'t str,
        /// The units.
        units: Range<i64>,
    },
}

/// A kind of task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskKind {
    /// Launches a kernel.
    Kernel,
    /// Runs a body again and again.
    Loop,
    /// Runs one of two bodies.
    Branch,
    /// Copies an array.
    Copy,
    /// Gives memory back.
    Release,
    /// Waits for others.
    Join,
    /// Makes a structure of a graph.
    Build,
    /// Moves an array to other memory.
    Transfer,
}

/// A kernel on its units.
#[derive(Clone, Copy, Debug)]
pub struct Launched<'t> {
    /// The kernel, as the plan names it.
    pub symbol: &'t str,
    /// The variant chosen, as the shared object names it.
    pub entry: &'t str,
    /// How many units.
    pub units: i64,
}

/// Takes spans.
#[derive(Clone)]
pub(crate) struct Trace(Arc<dyn Fn(&Span<'_>) + Send + Sync>);

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Trace")
    }
}

impl Trace {
    pub(crate) fn new(sink: impl Fn(&Span<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(sink))
    }
}

/// The beginning of a span; nothing, and no look at the clock, if nobody listens.
#[derive(Clone, Copy)]
pub(crate) struct Begun(Option<Instant>);

impl Context {
    /// Begins a span.
    pub(crate) fn begin(&self) -> Begun {
        Begun(self.trace.as_ref().map(|_| Instant::now()))
    }

    /// Ends a span on the thread that began it.
    pub(crate) fn end<'t>(&self, begun: Begun, work: impl FnOnce() -> Work<'t>) {
        if let (Some(Trace(sink)), Some(start)) = (&self.trace, begun.0) {
            let end = Instant::now();
            sink(&Span { work: work(), worker: self.workers.current(), start, end });
        }
    }
}

impl TaskKind {
    /// Its name in traces.
    pub const fn name(self) -> &'static str {
        match self {
            TaskKind::Kernel => "kernel",
            TaskKind::Loop => "loop",
            TaskKind::Branch => "branch",
            TaskKind::Copy => "copy",
            TaskKind::Release => "release",
            TaskKind::Join => "join",
            TaskKind::Build => "build",
            TaskKind::Transfer => "transfer",
        }
    }

    pub(crate) fn of(task: &Task) -> Self {
        match task.kind {
            Planned::Kernel { .. } => TaskKind::Kernel,
            Planned::Loop { .. } => TaskKind::Loop,
            Planned::Branch { .. } => TaskKind::Branch,
            Planned::Copy => TaskKind::Copy,
            Planned::Release => TaskKind::Release,
            Planned::Join => TaskKind::Join,
            Planned::BuildTranspose { .. } | Planned::BuildJoined { .. } | Planned::BuildUnits { .. } => {
                TaskKind::Build
            }
            Planned::Transfer => TaskKind::Transfer,
        }
    }
}
