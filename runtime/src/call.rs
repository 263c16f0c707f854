//! One call of a program: inputs and outputs bound by name, sizes unified, then run.

use crate::admit::{check_instances, check_peak};
use crate::bindings::{Bindings, tensor};
use crate::bundle::list;
use crate::execute::{Execution, begins, derive, derived, footprint};
use crate::fit::Fitted;
use crate::frame::Frame;
use crate::hooks::ProgressSink;
use crate::prepared::Held;
use crate::sizes::Place;
use crate::steps::Steps;
use crate::{
    ArrayMut, ArrayRef, Bundle, CancelToken, Context, Graph, Hierarchy, LogLevel, MemoryUse, Progress, RuntimeError,
};
use std::marker::PhantomData;
use std::sync::Arc;
use tiga_abi::{DType, Tier};
use tiga_bundle::{Program, SymbolDecl};
use tiga_plan::Template;

/// A call under construction. Arrays are borrowed, never copied.
pub struct Call<'a> {
    pub(crate) bundle: &'a Bundle,
    pub(crate) program: &'a Program,
    pub(crate) plan: &'a Template,
    pub(crate) bindings: Table<'a>,
    /// The memory of a prepared program.
    pub(crate) held: Option<&'a mut Held>,
    pub(crate) cancel: Option<CancelToken>,
    pub(crate) progress: Option<ProgressSink>,
    /// The plan as it was made to fit for the last run in a hierarchy, and what that run used.
    fitted: Option<Arc<Fitted>>,
    used: Option<MemoryUse>,
    /// The arrays behind the addresses in `bindings`.
    arrays: PhantomData<&'a mut [u8]>,
}

/// Bytes of the arrays that a program reads and writes, see [`Call::footprint`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Inputs that it uses.
    pub inputs: u64,
    /// Results.
    pub results: u64,
    /// Arrays of graphs and of what is derived of them.
    pub graphs: u64,
}

impl Footprint {
    /// All of them.
    pub fn all(&self) -> u64 {
        self.inputs + self.results + self.graphs
    }
}

/// The tables of a call: its own, or those of a prepared program.
pub(crate) enum Table<'a> {
    Own(Box<Bindings>),
    Prepared(&'a mut Bindings),
}

impl Table<'_> {
    pub(crate) fn get(&self) -> &Bindings {
        match self {
            Table::Own(bindings) => bindings,
            Table::Prepared(bindings) => bindings,
        }
    }

    fn get_mut(&mut self) -> &mut Bindings {
        match self {
            Table::Own(bindings) => bindings,
            Table::Prepared(bindings) => bindings,
        }
    }
}

impl<'a> Call<'a> {
    pub(crate) fn new(bundle: &'a Bundle, program: &'a Program, plan: &'a Template) -> Self {
        Self::with(bundle, program, plan, Table::Own(Box::new(Bindings::new(program))), None)
    }

    pub(crate) fn with(
        bundle: &'a Bundle,
        program: &'a Program,
        plan: &'a Template,
        bindings: Table<'a>,
        held: Option<&'a mut Held>,
    ) -> Self {
        Self {
            bundle,
            program,
            plan,
            bindings,
            held,
            cancel: None,
            progress: None,
            fitted: None,
            used: None,
            arrays: PhantomData,
        }
    }

    /// Binds a graph.
    ///
    /// # Errors
    /// No such parameter; not a graph; a size that differs from what another input says.
    pub fn graph(&mut self, name: &str, graph: &Graph) -> Result<&mut Self, RuntimeError> {
        self.bindings.get_mut().graph(self.program, name, graph)?;
        Ok(self)
    }

    /// Binds an array to read.
    ///
    /// # Errors
    /// No such parameter; another type or shape; unaligned; a size that differs from what another input says.
    pub fn input(&mut self, name: &str, array: ArrayRef<'a>) -> Result<&mut Self, RuntimeError> {
        self.bindings.get_mut().input(self.program, name, &array)?;
        Ok(self)
    }

    /// Binds an array to write a result into.
    ///
    /// # Errors
    /// No such result; another type or shape; unaligned; a size that differs from what an input says.
    pub fn output(&mut self, name: &str, array: ArrayMut<'a>) -> Result<&mut Self, RuntimeError> {
        self.bindings.get_mut().output(self.program, name, array)?;
        Ok(self)
    }

    /// Gives a size that no input fixes.
    ///
    /// # Errors
    /// No such size; a value that differs from what an input says.
    pub fn dim(&mut self, name: &str, value: i64) -> Result<&mut Self, RuntimeError> {
        check_size(self.program, name)?;
        self.bindings.get_mut().sizes.fix(self.program, name, value, Place::Given)?;
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

    /// The shapes of the results, once all inputs are bound.
    ///
    /// # Errors
    /// Inputs are missing; a size that nothing fixes.
    pub fn result_shapes(&self) -> Result<Vec<(String, DType, Vec<usize>)>, RuntimeError> {
        let bindings = self.bindings.get();
        bindings.check_inputs(self.program)?;
        let mut out = Vec::new();
        for result in &self.program.results {
            let (dtype, shape) = tensor(result)?;
            let extents = shape.iter().map(|extent| Ok(bindings.sizes.eval(self.program, extent)? as usize));
            out.push((result.name.clone(), dtype, extents.collect::<Result<_, RuntimeError>>()?));
        }
        Ok(out)
    }

    /// The sizes that are known so far, by name: those that [`Bundle::prepare`] takes.
    pub fn sizes(&self) -> impl Iterator<Item = (&str, i64)> {
        let sizes = &self.bindings.get().sizes;
        let known = move |(number, size): (usize, &'a SymbolDecl)| Some((&*size.name, sizes.of(number)?.0));
        self.program.symbols.iter().enumerate().filter_map(known)
    }

    /// Bytes that the program cannot do without, each array once. Derives what it derives of the bound graphs.
    ///
    /// # Errors
    /// As [`Call::derive`].
    pub fn footprint(&self) -> Result<Footprint, RuntimeError> {
        footprint(self, self.steps()?)
    }

    /// Makes now what the program derives of the bound graphs, such as their transposes, and leaves it to the first run
    /// no more. It belongs to the graphs: later calls with the same graphs find it there. Prepared runs must find it.
    ///
    /// # Errors
    /// The kernels cannot be loaded; the plan cannot run here; memory is short; cancelled.
    pub fn derive(&mut self) -> Result<&mut Self, RuntimeError> {
        let steps = self.steps()?;
        derive(self, steps)?;
        Ok(self)
    }

    fn steps(&self) -> Result<&'a Steps, RuntimeError> {
        self.bundle.inner.steps(self.program, self.plan)
    }

    /// Runs the program; results stand in the bound outputs when this returns. May be called again, on any context.
    ///
    /// # Errors
    /// Something is not bound; memory is short; the plan cannot run here; cancelled; more than what the program is
    /// prepared for. The results are then undefined.
    pub fn run(&mut self, context: &Context) -> Result<(), RuntimeError> {
        let program = self.program;
        let bindings = self.bindings.get_mut();
        bindings.check_inputs(program)?;
        bindings.check_outputs(program)?;
        bindings.sizes.finish(program)?;
        bindings.check_overlap(program)?;
        if let Some(hierarchy) = &context.hierarchy {
            return self.run_in_tiers(context, hierarchy);
        }
        // The kernels are loaded when the plan is known to be sound.
        let Some(held) = self.held.take() else {
            let (peak, steps) = (self.prove()?, self.steps()?);
            context.log(LogLevel::Info, || begins(self, context, peak));
            let mut frame = Frame::new(self.plan, steps);
            return Execution::new(self, (self.plan, steps), context, &mut frame, None)?.run();
        };
        let outcome = self.run_held(held, context);
        held.frame.clear();
        self.held = Some(held);
        outcome
    }

    /// Runs in a hierarchy, by a plan that fits its budgets.
    fn run_in_tiers(&mut self, context: &Context, hierarchy: &Hierarchy) -> Result<(), RuntimeError> {
        self.used = None;
        if self.held.is_some() {
            return Err(RuntimeError::PreparedTiers(self.program.name.clone()));
        }
        let known = self.fitted.take().filter(|fitted| fitted.serves(context, hierarchy));
        let fitted = match known {
            Some(fitted) => fitted,
            None => {
                let known = (self.bindings.get(), derived(self, self.steps()?)?);
                Fitted::new(self.bundle, self.program, self.plan, known, context, hierarchy)?
            }
        };
        let expected = fitted.expected(context.tasks);
        // What is derived is there already.
        let peak = expected.tiers.get(&Tier::Ram).map_or(0, |tier| tier.predicted - expected.derived);
        check_peak(&fitted.plan, peak, &|size| self.bindings.get().sizes.get(self.program, size))?;
        context.log(LogLevel::Info, || begins(self, context, peak));
        let mut frame = Frame::new(&fitted.plan, &fitted.steps);
        let execution = Execution::new(self, (&fitted.plan, &fitted.steps), context, &mut frame, None)?;
        let mut execution = execution.in_hierarchy(hierarchy, expected)?;
        let outcome = execution.run();
        let used = execution.memory_use();
        drop(execution);
        (self.used, self.fitted) = (used, Some(fitted));
        outcome
    }

    /// What the last run used, if it was one in a hierarchy.
    pub fn memory_use(&self) -> Option<&MemoryUse> {
        self.used.as_ref()
    }

    /// Runs in the memory of a prepared program.
    fn run_held(&self, held: &mut Held, context: &Context) -> Result<(), RuntimeError> {
        held.admit(self.program, &self.bindings.get().sizes, context)?;
        context.log(LogLevel::Info, || begins(self, context, held.memory.bytes()));
        Execution::new(self, (self.plan, self.steps()?), context, &mut held.frame, Some(&held.memory))?.run()
    }

    /// Proves that the plan may run at these sizes, once for them, and that there is room for what it owns: gives the
    /// bytes.
    fn prove(&mut self) -> Result<u64, RuntimeError> {
        let (plan, program) = (self.plan, self.program);
        let bindings = self.bindings.get_mut();
        let peak = match bindings.proven {
            Some(peak) => peak,
            None => check_instances(plan, &|size| bindings.sizes.get(program, size))
                .map_err(|reason| RuntimeError::Plan { program: program.name.clone(), reason })?,
        };
        bindings.proven = Some(peak);
        check_peak(plan, peak, &|size| bindings.sizes.get(program, size))?;
        Ok(peak)
    }
}

/// The program has a size of this name.
pub(crate) fn check_size(program: &Program, name: &str) -> Result<(), RuntimeError> {
    if program.symbols.iter().any(|s| &*s.name == name) {
        return Ok(());
    }
    Err(RuntimeError::NoParameter {
        program: program.name.clone(),
        what: "size",
        found: name.into(),
        available: list(program.symbols.iter().map(|s| &*s.name)),
    })
}
