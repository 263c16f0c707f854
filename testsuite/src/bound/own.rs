//! Reducers beside the plain ones: their values by the left fold, without error where no tree can show.
//!
//! A row of one message, and any row of a reducer without the law of associativity, is folded alike in both modes; of
//! the others nothing is known but the value, unless all of it is integers.

use super::{Bounded, Field};
use indexmap::IndexMap;
use tiga_abi::{DType, Symbol};
use tiga_ir::interp::{Tensor, run_reducer};
use tiga_ir::{Reducer, Region};

/// The results of one row: `messages` holds the components of each, with `map` leading axes; `extents` are those of
/// the reducer, `outs` the shapes of its results.
///
/// # Panics
/// If the reducer cannot be run on them: they come from a verified program.
pub fn own(
    reducer: &Reducer,
    extents: &IndexMap<Symbol, i64>,
    map: usize,
    messages: &[Vec<Field>],
    outs: &[Vec<usize>],
) -> Vec<Field> {
    let Some(first) = messages.first() else {
        let empty = |(shape, empty): (&Vec<usize>, &tiga_ir::Scalar)| Field {
            elems: vec![Bounded::exact(*empty); shape.iter().product()],
            shape: shape.clone(),
        };
        return outs.iter().zip(&reducer.empty).map(empty).collect();
    };
    let count: usize = first[0].shape[..map].iter().product();
    let mut results: Vec<Vec<Bounded>> = vec![Vec::new(); outs.len()];
    for index in 0..count {
        let run = |region: Region, args: Vec<Tensor>| {
            run_reducer(reducer, region, extents, args).expect("a verified reducer runs on its messages")
        };
        let part = |message: &Vec<Field>| {
            let types = reducer.message();
            message.iter().zip(types).map(|(field, ty)| at(field, ty.dtype, map, index)).collect::<Vec<Tensor>>()
        };
        let mut state = run(reducer.lift, part(first));
        for message in &messages[1..] {
            state = match reducer.step {
                Some(step) => run(step, [state, part(message)].concat()),
                None => {
                    let lifted = run(reducer.lift, part(message));
                    run(reducer.combine, [state, lifted].concat())
                }
            };
        }
        let exact = messages.iter().flatten().flat_map(|f| &f.elems).all(|e| e.bound == 0.0);
        let whole = reducer.state.iter().all(|c| !c.ty.dtype.is_float());
        let alike = exact && (messages.len() == 1 || !reducer.laws.associative || whole);
        for (result, value) in results.iter_mut().zip(run(reducer.finalize, state)) {
            let bounded = |e: &tiga_ir::Scalar| if alike { Bounded::exact(*e) } else { Bounded::unknown(*e) };
            result.extend(value.elems().iter().map(bounded));
        }
    }
    results.into_iter().zip(outs).map(|(elems, shape)| Field { elems, shape: shape.clone() }).collect()
}

/// The part of a field at one index of its leading axes.
fn at(field: &Field, dtype: DType, map: usize, index: usize) -> Tensor {
    let shape = field.shape[map..].to_vec();
    let size: usize = shape.iter().product();
    let elems: Vec<tiga_ir::Scalar> = field.elems[index * size..(index + 1) * size].iter().map(|e| e.value).collect();
    Tensor::new(dtype, shape, elems).expect("as many elements as the shape says")
}
