//! Checks of releases against all uses, which need the order of tasks.

use super::Finding;
use super::symbols::argument;
use crate::bind::{order, places};
use crate::dag::Dag;
use crate::document::{Document, Invocation};
use crate::hazard::{Touch, first_hazard};
use indexmap::IndexMap;
use std::collections::BTreeSet;

/// A document without an order has no first use and no last one; binding says why.
pub(super) fn check(document: &Document, findings: &mut Vec<Finding>) {
    let tasks: Vec<&Invocation> = document.invocations.iter().collect();
    let Ok(dag) = places(&tasks).and_then(|places| order(&tasks, &places, &[])) else { return };
    let releases = Releases::of(document, &dag);
    releases.check_each(document, findings);
    let late = releases.late_uses(document, &dag);
    releases.check_unordered(document, &dag, &late, findings);
    findings.extend(late.into_iter().map(|(user, resource)| Finding::UseAfterRelease {
        release: tasks[releases.first[resource]].name.clone(),
        resource: resource.to_owned(),
        user: tasks[user].name.clone(),
    }));
}

/// Who releases what.
struct Releases<'d> {
    /// The release of each resource that comes first in execution order.
    first: IndexMap<&'d str, usize>,
    /// All, in execution order.
    all: Vec<(usize, &'d str)>,
}

impl<'d> Releases<'d> {
    fn of(document: &'d Document, dag: &Dag) -> Self {
        let released = |task: usize| {
            let task = &document.invocations[task];
            (task.executable_symbol == "__gf_release").then(|| argument(task, "instance")).flatten()
        };
        let all: Vec<(usize, &str)> = dag.order().iter().filter_map(|task| Some((*task, released(*task)?))).collect();
        let mut first = IndexMap::new();
        for (task, resource) in &all {
            first.entry(*resource).or_insert(*task);
        }
        Releases { first, all }
    }

    /// What one release shows of itself.
    fn check_each(&self, document: &Document, findings: &mut Vec<Finding>) {
        let external: BTreeSet<&str> =
            document.resources.iter().filter(|resource| resource.external).map(|r| r.name.as_str()).collect();
        for (task, resource) in &self.all {
            let (release, first) = (&document.invocations[*task], self.first[resource]);
            let (name, resource) = (|| release.name.clone(), (*resource).to_owned());
            if release.depends_on.is_empty() {
                findings.push(Finding::ReleaseWithoutDependency { release: name(), resource: resource.clone() });
            }
            if external.contains(resource.as_str()) {
                findings.push(Finding::ReleaseOfExternal { release: name(), resource: resource.clone() });
            }
            if first != *task {
                let first = document.invocations[first].name.clone();
                findings.push(Finding::ReleasedTwice { resource, first, second: name() });
            }
        }
    }

    /// What a task uses of what is released, by argument or by access, without the releases.
    fn used(&self, task: usize, document: &'d Document) -> BTreeSet<&'d str> {
        let invocation = &document.invocations[task];
        let arguments = invocation.arguments.iter().map(|argument| argument.resource.as_str());
        let accesses = invocation.accesses.iter().map(|access| access.binding.as_str());
        let own = (invocation.executable_symbol == "__gf_release").then(|| argument(invocation, "instance")).flatten();
        arguments.chain(accesses).filter(|name| self.first.contains_key(name) && Some(*name) != own).collect()
    }

    /// Uses that stand behind the release in execution order: it does not wait for them.
    fn late_uses(&self, document: &'d Document, dag: &Dag) -> BTreeSet<(usize, &'d str)> {
        let mut late = BTreeSet::new();
        for task in 0..document.invocations.len() {
            let used = self.used(task, document).into_iter();
            late.extend(
                used.filter(|name| dag.position(self.first[name]) < dag.position(task)).map(|name| (task, name)),
            );
        }
        late
    }

    /// Uses that stand before the release, and are not ordered before it: a hazard where each release writes and each
    /// use reads, also a use that no access speaks of.
    fn check_unordered(
        &self,
        document: &'d Document,
        dag: &Dag,
        late: &BTreeSet<(usize, &str)>,
        findings: &mut Vec<Finding>,
    ) {
        let numbers: IndexMap<&str, usize> = self.first.keys().enumerate().map(|(i, name)| (*name, i)).collect();
        let names: Vec<&str> = self.first.keys().copied().collect();
        let mut touches = vec![Vec::new(); document.invocations.len()];
        for (task, touches) in touches.iter_mut().enumerate() {
            let used = self.used(task, document).into_iter().filter(|name| !late.contains(&(task, *name)));
            touches.extend(used.map(|name| Touch { resource: numbers[name], writes: false, part: None }));
        }
        for (name, task) in &self.first {
            touches[*task].push(Touch { resource: numbers[name], writes: true, part: None });
        }
        let Some(hazard) = first_hazard(dag, &touches) else { return };
        for resource in hazard.resources {
            let release = self.first[names[resource]];
            let user = if release == hazard.left { hazard.right } else { hazard.left };
            findings.push(Finding::ReleaseBeforeLastUse {
                release: document.invocations[release].name.clone(),
                resource: names[resource].to_owned(),
                user: document.invocations[user].name.clone(),
            });
        }
    }
}
