//! One run of a bound plan: invocations are handed to a provider in execution order, each with what it waits for.

use crate::bind::{Bound, Executable};
use crate::document::Invocation;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::error::Error;

/// One invocation with what it needs.
#[derive(Debug)]
pub struct Launch<'a, E, R> {
    /// The invocation.
    pub invocation: &'a Invocation,
    /// What stands behind its symbol.
    pub executable: &'a Executable<E>,
    /// Its arguments by parameter.
    pub arguments: Vec<(&'a str, &'a R)>,
    /// Whether others wait for it.
    pub will_be_waited: bool,
}

/// Work that was started.
pub trait Completion {
    /// Why it did not come to its end.
    type Error: Error;

    /// Whether it is complete.
    fn ready(&self) -> bool;

    /// Waits until it is.
    ///
    /// # Errors
    /// What became of the work.
    fn wait(&self) -> Result<(), Self::Error>;
}

/// What starts invocations.
pub trait Provider<E, R> {
    /// What it gives for one that was started.
    type Completion: Completion;
    /// Why one was not started.
    type Error: Error;

    /// Starts an invocation, to run when what it waits for is complete.
    ///
    /// # Errors
    /// It was not started: nothing later is.
    fn submit(
        &mut self,
        launch: Launch<'_, E, R>,
        wait_for: &[&Self::Completion],
    ) -> Result<Self::Completion, Self::Error>;
}

/// A provider that runs each invocation to its end where it is submitted.
#[derive(Debug)]
pub struct Synchronous<F>(pub F);

/// Work that is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complete;

impl Completion for Complete {
    type Error = Infallible;

    fn ready(&self) -> bool {
        true
    }

    fn wait(&self) -> Result<(), Infallible> {
        Ok(())
    }
}

impl<E, R, X: Error, F: FnMut(Launch<'_, E, R>) -> Result<(), X>> Provider<E, R> for Synchronous<F> {
    type Completion = Complete;
    type Error = X;

    fn submit(&mut self, launch: Launch<'_, E, R>, wait_for: &[&Complete]) -> Result<Complete, X> {
        debug_assert!(wait_for.iter().all(|earlier| earlier.ready()));
        (self.0)(launch)?;
        Ok(Complete)
    }
}

/// A run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError<X: Error> {
    /// Resources that were not supplied; nothing was launched.
    #[error("missing bindings {0:?}")]
    Missing(Vec<String>),
    /// Another number of resources than the plan has slots; nothing was launched.
    #[error("the plan requires {expected} resources, found {found}")]
    Count {
        /// The slots.
        expected: usize,
        /// Those supplied.
        found: usize,
    },
    /// A launch failed; nothing later was launched, and what was is not undone.
    #[error("`{invocation}` failed: {source}")]
    Launch {
        /// The invocation.
        invocation: String,
        /// Why.
        source: X,
    },
}

/// All invocations of a run, started.
#[derive(Debug)]
pub struct Submission<'d, C> {
    completions: Vec<(&'d str, C)>,
    /// Places of the terminals.
    terminals: Vec<usize>,
}

impl<C: Completion> Submission<'_, C> {
    /// The completion of an invocation.
    pub fn completion(&self, invocation: &str) -> Option<&C> {
        self.completions.iter().find(|(name, _)| *name == invocation).map(|(_, completion)| completion)
    }

    /// The completions of the terminals, in declaration order.
    pub fn terminals(&self) -> impl Iterator<Item = &C> {
        self.terminals.iter().map(|place| &self.completions[*place].1)
    }

    /// Whether all terminals are complete.
    pub fn ready(&self) -> bool {
        self.terminals().all(Completion::ready)
    }

    /// Waits for each terminal.
    ///
    /// # Errors
    /// The first that did not come to its end.
    pub fn wait(&self) -> Result<(), C::Error> {
        self.terminals().try_for_each(Completion::wait)
    }
}

/// A bound plan with a provider: resources are given by slot, without names.
#[derive(Debug)]
pub struct Prepared<'b, 'd, E, P> {
    bound: &'b Bound<'d, E>,
    provider: P,
    /// The slot of each argument of each invocation.
    arguments: Vec<Vec<usize>>,
}

impl<'d, E> Bound<'d, E> {
    /// Fixes the provider and the order of slots, that of [`required_bindings`](Bound::required_bindings).
    pub fn prepare<P>(&self, provider: P) -> Prepared<'_, 'd, E, P> {
        let slots = self.required_bindings().iter().enumerate().map(|(slot, name)| (*name, slot));
        let slots: BTreeMap<&str, usize> = slots.collect();
        let of = |task: &&Invocation| task.arguments.iter().map(|a| slots[a.resource.as_str()]).collect();
        Prepared { bound: self, provider, arguments: self.invocations().iter().map(of).collect() }
    }

    /// Hands everything to a provider, with resources by name. More than the plan needs may be there.
    ///
    /// # Errors
    /// A binding that is missing, the first launch that fails.
    pub fn submit<R, P: Provider<E, R>>(
        &self,
        provider: P,
        bindings: &BTreeMap<String, R>,
    ) -> Result<Submission<'d, P::Completion>, SubmitError<P::Error>> {
        let missing = self.required_bindings().iter().filter(|name| !bindings.contains_key(**name));
        let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
        if !missing.is_empty() {
            return Err(SubmitError::Missing(missing));
        }
        let resources: Vec<&R> = self.required_bindings().iter().map(|name| &bindings[*name]).collect();
        self.prepare(provider).launch(&resources)
    }
}

impl<'d, E, P> Prepared<'_, 'd, E, P> {
    /// The resources that a run needs, by slot.
    pub fn slots(&self) -> &[&'d str] {
        self.bound.required_bindings()
    }

    /// Hands everything to the provider, with one resource a slot.
    ///
    /// # Errors
    /// Another number of resources, the first launch that fails.
    pub fn submit_resources<R>(
        &mut self,
        resources: &[R],
    ) -> Result<Submission<'d, P::Completion>, SubmitError<P::Error>>
    where
        P: Provider<E, R>,
    {
        self.launch(&resources.iter().collect::<Vec<_>>())
    }

    fn launch<R>(&mut self, resources: &[&R]) -> Result<Submission<'d, P::Completion>, SubmitError<P::Error>>
    where
        P: Provider<E, R>,
    {
        let (bound, expected) = (self.bound, self.slots().len());
        if resources.len() != expected {
            return Err(SubmitError::Count { expected, found: resources.len() });
        }
        let (dag, terminals) = (bound.dag(), bound.dag().terminals());
        let mut completions: Vec<(&'d str, P::Completion)> = Vec::with_capacity(dag.len());
        for &index in dag.order() {
            let invocation = bound.invocations()[index];
            let parameters = invocation.arguments.iter().map(|argument| argument.parameter.as_str());
            let slots = self.arguments[index].iter().map(|slot| resources[*slot]);
            let launch = Launch {
                invocation,
                executable: bound.executable(index),
                arguments: parameters.zip(slots).collect(),
                will_be_waited: terminals.binary_search(&index).is_err(),
            };
            let wait_for = dag.dependencies(index).iter().map(|earlier| &completions[dag.position(*earlier)].1);
            let started = self.provider.submit(launch, &wait_for.collect::<Vec<_>>());
            let failed = |source| SubmitError::Launch { invocation: invocation.name.clone(), source };
            completions.push((&invocation.name, started.map_err(failed)?));
        }
        let terminals = terminals.into_iter().map(|index| dag.position(index)).collect();
        Ok(Submission { completions, terminals })
    }
}
