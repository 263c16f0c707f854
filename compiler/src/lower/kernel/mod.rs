//! Loops → kernel: places every axis. Rows become units, the last feature axis becomes lanes, the others become
//! loops around the fold; what stays are scalars, vectors, addresses and blocks.
//!
//! A value is generated where it is needed, at the indices it is needed at ([`emit`]); so nothing is stored
//! that the loops level does not store, and a score without features is computed once an edge.

mod access;
mod across;
mod ahead;
mod dense;
mod emit;
mod fold;
mod halves;
mod join;
mod rearrange;
mod scan;
mod schedule;
mod space;
mod tiles;
mod unify;

use super::LowerError;
use emit::Emit;
pub use halves::expand as expand_halves;
pub use schedule::Schedule;
use std::collections::BTreeSet;
use tiga_abi::{DType, Poly, Symbol};
use tiga_ir::{Acc, Attr, Block, Cmp, Func, Guard, Key, Level, Module, SymKind, Type, Value};
pub use unify::{Differ, unify};

/// What a kernel is made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelOptions {
    /// Bytes of a vector register.
    pub simd_bytes: u32,
    /// Feature extents to specialise for: `F=16`.
    pub specialize: Vec<(Symbol, i64)>,
}

/// The kernels of one loops function: first match wins, the last one always matches.
#[derive(Clone, Debug)]
pub struct KernelSet {
    /// The loops function.
    pub source: Symbol,
    /// Variants in order of choice.
    pub variants: Vec<Func>,
}

/// A kernel, and how it was arranged.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The kernel.
    pub kernel: Func,
    /// Its arrangement.
    pub schedule: Schedule,
}

/// Lowers every loops function: its variants in order of choice.
///
/// # Errors
/// A construct that the kernel level cannot express yet.
pub fn lower(module: &Module, options: &KernelOptions) -> Result<Vec<Variant>, LowerError> {
    let mut variants = Vec::new();
    for func in module.funcs.values().filter(|f| f.level == Level::Loops) {
        variants.extend(lower_func(module, func, options)?);
    }
    Ok(variants)
}

/// All variants of one function.
///
/// # Errors
/// As [`lower`].
pub fn lower_func(module: &Module, func: &Func, options: &KernelOptions) -> Result<Vec<Variant>, LowerError> {
    let general = lower_variant(module, func, options.simd_bytes, ANY, Guard::always())?;
    // For an extent of nothing in it, a special one would be the same again.
    let dims = extents(func);
    let special: Vec<_> = options.specialize.iter().filter(|(dim, _)| dims.contains(dim)).cloned().collect();
    let mut variants = Vec::new();
    for (suffix, guard) in guards(func, &special) {
        variants.push(lower_variant(module, func, options.simd_bytes, &suffix, guard)?);
    }
    variants.push(general);
    drop_unused(&mut variants);
    Ok(variants)
}

/// What the kernel for all extents is called.
const ANY: &str = "any";

/// Suffixes and guards of the variants before the one for all extents: each specialisation, then none, split by the
/// rows of the accumulator table as far as it does not decide them. The kernel for `F == 16` and fewer than 64 features
/// of a message ends in `.F.16.lt64`: what a dot parts is a dimension and its extent, so different guards have
/// different suffixes.
fn guards(func: &Func, specialize: &[(Symbol, i64)]) -> Vec<(String, Guard)> {
    let is_dim = |s: &Symbol| func.symbols.get(s) == Some(&SymKind::Dim);
    let chosen: BTreeSet<_> = specialize.iter().filter(|(s, _)| is_dim(s)).collect();
    // In the order of the options, each once.
    let mut waiting = chosen;
    let specialised = specialize.iter().filter(|one| waiting.remove(one)).map(Some).collect::<Vec<_>>();
    let rows = accumulators(func).map(|acc| acc.rows).unwrap_or_default();
    let mut out = Vec::new();
    for chosen in specialised.into_iter().chain([None]) {
        let known = |s: &Symbol| chosen.filter(|(c, _)| c == s).map(|(_, v)| Poly::constant(*v));
        let terms = chosen.map(|(s, v)| (Poly::symbol(s.clone()), Cmp::Eq, *v));
        let stem = chosen.map_or(String::new(), |(s, v)| format!("{s}.{v}"));
        let decided = rows.iter().all(|row| row.width.substitute(&known).as_constant().is_some());
        for row in rows.iter().filter(|_| !decided) {
            let dot = if stem.is_empty() { "" } else { "." };
            let name = format!("{stem}{dot}{}{}", word(row.cmp), row.bound);
            let guard =
                Guard { terms: terms.clone().into_iter().chain([(row.width.clone(), row.cmp, row.bound)]).collect() };
            out.push((name, guard));
        }
        if chosen.is_some() {
            out.push((stem, Guard { terms: terms.into_iter().collect() }));
        }
    }
    out
}

/// A comparison in a kernel's name.
fn word(cmp: Cmp) -> &'static str {
    match cmp {
        Cmp::Eq => "eq",
        Cmp::Lt => "lt",
        Cmp::Ge => "ge",
    }
}

/// The accumulator table of the function's first reduction that has one.
fn accumulators(func: &Func) -> Option<Acc> {
    let insts = func.body.walk(func.region);
    let mut tables = insts.iter().filter_map(|i| func.body.inst(*i).attrs.shape().map(|s| s.acc.clone()));
    tables.find(|acc| !acc.rows.is_empty())
}

fn lower_variant(
    module: &Module,
    func: &Func,
    simd_bytes: u32,
    suffix: &str,
    guard: Guard,
) -> Result<Variant, LowerError> {
    let mut kernel = Func::new(format!("{}.{suffix}", func.name), Level::Kernel);
    kernel.symbols = func.symbols.clone();
    kernel.loc = func.loc.clone();
    kernel.of = Some(func.name.clone());
    kernel.guard = guard;
    let entry = kernel.body.entry(kernel.region);
    declare(func, &mut kernel, entry);
    let mut names = BTreeSet::new();
    let names_of = kernel.params().iter().filter_map(|v| kernel.body.value(*v).name.clone());
    if let Some(name) = names_of.into_iter().find(|name| !names.insert(name.clone())) {
        return Err(LowerError::Taken { name, loc: func.loc.clone() });
    }
    let mut emit = Emit::new(module, func, kernel, simd_bytes);
    emit.function()?;
    Ok(emit.finish())
}

/// The parts of a relation that a kernel may need, as parameters named `<relation>.<part>`.
const PARTS: [(&str, DType); 6] = [
    ("row_ptr", DType::I64),
    ("col", DType::I32),
    ("perm", DType::I64),
    ("long_rows", DType::I64),
    ("leaf_base", DType::I64),
    ("leaf_row", DType::I64),
];

/// Declares every parameter that may be needed: sizes, arrays, scratch, units.
fn declare(func: &Func, kernel: &mut Func, entry: Block) {
    let i64_type = Type::scalar(DType::I64);
    for (symbol, kind) in &func.symbols {
        if !matches!(kind, SymKind::Bound(_)) {
            kernel.body.add_param(entry, i64_type.clone(), Some(symbol.clone()));
        }
    }
    for param in func.params() {
        let data = func.body.value(*param);
        let name = data.name.as_deref().unwrap_or_default();
        match &data.ty {
            Type::Buffer(t) => {
                kernel.body.add_param(entry, Type::Ptr(t.dtype), data.name.clone());
            }
            Type::Rel(rel) => {
                for (part, dtype) in PARTS.into_iter().filter(|(p, _)| *p != "perm" || rel.kind.numbered()) {
                    kernel.body.add_param(entry, Type::Ptr(dtype), Some(format!("{name}.{part}").into()));
                }
            }
            _ => {}
        }
    }
    kernel.body.add_param(entry, Type::Ptr(DType::I64), Some("scratch".into()));
    for unit in ["unit_begin", "unit_end"] {
        kernel.body.add_param(entry, i64_type.clone(), Some(unit.into()));
    }
}

/// The symbols of what a loops function goes through and computes: the same for all targets.
fn extents(func: &Func) -> BTreeSet<Symbol> {
    let body = &func.body;
    let mut all: BTreeSet<Symbol> = BTreeSet::new();
    let mut of = |value: &Value| {
        let dims = match body.ty(*value) {
            Type::Buffer(tensor) | Type::Tensor(tensor) => &tensor.dims,
            _ => return,
        };
        all.extend(dims.iter().flat_map(Poly::symbols));
    };
    func.params().iter().for_each(&mut of);
    for inst in body.walk(func.region) {
        body.inst(inst).results.iter().for_each(&mut of);
    }
    let insts = body.walk(func.region).into_iter().map(|inst| &body.inst(inst).attrs);
    let sizes = insts.filter_map(|attrs| attrs.dims()).flat_map(|dims| dims.extents());
    all.extend(sizes.flat_map(|extent| extent.symbols()));
    all
}

/// Drops parameters that no variant reads; the two units always stay. So all variants take the same arguments.
fn drop_unused(variants: &mut [Variant]) {
    let mut used: BTreeSet<Symbol> = ["unit_begin".into(), "unit_end".into()].into();
    for Variant { kernel, .. } in variants.iter() {
        let params: BTreeSet<Value> = kernel.params().iter().copied().collect();
        for inst in kernel.body.walk(kernel.region) {
            let data = kernel.body.inst(inst);
            let arguments = data.targets.iter().flat_map(|(_, args)| args);
            let read = data.operands.iter().chain(arguments).filter(|v| params.contains(v));
            used.extend(read.filter_map(|v| kernel.body.value(*v).name.clone()));
        }
    }
    for Variant { kernel, .. } in variants {
        let entry = kernel.body.entry(kernel.region);
        let named: Vec<(Value, Option<Symbol>)> =
            kernel.params().iter().map(|v| (*v, kernel.body.value(*v).name.clone())).collect();
        let keep: BTreeSet<Value> =
            named.into_iter().filter(|(_, n)| n.as_ref().is_some_and(|n| used.contains(n))).map(|(v, _)| v).collect();
        kernel.body.retain_params(entry, |v| keep.contains(&v));
    }
}

/// The value of a typed attribute that the verifier guarantees.
fn required<T: Clone>(value: Option<&T>, key: Key) -> T {
    value.cloned().unwrap_or_else(|| panic!("verified: the attribute `{}` is there", key.name()))
}

/// `key(n)`.
fn int(key: Key, value: i64) -> tiga_ir::Attrs {
    tiga_ir::Attrs::new().with(key, Attr::Int(value))
}
