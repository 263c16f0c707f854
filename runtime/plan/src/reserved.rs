//! What the reserved symbols do at the launch: move an instance, end one, nothing.

use crate::bind::Executable;
use crate::instantiate::parameters_of;
use crate::submit::Launch;
use std::error::Error;

/// A piece of memory that a runtime of tiers gave.
pub trait Instance {
    /// Why it refuses.
    type Error: Error;

    /// Copies the whole to another instance of the same runtime, and waits until it is there.
    ///
    /// # Errors
    /// Another runtime, name, version or capacity, the same instance, one of them closed, a copy that fails.
    fn transfer_to(&self, destination: &Self) -> Result<(), Self::Error>;

    /// Ends it, when all that reads and writes it has ended. A second time does nothing.
    ///
    /// # Errors
    /// What became of the work that it waited for; it is ended then too.
    fn close(&self) -> Result<(), Self::Error>;
}

/// A reserved symbol was not done.
#[derive(Debug, thiserror::Error)]
pub enum ReservedError<X: Error> {
    /// Other parameters than its own: found at the launch, as binding asks nothing.
    #[error("{symbol} takes the arguments {expected:?}, found {found:?}")]
    Arguments {
        /// The symbol.
        symbol: String,
        /// Its parameters.
        expected: &'static [&'static str],
        /// Those given.
        found: Vec<String>,
    },
    /// An instance refused.
    #[error(transparent)]
    Instance(X),
}

/// Does what a reserved symbol says; `None` if the launch is of another one.
pub fn launch<E, R: Instance>(launch: &Launch<'_, E, R>) -> Option<Result<(), ReservedError<R::Error>>> {
    let done = match launch.executable {
        Executable::Resolved(_) => return None,
        Executable::Join => arguments(launch, []).map(|[]| Ok(())),
        Executable::Release => arguments(launch, ["instance"]).map(|[instance]| instance.close()),
        Executable::Transfer => {
            arguments(launch, ["source", "destination"]).map(|[source, destination]| source.transfer_to(destination))
        }
    };
    Some(done.and_then(|done| done.map_err(ReservedError::Instance)))
}

/// The resources of exactly these parameters, in whatever order they are bound.
fn arguments<'a, E, R: Instance, const N: usize>(
    launch: &Launch<'a, E, R>,
    parameters: [&str; N],
) -> Result<[&'a R; N], ReservedError<R::Error>> {
    let find = |parameter| launch.arguments.iter().find(|(name, _)| *name == parameter).map(|(_, resource)| *resource);
    let found: Vec<&R> = parameters.iter().filter_map(|parameter| find(*parameter)).collect();
    match <[&R; N]>::try_from(found) {
        Ok(found) if launch.arguments.len() == N => Ok(found),
        _ => Err(ReservedError::Arguments {
            symbol: launch.invocation.executable_symbol.clone(),
            expected: parameters_of(&launch.invocation.executable_symbol).unwrap_or_default(),
            found: launch.arguments.iter().map(|(name, _)| (*name).to_owned()).collect(),
        }),
    }
}
