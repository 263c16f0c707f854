//! Binding a document: symbols become executables, the task graph is proven sound.

use crate::dag::Dag;
use crate::document::{Document, Invocation};
use crate::few::few;
use crate::hazard::{Touch, first_hazard};
use crate::template::{Partition, Phase};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeSet;
use std::error::Error;

/// Why a resolver has nothing for a symbol.
pub type ResolverError = Box<dyn Error + Send + Sync>;

/// What stands behind a symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Executable<E> {
    /// `__gf_join`.
    Join,
    /// `__gf_release`.
    Release,
    /// `__gf_transfer`.
    Transfer,
    /// What the resolver gave.
    Resolved(E),
}

/// A document, or one phase of it, that may run.
#[derive(Clone, Debug)]
pub struct Bound<'d, E> {
    invocations: Vec<&'d Invocation>,
    executables: Vec<Executable<E>>,
    bindings: Vec<&'d str>,
    snapshot_version: u64,
    dag: Dag,
}

/// A document may not run. Variants stand in the order in which they are checked.
#[derive(Debug, thiserror::Error)]
pub enum BindError {
    /// No invocation of the phase.
    #[error("the plan has no '{}' invocations", .0.name())]
    NoInvocations(Phase),
    /// Invocations of different versions.
    #[error("a bundle cannot mix snapshot versions: {0:?}")]
    MixedVersions(Vec<u64>),
    /// The resolver refused.
    #[error("no executable for `{symbol}` of `{invocation}`: {source}")]
    Resolver {
        /// The invocation.
        invocation: String,
        /// Its symbol.
        symbol: String,
        /// What the resolver said.
        source: ResolverError,
    },
    /// The resolver gave nothing.
    #[error("no executable for `{symbol}` of `{invocation}`")]
    Unresolved {
        /// The invocation.
        invocation: String,
        /// Its symbol.
        symbol: String,
    },
    /// An invocation without a name.
    #[error("invocation {0} has no name")]
    NoName(usize),
    /// A parameter that is bound twice.
    #[error("`{invocation}` has duplicate ABI parameters: `{parameter}`")]
    DuplicateParameter {
        /// The invocation.
        invocation: String,
        /// The parameter.
        parameter: String,
    },
    /// A dependency that is listed twice.
    #[error("`{invocation}` has duplicate dependencies: `{dependency}`")]
    DuplicateDependency {
        /// The invocation.
        invocation: String,
        /// The dependency.
        dependency: String,
    },
    /// Two invocations of one name.
    #[error("invocation names must be unique: `{0}`")]
    DuplicateName(String),
    /// Accesses to something that no invocation has as an argument.
    #[error("`{invocation}` accesses undeclared bindings {}", few(.bindings))]
    Undeclared {
        /// The invocation.
        invocation: String,
        /// The bindings.
        bindings: Vec<String>,
    },
    /// An access of another version than the bundle.
    #[error("`{invocation}` accesses snapshot {found}, bundle owns {own}")]
    ForeignVersion {
        /// The invocation.
        invocation: String,
        /// The access's version.
        found: u64,
        /// The bundle's.
        own: u64,
    },
    /// A dependency that is no invocation.
    #[error("`{invocation}` depends on unknown invocation `{dependency}`")]
    UnknownDependency {
        /// The invocation.
        invocation: String,
        /// The dependency.
        dependency: String,
    },
    /// An invocation that waits for itself.
    #[error("`{0}` cannot depend on itself")]
    SelfDependency(String),
    /// Invocations that wait for each other.
    #[error("the plan contains a cycle: {}", few(.0))]
    Cycle(Vec<String>),
    /// Two invocations that conflict and are not ordered.
    #[error("unordered resource hazard between `{left}` and `{right}` on {}", few(.bindings))]
    Hazard {
        /// The one declared first.
        left: String,
        /// The other one.
        right: String,
        /// What they conflict over, sorted.
        bindings: Vec<String>,
    },
    /// The listed terminals are not those that the dependencies give.
    #[error("terminals disagree: the plan says {}, the dependencies give {}", few(.found), few(.derived))]
    Terminals {
        /// Those of the document.
        found: Vec<String>,
        /// Those without dependents.
        derived: Vec<String>,
    },
}

/// Binds all invocations and checks the terminals.
///
/// # Errors
/// The first check that fails, in the order of [`BindError`].
pub fn bind<'d, E>(
    document: &'d Document,
    resolver: &mut dyn FnMut(&Invocation) -> Result<Option<E>, ResolverError>,
) -> Result<Bound<'d, E>, BindError> {
    let bound = Bound::new(document.invocations.iter().collect(), &[], resolver)?;
    let found: BTreeSet<&str> = document.terminals.iter().map(String::as_str).collect();
    let derived: BTreeSet<&str> = bound.terminals().into_iter().collect();
    if found == derived {
        return Ok(bound);
    }
    let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
    Err(BindError::Terminals { found: owned(found), derived: owned(derived) })
}

/// Binds the invocations of one phase; what they wait for in the other one counts as complete.
///
/// # Errors
/// The first check that fails, in the order of [`BindError`]; terminals are not checked.
pub fn bind_phase<'d, E>(
    document: &'d Document,
    phase: Phase,
    resolver: &mut dyn FnMut(&Invocation) -> Result<Option<E>, ResolverError>,
) -> Result<Bound<'d, E>, BindError> {
    let (own, other): (Vec<_>, Vec<_>) = document.invocations.iter().partition(|task| task.phase == phase);
    if own.is_empty() {
        return Err(BindError::NoInvocations(phase));
    }
    Bound::new(own, &other, resolver)
}

impl<'d, E> Bound<'d, E> {
    fn new(
        invocations: Vec<&'d Invocation>,
        complete: &[&Invocation],
        resolver: &mut dyn FnMut(&Invocation) -> Result<Option<E>, ResolverError>,
    ) -> Result<Self, BindError> {
        let versions: BTreeSet<u64> = invocations.iter().map(|task| task.snapshot_version).collect();
        if versions.len() > 1 {
            return Err(BindError::MixedVersions(versions.into_iter().collect()));
        }
        let snapshot_version = versions.first().copied().unwrap_or(0);
        let mut executables = Vec::with_capacity(invocations.len());
        for (index, invocation) in invocations.iter().enumerate() {
            executables.push(resolve(invocation, resolver)?);
            check_invocation(index, invocation)?;
        }
        // In a plan of many names each look-up in a tree is as many cache misses as the tree is high.
        let arguments = invocations.iter().flat_map(|task| &task.arguments);
        let bindings: IndexSet<&str> = arguments.map(|argument| argument.resource.as_str()).collect();
        let places = places(&invocations)?;
        check_bindings(&invocations, &bindings, snapshot_version)?;
        let dag = order(&invocations, &places, complete)?;
        check_hazards(&invocations, &bindings, &dag)?;
        Ok(Bound { invocations, executables, bindings: bindings.into_iter().collect(), snapshot_version, dag })
    }

    /// The invocations in declaration order.
    pub fn invocations(&self) -> &[&'d Invocation] {
        &self.invocations
    }

    /// What stands behind the invocation at a place of the declaration order.
    pub fn executable(&self, index: usize) -> &Executable<E> {
        &self.executables[index]
    }

    /// The resources that a submission must supply, in order of first use.
    pub fn required_bindings(&self) -> &[&'d str] {
        &self.bindings
    }

    /// The version of the data that all invocations share.
    pub fn snapshot_version(&self) -> u64 {
        self.snapshot_version
    }

    /// The task graph, by place in the declaration order.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }

    /// Names in execution order.
    pub fn execution_order(&self) -> Vec<&'d str> {
        self.dag.order().iter().map(|index| self.invocations[*index].name.as_str()).collect()
    }

    /// Names of the invocations that nobody waits for, in declaration order.
    pub fn terminals(&self) -> Vec<&'d str> {
        self.dag.terminals().into_iter().map(|index| self.invocations[index].name.as_str()).collect()
    }
}

fn resolve<E>(
    invocation: &Invocation,
    resolver: &mut dyn FnMut(&Invocation) -> Result<Option<E>, ResolverError>,
) -> Result<Executable<E>, BindError> {
    let names = || (invocation.name.clone(), invocation.executable_symbol.clone());
    match invocation.executable_symbol.as_str() {
        "__gf_join" => return Ok(Executable::Join),
        "__gf_release" => return Ok(Executable::Release),
        "__gf_transfer" => return Ok(Executable::Transfer),
        _ => {}
    }
    match resolver(invocation) {
        Ok(Some(executable)) => Ok(Executable::Resolved(executable)),
        Ok(None) => {
            let (invocation, symbol) = names();
            Err(BindError::Unresolved { invocation, symbol })
        }
        Err(source) => {
            let (invocation, symbol) = names();
            Err(BindError::Resolver { invocation, symbol, source })
        }
    }
}

fn check_invocation(index: usize, task: &Invocation) -> Result<(), BindError> {
    if task.name.is_empty() {
        return Err(BindError::NoName(index));
    }
    let invocation = || task.name.clone();
    let mut parameters = BTreeSet::new();
    if let Some(argument) = task.arguments.iter().find(|argument| !parameters.insert(&argument.parameter)) {
        let parameter = argument.parameter.clone();
        return Err(BindError::DuplicateParameter { invocation: invocation(), parameter });
    }
    let mut dependencies = BTreeSet::new();
    match task.depends_on.iter().find(|dependency| !dependencies.insert(*dependency)) {
        Some(name) => Err(BindError::DuplicateDependency { invocation: invocation(), dependency: name.clone() }),
        None => Ok(()),
    }
}

/// The place of each name in the declaration order.
pub(crate) fn places<'d>(invocations: &[&'d Invocation]) -> Result<IndexMap<&'d str, usize>, BindError> {
    let mut places = IndexMap::with_capacity(invocations.len());
    for (index, task) in invocations.iter().enumerate() {
        if places.insert(task.name.as_str(), index).is_some() {
            return Err(BindError::DuplicateName(task.name.clone()));
        }
    }
    Ok(places)
}

fn check_bindings(invocations: &[&Invocation], bindings: &IndexSet<&str>, own: u64) -> Result<(), BindError> {
    for task in invocations {
        let odd = task.accesses.iter().filter(|access| !bindings.contains(access.binding.as_str()));
        let odd: BTreeSet<String> = odd.map(|access| access.binding.clone()).collect();
        if !odd.is_empty() {
            return Err(BindError::Undeclared { invocation: task.name.clone(), bindings: odd.into_iter().collect() });
        }
        if let Some(access) = task.accesses.iter().find(|access| access.snapshot_version != own) {
            let found = access.snapshot_version;
            return Err(BindError::ForeignVersion { invocation: task.name.clone(), found, own });
        }
    }
    Ok(())
}

/// The task graph by place; what is complete already is not in it.
pub(crate) fn order(
    invocations: &[&Invocation],
    places: &IndexMap<&str, usize>,
    complete: &[&Invocation],
) -> Result<Dag, BindError> {
    let complete: BTreeSet<&str> = complete.iter().map(|task| task.name.as_str()).collect();
    let mut waits = Vec::with_capacity(invocations.len());
    for (index, task) in invocations.iter().enumerate() {
        let mut own = Vec::with_capacity(task.depends_on.len());
        for name in task.depends_on.iter().filter(|name| !complete.contains(name.as_str())) {
            match places.get(name.as_str()) {
                Some(place) if *place == index => return Err(BindError::SelfDependency(name.clone())),
                Some(place) => own.push(*place),
                None => {
                    let (invocation, dependency) = (task.name.clone(), name.clone());
                    return Err(BindError::UnknownDependency { invocation, dependency });
                }
            }
        }
        waits.push(own);
    }
    Dag::new(waits).map_err(|cycle| {
        BindError::Cycle(cycle.tasks.into_iter().map(|index| invocations[index].name.clone()).collect())
    })
}

fn check_hazards(invocations: &[&Invocation], bindings: &IndexSet<&str>, dag: &Dag) -> Result<(), BindError> {
    let (mut schemes, mut parts) = (IndexSet::new(), IndexSet::new());
    let mut touches = Vec::with_capacity(invocations.len());
    for task in invocations {
        let mut own = Vec::with_capacity(task.accesses.len());
        for access in &task.accesses {
            let resource = bindings.get_index_of(access.binding.as_str()).expect("what is accessed is bound");
            let part = access.partition.as_ref().map(|Partition { scheme, part }| {
                (schemes.insert_full(scheme.as_str()).0, parts.insert_full(part.as_str()).0)
            });
            own.push(Touch { resource, writes: access.mode.writes(), part });
        }
        touches.push(own);
    }
    let Some(hazard) = first_hazard(dag, &touches) else { return Ok(()) };
    let name = |number: &usize| bindings.get_index(*number).map(|name| (*name).to_owned());
    let mut bindings: Vec<String> = hazard.resources.iter().filter_map(name).collect();
    bindings.sort();
    let [left, right] = [hazard.left, hazard.right].map(|index| invocations[index].name.clone());
    Err(BindError::Hazard { left, right, bindings })
}
