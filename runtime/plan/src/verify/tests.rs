//! For each law, a template that breaks it.

use super::*;
use crate::{passes, sample};

fn complete() -> Template {
    let mut template = sample::looped();
    passes::complete(&mut template).unwrap();
    template
}

/// The law that a change to a complete plan breaks.
fn broken_by(change: impl FnOnce(&mut Template)) -> Rule {
    let mut template = complete();
    change(&mut template);
    template.verify().unwrap_err().rule
}

fn id(template: &Template, name: &str) -> ResourceId {
    template.resources.iter().find(|(_, resource)| resource.name == name).unwrap().0
}

fn task<'t>(template: &'t mut Template, name: &str) -> &'t mut Task {
    template.root.tasks.values_mut().find(|task| task.name == name).unwrap()
}

#[test]
fn a_complete_plan_keeps_all_laws() {
    assert_eq!(complete().verify(), Ok(()));
}

#[test]
fn handle() {
    assert!(matches!(broken_by(|t| t.root.externals.push(ResourceId::from_u32(99))), Rule::Handle(_)));
    assert!(matches!(broken_by(|t| task(t, "join:0").after.push(TaskId::from_u32(99))), Rule::Handle(_)));
    let loops_elsewhere = |t: &mut Template| match &mut task(t, "loop:0").kind {
        TaskKind::Loop { body, .. } => *body = BodyId::from_u32(99),
        _ => unreachable!(),
    };
    assert!(matches!(broken_by(loops_elsewhere), Rule::Handle(_)));
}

#[test]
fn name() {
    let rename = |t: &mut Template| {
        let d = id(t, "d");
        t.resources[d].name = "out".into();
    };
    assert!(matches!(broken_by(rename), Rule::Name(_)));
    assert!(matches!(broken_by(|t| task(t, "init:0").name = "loop:0".into()), Rule::Name(_)));
    assert!(matches!(broken_by(|t| t.root.name = "looped.loop0".into()), Rule::Name(_)));
    assert!(matches!(broken_by(|t| task(t, "init:0").args[1].parameter = "d".into()), Rule::Name(_)));
}

#[test]
fn after() {
    assert!(matches!(broken_by(|t| task(t, "init:0").after.push(TaskId::from_u32(1))), Rule::After(_)));
    assert!(matches!(broken_by(|t| task(t, "loop:0").after.reverse()), Rule::After(_)));
}

#[test]
fn phase() {
    let waits = |t: &mut Template| {
        task(t, "loop:0").phase = Phase::Materialize;
    };
    assert_eq!(broken_by(waits), Rule::Phase("init:0".into()));
}

#[test]
fn nesting() {
    let twice = |t: &mut Template| match &mut task(t, "branch:0").kind {
        TaskKind::Branch { then_body, else_body, .. } => *then_body = *else_body,
        _ => unreachable!(),
    };
    assert!(matches!(broken_by(twice), Rule::Nesting(_)));
    let unused = |t: &mut Template| {
        t.bodies.push(Body { name: "alone".into(), ..Body::default() });
    };
    assert_eq!(broken_by(unused), Rule::Nesting("alone".into()));
}

#[test]
fn ownership_and_externals() {
    assert!(matches!(broken_by(|t| t.root.externals.clear()), Rule::Ownership(_)));
    let claims = |t: &mut Template| {
        let go = id(t, "go");
        t.bodies[BodyId::from_u32(0)].externals.retain(|other| *other != go);
    };
    assert!(matches!(broken_by(claims), Rule::Ownership(_) | Rule::Decision(_)));
    assert_eq!(broken_by(|t| t.root.externals.reverse()), Rule::Externals);
}

#[test]
fn hidden() {
    let weaker = |t: &mut Template| {
        let (go, task) = (id(t, "go"), task(t, "loop:0"));
        task.accesses.iter_mut().find(|access| access.resource == go).unwrap().mode = Mode::Read;
    };
    assert!(matches!(broken_by(weaker), Rule::Hidden(_)));
}

#[test]
fn rotation() {
    let widen = |t: &mut Template| {
        let b = id(t, "r.b");
        t.resources[b].capacity = SizeExpr::Const(8);
    };
    assert!(matches!(broken_by(widen), Rule::Rotation(_)));
}

#[test]
fn decision() {
    let retype = |t: &mut Template| {
        let go = id(t, "go");
        t.resources[go].dtype = DType::I64;
    };
    assert!(matches!(broken_by(retype), Rule::Decision(_)));
    let never_rewritten = |t: &mut Template| {
        let go = id(t, "go");
        let body = &mut t.bodies[BodyId::from_u32(0)];
        let accesses = body.tasks.values_mut().flat_map(|task| &mut task.accesses);
        accesses.filter(|access| access.resource == go).for_each(|access| access.mode = Mode::Read);
    };
    assert!(matches!(broken_by(never_rewritten), Rule::Decision(_)));
}

#[test]
fn contract_and_binding() {
    assert!(matches!(broken_by(|t| task(t, "release:0").args[0].parameter = "it".into()), Rule::Contract(_)));
    assert!(matches!(broken_by(|t| task(t, "release:0").accesses[0].mode = Mode::Read), Rule::Contract(_)));
    assert!(matches!(broken_by(|t| task(t, "init:0").args.truncate(2)), Rule::Binding(_)));
    assert!(matches!(broken_by(|t| task(t, "init:0").accesses.truncate(2)), Rule::Binding(_)));
}

#[test]
fn reserved() {
    for name in ["__gf_release", "tiga.loop"] {
        let shadow = |t: &mut Template| match &mut task(t, "init:0").kind {
            TaskKind::Kernel { symbol, .. } => *symbol = name.into(),
            _ => unreachable!(),
        };
        assert_eq!(broken_by(shadow), Rule::Reserved(name.into()));
    }
}

#[test]
fn release() {
    let borrowed = |t: &mut Template| {
        let (d, task) = (id(t, "d"), task(t, "release:0"));
        task.args[0].resource = d;
        task.accesses[0].resource = d;
    };
    assert!(matches!(broken_by(borrowed), Rule::Release(_)));
    let twice = |t: &mut Template| {
        let again = task(t, "release:0").clone();
        let last = TaskId::new(t.root.tasks.len() - 1);
        t.root.tasks.push(Task { name: "again".into(), after: vec![last], ..again });
    };
    assert!(matches!(broken_by(twice), Rule::Release(_)));
}

#[test]
fn symbol_and_count() {
    assert_eq!(broken_by(|t| drop(t.symbols.pop())), Rule::Symbol("E".into()));
    let no_leaf = |t: &mut Template| {
        task(t, "build-units:0").kind = TaskKind::BuildUnits { relation: "g".into(), leaf: 0 };
    };
    assert_eq!(broken_by(no_leaf), Rule::Count(0));
}

#[test]
fn hazard() {
    let rule = broken_by(|t| task(t, "branch:0").after.clear());
    let expected = Rule::Hazard { other: "branch:0".into(), resources: vec!["r.a@ram:host:0".into()] };
    assert_eq!(rule, expected);
}

#[test]
fn joined() {
    let builds = |relation: &str| {
        let kind = TaskKind::BuildJoined { relation: relation.into() };
        broken_by(|t| task(t, "release:0").kind = kind)
    };
    assert_eq!(builds("g"), Rule::Joined("g".into()));
    assert_eq!(builds("g.loops.col"), Rule::Joined("g.loops.col".into()));
    assert!(matches!(builds("g.loops"), Rule::Contract(_)));
}

#[test]
fn transfer_and_elsewhere() {
    let stored = |t: &mut Template| {
        let (a, b) = (id(t, "r.a"), id(t, "r.b"));
        let copy = crate::template::another_instance(&mut t.resources, a, tiga_abi::Tier::Nvme);
        (a, b, copy)
    };
    let moves = |t: &mut Template, from: ResourceId, to: ResourceId| {
        let mut transfer = Task::transfer("transfer:0".into(), from, to);
        transfer.after = vec![t.root.tasks.iter().find(|(_, task)| task.name == "loop:0").unwrap().0];
        t.root.tasks.push(transfer);
    };
    let sound = |t: &mut Template| {
        let (a, _, copy) = stored(t);
        moves(t, a, copy);
    };
    assert!(!matches!(broken_by(sound), Rule::Transfer(..)), "only the release of the source is not ordered");
    let of_another = |t: &mut Template| {
        let (_, b, copy) = stored(t);
        moves(t, b, copy);
    };
    assert!(matches!(broken_by(of_another), Rule::Transfer(..)));
    let computes = |t: &mut Template| {
        let d = id(t, "t");
        t.resources[d].tier = tiga_abi::Tier::Nvme;
    };
    assert!(matches!(broken_by(computes), Rule::Elsewhere(_)));
    let decides = |t: &mut Template| {
        let go = id(t, "go");
        t.resources[go].tier = tiga_abi::Tier::Nvme;
    };
    assert!(matches!(broken_by(decides), Rule::Elsewhere(_)));
}
