//! Random programs: fields and tensors in, messages, reductions, loops and branches, tensors out.

use super::coverage::Coverage;
use super::shrink::{reducers, sweep};
use super::writer::{Scope, Writer};
use fastrand::Rng;
use std::collections::BTreeSet;
use std::sync::LazyLock;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Attrs, Builder, Func, Level, Module, RelKind, RelType, SymKind, TensorType, Type, Value, ops};
use tiga_source::Loc;
use tigac::builtin::BuiltinReducer;

/// A program and what stands in it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The module with the program and the reducers that it names.
    pub module: Module,
    /// The program's name.
    pub name: Symbol,
    /// Operators it contains.
    pub coverage: Coverage,
}

impl Generated {
    /// The program.
    pub fn func(&self) -> &Func {
        &self.module.funcs[&self.name]
    }

    /// Whether its graph goes from one set to another.
    pub fn two_sets(&self) -> bool {
        two_sets(self.func())
    }
}

/// Whether a function's graph goes from one set to another.
pub(super) fn two_sets(func: &Func) -> bool {
    let rel = func.params().iter().find_map(|v| func.body.ty(*v).as_rel());
    rel.is_some_and(|rel| rel.src != rel.dst)
}

/// What a function calls its sizes. Those of a part are others than its caller's, so that inlining must rename them.
#[derive(Debug)]
pub(super) struct Sizes {
    pub src: Symbol,
    pub dst: Symbol,
    pub edges: Symbol,
    pub dim: Symbol,
    /// The sets and edges of a second graph, which shares sets with the first.
    pub second: Option<[Symbol; 3]>,
}

impl Sizes {
    fn new([src, dst, edges, dim]: [&str; 4], two_sets: bool) -> Self {
        let src = if two_sets { src } else { dst };
        Self { src: src.into(), dst: dst.into(), edges: edges.into(), dim: dim.into(), second: None }
    }

    /// With a second graph: on one set in a third of the cases; between two sets back, or among the nodes of one.
    fn with_second(mut self, rng: &mut Rng) -> Self {
        let two = self.src != self.dst;
        if two || rng.u8(0..3) == 0 {
            let (src, dst) = (self.src.clone(), self.dst.clone());
            let sets = [[dst.clone(), src.clone()], [src.clone(), src], [dst.clone(), dst]];
            let [src, dst] = sets[if two { rng.usize(0..3) } else { 2 }].clone();
            self.second = Some([src, dst, SECOND_EDGES.into()]);
        }
        self
    }

    /// The feature extent.
    pub fn features(&self) -> Poly {
        Poly::symbol(self.dim.clone())
    }

    /// Twice as many: what a caller may give for the features of a part.
    pub fn wide(&self) -> Poly {
        self.features().mul(&Poly::constant(2))
    }
}

/// All reducers that a program may name.
static REDUCERS: LazyLock<Module> = LazyLock::new(|| {
    let mut module = Module::new();
    for reducer in BuiltinReducer::ALL {
        for dtype in DType::ALL.into_iter().filter(|d| reducer.accepts(*d)) {
            reducer.add_to(&mut module, dtype);
        }
    }
    module.reducers.extend(super::own::reducers().into_iter().map(|r| (r.name.clone(), r)));
    module
});

/// A random program of about `size` operations; some call another one. Each instruction has a place of its own: the
/// line is the operation, the column what it is made of.
pub fn program(rng: &mut Rng, name: &str, size: usize) -> Generated {
    let mut module = REDUCERS.clone();
    let two_sets = rng.u8(0..3) == 0;
    let callee = (rng.u8(0..3) == 0).then(|| format!("{name}.part").into());
    if let Some(callee) = &callee {
        // A part between two sets takes graphs on one set too.
        let sizes = Sizes::new(["U", "V", "D", "K"], two_sets || rng.u8(0..4) == 0);
        let part = function(rng, &module, callee, &sizes, None, size / 2);
        module.add(part);
    }
    let sizes = Sizes::new(["M", "N", "E", "F"], two_sets).with_second(rng);
    let func = function(rng, &module, &name.into(), &sizes, callee.as_ref(), size);
    module.add(func);
    let mut coverage = Coverage::default();
    module.funcs.values().for_each(|func| coverage.count(&module, func));
    // What nothing names would be printed, parsed and verified with the program at every step of its way.
    let named: BTreeSet<Symbol> = module.funcs.values().flat_map(reducers).collect();
    module.reducers.retain(|name, _| named.contains(name));
    Generated { module, name: name.into(), coverage }
}

/// One function without dead code; the one it may call stands in the module.
fn function(
    rng: &mut Rng,
    module: &Module,
    name: &Symbol,
    sizes: &Sizes,
    callee: Option<&Symbol>,
    size: usize,
) -> Func {
    let mut func = Func::new(name.clone(), Level::Domain);
    func.loc = Loc::new(format!("{name}.tg").into(), 1, 1);
    let kinds = [SymKind::Set, SymKind::Set, SymKind::Edges, SymKind::Dim];
    for (name, kind) in [&sizes.dst, &sizes.src, &sizes.edges, &sizes.dim].into_iter().zip(kinds) {
        func.symbols.insert(name.clone(), kind);
    }
    if let Some([_, _, edges]) = &sizes.second {
        func.symbols.insert(edges.clone(), SymKind::Edges);
    }
    let entry = func.body.entry(func.region);
    let part = name.ends_with(".part");
    let mut pool = if part { of_part(rng, &mut func, sizes) } else { of_program(rng, &mut func, sizes, callee) };
    let relation = pool.remove(0);
    let second = sizes.second.is_some().then(|| pool.remove(0));
    let mut builder = Builder::new(module, &mut func.body, entry);
    builder.loc = func.loc.clone();
    let turned = rng.bool().then(|| builder.value(ops::TRANSPOSE, &[relation], Attrs::new()));
    let made = [turned.and_then(Result::ok), None, None];
    let scope = Scope { relation, second, made, nested: false, sizes, callee };
    let mut writer = Writer { rng, builder, scope };
    if writer.rng.u8(0..3) == 0 {
        pool.extend(writer.make(&pool));
    }
    writer.operations(&mut pool, size, 2);
    let results = writer.results(&pool, func.region);
    func.results =
        results.iter().enumerate().map(|(i, v)| (format!("r{i}").into(), func.body.ty(*v).clone())).collect();
    sweep(&mut func.body, func.region);
    func
}

/// The edges of a program's second graph.
pub(super) const SECOND_EDGES: &str = "E2";

/// The graphs of a function.
fn add_graphs(func: &mut Func, sizes: &Sizes) -> Vec<Value> {
    let Sizes { src, dst, edges, second, .. } = sizes;
    let first = [src, dst, edges].map(Symbol::clone);
    let graphs = std::iter::once(("g", &first)).chain(second.iter().map(|second| ("h", second)));
    let mut add = |(name, [src, dst, edges]): (&str, &[Symbol; 3])| {
        let rel = RelType { kind: RelKind::Csr, src: src.clone(), dst: dst.clone(), edges: edges.clone() };
        func.body.add_param(func.body.entry(func.region), Type::Rel(rel), Some(name.into()))
    };
    graphs.map(&mut add).collect()
}

/// The graphs first, then fields and tensors of every element type and a few shapes: the first always, of the others
/// one in three, and edges' numbers more often, which transposes read in another order.
fn of_program(rng: &mut Rng, func: &mut Func, sizes: &Sizes, callee: Option<&Symbol>) -> Vec<Value> {
    let mut out = add_graphs(func, sizes);
    let (f, three) = (sizes.features(), Poly::constant(3));
    let wide = rng.u8(0..if callee.is_some() { 2 } else { 8 }) == 0;
    for dtype in DType::ALL {
        let field = |set: &Symbol, dims: &[&Poly]| {
            TensorType::field(dtype, set.clone(), dims.iter().copied().cloned().collect())
        };
        let mut shapes = vec![
            (1, field(&sizes.dst, &[&f])),
            (3, field(&sizes.dst, &[])),
            (3, field(&sizes.dst, &[&three])),
            (2, field(&sizes.edges, &[])),
            (3, field(&sizes.edges, &[&f])),
            (3, TensorType::scalar(dtype)),
            (3, TensorType::tensor(dtype, vec![f.clone()])),
            (3, TensorType::tensor(dtype, vec![f.clone(), three.clone()])),
        ];
        if wide {
            shapes.push((1, field(&sizes.dst, &[&sizes.wide()])));
        }
        if sizes.src != sizes.dst {
            shapes.extend([(2, field(&sizes.src, &[])), (2, field(&sizes.src, &[&f]))]);
        }
        if let Some([_, _, edges]) = &sizes.second {
            shapes.push((3, field(edges, &[])));
        }
        for (i, (of, ty)) in shapes.into_iter().enumerate() {
            if rng.u8(0..of) == 0 {
                let entry = func.body.entry(func.region);
                out.push(func.body.add_param(entry, ty.into(), Some(format!("{dtype}{i}").into())));
            }
        }
    }
    out
}

/// The graph, a field with features of each element type, which fixes all sizes, and some that a caller may have to make.
fn of_part(rng: &mut Rng, func: &mut Func, sizes: &Sizes) -> Vec<Value> {
    let mut out = add_graphs(func, sizes);
    for dtype in DType::ALL {
        let shapes = [
            TensorType::field(dtype, sizes.dst.clone(), vec![sizes.features()]),
            TensorType::field(dtype, sizes.edges.clone(), Vec::new()),
            TensorType::field(dtype, sizes.src.clone(), Vec::new()),
            TensorType::scalar(dtype),
        ];
        for (i, ty) in shapes.into_iter().enumerate() {
            if i == 0 || rng.u8(0..4) == 0 {
                let entry = func.body.entry(func.region);
                out.push(func.body.add_param(entry, ty.into(), Some(format!("{dtype}{i}").into())));
            }
        }
    }
    out
}
