//! A template with a loop, a branch and derived structures, for the tests of this crate.

use crate::template::*;
use cranelift_entity::PrimaryMap;
use tiga_abi::{DType, SizeExpr, Tier};

pub(crate) fn resource(name: &str, owner: Owner, dtype: DType, shape: &[&str]) -> Resource {
    let shape: Vec<SizeExpr> = shape.iter().map(|extent| SizeExpr::parse(extent).unwrap()).collect();
    let bytes = SizeExpr::Const(dtype.bytes() as i64);
    let capacity = shape.iter().fold(bytes, |all, extent| SizeExpr::Mul(Box::new(all), Box::new(extent.clone())));
    Resource { name: name.into(), tier: Tier::Ram, copy: 1, owner, dtype, shape, capacity, layout: "contiguous".into() }
}

pub(crate) fn kernel(name: &str, uses: &[(&str, ResourceId, Mode)]) -> Task {
    let kind = TaskKind::Kernel { symbol: format!("k.{name}"), relation: None, units: Units::Once };
    task(name, kind, uses)
}

pub(crate) fn task(name: &str, kind: TaskKind, uses: &[(&str, ResourceId, Mode)]) -> Task {
    let arg = |(parameter, resource, mode): &(&str, ResourceId, Mode)| Arg {
        parameter: (*parameter).into(),
        resource: *resource,
        role: if mode.writes() { Role::Out } else { Role::Dst },
    };
    let access =
        |(_, resource, mode): &(&str, ResourceId, Mode)| Access { resource: *resource, mode: *mode, partition: None };
    Task {
        name: name.into(),
        kind,
        phase: Phase::Execute,
        after: Vec::new(),
        room_after: Vec::new(),
        args: uses.iter().map(arg).collect(),
        accesses: uses.iter().map(access).collect(),
    }
}

fn resources() -> PrimaryMap<ResourceId, Resource> {
    let rows: [(&str, Owner, DType, &[&str]); 13] = [
        ("g.row_ptr", Owner::Borrowed, DType::I64, &["N+1"]),
        ("g.long_rows.512", Owner::Derived, DType::I64, &["div(E,512)"]),
        ("g.leaf_row.512", Owner::Derived, DType::I64, &["2*div(E,512)"]),
        ("g.leaf_base.512", Owner::Derived, DType::I64, &["div(E,512)+1"]),
        ("d", Owner::Borrowed, DType::F64, &["N"]),
        ("c", Owner::Borrowed, DType::Bool, &[]),
        ("out", Owner::Borrowed, DType::F64, &["N"]),
        ("r.a", Owner::Owned, DType::F64, &["N"]),
        ("r.b", Owner::Owned, DType::F64, &["N"]),
        ("r.in", Owner::Borrowed, DType::F64, &["N"]),
        ("r.out", Owner::Borrowed, DType::F64, &["N"]),
        ("go", Owner::Owned, DType::Bool, &[]),
        ("t", Owner::Owned, DType::F64, &["N"]),
    ];
    rows.into_iter().map(|(name, owner, dtype, shape)| resource(name, owner, dtype, shape)).collect()
}

/// `loop r while go { r' = f(r, d); go = g(r') }`, then a branch on `c` that writes `out`.
pub(crate) fn looped() -> Template {
    use Mode::{Read, ReadWrite, Write};
    let resources = resources();
    let ids: Vec<ResourceId> = resources.keys().collect();
    let [row_ptr, long_rows, leaf_row, leaf_base, d, c, out, a, b, read, write, go, t] = ids[..] else {
        unreachable!("there are thirteen resources")
    };
    let mut bodies = PrimaryMap::new();
    let round = [
        kernel("f", &[("r", read, Read), ("d", d, Read), ("row_ptr", row_ptr, Read), ("t", t, Write)]),
        kernel("s", &[("t", t, Read), ("long", long_rows, Read), ("next", write, Write)]),
        kernel("g", &[("r", read, Read), ("next", write, Read), ("go", go, Write)]),
    ];
    let side = |name: &str| [kernel(name, &[("r", a, Read), ("out", out, Write)])];
    let mut body = |name: &str, tasks: &[Task]| {
        bodies.push(Body { name: name.into(), tasks: tasks.iter().cloned().collect(), externals: Vec::new() })
    };
    let round = body("looped.loop0", &round);
    let [then_body, else_body] = [body("looped.then0", &side("x")), body("looped.else0", &side("y"))];
    let mut units = task(
        "build-units:0",
        TaskKind::BuildUnits { relation: "g".into(), leaf: 512 },
        &[
            ("row_ptr", row_ptr, Read),
            ("long_rows", long_rows, Write),
            ("leaf_base", leaf_base, Write),
            ("leaf_row", leaf_row, Write),
        ],
    );
    units.phase = Phase::Materialize;
    let rotate = vec![Rotation { read, write, a, b }];
    let trip = Trip::While { condition: go, at_most: Count::Const(200) };
    let tasks = [
        units,
        kernel("init:0", &[("d", d, Read), ("r", a, Write), ("go", go, Write)]),
        task(
            "loop:0",
            TaskKind::Loop { body: round, rotate, trip },
            &[
                ("row_ptr", row_ptr, Read),
                ("long", long_rows, Read),
                ("d", d, Read),
                ("r.a", a, ReadWrite),
                ("r.b", b, ReadWrite),
                ("go", go, ReadWrite),
            ],
        ),
        task(
            "branch:0",
            TaskKind::Branch { condition: c, then_body, else_body },
            &[("c", c, Read), ("r", a, Read), ("out", out, ReadWrite)],
        ),
    ];
    let root = Body { name: "looped".into(), tasks: tasks.into_iter().collect(), externals: Vec::new() };
    Template { program: "looped".into(), symbols: vec!["N".into(), "E".into()], resources, root, bodies }
}
