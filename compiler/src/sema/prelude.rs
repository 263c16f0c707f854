//! Reducers of the language that are written in it, as reducers of the IR.

use super::emit::{Emitter, Limits, Places};
use super::hir::Entity;
use super::infer::Domain;
use super::{SemaOptions, Table, bodies, declared_reducers};
use crate::builtin::PRELUDE;
use std::sync::OnceLock;
use tiga_abi::{DType, Symbol};
use tiga_ir::{Module, Reducer, TensorType};
use tiga_source::{Loc, Sources};

/// A reducer of the prelude.
pub(super) struct Entry {
    pub(super) reducer: Reducer,
    /// The positions that it asks for: the last values of its message.
    pub(super) positions: Vec<Entity>,
    /// Its doc comment.
    about: String,
}

impl Entry {
    /// The values of a message that an edge function gives.
    pub(super) fn values(&self) -> impl Iterator<Item = &TensorType> {
        let message = self.reducer.message();
        let given = message.len() - self.positions.len();
        message.into_iter().take(given)
    }

    /// What the element type that it is written for may be, if it is written for any.
    pub(super) fn element(&self) -> Option<Domain> {
        self.values().find_map(|t| stands_for(t.dtype))
    }
}

/// What an element type of a reducer as written stands for: `real` is written `f32`, `number` is written `i32`.
pub(super) fn stands_for(dtype: DType) -> Option<Domain> {
    match dtype {
        DType::F32 => Some(Domain::FLOAT),
        DType::I32 => Some(Domain::where_(|d| d != DType::Bool)),
        _ => None,
    }
}

/// The prelude as written, and for each element type that `number` and, if it is a float, `real` may be: made when it
/// is asked for.
fn entries(element: Option<DType>) -> &'static [Entry] {
    static MADE: [OnceLock<Vec<Entry>>; DType::ALL.len() + 1] = [const { OnceLock::new() }; DType::ALL.len() + 1];
    let index = element.and_then(|d| DType::ALL.iter().position(|e| *e == d)).map_or(0, |i| i + 1);
    MADE[index].get_or_init(|| compile(element))
}

/// What the names of element types in the prelude stand for.
fn names_for(element: DType) -> impl Iterator<Item = (String, DType)> {
    let floats = [("real", element), ("wide", element.accumulator())];
    let floats = floats.into_iter().filter(move |_| element.is_float());
    floats.chain([("number", element)]).map(|(name, dtype)| (name.to_owned(), dtype))
}

fn compile(element: Option<DType>) -> Vec<Entry> {
    let mut sources = Sources::new();
    let file = sources.add("prelude.tg", PRELUDE.to_owned()).expect("the prelude is short");
    let parsed = tiga_syntax::parse(file, PRELUDE);
    let mut errors = parsed.errors;
    let mut options = SemaOptions::default();
    options.set.extend(element.into_iter().flat_map(names_for));
    let table = Table::new(&parsed.module, &options, &mut errors);
    let bodies = bodies(&table, &mut errors);
    let (limits, places) = (Limits::default(), Places::default());
    let emitter =
        Emitter { table: &table, bodies: &bodies, sources: &sources, limits: &limits, places: &places, widened: false };
    let reducers = declared_reducers(emitter, &Module::new()).expect("the prelude has code");
    assert!(errors.is_empty(), "the prelude has no errors");
    let positions = bodies.reducers.iter().flatten().map(|body| body.positions());
    let docs = table.reducers.iter().map(|item| item.callable.item.docs.join(" "));
    let entry = |((reducer, positions), about)| Entry { reducer: without_places(reducer), positions, about };
    reducers.into_iter().zip(positions).zip(docs).map(entry).collect()
}

/// The prelude is no file of whoever compiles: what its reducers do has the place of their use.
fn without_places(mut reducer: Reducer) -> Reducer {
    reducer.body.forget_places();
    Reducer { loc: Loc::unknown(), ..reducer }
}

/// Reducers of the language that are written in it, for an element type, by their names in the IR; those that are not
/// written for one have no other.
pub fn prelude_reducers(element: DType) -> Vec<Reducer> {
    let mut module = Module::new();
    for entry in entries(None) {
        match entry.element() {
            Some(domain) if !domain.contains(element) => {}
            of => add(&mut module, &entry.reducer.name, of.map(|_| element)),
        }
    }
    module.reducers.into_values().collect()
}

/// Those of [`prelude_reducers`] by name, with what they make of a row.
pub fn written_reducers() -> impl Iterator<Item = (&'static str, &'static str)> {
    entries(None).iter().map(|entry| (&*entry.reducer.name, entry.about.as_str()))
}

/// The names of all of them.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    entries(None).iter().map(|entry| &*entry.reducer.name)
}

/// A reducer as written.
pub(super) fn reducer(name: &str) -> Option<&'static Entry> {
    entries(None).iter().find(|entry| *entry.reducer.name == *name)
}

/// Those that are also functions on fields and tensors: they reduce single values to single values. (A list, because
/// the prelude itself is checked by what asks for it.)
pub(super) const REDUCTIONS: [&str; 6] = ["logsumexp", "variance", "any", "all", "argmax", "argmin"];

/// The name of a reducer in the IR, with the element type that it is for.
pub(super) fn symbol(name: &str, element: Option<DType>) -> Symbol {
    element.map_or_else(|| name.into(), |element| format!("{name}.{element}").into())
}

/// Adds a reducer to a module that may have it already.
pub(super) fn add(module: &mut Module, name: &str, element: Option<DType>) {
    let entry =
        entries(element).iter().find(|entry| *entry.reducer.name == *name).expect("checked: the prelude has it");
    let symbol = symbol(name, element);
    module.reducers.entry(symbol.clone()).or_insert_with(|| Reducer { name: symbol, ..entry.reducer.clone() });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::{SemaOptions, analyse};

    /// A program beside the prelude makes a file of it, whose laws are tried.
    #[test]
    fn the_prelude_keeps_its_laws() {
        for element in DType::ALL.into_iter().filter(|d| *d != DType::Bool) {
            let text = format!("{PRELUDE}\nprogram p(x: f32) -> (y: f32) {{ x }}");
            let mut sources = Sources::new();
            let file = sources.add("prelude.tg", text.clone()).expect("it is short");
            let parsed = tiga_syntax::parse(file, &text);
            let mut options = SemaOptions::default();
            options.set.extend(names_for(element));
            let analysis = analyse(&parsed.module, &sources, &options);
            let shown: Vec<String> = analysis.diagnostics.iter().map(|d| d.render(&sources, false)).collect();
            assert!(parsed.errors.is_empty() && shown.is_empty(), "{element}\n{}", shown.join("\n"));
        }
    }

    #[test]
    fn reductions_are_the_reducers_of_single_values() {
        let single = |name: &&str| reducer(name).is_some_and(|entry| entry.values().count() == 1);
        assert_eq!(names().filter(single).collect::<Vec<_>>(), REDUCTIONS);
    }
}
