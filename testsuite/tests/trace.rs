//! What `tiga run --trace` writes: events that nest, every kernel of the plan, and nothing that shows in results.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use testsuite::lit::Tools;

/// A folder with a bundle and a graph of 6,000 nodes; enough units for several chunks.
struct Case {
    tools: Tools,
    folder: PathBuf,
}

const MODEL: &str = "
message pass(src: {r: f64, d: f64}) -> f64 { edge { src.r / src.d } reduce sum }
program walk(g: graph<N>, steps: i64) -> (out: f64[N], rounds: i64) {
    let d = f64(out_degree(g));
    loop (x = fill(N, 1.0), n = 0) for k < steps { (pass(g, src: {r: x, d}), n + 1) } in (x, n)
}
";

impl Case {
    fn new(name: &str) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let tools = Tools::new(root, Path::new(env!("CARGO_TARGET_TMPDIR"))).unwrap();
        let folder = tools.scratch(&format!("trace-{name}")).unwrap();
        let _ = fs::remove_file(folder.join("t.json"));
        fs::write(folder.join("m.tg"), MODEL).unwrap();
        let edges = (0..6000).flat_map(|i| [(i, (i + 1) % 6000), (i, 0)]);
        let edges: String = edges.map(|(from, to)| format!("{from} {to}\n")).collect();
        fs::write(folder.join("g.txt"), edges).unwrap();
        tools.succeeds(&folder, "tigac", &["m.tg", "-o", "m.tgb"]);
        Self { tools, folder }
    }

    fn run(&self, more: &[&str]) -> Output {
        let fixed = ["run", "m.tgb", "--graph", "g=g.txt"];
        self.tools.command("tiga").current_dir(&self.folder).args(fixed).args(more).output().unwrap()
    }

    fn trace(&self) -> Trace {
        Trace::of(&fs::read_to_string(self.folder.join("t.json")).unwrap())
    }
}

/// The complete events of a trace, in order, with times in nanoseconds.
struct Trace {
    events: Vec<Event>,
    threads: BTreeMap<u64, String>,
    dropped: String,
}

struct Event {
    start: u64,
    end: u64,
    thread: u64,
    category: String,
    name: String,
    args: Value,
}

impl Trace {
    /// Reads a trace and demands what holds of all: the fields, the order, the nesting, a name for each thread.
    fn of(text: &str) -> Self {
        let tree: Value = serde_json::from_str(text).unwrap();
        let (mut events, mut threads) = (Vec::new(), BTreeMap::new());
        for event in tree["traceEvents"].as_array().unwrap() {
            assert_eq!(event["pid"], 1, "{event}");
            let (thread, text) = (event["tid"].as_u64().unwrap(), |key: &str| event[key].as_str().unwrap().to_owned());
            if event["ph"] == "M" {
                if event["name"] == "thread_name" {
                    threads.insert(thread, event["args"]["name"].as_str().unwrap().to_owned());
                }
                continue;
            }
            assert_eq!(event["ph"], "X", "{event}");
            let nanos = |key: &str| (event[key].as_f64().unwrap() * 1000.0).round() as u64;
            let (start, length, args) = (nanos("ts"), nanos("dur"), event["args"].clone());
            let (category, name) = (text("cat"), text("name"));
            events.push(Event { start, end: start + length, thread, category, name, args });
        }
        let trace = Self { events, threads, dropped: tree["otherData"]["dropped_events"].as_str().unwrap().into() };
        trace.check();
        trace
    }

    fn check(&self) {
        for (thread, name) in &self.threads {
            let expected = thread.checked_sub(1).map_or("main".into(), |worker| format!("worker {worker}"));
            assert_eq!(*name, expected, "workers count from 0, as in spans");
        }
        assert!(self.events.is_sorted_by_key(|event| event.start), "times go back");
        let mut open: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for event in &self.events {
            assert!(self.threads.contains_key(&event.thread), "thread {} has no name", event.thread);
            let ends = open.entry(event.thread).or_default();
            while ends.last().is_some_and(|end| *end <= event.start) {
                ends.pop();
            }
            assert!(ends.last().is_none_or(|end| event.end <= *end), "{} sticks out of what it is in", event.name);
            ends.push(event.end);
        }
    }

    fn of_category<'a>(&'a self, category: &'a str) -> impl Iterator<Item = &'a Event> {
        self.events.iter().filter(move |event| event.category == category)
    }

    fn names(&self, category: &str) -> BTreeSet<&str> {
        self.events.iter().filter(|event| event.category == category).map(|event| event.name.as_str()).collect()
    }
}

#[test]
fn every_kernel_of_the_plan_is_in_the_trace_with_all_of_its_units() {
    let case = Case::new("kernels");
    let out = case.run(&["--in", "steps=5", "--threads", "3", "--trace", "t.json", "--out", "out=y.npy"]);
    assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(out.stderr.is_empty(), "{}", String::from_utf8_lossy(&out.stderr));
    let trace = case.trace();
    let bundle = tiga_bundle::Bundle::open(&case.folder.join("m.tgb")).unwrap();
    let plan = bundle.plan("walk").unwrap();
    let launched = |event: &&Event| event.args["kind"] == "kernel";
    let seen: BTreeMap<(&str, &str), usize> =
        trace.of_category("task").filter(launched).fold(BTreeMap::new(), |mut all, event| {
            let text = |key: &str| event.args[key].as_str().unwrap();
            assert_eq!(event.name, text("kernel"));
            *all.entry((text("body"), text("task"))).or_default() += 1;
            all
        });
    let mut in_plan = 0;
    for (body, times) in std::iter::once((&plan.root, 1)).chain(plan.bodies.values().map(|body| (body, 5))) {
        for task in body.tasks.values() {
            if let tiga_plan::TaskKind::Kernel { .. } = task.kind {
                assert_eq!(seen.get(&(body.name.as_str(), task.name.as_str())), Some(&times), "{}", task.name);
                in_plan += 1;
            }
        }
    }
    assert_eq!((seen.len(), in_plan > 2), (in_plan, true), "nothing but what is in the plan");
    for kernel in trace.names("chunk") {
        let units = |category: &str| -> i64 {
            let of = trace.of_category(category).filter(|event| event.name == kernel);
            of.map(|event| event.args["units"].as_i64().unwrap()).sum()
        };
        assert_eq!(units("chunk"), units("task"), "the chunks of `{kernel}` are its units");
        each_unit_once(&trace, kernel);
    }
    assert_eq!(trace.of_category("round").count(), 5);
    assert_eq!(trace.names("run"), ["run walk"].into());
    assert_eq!(trace.names("step"), ["bind", "load", "read", "write"].into());
    assert!(trace.of_category("derive").count() >= 1, "the long row of node 0 is cut");
    assert!(trace.threads.values().any(|name| name == "main"));
    // Who calls works too: of little work nothing may be left for others.
    let known = |name: &String| name == "main" || name.starts_with("worker ");
    assert!(trace.threads.values().all(known), "{:?}", trace.threads);
    assert_eq!(trace.dropped, "0");
}

/// Every launch of a kernel has each of its units in one chunk.
#[track_caller]
fn each_unit_once(trace: &Trace, kernel: &str) {
    let number = |event: &Event, key: &str| event.args[key].as_u64().unwrap() as usize;
    let of = |category| trace.of_category(category).filter(|event| event.name == kernel);
    let mut chunks = vec![0; of("task").map(|launch| number(launch, "units")).max().unwrap()];
    for chunk in of("chunk") {
        let first = number(chunk, "first_unit");
        chunks[first..first + number(chunk, "units")].iter_mut().for_each(|count| *count += 1);
    }
    assert!(chunks.iter().all(|count| *count == of("task").count()), "{kernel}: {chunks:?}");
}

#[test]
fn results_are_the_same_bits() {
    let case = Case::new("bits");
    let bytes = |more: &[&str]| {
        let out = case.run(&[&["--in", "steps=7", "--out", "out=y.npy"], more].concat());
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        fs::read(case.folder.join("y.npy")).unwrap()
    };
    let plain = bytes(&[]);
    for threads in ["1", "2", "5"] {
        assert_eq!(plain, bytes(&["--threads", threads, "--trace", "t.json"]));
        assert!(case.trace().events.iter().any(|event| event.category == "chunk"));
    }
}

#[test]
fn what_cannot_be_written_is_refused_before_the_run() {
    let case = Case::new("refused");
    fs::create_dir_all(case.folder.join("folder")).unwrap();
    let bundle = fs::read(case.folder.join("m.tgb")).unwrap();
    for (path, why) in [
        ("no/t.json", "--trace no/t.json: cannot write: there is no folder `no`"),
        ("folder", "--trace folder: cannot write: it exists and is not a regular file"),
        ("m.tgb", "--trace m.tgb: the file would replace the bundle, which is read"),
        ("./g.txt", "--trace ./g.txt: the file would replace --graph g=g.txt, which is read"),
        ("y.npy", "--trace y.npy: the file is written twice, for `out` and for the trace"),
    ] {
        let out = case.run(&["--in", "steps=2", "--out", "out=y.npy", "--trace", path]);
        let text = String::from_utf8(out.stderr).unwrap();
        assert_eq!((out.status.code(), text), (Some(1), format!("error: {why}\n")));
        assert!(!case.folder.join("y.npy").exists());
    }
    assert_eq!(fs::read(case.folder.join("m.tgb")).unwrap(), bundle);
}

#[test]
fn a_run_that_fails_leaves_what_it_did() {
    let case = Case::new("failing");
    let out = case.run(&["--in", "steps=x.npy", "--trace", "t.json"]);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(case.trace().names("step"), ["load", "read"].into());
    let out = case.run(&["--in", "steps=3", "--out", "out=three.npy"]);
    assert_eq!(out.status.code(), Some(0));
    let out = case.run(&["--in", "steps=4", "--expect", "out=three.npy", "--trace", "t.json"]);
    assert_eq!(out.status.code(), Some(3));
    assert!(case.trace().names("step").contains("compare"));
    // Refused before anything is read: that of before stays.
    let before = fs::read(case.folder.join("t.json")).unwrap();
    let out = case.run(&["--in", "stops=4", "--trace", "t.json"]);
    assert_eq!(out.status.code(), Some(1));
    assert_eq!(fs::read(case.folder.join("t.json")).unwrap(), before);
}

#[test]
fn a_long_run_is_kept_in_part_and_says_so() {
    let case = Case::new("long");
    fs::write(case.folder.join("g.txt"), "0 1\n1 0\n").unwrap();
    let out = case.run(&["--in", "steps=120000", "--threads", "1", "--trace", "t.json", "--out", "out=y.npy"]);
    let text = String::from_utf8(out.stderr).unwrap();
    assert_eq!(out.status.code(), Some(0), "{text}");
    let trace = case.trace();
    let said = format!("warning: --trace t.json: {} of {} events are left out\n", trace.dropped, {
        trace.dropped.parse::<usize>().unwrap() + trace.events.len()
    });
    assert_eq!(text, said);
    assert!(trace.events.len() < 270_000);
    assert_eq!(trace.names("run"), ["run walk"].into(), "what encloses the others is there");
    assert!(trace.of_category("task").any(|event| event.args["kind"] == "loop"));
}
