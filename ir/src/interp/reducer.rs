//! A reducer alone: its regions on values that no program gives it.

use super::Options;
use super::error::{InterpError, Place};
use super::machine::{Frame, Machine};
use super::sizes::Sizes;
use super::value::Tensor;
use crate::{Module, Reducer, Region};
use indexmap::IndexMap;
use tiga_abi::Symbol;

/// Runs one region of a verified reducer, whose extents have these values; what it yields.
///
/// # Errors
/// Arguments of other shapes than the region takes, and the bounds of [`Options`].
pub fn run_reducer(
    reducer: &Reducer,
    region: Region,
    extents: &IndexMap<Symbol, i64>,
    args: Vec<Tensor>,
) -> Result<Vec<Tensor>, InterpError> {
    let (module, options) = (Module::new(), Options::default());
    let machine = Machine::new(&module, &options);
    let mut sizes = Sizes::default();
    for (symbol, value) in extents {
        sizes.bind(symbol, *value, Place::Bound)?;
    }
    machine.run_tensors(&mut Frame::new(&reducer.body, sizes), region, args)
}
