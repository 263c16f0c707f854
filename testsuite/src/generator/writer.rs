//! Appends random operations on fields and tensors to a function; loops and messages have files of their own.

use super::inputs::element;
use super::program::Sizes;
use super::region::elementwise_code;
use super::shrink::used;
use fastrand::Rng;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::ops::{Substitution, substitute};
use tiga_ir::{Attr, Attrs, Builder, Key, Region, RelType, TensorType, Type, Value, joined, ops};
use tiga_source::Loc;
use tigac::builtin::BuiltinReducer;

/// What all operations of a function may use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub relation: Value,
    pub second: Option<Value>,
    /// Relations made of those, the transpose of the first one in the first place.
    pub made: [Option<Value>; 3],
    /// In a loop or a branch.
    pub nested: bool,
    pub sizes: &'a Sizes,
    /// The function it may call.
    pub callee: Option<&'a Symbol>,
}

/// Appends operations to one block.
pub(super) struct Writer<'a, 'b> {
    pub rng: &'a mut Rng,
    pub builder: Builder<'b>,
    pub scope: Scope<'a>,
}

fn next_line(loc: &Loc) -> Loc {
    Loc::new(loc.file().clone(), loc.line() + 1, 1)
}

impl Writer<'_, '_> {
    pub fn tensor(&self, value: Value) -> TensorType {
        self.builder.body.ty(value).as_tensor().expect("the pool holds tensors").clone()
    }

    pub fn pick(&mut self, pool: &[Value], wanted: impl Fn(&TensorType) -> bool) -> Option<Value> {
        let found: Vec<Value> = pool.iter().copied().filter(|v| wanted(&self.tensor(*v))).collect();
        if found.is_empty() { None } else { Some(found[self.rng.usize(0..found.len())]) }
    }

    /// `count` operations, of which loops and branches may nest `depth` deep. All their results enter the pool.
    pub fn operations(&mut self, pool: &mut Vec<Value>, count: usize, depth: usize) {
        for _ in 0..count {
            self.builder.loc = next_line(&self.builder.loc);
            let made = match self.rng.u8(0..26) {
                0..=3 | 23..=24 => self.message(pool),
                4..=5 | 25 => self.reduce(pool).into_iter().collect(),
                6 => self.matmul(pool).into_iter().collect(),
                7 => self.fill(pool).into_iter().collect(),
                8 => self.degree().into_iter().collect(),
                12..=14 if self.scope.callee.is_some() => self.call(pool),
                9 if depth > 0 => self.repeat(pool, depth),
                10 if depth > 0 => self.while_loop(pool, depth),
                15 if depth > 0 && self.scope.nested => self.repeat(pool, depth),
                11 if depth > 0 => self.branch(pool, depth),
                16..=17 if !self.scope.nested => self.make(pool),
                20..=22 => self.moved(pool).into_iter().collect(),
                _ => {
                    elementwise_code(self.rng, &mut self.builder, pool, 2);
                    Vec::new()
                }
            };
            pool.extend(made);
        }
    }

    /// The first relation in half of the cases, seldomer in loops and branches, which are few; else any of the others, the newest sooner, with the transpose, if it can be made.
    pub fn relation(&mut self) -> Value {
        let kind = self.rng.u8(0..6);
        if kind < if self.scope.nested { 2 } else { 3 } {
            return self.scope.relation;
        }
        if self.scope.made[0].is_none() && !self.scope.nested {
            self.scope.made[0] = self.builder.value(ops::TRANSPOSE, &[self.scope.relation], Attrs::new()).ok();
        }
        let others = self.relations();
        let newest = others[others.len() - 1];
        if kind < 5 { newest } else { others[self.rng.usize(0..others.len())] }
    }

    /// All relations: the first is left out if there are others.
    fn relations(&self) -> Vec<Value> {
        // There are fewer places for a second graph than for what is made.
        let others = [self.scope.second; 3].into_iter().chain(self.scope.made).flatten();
        let others: Vec<Value> = others.collect();
        if others.is_empty() { vec![self.scope.relation] } else { others }
    }

    /// A relation made of others, if there is a place for it, and a few fields on its sets.
    pub fn make(&mut self, pool: &[Value]) -> Vec<Value> {
        let Some(place) = (1..self.scope.made.len()).find(|i| self.scope.made[*i].is_none()) else { return Vec::new() };
        let mut all = self.relations();
        all.push(self.scope.relation);
        // Graphs side by side with themselves double: once is enough.
        all.retain(|v| joined::parts(&self.rel_type(*v).edges).count() < 3);
        let [a, b] = [0; 2].map(|_| all[self.rng.usize(0..all.len())]);
        let square = self.rel_type(a).src == self.rel_type(a).dst;
        let made = match self.rng.u8(0..6) {
            0..=2 if square => self.builder.value(ops::ADD_SELF_LOOPS, &[a], Attrs::new()),
            5 => self.builder.value(ops::TRANSPOSE, &[a], Attrs::new()),
            _ => self.builder.value(ops::CONCAT_GRAPHS, &[a, b], Attrs::new()),
        };
        let Ok(made) = made else { return Vec::new() };
        self.scope.made[place] = Some(made);
        let rel = self.rel_type(made);
        let sets =
            [(&rel.src, 3), (&rel.dst, 3), (&rel.edges, 7)].into_iter().filter(|(set, _)| joined::is_joined(set));
        sets.flat_map(|(set, count)| self.over(set, count, pool)).collect()
    }

    /// Fields of the pool, of different types, repeated over another set.
    fn over(&mut self, set: &Symbol, count: usize, pool: &[Value]) -> Vec<Value> {
        let ty = TensorType::field(DType::I64, set.clone(), Vec::new());
        let few = self.builder.constant(tiga_ir::Scalar::I64(self.rng.i64(3..9)));
        let at = self.builder.value(ops::IOTA, &[], Attrs::new().with(Key::Dims, Attr::Dims(ty)));
        let at = at.and_then(|at| self.builder.value(ops::REM, &[at, few], Attrs::new()));
        let Ok(at) = at else { return Vec::new() };
        let mut dtypes = DType::ALL;
        self.rng.shuffle(&mut dtypes);
        let mut out = Vec::new();
        for dtype in dtypes.into_iter().take(count) {
            let value = self.pick(pool, |t| t.set.is_some() && t.dims.len() < 2 && t.dtype == dtype);
            out.extend(value.and_then(|value| self.builder.value(ops::GATHER_SET, &[value, at], Attrs::new()).ok()));
        }
        out
    }

    /// A set: mostly one of the first graph's.
    pub fn set(&mut self) -> Symbol {
        let sizes = self.scope.sizes;
        if self.rng.u8(0..4) == 0 {
            let relation = self.relation();
            let rel = self.rel_type(relation);
            return [rel.src, rel.dst, rel.edges][self.rng.usize(0..3)].clone();
        }
        [&sizes.dst, &sizes.dst, &sizes.src, &sizes.edges][self.rng.usize(0..4)].clone()
    }

    pub fn rel_type(&self, relation: Value) -> RelType {
        self.builder.body.ty(relation).as_rel().expect("it is a relation").clone()
    }

    /// The other function on arguments of its parameters' types, for features of some width; all its results.
    fn call(&mut self, pool: &[Value]) -> Vec<Value> {
        let Some(callee) = self.scope.callee else { return Vec::new() };
        let module = self.builder.module;
        let func = &module.funcs[callee];
        let (theirs, ours) = (func.body.ty(func.params()[0]).as_rel(), self.rel_type(self.scope.relation));
        let theirs = theirs.expect("a part takes a graph first");
        let sizes = self.scope.sizes;
        let wide = sizes.wide();
        let has_wide = pool.iter().any(|v| self.tensor(*v).dims.contains(&wide));
        let widths = [sizes.features(), if has_wide { wide } else { sizes.features() }, Poly::constant(3)];
        let width = widths[self.rng.usize(0..3)].clone();
        let mut map = Substitution::new();
        let sets = [(&theirs.src, &ours.src), (&theirs.dst, &ours.dst), (&theirs.edges, &ours.edges)];
        map.extend(sets.map(|(theirs, ours)| (theirs.clone(), Poly::symbol(ours.clone()))));
        let dims = func.symbols.keys().filter(|s| !map.contains_key(*s)).cloned().collect::<Vec<_>>();
        map.extend(dims.into_iter().map(|dim| (dim, width.clone())));
        let mut operands = vec![self.scope.relation];
        for param in &func.params()[1..] {
            let wanted = substitute(func.body.ty(*param), &map).expect("sets become sets");
            let wanted = wanted.as_tensor().expect("a part takes tensors").clone();
            let found = self.pick(pool, |t| *t == wanted);
            operands.push(found.unwrap_or_else(|| self.filled(wanted)));
        }
        let attrs = Attrs::new().with(Key::Callee, Attr::Name(callee.clone()));
        self.builder.op(ops::CALL, &operands, attrs).unwrap_or_default()
    }

    fn filled(&mut self, ty: TensorType) -> Value {
        Self::constant_of(self.rng, &mut self.builder, ty)
    }

    /// A constant everywhere.
    pub fn constant_of(rng: &mut Rng, builder: &mut Builder<'_>, ty: TensorType) -> Value {
        let scalar = builder.constant(element(rng, ty.dtype));
        if ty.is_scalar() {
            return scalar;
        }
        let attrs = Attrs::new().with(Key::Dims, Attr::Dims(ty));
        builder.value(ops::FILL, &[scalar], attrs).expect("any tensor can be filled")
    }

    fn degree(&mut self) -> Option<Value> {
        let relation = self.relation();
        self.builder.value(ops::DEGREE, &[relation], Attrs::new()).ok()
    }

    pub fn reducer(rng: &mut Rng, dtype: DType) -> BuiltinReducer {
        let fits: Vec<BuiltinReducer> = BuiltinReducer::ALL.into_iter().filter(|r| r.accepts(dtype)).collect();
        fits[rng.usize(0..fits.len())]
    }

    fn reduce(&mut self, pool: &[Value]) -> Option<Value> {
        let axis = self.rng.bool();
        let operand = self.pick(pool, |t| if axis { !t.dims.is_empty() } else { t.set.is_some() })?;
        let dims = self.tensor(operand).dims.len();
        let axis = axis.then(|| self.rng.usize(0..dims));
        self.reduced(operand, axis)
    }

    /// A random reduction over one axis of features, or over the set.
    pub fn reduced(&mut self, operand: Value, axis: Option<usize>) -> Option<Value> {
        let dtype = self.tensor(operand).dtype;
        let mut attrs = match self.written_reducer(dtype).filter(|_| self.rng.u8(0..3) == 0) {
            Some((name, indexed)) => {
                let attrs = Attrs::new().with(Key::With, Attr::Name(name));
                if indexed { attrs.flag(Key::Indexed) } else { attrs }
            }
            None => Attrs::new().with(Key::With, Attr::Name(Self::reducer(self.rng, dtype).symbol(dtype).into())),
        };
        if let Some(axis) = axis {
            attrs.set(Key::Axis, Attr::Int(axis as i64));
        }
        let op = if axis.is_some() { ops::REDUCE_AXIS } else { ops::REDUCE_SET };
        self.builder.value(op, &[operand], attrs).ok()
    }

    /// A reducer that is written in the language, of single values of a type, and whether it asks for their positions.
    fn written_reducer(&mut self, dtype: DType) -> Option<(Symbol, bool)> {
        let fits = |r: &tiga_ir::Reducer| {
            let message = r.message();
            let single = message.iter().all(|t| t.is_scalar()) && message[0].dtype == dtype;
            let rest: Vec<DType> = message[1..].iter().map(|t| t.dtype).collect();
            let positions = rest.is_empty() || rest == [DType::I64];
            (single && positions && super::own::reduces(r)).then(|| (r.name.clone(), !rest.is_empty()))
        };
        let all: Vec<(Symbol, bool)> = self.builder.module.reducers.values().filter_map(fits).collect();
        all.get(self.rng.usize(0..all.len().max(1))).cloned()
    }

    fn matmul(&mut self, pool: &[Value]) -> Option<Value> {
        let of_entities = self.rng.u8(0..3) == 0;
        let right = self.pick(pool, |t| {
            (of_entities || t.set.is_none()) && !t.dims.is_empty() && t.dims.len() < 3 && t.dtype != DType::Bool
        })?;
        let b = self.tensor(right);
        if b.dims.len() == 1 && self.rng.bool() {
            return self.contract(pool);
        }
        let left = self.pick(pool, |t| {
            let sets = t.set.is_none() || b.set.is_none() || t.set == b.set;
            sets && t.dtype == b.dtype && t.dims.len() == 1 && t.dims.last() == b.dims.first()
        })?;
        self.builder.value(ops::MATMUL, &[left, right], Attrs::new()).ok()
    }

    fn contract(&mut self, pool: &[Value]) -> Option<Value> {
        let narrow = |t: &TensorType| t.set.is_some() && t.dims.len() < 2 && t.dtype != DType::Bool;
        let x = self.pick(pool, narrow)?;
        let of_x = self.tensor(x);
        let y = self.pick(pool, |t| narrow(t) && t.set == of_x.set && t.dtype == of_x.dtype)?;
        let with = Attr::Name(ops::sum_of(of_x.dtype).into());
        self.builder.value(ops::CONTRACT, &[x, y], Attrs::new().with(Key::With, with)).ok()
    }

    fn fill(&mut self, pool: &[Value]) -> Option<Value> {
        let scalar = self.pick(pool, TensorType::is_scalar)?;
        let dtype = self.tensor(scalar).dtype;
        let dims = if self.rng.bool() { vec![self.scope.sizes.features()] } else { Vec::new() };
        let ty = TensorType::field(dtype, self.set(), dims);
        self.builder.value(ops::FILL, &[scalar], Attrs::new().with(Key::Dims, Attr::Dims(ty))).ok()
    }

    /// Up to `most` values of a pool, the newest always.
    pub fn some(rng: &mut Rng, pool: &[Value], most: usize) -> Vec<Value> {
        let mut out = vec![pool[pool.len() - 1]];
        for _ in 1..most {
            out.push(pool[rng.usize(0..pool.len())]);
        }
        out
    }

    /// Whether a value was only repeated over a set that is made: what nothing reads of those is left out.
    fn is_seed(&self, value: Value) -> bool {
        let body = &*self.builder.body;
        let gathered = body.def(value).is_some_and(|inst| body.inst(inst).op == ops::GATHER_SET);
        gathered && self.tensor(value).set.is_some_and(|set| joined::is_joined(&set))
    }

    /// The parameter types of a region, without names.
    pub fn unnamed(types: impl IntoIterator<Item = Type>) -> Vec<(Type, Option<&'static str>)> {
        types.into_iter().map(|ty| (ty, None)).collect()
    }

    /// Returns every value that nothing uses, so that no operation is dead, or the newest one.
    pub fn results(&mut self, pool: &[Value], region: Region) -> Vec<Value> {
        let used = used(self.builder.body, region);
        let unused = pool.iter().copied().filter(|v| self.builder.body.def(*v).is_some() && !used.contains(v));
        let mut results: Vec<Value> = unused.filter(|v| !self.is_seed(*v)).collect();
        if results.is_empty() {
            results.extend(pool.last());
        }
        let _ = self.builder.op(ops::RETURN, &results, Attrs::new());
        results
    }
}
