//! What the interpreters share: values of one body, execution of regions, and the budget.

use super::error::{ErrorKind, Place, Run, malformed};
use super::memory::Memory;
use super::relation::Units;
use super::sizes::{Extents, Sizes};
use super::value::{Tensor, Value, count};
use super::{Options, Relation};
use crate::{Body, Func, Inst, InstData, Level, Module, Reducer, Region, Scalar, Type, Value as Handle};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

/// Deepest nesting of regions and calls.
const MAX_DEPTH: u32 = 128;

/// What a value of the IR holds.
#[derive(Clone)]
pub(super) enum Val {
    Tensor(Tensor),
    Rel(Arc<Relation>),
    Memory(Rc<Memory>),
}

impl From<Scalar> for Val {
    fn from(scalar: Scalar) -> Val {
        Val::Tensor(Tensor::scalar(scalar))
    }
}

/// The values of one body while a call of it runs. A value is set again in each round of a region that defines it.
pub(super) struct Frame<'m> {
    pub body: &'m Body,
    pub sizes: Sizes,
    values: Vec<Option<Val>>,
}

impl<'m> Frame<'m> {
    pub fn new(body: &'m Body, sizes: Sizes) -> Self {
        Frame { body, sizes, values: Vec::new() }
    }

    pub fn set(&mut self, value: Handle, val: impl Into<Val>) {
        let index = value.as_u32() as usize;
        if index >= self.values.len() {
            self.values.resize(index + 1, None);
        }
        self.values[index] = Some(val.into());
    }

    pub fn get(&self, value: Handle) -> Run<&Val> {
        match self.values.get(value.as_u32() as usize) {
            Some(Some(val)) => Ok(val),
            _ => Err(malformed("a value is used before it is defined")),
        }
    }

    pub fn tensor(&self, value: Handle) -> Run<&Tensor> {
        match self.get(value)? {
            Val::Tensor(t) => Ok(t),
            _ => Err(malformed("a tensor is expected")),
        }
    }

    /// The tensors of several values. (A loop, because messages and states pass here.)
    pub fn tensors(&self, values: &[Handle]) -> Run<Vec<Tensor>> {
        let mut tensors = Vec::with_capacity(values.len());
        for value in values {
            tensors.push(self.tensor(*value)?.clone());
        }
        Ok(tensors)
    }

    pub fn rel(&self, value: Handle) -> Run<&Arc<Relation>> {
        match self.get(value)? {
            Val::Rel(r) => Ok(r),
            _ => Err(malformed("a relation is expected")),
        }
    }

    pub fn memory(&self, value: Handle) -> Run<&Rc<Memory>> {
        match self.get(value)? {
            Val::Memory(m) => Ok(m),
            _ => Err(malformed("memory is expected")),
        }
    }

    pub fn scalar(&self, value: Handle) -> Run<Scalar> {
        self.tensor(value)?.as_scalar().ok_or_else(|| malformed("a scalar is expected"))
    }

    pub fn int(&self, value: Handle) -> Run<i64> {
        self.scalar(value)?.as_i64().ok_or_else(|| malformed("an integer is expected"))
    }
}

impl From<Tensor> for Val {
    fn from(tensor: Tensor) -> Val {
        Val::Tensor(tensor)
    }
}

/// An operand that must be there.
pub(super) fn operand(data: &InstData, index: usize) -> Run<Handle> {
    data.operands.get(index).copied().ok_or_else(|| malformed("an operand is missing"))
}

/// A region that must be there.
pub(super) fn nested(data: &InstData, index: usize) -> Run<Region> {
    data.regions.get(index).copied().ok_or_else(|| malformed("a region is missing"))
}

/// Long rows by relation (its address) and leaf; the relation is kept, so that its address stays its own.
type UnitsCache = BTreeMap<(usize, u64), (Arc<Relation>, Rc<Units>)>;

/// A run of one function with all it calls.
pub(super) struct Machine<'m> {
    pub module: &'m Module,
    pub options: &'m Options,
    steps: Cell<u64>,
    depth: Cell<u32>,
    /// The first iteration of the running `for` and the current one; numbers are never used twice.
    pub iteration: Cell<Option<(u64, u64)>>,
    pub next_iteration: Cell<u64>,
    units: RefCell<UnitsCache>,
}

impl<'m> Machine<'m> {
    pub fn new(module: &'m Module, options: &'m Options) -> Self {
        Machine {
            module,
            options,
            steps: Cell::new(options.steps),
            depth: Cell::new(0),
            iteration: Cell::new(None),
            next_iteration: Cell::new(1),
            units: RefCell::new(BTreeMap::new()),
        }
    }

    /// Spends steps.
    pub fn charge(&self, steps: usize) -> Run<()> {
        match self.steps.get().checked_sub(steps as u64) {
            Some(left) => {
                self.steps.set(left);
                Ok(())
            }
            None => Err(ErrorKind::Steps { limit: self.options.steps }.into()),
        }
    }

    /// The number of elements of a shape, if a value may have so many; spends as many steps.
    pub fn elements(&self, shape: &[usize]) -> Run<usize> {
        let limit = self.options.elements;
        let n = count(shape).filter(|n| *n <= limit).ok_or(ErrorKind::Elements { limit })?;
        self.charge(n)?;
        Ok(n)
    }

    pub fn func(&self, name: &str, level: Level) -> Run<&'m Func> {
        let func = self.module.funcs.get(name).filter(|f| f.level == level);
        func.ok_or_else(|| ErrorKind::UnknownFunction { name: name.to_owned(), level }.into())
    }

    pub fn reducer(&self, name: Option<&Arc<str>>) -> Run<&'m Reducer> {
        let name = name.ok_or_else(|| malformed("a reducer is missing"))?;
        self.module.reducers.get(name).ok_or_else(|| ErrorKind::UnknownReducer(name.clone()).into())
    }

    /// The long rows of a relation, computed once.
    pub fn units(&self, rel: &Arc<Relation>, leaf: u64) -> Rc<Units> {
        let key = (Arc::as_ptr(rel) as usize, leaf);
        let mut all = self.units.borrow_mut();
        all.entry(key).or_insert_with(|| (rel.clone(), Rc::new(rel.units(leaf)))).1.clone()
    }

    /// Runs `inner` one level deeper.
    pub fn deeper<T>(&self, inner: impl FnOnce() -> Run<T>) -> Run<T> {
        let depth = self.depth.get();
        if depth == MAX_DEPTH {
            return Err(ErrorKind::Depth { limit: MAX_DEPTH }.into());
        }
        self.depth.set(depth + 1);
        let result = inner();
        self.depth.set(depth);
        result
    }

    /// Runs a region whose parameters are set already; the values of its `yield` or `return`.
    pub fn enter(&self, frame: &mut Frame<'m>, region: Region) -> Run<&'m [Handle]> {
        let body = frame.body;
        for inst in &body.block(body.entry(region)).insts {
            let data = body.inst(*inst);
            match data.op.name() {
                "yield" | "return" => return Ok(&data.operands),
                _ => self.step(frame, *inst, data).map_err(|e| e.at(data.op.name(), &data.loc))?,
            }
        }
        Err(malformed("a region has no `yield` at its end"))
    }

    /// Runs a region; what it yields.
    pub fn run<V: Into<Val>>(
        &self,
        frame: &mut Frame<'m>,
        region: Region,
        args: impl IntoIterator<Item = V>,
    ) -> Run<Vec<Val>> {
        self.set_params(frame, region, args)?;
        self.enter(frame, region)?.iter().map(|v| frame.get(*v).cloned()).collect()
    }

    /// Runs a region that yields tensors.
    pub fn run_tensors(
        &self,
        frame: &mut Frame<'m>,
        region: Region,
        args: impl IntoIterator<Item = Tensor>,
    ) -> Run<Vec<Tensor>> {
        self.set_params(frame, region, args)?;
        let yields = self.enter(frame, region)?;
        frame.tensors(yields)
    }

    /// Gives a region its arguments.
    fn set_params<V: Into<Val>>(
        &self,
        frame: &mut Frame<'m>,
        region: Region,
        args: impl IntoIterator<Item = V>,
    ) -> Run<()> {
        let body = frame.body;
        let mut args = args.into_iter();
        for param in &body.block(body.entry(region)).params {
            let arg = args.next().ok_or_else(|| malformed("a region has too many parameters"))?;
            frame.set(*param, arg);
        }
        if args.next().is_some() { Err(malformed("a region has too few parameters")) } else { Ok(()) }
    }

    fn step(&self, frame: &mut Frame<'m>, inst: Inst, data: &'m InstData) -> Run<()> {
        self.charge(1)?;
        if let Some(rule) = data.op.elementwise() {
            let value = self.elementwise(frame, data, rule)?;
            return define_one(frame, data, value.into());
        }
        if data.regions.is_empty() {
            return self.plain(frame, data);
        }
        self.deeper(|| self.nesting(frame, inst, data))
    }

    /// Sets the results of an instruction.
    pub fn define<V: Into<Val>>(
        &self,
        frame: &mut Frame<'m>,
        data: &InstData,
        values: impl IntoIterator<Item = V>,
    ) -> Run<()> {
        let mut values = values.into_iter();
        for result in &data.results {
            let value = values.next().ok_or_else(|| malformed("an instruction has too many results"))?;
            frame.set(*result, value);
        }
        if values.next().is_some() { Err(malformed("an instruction has too few results")) } else { Ok(()) }
    }

    /// Ops without regions.
    fn plain(&self, frame: &mut Frame<'m>, data: &'m InstData) -> Run<()> {
        let value: Val = match data.op.name() {
            "const" => data.attrs.value().copied().ok_or_else(|| malformed("a value is missing"))?.into(),
            "fill" => self.fill(frame, data)?.into(),
            "len" => self.len(frame, data)?.into(),
            "concat" => self.concat(frame, data)?.into(),
            "outer" => self.outer(frame, data)?.into(),
            "matmul" => self.matmul(frame, data)?.into(),
            "reshape" => self.reshape(frame, data)?.into(),
            "slice" => self.slice(frame, data)?.into(),
            "permute" => self.permute(frame, data)?.into(),
            "scan_axis" => self.scan(frame, data)?.into(),
            "iota" => self.iota(frame, data)?.into(),
            "gather_axis" => self.gather_axis(frame, data)?.into(),
            "gather_set" => self.gather_set(frame, data)?.into(),
            "degree" => self.degree(frame, data)?.into(),
            "transpose" => Val::Rel(Arc::new(frame.rel(operand(data, 0)?)?.transposed().map_err(ErrorKind::Relation)?)),
            "add_self_loops" => {
                Val::Rel(Arc::new(frame.rel(operand(data, 0)?)?.with_self_loops().map_err(ErrorKind::Relation)?))
            }
            "concat_graphs" => {
                let (a, b) = (frame.rel(operand(data, 0)?)?, frame.rel(operand(data, 1)?)?);
                Val::Rel(Arc::new(a.concat(b).map_err(ErrorKind::Relation)?))
            }
            "elem" => self.elem(frame, data)?.into(),
            "load" => self.load(frame, data)?.into(),
            "alloc" => self.alloc(frame, data)?,
            "cells" => self.cells(frame, data)?,
            "store" => return self.store(frame, data),
            "copy" => return self.copy(frame, data),
            "launch" => return self.launch(frame, data),
            "call" => {
                let results = self.call(frame, data)?;
                return self.define(frame, data, results);
            }
            "reduce_set" => {
                let results = self.reduce_set(frame, data)?;
                return self.define(frame, data, results);
            }
            "contract" => {
                let results = self.contract(frame, data)?;
                return self.define(frame, data, results);
            }
            "reduce_axis" => {
                let results = self.reduce_axis(frame, data)?;
                return self.define(frame, data, results);
            }
            "join" => {
                let results = self.join(frame, data)?;
                return self.define(frame, data, results);
            }
            _ => return Err(malformed("the op has no meaning outside of kernels")),
        };
        define_one(frame, data, value)
    }

    /// Ops with regions.
    fn nesting(&self, frame: &mut Frame<'m>, inst: Inst, data: &'m InstData) -> Run<()> {
        match data.op.name() {
            "apply" => {
                let results = self.apply(frame, inst, data)?;
                self.define(frame, data, results)
            }
            "reduce" => {
                let results = self.reduce(frame, data)?;
                self.define(frame, data, results)
            }
            "for" => self.for_each(frame, data),
            "while" => {
                let results = self.while_loop(frame, data)?;
                self.define(frame, data, results)
            }
            "repeat" => {
                let results = self.repeat(frame, data)?;
                self.define(frame, data, results)
            }
            "if" => {
                let results = self.branch(frame, data)?;
                self.define(frame, data, results)
            }
            _ => Err(malformed("the op has no meaning outside of kernels")),
        }
    }

    /// Calls a function of any level but the kernels'; what it returns.
    pub fn invoke(&self, func: &'m Func, args: Vec<Val>, outer: Option<&Sizes>) -> Run<Vec<Val>> {
        let params = func.params();
        if args.len() != params.len() {
            let (function, expected) = (func.name.clone(), params.len());
            return Err(ErrorKind::Arguments { function, expected, found: args.len() }.into());
        }
        let shapes = args.iter().enumerate().map(|(i, a)| extents(func, i, a)).collect::<Run<Vec<_>>>()?;
        let sizes = Sizes::of_call(func, &shapes, &|symbol| match outer {
            Some(sizes) => sizes.get(symbol).map(|v| (v, Place::Caller)),
            None => self.options.sizes.get(symbol).map(|v| (*v, Place::Options)),
        })?;
        let mut frame = Frame::new(&func.body, sizes);
        self.deeper(|| self.run(&mut frame, func.region, args))
    }
}

/// Sets the only result of an instruction.
fn define_one(frame: &mut Frame<'_>, data: &InstData, value: Val) -> Run<()> {
    let [result] = data.results.as_slice() else { return Err(malformed("one result is expected")) };
    frame.set(*result, value);
    Ok(())
}

/// The extents of an argument whose type must be the parameter's.
fn extents(func: &Func, index: usize, arg: &Val) -> Run<Extents> {
    let expected = func.body.ty(func.params()[index]);
    let fits = |t: &crate::TensorType, d, shape: &[usize]| t.dtype == d && t.rank() == shape.len();
    let found = match (expected, arg) {
        (Type::Tensor(t), Val::Tensor(a)) if fits(t, a.dtype(), a.shape()) => return Ok(a.shape().to_vec()),
        (Type::Buffer(t), Val::Memory(m)) if fits(t, m.dtype(), &m.shape()) => return Ok(m.shape()),
        (Type::Rel(r), Val::Rel(a)) if r.kind == a.kind() => {
            return Ok(vec![a.num_src(), a.num_dst(), a.num_edges()]);
        }
        (_, Val::Tensor(a)) => format!("{} with extents {:?}", a.dtype(), a.shape()),
        (_, Val::Memory(m)) => format!("memory of {} with extents {:?}", m.dtype(), m.shape()),
        (_, Val::Rel(a)) => format!("a relation of kind {}", a.kind().name()),
    };
    let param = func.param_name(index).into();
    Err(ErrorKind::Argument { param, expected: expected.clone(), found }.into())
}

/// An argument as the interpreters hold it; a tensor given for memory is lent for reading.
pub(super) fn enter_value(ty: &Type, value: &Value) -> Val {
    match (ty, value) {
        (Type::Buffer(_), Value::Tensor(t)) => Val::Memory(Rc::new(Memory::lent(t))),
        (_, Value::Tensor(t)) => Val::Tensor(t.clone()),
        (_, Value::Rel(r)) => Val::Rel(r.clone()),
        (_, Value::Buffer(b)) => Val::Memory(Rc::new(Memory::new(b.clone()))),
    }
}

/// A result as the caller sees it; memory must be written by then.
pub(super) fn leave_value(val: Val) -> Run<Value> {
    match val {
        Val::Tensor(t) => Ok(Value::Tensor(t)),
        Val::Rel(r) => Ok(Value::Rel(r)),
        Val::Memory(m) => m.buffer().tensor().map(Value::Tensor).map_err(|index| ErrorKind::Unwritten { index }.into()),
    }
}
