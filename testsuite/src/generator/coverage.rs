//! Which operators stood where, on which element types.

use super::moved::{IN_REGIONS, MOVING};
use super::pattern::{PATTERNS, patterns};
use std::collections::BTreeMap;
use std::fmt;
use tiga_abi::{DType, Symbol};
use tiga_ir::{Attrs, Body, Func, InstData, Module, Op, Region, Target, ops};
use tigac::builtin::BuiltinReducer;

/// Where an operator stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Site {
    /// On whole fields and tensors.
    Field,
    /// In the edge region of a message.
    Edge,
    /// In its node region.
    Node,
    /// In the body or condition of a loop, or in a branch.
    Control,
}

impl Site {
    /// All sites.
    pub const ALL: [Site; 4] = [Site::Field, Site::Edge, Site::Node, Site::Control];
}

/// Counts by operator or pattern, element type and site. An operator with a reducer counts as `reduce_set sum`.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<(String, DType, Site), usize>,
}

impl Coverage {
    /// Counts the instructions of a function.
    pub fn count(&mut self, module: &Module, func: &Func) {
        self.region(module, func, func.region, Site::Field);
    }

    fn region(&mut self, module: &Module, func: &Func, region: Region, site: Site) {
        let body = &func.body;
        for inst in body.region(region).blocks.iter().flat_map(|b| &body.block(*b).insts) {
            let data = body.inst(*inst);
            if data.op.elementwise().is_some() {
                self.add(data.op.name(), data.operands.last().and_then(|v| body.ty(*v).dtype()), site);
            } else {
                self.tensor_op(module, body, data, site);
            }
            for (pattern, dtype) in patterns(func, data) {
                self.add(pattern, dtype, if site == Site::Control { site } else { Site::Field });
            }
            for (i, nested) in data.regions.iter().enumerate() {
                let site = match (data.op == ops::APPLY, i) {
                    (true, 0) => Site::Edge,
                    (true, _) => Site::Node,
                    (false, _) => Site::Control,
                };
                self.region(module, func, *nested, site);
            }
        }
    }

    /// A reduction by each of its reducers and messages, a loop or branch by each value that it carries.
    fn tensor_op(&mut self, module: &Module, body: &Body, data: &InstData, site: Site) {
        let of_target = |target: &Target| match target {
            Target::Row { reducer, .. } | Target::Total { reducer } => Some(reducer.clone()),
            Target::Edge => None,
        };
        let of_edges = data.attrs.targets().into_iter().flatten().filter(|t| **t == Target::Edge).count();
        for result in &data.results[data.results.len() - of_edges..] {
            self.add("apply edge", body.ty(*result).dtype(), site);
        }
        let targets = data.attrs.targets().into_iter().flatten().filter_map(of_target);
        let names: Vec<Symbol> = targets.chain(data.attrs.reducer().cloned()).collect();
        if names.is_empty() && of_edges == 0 {
            for result in &data.results {
                self.add(data.op.name(), body.ty(*result).dtype(), site);
            }
        }
        for reducer in names.iter().filter_map(|name| module.reducers.get(name)) {
            let name = reducer.name.split('.').next().unwrap_or_default();
            // Products of halves are messages of f32.
            let message = match data.op == ops::CONTRACT {
                true => body.ty(data.operands[0]).dtype(),
                false => reducer.message().first().map(|t| t.dtype),
            };
            self.add(&format!("{} {name}", data.op.name()), message, site);
        }
    }

    fn add(&mut self, op: &str, dtype: Option<DType>, site: Site) {
        if let Some(dtype) = dtype {
            *self.counts.entry((op.to_owned(), dtype, site)).or_default() += 1;
        }
    }

    /// Adds another's counts.
    pub fn merge(&mut self, other: &Coverage) {
        for (key, count) in &other.counts {
            *self.counts.entry(key.clone()).or_default() += count;
        }
    }

    /// Every cell there must be: elementwise operators on the types they accept at every site, the others and the
    /// patterns in programs and in loops and branches.
    fn cells() -> Vec<(String, DType, Site)> {
        let (mut out, mut moved) = (Vec::new(), Vec::new());
        let mut both = |name: &str, dtype| {
            out.extend([Site::Field, Site::Control].map(|site| (name.to_owned(), dtype, site)));
        };
        for dtype in DType::ALL {
            for reducer in BuiltinReducer::ALL.into_iter().filter(|r| r.accepts(dtype)) {
                for op in ["apply", "reduce_set", "reduce_axis"] {
                    both(&format!("{op} {}", reducer.name()), dtype);
                }
            }
            ["fill", "while", "repeat", "if", "call", "apply edge"].into_iter().for_each(|op| both(op, dtype));
            MOVING.into_iter().for_each(|op| both(op.name(), dtype));
            let regions = IN_REGIONS.into_iter().flat_map(|op| [Site::Edge, Site::Node].map(|site| (op, site)));
            moved.extend(regions.map(|(op, site)| (op.name().to_owned(), dtype, site)));
            if dtype != DType::Bool {
                both("matmul", dtype);
                both("contract sum", dtype);
                if !dtype.is_half() {
                    both("scan_axis", dtype);
                }
            }
        }
        for reducer in super::own::reducers() {
            let name = reducer.name.split('.').next().unwrap_or_default();
            let dtype = reducer.message()[0].dtype;
            both(&format!("apply {name}"), dtype);
            if super::own::reduces(&reducer) {
                both(&format!("reduce_set {name}"), dtype);
                both(&format!("reduce_axis {name}"), dtype);
            }
        }
        both("iota", DType::I64);
        for (pattern, dtypes) in PATTERNS {
            dtypes.iter().for_each(|dtype| both(pattern, *dtype));
        }
        out.extend(moved);
        for dtype in DType::ALL {
            for op in super::region::elementwise().filter(|op| super::region::accepts(*op, dtype)) {
                out.extend(Site::ALL.map(|site| (op.name().to_owned(), dtype, site)));
            }
        }
        out
    }

    /// Cells that nothing filled.
    pub fn empty(&self) -> Vec<String> {
        let filled = |cell: &(String, DType, Site)| self.counts.contains_key(cell);
        Self::cells().iter().filter(|c| !filled(c)).map(|(op, d, s)| format!("{op} × {d} × {s:?}")).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<44}", "operator × site")?;
        for dtype in DType::ALL {
            write!(f, "{dtype:>9}")?;
        }
        writeln!(f)?;
        let mut rows: Vec<(String, Site)> = Self::cells().into_iter().map(|(op, _, site)| (op, site)).collect();
        rows.sort();
        rows.dedup();
        let wanted = Self::cells();
        for (op, site) in rows {
            write!(f, "{:<44}", format!("{op} {}", format!("{site:?}").to_lowercase()))?;
            for dtype in DType::ALL {
                let key = (op.clone(), dtype, site);
                match self.counts.get(&key) {
                    Some(count) => write!(f, "{count:>9}")?,
                    None if wanted.contains(&key) => write!(f, "{:>9}", "EMPTY")?,
                    None => write!(f, "{:>9}", "-")?,
                }
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Whether an elementwise op is defined on operands all of this type (a select's condition aside).
pub(super) fn defined(op: Op, dtype: DType) -> bool {
    let Some(rule) = op.elementwise() else { return false };
    let args: Vec<DType> = match op {
        op if op == ops::SELECT => vec![DType::Bool, dtype, dtype],
        _ => vec![dtype; rule.arity()],
    };
    let attrs = Attrs::new();
    op == ops::CAST || rule.result(&args, &attrs).is_some()
}
