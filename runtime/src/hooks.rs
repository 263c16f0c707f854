//! What a run tells its host: log lines and progress.

use std::fmt;
use std::sync::Arc;

/// How much a log line matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// The begin and the end of each run.
    Info,
    /// Each kernel with its variant and units.
    Debug,
}

/// Takes log lines.
type LogSink = Arc<dyn Fn(LogLevel, &str) + Send + Sync>;

/// Takes log lines up to a level.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) level: LogLevel,
    pub(crate) sink: LogSink,
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log").field("level", &self.level).finish_non_exhaustive()
    }
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'t> {
    /// The task just done, as plans name it.
    pub task: &'t str,
    /// Tasks done so far, in loops once a round.
    pub done: u64,
    /// Tasks that there can be at most; `None` if the plan has a loop whose bound is computed. A loop that ends early
    /// and a branch leave the run below it.
    pub at_most: Option<u64>,
}

/// Takes reports of progress.
pub(crate) type ProgressSink = Arc<dyn Fn(&Progress<'_>) + Send + Sync>;
