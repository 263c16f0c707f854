//! Replaces each call of a program by the program's code, with its sets and dimensions made those of the arguments.

use crate::passes::{Pass, PassError, PassOptions};
use indexmap::IndexMap;
use tiga_abi::{Poly, Symbol};
use tiga_ir::ops::{self, Substitution, substitute, unify};
use tiga_ir::{Acc, AccRow, Attr, Block, Body, Func, Inst, Key, Level, Module, Region, Space, Transplant, Type, Value};

/// Calls of programs become their code.
pub const PASS: Pass = Pass {
    name: "inline",
    about: "replaces calls of programs by their code",
    levels: &[Level::Domain],
    makes: None,
    run,
};

/// Inlines all calls, those in what was inlined too: calls form no cycle.
///
/// # Errors
/// A callee whose sizes the arguments do not fix.
pub fn run(module: &Module, _: &PassOptions) -> Result<Module, PassError> {
    let mut out = module.clone();
    for name in callees_first(module) {
        let mut func = out.funcs[&name].clone();
        let region = func.region;
        Inliner { module: &out, func: &mut func, values: IndexMap::new() }.region(region)?;
        out.add(func);
    }
    Ok(out)
}

/// The domain functions, each after what it calls.
fn callees_first(module: &Module) -> Vec<Symbol> {
    let mut order = Vec::new();
    for func in module.funcs.values().filter(|f| f.level == Level::Domain) {
        visit(module, func, &mut order);
    }
    order
}

fn visit(module: &Module, func: &Func, order: &mut Vec<Symbol>) {
    if order.contains(&func.name) {
        return;
    }
    for inst in func.body.walk(func.region) {
        let data = func.body.inst(inst);
        if data.op == ops::CALL
            && let Some(callee) = data.attrs.callee().and_then(|name| module.funcs.get(name))
        {
            visit(module, callee, order);
        }
    }
    order.push(func.name.clone());
}

/// A function under change.
struct Inliner<'a> {
    module: &'a Module,
    func: &'a mut Func,
    /// What stands for the results of calls.
    values: IndexMap<Value, Value>,
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
        for region in self.func.body.inst(inst).regions.clone() {
            self.region(region)?;
        }
        self.func.body.block_mut(block).insts.push(inst);
        Ok(())
    }

    fn call(&mut self, call: Inst, block: Block) -> Result<(), PassError> {
        let data = self.func.body.inst(call).clone();
        let callee = &self.module.funcs[data.attrs.callee().expect("verified: a call names its callee")];
        let params: Vec<&Type> = callee.params().iter().map(|v| callee.body.ty(*v)).collect();
        let args: Vec<&Type> = data.operands.iter().map(|v| self.func.body.ty(*v)).collect();
        let map = unify(&params, &args).expect("verified: the arguments fit");
        let free = callee.symbols.keys().find(|symbol| !map.contains_key(*symbol));
        if let Some(symbol) = free {
            let (callee, symbol) = (callee.name.clone(), symbol.clone());
            return Err(PassError::FreeSize { callee, symbol, loc: data.loc });
        }
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
