//! The verifiers: a law book for the container and one for each level; a broken law is always our bug.
//!
//! [`structure`] holds for every function and reducer; a level's own laws are looked at only in functions whose
//! structure is sound, so that they may rely on it. Nothing here panics, whatever the module holds.

pub mod domain;
mod dominance;
pub mod host;
pub mod kernel;
pub mod loops;
pub mod structure;
mod symbols;

use crate::text::Names;
use crate::{Block, Body, Func, Inst, Level, Module, OpView, Region, Value};
use std::fmt;
use tiga_abi::CpuTarget;
use tiga_source::Loc;

/// What the machine that kernels are meant for has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Fused multiply-add in hardware: without it, `fma` would be a call of libm.
    pub fma: bool,
    /// Conversions of `f16` in hardware: without them, they would be calls of compiler-rt.
    pub f16c: bool,
}

impl Machine {
    /// A machine that has all of it.
    pub const FULL: Machine = Machine { fma: true, f16c: true };
}

impl From<CpuTarget> for Machine {
    /// Level 3 promises all of it, and a native build without it is refused earlier.
    fn from(target: CpuTarget) -> Self {
        match target {
            CpuTarget::X86_64V2 => Machine { fma: false, f16c: false },
            CpuTarget::X86_64V3 | CpuTarget::X86_64V4 | CpuTarget::Native => Machine::FULL,
        }
    }
}

/// A law of one of the books.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Law {
    /// Of every body.
    Structure(structure::Rule),
    /// Of domain functions.
    Domain(domain::Rule),
    /// Of host functions.
    Host(host::Rule),
    /// Of loops functions.
    Loops(loops::Rule),
    /// Of kernels.
    Kernel(kernel::Rule),
}

impl Law {
    /// The law's name, as test files write it after `expected-rule:`.
    pub fn name(self) -> String {
        match self {
            Law::Structure(rule) => format!("{rule:?}"),
            Law::Domain(rule) => format!("{rule:?}"),
            Law::Host(rule) => format!("{rule:?}"),
            Law::Loops(rule) => format!("{rule:?}"),
            Law::Kernel(rule) => format!("{rule:?}"),
        }
    }
}

/// What the law says.
impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Law::Structure(rule) => rule.fmt(f),
            Law::Domain(rule) => rule.fmt(f),
            Law::Host(rule) => rule.fmt(f),
            Law::Loops(rule) => rule.fmt(f),
            Law::Kernel(rule) => rule.fmt(f),
        }
    }
}

/// `From` a level's rule.
macro_rules! laws {
    ($($module:ident => $variant:ident),*) => {
        $(impl From<$module::Rule> for Law {
            fn from(rule: $module::Rule) -> Law {
                Law::$variant(rule)
            }
        })*
    };
}
laws!(structure => Structure, domain => Domain, host => Host, loops => Loops, kernel => Kernel);

/// A broken law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{loc}: {owner} breaks {}: {rule}; {at}{}{detail}", .rule.name(), if detail.is_empty() { "" } else { ": " })]
pub struct Violation {
    /// The function or reducer: `domain @f`, `reducer @sum`.
    pub owner: String,
    /// The instruction, block or value, as it is printed.
    pub at: String,
    /// The law.
    pub rule: Law,
    /// What was found, where the law alone does not say it.
    pub detail: String,
    /// Where it comes from.
    pub loc: Loc,
}

/// All broken laws of a module, at least one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Violations(pub Vec<Violation>);

impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, violation) in self.0.iter().enumerate() {
            write!(f, "{}{violation}", if i > 0 { "\n" } else { "" })?;
        }
        Ok(())
    }
}

/// Checks every law of every level.
///
/// # Errors
/// The broken ones, in the order of the module.
pub fn verify(module: &Module, machine: Machine) -> Result<(), Violations> {
    let mut found = Vec::new();
    for reducer in module.reducers.values() {
        let regions: Vec<Region> = reducer.regions().map(|(_, region)| region).collect();
        let owner = format!("reducer @{}", reducer.name);
        structure::reducer(
            &mut Checker::new(module, &reducer.body, &regions, owner, &reducer.loc, &mut found),
            reducer,
        );
    }
    for func in module.funcs.values() {
        let before = found.len();
        let owner = format!("{} @{}", func.level, func.name);
        let mut checker = Checker::new(module, &func.body, &[func.region], owner, &func.loc, &mut found);
        structure::func(&mut checker, func);
        if checker.found.len() == before {
            level(&mut checker, func, machine);
        }
    }
    if found.is_empty() {
        domain::calls(module, &mut found);
    }
    if found.is_empty() { Ok(()) } else { Err(Violations(found)) }
}

fn level(checker: &mut Checker<'_>, func: &Func, machine: Machine) {
    match func.level {
        Level::Domain => domain::func(checker, func),
        Level::Host => host::func(checker, func),
        Level::Loops => loops::func(checker, func),
        Level::Kernel => kernel::func(checker, func, machine),
    }
}

/// What a violation points at.
#[derive(Clone, Copy)]
enum At {
    /// The function or reducer itself.
    Owner,
    Value(Value),
    Block(Block),
    Inst(Inst),
}

/// One body under inspection.
struct Checker<'a> {
    module: &'a Module,
    body: &'a Body,
    names: Names,
    owner: String,
    loc: Loc,
    found: &'a mut Vec<Violation>,
}

impl<'a> Checker<'a> {
    fn new(
        module: &'a Module,
        body: &'a Body,
        regions: &[Region],
        owner: String,
        loc: &Loc,
        found: &'a mut Vec<Violation>,
    ) -> Self {
        Checker { module, body, names: Names::new(body, regions), owner, loc: loc.clone(), found }
    }

    fn report(&mut self, at: At, rule: impl Into<Law>, detail: impl Into<String>) {
        let (printed, loc) = match at {
            At::Owner => (self.owner.clone(), self.loc.clone()),
            At::Value(value) => {
                let def = self.body.def(value).map(|inst| self.body.inst(inst).loc.clone());
                (format!("`{}: {}`", self.names.value(value), self.body.ty(value)), def.unwrap_or(self.loc.clone()))
            }
            At::Block(block) => (format!("`^{}`", self.names.block(block)), self.loc.clone()),
            At::Inst(inst) => (format!("`{}`", self.names.inst(self.body, inst)), self.body.inst(inst).loc.clone()),
        };
        let (rule, detail) = (rule.into(), detail.into());
        self.found.push(Violation { owner: self.owner.clone(), at: printed, rule, detail, loc });
    }

    fn view(&self, inst: Inst) -> OpView<'a> {
        OpView { module: self.module, body: self.body, inst }
    }

    /// All instructions under a region with the values they define, parameters of blocks included.
    fn values(&self, region: Region) -> Vec<Value> {
        let mut out = Vec::new();
        self.collect(region, &mut out);
        out
    }

    fn collect(&self, region: Region, out: &mut Vec<Value>) {
        for block in &self.body.region(region).blocks {
            out.extend(&self.body.block(*block).params);
            for inst in &self.body.block(*block).insts {
                out.extend(&self.body.inst(*inst).results);
                for nested in &self.body.inst(*inst).regions {
                    self.collect(*nested, out);
                }
            }
        }
    }
}
