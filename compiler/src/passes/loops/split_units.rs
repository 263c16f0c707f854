//! Splits reductions into units: short rows, leaves of long rows, and the tree that joins them; blocks of a set
//! and their join. Afterwards a fold is at most one leaf, and units may be cut anywhere among workers.

use crate::lower::{LowerError, add};
use crate::passes::Pass;
use indexmap::{IndexMap, IndexSet};
use tiga_abi::{Poly, SizeExpr, Symbol};
use tiga_ir::{
    Attr, Attrs, Block, Body, Builder, Fit, Func, Inst, Key, Level, Module, Over, Reducer, Space, SymKind, TensorType,
    Transplant, Type, Value, ops,
};

/// Reductions become leaves and trees.
pub const PASS: Pass = Pass {
    name: "split_units",
    about: "splits reductions into units: short rows, leaves, the tree that joins them",
    levels: &[Level::Host, Level::Loops],
    makes: None,
    needed: true,
    run: |module, _, _| Ok(run(module)?),
};

/// Splits every loops function that needs it, and its launches.
///
/// # Errors
/// A reduction that depends on another one in the same loop; a part whose name another function has; a launch under
/// other names of the sizes that partial states depend on.
pub fn run(module: &Module) -> Result<Module, LowerError> {
    let mut out = Module { reducers: module.reducers.clone(), ..Module::new() };
    let mut splits: IndexMap<Symbol, Split> = IndexMap::new();
    for func in module.funcs.values().filter(|f| f.level != Level::Host) {
        match Splitter::find(module, func) {
            Some(splitter) => {
                let split = splitter.split()?;
                for part in &split.parts {
                    add(&mut out, part.clone())?;
                }
                splits.insert(func.name.clone(), split);
            }
            None => add(&mut out, func.clone())?,
        }
    }
    for func in module.funcs.values().filter(|f| f.level == Level::Host) {
        let host = relaunch(&out, func, &splits)?;
        add(&mut out, host)?;
    }
    Ok(out)
}

/// A function in parts, with memory for partial states between them.
struct Split {
    parts: Vec<Func>,
    /// Types of the partial states, parameters of the parts that follow the function's own.
    partials: Vec<TensorType>,
    /// The bound of their number.
    bound: (Symbol, SymKind),
    /// Whether the first part takes no partial states (short rows).
    first_is_whole: bool,
}

/// A function whose loop holds reductions of several leaves.
struct Splitter<'a> {
    module: &'a Module,
    func: &'a Func,
    main: Inst,
    reduces: Vec<Inst>,
    leaf: u64,
}

impl<'a> Splitter<'a> {
    fn find(module: &'a Module, func: &'a Func) -> Option<Self> {
        let body = &func.body;
        let insts = &body.block(body.entry(func.region)).insts;
        let main = *insts.iter().find(|inst| body.inst(**inst).op == ops::FOR)?;
        let space = body.inst(main).attrs.space()?;
        let over = match space {
            Space::Rows(_) => Over::Neighbours,
            Space::Once => Over::Range,
            _ => return None,
        };
        let block = body.block(body.entry(body.inst(main).regions[0]));
        let split = |inst: &&Inst| {
            let data = body.inst(**inst);
            data.op == ops::REDUCE
                && data.attrs.over() == Some(&over)
                && data.attrs.shape().is_some_and(|s| s.leaf.is_some())
        };
        let reduces: Vec<Inst> = block.insts.iter().filter(split).copied().collect();
        let shape = body.inst(*reduces.first()?).attrs.shape()?.clone();
        Some(Self { module, func, main, reduces, leaf: shape.leaf? })
    }

    fn over(&self) -> Over {
        *self.attrs(self.reduces[0]).over().expect("found by it")
    }

    fn attrs(&self, inst: Inst) -> &Attrs {
        &self.func.body.inst(inst).attrs
    }

    fn reducer(&self, inst: Inst) -> &'a Reducer {
        &self.module.reducers[self.attrs(inst).reducer().expect("verified: a reduce names its reducer")]
    }

    fn split(&self) -> Result<Split, LowerError> {
        let same = |i: &Inst| self.attrs(*i).shape().and_then(|s| s.leaf) == Some(self.leaf);
        if !self.reduces.iter().all(same) {
            return Err(self.unsupported("reductions with leaves of different sizes in one loop"));
        }
        let body = &self.func.body;
        if body.block(body.entry(self.func.region)).insts.first() != Some(&self.main) {
            return Err(self.unsupported("work before a loop whose reductions are split"));
        }
        let name: Symbol = format!("{}.partials", self.func.name).into();
        if self.func.symbols.contains_key(&name) {
            return Err(LowerError::Taken { name, loc: self.func.loc.clone() });
        }
        let partials = self.partials(&name);
        let rows = self.over() == Over::Neighbours;
        let leaf = SizeExpr::Const(self.leaf as i64);
        let count = if rows {
            let edges = self.relation_edges();
            let full = SizeExpr::Div(Box::new(SizeExpr::from(&edges)), Box::new(leaf));
            SizeExpr::Mul(Box::new(SizeExpr::Const(2)), Box::new(full))
        } else {
            let extent = self.attrs(self.reduces[0]).dims().expect("verified: a range has an extent").extents();
            SizeExpr::CeilDiv(Box::new(SizeExpr::from(&extent[0])), Box::new(leaf))
        };
        let bound = (name, SymKind::Bound(count));
        let mut parts = Vec::new();
        if rows {
            parts.push(self.short_rows());
        }
        parts.push(self.leaves(&partials, &bound)?);
        parts.push(self.tree(&partials, &bound)?);
        Ok(Split { parts, partials, bound, first_is_whole: rows })
    }

    fn unsupported(&self, what: &'static str) -> LowerError {
        LowerError::Unsupported { what, loc: self.func.loc.clone() }
    }

    fn relation_edges(&self) -> Poly {
        let rel = self.func.body.inst(self.reduces[0]).operands[0];
        self.func.body.ty(rel).as_rel().expect("verified: neighbours of a relation").sizes()[2].clone()
    }

    /// A partial state's memory for each component of each reduction.
    fn partials(&self, set: &Symbol) -> Vec<TensorType> {
        let mut out = Vec::new();
        for inst in &self.reduces {
            let reducer = self.reducer(*inst);
            let fit = fit(&self.func.body, *inst, reducer);
            let states = fit.all_outside(reducer.states()).into_iter();
            out.extend(states.map(|t| TensorType { set: Some(set.clone()), ..t }));
        }
        out
    }

    /// A copy of the function's head under another name, with memory for partial states.
    fn part(&self, suffix: &str, partials: &[TensorType], bound: Option<&(Symbol, SymKind)>) -> Part<'a> {
        let mut func = Func::new(format!("{}.{suffix}", self.func.name), Level::Loops);
        func.symbols = self.func.symbols.clone();
        func.symbols.extend(bound.cloned());
        func.loc = self.func.loc.clone();
        let entry = func.body.entry(func.region);
        let mut copy = Transplant::new(&self.func.body);
        for param in self.func.params() {
            let data = self.func.body.value(*param);
            let value = func.body.add_param(entry, data.ty.clone(), data.name.clone());
            copy.values.insert(*param, value);
        }
        let memory = partials.iter().enumerate().map(|(i, ty)| {
            func.body.add_param(entry, Type::Buffer(ty.clone()), Some(format!("tiga.partial{i}").into()))
        });
        Part { memory: memory.collect(), func, entry, copy }
    }

    /// The function as it was, on rows of at most one leaf.
    fn short_rows(&self) -> Func {
        let mut part = self.part("rows", &[], None);
        let insts = &self.func.body.block(self.func.body.entry(self.func.region)).insts;
        for inst in insts {
            part.copy.inst(*inst, &mut part.func.body, part.entry);
        }
        let main = part.func.body.block(part.entry).insts[0];
        let rel = part.copy.value(self.func.body.inst(self.reduces[0]).operands[0]);
        let data = part.func.body.inst_mut(main);
        data.operands = vec![rel];
        data.attrs.set(Key::Space, Attr::Space(Space::Short(self.leaf)));
        part.func
    }

    /// Instructions of the loop's block that the reductions need, in order.
    fn needed(&self) -> Result<Vec<Inst>, LowerError> {
        let body = &self.func.body;
        let block = body.block(body.entry(body.inst(self.main).regions[0]));
        let mut needed: IndexSet<Inst> = IndexSet::new();
        let mut work: Vec<Inst> = self.reduces.clone();
        while let Some(inst) = work.pop() {
            let data = body.inst(inst);
            let nested = data.regions.iter().flat_map(|r| body.walk(*r));
            for user in std::iter::once(inst).chain(nested) {
                for operand in &body.inst(user).operands {
                    match body.def(*operand).filter(|d| block.insts.contains(d)) {
                        Some(def) if self.reduces.contains(&def) => {
                            return Err(self.unsupported("a reduction that depends on another one in the same loop"));
                        }
                        Some(def) if needed.insert(def) => work.push(def),
                        _ => {}
                    }
                }
            }
        }
        Ok(block.insts.iter().copied().filter(|i| needed.contains(i)).collect())
    }

    /// One raw fold a leaf or block, stored in the partial states.
    fn leaves(&self, partials: &[TensorType], bound: &(Symbol, SymKind)) -> Result<Func, LowerError> {
        let rows = self.over() == Over::Neighbours;
        let mut part = self.part(if rows { "leaves" } else { "blocks" }, partials, Some(bound));
        let needed = self.needed()?;
        let source = &self.func.body;
        let region = part.func.body.add_region();
        let block = part.func.body.entry(region);
        let unit = part.index(block, "u");
        let outer = source.block(source.entry(source.inst(self.main).regions[0])).params.clone();
        if let Some(row) = outer.first() {
            let value = part.index(block, "d");
            part.copy.values.insert(*row, value);
        }
        for inst in needed {
            part.copy.inst(inst, &mut part.func.body, block);
        }
        let mut slot = 0;
        for inst in &self.reduces {
            let copy = part.copy.inst(*inst, &mut part.func.body, block);
            part.make_raw(copy, unit, rows, self.reducer(*inst));
            let states = part.func.body.inst(copy).results.clone();
            for state in states {
                let memory = part.memory[slot];
                part.builder(self.module, block).op(ops::STORE, &[state, memory, unit], Attrs::new())?;
                slot += 1;
            }
        }
        part.builder(self.module, block).op(ops::YIELD, &[], Attrs::new())?;
        let (operands, space) = if rows {
            let rel = part.copy.value(source.inst(self.reduces[0]).operands[0]);
            (vec![rel], Space::Leaves(self.leaf))
        } else {
            let extent = self.attrs(self.reduces[0]).dims().expect("verified: a range has an extent").extents();
            (Vec::new(), Space::Blocks(extent[0].clone(), self.leaf))
        };
        part.close(self.module, &operands, space, region)
    }

    /// The loop's block with each reduction replaced by the join of its partial states.
    fn tree(&self, partials: &[TensorType], bound: &(Symbol, SymKind)) -> Result<Func, LowerError> {
        let rows = self.over() == Over::Neighbours;
        let mut part = self.part(if rows { "tree" } else { "join" }, partials, Some(bound));
        let source = &self.func.body;
        let region = part.func.body.add_region();
        let block = part.func.body.entry(region);
        let old = source.block(source.entry(source.inst(self.main).regions[0]));
        let long = if rows { Some(part.index(block, "r")) } else { None };
        if let Some(row) = old.params.first() {
            let value = part.index(block, "d");
            part.copy.values.insert(*row, value);
        }
        let mut slot = 0;
        for inst in &old.insts {
            if !self.reduces.contains(inst) {
                part.copy.inst(*inst, &mut part.func.body, block);
                continue;
            }
            let count = self.reducer(*inst).state.len();
            let mut operands = Vec::new();
            if let Some(long) = long {
                operands.extend([part.copy.value(source.inst(*inst).operands[0]), long]);
            }
            operands.extend_from_slice(&part.memory[slot..slot + count]);
            slot += count;
            let attrs = self.attrs(*inst).clone();
            let attrs = if attrs.has(Key::Step) { without_step(&attrs) } else { attrs };
            let results = part.builder(self.module, block).op(ops::JOIN, &operands, attrs)?;
            part.copy.values.extend(source.inst(*inst).results.iter().copied().zip(results));
        }
        let (operands, space) = if rows {
            let rel = part.copy.value(source.inst(self.reduces[0]).operands[0]);
            (vec![rel], Space::Long(self.leaf))
        } else {
            (Vec::new(), Space::Once)
        };
        part.close(self.module, &operands, space, region)
    }
}

/// How a reduction uses its reducer.
fn fit(body: &Body, inst: Inst, reducer: &Reducer) -> Fit {
    ops::fit_at(reducer, body, body.inst(inst)).expect("verified: the message or state is the reducer's")
}

/// A join is told the reducer and the shape; how its leaves were folded is no longer its concern.
fn without_step(attrs: &Attrs) -> Attrs {
    attrs.iter().filter(|(k, _)| *k != Key::Step).fold(Attrs::new(), |out, (k, a)| out.with(k, a.clone()))
}

/// A part under construction.
struct Part<'a> {
    func: Func,
    entry: Block,
    copy: Transplant<'a>,
    memory: Vec<Value>,
}

impl Part<'_> {
    fn builder<'b>(&'b mut self, module: &'b Module, block: Block) -> Builder<'b> {
        let mut builder = Builder::new(module, &mut self.func.body, block);
        builder.loc = self.func.loc.clone();
        builder
    }

    fn index(&mut self, block: Block, name: &str) -> Value {
        self.func.body.add_param(block, Type::scalar(tiga_abi::DType::I64), Some(name.into()))
    }

    /// Turns a copied fold into the raw fold of one unit; its results become states.
    fn make_raw(&mut self, inst: Inst, unit: Value, rows: bool, reducer: &Reducer) {
        let body: &mut Body = &mut self.func.body;
        let fit = fit(body, inst, reducer);
        let data = body.inst_mut(inst);
        data.attrs.set(Key::Raw, Attr::Flag);
        data.attrs.set(Key::Over, Attr::Over(if rows { Over::Leaf } else { Over::Block }));
        data.operands = if rows { vec![data.operands[0], unit] } else { vec![unit] };
        body.inst_mut(inst).results.clear();
        for state in fit.all_outside(reducer.states()) {
            body.add_result(inst, state.into());
        }
    }

    fn close(
        mut self,
        module: &Module,
        operands: &[Value],
        space: Space,
        region: tiga_ir::Region,
    ) -> Result<Func, LowerError> {
        let entry = self.entry;
        let attrs = Attrs::new().with(Key::Space, Attr::Space(space));
        let mut builder = self.builder(module, entry);
        builder.push(ops::FOR, operands, attrs, vec![region], Vec::new())?;
        builder.op(ops::RETURN, &[], Attrs::new())?;
        Ok(self.func)
    }
}

/// A host function with each launch of a split function replaced by launches of its parts.
fn relaunch(module: &Module, func: &Func, splits: &IndexMap<Symbol, Split>) -> Result<Func, LowerError> {
    let mut host = func.clone();
    let blocks: Vec<Block> = {
        let regions = func.body.walk(func.region);
        let nested = regions.iter().flat_map(|i| func.body.inst(*i).regions.clone());
        std::iter::once(func.region).chain(nested).flat_map(|r| func.body.region(r).blocks.clone()).collect()
    };
    for block in blocks {
        let insts = std::mem::take(&mut host.body.block_mut(block).insts);
        for inst in insts {
            let data = host.body.inst(inst).clone();
            let split = data.attrs.callee().and_then(|name| splits.get(name)).filter(|_| data.op == ops::LAUNCH);
            let Some(split) = split else {
                host.body.block_mut(block).insts.push(inst);
                continue;
            };
            let (bound, kind) = &split.bound;
            if !same_sizes(&module.funcs[&split.parts[0].name], &host.body, &data.operands, kind) {
                let what = "a launch of a split loop under other names of its sizes";
                return Err(LowerError::Unsupported { what, loc: data.loc });
            }
            if host.symbols.insert(bound.clone(), kind.clone()).is_some_and(|old| old != *kind) {
                return Err(LowerError::Taken { name: bound.clone(), loc: data.loc });
            }
            let mut builder = Builder::new(module, &mut host.body, block);
            builder.loc = data.loc.clone();
            let mut partials = Vec::new();
            for ty in &split.partials {
                partials.push(builder.value(ops::ALLOC, &[], Attrs::new().with(Key::Dims, Attr::Dims(ty.clone())))?);
            }
            for (i, part) in split.parts.iter().enumerate() {
                let whole = i == 0 && split.first_is_whole;
                let extra: &[Value] = if whole { &[] } else { &partials };
                let attrs = Attrs::new().with(Key::Callee, Attr::Name(part.name.clone()));
                builder.op(ops::LAUNCH, &[data.operands.as_slice(), extra].concat(), attrs)?;
            }
        }
    }
    Ok(host)
}

/// Whether the sizes that a bound speaks of have the same names in the host function as in what it launches: the bound
/// is written down in both.
fn same_sizes(part: &Func, host: &Body, args: &[Value], bound: &SymKind) -> bool {
    let SymKind::Bound(size) = bound else { return true };
    let params: Vec<&Type> = part.params().iter().take(args.len()).map(|v| part.body.ty(*v)).collect();
    let args: Vec<&Type> = args.iter().map(|v| host.ty(*v)).collect();
    let map = ops::unify(&params, &args).unwrap_or_default();
    size.symbols().iter().all(|symbol| map.get(symbol).is_some_and(|given| given.as_symbol() == Some(symbol)))
}
