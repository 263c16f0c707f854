//! Prints modules.

use crate::{Block, Body, Func, Guard, Inst, Module, Reducer, Region, SymKind, Symbols, TensorType, Value};
use indexmap::IndexMap;
use std::collections::BTreeMap;
use std::fmt::{self, Display, Write};
use tiga_source::Loc;

/// The whole module: reducers, then functions.
pub fn print_module(module: &Module) -> String {
    let mut out = String::new();
    for reducer in module.reducers.values() {
        print_reducer(&mut out, reducer).expect("writing to a string cannot fail");
    }
    for func in module.funcs.values() {
        write_func(&mut out, func).expect("writing to a string cannot fail");
    }
    out
}

/// One function.
pub fn print_func(func: &Func) -> String {
    let mut out = String::new();
    write_func(&mut out, func).expect("writing to a string cannot fail");
    out
}

fn join<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
}

fn print_loc(loc: &Loc) -> String {
    if loc.is_known() { format!(" loc(\"{}\":{}:{})", loc.file(), loc.line(), loc.column()) } else { String::new() }
}

fn print_symbols(symbols: &Symbols) -> String {
    if symbols.is_empty() {
        return String::new();
    }
    let one = |(name, kind): (&tiga_abi::Symbol, &SymKind)| match kind {
        SymKind::Set => format!("set {name}"),
        SymKind::Edges => format!("edges {name}"),
        SymKind::Dim => format!("dim {name}"),
        SymKind::Bound(size) => format!("bound {name} = \"{size}\""),
    };
    format!("<{}>", join(symbols.iter().map(one)))
}

fn write_func(out: &mut String, func: &Func) -> fmt::Result {
    let names = Names::new(&func.body, &[func.region]);
    write!(out, "{} @{}{}", func.level, func.name, print_symbols(&func.symbols))?;
    let entry = func.body.entry(func.region);
    write!(out, "({})", names.params(&func.body, entry))?;
    if !func.results.is_empty() {
        write!(out, " -> ({})", join(func.results.iter().map(|(name, ty)| format!("{name}: {ty}"))))?;
    }
    if let Some(source) = &func.of {
        write!(out, " of(@{source})")?;
    }
    if func.guard != Guard::always() {
        write!(out, " guard({})", func.guard)?;
    }
    if func.scratch != tiga_abi::SizeExpr::Const(0) {
        write!(out, " scratch(\"{}\")", func.scratch)?;
    }
    out.push_str(" {\n");
    write_region(out, &func.body, &names, func.region, 1)?;
    writeln!(out, "}}{}\n", print_loc(&func.loc))
}

fn print_reducer(out: &mut String, reducer: &Reducer) -> fmt::Result {
    let component = |c: &crate::StateComponent| match c.identity {
        Some(identity) => format!("{}: {} = {identity}", c.name, c.ty),
        None => format!("{}: {}", c.name, c.ty),
    };
    write!(out, "reducer @{}{}", reducer.name, print_symbols(&reducer.symbols))?;
    write!(out, " state({})", join(reducer.state.iter().map(component)))?;
    let out_type = |(ty, empty): (&TensorType, &crate::Scalar)| format!("{ty} = {empty}");
    write!(out, " -> ({})", join(reducer.outs.iter().zip(&reducer.empty).map(out_type)))?;
    let laws = [(reducer.laws.associative, "associative"), (reducer.laws.commutative, "commutative")];
    write!(out, " laws({})", join(laws.iter().filter(|(holds, _)| *holds).map(|(_, name)| name)))?;
    out.push_str(" {\n");
    let regions: Vec<Region> = reducer.regions().map(|(_, region)| region).collect();
    let names = Names::new(&reducer.body, &regions);
    for (name, region) in reducer.regions() {
        let entry = reducer.body.entry(region);
        writeln!(out, "  {name} ({}) {{", names.params(&reducer.body, entry))?;
        write_region(out, &reducer.body, &names, region, 2)?;
        out.push_str("  }\n");
    }
    writeln!(out, "}}{}\n", print_loc(&reducer.loc))
}

fn write_region(out: &mut String, body: &Body, names: &Names, region: Region, depth: usize) -> fmt::Result {
    for (i, block) in body.region(region).blocks.iter().enumerate() {
        if i > 0 {
            let params = names.params(body, *block);
            writeln!(out, "{:w$}^{}({params}):", "", names.block(*block), w = 2 * (depth - 1))?;
        }
        for inst in &body.block(*block).insts {
            write_inst(out, body, names, *inst, depth)?;
        }
    }
    Ok(())
}

fn write_inst(out: &mut String, body: &Body, names: &Names, inst: Inst, depth: usize) -> fmt::Result {
    let data = body.inst(inst);
    write!(out, "{:w$}", "", w = 2 * depth)?;
    write_head(out, body, names, inst)?;
    for region in &data.regions {
        let entry = body.entry(*region);
        if body.block(entry).params.is_empty() {
            out.push_str(" {\n");
        } else {
            writeln!(out, " ({}) {{", names.params(body, entry))?;
        }
        write_region(out, body, names, *region, depth + 1)?;
        write!(out, "{:w$}}}", "", w = 2 * depth)?;
    }
    if !data.results.is_empty() {
        write!(out, " : {}", join(data.results.iter().map(|v| body.ty(*v))))?;
    }
    writeln!(out, "{}", print_loc(&data.loc))
}

/// An instruction up to its regions.
fn write_head(out: &mut String, body: &Body, names: &Names, inst: Inst) -> fmt::Result {
    let data = body.inst(inst);
    if !data.results.is_empty() {
        write!(out, "{} = ", join(data.results.iter().map(|v| names.value(*v))))?;
    }
    out.push_str(data.op.name());
    if !data.operands.is_empty() {
        write!(out, " {}", join(data.operands.iter().map(|v| names.value(*v))))?;
    }
    for (key, attr) in data.attrs.iter() {
        match attr {
            crate::Attr::Flag => write!(out, " {}", key.name())?,
            _ => write!(out, " {}({attr})", key.name())?,
        }
    }
    if !data.targets.is_empty() {
        let target = |(block, args): &(Block, Vec<Value>)| match args.as_slice() {
            [] => format!("^{}", names.block(*block)),
            _ => format!("^{}({})", names.block(*block), join(args.iter().map(|v| names.value(*v)))),
        };
        write!(out, " {}", join(data.targets.iter().map(target)))?;
    }
    Ok(())
}

/// Printed names: given ones made unique, the others numbered in printing order.
pub(crate) struct Names {
    values: IndexMap<Value, String>,
    blocks: IndexMap<Block, usize>,
    taken: BTreeMap<String, usize>,
    next: usize,
}

impl Names {
    pub(crate) fn new(body: &Body, regions: &[Region]) -> Self {
        let mut names = Names { values: IndexMap::new(), blocks: IndexMap::new(), taken: BTreeMap::new(), next: 0 };
        for region in regions {
            names.region(body, *region);
        }
        names
    }

    fn region(&mut self, body: &Body, region: Region) {
        for block in &body.region(region).blocks {
            let number = self.blocks.len();
            self.blocks.insert(*block, number);
            for param in &body.block(*block).params {
                self.define(body, *param);
            }
            for inst in &body.block(*block).insts {
                for result in &body.inst(*inst).results {
                    self.define(body, *result);
                }
                for nested in &body.inst(*inst).regions {
                    self.region(body, *nested);
                }
            }
        }
    }

    fn define(&mut self, body: &Body, value: Value) {
        let name = match &body.value(value).name {
            Some(name) => self.unique(name),
            None => {
                self.next += 1;
                (self.next - 1).to_string()
            }
        };
        self.values.insert(value, name);
    }

    fn unique(&mut self, name: &str) -> String {
        let mut candidate = name.to_owned();
        while let Some(count) = self.taken.get_mut(&candidate) {
            *count += 1;
            candidate = format!("{name}.{count}");
        }
        self.taken.insert(candidate.clone(), 0);
        candidate
    }

    /// An instruction as it is printed, without its regions.
    pub(crate) fn inst(&self, body: &Body, inst: Inst) -> String {
        let mut out = String::new();
        write_head(&mut out, body, self, inst).expect("writing to a string cannot fail");
        out
    }

    /// The number of a block; one that stands nowhere has none.
    pub(crate) fn block(&self, block: Block) -> String {
        self.blocks.get(&block).map_or_else(|| format!("undefined.{}", block.as_u32()), usize::to_string)
    }

    pub(crate) fn value(&self, value: Value) -> String {
        // A use of a value that stands nowhere is printed so that the verifier's message can point at it.
        self.values.get(&value).map_or_else(|| format!("%undefined.{}", value.as_u32()), |n| format!("%{n}"))
    }

    fn params(&self, body: &Body, block: Block) -> String {
        join(body.block(block).params.iter().map(|v| format!("{}: {}", self.value(*v), body.ty(*v))))
    }
}
