//! Random programs: fields and tensors in, messages, reductions, loops and branches, tensors out.

use super::coverage::Coverage;
use super::region::elementwise_code;
use super::shrink::{sweep, used};
use fastrand::Rng;
use std::sync::Arc;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{
    Attr, Attrs, Builder, Func, Key, Level, Module, RelKind, RelType, Role, SymKind, Target, TensorType, Type, Value,
    ops,
};
use tiga_source::Loc;
use tigac::builtin::BuiltinReducer;

/// A program and what stands in it.
#[derive(Clone, Debug)]
pub struct Generated {
    /// The module with the program and all reducers of the language.
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
}

/// A random program of about `size` operations; some call another one. Each instruction has a place of its own: the
/// line is the operation, the column what it is made of.
pub fn program(rng: &mut Rng, name: &str, size: usize) -> Generated {
    let mut module = Module::new();
    for reducer in BuiltinReducer::ALL {
        for dtype in DType::ALL.into_iter().filter(|d| reducer.accepts(*d)) {
            reducer.add_to(&mut module, dtype);
        }
    }
    let callee = (rng.u8(0..4) == 0).then(|| format!("{name}.part").into());
    if let Some(callee) = &callee {
        let part = function(rng, &module, callee, None, size / 2);
        module.add(part);
    }
    let func = function(rng, &module, &name.into(), callee.as_ref(), size);
    module.add(func);
    let mut coverage = Coverage::default();
    module.funcs.values().for_each(|func| coverage.count(&module, func));
    Generated { module, name: name.into(), coverage }
}

/// One function without dead code; the one it may call stands in the module.
fn function(rng: &mut Rng, module: &Module, name: &Symbol, callee: Option<&Symbol>, size: usize) -> Func {
    let mut func = Func::new(name.clone(), Level::Domain);
    func.loc = Loc::new(format!("{name}.tg").into(), 1, 1);
    for (name, kind) in [("N", SymKind::Set), ("E", SymKind::Edges), ("F", SymKind::Dim)] {
        func.symbols.insert(name.into(), kind);
    }
    let entry = func.body.entry(func.region);
    let part = name.ends_with(".part");
    let mut pool = parameters(rng, &mut func, part);
    let relation = pool.remove(0);
    let mut builder = Builder::new(module, &mut func.body, entry);
    builder.loc = func.loc.clone();
    let mut writer = Writer { rng, builder, relation, transposed: None, nested: false, callee };
    writer.operations(&mut pool, size, 2);
    let results = writer.results(&pool, func.region);
    func.results =
        results.iter().enumerate().map(|(i, v)| (format!("r{i}").into(), func.body.ty(*v).clone())).collect();
    sweep(&mut func.body, func.region);
    func
}

/// The graph first, then fields and tensors of every element type and a few shapes.
/// (A part takes the field with features of each element type, which its caller always has.)
fn parameters(rng: &mut Rng, func: &mut Func, part: bool) -> Vec<Value> {
    let entry = func.body.entry(func.region);
    let set: Symbol = "N".into();
    let rel = RelType { kind: RelKind::Csr, src: set.clone(), dst: set.clone(), edges: "E".into() };
    let mut out = vec![func.body.add_param(entry, Type::Rel(rel), Some("g".into()))];
    let feature = Poly::symbol("F");
    for dtype in DType::ALL {
        let shapes = [
            TensorType::field(dtype, set.clone(), Vec::new()),
            TensorType::field(dtype, set.clone(), vec![feature.clone()]),
            TensorType::field(dtype, set.clone(), vec![Poly::constant(3)]),
            TensorType::field(dtype, "E".into(), Vec::new()),
            TensorType::field(dtype, "E".into(), vec![feature.clone()]),
            TensorType::scalar(dtype),
            TensorType::tensor(dtype, vec![feature.clone()]),
            TensorType::tensor(dtype, vec![feature.clone(), Poly::constant(3)]),
        ];
        for (i, ty) in shapes.into_iter().enumerate() {
            if i == 1 || (!part && rng.u8(0..3) > 0) {
                let name = format!("{dtype}{i}");
                out.push(func.body.add_param(entry, ty.into(), Some(name.into())));
            }
        }
    }
    out
}

fn next_line(loc: &Loc) -> Loc {
    Loc::new(loc.file().clone(), loc.line() + 1, 1)
}

/// Appends operations to one block.
struct Writer<'a, 'b> {
    rng: &'a mut Rng,
    builder: Builder<'b>,
    relation: Value,
    transposed: Option<Value>,
    nested: bool,
    callee: Option<&'a Symbol>,
}

impl Writer<'_, '_> {
    fn tensor(&self, value: Value) -> TensorType {
        self.builder.body.ty(value).as_tensor().expect("the pool holds tensors").clone()
    }

    fn pick(&mut self, pool: &[Value], wanted: impl Fn(&TensorType) -> bool) -> Option<Value> {
        let found: Vec<Value> = pool.iter().copied().filter(|v| wanted(&self.tensor(*v))).collect();
        if found.is_empty() { None } else { Some(found[self.rng.usize(0..found.len())]) }
    }

    /// `count` operations, of which loops and branches may nest `depth` deep.
    fn operations(&mut self, pool: &mut Vec<Value>, count: usize, depth: usize) {
        for _ in 0..count {
            self.builder.loc = next_line(&self.builder.loc);
            let made = match self.rng.u8(0..20) {
                0..=3 => self.message(pool),
                4..=5 => self.reduce(pool),
                6 => self.matmul(pool),
                7 => self.fill(pool),
                8 => self.degree(),
                12..=14 if self.callee.is_some() => self.call(pool),
                9 if depth > 0 => self.repeat(pool, depth),
                10 if depth > 0 => self.while_loop(pool, depth),
                11 if depth > 0 => self.branch(pool, depth),
                _ => {
                    elementwise_code(self.rng, &mut self.builder, pool, 2);
                    None
                }
            };
            pool.extend(made);
        }
    }

    /// The relation, or its transpose.
    fn relation(&mut self) -> Value {
        if self.nested || self.rng.u8(0..3) > 0 {
            return self.relation;
        }
        if self.transposed.is_none() {
            self.transposed = self.builder.value(ops::TRANSPOSE, &[self.relation], Attrs::new()).ok();
        }
        self.transposed.unwrap_or(self.relation)
    }

    /// The other function on arguments of its parameters' types, if there are some; its first result.
    fn call(&mut self, pool: &[Value]) -> Option<Value> {
        let callee = self.callee?;
        let module = self.builder.module;
        let func = &module.funcs[callee];
        let mut operands = vec![self.relation];
        for param in &func.params()[1..] {
            let wanted = func.body.ty(*param).as_tensor()?;
            operands.push(self.pick(pool, |t| t == wanted)?);
        }
        let attrs = Attrs::new().with(Key::Callee, Attr::Name(Arc::from(&**callee)));
        let results = self.builder.op(ops::CALL, &operands, attrs).ok()?;
        results.first().copied()
    }

    fn degree(&mut self) -> Option<Value> {
        let relation = self.relation();
        self.builder.value(ops::DEGREE, &[relation], Attrs::new()).ok()
    }

    fn message(&mut self, pool: &[Value]) -> Option<Value> {
        let relation = self.relation();
        let (mut operands, mut roles) = (vec![relation], Vec::new());
        for _ in 0..self.rng.usize(1..5) {
            let role = Role::ALL[self.rng.usize(0..4)];
            let set = match role {
                Role::Src | Role::Dst => Some("N"),
                Role::Edge => Some("E"),
                Role::Param => None,
            };
            operands.extend(self.pick(pool, |t| t.set.as_deref() == set && t.dims.len() < 2));
            roles.resize(operands.len() - 1, role);
        }
        if roles.is_empty() {
            return None;
        }
        let element = |w: &Self, i: usize| Type::Tensor(w.tensor(operands[i + 1]).element());
        let params: Vec<(Type, Option<&str>)> = (0..roles.len()).map(|i| (element(self, i), None)).collect();
        let rng = &mut *self.rng;
        let (edge, message) = self.builder.region(params, |b, values| {
            let mut pool = values.to_vec();
            elementwise_code(rng, b, &mut pool, 3);
            let message = pool[pool.len() - 1];
            let _ = b.op(ops::YIELD, &[message], Attrs::new());
            b.body.ty(message).as_tensor().expect("elementwise code makes tensors").clone()
        });
        let reducer = self.reducer(message.dtype)?;
        let total = message.with_dtype(reducer.result().unwrap_or(message.dtype));
        let mut regions = vec![edge];
        if self.rng.bool() {
            regions.push(self.node(&operands, &roles, total));
        }
        let target = Target::Row { reducer: reducer.symbol(message.dtype).into(), keep: false };
        let attrs = Attrs::new().with(Key::Roles, Attr::Roles(roles)).with(Key::Targets, Attr::Targets(vec![target]));
        let inst = self.builder.push(ops::APPLY, &operands, attrs, regions, Vec::new()).ok()?;
        Some(self.builder.body.result(inst))
    }

    fn node(&mut self, operands: &[Value], roles: &[Role], total: TensorType) -> tiga_ir::Region {
        let seen = (0..roles.len()).filter(|i| matches!(roles[*i], Role::Dst | Role::Param));
        let elements = seen.map(|i| Type::Tensor(self.tensor(operands[i + 1]).element()));
        let params = std::iter::once(total.into()).chain(elements).map(|ty| (ty, None)).collect();
        let rng = &mut *self.rng;
        let (region, _) = self.builder.region(params, |b, values| {
            let mut pool = values.to_vec();
            elementwise_code(rng, b, &mut pool, 3);
            b.op(ops::YIELD, &[pool[pool.len() - 1]], Attrs::new()).map(|_| ())
        });
        region
    }

    fn reducer(&mut self, dtype: DType) -> Option<BuiltinReducer> {
        let fits: Vec<BuiltinReducer> = BuiltinReducer::ALL.into_iter().filter(|r| r.accepts(dtype)).collect();
        (!fits.is_empty()).then(|| fits[self.rng.usize(0..fits.len())])
    }

    fn reduce(&mut self, pool: &[Value]) -> Option<Value> {
        let axis = self.rng.bool();
        let operand = self.pick(pool, |t| if axis { !t.dims.is_empty() } else { t.set.is_some() })?;
        let ty = self.tensor(operand);
        let reducer = self.reducer(ty.dtype)?;
        let mut attrs = Attrs::new().with(Key::With, Attr::Name(reducer.symbol(ty.dtype).into()));
        if axis {
            attrs.set(Key::Axis, Attr::Int(self.rng.usize(0..ty.dims.len()) as i64));
        }
        let op = if axis { ops::REDUCE_AXIS } else { ops::REDUCE_SET };
        self.builder.value(op, &[operand], attrs).ok()
    }

    fn matmul(&mut self, pool: &[Value]) -> Option<Value> {
        let right = self.pick(pool, |t| t.set.is_none() && !t.dims.is_empty() && t.dtype != DType::Bool)?;
        let b = self.tensor(right);
        let left = self.pick(pool, |t| t.dtype == b.dtype && t.dims.len() == 1 && t.dims.last() == b.dims.first())?;
        self.builder.value(ops::MATMUL, &[left, right], Attrs::new()).ok()
    }

    fn fill(&mut self, pool: &[Value]) -> Option<Value> {
        let scalar = self.pick(pool, TensorType::is_scalar)?;
        let dtype = self.tensor(scalar).dtype;
        let dims = if self.rng.bool() { vec![Poly::symbol("F")] } else { Vec::new() };
        let ty = TensorType::field(dtype, "N".into(), dims);
        self.builder.value(ops::FILL, &[scalar], Attrs::new().with(Key::Dims, Attr::Dims(ty))).ok()
    }

    /// A region with its own pool, yielding a value of each type in `wanted` (the parameter itself if nothing else fits).
    fn region(
        &mut self,
        params: Vec<Type>,
        outer: &[Value],
        wanted: &[TensorType],
        fallback: &[Value],
        depth: usize,
    ) -> tiga_ir::Region {
        let skip = params.len() - wanted.len().min(params.len());
        let (rng, relation) = (&mut *self.rng, self.relation);
        let params = params.into_iter().map(|ty| (ty, None)).collect();
        let (region, ()) = self.builder.region(params, |b, values| {
            let mut inner = Builder::new(b.module, b.body, b.block);
            inner.loc = b.loc.clone();
            let mut writer = Writer { rng, builder: inner, relation, transposed: None, nested: true, callee: None };
            let mut pool = [outer, values].concat();
            writer.operations(&mut pool, 3, depth - 1);
            let mut yields = Vec::new();
            for (i, ty) in wanted.iter().enumerate() {
                let own = values.get(skip + i).or(fallback.get(i)).copied();
                yields.extend(writer.chain(&pool, own, ty));
            }
            let _ = writer.builder.op(ops::YIELD, &yields, Attrs::new());
        });
        region
    }

    /// The newest value of a type after a few operations on what broadcasts to it.
    fn chain(&mut self, pool: &[Value], own: Option<Value>, ty: &TensorType) -> Option<Value> {
        let fits = |t: &TensorType| ops::broadcast([ty, t]).is_some_and(|(set, dims)| set == ty.set && dims == ty.dims);
        let mut chain: Vec<Value> = pool.iter().copied().filter(|v| fits(&self.tensor(*v))).collect();
        chain.extend(own);
        elementwise_code(self.rng, &mut self.builder, &mut chain, 3);
        chain.iter().rev().find(|v| self.tensor(**v) == *ty).copied()
    }

    fn carried(&mut self, pool: &[Value]) -> Vec<Value> {
        (0..self.rng.usize(1..4)).filter_map(|_| self.pick(pool, |_| true)).collect()
    }

    fn repeat(&mut self, pool: &[Value], depth: usize) -> Option<Value> {
        let count = self.builder.constant(tiga_ir::Scalar::I64(self.rng.i64(-1..4)));
        let init = self.carried(pool);
        let types: Vec<TensorType> = init.iter().map(|v| self.tensor(*v)).collect();
        let params = std::iter::once(Type::scalar(DType::I64)).chain(types.iter().cloned().map(Type::from)).collect();
        let body = self.region(params, pool, &types, &[], depth);
        let operands = [&[count], init.as_slice()].concat();
        let inst = self.builder.push(ops::REPEAT, &operands, Attrs::new(), vec![body], Vec::new()).ok()?;
        self.builder.body.inst(inst).results.first().copied()
    }

    fn while_loop(&mut self, pool: &[Value], depth: usize) -> Option<Value> {
        let init = self.carried(pool);
        let types: Vec<TensorType> = init.iter().map(|v| self.tensor(*v)).collect();
        let params: Vec<Type> = types.iter().cloned().map(Type::from).collect();
        let go = TensorType::scalar(DType::Bool);
        let fallback = self.builder.constant(tiga_ir::Scalar::Bool(true));
        let outer = [pool, &[fallback]].concat();
        let condition = self.condition(params.clone(), &outer, &go, fallback);
        let body = self.region(params, pool, &types, &[], depth);
        let attrs = Attrs::new().with(Key::AtMost, Attr::Int(self.rng.i64(0..5)));
        let inst = self.builder.push(ops::WHILE, &init, attrs, vec![condition, body], Vec::new()).ok()?;
        self.builder.body.inst(inst).results.first().copied()
    }

    fn condition(&mut self, params: Vec<Type>, pool: &[Value], go: &TensorType, fallback: Value) -> tiga_ir::Region {
        let rng = &mut *self.rng;
        let params = params.into_iter().map(|ty| (ty, None)).collect();
        let (region, ()) = self.builder.region(params, |b, values| {
            let scalar = |v: &Value| b.body.ty(*v).as_tensor().is_some_and(TensorType::is_scalar);
            let mut pool: Vec<Value> = pool.iter().chain(values).copied().filter(scalar).collect();
            elementwise_code(rng, b, &mut pool, 3);
            let found = pool.iter().rev().find(|v| b.body.ty(**v).as_tensor() == Some(go)).copied();
            let _ = b.op(ops::YIELD, &[found.unwrap_or(fallback)], Attrs::new());
        });
        region
    }

    fn branch(&mut self, pool: &[Value], depth: usize) -> Option<Value> {
        let condition = self.pick(pool, |t| t.is_scalar() && t.dtype == DType::Bool)?;
        let fallback = self.carried(pool);
        let types: Vec<TensorType> = fallback.iter().map(|v| self.tensor(*v)).collect();
        let then = self.region(Vec::new(), pool, &types, &fallback, depth);
        let otherwise = self.region(Vec::new(), pool, &types, &fallback, depth);
        let inst = self.builder.push(ops::IF, &[condition], Attrs::new(), vec![then, otherwise], Vec::new()).ok()?;
        self.builder.body.inst(inst).results.first().copied()
    }

    /// Returns every value that nothing uses, so that no operation is dead, and the newest one.
    fn results(&mut self, pool: &[Value], region: tiga_ir::Region) -> Vec<Value> {
        let used = used(self.builder.body, region);
        let unused = pool.iter().copied().filter(|v| self.builder.body.def(*v).is_some() && !used.contains(v));
        let mut results: Vec<Value> = unused.collect();
        if results.is_empty() {
            results.extend(pool.last());
        }
        let _ = self.builder.op(ops::RETURN, &results, Attrs::new());
        results
    }
}
