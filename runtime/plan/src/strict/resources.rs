//! Checks of the list of resources: spelling, tiers, versions, sums, two names for one memory.

use super::Finding;
use crate::document::{Document, Requirement};
use indexmap::{IndexMap, IndexSet};
use std::collections::BTreeMap;
use tiga_abi::Tier;

pub(super) fn check(document: &Document, findings: &mut Vec<Finding>) {
    document.resources.iter().for_each(|resource| check_space(resource, findings));
    check_sums(document, findings);
    check_spellings(document, findings);
    check_uses(document, findings);
}

fn check_space(resource: &Requirement, findings: &mut Vec<Finding>) {
    let name = || resource.name.clone();
    let tier = match resource.memory_space.parse::<Tier>() {
        Ok(tier) => tier,
        Err(source) => return findings.push(Finding::UnknownMemorySpace { resource: name(), source }),
    };
    if resource.memory_space != tier.name() {
        let found = resource.memory_space.clone();
        findings.push(Finding::MemorySpaceAlias { resource: name(), found, canonical: tier.name() });
    }
    if !resource.external && !tier.is_allocatable() && !is_slot(resource, tier) {
        findings.push(Finding::UnallocatableMemorySpace { resource: name(), tier: tier.name() });
    }
}

/// A buffer of a halo exchange in remote memory: the transport makes it, though the plan owns it.
fn is_slot(resource: &Requirement, tier: Tier) -> bool {
    tier == Tier::Remote && resource.layout == "packed-halo"
}

fn check_sums(document: &Document, findings: &mut Vec<Finding>) {
    let mut sums: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for resource in document.resources.iter().filter(|resource| !resource.external) {
        let space = resource.space();
        let sum = sums.entry(space.clone()).or_insert(Some(0));
        let Some(before) = *sum else { continue };
        *sum = before.checked_add(resource.capacity_bytes);
        if sum.is_none() {
            findings.push(Finding::CapacityOverflow { space, resource: resource.name.clone() });
        }
    }
}

fn check_spellings(document: &Document, findings: &mut Vec<Finding>) {
    let mut first: IndexMap<Spelled, &str> = IndexMap::new();
    let listed = document.resources.iter().map(|resource| (Spelled::listed(resource), resource.name.as_str()));
    let names: IndexSet<&str> = document.resources.iter().map(|resource| resource.name.as_str()).collect();
    let mut seen = IndexSet::new();
    let used = document.invocations.iter().flat_map(|task| &task.arguments).map(|argument| argument.resource.as_str());
    let unlisted = used.filter(|name| !names.contains(name) && seen.insert(*name));
    let unlisted = unlisted.filter_map(|name| Some((Spelled::named(name)?, name)));
    for (spelled, name) in listed.chain(unlisted) {
        match first.get(&spelled) {
            Some(first) => {
                findings.push(Finding::AliasSpelling { first: (*first).to_owned(), second: name.to_owned() });
            }
            None => drop(first.insert(spelled, name)),
        }
    }
}

/// What a name means: the logical name, which of several instances, the tier, the device.
#[derive(PartialEq, Eq, Hash)]
struct Spelled {
    logical: String,
    instance: String,
    space: String,
    device: String,
}

impl Spelled {
    fn listed(resource: &Requirement) -> Self {
        let (logical, place) = resource.name.split_once('@').unwrap_or((&resource.name, ""));
        let instance = place.split_once('#').map_or("", |(_, instance)| instance);
        Spelled {
            logical: logical.to_owned(),
            instance: instance.to_owned(),
            space: resource.space(),
            device: device(&resource.device),
        }
    }

    /// Only a whole name `u@ram:host:0` says where it is.
    fn named(name: &str) -> Option<Self> {
        let (logical, place) = name.split_once('@')?;
        let (place, instance) = place.split_once('#').unwrap_or((place, ""));
        let (space, on) = place.split_once(':')?;
        let space = space.parse::<Tier>().map_or_else(|_| space.to_owned(), |tier| tier.name().to_owned());
        Some(Spelled { logical: logical.to_owned(), instance: instance.to_owned(), space, device: device(on) })
    }
}

/// A device in one spelling: the first of a kind needs no number.
fn device(text: &str) -> String {
    let text = text.to_ascii_lowercase();
    if text.contains(':') || text == "mesh" { text } else { format!("{text}:0") }
}

fn check_uses(document: &Document, findings: &mut Vec<Finding>) {
    let listed: IndexMap<&str, &Requirement> =
        document.resources.iter().map(|resource| (resource.name.as_str(), resource)).collect();
    let mut told: IndexSet<&str> = IndexSet::new();
    for task in &document.invocations {
        for access in &task.accesses {
            let Some(resource) = listed.get(access.binding.as_str()) else { continue };
            if resource.snapshot_version != access.snapshot_version && told.insert(&resource.name) {
                findings.push(Finding::ResourceVersion {
                    invocation: task.name.clone(),
                    resource: resource.name.clone(),
                    listed: resource.snapshot_version,
                    access: access.snapshot_version,
                });
            }
        }
        for argument in task.arguments.iter().filter(|_| !listed.is_empty()) {
            let name = argument.resource.as_str();
            if !listed.contains_key(name) && told.insert(name) {
                findings.push(Finding::UnlistedResource { invocation: task.name.clone(), resource: name.to_owned() });
            }
        }
    }
}
