//! Makes one rounding of two: `a·b + c` becomes `fma`, also as the step of a reduction. Not in strict mode, and only
//! for machines that have `fma`.
//!
//! It is a rewrite of the loops level, so that the loops interpreter says what its bits are. What counts are the uses
//! within one loops function, of code that is needed (`dce` runs before): a product that anything else there uses
//! stays, because it would be computed twice, with different bits. Each target of a message has its own copy of the
//! message's code, so what one target does with a product is no use in another.

use crate::passes::{Pass, PassError, PassOptions, Remarks};
use indexmap::IndexMap;
use tiga_abi::FpMode;
use tiga_ir::{
    Attr, Attrs, Block, Body, Builder, Inst, InstData, Key, Level, Module, Reducer, Region, Type, TypeError, Value, ops,
};

/// Products and sums become one rounding.
pub const PASS: Pass = Pass {
    name: "contract",
    about: "makes fma of a product and a sum, also as the step of a reduction (not with --fp=strict)",
    levels: &[Level::Loops],
    makes: None,
    needed: true,
    run,
};

/// Contracts every loops function.
///
/// # Errors
/// An instruction that it built and that is ill-typed: our bug.
pub fn run(module: &Module, options: &PassOptions, _: &mut Remarks) -> Result<Module, PassError> {
    let mut out = module.clone();
    if options.law.fp == FpMode::Strict || !options.machine.fma {
        return Ok(out);
    }
    for func in out.funcs.values_mut().filter(|f| f.level == Level::Loops) {
        let uses = count_uses(&func.body, func.region);
        Contraction { module, body: &mut func.body, root: func.region, uses }.region(func.region)?;
    }
    Ok(out)
}

fn count_uses(body: &Body, region: Region) -> IndexMap<Value, usize> {
    let mut uses = IndexMap::new();
    for inst in body.walk(region) {
        for operand in &body.inst(inst).operands {
            *uses.entry(*operand).or_insert(0) += 1;
        }
    }
    uses
}

/// One function under change.
struct Contraction<'a> {
    module: &'a Module,
    body: &'a mut Body,
    root: Region,
    uses: IndexMap<Value, usize>,
}

impl Contraction<'_> {
    fn region(&mut self, region: Region) -> Result<(), TypeError> {
        for block in self.body.region(region).blocks.clone() {
            for inst in self.body.block(block).insts.clone() {
                if self.body.inst(inst).op == ops::REDUCE {
                    self.step(inst)?;
                }
                for nested in self.body.inst(inst).regions.clone() {
                    self.region(nested)?;
                }
                self.sum(inst, block)?;
            }
        }
        Ok(())
    }

    /// The product, if the value is one of floats that nothing else uses and that stands in the block.
    fn product(&self, value: Value, block: Block) -> Option<Inst> {
        let inst = self.body.def(value)?;
        let floats = self.body.ty(value).dtype().is_some_and(|d| d.is_float() && !d.is_half());
        let only = self.uses.get(&value) == Some(&1);
        let here = self.body.block(block).insts.contains(&inst);
        (self.body.inst(inst).op == ops::MUL && floats && only && here).then_some(inst)
    }

    /// `a·b + c`, `a·b − c` and `c − a·b`, of which a negated operand is exact.
    fn sum(&mut self, inst: Inst, block: Block) -> Result<(), TypeError> {
        let data = self.body.inst(inst).clone();
        if data.op != ops::ADD && data.op != ops::SUB {
            return Ok(());
        }
        let left = self.product(data.operands[0], block);
        let Some(product) = left.or_else(|| self.product(data.operands[1], block)) else { return Ok(()) };
        let other = data.operands[usize::from(left.is_some())];
        let [a, b] = [0, 1].map(|i| self.body.inst(product).operands[i]);
        let position = |body: &Body, inst: Inst| body.block(block).insts.iter().position(|i| *i == inst);
        let at = position(self.body, inst).expect("the instruction stands in its block");
        let rest = self.body.block_mut(block).insts.split_off(at);
        let (a, c) = match (data.op == ops::SUB, left.is_some()) {
            (false, _) => (a, other),
            (true, true) => (a, self.negated(other, block, &data)?),
            (true, false) => (self.negated(a, block, &data)?, other),
        };
        self.body.block_mut(block).insts.extend(rest);
        let fused = self.body.inst_mut(inst);
        fused.op = ops::FMA;
        fused.operands = vec![a, b, c];
        self.body.block_mut(block).insts.retain(|i| *i != product);
        Ok(())
    }

    fn negated(&mut self, value: Value, block: Block, data: &InstData) -> Result<Value, TypeError> {
        let mut builder = Builder::new(self.module, self.body, block);
        builder.loc = data.loc.clone();
        let negated = builder.value(ops::NEG, &[value], Attrs::new())?;
        self.uses.insert(negated, 1);
        Ok(negated)
    }

    /// A reduction of products by a reducer that adds them: its body takes the accumulators and yields the next ones,
    /// so that [`Contraction::sum`] finds both.
    fn step(&mut self, inst: Inst) -> Result<(), TypeError> {
        let data = self.body.inst(inst).clone();
        let reducer = &self.module.reducers[data.attrs.reducer().expect("verified: a reduction has a reducer")];
        let block = self.body.entry(data.regions[0]);
        let last = *self.body.block(block).insts.last().expect("verified: a block ends with a terminator");
        let message = self.body.inst(last).operands.clone();
        let sums = message.iter().enumerate().any(|(i, v)| adds(reducer, i) && self.product(*v, block).is_some());
        if data.attrs.has(Key::Step) || !sums || !open(reducer) {
            return Ok(());
        }
        let map = match self.body.ty(message[0]) {
            Type::Tensor(t) => t.dims.clone(),
            _ => return Ok(()),
        };
        let mut state = Vec::new();
        for component in &reducer.state {
            let ty = tiga_ir::TensorType::tensor(component.ty.dtype, map.clone());
            state.push(self.body.add_param(block, ty.into(), Some(component.name.clone())));
        }
        let before = self.body.block(block).insts.len() - 1;
        self.body.block_mut(block).insts.truncate(before);
        // What the reducer does with a message is at the place of the message.
        let place = self.body.inst(last).loc.clone();
        let mut builder = Builder::new(self.module, self.body, block);
        builder.loc = place;
        let lifted = expand(reducer, reducer.lift, &message, &mut builder)?;
        let next = expand(reducer, reducer.combine, &[state.as_slice(), &lifted].concat(), &mut builder)?;
        let types = |values: &[Value]| values.iter().map(|v| self.body.ty(*v).clone()).collect::<Vec<Type>>();
        if types(&state) == types(&next) {
            self.body.inst_mut(last).operands = next;
            self.body.inst_mut(inst).attrs.set(Key::Step, Attr::Flag);
        } else {
            // A component that forgets its message has no axes to be mapped along.
            self.body.block_mut(block).insts.truncate(before);
            self.body.retain_params(block, |v| !state.contains(&v));
        }
        self.body.block_mut(block).insts.push(last);
        self.uses = count_uses(self.body, self.root);
        Ok(())
    }
}

/// Whether every part of the state is one element, made element by element: then the reducer's code may stand in a
/// body as it is, whatever axes it is mapped along.
fn open(reducer: &Reducer) -> bool {
    let body = &reducer.body;
    let scalar = |t: &tiga_ir::TensorType| t.is_scalar();
    let plain = |inst: &Inst| {
        let data = body.inst(*inst);
        [ops::CONST, ops::YIELD].contains(&data.op) || data.op.elementwise().is_some()
    };
    reducer.step.is_none()
        && reducer.has_identity()
        && reducer.state.iter().all(|c| c.ty.is_scalar())
        && reducer.message().into_iter().all(scalar)
        && [reducer.lift, reducer.combine].iter().all(|region| body.walk(*region).iter().all(plain))
}

/// Whether a component of the message is added to one of the state, and goes nowhere else.
fn adds(reducer: &Reducer, message: usize) -> bool {
    let body = &reducer.body;
    let params = |region| body.block(body.entry(region)).params.clone();
    let (lift, combine) = (params(reducer.lift), params(reducer.combine));
    let (lifts, combines) = (count_uses(body, reducer.lift), count_uses(body, reducer.combine));
    let (lifted, combined) = (yields(reducer, reducer.lift), yields(reducer, reducer.combine));
    let Some(taken) = lift.get(message).filter(|v| lifts.get(*v) == Some(&1)) else { return false };
    let component = lifted.iter().position(|v| v == taken);
    component.is_some_and(|c| {
        let (state, other) = (combine[c], combine[reducer.state.len() + c]);
        let add = body.def(combined[c]).map(|inst| body.inst(inst)).filter(|data| data.op == ops::ADD);
        let operands = add.map(|data| data.operands.as_slice());
        combines.get(&other) == Some(&1) && (operands == Some(&[state, other]) || operands == Some(&[other, state]))
    })
}

fn yields(reducer: &Reducer, region: Region) -> &[Value] {
    let block = reducer.body.block(reducer.body.entry(region));
    let last = block.insts.last().expect("verified: a block ends with a terminator");
    &reducer.body.inst(*last).operands
}

/// The code of a region of an open reducer on other values; what it yields.
fn expand(
    reducer: &Reducer,
    region: Region,
    args: &[Value],
    builder: &mut Builder<'_>,
) -> Result<Vec<Value>, TypeError> {
    let body = &reducer.body;
    let block = body.block(body.entry(region));
    let mut values: IndexMap<Value, Value> = block.params.iter().copied().zip(args.iter().copied()).collect();
    for inst in &block.insts {
        let data = body.inst(*inst);
        let operands: Vec<Value> = data.operands.iter().map(|v| values[v]).collect();
        if data.op == ops::YIELD {
            return Ok(operands);
        }
        values.insert(data.results[0], builder.value(data.op, &operands, data.attrs.clone())?);
    }
    Ok(Vec::new())
}
