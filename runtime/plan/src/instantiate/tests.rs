//! Instances of the sample: what they say, that they may run, and that a broken one may not.

use super::*;
use crate::{passes, sample};
use tiga_abi::{DType, SizeExpr};

fn template() -> Template {
    let mut template = sample::looped();
    passes::complete(&mut template).unwrap();
    template
}

fn sizes(name: &str) -> Option<i64> {
    BTreeMap::from([("N", 100), ("E", 2000)]).get(name).copied()
}

fn instances() -> Vec<Instance> {
    instantiate(&template(), &sizes).unwrap()
}

#[test]
fn every_instance_may_run_and_comes_back() {
    let all = instances();
    let names: Vec<&str> = all.iter().map(|instance| instance.name.as_str()).collect();
    assert_eq!(names, ["looped", "looped.loop0", "looped.then0", "looped.else0"]);
    for instance in &all {
        let dag = check_instance(&instance.document).unwrap();
        assert_eq!(dag.len(), instance.document.invocations.len());
        let text = instance.document.to_json();
        assert_eq!(Document::parse(text.as_bytes()).unwrap().to_json(), text);
    }
}

#[test]
fn a_loop_says_what_it_runs() {
    let all = instances();
    let root = &all[0].document;
    let task = root.invocations.iter().find(|task| task.executable_symbol == "tiga.loop").unwrap();
    let expected = json!({
        "body": "looped.loop0", "rotate": [["r.in", "r.out", "r.a", "r.b"]], "condition": "go", "at_most": 200,
        "peak_bytes": {"ram": 800},
    });
    assert_eq!(Value::Object(task.metadata.clone()), expected);
    let a = root.resource("r.a@ram:host:0").unwrap();
    assert_eq!((a.capacity_bytes, a.external), (800, false));
    let body = &all[1].document;
    assert!(body.resource("r.in@ram:host:0").unwrap().external);
    assert!(body.resource("go@ram:host:0").unwrap().external);
    assert!(!body.resource("t@ram:host:0").unwrap().external);
}

#[test]
fn peak_counts_what_lives_at_the_worst_moment() {
    // At the loop: both buffers, the condition, and the temporary of a round.
    let peaks: Vec<u64> = instances().iter().map(|instance| instance.peak[&Tier::Ram]).collect();
    assert_eq!(peaks, [800 + 800 + 1 + 800, 800, 0, 0]);
}

#[test]
fn kernels_say_their_relation_roles_and_units() {
    let mut template = template();
    let task = &mut template.root.tasks[TaskId::from_u32(1)];
    let units = Units::Blocks { extent: SizeExpr::parse("E").unwrap(), size: 512 };
    task.kind = TaskKind::Kernel { symbol: "k".into(), relation: Some("g".into()), units };
    let all = instantiate(&template, &sizes).unwrap();
    let metadata = Value::Object(all[0].document.invocations[1].metadata.clone());
    let expected = json!({
        "relation": "g", "roles": {"d": "dst", "r": "out", "go": "out"},
        "units": {"are": "blocks", "count": 4, "size": 512},
    });
    assert_eq!(metadata, expected);
}

#[test]
fn sizes_without_value_are_named() {
    let unbound = instantiate(&template(), &|_| None).unwrap_err();
    assert_eq!(unbound.to_string(), "resource `g.row_ptr@ram:host:0`: size `N` is not bound");
    let huge = instantiate(&template(), &|_| Some(i64::MAX)).unwrap_err();
    assert!(matches!(huge, InstantiateError::Size { source: SizeError::Overflow(_), .. }));
    let mut many = template();
    for name in ["x", "y", "z"] {
        let mut resource = sample::resource(name, Owner::Owned, DType::F64, &["1"]);
        resource.capacity = SizeExpr::Const(i64::MAX);
        let id = many.resources.push(resource);
        many.root.tasks.push(sample::kernel(name, &[("x", id, Mode::Write)]));
    }
    assert_eq!(instantiate(&many, &sizes), Err(InstantiateError::Peak("looped".into())));
}

#[test]
fn zero_sizes_are_sizes() {
    let all = instantiate(&template(), &|_| Some(0)).unwrap();
    assert!(all.iter().all(|instance| check_instance(&instance.document).is_ok()));
    assert_eq!(Units::Rows(SizeExpr::parse("N").unwrap()).count(&|_| Some(0)), Ok(Some(0)));
}

#[test]
fn a_broken_instance_may_not_run() {
    let broken = |change: &dyn Fn(&mut Document)| {
        let mut document = instances().swap_remove(0).document;
        change(&mut document);
        check_instance(&document).unwrap_err()
    };
    let release = |d: &mut Document| d.invocations.iter().position(|t| t.executable_symbol == "__gf_release").unwrap();
    let early = |d: &mut Document| {
        let release = release(d);
        d.invocations[release].depends_on.clear();
    };
    assert!(matches!(broken(&early), InstanceError::Bind(BindError::Hazard { .. })));
    let renamed = |d: &mut Document| {
        let release = release(d);
        d.invocations[release].arguments[0].parameter = "it".into();
    };
    assert!(matches!(broken(&renamed), InstanceError::Contract { parameters: ["instance"], .. }));
    let unlisted = |d: &mut Document| d.resources.retain(|resource| resource.name != "d@ram:host:0");
    assert!(matches!(broken(&unlisted), InstanceError::Resource { .. }));
    let newer = |d: &mut Document| d.resources[0].snapshot_version = 1;
    assert!(matches!(broken(&newer), InstanceError::Resource { .. }));
    let silent = |d: &mut Document| drop(d.invocations[1].accesses.remove(0));
    assert!(matches!(broken(&silent), InstanceError::Silent { .. }));
    let shadowed = |d: &mut Document| drop(d.invocations[1].metadata.insert("name".into(), json!("other")));
    assert!(matches!(broken(&shadowed), InstanceError::Text));
    let no_end = |d: &mut Document| d.terminals.clear();
    assert!(matches!(broken(&no_end), InstanceError::Document(DocumentError::Terminals(_))));
}
