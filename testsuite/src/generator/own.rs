//! Reducers beside the plain ones: those that are written in the language, and some that have every shape a reducer
//! may have.

use super::writer::Writer;
use tiga_abi::{DType, Poly};
use tiga_ir::{Builder, Module, Reducer, TensorType, Value, parse_module};
use tigac::builtin::top;
use tigac::sema::prelude_reducers;

/// All of them, by the name they have in a module.
pub fn reducers() -> Vec<Reducer> {
    let mut out = Vec::new();
    for element in DType::ALL {
        out.extend(prelude_reducers(element));
    }
    for dtype in DType::ALL.into_iter().filter(|d| *d != DType::Bool) {
        let top = parse_module("top.tir", &top::text(2, dtype)).expect("the template is well-formed");
        out.extend(top.reducers.into_values());
    }
    let own: Module = parse_module("reducers.tir", include_str!("reducers.tir")).expect("the file is well-formed");
    out.extend(own.reducers.into_values());
    out.sort_by(|a, b| a.name.cmp(&b.name));
    out.dedup_by(|a, b| a.name == b.name);
    out
}

impl Writer<'_, '_> {
    /// A reducer of these and values that are its message: of a pool, or constants where that has none. `None` if no
    /// value has as many axes as the reducer.
    pub(super) fn own_message(
        rng: &mut fastrand::Rng,
        builder: &mut Builder<'_>,
        pool: &[Value],
    ) -> Option<(Reducer, Vec<Value>)> {
        let all: Vec<&Reducer> = builder.module.reducers.values().filter(|r| is_own(r)).collect();
        let reducer = all[rng.usize(0..all.len())].clone();
        let wanted: Vec<TensorType> = reducer.message().into_iter().cloned().collect();
        let own = wanted.iter().map(|t| t.dims.len()).max().unwrap_or(0);
        let dims = |b: &Builder<'_>, v: Value| b.body.ty(v).as_tensor().map(|t| t.dims.clone());
        let found: Vec<Vec<Poly>> = pool.iter().filter_map(|v| dims(builder, *v)).filter(|d| d.len() >= own).collect();
        let whole = found.get(rng.usize(0..found.len().max(1)))?;
        let mut message: Vec<Value> = Vec::new();
        for part in &wanted {
            let map = &whole[..whole.len() - own];
            let ty = TensorType::tensor(part.dtype, [map, &whole[whole.len() - part.dims.len()..]].concat());
            let same: Vec<Value> =
                pool.iter().copied().filter(|v| builder.body.ty(*v).as_tensor() == Some(&ty)).collect();
            message.push(match same.get(rng.usize(0..same.len().max(1))) {
                Some(value) => *value,
                None => Self::constant_of(rng, builder, ty),
            });
        }
        let types: Vec<TensorType> = message.iter().filter_map(|v| builder.body.ty(*v).as_tensor().cloned()).collect();
        reducer.fit_message(&types.iter().collect::<Vec<_>>())?;
        Some((reducer, message))
    }
}

/// Whether a reducer is one of [`reducers`].
pub fn is_own(reducer: &Reducer) -> bool {
    let stem = reducer.name.split('.').next().unwrap_or_default();
    tigac::builtin::BuiltinReducer::named(stem).is_none()
}

/// Whether a reducer beside the plain ones makes one value of single values, or of values and their positions.
pub(super) fn reduces(reducer: &Reducer) -> bool {
    let message = reducer.message();
    let positions = message[1..].iter().all(|t| t.dtype == DType::I64) && message.len() < 3;
    is_own(reducer) && positions && reducer.outs.len() == 1 && message.iter().all(|t| t.is_scalar())
}
