//! How many bytes of each tier a plan holds while it runs in execution order.
//!
//! A resource that the plan owns lives from the first invocation that touches it to its release, or to the end.

use crate::bind::Bound;
use crate::document::{Document, Invocation, Requirement};
use std::collections::BTreeMap;

/// Bytes that live in one tier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tide {
    /// While each invocation runs, by place in the execution order; what its body needs is in it.
    pub bytes: Vec<u64>,
    /// The most of them.
    pub peak: u64,
    /// The first place where it is reached.
    pub peak_at: usize,
    /// How many resources the plan owns.
    pub owned: usize,
    /// How many the caller supplies.
    pub external: usize,
    /// Bytes of those.
    pub external_bytes: u64,
}

/// More bytes than 64 bits count live at one time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than 2^64 bytes of `{space}` live at `{invocation}`")]
pub struct TideError {
    /// The tier.
    pub space: String,
    /// The invocation.
    pub invocation: String,
}

/// The tides of all tiers that a document's resources name, by name.
///
/// # Errors
/// A sum of more than 64 bits.
pub fn tides<E>(document: &Document, bound: &Bound<'_, E>) -> Result<BTreeMap<String, Tide>, TideError> {
    let mut listed: BTreeMap<&str, &Requirement> = BTreeMap::new();
    let mut tides: BTreeMap<String, Tide> = BTreeMap::new();
    for resource in &document.resources {
        let tide = tides.entry(resource.space()).or_default();
        if resource.external {
            tide.external += 1;
            tide.external_bytes = tide.external_bytes.saturating_add(resource.capacity_bytes);
        } else {
            tide.owned += 1;
            listed.insert(&resource.name, resource);
        }
    }
    let mut walk = Walk { listed, live: BTreeMap::new(), now: BTreeMap::new() };
    for &index in bound.dag().order() {
        walk.step(bound.invocations()[index], &mut tides)?;
    }
    for tide in tides.values_mut() {
        tide.peak = tide.bytes.iter().copied().max().unwrap_or(0);
        tide.peak_at = tide.bytes.iter().position(|bytes| *bytes == tide.peak).unwrap_or(0);
    }
    Ok(tides)
}

struct Walk<'d> {
    listed: BTreeMap<&'d str, &'d Requirement>,
    /// What lives, with its tier.
    live: BTreeMap<&'d str, String>,
    now: BTreeMap<String, u64>,
}

impl<'d> Walk<'d> {
    fn step(&mut self, task: &'d Invocation, tides: &mut BTreeMap<String, Tide>) -> Result<(), TideError> {
        let over = |space: &str| TideError { space: space.to_owned(), invocation: task.name.clone() };
        let accesses = task.accesses.iter().map(|access| access.binding.as_str());
        for name in accesses.chain(task.arguments.iter().map(|argument| argument.resource.as_str())) {
            let Some(resource) = self.listed.get(name).filter(|_| !self.live.contains_key(name)) else { continue };
            let (space, bytes) = (resource.space(), resource.capacity_bytes);
            let sum = self.now.entry(space.clone()).or_default();
            *sum = sum.checked_add(bytes).ok_or_else(|| over(&space))?;
            self.live.insert(name, space);
        }
        for (space, tide) in tides {
            let own = self.now.get(space).copied().unwrap_or(0);
            tide.bytes.push(own.checked_add(nested(task, space)).ok_or_else(|| over(space))?);
        }
        if task.executable_symbol == "__gf_release" {
            for argument in &task.arguments {
                let Some(space) = self.live.remove(argument.resource.as_str()) else { continue };
                // Released once: a later use is a mistake that does not bring it back.
                let resource = self.listed.remove(argument.resource.as_str());
                let bytes = resource.map_or(0, |resource| resource.capacity_bytes);
                self.now.entry(space).and_modify(|sum| *sum -= bytes);
            }
        }
        Ok(())
    }
}

/// What the body of a loop or branch needs while it runs, as its invocation says.
fn nested(task: &Invocation, space: &str) -> u64 {
    let peaks = task.metadata.get("peak_bytes");
    peaks.and_then(|peaks| peaks.get(space)).and_then(serde_json::Value::as_u64).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bind::bind;
    use crate::instantiate::instantiate;
    use crate::{passes, sample};

    #[test]
    fn the_peak_is_that_of_the_instance() {
        let mut template = sample::looped();
        passes::complete(&mut template).unwrap();
        for instance in instantiate(&template, &|name| Some(if name == "N" { 100 } else { 2000 })).unwrap() {
            let bound = bind(&instance.document, &mut |_| Ok(Some(()))).unwrap();
            let tides = tides(&instance.document, &bound).unwrap();
            for (tier, peak) in instance.peak {
                assert_eq!(tides[tier.name()].peak, peak, "{}", instance.name);
                assert_eq!(tides[tier.name()].bytes.len(), bound.dag().len());
            }
        }
    }

    #[test]
    fn a_sum_beyond_64_bits_is_refused() {
        let mut template = sample::looped();
        passes::complete(&mut template).unwrap();
        let mut root = instantiate(&template, &|_| Some(1)).unwrap().swap_remove(0).document;
        root.resources.iter_mut().filter(|r| !r.external).for_each(|r| r.capacity_bytes = u64::MAX);
        let bound = bind(&root, &mut |_| Ok(Some(()))).unwrap();
        assert_eq!(tides(&root, &bound).unwrap_err().space, "ram");
    }
}
