//! What must hold before LLVM sees a kernel, because LLVM would crash instead of saying so. The law book of
//! the level is its verifier's; this is the part of it that memory safety of the compiler rests on.

use crate::{LlvmError, Malformed};
use tiga_ir::{Block, Effect, Func, Inst, Module, OpView, Type, Value};

/// The blocks that can be reached, each after those that dominate it (reverse postorder).
pub(crate) fn reachable(func: &Func) -> Vec<Block> {
    let body = &func.body;
    let successors = |block: Block| -> Vec<Block> {
        let last = body.block(block).insts.last();
        last.map_or(Vec::new(), |i| body.inst(*i).targets.iter().map(|(b, _)| *b).collect())
    };
    let entry = body.entry(func.region);
    let mut seen = std::collections::BTreeSet::from([entry]);
    let mut postorder = Vec::new();
    let mut stack = vec![(entry, successors(entry))];
    while let Some((block, rest)) = stack.last_mut() {
        match rest.pop() {
            Some(next) if seen.insert(next) => {
                let after = successors(next);
                stack.push((next, after));
            }
            Some(_) => {}
            None => {
                postorder.push(*block);
                stack.pop();
            }
        }
    }
    postorder.reverse();
    postorder
}

/// Checks the reachable blocks.
pub(crate) fn check(module: &Module, func: &Func, blocks: &[Block]) -> Result<(), LlvmError> {
    let broken = |at: String, law| LlvmError::Malformed { kernel: func.name.to_string(), at, law: Box::new(law) };
    for block in blocks {
        let at = |inst: Inst| {
            let data = func.body.inst(inst);
            format!("`{}` ({})", data.op.name(), data.loc)
        };
        check_block(func, *block).map_err(|law| broken(format!("block {block}"), law))?;
        for inst in &func.body.block(*block).insts {
            check_inst(module, func, *inst).map_err(|law| broken(at(*inst), law))?;
        }
    }
    Ok(())
}

fn check_block(func: &Func, block: Block) -> Result<(), Malformed> {
    let body = &func.body;
    let data = body.block(block);
    let is_terminator = |i: &Inst| body.inst(*i).op.effect() == Effect::Terminator;
    if !data.insts.last().is_some_and(is_terminator) || data.insts.iter().filter(|i| is_terminator(i)).count() != 1 {
        return Err(Malformed::Terminator);
    }
    data.params.iter().try_for_each(|v| check_value(func, *v))
}

fn check_inst(module: &Module, func: &Func, inst: Inst) -> Result<(), Malformed> {
    let body = &func.body;
    let data = body.inst(inst);
    if data.op.kernel().is_none() || !data.regions.is_empty() {
        return Err(Malformed::Op(data.op.name()));
    }
    let view = OpView { module, body, inst };
    if data.op == tiga_ir::ops::RETURN {
        view.arity(0).map_err(Box::new)?;
    }
    let inferred = data.op.infer(view).map_err(Box::new)?;
    if !inferred.iter().eq(data.results.iter().map(|v| body.ty(*v))) {
        return Err(Malformed::Results);
    }
    data.operands.iter().chain(&data.results).try_for_each(|v| check_value(func, *v))?;
    if data.targets.len() != data.op.targets() {
        return Err(Malformed::Target);
    }
    for (block, args) in &data.targets {
        if *block == body.entry(func.region) {
            return Err(Malformed::Target);
        }
        let params = &body.block(*block).params;
        if !params.iter().map(|v| body.ty(*v)).eq(args.iter().map(|v| body.ty(*v))) {
            return Err(Malformed::Arguments);
        }
    }
    Ok(())
}

fn check_value(func: &Func, value: Value) -> Result<(), Malformed> {
    match func.body.ty(value) {
        Type::Tensor(t) if t.is_scalar() => Ok(()),
        Type::Vector(_, 1..=64) | Type::Ptr(_) => Ok(()),
        other => Err(Malformed::ValueType(Box::new(other.clone()))),
    }
}
