//! One document for each finding, and one without any.

use super::*;
use crate::document::Document;
use serde_json::{Value, json};

/// An owned resource of 64 bytes in RAM.
fn resource(name: &str) -> Value {
    json!({"name": name, "memory_space": "ram", "layout": "contiguous", "device": "host:0",
        "capacity_bytes": 64, "snapshot_version": 0, "external": false})
}

/// An invocation with these `(parameter, resource, mode)`.
fn task(name: &str, symbol: &str, waits: &[&str], uses: &[(&str, &str, &str)]) -> Value {
    let arguments: Vec<Value> = uses.iter().map(|(p, r, _)| json!({"parameter": p, "resource": r})).collect();
    let access = |(_, r, mode): &(&str, &str, &str)| json!({"binding": r, "mode": mode, "snapshot_version": 0});
    json!({"name": name, "task_kind": "local", "phase": "execute", "executable_symbol": symbol, "depends_on": waits,
        "arguments": arguments, "accesses": uses.iter().map(access).collect::<Vec<_>>(), "snapshot_version": 0})
}

fn free(name: &str, resource: &str, waits: &[&str]) -> Value {
    task(name, "__gf_release", waits, &[("instance", resource, "read_write")])
}

fn found_in(resources: Vec<Value>, invocations: Vec<Value>) -> Vec<Finding> {
    let tree = json!({"schema": "tiga.executable-bundle-plan.v1", "resources": resources,
        "terminals": [invocations[0]["name"]], "invocations": invocations});
    let text = tree.to_string();
    assert_eq!(duplicate_keys(text.as_bytes()).unwrap(), []);
    check(&Document::parse(text.as_bytes()).unwrap())
}

#[track_caller]
fn expect(resources: Vec<Value>, invocations: Vec<Value>, codes: &[&str]) {
    let found = found_in(resources, invocations);
    assert_eq!(found.iter().map(Finding::code).collect::<Vec<_>>(), codes, "{found:#?}");
}

const MAKE: (&str, &str, &str) = ("out", "t", "write");
const TAKE: (&str, &str, &str) = ("in", "t", "read");

#[test]
fn a_sound_plan_has_no_findings() {
    let moves = [("source", "t@ram:host:0", "read"), ("destination", "t@nvme:host:0", "write")];
    let mut far = resource("t@nvme:host:0");
    far["memory_space"] = json!("nvme");
    let make = task("make", "k", &[], &[("out", "t@ram:host:0", "write")]);
    let spill = task("spill", "__gf_transfer", &["make"], &moves);
    expect(vec![resource("t@ram:host:0"), far], vec![make, spill, free("free", "t@ram:host:0", &["spill"])], &[]);
}

#[test]
fn a_key_that_stands_twice_is_found() {
    let text = br#"{"a":1,"b":[{"c":1,"c":{"d":null,"\u0064":2.5}}],"a":"x"}"#;
    let found = duplicate_keys(text).unwrap();
    let places: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 3);
    assert!(places[0].starts_with("`c` stands twice in $.b[0]:"), "{places:?}");
    assert!(places[1].starts_with("`d` stands twice in $.b[0].c:"), "{places:?}");
    assert!(places[2].starts_with("`a` stands twice in $:"), "{places:?}");
    assert!(duplicate_keys(b"{").is_err());
    assert!(duplicate_keys("[".repeat(1 << 20).as_bytes()).is_err());
}

#[test]
fn reserved_symbols_have_their_arguments() {
    let join = task("j", "__gf_join", &[], &[TAKE]);
    expect(vec![resource("t")], vec![join], &["reserved-arguments"]);
    let free = task("f", "__gf_release", &["m"], &[("it", "t", "read_write")]);
    expect(vec![resource("t")], vec![task("m", "k", &[], &[MAKE]), free], &["reserved-arguments"]);
    let units = task("u", "tiga.build_units", &[], &[("row_ptr", "t", "read")]);
    expect(vec![resource("t")], vec![units], &["reserved-arguments"]);
    let half = task("x", "__gf_transfer", &[], &[("source", "t", "read")]);
    expect(vec![resource("t")], vec![half], &["reserved-arguments"]);
}

#[test]
fn reserved_symbols_do_what_they_do() {
    let mut free = free("f", "t", &["m"]);
    free["accesses"][0]["mode"] = json!("read");
    let make = || task("m", "k", &[], &[MAKE]);
    expect(vec![resource("t")], vec![make(), free.clone()], &["reserved-access"]);
    free["accesses"] = json!([]);
    expect(vec![resource("t")], vec![make(), free], &["silent-argument"]);
}

#[test]
fn what_is_not_listed_is_noted() {
    let make = || task("m", "k", &[], &[MAKE]);
    expect(vec![resource("x")], vec![make(), make_named("n")], &["unlisted-resource"]);
    expect(vec![], vec![make()], &[]);
}

fn make_named(name: &str) -> Value {
    task(name, "k", &[], &[MAKE])
}

#[test]
fn two_names_of_one_memory_are_found() {
    let names = |first: Value, second: Value| {
        let run = task("m", "k", &[], &[]);
        found_in(vec![first, second], vec![run]).iter().map(Finding::code).collect::<Vec<_>>()
    };
    assert_eq!(names(resource("t@ram:host:0"), resource("t@host:host")), ["alias-spelling"]);
    assert_eq!(names(resource("t"), resource("t@ram:host:0")), ["alias-spelling"]);
    assert_eq!(names(resource("t@ram:host:0"), resource("t@ram:host:0#2")), [""; 0]);
    assert_eq!(names(resource("t@ram:host:0"), resource("u@ram:host:0")), [""; 0]);
    let two = task("m", "k", &[], &[("a", "t@ram:host", "write"), ("b", "t@RAM:host:0", "read")]);
    expect(vec![], vec![two], &["alias-spelling"]);
}

#[test]
fn one_resource_for_two_parameters_is_found_where_it_is_written() {
    let both = |mode| vec![task("m", "k", &[], &[("a", "t", "read"), ("b", "t", mode)])];
    expect(vec![resource("t")], both("write"), &["alias-parameters"]);
    expect(vec![resource("t")], both("read"), &[]);
}

#[test]
fn releases_come_once_and_last() {
    let make = || task("m", "k", &[], &[MAKE]);
    let used = |name, waits: &[&str]| task(name, "k", waits, &[TAKE]);
    let all = |more: Vec<Value>| [vec![make()], more].concat();
    expect(vec![resource("t")], all(vec![free("f", "t", &["m"]), used("u", &["f"])]), &["use-after-release"]);
    let unordered = all(vec![used("u", &["m"]), free("f", "t", &["m"])]);
    expect(vec![resource("t")], unordered, &["release-before-last-use"]);
    let late = all(vec![free("f", "t", &["m"]), used("u", &["m"])]);
    expect(vec![resource("t")], late, &["use-after-release"]);
    let alone = vec![free("f", "t", &[])];
    expect(vec![resource("t")], alone, &["release-without-dependency"]);
    let twice = all(vec![free("f", "t", &["m"]), free("g", "t", &["f"])]);
    expect(vec![resource("t")], twice, &["released-twice"]);
    let mut lent = resource("t");
    lent["external"] = json!(true);
    expect(vec![lent], all(vec![free("f", "t", &["m"])]), &["release-of-external"]);
}

#[test]
fn a_use_that_no_access_speaks_of_is_a_use() {
    let mut silent = task("u", "k", &["m"], &[TAKE]);
    silent["accesses"] = json!([]);
    let plan = vec![task("m", "k", &[], &[MAKE]), silent, free("f", "t", &["m"])];
    expect(vec![resource("t")], plan, &["silent-argument", "release-before-last-use"]);
}

#[test]
fn versions_spaces_and_sums() {
    let run = || vec![task("m", "k", &[], &[MAKE])];
    let with = |key: &str, value: Value| {
        let mut changed = resource("t");
        changed[key] = value;
        vec![changed]
    };
    expect(with("snapshot_version", json!(3)), run(), &["resource-version"]);
    expect(with("memory_space", json!("lds")), run(), &["unknown-memory-space"]);
    expect(with("memory_space", json!("host")), run(), &["memory-space-alias"]);
    expect(with("memory_space", json!("smem")), run(), &["memory-space-alias", "unallocatable-memory-space"]);
    expect(with("memory_space", json!("remote")), run(), &["unallocatable-memory-space"]);
    let mut slot = with("memory_space", json!("remote"));
    slot[0]["layout"] = json!("packed-halo");
    expect(slot, run(), &[]);
    let mut large = with("capacity_bytes", json!(u64::MAX));
    large.push(resource("u"));
    expect(large, run(), &["capacity-overflow"]);
}

#[test]
fn transfers_keep_what_they_move() {
    let moves =
        |from, to| vec![task("x", "__gf_transfer", &[], &[("source", from, "read"), ("destination", to, "write")])];
    let mut far = resource("t@nvme:host:0");
    far["memory_space"] = json!("nvme");
    far["capacity_bytes"] = json!(63);
    expect(vec![resource("t@ram:host:0"), far], moves("t@ram:host:0", "t@nvme:host:0"), &["transfer-capacity"]);
    expect(vec![], moves("t@ram", "u@nvme"), &["transfer-names"]);
    let itself = found_in(vec![], moves("t@ram", "t@ram"));
    assert!(itself.iter().any(|finding| finding.code() == "transfer-to-itself"), "{itself:?}");
}

#[test]
fn the_first_phase_does_not_wait_for_the_second() {
    let mut early = task("b", "k", &["a"], &[]);
    early["phase"] = json!("materialize");
    expect(vec![], vec![task("a", "k", &[], &[]), early], &["materialize-after-execute"]);
}

#[test]
fn codes_are_kebab_case_and_messages_name_somebody() {
    let plan = vec![task("m", "k", &[], &[MAKE]), free("f", "t", &[])];
    for finding in found_in(vec![resource("t")], plan) {
        assert!(finding.code().chars().all(|c| c.is_ascii_lowercase() || c == '-'));
        assert!(finding.to_string().contains('`'));
        assert_eq!(finding.severity(), Severity::Error);
    }
}
