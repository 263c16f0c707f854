//! A small bundle for the tests.

use std::collections::BTreeMap;
use tiga_abi::{DType, FpMode, Poly, SizeExpr, Tier};
use tiga_bundle::*;
use tiga_plan::{Access, Arg, Body, Mode, Owner, Phase, Resource, Role, Task, TaskKind, Template, Units};

fn size(text: &str) -> SizeExpr {
    SizeExpr::parse(text).expect("the tests write sizes that parse")
}

/// `heat`: one kernel over the rows of a graph.
pub fn plan() -> Template {
    let arrays = [
        ("g.row_ptr", DType::I64, "D+1", "8*(D+1)", Role::Relation, Mode::Read),
        ("T", DType::F32, "S", "4*S", Role::Src, Mode::Read),
        ("out", DType::F32, "D", "4*D", Role::Out, Mode::Write),
    ];
    let mut template = Template {
        program: "heat".into(),
        symbols: vec!["S".into(), "D".into()],
        resources: Default::default(),
        root: Body { name: "heat".into(), ..Body::default() },
        bodies: Default::default(),
    };
    let kind = TaskKind::Kernel { symbol: "heat.0".into(), relation: Some("g".into()), units: Units::Rows(size("D")) };
    let (name, phase) = ("k:0".into(), Phase::Execute);
    let mut task = Task { name, kind, phase, after: vec![], room_after: vec![], args: vec![], accesses: vec![] };
    for (name, dtype, shape, capacity, role, mode) in arrays {
        let (shape, capacity, layout) = (vec![size(shape)], size(capacity), "contiguous".into());
        let (owner, tier) = (Owner::Borrowed, Tier::Ram);
        let resource = Resource { name: name.into(), tier, copy: 1, owner, dtype, shape, capacity, layout };
        let resource = template.resources.push(resource);
        task.args.push(Arg { parameter: name.into(), resource, role });
        task.accesses.push(Access { resource, mode, partition: None });
        template.root.externals.push(resource);
    }
    template.root.tasks.push(task);
    template
}

/// The bundle of `heat`, with a shared object that is none.
pub fn contents() -> Contents {
    let symbol = |name: &str, kind| SymbolDecl { name: name.into(), kind, origin: format!("size `{name}` of `g`") };
    let param = |name: &str, ty| Param { name: name.into(), doc: format!("The \"{name}\".\n"), ty };
    let field = |set: &str| Type::Tensor { dtype: DType::F32, shape: vec![Poly::symbol(set)] };
    let graph = Type::Graph { src: "S".into(), dst: "D".into(), edges: "E".into() };
    let program = Program {
        name: "heat".into(),
        doc: "Heat conduction.".into(),
        symbols: vec![symbol("S", SymbolKind::Set), symbol("D", SymbolKind::Set), symbol("E", SymbolKind::Edges)],
        params: vec![param("g", graph), param("T", field("S"))],
        results: vec![param("out", field("D"))],
        plan: "plans/heat.json".into(),
    };
    let pointer = |parameter: &str, dtype, mode| Pointer { parameter: parameter.into(), dtype, mode };
    let guard = Guard(vec![
        Condition::Equal(SizeExpr::Sym("S".into()), 16),
        Condition::Less(SizeExpr::Sym("D".into()), 1 << 31),
    ]);
    let kernel = Kernel {
        symbol: "heat.0".into(),
        variants: vec![
            Variant { guard, entry: "heat.0.v16".into() },
            Variant { guard: Guard::ALWAYS, entry: "heat.0.any".into() },
        ],
        syms: vec!["S".into(), "D".into()],
        ptrs: vec![
            pointer("g.row_ptr", DType::I64, Mode::Read),
            pointer("T", DType::F32, Mode::Read),
            pointer("out", DType::F32, Mode::Write),
        ],
        scratch: size("4*D"),
        shape: "shape(leaf 512, acc 16)".into(),
        relation: Some("g".into()),
    };
    let target = Target {
        name: "x86-64-v3".into(),
        features: vec!["avx2".into(), "fma".into()],
        entry: "kernels/x86-64-v3.so".into(),
    };
    Contents {
        manifest: Manifest {
            format: FORMAT,
            language: "0.1".into(),
            compiler: "tigac 0.1.0".into(),
            fp: FpMode::Default,
            targets: vec![target],
            programs: vec![program],
            kernels: vec![kernel],
        },
        plans: vec![plan()],
        kernels: BTreeMap::from([("x86-64-v3".into(), (0..=255).cycle().take(3000).collect())]),
        ir: BTreeMap::from([("heat.kernel".into(), "kernel @heat.0 {}\n".into())]),
    }
}
