//! `--trace`: what a run did and when, in the trace event format that Perfetto and chrome://tracing open.

use crate::outputs::{Source, Target};
use anyhow::{Context as _, Error, Result, bail};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use tiga_formats::{check_writable, file_identity, write_file};
use tiga_runtime::{Context, Launched, Span, TaskKind, Work};
use tiga_source::say;

/// Events of tasks, rounds and chunks that are kept. With the outer ones they take some 30 MB here, and 50 MB in the file.
const MOST_INNER: usize = 1 << 18;

/// Events of steps, runs, loops and branches that are kept beside them: what encloses the others ends after them, and
/// should not be what is lost.
const MOST_OUTER: usize = 1 << 14;

/// The thread that calls, in the file; worker `i` is `i + 1`.
const MAIN: usize = 0;

/// The process, in the file: there is one, and its number would say nothing.
const PROCESS: u32 = 1;

/// Records a run, if it is asked to.
pub(crate) struct Trace {
    recorder: Option<Arc<Recorder>>,
    path: PathBuf,
}

/// Events so far.
struct Recorder {
    origin: Instant,
    events: Mutex<Events>,
}

struct Events {
    list: Vec<Event>,
    inner: usize,
    outer: usize,
    dropped: u64,
    /// Names, each once: a loop has the same again and again.
    names: BTreeMap<Arc<str>, Arc<str>>,
}

/// Something done, in nanoseconds since the command began.
struct Event {
    start: u64,
    end: u64,
    thread: u32,
    /// How many events were noted before it.
    told: u32,
    what: What,
}

enum What {
    Step { name: &'static str, of: Arc<str> },
    Run { program: Arc<str> },
    Derive { part: Arc<str> },
    Task { task: Arc<str>, body: Arc<str>, kind: TaskKind, kernel: Option<(Arc<str>, Arc<str>, i64)> },
    Round { body: Arc<str>, round: i64 },
    Chunk { kernel: Arc<str>, first: i64, end: i64 },
}

impl Trace {
    /// Starts the clock.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn begin(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else { return Ok(Self { recorder: None, path: PathBuf::new() }) };
        check_writable(path).map_err(|error| error.kind).with_context(|| option(path))?;
        let recorder = Recorder { origin: Instant::now(), events: Mutex::new(Events::none()) };
        Ok(Self { recorder: Some(Arc::new(recorder)), path: path.to_owned() })
    }

    /// Refuses a file that the command reads, or writes for a result.
    ///
    /// # Errors
    /// It is one of them.
    pub(crate) fn check_apart(&self, sources: &[Source], targets: &[Target]) -> Result<()> {
        if self.recorder.is_none() {
            return Ok(());
        }
        let (identity, option) = (file_identity(&self.path), option(&self.path));
        if let Some(source) = sources.iter().find(|source| file_identity(&source.path) == identity) {
            bail!("{option}: the file would replace {}, which is read", source.option);
        }
        match targets.iter().find(|target| file_identity(&target.path) == identity) {
            Some(target) => bail!("{option}: the file is written twice, for `{}` and for the trace", target.result),
            None => Ok(()),
        }
    }

    /// Does a step of the command, and notes it; `of` says what with.
    pub(crate) fn step<T>(&self, name: &'static str, of: impl FnOnce() -> String, does: impl FnOnce() -> T) -> T {
        let Some(recorder) = &self.recorder else { return does() };
        let start = Instant::now();
        let done = does();
        let mut events = recorder.events();
        let of = events.name(&of());
        events.push(recorder, (start, Instant::now()), MAIN, What::Step { name, of });
        done
    }

    /// The context with its spans noted here.
    pub(crate) fn watch(&self, context: Context) -> Context {
        let Some(recorder) = self.recorder.clone() else { return context };
        context.with_trace(move |span: &Span<'_>| recorder.note(&span.work, span.worker, (span.start, span.end)))
    }

    /// Writes what was noted, also of a run that failed; says so if there was more than is kept. An error of the run
    /// comes before one of the file.
    pub(crate) fn finish<T>(self, bundle: &Path, program: &str, outcome: Result<T>) -> Result<T> {
        let Some(recorder) = self.recorder else { return outcome };
        let mut events = recorder.events();
        events.sort();
        let dropped = events.dropped;
        let written = write_file(&self.path, |out| events.write(out, bundle, program));
        if dropped > 0 {
            let kept = events.list.len();
            say(format_args!(
                "warning: {}: {dropped} of {} events are left out",
                option(&self.path),
                kept as u64 + dropped
            ));
        }
        match (outcome, written) {
            (Ok(done), Ok(())) => Ok(done),
            (Ok(_), Err(error)) => Err(Error::new(error.kind).context(option(&self.path))),
            (Err(error), written) => {
                if let Err(also) = written {
                    say(format_args!("warning: {}: {}", option(&self.path), also.kind));
                }
                Err(error)
            }
        }
    }
}

fn option(path: &Path) -> String {
    format!("--trace {}", path.display())
}

impl Recorder {
    fn events(&self) -> MutexGuard<'_, Events> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, work: &Work<'_>, worker: Option<usize>, (start, end): (Instant, Instant)) {
        let mut events = self.events();
        let what = match work {
            Work::Run { program } => What::Run { program: events.name(program) },
            Work::Derive { part } => What::Derive { part: events.name(part) },
            Work::Task { task, body, kind, kernel } => {
                let mut launched = |k: &Launched<'_>| (events.name(k.symbol), events.name(k.entry), k.units);
                let kernel = kernel.as_ref().map(&mut launched);
                What::Task { task: events.name(task), body: events.name(body), kind: *kind, kernel }
            }
            Work::Round { body, round } => What::Round { body: events.name(body), round: *round },
            Work::Chunk { kernel, units } => {
                What::Chunk { kernel: events.name(kernel), first: units.start, end: units.end }
            }
            // What a later runtime tells has no category here.
            _ => return,
        };
        let thread = worker.map_or(MAIN, |worker| worker + 1);
        events.push(self, (start, end), thread, what);
    }
}

impl Events {
    /// Room for all that are kept, which the system gives as it is used: a list that grows would be there twice.
    fn none() -> Self {
        let list = Vec::with_capacity(MOST_INNER + MOST_OUTER);
        Self { list, inner: 0, outer: 0, dropped: 0, names: BTreeMap::new() }
    }

    fn name(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.names.get(name) {
            return known.clone();
        }
        let new: Arc<str> = name.into();
        self.names.insert(new.clone(), new.clone());
        new
    }

    fn push(&mut self, recorder: &Recorder, (start, end): (Instant, Instant), thread: usize, what: What) {
        let outer = match &what {
            What::Step { .. } | What::Run { .. } | What::Derive { .. } => true,
            What::Task { kind, .. } => matches!(kind, TaskKind::Loop | TaskKind::Branch),
            What::Round { .. } | What::Chunk { .. } => false,
        };
        let (count, most) = if outer { (&mut self.outer, MOST_OUTER) } else { (&mut self.inner, MOST_INNER) };
        if *count == most {
            self.dropped += 1;
            return;
        }
        *count += 1;
        let since = |at: Instant| u64::try_from(at.saturating_duration_since(recorder.origin).as_nanos()).unwrap_or(0);
        let thread = u32::try_from(thread).unwrap_or(u32::MAX);
        let told = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(Event { start: since(start), end: since(end), thread, told, what });
    }

    /// By begin; what encloses another, which is told later, comes before it.
    fn sort(&mut self) {
        // In place: a stable sort would take half as much again.
        self.list.sort_unstable_by_key(|event| (event.start, Reverse(event.end), Reverse(event.told)));
    }

    fn write(&self, out: &mut dyn Write, bundle: &Path, program: &str) -> io::Result<()> {
        let version = concat!("tiga ", env!("CARGO_PKG_VERSION"));
        let dropped = self.dropped.to_string();
        let about = json!({"made_by": version, "program": program, "dropped_events": dropped});
        writeln!(out, "{{\"displayTimeUnit\": \"ms\", \"otherData\": {about}, \"traceEvents\": [")?;
        let named = |what: &str, thread: usize, name: &str| json!({"ph": "M", "pid": PROCESS, "tid": thread, "name": what, "args": {"name": name}});
        write!(out, "{}", named("process_name", MAIN, &format!("tiga run {}", bundle.display())))?;
        let threads: BTreeSet<usize> = self.list.iter().map(|event| event.thread as usize).chain([MAIN]).collect();
        for thread in threads {
            let name = if thread == MAIN { "main".into() } else { format!("worker {}", thread - 1) };
            write!(out, ",\n{}", named("thread_name", thread, &name))?;
            let order = json!({"sort_index": thread});
            let sort = json!({"ph": "M", "pid": PROCESS, "tid": thread, "name": "thread_sort_index", "args": order});
            write!(out, ",\n{sort}")?;
        }
        for event in &self.list {
            writeln!(out, ",")?;
            event.write(out)?;
        }
        writeln!(out, "\n]}}")
    }
}

impl Event {
    /// Microseconds with three places, so that no nanosecond is lost: the numbers of `serde_json` would round.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let (category, name, args) = self.what.say();
        let micros = |nanos: u64| format!("{}.{:03}", nanos / 1000, nanos % 1000);
        let (start, length) = (micros(self.start), micros(self.end.saturating_sub(self.start)));
        let (name, thread) = (Value::from(name), self.thread);
        write!(
            out,
            "{{\"ph\":\"X\",\"pid\":{PROCESS},\"tid\":{thread},\"ts\":{start},\"dur\":{length},\
             \"cat\":\"{category}\",\"name\":{name},\"args\":{args}}}"
        )
    }
}

impl What {
    /// Category, name, arguments.
    fn say(&self) -> (&'static str, String, Value) {
        match self {
            What::Step { name, of } => ("step", (*name).into(), json!({ "of": &**of })),
            What::Run { program } => ("run", format!("run {program}"), json!({ "program": &**program })),
            What::Derive { part } => ("derive", format!("derive {part}"), json!({ "part": &**part })),
            What::Task { task, body, kind, kernel: None } => {
                ("task", task.to_string(), json!({"task": &**task, "body": &**body, "kind": kind.name()}))
            }
            What::Task { task, body, kind, kernel: Some((symbol, entry, units)) } => {
                let kernel = json!({"task": &**task, "body": &**body, "kind": kind.name(), "kernel": &**symbol,
                    "entry": &**entry, "units": units});
                ("task", symbol.to_string(), kernel)
            }
            What::Round { body, round } => {
                ("round", format!("round {round}"), json!({"body": &**body, "round": round}))
            }
            What::Chunk { kernel, first, end } => {
                ("chunk", kernel.to_string(), json!({"kernel": &**kernel, "first_unit": first, "units": end - first}))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn what_is_too_much_is_counted_and_what_encloses_stays() {
        let recorder = Recorder { origin: Instant::now(), events: Mutex::new(Events::none()) };
        let tell = |work: Work<'_>| {
            let (start, end) = (recorder.origin, recorder.origin + Duration::from_nanos(1));
            recorder.note(&work, Some(1), (start, end));
        };
        for first in 0..MOST_INNER as i64 + 3 {
            tell(Work::Chunk { kernel: "k", units: first..first + 1 });
        }
        tell(Work::Run { program: "p" });
        let mut events = recorder.events();
        assert_eq!((events.list.len(), events.dropped), (MOST_INNER + 1, 3));
        events.sort();
        assert!(matches!(events.list[0].what, What::Run { .. }), "the last told encloses the others");
        let most = MOST_INNER + MOST_OUTER;
        assert_eq!(events.list.capacity(), most, "the list has not grown");
        assert!((25_000_000..35_000_000).contains(&(most * std::mem::size_of::<Event>())), "as is said above");
        let mut text = Vec::new();
        events.list.truncate(2);
        events.write(&mut text, Path::new("a\"b.tgb"), "p").unwrap();
        let tree: Value = serde_json::from_slice(&text).unwrap();
        assert_eq!(tree["otherData"]["dropped_events"], "3");
        assert_eq!(tree["traceEvents"][0]["args"]["name"], "tiga run a\"b.tgb");
    }
}
