//! Replaces each call of a program by the program's code, with its sets and dimensions made those of the arguments.

use crate::limits::{CODE, REGIONS};
use crate::passes::{Excess, Pass, PassError, PassOptions, Remarks};
use indexmap::{IndexMap, IndexSet};
use tiga_abi::{Poly, Symbol};
use tiga_ir::ops::{self, Substitution, substitute, unify};
use tiga_ir::{Acc, AccRow, Attr, Block, Body, Func, Inst, Key, Level, Module, Region, Space, Transplant, Type, Value};

/// Calls of programs become their code.
pub const PASS: Pass = Pass {
    name: "inline",
    about: "replaces calls of programs by their code",
    levels: &[Level::Domain],
    makes: None,
    needed: true,
    run,
};

/// Inlines all calls, those in what was inlined too: calls form no cycle.
///
/// # Errors
/// A call whose code would be too much: a short chain of programs that call each other twice doubles with each link.
pub fn run(module: &Module, _: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    let mut out = module.clone();
    let mut sizes: IndexMap<Symbol, Size> = IndexMap::new();
    let mut written = 0;
    for name in callees_first(module) {
        let mut func = out.funcs[&name].clone();
        let region = func.region;
        let mut inliner = Inliner {
            module: &out,
            func: &mut func,
            values: IndexMap::new(),
            sizes: &sizes,
            written,
            depth: 0,
            deepest: 0,
        };
        inliner.region(region)?;
        let size = Size { insts: inliner.written - written, depth: inliner.deepest };
        written = inliner.written;
        sizes.insert(name.clone(), size);
        out.funcs.insert(name, func);
    }
    Ok(out)
}

/// How much code a function is once its calls are inlined.
#[derive(Clone, Copy, Debug)]
struct Size {
    insts: usize,
    /// Regions inside each other.
    depth: usize,
}

/// The domain functions, each after what it calls.
fn callees_first(module: &Module) -> IndexSet<Symbol> {
    let mut order = IndexSet::new();
    for func in module.funcs.values().filter(|f| f.level == Level::Domain) {
        // Chains of calls may be long: the way down is kept here, not on the stack of this thread.
        let mut way = vec![(&func.name, callees(module, func))];
        while let Some((name, waiting)) = way.last_mut() {
            match waiting.pop() {
                Some(callee) if !order.contains(&callee.name) => way.push((&callee.name, callees(module, callee))),
                Some(_) => {}
                None => {
                    order.insert((*name).clone());
                    way.pop();
                }
            }
        }
    }
    order
}

/// The functions that a function calls, the first call last.
fn callees<'m>(module: &'m Module, func: &Func) -> Vec<&'m Func> {
    let called = |inst: Inst| {
        let data = func.body.inst(inst);
        let callee = data.attrs.callee().filter(|_| data.op == ops::CALL)?;
        module.funcs.get(callee)
    };
    func.body.walk(func.region).into_iter().rev().filter_map(called).collect()
}

/// A function under change.
struct Inliner<'a> {
    module: &'a Module,
    func: &'a mut Func,
    /// What stands for the results of calls.
    values: IndexMap<Value, Value>,
    /// Of the functions that are done.
    sizes: &'a IndexMap<Symbol, Size>,
    /// Instructions, those of the functions that are done too.
    written: usize,
    /// Regions around what is looked at, and the most that were.
    depth: usize,
    deepest: usize,
}

impl Inliner<'_> {
    fn region(&mut self, region: Region) -> Result<(), PassError> {
        for block in self.func.body.region(region).blocks.clone() {
            for inst in std::mem::take(&mut self.func.body.block_mut(block).insts) {
                self.inst(inst, block)?;
            }
        }
        Ok(())
    }

    fn inst(&mut self, inst: Inst, block: Block) -> Result<(), PassError> {
        for operand in &mut self.func.body.inst_mut(inst).operands {
            *operand = self.values.get(operand).copied().unwrap_or(*operand);
        }
        if self.func.body.inst(inst).op == ops::CALL {
            return self.call(inst, block);
        }
        self.written += 1;
        self.depth += 1;
        for region in self.func.body.inst(inst).regions.clone() {
            self.deepest = self.deepest.max(self.depth);
            self.region(region)?;
        }
        self.depth -= 1;
        self.func.body.block_mut(block).insts.push(inst);
        Ok(())
    }

    fn call(&mut self, call: Inst, block: Block) -> Result<(), PassError> {
        let data = self.func.body.inst(call).clone();
        let callee = &self.module.funcs[data.attrs.callee().expect("verified: a call names its callee")];
        let size = self.sizes[&callee.name];
        self.written += size.insts;
        self.deepest = self.deepest.max(self.depth + size.depth);
        let excess = match () {
            () if self.written > CODE => Some(Excess::Large),
            () if self.deepest > REGIONS => Some(Excess::Deep),
            () => None,
        };
        if let Some(excess) = excess {
            return Err(PassError::Limit { callee: callee.name.clone(), excess, loc: data.loc });
        }
        let params: Vec<&Type> = callee.params().iter().map(|v| callee.body.ty(*v)).collect();
        let args: Vec<&Type> = data.operands.iter().map(|v| self.func.body.ty(*v)).collect();
        let map = unify(&params, &args).expect("verified: the arguments fit");
        let mut copy = Transplant::new(&callee.body);
        copy.values.extend(callee.params().iter().copied().zip(data.operands.iter().copied()));
        let insts = &callee.body.block(callee.body.entry(callee.region)).insts;
        let (last, insts) = insts.split_last().expect("verified: a block ends with a terminator");
        for inst in insts {
            let new = copy.inst(*inst, &mut self.func.body, block);
            rename(&mut self.func.body, new, &map);
        }
        let returned = callee.body.inst(*last).operands.iter().map(|v| copy.value(*v));
        for (result, value) in data.results.iter().zip(returned.collect::<Vec<_>>()) {
            self.values.insert(*result, value);
            let name = self.func.body.value(*result).name.clone();
            if name.is_some() && !data.operands.contains(&value) {
                self.func.body.set_name(value, name);
            }
        }
        Ok(())
    }
}

/// Puts the caller's sizes in place of the callee's, in an instruction and all that it holds.
fn rename(body: &mut Body, inst: Inst, map: &Substitution) {
    let data = body.inst(inst).clone();
    for result in &data.results {
        retype(body, *result, map);
    }
    let attrs: Vec<(Key, Attr)> = data.attrs.iter().map(|(key, attr)| (key, attribute(attr, map))).collect();
    for (key, attr) in attrs {
        body.inst_mut(inst).attrs.set(key, attr);
    }
    for region in data.regions {
        let block = body.block(body.entry(region)).clone();
        for param in block.params {
            retype(body, param, map);
        }
        for nested in block.insts {
            rename(body, nested, map);
        }
    }
}

fn retype(body: &mut Body, value: Value, map: &Substitution) {
    let ty = substitute(body.ty(value), map).expect("verified: the arguments make sets of the callee's sets");
    body.set_type(value, ty);
}

fn attribute(attr: &Attr, map: &Substitution) -> Attr {
    let poly = |p: &Poly| p.substitute(&|s| map.get(s).cloned());
    match attr {
        Attr::Dims(dims) => match substitute(&Type::Tensor(dims.clone()), map) {
            Some(Type::Tensor(dims)) => Attr::Dims(dims),
            _ => attr.clone(),
        },
        Attr::Extent(extent) => Attr::Extent(poly(extent)),
        Attr::Space(Space::Rows(extent)) => Attr::Space(Space::Rows(poly(extent))),
        Attr::Space(Space::Blocks(extent, size)) => Attr::Space(Space::Blocks(poly(extent), *size)),
        Attr::Shape(shape) => {
            let rows = shape.acc.rows.iter().map(|row| AccRow { width: poly(&row.width), ..row.clone() }).collect();
            let acc = Acc { rows, ..shape.acc.clone() };
            Attr::Shape(tiga_ir::ReduceShape { acc, ..shape.clone() })
        }
        other => other.clone(),
    }
}
