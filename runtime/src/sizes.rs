//! Sizes unified from shapes. Nothing here allocates but the table itself, and errors.

use crate::{Origin, RuntimeError};
use tiga_abi::{Poly, SizeError};
use tiga_bundle::{Program, Type};

/// Where a size was seen, by numbers; [`Place::origin`] says it in names.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// A count of a graph.
    Graph { parameter: usize, what: &'static str },
    /// An extent of an array. Results are numbered after parameters.
    Axis { array: usize, axis: usize },
    /// Given by the caller.
    Given,
}

impl Place {
    /// The same in names.
    pub(crate) fn origin(self, program: &Program) -> Origin {
        match self {
            Place::Graph { parameter, what } => Origin::Graph { what, parameter: name(program, parameter) },
            Place::Axis { array, axis } => Origin::Axis { axis, parameter: name(program, array) },
            Place::Given => Origin::Given,
        }
    }
}

fn name(program: &Program, number: usize) -> String {
    program.params.iter().chain(&program.results).nth(number).map_or_else(String::new, |param| param.name.clone())
}

/// Values of a program's sizes, in their order, each with the place that fixed it.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    values: Vec<Option<(i64, Place)>>,
    /// Extents that are not one symbol, checked once all symbols are known: an array, its axis, the value.
    compound: Vec<(usize, usize, i64)>,
}

impl Sizes {
    /// None is known; there is room for all.
    pub(crate) fn new(program: &Program) -> Self {
        let arrays = program.params.iter().chain(&program.results);
        let axes = arrays.map(|param| match &param.ty {
            Type::Tensor { shape, .. } => shape.len(),
            Type::Graph { .. } => 0,
        });
        Self { values: vec![None; program.symbols.len()], compound: Vec::with_capacity(axes.sum()) }
    }

    /// None is known again.
    pub(crate) fn clear(&mut self) {
        self.values.fill(None);
        self.compound.clear();
    }

    /// The value of a size, by its name.
    pub(crate) fn get(&self, program: &Program, size: &str) -> Option<i64> {
        self.of(position(program, size)?).map(|(value, _)| value)
    }

    /// The value of a size by its number, and what fixed it.
    pub(crate) fn of(&self, number: usize) -> Option<(i64, Place)> {
        self.values.get(number).copied().flatten()
    }

    /// Says that an extent has a value.
    pub(crate) fn unify(
        &mut self,
        program: &Program,
        extent: &Poly,
        value: i64,
        place: Place,
    ) -> Result<(), RuntimeError> {
        match extent.as_symbol() {
            Some(symbol) => self.fix(program, symbol, value, place),
            None if value < 0 => {
                Err(RuntimeError::Negative { symbol: extent.to_string(), value, origin: place.origin(program) })
            }
            None => {
                if let Place::Axis { array, axis } = place {
                    self.compound.push((array, axis, value));
                }
                Ok(())
            }
        }
    }

    /// Says that a size has a value.
    pub(crate) fn fix(
        &mut self,
        program: &Program,
        symbol: &str,
        value: i64,
        place: Place,
    ) -> Result<(), RuntimeError> {
        if value < 0 {
            return Err(RuntimeError::Negative { symbol: symbol.to_owned(), value, origin: place.origin(program) });
        }
        let Some(number) = position(program, symbol) else { return Err(RuntimeError::Unbound(symbol.to_owned())) };
        match self.values[number] {
            Some((known, _)) if known == value => Ok(()),
            Some((known, first)) => {
                Err(conflict(symbol, (known, first.origin(program)), (value, place.origin(program))))
            }
            None => {
                self.values[number] = Some((value, place));
                Ok(())
            }
        }
    }

    /// The value of an extent.
    ///
    /// # Errors
    /// [`RuntimeError::Unbound`] names a size in it without value.
    pub(crate) fn eval(&self, program: &Program, extent: &Poly) -> Result<i64, RuntimeError> {
        extent.eval(&|size| self.get(program, size)).map_err(|error| match error {
            SizeError::Unbound(size) => RuntimeError::Unbound(size),
            other => other.into(),
        })
    }

    /// Checks the extents that were put off.
    pub(crate) fn finish(&self, program: &Program) -> Result<(), RuntimeError> {
        for &(array, axis, value) in &self.compound {
            let param = program.params.iter().chain(&program.results).nth(array);
            let Some(Type::Tensor { shape, .. }) = param.map(|param| &param.ty) else { continue };
            let computed = self.eval(program, &shape[axis])?;
            if computed != value {
                let second = Place::Axis { array, axis }.origin(program);
                return Err(conflict(&shape[axis].to_string(), (computed, Origin::Others), (value, second)));
            }
        }
        Ok(())
    }
}

fn position(program: &Program, size: &str) -> Option<usize> {
    program.symbols.iter().position(|symbol| *symbol.name == *size)
}

fn conflict(
    symbol: &str,
    (first, first_origin): (i64, Origin),
    (second, second_origin): (i64, Origin),
) -> RuntimeError {
    RuntimeError::Conflict { symbol: symbol.to_owned(), first, first_origin, second, second_origin }
}
