//! Writes checked programs as functions of the domain level.
//!
//! Functions are inlined, sets and dimensions of what is inlined are substituted, tuples and records are taken
//! apart. On a checked program only [`Limits`] can be missed; whatever the IR refuses is a bug of the checker.

mod control;
mod expr;
mod limits;
mod message;
mod reducer;
mod tensor;

pub(crate) use limits::{EmitError, Limits};

use super::check::{MessageBody, ReducerBody};
use super::hir::{Body, Entity, LocalId, Pattern};
use super::items::Table;
use super::ty::{Substitution, Ty};
use std::cell::RefCell;
use std::collections::BTreeMap;
use tiga_abi::DType;
use tiga_ir::{Attrs, Builder, Func, Level, Module, Type, Value, ops};
use tiga_source::{Loc, Sources, Span};

/// The checked bodies of a file, by item number.
#[derive(Default)]
pub(crate) struct Bodies {
    pub(crate) constants: Vec<Option<Body>>,
    pub(crate) functions: Vec<Option<Body>>,
    pub(crate) messages: Vec<Option<MessageBody>>,
    pub(crate) reducers: Vec<Option<ReducerBody>>,
    pub(crate) programs: Vec<Option<Body>>,
}

type Emit<T> = Result<T, EmitError>;

/// A value of any type, taken apart.
#[derive(Clone, Debug)]
enum Val {
    One(Value),
    Many(Vec<Val>),
}

impl Val {
    /// All IR values in it, in order.
    fn flatten(&self) -> Vec<Value> {
        match self {
            Val::One(value) => vec![*value],
            Val::Many(all) => all.iter().flat_map(Val::flatten).collect(),
        }
    }
}

/// What every function of a file is written with.
#[derive(Clone, Copy)]
pub(crate) struct Emitter<'a> {
    pub(crate) table: &'a Table<'a>,
    pub(crate) bodies: &'a Bodies,
    pub(crate) sources: &'a Sources,
    pub(crate) limits: &'a Limits,
    pub(crate) places: &'a Places,
    /// Writes `f32` in place of `f16` and `bf16`: laws are tried without their rounding.
    pub(crate) widened: bool,
}

/// What stands at each place that the IR names: the shortest expression that something was written for.
#[derive(Debug, Default)]
pub(crate) struct Places(RefCell<BTreeMap<Loc, Span>>);

impl Places {
    fn note(&self, loc: Loc, span: Span) {
        let mut places = self.0.borrow_mut();
        let known = places.entry(loc).or_insert(span);
        if span.end - span.start < known.end - known.start {
            *known = span;
        }
    }

    pub(crate) fn into_map(self) -> BTreeMap<Loc, Span> {
        self.0.into_inner()
    }
}

/// One body being written: its names have values, its symbols mean something.
struct Frame<'a> {
    emitter: Emitter<'a>,
    body: &'a Body,
    map: Substitution,
    locals: Vec<Option<Val>>,
    /// The positions that it may ask for.
    positions: Vec<(Entity, Value)>,
}

impl<'a> Emitter<'a> {
    /// The place of an expression, which is remembered.
    fn place(&self, span: Span) -> Loc {
        let loc = self.sources.loc(span);
        self.places.note(loc.clone(), span);
        loc
    }

    /// A program as a function.
    ///
    /// # Errors
    /// Inlining made too much of it; or the checker let something pass that the IR refuses.
    pub(crate) fn program(self, index: usize, module: &Module) -> Emit<Func> {
        let item = &self.table.programs[index];
        let signature = &item.signature;
        let mut func = Func::new(signature.name.as_str(), Level::Domain);
        func.loc = self.sources.loc(item.item.span);
        self.places.note(func.loc.clone(), signature.span);
        func.symbols = signature.generics.iter().map(|(name, g)| (name.clone(), g.kind.clone())).collect();
        let Some(body) = &self.bodies.programs[index] else {
            return Ok(func);
        };
        let entry = func.body.entry(func.region);
        let mut frame = Frame::new(self, body, Substitution::new());
        for (i, param) in signature.params.iter().enumerate() {
            if let Some(ty) = ir_type(&param.ty, &[]) {
                let value = func.body.add_param(entry, ty, Some(param.name.clone()));
                frame.locals[i] = Some(Val::One(value));
            }
        }
        func.results = results(&signature.result, &item.ast.results);
        let mut builder = Builder::new(module, &mut func.body, entry);
        let value = frame.expr(&mut builder, &body.expr)?;
        builder.loc = self.place(body.expr.span);
        builder.op(ops::RETURN, &value.flatten(), Attrs::new())?;
        Ok(func)
    }
}

/// Named results with their types.
fn results(ty: &Ty, names: &[tiga_syntax::ast::Param]) -> Vec<(tiga_abi::Symbol, Type)> {
    let types = match ty {
        Ty::Record(all) => all.iter().map(|(_, ty)| ty.clone()).collect(),
        one => vec![one.clone()],
    };
    let one = |(name, ty): (&tiga_syntax::ast::Param, Ty)| Some((name.name.text.as_str().into(), ir_type(&ty, &[])?));
    names.iter().zip(types).filter_map(one).collect()
}

/// The IR type of what is one value.
fn ir_type(ty: &Ty, decided: &[DType]) -> Option<Type> {
    match ty {
        Ty::Tensor(t) => Some(Type::Tensor(t.lower(decided, &Substitution::new()))),
        Ty::Graph(g) => Some(Type::Rel(g.lower())),
        _ => None,
    }
}

impl<'a> Frame<'a> {
    fn new(emitter: Emitter<'a>, body: &'a Body, map: Substitution) -> Self {
        Frame { emitter, body, map, locals: vec![None; body.locals.len()], positions: Vec::new() }
    }

    fn bind(&mut self, b: &mut Builder<'_>, id: LocalId, value: Val) {
        if let Val::One(v) = value
            && b.body.value(v).name.is_none()
        {
            b.body.set_name(v, Some(self.body.locals[id.0].name.as_str().into()));
        }
        self.locals[id.0] = Some(value);
    }

    fn bind_pattern(&mut self, b: &mut Builder<'_>, pattern: &Pattern, value: Val) {
        match (pattern, value) {
            (Pattern::One(id), value) => self.bind(b, *id, value),
            (Pattern::Tuple(patterns), Val::Many(values)) => {
                patterns.iter().zip(values).for_each(|(p, v)| self.bind_pattern(b, p, v));
            }
            (Pattern::Tuple(_), Val::One(_)) => {}
        }
    }

    /// The IR type of a tensor type, in terms of the function being written.
    fn tensor(&self, ty: &Ty) -> Option<tiga_ir::TensorType> {
        match ty {
            Ty::Tensor(t) => Some(self.emitter.widen(t.lower(&self.body.decided, &self.map))),
            _ => None,
        }
    }

    fn position(&self, entity: Entity) -> Option<Value> {
        self.positions.iter().find(|(of, _)| *of == entity).map(|(_, value)| *value)
    }

    fn dtype(&self, elem: super::infer::Elem) -> DType {
        self.emitter.widen(tiga_ir::TensorType::scalar(super::ty::decide(elem, &self.body.decided))).dtype
    }
}
