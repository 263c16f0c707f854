//! Sizes unified from shapes.

use crate::{Origin, RuntimeError};
use std::collections::BTreeMap;
use tiga_abi::{Poly, Symbol};

/// Values of symbols, each with the place that fixed it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    values: BTreeMap<Symbol, (i64, Origin)>,
    /// Extents that are not one symbol, checked once all symbols are known.
    compound: Vec<(Poly, i64, Origin)>,
}

impl Sizes {
    pub(crate) fn get(&self, symbol: &str) -> Option<i64> {
        self.values.get(symbol).map(|(v, _)| *v)
    }

    /// Says that an extent has a value.
    pub(crate) fn unify(&mut self, extent: &Poly, value: i64, origin: Origin) -> Result<(), RuntimeError> {
        if value < 0 {
            return Err(RuntimeError::Negative { symbol: extent.to_string(), value, origin });
        }
        let Some(symbol) = extent.as_symbol() else {
            self.compound.push((extent.clone(), value, origin));
            return Ok(());
        };
        match self.values.get(symbol) {
            Some((known, _)) if *known == value => Ok(()),
            Some((known, first)) => Err(conflict(symbol, (*known, first.clone()), (value, origin))),
            None => {
                self.values.insert(symbol.clone(), (value, origin));
                Ok(())
            }
        }
    }

    /// Checks the extents that were put off.
    pub(crate) fn finish(&self) -> Result<(), RuntimeError> {
        for (extent, value, origin) in &self.compound {
            let unbound = extent.symbols().into_iter().find(|s| self.get(s).is_none());
            if let Some(symbol) = unbound {
                return Err(RuntimeError::Unbound(symbol.to_string()));
            }
            let computed = extent.eval(&|s| self.get(s))?;
            if computed != *value {
                let first = Origin::Others;
                return Err(conflict(&extent.to_string(), (computed, first), (*value, origin.clone())));
            }
        }
        Ok(())
    }
}

fn conflict(
    symbol: &str,
    (first, first_origin): (i64, Origin),
    (second, second_origin): (i64, Origin),
) -> RuntimeError {
    RuntimeError::Conflict { symbol: symbol.to_owned(), first, first_origin, second, second_origin }
}
