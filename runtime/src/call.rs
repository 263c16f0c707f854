//! One call of a program: inputs and outputs bound by name, sizes unified, then run.

use crate::admit::first_overlap;
use crate::array::check;
use crate::bundle::list;
use crate::execute::Execution;
use crate::hooks::ProgressSink;
use crate::sizes::Sizes;
use crate::{ArrayMut, ArrayRef, Bundle, CancelToken, Context, Graph, Origin, Progress, RuntimeError};
use std::collections::BTreeMap;
use std::sync::Arc;
use tiga_abi::{DType, Poly};
use tiga_bundle::{Param, Program, Type};
use tiga_plan::Template;

/// A call under construction. Arrays are borrowed, never copied.
pub struct Call<'a> {
    pub(crate) bundle: &'a Bundle,
    pub(crate) program: &'a Program,
    pub(crate) plan: &'a Template,
    pub(crate) graphs: BTreeMap<String, Graph>,
    pub(crate) inputs: BTreeMap<String, ArrayRef<'a>>,
    pub(crate) outputs: BTreeMap<String, ArrayMut<'a>>,
    pub(crate) sizes: Sizes,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) progress: Option<ProgressSink>,
}

impl<'a> Call<'a> {
    pub(crate) fn new(bundle: &'a Bundle, program: &'a Program, plan: &'a Template) -> Self {
        let (graphs, inputs, outputs) = Default::default();
        let sizes = Sizes::default();
        Self { bundle, program, plan, graphs, inputs, outputs, sizes, cancel: None, progress: None }
    }

    fn param(&self, name: &str) -> Result<&'a Param, RuntimeError> {
        if self.graphs.contains_key(name) || self.inputs.contains_key(name) {
            return Err(RuntimeError::BoundTwice(name.into()));
        }
        find(&self.program.params, "input", name, self.program)
    }

    /// Binds a graph.
    ///
    /// # Errors
    /// No such parameter; not a graph; a size that differs from what another input says.
    pub fn graph(&mut self, name: &str, graph: &Graph) -> Result<&mut Self, RuntimeError> {
        let Type::Graph { src, dst, edges } = &self.param(name)?.ty else {
            return Err(RuntimeError::Kind { parameter: name.into(), expected: "an array", found: "a graph" });
        };
        for (symbol, what, value) in [
            (src, "sources", graph.num_src()),
            (dst, "destinations", graph.num_dst()),
            (edges, "edges", graph.num_edges()),
        ] {
            let origin = Origin::Graph { what, parameter: name.into() };
            self.sizes.unify(&Poly::symbol(symbol.clone()), value as i64, origin)?;
        }
        self.graphs.insert(name.into(), graph.clone());
        Ok(self)
    }

    /// Binds an array to read.
    ///
    /// # Errors
    /// No such parameter; another type or shape; unaligned; a size that differs from what another input says.
    pub fn input(&mut self, name: &str, array: ArrayRef<'a>) -> Result<&mut Self, RuntimeError> {
        let (dtype, shape) = tensor(self.param(name)?)?;
        check_array(name, dtype, shape, array.dtype, &array.shape, array.bytes)?;
        check_bools(name, &array)?;
        self.unify(name, shape, &array.shape)?;
        self.inputs.insert(name.into(), array);
        Ok(self)
    }

    /// Binds an array to write a result into.
    ///
    /// # Errors
    /// No such result; another type or shape; unaligned; a size that differs from what an input says.
    pub fn output(&mut self, name: &str, array: ArrayMut<'a>) -> Result<&mut Self, RuntimeError> {
        if self.outputs.contains_key(name) {
            return Err(RuntimeError::BoundTwice(name.into()));
        }
        let (dtype, shape) = tensor(find(&self.program.results, "result", name, self.program)?)?;
        check_array(name, dtype, shape, array.dtype, &array.shape, array.bytes)?;
        self.unify(name, shape, &array.shape)?;
        self.outputs.insert(name.into(), array);
        Ok(self)
    }

    /// Gives a size that no input fixes.
    ///
    /// # Errors
    /// No such size; a value that differs from what an input says.
    pub fn dim(&mut self, name: &str, value: i64) -> Result<&mut Self, RuntimeError> {
        if !self.program.symbols.iter().any(|s| &*s.name == name) {
            return Err(RuntimeError::NoParameter {
                program: self.program.name.clone(),
                what: "size",
                found: name.into(),
                available: list(self.program.symbols.iter().map(|s| &*s.name)),
            });
        }
        self.sizes.unify(&Poly::symbol(name), value, Origin::Given)?;
        Ok(self)
    }

    /// Lets a token stop the run.
    pub fn cancelled_by(&mut self, token: &CancelToken) -> &mut Self {
        self.cancel = Some(token.clone());
        self
    }

    /// Reports each task that is done, on the thread that runs.
    pub fn on_progress(&mut self, sink: impl Fn(&Progress<'_>) + Send + Sync + 'static) -> &mut Self {
        self.progress = Some(Arc::new(sink));
        self
    }

    fn unify(&mut self, name: &str, extents: &[Poly], shape: &[usize]) -> Result<(), RuntimeError> {
        for (axis, (extent, value)) in extents.iter().zip(shape).enumerate() {
            self.sizes.unify(extent, *value as i64, Origin::Axis { axis, parameter: name.into() })?;
        }
        Ok(())
    }

    /// The shapes of the results, once all inputs are bound.
    ///
    /// # Errors
    /// Inputs are missing; a size that nothing fixes.
    pub fn result_shapes(&self) -> Result<Vec<(String, DType, Vec<usize>)>, RuntimeError> {
        self.check_inputs()?;
        let mut out = Vec::new();
        for result in &self.program.results {
            let (dtype, shape) = tensor(result)?;
            let mut extents = Vec::new();
            for extent in shape {
                if let Some(symbol) = extent.symbols().into_iter().find(|s| self.sizes.get(s).is_none()) {
                    return Err(RuntimeError::Unbound(symbol.to_string()));
                }
                extents.push(extent.eval(&|s| self.sizes.get(s))? as usize);
            }
            out.push((result.name.clone(), dtype, extents));
        }
        Ok(out)
    }

    fn check_inputs(&self) -> Result<(), RuntimeError> {
        let missing = |p: &&Param| !self.inputs.contains_key(&p.name) && !self.graphs.contains_key(&p.name);
        let missing: Vec<&str> = self.program.params.iter().filter(missing).map(|p| p.name.as_str()).collect();
        if missing.is_empty() { Ok(()) } else { Err(RuntimeError::Missing(list(missing.into_iter()))) }
    }

    /// Results share no memory with inputs or each other. The borrow checker sees to that in Rust, nobody elsewhere.
    fn check_overlap(&self) -> Result<(), RuntimeError> {
        let range = |bytes: &[u8]| {
            let range = bytes.as_ptr_range();
            range.start as usize..range.end as usize
        };
        let inputs = self.inputs.iter().map(|(name, array)| (name.as_str(), false, range(array.bytes)));
        let outputs = self.outputs.iter().map(|(name, array)| (name.as_str(), true, range(array.bytes)));
        match first_overlap(&inputs.chain(outputs).collect::<Vec<_>>()) {
            Some((first, second)) => Err(RuntimeError::Overlap { first: first.into(), second: second.into() }),
            None => Ok(()),
        }
    }

    /// Runs the program; results stand in the bound outputs when this returns. May be called again, on any context.
    ///
    /// # Errors
    /// Something is not bound; memory is short; the plan cannot run here; cancelled. The results are then undefined.
    pub fn run(&mut self, context: &Context) -> Result<(), RuntimeError> {
        self.check_inputs()?;
        let unbound: Vec<&str> = self
            .program
            .results
            .iter()
            .filter(|r| !self.outputs.contains_key(&r.name))
            .map(|r| r.name.as_str())
            .collect();
        if !unbound.is_empty() {
            return Err(RuntimeError::Missing(list(unbound.into_iter())));
        }
        self.sizes.finish()?;
        self.check_overlap()?;
        Execution::new(self, context)?.run()
    }
}

fn find<'p>(params: &'p [Param], what: &'static str, name: &str, program: &Program) -> Result<&'p Param, RuntimeError> {
    params.iter().find(|p| p.name == name).ok_or_else(|| RuntimeError::NoParameter {
        program: program.name.clone(),
        what,
        found: name.into(),
        available: list(params.iter().map(|p| p.name.as_str())),
    })
}

fn tensor(param: &Param) -> Result<(DType, &[Poly]), RuntimeError> {
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
    match array.bytes.iter().position(odd).filter(|_| array.dtype == DType::Bool) {
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
