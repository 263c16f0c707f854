//! Domain → host and loops: every field operation becomes a launch of a loops function on memory.
//!
//! Consecutive element-by-element operations over one set share a function, also with the reduction or product before
//! them that they work on; constants are repeated where they are used. What is left of the program is a host function of launches, loops and branches.

mod apply;
mod control;
mod rows;

use super::{LowerError, ReductionLaw, add};
use crate::builtin::BuiltinReducer;
use crate::passes::Remarks;
use indexmap::{IndexMap, IndexSet};
use tiga_abi::Symbol;
use tiga_ir::{
    Attr, Attrs, Block, Body, Builder, Func, Inst, InstData, Key, Level, Module, OpView, TensorType, Type, Value, ops,
};
use tiga_source::Loc;

/// Lowers every domain function of a module; functions of other levels stay, before what is made.
///
/// # Errors
/// A construct that the loops level cannot express yet; a name that a function which stays has already.
pub fn lower(module: &Module, law: &ReductionLaw, remarks: &mut Remarks) -> Result<Module, LowerError> {
    let (domain, others): (Vec<&Func>, Vec<&Func>) = module.funcs.values().partition(|f| f.level == Level::Domain);
    let mut out = Module { reducers: module.reducers.clone(), ..Module::new() };
    out.funcs.extend(others.into_iter().map(|f| (f.name.clone(), f.clone())));
    for func in domain {
        add_sums(func, &mut out);
        out = Lowering::new(module, func, law, out, remarks).run()?;
    }
    Ok(out)
}

/// A product becomes a sum of products: the reducer of their type must be there.
fn add_sums(func: &Func, out: &mut Module) {
    for inst in func.body.walk(func.region) {
        let data = func.body.inst(inst);
        if data.op == ops::MATMUL
            && let Some(dtype) = func.body.ty(data.results[0]).dtype()
        {
            BuiltinReducer::Sum.add_to(out, dtype.accumulator());
        }
    }
}

/// The lowering of one function.
struct Lowering<'a> {
    source: &'a Module,
    func: &'a Func,
    law: &'a ReductionLaw,
    out: Module,
    host: Func,
    /// Where host instructions go.
    block: Block,
    /// Host values of domain values: relations and buffers.
    values: IndexMap<Value, Value>,
    /// Instructions that use each domain value.
    uses: IndexMap<Value, Vec<Inst>>,
    /// Operations on entities not launched yet.
    group: Group,
    launches: usize,
    remarks: &'a mut Remarks,
}

/// Operations that one launch makes, entity by entity.
#[derive(Debug, Default)]
struct Group {
    insts: Vec<Inst>,
    /// Values with features of which each takes a fold: what works on them at other features would fold again.
    folded: IndexSet<Value>,
}

impl<'a> Lowering<'a> {
    fn new(source: &'a Module, func: &'a Func, law: &'a ReductionLaw, out: Module, remarks: &'a mut Remarks) -> Self {
        let mut host = Func::new(func.name.clone(), Level::Host);
        host.symbols = func.symbols.clone();
        host.loc = func.loc.clone();
        let block = host.body.entry(host.region);
        let mut uses: IndexMap<Value, Vec<Inst>> = IndexMap::new();
        for inst in func.body.walk(func.region) {
            for operand in &func.body.inst(inst).operands {
                uses.entry(*operand).or_default().push(inst);
            }
        }
        let (values, group) = Default::default();
        Self { source, func, law, out, host, block, values, uses, group, launches: 0, remarks }
    }

    fn run(mut self) -> Result<Module, LowerError> {
        for param in self.func.params() {
            let data = self.func.body.value(*param);
            let value = self.host.body.add_param(self.block, in_memory(&data.ty), data.name.clone());
            self.values.insert(*param, value);
        }
        self.host.results = self.func.results.iter().map(|(name, ty)| (name.clone(), in_memory(ty))).collect();
        self.block(self.func.body.entry(self.func.region))?;
        add(&mut self.out, self.host)?;
        Ok(self.out)
    }

    fn body(&self) -> &'a Body {
        &self.func.body
    }

    /// Lowers all instructions of a block into the current host block.
    fn block(&mut self, block: Block) -> Result<(), LowerError> {
        for inst in &self.body().block(block).insts {
            self.inst(*inst)?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        if is_constant(data) {
            return Ok(());
        }
        if joins_groups(data) || folds(data) {
            return self.join_group(inst);
        }
        self.flush()?;
        match data.op {
            op if op == ops::APPLY => self.apply(inst),
            op if op == ops::REDUCE_SET || op == ops::CONTRACT => self.reduce_set(inst),
            op if [ops::TRANSPOSE, ops::ADD_SELF_LOOPS, ops::CONCAT_GRAPHS].contains(&op) => {
                let operands = self.host_values(&data.operands)?;
                let value = self.push(op, &operands, Attrs::new(), &data.loc)?[0];
                self.values.insert(data.results[0], value);
                Ok(())
            }
            op if op == ops::WHILE => self.while_loop(inst),
            op if op == ops::REPEAT => self.repeat(inst),
            op if op == ops::IF => self.branch(inst),
            op if op == ops::RETURN || op == ops::YIELD => {
                let operands = self.host_values(&data.operands)?;
                self.push(data.op, &operands, Attrs::new(), &data.loc).map(|_| ())
            }
            op if [ops::SCAN_AXIS, ops::CONCAT, ops::OUTER].contains(&op) => self.rows(&[inst]),
            op => Err(LowerError::operation(op, &data.loc)),
        }
    }

    /// The set an instruction's result is a field over, if any.
    fn space(&self, inst: Inst) -> Option<&'a Symbol> {
        self.body().ty(self.body().result(inst)).as_tensor().and_then(|t| t.set.as_ref())
    }

    /// Adds an operation to the waiting group, or launches that and begins the next one.
    fn join_group(&mut self, inst: Inst) -> Result<(), LowerError> {
        let data = self.body().inst(inst);
        if let Some(last) = self.group.insts.last() {
            let place = self.body().inst(*last).loc.clone();
            match self.obstacle(inst) {
                None if !self.group.folded.is_empty() && self.takes_folded(inst) => {
                    let text =
                        format!("`{}` joins the fold at {place}: it is not written and read again", data.op.name());
                    self.remarks.passed(NAME, &data.loc, text);
                }
                None => {}
                Some(why) => {
                    let made_here = |v: &Value| self.body().def(*v).is_some_and(|def| self.group.insts.contains(&def));
                    if data.operands.iter().any(made_here) {
                        let text = format!("`{}` does not join the launch that ends at {place}: {why}", data.op.name());
                        self.remarks.missed(NAME, &data.loc, text);
                    }
                    self.flush()?;
                }
            }
        }
        let result = self.body().result(inst);
        let wide = self.body().ty(result).as_tensor().is_some_and(|t| !t.dims.is_empty());
        if wide && (folds(data) || self.takes_folded(inst)) {
            self.group.folded.insert(result);
        }
        self.group.insts.push(inst);
        Ok(())
    }

    /// Whether an operation works on what a fold of the group gives.
    fn takes_folded(&self, inst: Inst) -> bool {
        self.body().inst(inst).operands.iter().any(|v| self.group.folded.contains(v))
    }

    /// Why an operation cannot be made in the launch of the waiting group.
    fn obstacle(&self, inst: Inst) -> Option<&'static str> {
        let data = self.body().inst(inst);
        let group = &self.group.insts;
        let made_here = |v: &Value| self.body().def(*v).is_some_and(|def| group.contains(&def));
        let dims = |v: Value| self.body().ty(v).as_tensor().map(|t| t.dims.clone());
        let result = self.body().result(inst);
        if group.last().is_some_and(|last| self.space(*last) != self.space(inst)) {
            return Some("it is over another set");
        }
        if group.len() == MAX_GROUP {
            return Some("that is large enough");
        }
        if data.operands.iter().enumerate().any(|(i, v)| data.op.whole(i) && made_here(v)) {
            return Some("it reads all entities of what that makes");
        }
        if folds(data) && (dims(result).is_none_or(|d| !d.is_empty()) || data.operands.iter().any(made_here)) {
            return Some("what it folds would be computed once for each tile of its features");
        }
        let other = |v: &Value| self.group.folded.contains(v) && dims(*v) != dims(result);
        if data.operands.iter().any(other) || (self.takes_folded(inst) && data.op.elementwise().is_none()) {
            return Some("it works on what that folds at other features");
        }
        None
    }

    /// Launches the waiting group.
    fn flush(&mut self) -> Result<(), LowerError> {
        let group = std::mem::take(&mut self.group);
        if group.insts.is_empty() { Ok(()) } else { self.rows(&group.insts) }
    }

    /// Whether a value is used by an instruction outside `group`.
    fn escapes(&self, value: Value, group: &[Inst]) -> bool {
        self.uses.get(&value).is_some_and(|users| users.iter().any(|u| !group.contains(u)))
    }

    /// Appends a host instruction.
    fn push(&mut self, op: tiga_ir::Op, operands: &[Value], attrs: Attrs, loc: &Loc) -> Result<Vec<Value>, LowerError> {
        let mut builder = Builder::new(&self.out, &mut self.host.body, self.block);
        builder.loc = loc.clone();
        Ok(builder.op(op, operands, attrs)?)
    }

    /// Fresh host memory for a value of a type.
    fn alloc(&mut self, ty: &TensorType, loc: &Loc) -> Result<Value, LowerError> {
        Ok(self.push(ops::ALLOC, &[], Attrs::new().with(Key::Dims, Attr::Dims(ty.clone())), loc)?[0])
    }

    /// The host value of a domain value; a constant is stored first.
    fn host_value(&mut self, value: Value) -> Result<Value, LowerError> {
        if let Some(host) = self.values.get(&value) {
            return Ok(*host);
        }
        // Constants are not remembered: the memory made here may not dominate the next use.
        let inst = self.body().def(value).expect("a value without a host value is a constant");
        self.rows(&[inst])?;
        Ok(self.values.swap_remove(&value).expect("the launch defined it"))
    }

    fn host_values(&mut self, values: &[Value]) -> Result<Vec<Value>, LowerError> {
        values.iter().map(|v| self.host_value(*v)).collect()
    }

    /// Adds a loops function and launches it.
    fn launch(&mut self, func: Func, args: &[Value], loc: &Loc) -> Result<(), LowerError> {
        let attrs = Attrs::new().with(Key::Callee, Attr::Name(func.name.clone()));
        add(&mut self.out, func)?;
        self.push(ops::LAUNCH, args, attrs, loc).map(|_| ())
    }

    /// A loops function named after the program, without code.
    fn loops_func(&mut self, loc: &Loc) -> Func {
        let mut func = Func::new(format!("{}.{}", self.func.name, self.launches), Level::Loops);
        self.launches += 1;
        func.symbols = self.func.symbols.clone();
        func.loc = loc.clone();
        func
    }

    /// A view of a domain instruction.
    fn view(&self, inst: Inst) -> OpView<'a> {
        OpView { module: self.source, body: self.body(), inst }
    }
}

/// The pass that remarks are of.
const NAME: &str = "lower_to_loops";

/// Whether an operation folds the features of each entity.
fn folds(data: &InstData) -> bool {
    [ops::REDUCE_AXIS, ops::MATMUL].contains(&data.op)
}

/// Operations in one launch: kernels are generated by recursion along their operands.
const MAX_GROUP: usize = 64;

/// What a domain value is on the host level.
fn in_memory(ty: &Type) -> Type {
    match ty {
        Type::Tensor(t) => Type::Buffer(t.clone()),
        other => other.clone(),
    }
}

/// Constants, extents and positions are repeated where they are used.
fn is_constant(data: &InstData) -> bool {
    data.op == ops::CONST || data.op == ops::LEN || data.op == ops::IOTA
}

/// Whether an operation works on each entity for itself at no more than its own cost.
fn joins_groups(data: &InstData) -> bool {
    let cheap = [ops::FILL, ops::DEGREE, ops::SLICE, ops::PERMUTE, ops::RESHAPE, ops::GATHER_AXIS, ops::GATHER_SET];
    data.op.elementwise().is_some() || cheap.contains(&data.op)
}

/// Parameters of a loops function under construction: each domain value once, inputs in order of first use.
#[derive(Default)]
struct Params {
    inputs: IndexSet<Value>,
}

impl Params {
    /// Declares the inputs, then one output for each result; returns the functions' values.
    fn declare(&self, source: &Body, func: &mut Func, outputs: &[Value]) -> (IndexMap<Value, Value>, Vec<Value>) {
        let entry = func.body.entry(func.region);
        // Sizes and the kernel's own parameters stand in one list with these names.
        let mut taken: IndexSet<String> = RESERVED.iter().map(|name| (*name).to_owned()).collect();
        taken.extend(func.symbols.keys().map(|s| s.to_string()));
        let mut add = |value: Value, stem: &str| {
            let data = source.value(value);
            let name = unique(data.name.as_deref().unwrap_or(stem), &mut taken);
            func.body.add_param(entry, in_memory(&data.ty), Some(name.into()))
        };
        let inputs = self.inputs.iter().map(|v| (*v, add(*v, "a"))).collect();
        let outputs = outputs.iter().map(|v| add(*v, "out")).collect();
        (inputs, outputs)
    }
}

/// Names of parameters that every kernel may have.
const RESERVED: [&str; 3] = ["scratch", "unit_begin", "unit_end"];

fn unique(stem: &str, taken: &mut IndexSet<String>) -> String {
    let mut name = stem.to_owned();
    let mut count = 0;
    while !taken.insert(name.clone()) {
        count += 1;
        name = format!("{stem}{count}");
    }
    name
}
