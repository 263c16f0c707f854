//! What is bound to a program: by numbers, in tables that are made once and used for any number of runs.
#![allow(unsafe_code)]

use crate::array::check;
use crate::bundle::list;
use crate::sizes::{Place, Sizes};
use crate::{ArrayMut, ArrayRef, Graph, RuntimeError};
use std::ops::Range;
use tiga_abi::{DType, Poly};
use tiga_bundle::{Param, Program, Type};

/// The memory of an array that is bound: whoever holds the table holds the loan, too.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound {
    pub(crate) address: *mut u8,
    pub(crate) bytes: usize,
}
// SAFETY: the address of an array that its borrower may use from any thread.
unsafe impl Send for Bound {}
// SAFETY: as above; nobody looks behind it but kernels, in the order of their plan.
unsafe impl Sync for Bound {}

/// Graphs, arrays and sizes of one program.
#[derive(Clone, Debug)]
pub(crate) struct Bindings {
    /// By parameter.
    pub(crate) graphs: Vec<Option<Graph>>,
    /// By parameter.
    pub(crate) inputs: Vec<Option<Bound>>,
    /// By result.
    pub(crate) outputs: Vec<Option<Bound>>,
    pub(crate) sizes: Sizes,
    /// The bytes of temporaries at these sizes, once it is proven that the plan may run at them.
    pub(crate) proven: Option<u64>,
    /// Arrays by their addresses; room for all.
    ranges: Vec<Claim>,
}

/// The addresses of an array: its number, results after parameters.
type Claim = (Range<usize>, usize);

impl Bindings {
    /// Nothing is bound; there is room for all.
    pub(crate) fn new(program: &Program) -> Self {
        let (params, results) = (program.params.len(), program.results.len());
        Self {
            graphs: vec![None; params],
            inputs: vec![None; params],
            outputs: vec![None; results],
            sizes: Sizes::new(program),
            proven: None,
            ranges: Vec::with_capacity(params + results),
        }
    }

    /// Nothing is bound again.
    pub(crate) fn clear(&mut self) {
        self.graphs.fill(None);
        self.inputs.fill(None);
        self.outputs.fill(None);
        self.sizes.clear();
        self.proven = None;
    }

    fn param<'p>(&self, program: &'p Program, name: &str) -> Result<(usize, &'p Param), RuntimeError> {
        let (number, param) = find(&program.params, "input", name, program)?;
        if self.graphs[number].is_some() || self.inputs[number].is_some() {
            return Err(RuntimeError::BoundTwice(name.into()));
        }
        Ok((number, param))
    }

    pub(crate) fn graph(&mut self, program: &Program, name: &str, graph: &Graph) -> Result<(), RuntimeError> {
        let (parameter, param) = self.param(program, name)?;
        let Type::Graph { src, dst, edges } = &param.ty else {
            return Err(RuntimeError::Kind { parameter: name.into(), expected: "an array", found: "a graph" });
        };
        for (symbol, what, value) in [
            (src, "sources", graph.num_src()),
            (dst, "destinations", graph.num_dst()),
            (edges, "edges", graph.num_edges()),
        ] {
            self.sizes.fix(program, symbol, value as i64, Place::Graph { parameter, what })?;
        }
        self.graphs[parameter] = Some(graph.clone());
        Ok(())
    }

    pub(crate) fn input(&mut self, program: &Program, name: &str, array: &ArrayRef<'_>) -> Result<(), RuntimeError> {
        let (number, param) = self.param(program, name)?;
        let (dtype, shape) = tensor(param)?;
        check_array(name, dtype, shape, array.dtype, &array.shape, array.bytes)?;
        check_bools(name, array)?;
        self.unify(program, number, shape, &array.shape)?;
        // Kernels only read what the plan only reads; the verifier of templates has checked the modes.
        self.inputs[number] = Some(Bound { address: array.bytes.as_ptr().cast_mut(), bytes: array.bytes.len() });
        Ok(())
    }

    pub(crate) fn output(&mut self, program: &Program, name: &str, array: ArrayMut<'_>) -> Result<(), RuntimeError> {
        let (number, result) = find(&program.results, "result", name, program)?;
        if self.outputs[number].is_some() {
            return Err(RuntimeError::BoundTwice(name.into()));
        }
        let (dtype, shape) = tensor(result)?;
        check_array(name, dtype, shape, array.dtype, &array.shape, array.bytes)?;
        self.unify(program, program.params.len() + number, shape, &array.shape)?;
        self.outputs[number] = Some(Bound { address: array.bytes.as_mut_ptr(), bytes: array.bytes.len() });
        Ok(())
    }

    fn unify(
        &mut self,
        program: &Program,
        array: usize,
        extents: &[Poly],
        shape: &[usize],
    ) -> Result<(), RuntimeError> {
        for (axis, (extent, value)) in extents.iter().zip(shape).enumerate() {
            self.sizes.unify(program, extent, *value as i64, Place::Axis { array, axis })?;
        }
        Ok(())
    }

    /// All inputs are bound.
    pub(crate) fn check_inputs(&self, program: &Program) -> Result<(), RuntimeError> {
        let bound = |number: usize| self.inputs[number].is_some() || self.graphs[number].is_some();
        missing(&program.params, &bound)
    }

    /// All results are bound.
    pub(crate) fn check_outputs(&self, program: &Program) -> Result<(), RuntimeError> {
        missing(&program.results, &|number| self.outputs[number].is_some())
    }

    /// Results share no memory with inputs or each other. The borrow checker sees to that in Rust, nobody elsewhere.
    pub(crate) fn check_overlap(&mut self, program: &Program) -> Result<(), RuntimeError> {
        let first_result = self.inputs.len();
        self.ranges.clear();
        for (number, bound) in self.inputs.iter().chain(&self.outputs).enumerate() {
            if let Some(Bound { address, bytes }) = bound {
                self.ranges.push((address.addr()..address.addr() + bytes, number));
            }
        }
        let Some((first, second)) = first_overlap(&mut self.ranges, first_result) else { return Ok(()) };
        let name = |number| program.params.iter().chain(&program.results).nth(number).map(|param| param.name.clone());
        let [first, second] = [first, second].map(|number| name(number).unwrap_or_default());
        Err(RuntimeError::Overlap { first, second })
    }
}

/// The first pair of arrays whose addresses overlap, of which at least one is a result. Empty arrays overlap nothing.
fn first_overlap(arrays: &mut [Claim], first_result: usize) -> Option<(usize, usize)> {
    // In place: a stable sort would allocate.
    arrays.sort_unstable_by_key(|(range, number)| (range.start, range.end, *number));
    for (i, (range, number)) in arrays.iter().enumerate().filter(|(_, (range, _))| !range.is_empty()) {
        let near = arrays[i + 1..].iter().take_while(|(other, _)| other.start < range.end);
        let mut near = near.filter(|(other, _)| !other.is_empty());
        if let Some((_, other)) = near.find(|(_, other)| (*number).max(*other) >= first_result) {
            return Some((*number, *other));
        }
    }
    None
}

fn missing(params: &[Param], bound: &dyn Fn(usize) -> bool) -> Result<(), RuntimeError> {
    if (0..params.len()).all(bound) {
        return Ok(());
    }
    let missing = params.iter().enumerate().filter(|(number, _)| !bound(*number));
    Err(RuntimeError::Missing(list(missing.map(|(_, param)| param.name.as_str()))))
}

fn find<'p>(
    params: &'p [Param],
    what: &'static str,
    name: &str,
    program: &Program,
) -> Result<(usize, &'p Param), RuntimeError> {
    params.iter().enumerate().find(|(_, p)| p.name == name).ok_or_else(|| RuntimeError::NoParameter {
        program: program.name.clone(),
        what,
        found: name.into(),
        available: list(params.iter().map(|p| p.name.as_str())),
    })
}

pub(crate) fn tensor(param: &Param) -> Result<(DType, &[Poly]), RuntimeError> {
    match &param.ty {
        Type::Tensor { dtype, shape } => Ok((*dtype, shape)),
        Type::Graph { .. } => {
            Err(RuntimeError::Kind { parameter: param.name.clone(), expected: "a graph", found: "an array" })
        }
    }
}

/// Kernels look at the lowest bit of a `bool`, hosts at the whole byte: only 0 and 1 mean the same to both.
fn check_bools(name: &str, array: &ArrayRef<'_>) -> Result<(), RuntimeError> {
    let odd = |byte: &u8| *byte > 1;
    if array.dtype != DType::Bool {
        return Ok(());
    }
    match array.bytes.iter().position(odd) {
        Some(position) => Err(RuntimeError::Bool { parameter: name.into(), position, found: array.bytes[position] }),
        None => Ok(()),
    }
}

fn check_array(
    name: &str,
    dtype: DType,
    extents: &[Poly],
    found: DType,
    shape: &[usize],
    bytes: &[u8],
) -> Result<(), RuntimeError> {
    if found != dtype {
        return Err(RuntimeError::DType { parameter: name.into(), expected: dtype, found });
    }
    if shape.len() != extents.len() {
        return Err(RuntimeError::Rank { parameter: name.into(), expected: extents.len(), found: shape.len() });
    }
    check(name, dtype, shape, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_with_a_written_array_are_found() {
        // Arrays from number 100 on are results.
        let found = |arrays: &[(usize, Range<usize>)]| {
            let mut claims: Vec<Claim> = arrays.iter().map(|(number, range)| (range.clone(), *number)).collect();
            first_overlap(&mut claims, 100)
        };
        let (a, b, c) = (0, 1, 2);
        let (write_a, write_b, write_c) = (100, 101, 102);
        assert_eq!(found(&[(a, 0..8), (b, 4..12), (write_c, 12..20)]), None);
        assert_eq!(found(&[(a, 0..8), (write_b, 7..12)]), Some((a, write_b)));
        assert_eq!(found(&[(write_a, 0..100), (b, 2..3), (c, 50..60)]), Some((write_a, b)));
        assert_eq!(found(&[(a, 0..100), (b, 2..3), (write_c, 50..60)]), Some((a, write_c)));
        assert_eq!(found(&[(write_a, 0..8), (write_b, 4..4)]), None);
        assert_eq!(found(&[(write_a, 0..8), (write_b, 4..4), (c, 5..6)]), Some((write_a, c)));
    }
}
