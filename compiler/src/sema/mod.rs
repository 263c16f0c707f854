//! Analysis: a file's tree to typed trees, and those to the domain level of the IR.
//!
//! ```text
//! ast ──items──▶ signatures ──check──▶ hir ──emit──▶ tiga_ir::Module
//! ```
//!
//! - **items** reads names and signatures; a name means one thing in a file, and a user's name hides a function of
//!   the language. **check** types each body once, generic in its sets and dimensions. **emit** runs only if no
//!   mistake was found: it inlines functions and constants and writes one `domain` function a program.
//! - **Literals** take the element type they meet: an integer literal may become any number, a literal with a point
//!   or an exponent (and `inf`, `nan`) `f32` or `f64`. What nothing decides is `i64`, or `f32` where only a float
//!   will do. `f64(0.1)` is the literal itself in `f64`, not a conversion.
//! - **Broadcasting**: sets match by name, features align at the end, and a missing axis is repeated; an extent of 1
//!   is not stretched.
//! - **Axes** of `axis:` are those of the written type from 0, or from −1 at the end, so 0 is the set of a field.
//! - **Arguments** by name come first, the others fill the remaining parameters in order; a message's graph is its
//!   first argument without a name.
//! - `fill(N, v)`, `fill([N, 16], v)` and `fill(16, v)` repeat a scalar. A dimension in an expression is its value,
//!   an `i64`. Several results of a program are a record, which a tuple pattern takes apart.
//! - Inside a message, only what works on one edge or row is allowed: no reduction over a set, no `if`, no loop, no
//!   graph.

mod check;
mod emit;
mod error;
mod hir;
mod infer;
mod items;
mod laws;
mod order;
mod prelude;
mod resolve;
mod signature;
mod ty;

pub use check::function_names;
pub use error::SemaError;
pub use prelude::{prelude_reducers, written_reducers};

use crate::builtin;
use check::Checker;
use emit::{Bodies, EmitError, Emitter, Limits, Places};
use items::Table;
use signature::Generics;
use std::collections::BTreeMap;
use tiga_abi::{DType, Symbol};
use tiga_ir::{Module, Reducer, SymKind, Type};
use tiga_source::{Diagnostic, Loc, Severity, Sources, Span};
use tiga_syntax::ast;

/// What analysis is asked for.
#[derive(Clone, Debug, Default)]
pub struct SemaOptions {
    /// Element types of aliases: `real` → `f64` replaces `type real = f32`.
    pub set: BTreeMap<String, DType>,
}

/// What analysis finds.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// One domain function a program, callees first; empty if there are errors.
    pub ir: Module,
    /// The programs in the order of the file; those with errors in their signature too.
    pub programs: Vec<ProgramInfo>,
    /// Mistakes, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
    /// What stands at each place that the IR names.
    pub places: BTreeMap<Loc, Span>,
}

/// What a user of a program sees.
#[derive(Clone, Debug, PartialEq)]
pub struct ProgramInfo {
    /// Its name.
    pub name: String,
    /// Its doc comment, lines joined.
    pub doc: String,
    /// Sizes, in order of first use.
    pub symbols: Vec<SymbolInfo>,
    /// Inputs in order.
    pub params: Vec<ParamInfo>,
    /// Results in order.
    pub results: Vec<ParamInfo>,
}

/// A size of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct SymbolInfo {
    /// The symbol in types.
    pub name: Symbol,
    /// What it counts.
    pub kind: SymKind,
    /// Where it comes from, for messages: ``set `N` of `g: graph<N>` ``.
    pub origin: String,
}

/// A parameter or result of a program.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamInfo {
    /// Its name.
    pub name: Symbol,
    /// Its doc comment, lines joined.
    pub doc: String,
    /// Its type.
    pub ty: Type,
}

impl Analysis {
    /// Whether a mistake was found.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|d| d.severity == Severity::Error)
    }
}

/// Analyses a file. Items that the parser had to repair are known by their signature only.
pub fn analyse(module: &ast::Module, sources: &Sources, options: &SemaOptions) -> Analysis {
    let mut errors = Vec::new();
    let table = Table::new(module, options, &mut errors);
    let bodies = bodies(&table, &mut errors);
    let order = order::check(&table, &bodies, &mut errors);
    let programs = table.programs.iter().map(program_info).collect();
    let mut ir = Module::new();
    let places = Places::default();
    let broken = module.items.iter().any(|item| item.recovered);
    if errors.is_empty() && !broken {
        let emitter = Emitter {
            table: &table,
            bodies: &bodies,
            sources,
            limits: &Limits::default(),
            places: &places,
            widened: false,
        };
        if let Err(diagnostic) = emit_all(emitter, &order, &mut ir) {
            errors.push(*diagnostic);
        }
    }
    if !errors.is_empty() {
        ir = Module::new();
    }
    errors.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
    errors.dedup();
    Analysis { ir, programs, diagnostics: errors, places: places.into_map() }
}

/// Checks every body.
fn bodies(table: &Table<'_>, errors: &mut Vec<Diagnostic>) -> Bodies {
    let none = Generics::new();
    let mut out = Bodies::default();
    for constant in &table.constants {
        out.constants.push(Some(Checker::constant(table, &none, constant, errors)));
    }
    for f in &table.functions {
        let s = &f.signature;
        let body = (!f.item.recovered).then(|| Checker::body(table, s, &f.ast.body, &[f.ast.result.span], errors));
        out.functions.push(body);
    }
    for r in &table.reducers {
        let body = if r.callable.item.recovered { None } else { Checker::reducer(table, r, errors) };
        out.reducers.push(body);
    }
    for m in &table.messages {
        let body = if m.item.recovered { None } else { Checker::message(table, m, errors) };
        out.messages.push(body);
    }
    for p in &table.programs {
        let s = &p.signature;
        let declared: Vec<Span> = p.ast.results.iter().map(|r| r.ty.span).collect();
        let body = (!p.item.recovered).then(|| Checker::body(table, s, &p.ast.body, &declared, errors));
        out.programs.push(body);
    }
    out
}

/// Writes the reducers that are used and the programs, callees first.
fn emit_all(emitter: Emitter<'_>, order: &[usize], ir: &mut Module) -> Result<(), Box<Diagnostic>> {
    let bodies = emitter.bodies;
    let plain = bodies.functions.iter().chain(&bodies.programs).flatten();
    let plain = plain.flat_map(|body| body.reducers.iter().map(move |r| (r, body)));
    let messages = bodies.messages.iter().flatten();
    let of_edges = messages.clone().flat_map(|m| m.reducers.iter().map(move |r| (r, &m.edge)));
    let inside = messages.flat_map(|m| m.edge.reducers.iter().map(move |r| (r, &m.edge)));
    let declared = declared_reducers(emitter, ir)?;
    let limits = Limits::default();
    let tried = declared_reducers(Emitter { limits: &limits, widened: true, ..emitter }, ir)?;
    for (item, reducer) in emitter.table.reducers.iter().zip(&tried) {
        laws::check(reducer, item)?;
    }
    for (reducer, body) in plain.chain(inside).chain(of_edges) {
        match reducer {
            hir::ReducerUse::Builtin(reducer, elem) => reducer.add_to(ir, ty::decide(*elem, &body.decided)),
            hir::ReducerUse::Accumulator(reducer, elem) => {
                reducer.add_to(ir, ty::decide(*elem, &body.decided).accumulator());
            }
            hir::ReducerUse::Prelude(name, element) => {
                prelude::add(ir, name, element.map(|elem| ty::decide(elem, &body.decided)));
            }
            hir::ReducerUse::Top(k, elem) => builtin::add_top(ir, *k, ty::decide(*elem, &body.decided)),
            hir::ReducerUse::Declared(index) => {
                let reducer = &declared[*index];
                ir.reducers.entry(reducer.name.clone()).or_insert_with(|| reducer.clone());
            }
        }
    }
    for index in order {
        let signature = &emitter.table.programs[*index].signature;
        let func = emitter.program(*index, ir).map_err(|e| Box::new(not_emitted(e, signature)))?;
        ir.add(func);
    }
    Ok(())
}

/// The reducers of a file.
fn declared_reducers(emitter: Emitter<'_>, module: &Module) -> Result<Vec<Reducer>, Box<Diagnostic>> {
    let mut out = Vec::new();
    for (item, body) in emitter.table.reducers.iter().zip(&emitter.bodies.reducers) {
        let body = body.as_ref().expect("a file with errors is not emitted");
        let signature = &item.callable.signature;
        out.push(emitter.reducer(item, body, module).map_err(|e| Box::new(not_emitted(e, signature)))?);
    }
    Ok(out)
}

/// Why a checked item has no code.
fn not_emitted(error: EmitError, item: &signature::Signature) -> Diagnostic {
    match error {
        EmitError::Type(error) => SemaError::Internal { detail: error.to_string() }.at(item.span),
        EmitError::NotConstant(span) => SemaError::EmptyNotConstant.at(span).label("known only when a program runs"),
        EmitError::Limit(span, what) => SemaError::Expansion { name: item.name.clone(), what }
            .at(item.span)
            .label("too much code")
            .also(span, "while writing this")
            .help("each call is written out: repeat with `loop`, or make several programs"),
    }
}

fn program_info(program: &items::Callable<'_, ast::Program>) -> ProgramInfo {
    let signature = &program.signature;
    let ir_type = |ty: &ty::Ty| match ty {
        ty::Ty::Tensor(t) => Some(Type::Tensor(t.lower(&[], &ty::Substitution::new()))),
        ty::Ty::Graph(g) => Some(Type::Rel(g.lower())),
        _ => None,
    };
    let param = |name: &str, docs: &[String], ty: &ty::Ty| {
        Some(ParamInfo { name: name.into(), doc: docs.join("\n"), ty: ir_type(ty)? })
    };
    let results = match &signature.result {
        ty::Ty::Record(all) => all.iter().map(|(_, ty)| ty.clone()).collect(),
        one => vec![one.clone()],
    };
    let symbol = |(name, g): (&Symbol, &signature::Generic)| SymbolInfo {
        name: name.clone(),
        kind: g.kind.clone(),
        origin: g.origin.clone(),
    };
    ProgramInfo {
        name: signature.name.clone(),
        doc: program.item.docs.join("\n"),
        symbols: signature.generics.iter().map(symbol).collect(),
        params: signature.params.iter().filter_map(|p| param(&p.name, &p.docs, &p.ty)).collect(),
        results: program
            .ast
            .results
            .iter()
            .zip(&results)
            .filter_map(|(r, ty)| param(&r.name.text, &r.docs, ty))
            .collect(),
    }
}
