//! The rules of binding, section 5 of the format's definition, one test a rule.

use crate::plans::{TRANSFER, bind_any, document, hazard, parse, runs, tree};
use serde_json::json;
use tiga_plan::Phase;
use tiga_plan::bind::{BindError, Executable, bind, bind_phase};
use tiga_plan::document::Document;

/// What binding says of a changed document of two tasks, `b` after `a`.
fn refused(change: impl Fn(&mut Document)) -> BindError {
    let mut document = document(&["a: r(x) r(y)", "b: <- a"]);
    change(&mut document);
    bind_any(&document).unwrap_err()
}

#[test]
fn bundle_plan_5_b01_a_phase_is_one_of_two() {
    // Another word is no value of the type; as text it is refused by name.
    assert_eq!(Phase::from_name("materialize"), Some(Phase::Materialize));
    assert_eq!(Phase::from_name("execute"), Some(Phase::Execute));
    assert_eq!(Phase::from_name("warmup"), None);
}

#[test]
fn bundle_plan_5_b02_a_phase_has_invocations() {
    let none = document(&["a: r(x)"]);
    let error = bind_phase::<()>(&none, Phase::Materialize, &mut |_| Ok(None)).unwrap_err();
    assert!(matches!(error, BindError::NoInvocations(Phase::Materialize)));
    assert_eq!(error.to_string(), "the plan has no 'materialize' invocations");
}

#[test]
fn bundle_plan_5_b03_one_version() {
    let mixed = |version| {
        let mut mixed = document(&["a:", "b:"]);
        mixed.invocations[0].snapshot_version = 5;
        mixed.invocations[1].snapshot_version = version;
        mixed
    };
    assert!(matches!(bind_any(&mixed(6)).unwrap_err(), BindError::MixedVersions(all) if all == [5, 6]));
    assert_eq!(bind_any(&mixed(5)).unwrap().snapshot_version(), 5);
    // Only the invocations that are bound must agree.
    let mut phases = mixed(6);
    phases.invocations[0].phase = Phase::Materialize;
    assert_eq!(bind_phase(&phases, Phase::Execute, &mut |_| Ok(Some(()))).unwrap().snapshot_version(), 6);
}

#[test]
fn bundle_plan_5_b04_the_resolver_sees_all_but_reserved_symbols() {
    let reserved = Document::parse(TRANSFER.as_bytes()).unwrap();
    let bound = bind::<()>(&reserved, &mut |task| panic!("`{}` is reserved", task.name)).unwrap();
    let kinds: Vec<_> = (0..3).map(|index| bound.executable(index).clone()).collect();
    assert_eq!(kinds, [Executable::Transfer, Executable::Release, Executable::Join]);
    let document = document(&["a: r(x)"]);
    assert!(matches!(bind::<()>(&document, &mut |_| Ok(None)).unwrap_err(), BindError::Unresolved { .. }));
    let fails = bind::<()>(&document, &mut |_| Err("no such kernel".into())).unwrap_err();
    assert_eq!(fails.to_string(), "no executable for `k` of `a`: no such kernel");
}

#[test]
fn bundle_plan_5_b05_bindings_stand_in_order_of_first_use() {
    let document = document(&["a: r(y) r(x)", "b: r(z) r(x) <- a"]);
    assert_eq!(bind_any(&document).unwrap().required_bindings(), ["y", "x", "z"]);
}

#[test]
fn bundle_plan_5_b06_names_parameters_and_dependencies_are_single() {
    assert!(matches!(refused(|d| d.invocations[0].name.clear()), BindError::NoName(0)));
    let parameter = refused(|d| d.invocations[0].arguments[1].parameter = "x".into());
    assert!(matches!(&parameter, BindError::DuplicateParameter { parameter, .. } if parameter == "x"));
    assert!(parameter.to_string().contains("duplicate ABI parameters"));
    let dependency = refused(|d| d.invocations[1].depends_on.push("a".into()));
    assert!(matches!(&dependency, BindError::DuplicateDependency { dependency, .. } if dependency == "a"));
    assert!(dependency.to_string().contains("duplicate dependencies"));
}

#[test]
fn bundle_plan_5_b07_the_other_phase_counts_as_complete() {
    let mut tree = tree(&["a: w(x)", "b: r(x) <- a", "c: r(x) <- b"]);
    tree["invocations"][0]["phase"] = json!("materialize");
    let document = parse(&tree).unwrap();
    let bound = bind_phase(&document, Phase::Execute, &mut |_| Ok(Some(()))).unwrap();
    assert_eq!(bound.execution_order(), ["b", "c"]);
    assert!(bound.dag().dependencies(0).is_empty());
}

#[test]
fn bundle_plan_5_b08_names_are_unique() {
    assert!(matches!(refused(|d| d.invocations[1].name = "a".into()), BindError::DuplicateName(name) if name == "a"));
}

#[test]
fn bundle_plan_5_b09_what_is_accessed_is_an_argument_of_somebody() {
    let error = refused(|d| drop(d.invocations[0].arguments.remove(1)));
    assert!(
        matches!(&error, BindError::Undeclared { invocation, bindings } if invocation == "a" && bindings == &["y"])
    );
    assert!(error.to_string().contains("undeclared bindings"));
    // The argument may be another invocation's.
    let mut shared = document(&["a: r(x) r(y)", "b: r(y) <- a"]);
    shared.invocations[0].arguments.remove(1);
    bind_any(&shared).unwrap();
}

#[test]
fn bundle_plan_5_b10_accesses_have_the_version_of_the_bundle() {
    let error = refused(|d| d.invocations[0].accesses[1].snapshot_version = 2);
    assert!(error.to_string().contains("accesses snapshot 2, bundle owns 0"), "{error}");
}

#[test]
fn bundle_plan_5_b11_dependencies_exist() {
    let error = refused(|d| d.invocations[1].depends_on = vec!["z".into()]);
    assert!(error.to_string().contains("depends on unknown invocation"), "{error}");
}

#[test]
fn bundle_plan_5_b12_nobody_waits_for_itself() {
    let error = refused(|d| d.invocations[1].depends_on = vec!["b".into()]);
    assert!(error.to_string().contains("cannot depend on itself"), "{error}");
}

#[test]
fn bundle_plan_5_b13_there_is_no_cycle() {
    let error = refused(|d| d.invocations[0].depends_on = vec!["b".into()]);
    assert_eq!(error.to_string(), r#"the plan contains a cycle: ["a", "b"]"#);
}

#[test]
fn bundle_plan_5_b14_conflicts_are_ordered_or_disjoint() {
    // The first pair in declaration order, with all its bindings, sorted.
    hazard(&["a: w(z) w(y) r(x)", "b: r(y) w(z) r(x)", "c: w(x)"], ["a", "b"], &["y", "z"]);
    // Either may come first.
    runs(&["a: w(x) <- b", "b: w(x)"], &["b", "a"], &["a"]);
    // Nothing is checked inside of one invocation, and each of its accesses counts.
    runs(&["a: r(x) w(x)"], &["a"], &["a"]);
    hazard(&["a: w(x@p/0) w(x@p/1)", "b: w(x@p/1)"], ["a", "b"], &["x"]);
    // Two names are two resources.
    runs(&["a: w(x)", "b: w(y)"], &["a", "b"], &["a", "b"]);
}

#[test]
fn bundle_plan_5_b15_terminals_are_those_without_dependents() {
    let error = refused(|d| d.terminals = vec!["a".into(), "b".into()]);
    assert!(error.to_string().contains("terminals disagree"), "{error}");
    // Their order is free, and one phase is not held against them.
    let mut two = document(&["a:", "b:"]);
    two.terminals.reverse();
    bind_any(&two).unwrap();
    two.terminals.pop();
    assert!(matches!(bind_any(&two).unwrap_err(), BindError::Terminals { .. }));
    bind_phase(&two, Phase::Execute, &mut |_| Ok(Some(()))).unwrap();
}
