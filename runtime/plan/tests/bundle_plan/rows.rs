//! The worked examples of section 9 of the format's definition, one test a row.

use crate::plans::{bind_any, document, hazard, parse, runs, tree};
use serde_json::json;
use std::collections::BTreeMap;
use std::convert::Infallible;
use tiga_plan::Phase;
use tiga_plan::bind::{BindError, bind_phase};
use tiga_plan::document::{Document, DocumentError};
use tiga_plan::submit::{Launch, SubmitError, Synchronous};

#[test]
fn bundle_plan_9_row_01_two_writers() {
    hazard(&["a: w(x)", "b: w(x)"], ["a", "b"], &["x"]);
}

#[test]
fn bundle_plan_9_row_02_writer_and_reader() {
    hazard(&["a: w(x)", "b: r(x)"], ["a", "b"], &["x"]);
}

#[test]
fn bundle_plan_9_row_03_two_readers() {
    runs(&["a: r(x)", "b: r(x)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn bundle_plan_9_row_04_ordered_through_another() {
    runs(&["a: w(x)", "b: <- a", "c: r(x) <- b"], &["a", "b", "c"], &["c"]);
}

#[test]
fn bundle_plan_9_row_05_two_parts() {
    runs(&["a: w(x@p/0)", "b: w(x@p/1)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn bundle_plan_9_row_06_same_part() {
    hazard(&["a: w(x@p/0)", "b: w(x@p/0)"], ["a", "b"], &["x"]);
}

#[test]
fn bundle_plan_9_row_07_different_schemes() {
    hazard(&["a: w(x@p/0)", "b: w(x@q/1)"], ["a", "b"], &["x"]);
}

#[test]
fn bundle_plan_9_row_08_part_and_whole() {
    hazard(&["a: w(x@p/0)", "b: w(x)"], ["a", "b"], &["x"]);
}

#[test]
fn bundle_plan_9_row_09_read_and_write_of_two_parts() {
    runs(&["a: w(x@p/0)", "b: r(x@p/1)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn bundle_plan_9_row_10_cycle() {
    let document = document(&["a: <- b", "b: <- a"]);
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::Cycle(names) if names == ["a", "b"]));
}

#[test]
fn bundle_plan_9_row_11_diamond() {
    runs(&["d: <- b c", "b: <- a", "c: <- a", "a:"], &["a", "b", "c", "d"], &["d"]);
}

#[test]
fn bundle_plan_9_row_12_buckets_and_one_phase() {
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
fn bundle_plan_9_row_13_release_before_the_last_reader() {
    let lines = ["prod: w(t)", "use1: r(t) <- prod", "use2: r(t) <- prod", "free: rw(t) <- use1"];
    hazard(&lines, ["use2", "free"], &["t"]);
}

#[test]
fn bundle_plan_9_row_14_release_after_a_join() {
    let lines = ["prod: w(t)", "use1: r(t) <- prod", "use2: r(t) <- prod", "join: <- use1 use2", "free: rw(t) <- join"];
    runs(&lines, &["prod", "use1", "use2", "join", "free"], &["free"]);
}

#[test]
fn bundle_plan_9_row_15_first_in_first_out() {
    runs(&["b: <- a", "a:", "c:"], &["a", "c", "b"], &["b", "c"]);
}

#[test]
fn bundle_plan_9_row_16_three_parts_and_their_explanation() {
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
fn bundle_plan_9_row_17_access_of_another_version() {
    let mut tree = tree(&["x: r(y)"]);
    tree["invocations"][0]["snapshot_version"] = json!(1);
    tree["invocations"][0]["accesses"][0]["snapshot_version"] = json!(2);
    let expected = DocumentError::MixedVersions { invocation: "x".into(), own: 1, access: 2 };
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn bundle_plan_9_row_18_bundle_of_another_version() {
    let mut document = document(&["x: r(y)"]);
    document.invocations[0].snapshot_version = 1;
    document.invocations[0].accesses[0].snapshot_version = 2;
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::ForeignVersion { found: 2, own: 1, .. }));
}

#[test]
fn bundle_plan_9_row_19_unknown_terminal() {
    let mut tree = tree(&["a:"]);
    tree["terminals"] = json!(["ghost"]);
    assert_eq!(parse(&tree).unwrap_err(), DocumentError::Terminals(vec!["ghost".into()]));
    tree["terminals"] = json!([]);
    assert_eq!(parse(&tree).unwrap_err(), DocumentError::Terminals(vec![]));
}

#[test]
fn bundle_plan_9_row_20_wrong_terminal() {
    let mut tree = tree(&["a:", "b: <- a"]);
    tree["terminals"] = json!(["a"]);
    match bind_any(&parse(&tree).unwrap()).unwrap_err() {
        BindError::Terminals { found, derived } => assert_eq!((found, derived), (vec!["a".into()], vec!["b".into()])),
        other => panic!("{other}"),
    }
}

#[test]
fn bundle_plan_9_row_21_two_versions() {
    let mut tree = tree(&["a:", "b:"]);
    tree["invocations"][0]["snapshot_version"] = json!(5);
    tree["invocations"][1]["snapshot_version"] = json!(6);
    let document = parse(&tree).unwrap();
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::MixedVersions(versions) if versions == [5, 6]));
}

#[test]
fn bundle_plan_9_row_22_access_without_argument() {
    let mut tree = tree(&["a: r(y)"]);
    tree["invocations"][0]["arguments"] = json!([]);
    let document = parse(&tree).unwrap();
    assert!(matches!(bind_any(&document).unwrap_err(), BindError::Undeclared { bindings, .. } if bindings == ["y"]));
}

#[test]
fn bundle_plan_9_row_23_unknown_dependency() {
    let expected = DocumentError::Dependencies { invocation: "a".into(), unknown: vec!["nobody".into()] };
    let mut tree = tree(&["a: <- nobody"]);
    tree["terminals"] = json!(["a"]);
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn bundle_plan_9_row_24_half_a_partition() {
    for key in ["partitioning", "partition"] {
        let mut tree = tree(&["a: r(y)"]);
        tree["invocations"][0]["accesses"][0][key] = json!("p");
        assert_eq!(parse(&tree).unwrap_err(), DocumentError::Partitioning("a".into()));
    }
}

#[test]
fn bundle_plan_9_row_25_unknown_phase() {
    let mut tree = tree(&["a:"]);
    tree["invocations"][0]["phase"] = json!("warmup");
    let expected = DocumentError::Phase { invocation: "a".into(), found: "warmup".into() };
    assert_eq!(parse(&tree).unwrap_err(), expected);
}

#[test]
fn bundle_plan_9_row_26_another_schema() {
    let mut tree = tree(&["a:"]);
    tree["schema"] = json!("tiga.executable-bundle-plan.v2");
    assert!(matches!(parse(&tree).unwrap_err(), DocumentError::Schema(_)));
    assert!(matches!(Document::parse(b"[1]").unwrap_err(), DocumentError::Schema(_)));
    assert!(matches!(Document::parse(b"{").unwrap_err(), DocumentError::Json(_)));
}

#[test]
fn bundle_plan_9_row_27_eighth_key_of_a_resource() {
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
fn bundle_plan_9_row_28_missing_binding() {
    let document = document(&["a: r(x) w(y)", "b: r(y) <- a"]);
    let bound = bind_any(&document).unwrap();
    let mut launched = Vec::new();
    let mut submit = |bindings: &BTreeMap<String, i32>| {
        let provider = Synchronous(|launch: Launch<'_, (), i32>| {
            launched.push((launch.invocation.name.clone(), launch.will_be_waited));
            Ok::<(), Infallible>(())
        });
        bound.submit(provider, bindings).map(|submission| assert!(submission.ready()))
    };
    let missing = submit(&BTreeMap::from([("x".into(), 1)])).unwrap_err();
    assert!(matches!(missing, SubmitError::Missing(names) if names == ["y"]));
    submit(&BTreeMap::from([("x".into(), 1), ("y".into(), 2), ("more".into(), 3)])).unwrap();
    assert_eq!(launched, [("a".into(), true), ("b".into(), false)]);
}
