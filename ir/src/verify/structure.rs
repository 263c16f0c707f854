//! The law book of every body, whatever its level.
//!
//! - A block ends with one terminator and has none before; a region of a function's own blocks ends with `return`,
//!   a nested one with `yield`. Only kernels have more than one block in a region.
//! - An op stands on its levels, with the regions and targets its definition asks for; its results have the types
//!   that its definition infers.
//! - A use is dominated by its definition, which also stands before it in the text. Nothing stands twice.
//! - A jump goes to a block of its own region, not the entry, with arguments of the types of the block's parameters;
//!   every block can be reached.
//! - Symbols are declared and of the kind their place asks for; parameters and results have names, each once.
//! - A reducer's regions take and yield messages, states and results, and see nothing else.

use super::dominance::Dominance;
use super::{At, Checker};
use crate::{Block, Effect, Func, Inst, Level, Reducer, Region, TensorType, Type, Value, ops};
use indexmap::{IndexMap, IndexSet};
use tiga_abi::DType;

/// A law of every body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, thiserror::Error)]
pub enum Rule {
    /// A block without instructions, or whose last one goes nowhere.
    #[error("a block ends with a terminator")]
    MissingTerminator,
    /// A terminator before the end of its block.
    #[error("a terminator is the last instruction of its block")]
    EarlyTerminator,
    /// `return` in a nested region, `yield` outside of one.
    #[error("a function ends with `return`, a nested region with `yield`")]
    WrongTerminator,
    /// Several blocks in a region that is not a kernel's.
    #[error("only a kernel has more than one block")]
    SeveralBlocks,
    /// An op that its function's level does not have.
    #[error("an op stands on the levels its definition names")]
    WrongLevel,
    /// Too few or too many regions.
    #[error("an op has as many regions as its definition asks for")]
    RegionCount,
    /// Too few or too many blocks to jump to.
    #[error("an op has as many targets as its definition asks for")]
    TargetCount,
    /// Operands, attributes or regions that the op's type rule refuses.
    #[error("operands, attributes and regions satisfy the op's type rule")]
    IllTyped,
    /// Results with other types than the op's type rule gives.
    #[error("results have the types that the op's type rule gives")]
    ResultTypes,
    /// A use that some way reaches without its definition.
    #[error("a definition dominates its uses")]
    UndominatedUse,
    /// A use outside of the regions around its definition, or before it in the text.
    #[error("a definition stands before its uses, in a region around them")]
    NotInScope,
    /// An instruction, block parameter or region that stands in two places, or whose owner does not know it.
    #[error("everything stands in one place")]
    StandsTwice,
    /// Arguments that do not fit the parameters of the block.
    #[error("a jump's arguments have the types of the block's parameters")]
    BranchArguments,
    /// A jump out of its region, or to its entry.
    #[error("a jump goes to a block of its region other than the entry")]
    ForeignTarget,
    /// A block that nothing jumps to.
    #[error("every block can be reached")]
    UnreachableBlock,
    /// A symbol that the function does not declare, or declares too late.
    #[error("symbols are declared before they are used")]
    UndeclaredSymbol,
    /// A dimension in the place of a set, or the other way round.
    #[error("a symbol has the kind that its place in a type asks for")]
    SymbolKind,
    /// A parameter without a name, or a name given twice.
    #[error("parameters and results have names, each its own")]
    Names,
    /// `return` with other types than the function declares.
    #[error("a function returns the types it declares")]
    ReturnTypes,
    /// A region of a reducer with other parameters or yields than its types demand.
    #[error("a reducer's regions take and yield messages, states and results")]
    ReducerRegion,
    /// A constant of another element type than what it stands for.
    #[error("identities and the values of an empty row have the element types of states and results")]
    ReducerConstant,
}

/// Checks a function.
pub(super) fn func(checker: &mut Checker<'_>, func: &Func) {
    names(checker, func);
    checker.head_symbols(func);
    checker.region_symbols(&func.symbols, func.region);
    let levels = |level: Level| move |op: &crate::Op| op.levels().contains(&level);
    Walk::new(checker, Some(func), &levels(func.level)).root(func.region);
}

/// Checks a reducer. Its code runs on both levels that reduce.
pub(super) fn reducer(checker: &mut Checker<'_>, reducer: &Reducer) {
    let admits = |op: &crate::Op| [Level::Domain, Level::Loops].iter().all(|l| op.levels().contains(l));
    for (_, region) in reducer.regions() {
        checker.region_symbols(&reducer.symbols, region);
        Walk::new(checker, None, &admits).root(region);
    }
    let states: Vec<TensorType> = reducer.state.iter().map(|c| c.ty.clone()).collect();
    for ty in states.iter().chain(&reducer.outs) {
        checker.tensor_symbols(At::Owner, &reducer.symbols, ty);
    }
    let params = |region| checker.body.block(checker.body.entry(region)).params.clone();
    let message: Vec<TensorType> = reducer.message().into_iter().cloned().collect();
    for (name, region) in reducer.regions() {
        let (takes, yields) = match name {
            "lift" => (None, &states),
            "step" => (Some([states.as_slice(), &message].concat()), &states),
            "combine" => (Some([states.as_slice(), &states].concat()), &states),
            _ => (Some(states.clone()), &reducer.outs),
        };
        reducer_region(checker, name, region, (&params(region), takes.as_deref()), yields);
    }
    let identities = reducer.state.iter().filter_map(|c| Some((c.ty.dtype, c.identity?.dtype())));
    let empties = reducer.outs.iter().zip(&reducer.empty).map(|(t, e)| (t.dtype, e.dtype()));
    let constants: Vec<(DType, DType)> = identities.chain(empties).collect();
    if reducer.outs.len() != reducer.empty.len() || constants.iter().any(|(expected, found)| expected != found) {
        checker.report(At::Owner, Rule::ReducerConstant, "");
    }
}

/// Parameters (`None`: any tensors without a set) and yields of one region.
fn reducer_region(
    checker: &mut Checker<'_>,
    name: &str,
    region: Region,
    (params, expected): (&[Value], Option<&[TensorType]>),
    yields: &[TensorType],
) {
    let body = checker.body;
    let types = |values: &[Value]| values.iter().map(|v| body.ty(*v).clone()).collect::<Vec<Type>>();
    let tensors = |types: &[TensorType]| types.iter().cloned().map(Type::from).collect::<Vec<Type>>();
    let small = |ty: &Type| ty.as_tensor().is_some_and(|t| t.set.is_none());
    let found = types(params);
    let fits = expected.map_or(found.iter().all(small), |expected| found == tensors(expected));
    if !fits {
        checker.report(At::Owner, Rule::ReducerRegion, format!("parameters of {name}: {}", list(&found)));
    }
    let last = body.block(body.entry(region)).insts.last();
    let yielded = last.map(|inst| types(&body.inst(*inst).operands)).unwrap_or_default();
    if yielded != tensors(yields) {
        checker.report(At::Owner, Rule::ReducerRegion, format!("{name} yields: {}", list(&yielded)));
    }
}

fn list(types: &[Type]) -> String {
    types.iter().map(Type::to_string).collect::<Vec<_>>().join(", ")
}

fn names(checker: &mut Checker<'_>, func: &Func) {
    let mut taken = IndexSet::new();
    for param in func.params() {
        match &func.body.value(*param).name {
            None => checker.report(At::Value(*param), Rule::Names, "without a name"),
            Some(name) if !taken.insert(name.clone()) => checker.report(At::Value(*param), Rule::Names, "given twice"),
            Some(_) => {}
        }
    }
    let mut results = IndexSet::new();
    for (name, _) in &func.results {
        if !results.insert(name) {
            checker.report(At::Owner, Rule::Names, format!("the result {name} twice"));
        }
    }
}

/// A walk over one body in printing order.
struct Walk<'w, 'a> {
    checker: &'w mut Checker<'a>,
    func: Option<&'w Func>,
    admits: &'w dyn Fn(&crate::Op) -> bool,
    /// Values in scope, with the block that defines each.
    scope: IndexMap<Value, Block>,
    /// The regions around, with the block in each.
    around: Vec<(Dominance, Block)>,
    insts: IndexSet<Inst>,
    regions: IndexSet<Region>,
}

impl<'w, 'a> Walk<'w, 'a> {
    fn new(checker: &'w mut Checker<'a>, func: Option<&'w Func>, admits: &'w dyn Fn(&crate::Op) -> bool) -> Self {
        let (scope, insts, regions) = (IndexMap::new(), IndexSet::new(), IndexSet::new());
        Walk { checker, func, admits, scope, around: Vec::new(), insts, regions }
    }

    fn root(&mut self, region: Region) {
        self.regions.insert(region);
        self.region(region);
    }

    fn region(&mut self, region: Region) {
        let body = self.checker.body;
        let blocks = &body.region(region).blocks;
        let kernel = self.func.is_some_and(|f| f.level == Level::Kernel) && self.around.is_empty();
        if blocks.len() > 1 && !kernel {
            self.checker.report(At::Block(blocks[1]), Rule::SeveralBlocks, "");
        }
        let visible = self.scope.len();
        self.around.push((Dominance::new(body, region), blocks[0]));
        for block in blocks {
            self.block(*block);
        }
        self.around.pop();
        self.scope.truncate(visible);
    }

    fn block(&mut self, block: Block) {
        let body = self.checker.body;
        let (dominance, here) = self.around.last_mut().expect("a block stands in a region");
        *here = block;
        // Where a region has one block, another one is the broken law, not that it is never reached.
        let kernel = self.func.is_some_and(|f| f.level == Level::Kernel);
        if kernel && !dominance.reaches(block) {
            self.checker.report(At::Block(block), Rule::UnreachableBlock, "");
        }
        let params = &body.block(block).params;
        for (i, param) in params.iter().enumerate() {
            self.define(*param, crate::ValueDef::Param(block, i as u32), block);
        }
        let insts = &body.block(block).insts;
        for (i, inst) in insts.iter().enumerate() {
            if !self.insts.insert(*inst) {
                self.checker.report(At::Inst(*inst), Rule::StandsTwice, "");
                continue;
            }
            let terminator = body.inst(*inst).op.effect() == Effect::Terminator;
            if terminator && i + 1 < insts.len() {
                self.checker.report(At::Inst(*inst), Rule::EarlyTerminator, "");
            }
            self.inst(*inst, block);
        }
        if !insts.last().is_some_and(|inst| body.inst(*inst).op.effect() == Effect::Terminator) {
            self.checker.report(At::Block(block), Rule::MissingTerminator, "");
        }
    }

    fn define(&mut self, value: Value, def: crate::ValueDef, block: Block) {
        let twice = self.scope.insert(value, block).is_some();
        if twice || self.checker.body.value(value).def != def {
            self.checker.report(At::Value(value), Rule::StandsTwice, "");
        }
    }

    fn inst(&mut self, inst: Inst, block: Block) {
        let body = self.checker.body;
        let data = body.inst(inst);
        for value in data.operands.iter().chain(data.targets.iter().flat_map(|(_, args)| args)) {
            self.use_of(*value, inst);
        }
        if !(self.admits)(&data.op) {
            self.checker.report(At::Inst(inst), Rule::WrongLevel, "");
        }
        let (least, most) = data.op.regions();
        let counted = (least..=most).contains(&data.regions.len());
        if !counted {
            self.checker.report(At::Inst(inst), Rule::RegionCount, format!("{} regions", data.regions.len()));
        }
        for region in &data.regions {
            if self.regions.insert(*region) {
                self.region(*region);
            } else {
                self.checker.report(At::Inst(inst), Rule::StandsTwice, "its region");
            }
        }
        self.targets(inst);
        self.terminator(inst);
        if counted {
            self.types(inst);
        }
        for (i, result) in data.results.iter().enumerate() {
            self.define(*result, crate::ValueDef::Result(inst, i as u32), block);
        }
    }

    fn types(&mut self, inst: Inst) {
        let body = self.checker.body;
        let data = body.inst(inst);
        match data.op.infer(self.checker.view(inst)) {
            Err(error) => self.checker.report(At::Inst(inst), Rule::IllTyped, error.to_string()),
            Ok(inferred) => {
                let declared: Vec<Type> = data.results.iter().map(|v| body.ty(*v).clone()).collect();
                if declared != inferred {
                    let detail = format!("{}, declared {}", list(&inferred), list(&declared));
                    self.checker.report(At::Inst(inst), Rule::ResultTypes, detail);
                }
            }
        }
    }

    fn use_of(&mut self, value: Value, inst: Inst) {
        let Some(home) = self.scope.get(&value).copied() else {
            self.checker.report(At::Inst(inst), Rule::NotInScope, self.checker.names.value(value));
            return;
        };
        let around = self.around.iter().find(|(dominance, _)| dominance.contains(home));
        if around.is_some_and(|(dominance, here)| !dominance.dominates(home, *here)) {
            self.checker.report(At::Inst(inst), Rule::UndominatedUse, self.checker.names.value(value));
        }
    }

    fn targets(&mut self, inst: Inst) {
        let body = self.checker.body;
        let data = body.inst(inst);
        if data.targets.len() != data.op.targets() {
            self.checker.report(At::Inst(inst), Rule::TargetCount, format!("{} targets", data.targets.len()));
        }
        for (target, args) in &data.targets {
            let (dominance, _) = self.around.last().expect("an instruction stands in a region");
            if !dominance.contains(*target) || *target == dominance.entry() {
                self.checker.report(At::Inst(inst), Rule::ForeignTarget, self.checker.names.block(*target));
                continue;
            }
            let types = |values: &[Value]| values.iter().map(|v| body.ty(*v).clone()).collect::<Vec<Type>>();
            let (found, expected) = (types(args), types(&body.block(*target).params));
            if found != expected {
                let detail = format!("{}, expected {}", list(&found), list(&expected));
                self.checker.report(At::Inst(inst), Rule::BranchArguments, detail);
            }
        }
    }

    fn terminator(&mut self, inst: Inst) {
        let body = self.checker.body;
        let data = body.inst(inst);
        let outermost = self.around.len() == 1 && self.func.is_some();
        if (data.op == ops::RETURN && !outermost) || (data.op == ops::YIELD && outermost) {
            self.checker.report(At::Inst(inst), Rule::WrongTerminator, "");
        }
        if let Some(func) = self.func.filter(|_| data.op == ops::RETURN) {
            let returned: Vec<Type> = data.operands.iter().map(|v| body.ty(*v).clone()).collect();
            let declared: Vec<Type> = func.results.iter().map(|(_, ty)| ty.clone()).collect();
            if returned != declared {
                let detail = format!("{}, declared {}", list(&returned), list(&declared));
                self.checker.report(At::Inst(inst), Rule::ReturnTypes, detail);
            }
        }
    }
}
