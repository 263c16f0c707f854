//! The worked examples of the format's definition, one test a row.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::convert::Infallible;
use tiga_plan::Phase;
use tiga_plan::bind::{BindError, Bound, Executable, bind, bind_phase};
use tiga_plan::document::{Document, DocumentError};
use tiga_plan::submit::SubmitError;

/// An invocation from `name: w(x@scheme/part) r(y) <- a b`; arguments follow from the accesses.
fn invocation(line: &str) -> Value {
    let (name, rest) = line.split_once(':').unwrap();
    let (touches, waits) = rest.split_once("<-").unwrap_or((rest, ""));
    let mut arguments: Vec<Value> = Vec::new();
    let accesses = touches.split_whitespace().map(|touch| {
        let (mode, what) = touch.strip_suffix(')').unwrap().split_once('(').unwrap();
        let (binding, part) = what.split_once('@').map_or((what, None), |(b, p)| (b, p.split_once('/')));
        let mode = match mode {
            "r" => "read",
            "w" => "write",
            "rw" => "read_write",
            other => panic!("{other}"),
        };
        let argument = json!({"parameter": binding, "resource": binding});
        if !arguments.contains(&argument) {
            arguments.push(argument);
        }
        let mut access = json!({"binding": binding, "mode": mode, "snapshot_version": 0});
        if let Some((scheme, part)) = part {
            access["partitioning"] = json!(scheme);
            access["partition"] = json!(part);
        }
        access
    });
    let accesses: Vec<Value> = accesses.collect();
    json!({
        "name": name.trim(), "task_kind": "local", "phase": "execute", "executable_symbol": "k",
        "depends_on": waits.split_whitespace().collect::<Vec<_>>(), "snapshot_version": 0,
        "arguments": arguments, "accesses": accesses,
    })
}

/// A document of these invocations with the terminals that follow from their dependencies.
fn tree(lines: &[&str]) -> Value {
    let invocations: Vec<Value> = lines.iter().map(|line| invocation(line)).collect();
    let waited: Vec<&Value> = invocations.iter().flat_map(|task| task["depends_on"].as_array().unwrap()).collect();
    let mut terminals: Vec<&Value> = invocations.iter().map(|t| &t["name"]).filter(|n| !waited.contains(n)).collect();
    if terminals.is_empty() {
        terminals.push(&invocations[0]["name"]);
    }
    json!({"schema": "tiga.executable-bundle-plan.v1", "invocations": invocations, "terminals": terminals})
}

fn parse(tree: &Value) -> Result<Document, DocumentError> {
    Document::parse(tree.to_string().as_bytes())
}

/// Whatever the symbol, it is executable.
fn bind_any(document: &Document) -> Result<Bound<'_, ()>, BindError> {
    bind(document, &mut |_| Ok(Some(())))
}

fn document(lines: &[&str]) -> Document {
    parse(&tree(lines)).unwrap()
}

#[track_caller]
fn runs(lines: &[&str], order: &[&str], terminals: &[&str]) {
    let document = document(lines);
    let bound = bind_any(&document).unwrap();
    assert_eq!(bound.execution_order(), order);
    assert_eq!(bound.terminals(), terminals);
}

#[track_caller]
fn hazard(lines: &[&str], pair: [&str; 2], on: &[&str]) {
    match bind_any(&document(lines)).unwrap_err() {
        BindError::Hazard { left, right, bindings } => {
            assert_eq!(([left.as_str(), right.as_str()], bindings), (pair, on.iter().map(|b| b.to_string()).collect()));
        }
        other => panic!("{other}"),
    }
}

#[test]
fn row_01_two_writers() {
    hazard(&["a: w(x)", "b: w(x)"], ["a", "b"], &["x"]);
}

#[test]
fn row_02_writer_and_reader() {
    hazard(&["a: w(x)", "b: r(x)"], ["a", "b"], &["x"]);
}

#[test]
fn row_03_two_readers() {
    runs(&["a: r(x)", "b: r(x)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn row_04_ordered_through_another() {
    runs(&["a: w(x)", "b: <- a", "c: r(x) <- b"], &["a", "b", "c"], &["c"]);
}

#[test]
fn row_05_two_parts() {
    runs(&["a: w(x@p/0)", "b: w(x@p/1)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn row_06_same_part() {
    hazard(&["a: w(x@p/0)", "b: w(x@p/0)"], ["a", "b"], &["x"]);
}

#[test]
fn row_07_different_schemes() {
    hazard(&["a: w(x@p/0)", "b: w(x@q/1)"], ["a", "b"], &["x"]);
}

#[test]
fn row_08_part_and_whole() {
    hazard(&["a: w(x@p/0)", "b: w(x)"], ["a", "b"], &["x"]);
}

#[test]
fn row_09_read_and_write_of_two_parts() {
    runs(&["a: w(x@p/0)", "b: r(x@p/1)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn row_10_cycle() {
    let document = document(&["a: <- b", "b: <- a"]);
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::Cycle(names) if names == ["a", "b"]));
}

#[test]
fn row_11_diamond() {
    runs(&["d: <- b c", "b: <- a", "c: <- a", "a:"], &["a", "b", "c", "d"], &["d"]);
}

#[test]
fn row_12_buckets_and_one_phase() {
    let lines = [
        "build: r(row_ptr) w(ids)",
        "b0: r(ids) w(out@w/0) <- build",
        "b1: r(ids) w(out@w/1) <- build",
        "done: <- b0 b1",
    ];
    runs(&lines, &["build", "b0", "b1", "done"], &["done"]);
    let mut tree = tree(&lines);
    tree["invocations"][0]["phase"] = json!("materialize");
    let document = parse(&tree).unwrap();
    let bound = bind_phase(&document, Phase::Execute, &mut |_| Ok(Some(()))).unwrap();
    assert_eq!(bound.execution_order(), ["b0", "b1", "done"]);
    assert_eq!(bound.required_bindings(), ["ids", "out"]);
    let bound = bind_phase(&document, Phase::Materialize, &mut |_| Ok(Some(()))).unwrap();
    assert_eq!(bound.execution_order(), ["build"]);
}

#[test]
fn row_13_release_before_the_last_reader() {
    let lines = ["prod: w(t)", "use1: r(t) <- prod", "use2: r(t) <- prod", "free: rw(t) <- use1"];
    hazard(&lines, ["use2", "free"], &["t"]);
}

#[test]
fn row_14_release_after_a_join() {
    let lines = ["prod: w(t)", "use1: r(t) <- prod", "use2: r(t) <- prod", "join: <- use1 use2", "free: rw(t) <- join"];
    runs(&lines, &["prod", "use1", "use2", "join", "free"], &["free"]);
}

#[test]
fn row_15_first_in_first_out() {
    runs(&["b: <- a", "a:", "c:"], &["a", "c", "b"], &["b", "c"]);
}

#[test]
fn row_16_three_parts_and_their_explanation() {
    let lines = ["a: w(out@rows/8)", "b: w(out@rows/32)", "c: w(out@rows/64)"];
    runs(&lines, &["a", "b", "c"], &["a", "b", "c"]);
    let document = document(&lines);
    let text = bind_any(&document).unwrap().explain();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "executable bundle: invocations=3 snapshot=0");
    assert_eq!(lines[2], "bindings: out");
    assert_eq!(lines[5], "c (local) <- ready; out:write[rows/64]");
    assert_eq!(lines.len(), 6);
}

#[test]
fn row_17_access_of_another_version() {
    let mut tree = tree(&["x: r(y)"]);
    tree["invocations"][0]["snapshot_version"] = json!(1);
    tree["invocations"][0]["accesses"][0]["snapshot_version"] = json!(2);
    let expected = DocumentError::MixedVersions { invocation: "x".into(), own: 1, access: 2 };
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn row_18_bundle_of_another_version() {
    let mut document = document(&["x: r(y)"]);
    document.invocations[0].snapshot_version = 1;
    document.invocations[0].accesses[0].snapshot_version = 2;
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::ForeignVersion { found: 2, own: 1, .. }));
}

#[test]
fn row_19_unknown_terminal() {
    let mut tree = tree(&["a:"]);
    tree["terminals"] = json!(["ghost"]);
    assert_eq!(parse(&tree).unwrap_err(), DocumentError::Terminals(vec!["ghost".into()]));
    tree["terminals"] = json!([]);
    assert_eq!(parse(&tree).unwrap_err(), DocumentError::Terminals(vec![]));
}

#[test]
fn row_20_wrong_terminal() {
    let mut tree = tree(&["a:", "b: <- a"]);
    tree["terminals"] = json!(["a"]);
    match bind_any(&parse(&tree).unwrap()).unwrap_err() {
        BindError::Terminals { found, derived } => assert_eq!((found, derived), (vec!["a".into()], vec!["b".into()])),
        other => panic!("{other}"),
    }
}

#[test]
fn row_21_two_versions() {
    let mut tree = tree(&["a:", "b:"]);
    tree["invocations"][0]["snapshot_version"] = json!(5);
    tree["invocations"][1]["snapshot_version"] = json!(6);
    let document = parse(&tree).unwrap();
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::MixedVersions(versions) if versions == [5, 6]));
}

#[test]
fn row_22_access_without_argument() {
    let mut tree = tree(&["a: r(y)"]);
    tree["invocations"][0]["arguments"] = json!([]);
    let document = parse(&tree).unwrap();
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::Undeclared { bindings, .. } if bindings == ["y"]));
}

#[test]
fn row_23_unknown_dependency() {
    let expected = DocumentError::Dependencies { invocation: "a".into(), unknown: vec!["nobody".into()] };
    let mut tree = tree(&["a: <- nobody"]);
    tree["terminals"] = json!(["a"]);
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn row_24_half_a_partition() {
    for key in ["partitioning", "partition"] {
        let mut tree = tree(&["a: r(y)"]);
        tree["invocations"][0]["accesses"][0][key] = json!("p");
        assert_eq!(parse(&tree).unwrap_err(), DocumentError::Partitioning("a".into()));
    }
}

#[test]
fn row_25_unknown_phase() {
    let mut tree = tree(&["a:"]);
    tree["invocations"][0]["phase"] = json!("warmup");
    let expected = DocumentError::Phase { invocation: "a".into(), found: "warmup".into() };
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn row_26_another_schema() {
    let mut tree = tree(&["a:"]);
    tree["schema"] = json!("tiga.executable-bundle-plan.v2");
    assert!(matches!(parse(&tree).unwrap_err(), DocumentError::Schema(_)));
    assert!(matches!(Document::parse(b"[1]").unwrap_err(), DocumentError::Schema(_)));
    assert!(matches!(Document::parse(b"{").unwrap_err(), DocumentError::Json(_)));
}

#[test]
fn row_27_eighth_key_of_a_resource() {
    let mut tree = tree(&["a: r(y)"]);
    tree["resources"] = json!([{
        "name": "y", "memory_space": "ram", "layout": "contiguous", "device": "host:0", "capacity_bytes": 8,
        "snapshot_version": 0, "external": true,
    }]);
    parse(&tree).unwrap();
    tree["resources"][0]["more"] = json!(1);
    assert!(matches!(parse(&tree).unwrap_err(), DocumentError::Resource(_)));
    tree["resources"] = json!([{"name": "y"}]);
    assert!(matches!(parse(&tree).unwrap_err(), DocumentError::Resource(_)));
}

#[test]
fn row_28_missing_binding() {
    let document = document(&["a: r(x) w(y)", "b: r(y) <- a"]);
    let bound = bind_any(&document).unwrap();
    let mut launched = Vec::new();
    let mut submit = |bindings: &BTreeMap<String, i32>| {
        bound.submit(bindings, |launch| {
            launched.push((launch.invocation.name.clone(), launch.will_be_waited));
            Ok::<(), Infallible>(())
        })
    };
    let missing = submit(&BTreeMap::from([("x".into(), 1)])).unwrap_err();
    assert!(matches!(missing, SubmitError::Missing(names) if names == ["y"]));
    submit(&BTreeMap::from([("x".into(), 1), ("y".into(), 2), ("more".into(), 3)])).unwrap();
    assert_eq!(launched, [("a".into(), true), ("b".into(), false)]);
}

const TRANSFER: &str = r#"{"schema":"tiga.executable-bundle-plan.v1",
 "resources":[],
 "invocations":[
  {"name":"stage","task_kind":"storage-transfer","phase":"materialize","executable_symbol":"__gf_transfer",
   "depends_on":[],"snapshot_version":4,
   "arguments":[{"parameter":"source","resource":"w@ram"},{"parameter":"destination","resource":"w@nvme"}],
   "accesses":[{"binding":"w@ram","mode":"read","snapshot_version":4},{"binding":"w@nvme","mode":"write","snapshot_version":4}]},
  {"name":"drop","task_kind":"release","phase":"execute","executable_symbol":"__gf_release",
   "depends_on":["stage"],"snapshot_version":4,
   "arguments":[{"parameter":"instance","resource":"w@ram"}],
   "accesses":[{"binding":"w@ram","mode":"read_write","snapshot_version":4}]},
  {"name":"end","task_kind":"join","phase":"execute","executable_symbol":"__gf_join",
   "depends_on":["drop"],"snapshot_version":4,"arguments":[],"accesses":[]}],
 "terminals":["end"]}"#;

#[test]
fn section_9_1_transfer_plan() {
    let document = Document::parse(TRANSFER.as_bytes()).unwrap();
    let bound = bind::<()>(&document, &mut |task| panic!("`{}` is reserved", task.name)).unwrap();
    assert_eq!(bound.execution_order(), ["stage", "drop", "end"]);
    assert_eq!(bound.structure_hash(), "e45b9aa40943ca4ed58858fca90d8d2947c62560e08116868ecaf3c64d37052a");
    let unordered = TRANSFER.replace(r#""depends_on":["stage"]"#, r#""depends_on":[]"#);
    let document = Document::parse(unordered.as_bytes()).unwrap();
    match bind_any(&document).unwrap_err() {
        BindError::Hazard { left, right, bindings } => {
            assert_eq!([left, right], ["stage", "drop"]);
            assert_eq!(bindings, ["w@ram"]);
        }
        other => panic!("{other}"),
    }
}

#[test]
fn section_9_2_two_phase_degree_plan() {
    let lines = [
        "build: r(row_ptr) w(scratch)",
        "b0: r(scratch) w(out@w/0) <- build",
        "b1: r(scratch) w(out@w/1) <- build",
        "done: <- b0 b1",
    ];
    let text = tree(&lines).to_string().replace(r#""snapshot_version":0"#, r#""snapshot_version":5"#);
    let mut tree: Value = serde_json::from_str(&text).unwrap();
    tree["resources"] = json!([{
        "name": "scratch", "memory_space": "device", "layout": "packed", "device": "provider:0",
        "capacity_bytes": 64, "snapshot_version": 5, "external": false,
    }]);
    tree["invocations"][0]["phase"] = json!("materialize");
    tree["invocations"][0]["executable_symbol"] = json!("build_rows");
    tree["invocations"][0]["upper_bounds"] = json!([8, 16]);
    for (place, ordinal) in [(1, 0), (2, 1)] {
        tree["invocations"][place]["executable_symbol"] = json!("compute");
        tree["invocations"][place]["bucket_ordinal"] = json!(ordinal);
    }
    tree["invocations"][3]["executable_symbol"] = json!("__gf_join");
    let document = parse(&tree).unwrap();
    let mut seen = Vec::new();
    let bound = bind(&document, &mut |task| {
        let metadata = Value::Object(task.metadata.clone()).to_string();
        seen.push(format!("{} {metadata}", task.executable_symbol));
        Ok(Some(seen.len()))
    });
    let bound = bound.unwrap();
    assert_eq!((bound.snapshot_version(), bound.executable(3)), (5, &Executable::Join));
    assert_eq!(bound.executable(2), &Executable::Resolved(3));
    let expected =
        [r#"build_rows {"upper_bounds":[8,16]}"#, r#"compute {"bucket_ordinal":0}"#, r#"compute {"bucket_ordinal":1}"#];
    assert_eq!(seen, expected);
    assert!(!document.resource("scratch").unwrap().external);
}

#[test]
fn structure_hash_of_two_buckets() {
    let mut tree = tree(&["lo: w(y@degree-worklist/0)", "hi: w(y@degree-worklist/1)"]);
    for place in [0, 1] {
        tree["invocations"][place]["task_kind"] = json!("degree-bucket");
        tree["invocations"][place]["arguments"][0]["parameter"] = json!("out");
    }
    let document = parse(&tree).unwrap();
    let bound = bind_any(&document).unwrap();
    assert_eq!(bound.structure_hash(), "bc9fddac16657ee729151914a0becc20f7e84f2d337bc9ca724d6f7f7f96bfea");
}

#[test]
fn other_rules_of_binding() {
    let refused = |change: &dyn Fn(&mut Document)| {
        let mut document = document(&["a: r(x) r(y)", "b: <- a"]);
        change(&mut document);
        bind_any(&document).unwrap_err()
    };
    assert!(matches!(refused(&|d| d.invocations[0].name.clear()), BindError::NoName(0)));
    let doubled = |d: &mut Document| d.invocations[0].arguments[1].parameter = "x".into();
    assert!(matches!(refused(&doubled), BindError::DuplicateParameter { .. }));
    let doubled = |d: &mut Document| d.invocations[1].depends_on.push("a".into());
    assert!(matches!(refused(&doubled), BindError::DuplicateDependency { .. }));
    assert!(matches!(refused(&|d| d.invocations[1].name = "a".into()), BindError::DuplicateName(_)));
    let unknown = |d: &mut Document| d.invocations[1].depends_on = vec!["z".into()];
    assert!(matches!(refused(&unknown), BindError::UnknownDependency { .. }));
    let own = |d: &mut Document| d.invocations[1].depends_on = vec!["b".into()];
    assert!(matches!(refused(&own), BindError::SelfDependency(_)));
    let document = document(&["a: r(x)"]);
    assert!(matches!(bind::<()>(&document, &mut |_| Ok(None)).unwrap_err(), BindError::Unresolved { .. }));
    let fails = bind::<()>(&document, &mut |_| Err("no such kernel".into())).unwrap_err();
    assert_eq!(fails.to_string(), "no executable for `k` of `a`: no such kernel");
    let none = bind_phase::<()>(&document, Phase::Materialize, &mut |_| Ok(None)).unwrap_err();
    assert!(matches!(none, BindError::NoInvocations(Phase::Materialize)));
}

#[test]
fn other_rules_of_parsing() {
    let refused = |change: &dyn Fn(&mut Value)| {
        let mut tree = tree(&["a: r(x)", "b: <- a"]);
        change(&mut tree);
        parse(&tree).unwrap_err()
    };
    assert_eq!(refused(&|t| t["invocations"] = json!({})), DocumentError::List("invocations"));
    assert_eq!(refused(&|t| t["resources"] = json!(1)), DocumentError::List("resources"));
    assert_eq!(refused(&|t| drop(t.as_object_mut().unwrap().remove("terminals"))), DocumentError::List("terminals"));
    assert!(matches!(refused(&|t| t["terminals"] = json!([""])), DocumentError::TerminalName(_)));
    assert_eq!(refused(&|t| t["invocations"] = json!([])), DocumentError::NoInvocations);
    let twice = |t: &mut Value| t["invocations"][1]["name"] = json!("a");
    assert_eq!(refused(&twice), DocumentError::InvocationName("a".into()));
    let silent = |t: &mut Value| t["invocations"][0]["executable_symbol"] = json!("");
    assert_eq!(refused(&silent), DocumentError::Symbol("a".into()));
    for version in [json!(-1), json!(1.5), json!("0"), json!(true)] {
        let negative = |t: &mut Value| t["invocations"][1]["snapshot_version"] = version.clone();
        assert!(matches!(refused(&negative), DocumentError::Version(_)), "{version}");
    }
    let mode = |t: &mut Value| t["invocations"][0]["accesses"][0]["mode"] = json!("peek");
    assert!(matches!(refused(&mode), DocumentError::Invocation(_)));
    let no_kind = |t: &mut Value| drop(t["invocations"][0].as_object_mut().unwrap().remove("task_kind"));
    assert!(matches!(refused(&no_kind), DocumentError::Invocation(_)));
    let twins = |t: &mut Value| {
        let resource = json!({
            "name": "x", "memory_space": "ram", "layout": "contiguous", "device": "host:0",
            "capacity_bytes": 8, "snapshot_version": 0, "external": true,
        });
        t["resources"] = json!([resource.clone(), resource]);
    };
    assert_eq!(refused(&twins), DocumentError::ResourceName("x".into()));
}

#[test]
fn a_document_comes_back_byte_for_byte() {
    for text in [TRANSFER.to_owned(), tree(&["a: w(x@p/0) rw(y)", "b: r(x) <- a"]).to_string()] {
        let mut tree: Value = serde_json::from_str(&text).unwrap();
        tree["invocations"][0]["bytes"] = json!({"z": [1, 0.1, null], "a": "\u{1}é"});
        let document = parse(&tree).unwrap();
        let written = document.to_json();
        let again = Document::parse(written.as_bytes()).unwrap();
        assert_eq!(again, document);
        assert_eq!(again.to_json(), written);
        assert_eq!(again.invocations[0].metadata["bytes"]["a"], json!("\u{1}é"));
    }
}
