//! Reducers beside the plain ones: those that are written in the language, and some that have every shape a reducer
//! may have.

use super::writer::Writer;
use tiga_abi::DType;
use tiga_ir::{Builder, Module, Reducer, TensorType, Value, parse_module};
use tigac::sema::prelude_reducers;

/// All of them, by the name they have in a module.
pub fn reducers() -> Vec<Reducer> {
    let mut out = Vec::new();
    for real in [DType::F32, DType::F64] {
        out.extend(prelude_reducers(real));
    }
    let own: Module = parse_module("reducers.tir", include_str!("reducers.tir")).expect("the file is well-formed");
    out.extend(own.reducers.into_values());
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup_by(|a, b| a.name == b.name);
    out
}

impl Writer<'_, '_> {
    /// A reducer of these and values of a pool that are its message; `None` if there are no such values.
    pub(super) fn own_message(
        rng: &mut fastrand::Rng,
        builder: &Builder<'_>,
        pool: &[Value],
    ) -> Option<(Reducer, Vec<Value>)> {
        let all: Vec<&Reducer> = builder.module.reducers.values().filter(|r| is_own(r)).collect();
        let reducer = all[rng.usize(0..all.len())];
        let mut message: Vec<Value> = Vec::new();
        for wanted in reducer.message() {
            let ty = |v: Value| builder.body.ty(v).as_tensor().cloned();
            let fits = |v: &&Value| {
                let found: Option<Vec<TensorType>> = message.iter().copied().chain([**v]).map(ty).collect();
                let count = message.len() + 1;
                found.is_some_and(|found| begins(reducer, &found, count)) && ty(**v).is_some_and(|t| t.dtype == wanted.dtype)
            };
            let found: Vec<Value> = pool.iter().filter(fits).copied().collect();
            message.push(*found.get(rng.usize(0..found.len().max(1)))?);
        }
        Some((reducer.clone(), message))
    }
}

/// Whether types may be the first components of a message.
fn begins(reducer: &Reducer, found: &[TensorType], count: usize) -> bool {
    let wanted = reducer.message();
    if count == wanted.len() {
        return reducer.fit_message(&found.iter().collect::<Vec<_>>()).is_some();
    }
    found.iter().zip(&wanted).all(|(f, w)| f.dims.len() >= w.dims.len())
}

/// Whether a reducer is one of [`reducers`].
pub fn is_own(reducer: &Reducer) -> bool {
    let stem = reducer.name.split('.').next().unwrap_or_default();
    tigac::builtin::BuiltinReducer::named(stem).is_none()
}
