//! One run of a bound plan, invocation after invocation in execution order.

use crate::bind::{Bound, Executable};
use crate::document::Invocation;
use std::collections::BTreeMap;
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

/// A run did not come to its end.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError<X: Error> {
    /// Resources that were not supplied; nothing was launched.
    #[error("missing bindings {0:?}")]
    Missing(Vec<String>),
    /// A launch failed; nothing later was launched.
    #[error("`{invocation}` failed: {source}")]
    Launch {
        /// The invocation.
        invocation: String,
        /// Why.
        source: X,
    },
}

impl<E> Bound<'_, E> {
    /// Launches everything, each invocation complete before the next.
    ///
    /// # Errors
    /// A binding that is missing, the first launch that fails.
    pub fn submit<R, X: Error>(
        &self,
        bindings: &BTreeMap<String, R>,
        mut launch: impl FnMut(Launch<'_, E, R>) -> Result<(), X>,
    ) -> Result<(), SubmitError<X>> {
        let missing = self.required_bindings().iter().filter(|name| !bindings.contains_key(**name));
        let missing: Vec<String> = missing.map(|name| (*name).to_owned()).collect();
        if !missing.is_empty() {
            return Err(SubmitError::Missing(missing));
        }
        let terminals = self.dag().terminals();
        for &index in self.dag().order() {
            let invocation = self.invocations()[index];
            let arguments = invocation.arguments.iter().map(|a| (a.parameter.as_str(), &bindings[&a.resource]));
            let launched = launch(Launch {
                invocation,
                executable: self.executable(index),
                arguments: arguments.collect(),
                will_be_waited: terminals.binary_search(&index).is_err(),
            });
            launched.map_err(|source| SubmitError::Launch { invocation: invocation.name.clone(), source })?;
        }
        Ok(())
    }
}
