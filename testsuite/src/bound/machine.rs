//! The domain level once more, on bounded elements. Its values are compared with the domain interpreter's wherever it
//! is used, so that it cannot drift.

use super::Field;
use super::element::{Bounded, element};
use super::fold::{cast, fold};
use super::own::own;
use super::rearrange::{Operand, rearranged};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::sync::Arc;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::interp::{Relation, Value};
use tiga_ir::{
    Attrs, Body, Func, InstData, Key, Module, Reducer, Region, Role, Scalar, Target, TensorType, Type, Value as Handle,
    ops,
};
use tigac::builtin::BuiltinReducer;

/// Why a program has no bounds.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unbounded {
    /// A loop or branch depends on a number that is no clearer than its bound.
    #[error("a loop or branch depends on a number within its bound")]
    Choice,
    /// The analysis does not know the instruction.
    #[error("no bound is known for `{0}`")]
    Op(&'static str),
}

type Run<T> = Result<T, Unbounded>;

#[derive(Clone)]
enum Val {
    Field(Field),
    Rel(Arc<Relation>),
}

/// The results of a domain function with their bounds; `size` gives the value of each symbol.
///
/// # Errors
/// [`Unbounded`].
pub fn bounds(module: &Module, name: &str, args: &[Value], size: &dyn Fn(&str) -> Option<i64>) -> Run<Vec<Field>> {
    let enter = |value: &Value| match value {
        Value::Rel(relation) => Some(Val::Rel(relation.clone())),
        Value::Tensor(t) => {
            let elems = t.elems().iter().copied().map(Bounded::exact).collect();
            Some(Val::Field(Field { shape: t.shape().to_vec(), elems }))
        }
        Value::Buffer(_) => None,
    };
    let args = args.iter().map(enter).collect::<Option<Vec<_>>>().ok_or(Unbounded::Op("alloc"))?;
    let func = module.funcs.get(name).ok_or(Unbounded::Op("call"))?;
    let results = body(module, func, args, size)?;
    results.into_iter().map(|v| field(v, "return")).collect()
}

/// A program that is called has sizes of its own, which its arguments fix.
fn call(module: &Module, name: &str, args: Vec<Val>) -> Run<Vec<Val>> {
    let func = module.funcs.get(name).ok_or(Unbounded::Op("call"))?;
    let mut sizes: BTreeMap<Symbol, i64> = BTreeMap::new();
    for (param, arg) in func.params().iter().zip(&args) {
        match (func.body.ty(*param), arg) {
            (Type::Rel(ty), Val::Rel(rel)) => {
                // Parameters are relations of declared sets.
                let own = [(&ty.src, rel.num_src()), (&ty.dst, rel.num_dst()), (&ty.edges, rel.num_edges())];
                sizes.extend(own.map(|(symbol, size)| (symbol.clone(), size as i64)));
            }
            (Type::Tensor(ty), Val::Field(field)) => {
                let extents = ty.extents();
                let own = extents.iter().zip(&field.shape).filter_map(|(e, size)| Some((e.as_symbol()?, size)));
                sizes.extend(own.map(|(symbol, size)| (symbol.clone(), *size as i64)));
            }
            _ => return Err(Unbounded::Op("call")),
        }
    }
    body(module, func, args, &|symbol| sizes.get(symbol).copied())
}

fn body(module: &Module, func: &Func, args: Vec<Val>, size: &dyn Fn(&str) -> Option<i64>) -> Run<Vec<Val>> {
    let mut machine = Machine { module, body: &func.body, size, values: BTreeMap::new() };
    machine.run(func.region, args)
}

fn field(val: Val, op: &'static str) -> Run<Field> {
    match val {
        Val::Field(field) => Ok(field),
        Val::Rel(_) => Err(Unbounded::Op(op)),
    }
}

impl Field {
    fn of(shape: Vec<usize>, elems: Vec<Bounded>) -> Val {
        debug_assert_eq!(shape.iter().product::<usize>(), elems.len());
        Val::Field(Field { shape, elems })
    }

    fn scalar(value: Scalar) -> Val {
        Field::of(Vec::new(), vec![Bounded::exact(value)])
    }

    /// The element of a set's entity.
    fn row(&self, index: usize) -> Field {
        let shape = self.shape[1..].to_vec();
        let size: usize = shape.iter().product();
        Field { elems: self.elems[index * size..(index + 1) * size].to_vec(), shape }
    }

    /// A scalar that decides, which must be the same in both modes.
    fn choice(&self) -> Run<Scalar> {
        let one = self.elems[0];
        if one.bound == 0.0 { Ok(one.value) } else { Err(Unbounded::Choice) }
    }
}

fn builtin(name: Option<&Arc<str>>) -> Run<BuiltinReducer> {
    let named = name.and_then(|n| BuiltinReducer::named(n.split('.').next()?));
    named.ok_or(Unbounded::Op("a reducer of its own"))
}

/// The reducer of each target of a message; `None` for one that gives a value each edge.
fn target_reducers(data: &InstData) -> Run<Vec<Option<&Arc<str>>>> {
    let of_target = |target| match target {
        &Target::Row { ref reducer, keep: false } => Ok(Some(reducer)),
        Target::Edge => Ok(None),
        _ => Err(Unbounded::Op("apply with other targets")),
    };
    data.attrs.targets().ok_or(Unbounded::Op("apply"))?.iter().map(of_target).collect()
}

/// What a region yields, which must be as many values as something takes.
fn exactly(values: Vec<Val>, count: usize) -> Run<Vec<Val>> {
    if values.len() == count { Ok(values) } else { Err(Unbounded::Op("apply")) }
}

struct Machine<'m> {
    module: &'m Module,
    body: &'m Body,
    size: &'m dyn Fn(&str) -> Option<i64>,
    values: BTreeMap<Handle, Val>,
}

impl<'m> Machine<'m> {
    fn run(&mut self, region: Region, args: Vec<Val>) -> Run<Vec<Val>> {
        let block = self.body.block(self.body.entry(region));
        self.values.extend(block.params.iter().copied().zip(args));
        for inst in &block.insts {
            let data = self.body.inst(*inst);
            if data.op == ops::YIELD || data.op == ops::RETURN {
                return Ok(data.operands.iter().map(|v| self.values[v].clone()).collect());
            }
            let results = self.step(data)?;
            self.values.extend(data.results.iter().copied().zip(results));
        }
        Err(Unbounded::Op("yield"))
    }

    fn field(&self, data: &InstData, index: usize) -> Run<&Field> {
        match &self.values[&data.operands[index]] {
            Val::Field(field) => Ok(field),
            Val::Rel(_) => Err(Unbounded::Op(data.op.name())),
        }
    }

    fn rel(&self, data: &InstData) -> Run<Arc<Relation>> {
        match &self.values[&data.operands[0]] {
            Val::Rel(relation) => Ok(relation.clone()),
            Val::Field(_) => Err(Unbounded::Op(data.op.name())),
        }
    }

    fn ty(&self, value: Handle) -> &'m TensorType {
        self.body.ty(value).as_tensor().expect("verified operands of tensor operations are tensors")
    }

    fn shape(&self, ty: &TensorType) -> Vec<usize> {
        let extent = |e: &Poly| e.eval(&|s| (self.size)(s)).expect("the sizes of a run are known") as usize;
        ty.extents().iter().map(extent).collect()
    }

    fn step(&mut self, data: &'m InstData) -> Run<Vec<Val>> {
        let name = data.op.name();
        let unknown = Unbounded::Op(name);
        let one = match name {
            "const" => Field::scalar(*data.attrs.value().ok_or(unknown)?),
            "fill" => {
                let shape = self.shape(data.attrs.dims().ok_or(unknown)?);
                let count = shape.iter().product();
                Field::of(shape, vec![self.field(data, 0)?.elems[0]; count])
            }
            "len" => Field::scalar(Scalar::I64(self.shape(data.attrs.dims().ok_or(unknown)?)[0] as i64)),
            "degree" => {
                let rel = self.rel(data)?;
                let degree = |row| Bounded::exact(Scalar::I64(rel.row(row).len() as i64));
                Field::of(vec![rel.num_dst()], (0..rel.num_dst()).map(degree).collect())
            }
            "transpose" => Val::Rel(Arc::new(self.rel(data)?.transposed().map_err(|_| unknown)?)),
            "add_self_loops" => Val::Rel(Arc::new(self.rel(data)?.with_self_loops().map_err(|_| unknown)?)),
            "concat_graphs" => {
                let Val::Rel(other) = &self.values[&data.operands[1]] else { return Err(unknown) };
                Val::Rel(Arc::new(self.rel(data)?.concat(other).map_err(|_| unknown)?))
            }
            "reshape" => {
                let shape = self.shape(data.attrs.dims().ok_or(unknown)?);
                Field::of(shape, self.field(data, 0)?.elems.clone())
            }
            "iota" | "slice" | "permute" | "concat" | "gather_axis" | "gather_set" => self.rearranged(data)?,
            "matmul" => self.matmul(data)?,
            "outer" => Val::Field(self.outer(self.field(data, 0)?, self.field(data, 1)?)),
            "contract" => self.contract(data)?,
            "scan_axis" => self.scan(data)?,
            "reduce_set" => self.reduce(data, 0)?,
            "reduce_axis" => {
                let axis = *data.attrs.axis().ok_or(unknown)? as usize;
                self.reduce(data, axis + usize::from(self.ty(data.operands[0]).set.is_some()))?
            }
            "apply" => return self.apply(data),
            "while" => return self.while_loop(data),
            "repeat" => return self.repeat(data),
            "if" => {
                let taken = if self.field(data, 0)?.choice()? == Scalar::Bool(true) { 0 } else { 1 };
                return self.run(data.regions[taken], Vec::new());
            }
            "call" => {
                let args = data.operands.iter().map(|v| self.values[v].clone()).collect();
                return call(self.module, data.attrs.callee().ok_or(unknown)?, args);
            }
            _ if data.op.elementwise().is_some() => self.elementwise(data)?,
            _ => return Err(unknown),
        };
        Ok(vec![one])
    }

    fn elementwise(&self, data: &InstData) -> Run<Val> {
        let fields = (0..data.operands.len()).map(|i| self.field(data, i)).collect::<Run<Vec<_>>>()?;
        let shape = self.shape(self.ty(data.results[0]));
        let entities = if self.ty(data.results[0]).set.is_some() { shape[0] } else { 1 };
        let features = shape.iter().product::<usize>().checked_div(entities).unwrap_or(0);
        let has_set: Vec<bool> = data.operands.iter().map(|v| self.ty(*v).set.is_some()).collect();
        let mut elems = Vec::with_capacity(entities * features);
        for entity in 0..entities {
            for feature in 0..features {
                let at = |(f, has_set): (&&Field, &bool)| {
                    let own = if *has_set { f.elems.len() / entities } else { f.elems.len() };
                    f.elems[if *has_set { entity * own } else { 0 } + feature % own]
                };
                let args: Vec<Bounded> = fields.iter().zip(&has_set).map(at).collect();
                elems.push(element(data.op, &data.attrs, &args).ok_or(Unbounded::Op(data.op.name()))?);
            }
        }
        Ok(Field::of(shape, elems))
    }

    fn matmul(&self, data: &InstData) -> Run<Val> {
        let (left, right) = (self.field(data, 0)?, self.field(data, 1)?);
        let ty = self.ty(data.results[0]);
        let shape = self.shape(ty);
        let of_entities = |i: usize| self.ty(data.operands[i]).set.is_some();
        let entities = if ty.set.is_some() { shape[0] } else { 1 };
        let mut elems = Vec::new();
        for entity in 0..entities {
            let own = |field: &Field, i| if of_entities(i) { field.row(entity) } else { field.clone() };
            elems.extend(self.product(data, &own(left, 0), &own(right, 1)));
        }
        Ok(Field::of(shape, elems))
    }

    fn product(&self, data: &InstData, left: &Field, right: &Field) -> Vec<Bounded> {
        let k = right.shape[0];
        let width: usize = right.shape[1..].iter().product();
        let rows: usize = left.shape[..left.shape.len() - 1].iter().product();
        let dtype = self.ty(data.results[0]).dtype;
        let wide = |term: Bounded| cast(term, dtype.accumulator());
        let one = |i: usize| {
            let term = |j: usize| [left.elems[i / width * k + j], right.elems[j * width + i % width]].map(wide);
            let product = |j| element(ops::MUL, &data.attrs, &term(j)).expect("products work on numbers");
            let terms: Vec<Bounded> = (0..k).map(product).collect();
            cast(fold(BuiltinReducer::Sum, dtype.accumulator(), &terms), dtype)
        };
        (0..rows * width).map(one).collect()
    }

    fn rearranged(&self, data: &InstData) -> Run<Val> {
        let operand = |(i, v): (usize, &Handle)| {
            Ok(Operand { field: self.field(data, i)?, sets: usize::from(self.ty(*v).set.is_some()) })
        };
        let operands = data.operands.iter().enumerate().map(operand).collect::<Run<Vec<_>>>()?;
        let begin = data.attrs.begin().map(|begin| begin.eval(&|s| (self.size)(s)).expect("sizes are known"));
        let ty = self.ty(data.results[0]);
        let moved = rearranged(data, &operands, self.shape(ty), ty.dtype, begin.unwrap_or(0) as usize);
        moved.map(Val::Field).ok_or(Unbounded::Op(data.op.name()))
    }

    fn outer(&self, x: &Field, y: &Field) -> Field {
        let product =
            |a: &Bounded, b: &Bounded| element(ops::MUL, &Attrs::new(), &[*a, *b]).expect("products work on numbers");
        let elems = x.elems.iter().flat_map(|a| y.elems.iter().map(move |b| product(a, b))).collect();
        Field { shape: [x.shape.as_slice(), &y.shape].concat(), elems }
    }

    fn contract(&self, data: &InstData) -> Run<Val> {
        let ty = self.ty(data.results[0]);
        let wide = |field: &Field| {
            let elems = field.elems.iter().map(|e| cast(*e, ty.dtype)).collect();
            Field { shape: field.shape.clone(), elems }
        };
        let (x, y) = (wide(self.field(data, 0)?), wide(self.field(data, 1)?));
        let products: Vec<Field> = (0..x.shape[0]).map(|i| self.outer(&x.row(i), &y.row(i))).collect();
        let shape = self.shape(ty);
        let sum = |i: usize| {
            let terms: Vec<Bounded> = products.iter().map(|p| p.elems[i]).collect();
            fold(BuiltinReducer::Sum, ty.dtype, &terms)
        };
        let elems = (0..shape.iter().product()).map(sum).collect();
        Ok(Field::of(shape, elems))
    }

    /// Both modes add in the same order.
    fn scan(&self, data: &InstData) -> Run<Val> {
        let axis = *data.attrs.axis().ok_or(Unbounded::Op("scan_axis"))? as usize;
        let axis = axis + usize::from(self.ty(data.operands[0]).set.is_some());
        let Field { shape, mut elems } = self.field(data, 0)?.clone();
        let inner: usize = shape[axis + 1..].iter().product();
        for i in 0..elems.len() {
            if !(i / inner).is_multiple_of(shape[axis]) {
                let sum = element(ops::ADD, &Attrs::new(), &[elems[i - inner], elems[i]]);
                elems[i] = sum.ok_or(Unbounded::Op("scan_axis"))?;
            }
        }
        Ok(Field::of(shape, elems))
    }

    /// Along one axis of the whole shape.
    fn reduce(&self, data: &InstData, axis: usize) -> Run<Val> {
        let Ok(reducer) = builtin(data.attrs.reducer()) else {
            return self.reduce_own(data, axis);
        };
        let (field, dtype) = (self.field(data, 0)?, self.ty(data.operands[0]).dtype);
        let (len, inner) = (field.shape[axis], field.shape[axis + 1..].iter().product::<usize>());
        let outer: usize = field.shape[..axis].iter().product();
        let mut elems = Vec::with_capacity(outer * inner);
        for i in 0..outer * inner {
            let first = i / inner * len * inner + i % inner;
            let terms: Vec<Bounded> = (0..len).map(|j| field.elems[first + j * inner]).collect();
            elems.push(fold(reducer, dtype, &terms));
        }
        let shape = [&field.shape[..axis], &field.shape[axis + 1..]].concat();
        Ok(Field::of(shape, elems))
    }

    /// The same by a reducer beside the plain ones, of single values.
    fn reduce_own(&self, data: &InstData, axis: usize) -> Run<Val> {
        let name = data.attrs.reducer().ok_or(Unbounded::Op("reduce"))?;
        let reducer = &self.module.reducers[name];
        let field = self.field(data, 0)?;
        let (len, inner) = (field.shape[axis], field.shape[axis + 1..].iter().product::<usize>());
        let outer: usize = field.shape[..axis].iter().product();
        let single = |elem: Bounded| Field { shape: Vec::new(), elems: vec![elem] };
        let mut elems = Vec::with_capacity(outer * inner);
        for i in 0..outer * inner {
            let first = i / inner * len * inner + i % inner;
            let message = |j: usize| {
                let mut message = vec![single(field.elems[first + j * inner])];
                if data.attrs.has(Key::Indexed) {
                    message.push(single(Bounded::exact(Scalar::I64(j as i64))));
                }
                message
            };
            let messages: Vec<Vec<Field>> = (0..len).map(message).collect();
            let results = own(reducer, &IndexMap::new(), 0, &messages, &[Vec::new()]);
            elems.extend(results.into_iter().flat_map(|r| r.elems));
        }
        let shape = [&field.shape[..axis], &field.shape[axis + 1..]].concat();
        Ok(Field::of(shape, elems))
    }

    /// Each row target takes one message; the node region, if there is one, makes the results of the totals.
    fn apply(&mut self, data: &'m InstData) -> Run<Vec<Val>> {
        let rel = self.rel(data)?;
        let roles = data.attrs.roles().ok_or(Unbounded::Op("apply"))?;
        let reducers = target_reducers(data)?;
        let taken = |r: &Option<&Arc<str>>| r.map_or(1, |r| self.module.reducers[r].message().len());
        let takes: Vec<usize> = reducers.iter().map(taken).collect();
        let of_edges = reducers.iter().filter(|r| r.is_none()).count();
        let mut edges: Vec<Vec<Option<Field>>> = vec![vec![None; rel.num_edges()]; of_edges];
        let fields = (1..data.operands.len()).map(|i| self.field(data, i).cloned()).collect::<Run<Vec<_>>>()?;
        let mut results: Vec<Vec<Bounded>> = vec![Vec::new(); data.results.len()];
        for row in 0..rel.num_dst() {
            let mut messages: Vec<Vec<Field>> = vec![Vec::new(); takes.iter().sum()];
            for position in rel.row(row) {
                let yields = self.edge(data.regions[0], &rel, (row, position), (roles, &fields))?;
                let yields = exactly(yields, messages.len())?;
                for (message, yielded) in messages.iter_mut().zip(yields) {
                    message.push(field(yielded, "apply")?);
                }
                let firsts = takes.iter().scan(0, |next, takes| Some(std::mem::replace(next, *next + takes)));
                let own = reducers.iter().zip(firsts).filter(|(reducer, _)| reducer.is_none());
                for (kept, (_, from)) in edges.iter_mut().zip(own) {
                    kept[rel.edge(position)] = messages[from].last().cloned();
                }
            }
            let (mut values, mut from) = (Vec::new(), 0);
            for (name, takes) in reducers.iter().zip(&takes) {
                let taken = &messages[from..from + takes];
                if let Some(name) = name {
                    match builtin(Some(name)) {
                        Ok(reducer) => values.push(self.total(data, from, reducer, &taken[0])?),
                        Err(_) => values.extend(self.own(data, from, &self.module.reducers[*name], taken)?),
                    }
                }
                from += takes;
            }
            if let Some(node) = data.regions.get(1) {
                let element = |(role, field): (&Role, &Field)| match role {
                    Role::Dst => Some(Val::Field(field.row(row))),
                    Role::Param => Some(Val::Field(field.clone())),
                    Role::Src | Role::Edge => None,
                };
                values.extend(roles.iter().zip(&fields).filter_map(element));
                values = self.run(*node, values)?;
            }
            for (result, value) in results.iter_mut().zip(exactly(values, data.results.len() - of_edges)?) {
                result.extend(field(value, "apply")?.elems);
            }
        }
        let first = results.len() - of_edges;
        for (result, values) in results[first..].iter_mut().zip(edges) {
            result.extend(values.into_iter().flatten().flat_map(|value| value.elems));
        }
        let results = results.into_iter().zip(&data.results);
        Ok(results.map(|(elems, value)| Field::of(self.shape(self.ty(*value)), elems)).collect())
    }

    /// What the edge region yields at a position of a row.
    fn edge(
        &mut self,
        region: Region,
        rel: &Relation,
        (row, position): (usize, usize),
        (roles, fields): (&[Role], &[Field]),
    ) -> Run<Vec<Val>> {
        let element = |(role, field): (&Role, &Field)| {
            Val::Field(match role {
                Role::Src => field.row(rel.source(position)),
                Role::Dst => field.row(row),
                Role::Edge => field.row(rel.edge(position)),
                Role::Param => field.clone(),
            })
        };
        let args = roles.iter().zip(fields).map(element).collect();
        self.run(region, args)
    }

    /// The messages of one row to one target, folded feature by feature.
    fn total(&self, data: &InstData, target: usize, reducer: BuiltinReducer, messages: &[Field]) -> Run<Val> {
        let block = self.body.block(self.body.entry(data.regions[0]));
        let last = block.insts.last().ok_or(Unbounded::Op("apply"))?;
        let ty = self.ty(self.body.inst(*last).operands[target]);
        let (shape, dtype): (_, DType) = (self.shape(ty), ty.dtype);
        let feature = |i: usize| {
            let terms: Vec<Bounded> = messages.iter().map(|m| m.elems[i]).collect();
            fold(reducer, dtype, &terms)
        };
        let elems = (0..shape.iter().product()).map(feature).collect();
        Ok(Field::of(shape, elems))
    }

    /// The messages of one row to a reducer beside the plain ones, from target component `from` on.
    fn own(&self, data: &InstData, from: usize, reducer: &Reducer, messages: &[Vec<Field>]) -> Run<Vec<Val>> {
        let block = self.body.block(self.body.entry(data.regions[0]));
        let last = block.insts.last().ok_or(Unbounded::Op("apply"))?;
        let yields = &self.body.inst(*last).operands[from..from + messages.len()];
        let types: Vec<&TensorType> = yields.iter().map(|v| self.ty(*v)).collect();
        let fit = reducer.fit_message(&types).ok_or(Unbounded::Op("apply"))?;
        let extent = |e: &Poly| e.eval(&|s| (self.size)(s)).expect("the sizes of a run are known");
        let extents = fit.own.iter().map(|(s, e)| (s.clone(), extent(e))).collect();
        let outs: Vec<Vec<usize>> = fit.all_outside(&reducer.outs).iter().map(|t| self.shape(t)).collect();
        let count = messages.first().map_or(0, Vec::len);
        let each: Vec<Vec<Field>> = (0..count).map(|i| messages.iter().map(|m| m[i].clone()).collect()).collect();
        Ok(own(reducer, &extents, fit.map.len(), &each, &outs).into_iter().map(Val::Field).collect())
    }

    fn while_loop(&mut self, data: &'m InstData) -> Run<Vec<Val>> {
        let mut state: Vec<Val> = data.operands.iter().map(|v| self.values[v].clone()).collect();
        for _ in 0..*data.attrs.at_most().ok_or(Unbounded::Op("while"))? {
            let go = self.run(data.regions[0], state.clone())?.into_iter().next().ok_or(Unbounded::Op("while"))?;
            if field(go, "while")?.choice()? != Scalar::Bool(true) {
                break;
            }
            state = self.run(data.regions[1], state)?;
        }
        Ok(state)
    }

    fn repeat(&mut self, data: &'m InstData) -> Run<Vec<Val>> {
        let rounds = self.field(data, 0)?.choice()?.as_i64().ok_or(Unbounded::Op("repeat"))?;
        let mut state: Vec<Val> = data.operands[1..].iter().map(|v| self.values[v].clone()).collect();
        for round in 0..rounds {
            let args = std::iter::once(Field::scalar(Scalar::I64(round))).chain(state).collect();
            state = self.run(data.regions[0], args)?;
        }
        Ok(state)
    }
}
