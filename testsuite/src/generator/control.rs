//! Random loops and branches.

use super::region::elementwise_code;
use super::writer::{Scope, Writer};
use tiga_abi::DType;
use tiga_ir::{Attr, Attrs, Builder, Key, Region, Scalar, TensorType, Type, Value, ops};

impl Writer<'_, '_> {
    /// A region with its own pool, yielding a value of each type in `wanted` (the parameter itself if nothing else
    /// fits). A first parameter more than those is the round, which two of three bodies put into what they yield.
    fn region(
        &mut self,
        params: Vec<Type>,
        outer: &[Value],
        wanted: &[TensorType],
        fallback: &[Value],
        depth: usize,
    ) -> Region {
        let skip = params.len() - wanted.len().min(params.len());
        let (rng, scope) = (&mut *self.rng, Scope { nested: true, ..self.scope });
        let (region, ()) = self.builder.region(Self::unnamed(params), |b, values| {
            let mut inner = Builder::new(b.module, b.body, b.block);
            inner.loc = b.loc.clone();
            let mut writer = Writer { rng, builder: inner, scope };
            let mut pool = [outer, values].concat();
            let before = pool.len();
            writer.operations(&mut pool, 9, depth - 1);
            let made = pool[before..].to_vec();
            let mut yields = Vec::new();
            for (i, ty) in wanted.iter().enumerate() {
                let own = values.get(skip + i).or(fallback.get(i)).copied();
                let yielded = writer.chain(&pool, own, ty);
                yields.extend(yielded.map(|value| writer.with_one_of(value, &made)));
            }
            if skip == 1 && !yields.is_empty() && writer.rng.u8(0..3) > 0 {
                let at = writer.rng.usize(0..yields.len());
                yields[at] = writer.with(yields[at], values[0]);
            }
            let _ = writer.builder.op(ops::YIELD, &yields, Attrs::new());
        });
        region
    }

    /// A value that depends on another one, whose shape it takes in; its type stays.
    fn with(&mut self, value: Value, other: Value) -> Value {
        let dtype = self.tensor(value).dtype;
        let to = Attrs::new().with(Key::To, Attr::DType(dtype));
        let same = self.tensor(other).dtype == dtype;
        let other = if same { Ok(other) } else { self.builder.value(ops::CAST, &[other], to) };
        let op = if dtype == DType::Bool { ops::XOR } else { ops::ADD };
        other.and_then(|other| self.builder.value(op, &[value, other], Attrs::new())).unwrap_or(value)
    }

    /// A value that depends on one of others, reduced to what its shape takes in: what a body makes is not dead then.
    fn with_one_of(&mut self, value: Value, others: &[Value]) -> Value {
        if others.is_empty() {
            return value;
        }
        let mut other = others[self.rng.usize(0..others.len())];
        let wanted = self.tensor(value);
        loop {
            let ty = self.tensor(other);
            let shape = ops::broadcast([&wanted, &ty]);
            if shape.is_some_and(|(set, dims)| set == wanted.set && dims == wanted.dims) {
                return self.with(value, other);
            }
            let axis = if ty.set.is_some() && ty.set != wanted.set { None } else { Some(0) };
            other = match self.reduced(other, axis) {
                Some(less) => less,
                None => return value,
            };
        }
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

    /// A number of rounds: a small constant, or at most four of a computed one.
    fn rounds(&mut self, pool: &[Value]) -> Value {
        let computed = self.pick(pool, |t| t.is_scalar() && t.dtype == DType::I64).filter(|_| self.rng.u8(0..4) > 0);
        let count = self.builder.constant(Scalar::I64(if computed.is_some() { 4 } else { self.rng.i64(-1..4) }));
        let least = computed.and_then(|v| self.builder.value(ops::MIN, &[v, count], Attrs::new()).ok());
        least.unwrap_or(count)
    }

    pub fn repeat(&mut self, pool: &[Value], depth: usize) -> Vec<Value> {
        let count = self.rounds(pool);
        let init = self.carried(pool);
        let types: Vec<TensorType> = init.iter().map(|v| self.tensor(*v)).collect();
        let params = std::iter::once(Type::scalar(DType::I64)).chain(types.iter().cloned().map(Type::from)).collect();
        let body = self.region(params, pool, &types, &[], depth);
        let operands = [&[count], init.as_slice()].concat();
        self.control(ops::REPEAT, &operands, Attrs::new(), vec![body])
    }

    pub fn while_loop(&mut self, pool: &[Value], depth: usize) -> Vec<Value> {
        let init = self.carried(pool);
        let types: Vec<TensorType> = init.iter().map(|v| self.tensor(*v)).collect();
        let params: Vec<Type> = types.iter().cloned().map(Type::from).collect();
        let go = TensorType::scalar(DType::Bool);
        let fallback = self.builder.constant(Scalar::Bool(true));
        let outer = [pool, &[fallback]].concat();
        let condition = self.condition(params.clone(), &outer, &go, fallback);
        let body = self.region(params, pool, &types, &[], depth);
        let attrs = Attrs::new().with(Key::AtMost, Attr::Int(self.rng.i64(0..5)));
        self.control(ops::WHILE, &init, attrs, vec![condition, body])
    }

    fn condition(&mut self, params: Vec<Type>, pool: &[Value], go: &TensorType, fallback: Value) -> Region {
        let rng = &mut *self.rng;
        let (region, ()) = self.builder.region(Self::unnamed(params), |b, values| {
            let scalar = |v: &Value| b.body.ty(*v).as_tensor().is_some_and(TensorType::is_scalar);
            let mut pool: Vec<Value> = pool.iter().chain(values).copied().filter(scalar).collect();
            elementwise_code(rng, b, &mut pool, 3);
            let found = pool.iter().rev().find(|v| b.body.ty(**v).as_tensor() == Some(go)).copied();
            let _ = b.op(ops::YIELD, &[found.unwrap_or(fallback)], Attrs::new());
        });
        region
    }

    pub fn branch(&mut self, pool: &[Value], depth: usize) -> Vec<Value> {
        let condition = self.pick(pool, |t| t.is_scalar() && t.dtype == DType::Bool);
        let Some(condition) = condition else { return Vec::new() };
        let fallback = self.carried(pool);
        let types: Vec<TensorType> = fallback.iter().map(|v| self.tensor(*v)).collect();
        let then = self.region(Vec::new(), pool, &types, &fallback, depth);
        let otherwise = self.region(Vec::new(), pool, &types, &fallback, depth);
        self.control(ops::IF, &[condition], Attrs::new(), vec![then, otherwise])
    }

    /// A loop or branch; all its results.
    fn control(&mut self, op: tiga_ir::Op, operands: &[Value], attrs: Attrs, regions: Vec<Region>) -> Vec<Value> {
        let inst = self.builder.push(op, operands, attrs, regions, Vec::new());
        inst.map(|inst| self.builder.body.inst(inst).results.clone()).unwrap_or_default()
    }
}
