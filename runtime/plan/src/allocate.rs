//! The resources that a plan owns, allocated before a run: all of them, or none.

use crate::document::{Document, Requirement};
use std::collections::BTreeMap;
use std::error::Error;
use tiga_abi::{Tier, TierError};

/// What gives memory and takes it back.
pub trait Allocator {
    /// What it gives.
    type Resource;
    /// Why it does not.
    type Error: Error;

    /// Gives what a resource requires.
    ///
    /// # Errors
    /// There is none of it.
    fn allocate(&mut self, requirement: &Requirement) -> Result<Self::Resource, Self::Error>;

    /// Takes it back.
    fn release(&mut self, resource: Self::Resource);
}

/// Nothing is allocated: what was is released again.
#[derive(Debug, thiserror::Error)]
pub enum AllocateError<X: Error> {
    /// A memory space that is no tier.
    #[error("resource `{resource}`: {source}")]
    Tier {
        /// The resource.
        resource: String,
        /// Why.
        source: TierError,
    },
    /// A tier that a kernel or a transport manages.
    #[error("resource `{resource}`: `{}` is kernel/transport managed", .tier.name())]
    Managed {
        /// The resource.
        resource: String,
        /// The tier.
        tier: Tier,
    },
    /// The allocator refused.
    #[error("resource `{resource}`: {source}")]
    Refused {
        /// The resource.
        resource: String,
        /// Why.
        source: X,
    },
}

/// Where a resource goes in a hierarchy of tiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placement<'r> {
    /// The part of the resource's name before `@`, so that instances in two tiers are of the same data.
    pub logical_name: &'r str,
    /// The tier.
    pub tier: Tier,
    /// The resource.
    pub requirement: &'r Requirement,
}

impl<'r> Placement<'r> {
    /// Where a resource goes, if a runtime can put it there.
    ///
    /// # Errors
    /// [`AllocateError::Tier`], [`AllocateError::Managed`].
    pub fn of<X: Error>(requirement: &'r Requirement) -> Result<Self, AllocateError<X>> {
        let resource = || requirement.name.clone();
        let tier = requirement.memory_space.parse::<Tier>();
        let tier = tier.map_err(|source| AllocateError::Tier { resource: resource(), source })?;
        if !tier.is_allocatable() {
            return Err(AllocateError::Managed { resource: resource(), tier });
        }
        Ok(Placement { logical_name: requirement.logical_name(), tier, requirement })
    }
}

/// Allocates what the plan owns, in the order of its resources; external ones stay unbound. Whatever the memory spaces
/// say is the allocator's business.
///
/// # Errors
/// The first refusal. What was allocated before is released then, the last first.
pub fn allocate<A: Allocator>(
    document: &Document,
    allocator: &mut A,
) -> Result<BTreeMap<String, A::Resource>, AllocateError<A::Error>> {
    all(document, allocator, |_| Ok(()))
}

/// As [`allocate`], in a hierarchy of tiers: memory spaces are read as tiers before anything is allocated for one.
///
/// # Errors
/// As [`allocate`]; a space that is no tier, or one that no runtime allocates in.
pub fn allocate_in_tiers<A: Allocator>(
    document: &Document,
    allocator: &mut A,
) -> Result<BTreeMap<String, A::Resource>, AllocateError<A::Error>> {
    all(document, allocator, |requirement| Placement::of(requirement).map(drop))
}

fn all<A: Allocator>(
    document: &Document,
    allocator: &mut A,
    admit: impl Fn(&Requirement) -> Result<(), AllocateError<A::Error>>,
) -> Result<BTreeMap<String, A::Resource>, AllocateError<A::Error>> {
    let mut made: Vec<(&str, A::Resource)> = Vec::new();
    for requirement in document.resources.iter().filter(|requirement| !requirement.external) {
        let refused = |source| AllocateError::Refused { resource: requirement.name.clone(), source };
        let given = admit(requirement).and_then(|()| allocator.allocate(requirement).map_err(refused));
        match given {
            Ok(resource) => made.push((&requirement.name, resource)),
            Err(error) => {
                made.into_iter().rev().for_each(|(_, resource)| allocator.release(resource));
                return Err(error);
            }
        }
    }
    Ok(made.into_iter().map(|(name, resource)| (name.to_owned(), resource)).collect())
}
