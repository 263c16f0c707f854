//! Reducers of the language that are written in it, as reducers of the IR.

use super::emit::{Emitter, Limits, Places};
use super::{SemaOptions, Table, bodies, declared_reducers};
use crate::builtin::PRELUDE;
use std::sync::LazyLock;
use tiga_abi::{DType, Symbol};
use tiga_ir::{Module, Reducer};
use tiga_source::Sources;

/// The element types that `real` of the prelude may be.
const REAL: [DType; 2] = [DType::F32, DType::F64];

static MODULES: LazyLock<[Vec<Reducer>; 2]> = LazyLock::new(|| REAL.map(compile));

fn compile(real: DType) -> Vec<Reducer> {
    let mut sources = Sources::new();
    let file = sources.add("prelude.tg", PRELUDE.to_owned()).expect("the prelude is short");
    let parsed = tiga_syntax::parse(file, PRELUDE);
    let mut errors = parsed.errors;
    let options = SemaOptions { set: [("real".to_owned(), real)].into() };
    let table = Table::new(&parsed.module, &options, &mut errors);
    let bodies = bodies(&table, &mut errors);
    let (limits, places) = (Limits::default(), Places::default());
    let emitter = Emitter { table: &table, bodies: &bodies, sources: &sources, limits: &limits, places: &places };
    let reducers = declared_reducers(emitter, &Module::new()).expect("the prelude keeps its laws");
    assert!(errors.is_empty(), "the prelude has no errors");
    reducers
}

/// Reducers of the language that are written in it, where `real` is `f32` or `f64`, by their names in the IR.
pub fn prelude_reducers(real: DType) -> Vec<Reducer> {
    let mut module = Module::new();
    for reducer in &MODULES[0] {
        add(&mut module, &reducer.name, speaks_of_real(reducer).then_some(real));
    }
    module.reducers.into_values().collect()
}

/// Whether a message of a reducer as written holds a `real`.
pub(super) fn speaks_of_real(reducer: &Reducer) -> bool {
    reducer.message().iter().any(|t| is_real(t.dtype))
}

/// The names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    MODULES[0].iter().map(|r| &*r.name)
}

/// A reducer as written, where `real` is `f32`.
pub(super) fn reducer(name: &str) -> Option<&'static Reducer> {
    MODULES[0].iter().find(|r| *r.name == *name)
}

/// Whether an element type of a reducer as written stands for `real`.
pub(super) fn is_real(dtype: DType) -> bool {
    dtype == DType::F32
}

/// The name of a reducer in the IR, with what `real` is if it speaks of it.
pub(super) fn symbol(name: &str, real: Option<DType>) -> Symbol {
    real.map_or_else(|| name.into(), |real| format!("{name}.{real}").into())
}

/// Adds a reducer to a module that may have it already.
pub(super) fn add(module: &mut Module, name: &str, real: Option<DType>) {
    let index = REAL.iter().position(|d| Some(*d) == real).unwrap_or(0);
    let reducer = MODULES[index].iter().find(|r| *r.name == *name).expect("checked: the prelude has it");
    let symbol = symbol(name, real);
    module.reducers.entry(symbol.clone()).or_insert_with(|| Reducer { name: symbol, ..reducer.clone() });
}
