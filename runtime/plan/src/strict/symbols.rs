//! Checks of single invocations: what reserved symbols are given, what is said of arguments, the phases.

use super::Finding;
use crate::document::{Document, Invocation, Requirement};
use crate::instantiate::parameters_of;
use crate::template::{Mode, Phase};
use indexmap::IndexMap;
use std::collections::BTreeMap;

pub(super) fn check(document: &Document, findings: &mut Vec<Finding>) {
    let listed: IndexMap<&str, &Requirement> =
        document.resources.iter().map(|resource| (resource.name.as_str(), resource)).collect();
    let phases: IndexMap<&str, Phase> =
        document.invocations.iter().map(|task| (task.name.as_str(), task.phase)).collect();
    for task in &document.invocations {
        check_arguments(task, findings);
        check_aliases(task, findings);
        if task.executable_symbol == "__gf_transfer" {
            check_transfer(task, &listed, findings);
        }
        if task.phase == Phase::Materialize {
            let late = task.depends_on.iter().find(|name| phases.get(name.as_str()) == Some(&Phase::Execute));
            findings.extend(late.map(|dependency| Finding::MaterializeAfterExecute {
                invocation: task.name.clone(),
                dependency: dependency.clone(),
            }));
        }
    }
}

/// The argument of a parameter.
pub(super) fn argument<'t>(task: &'t Invocation, parameter: &str) -> Option<&'t str> {
    let found = task.arguments.iter().find(|argument| argument.parameter == parameter);
    found.map(|argument| argument.resource.as_str())
}

fn check_arguments(task: &Invocation, findings: &mut Vec<Finding>) {
    let symbol = task.executable_symbol.as_str();
    if let Some(expected) = parameters_of(symbol) {
        let mut found: Vec<&str> = task.arguments.iter().map(|argument| argument.parameter.as_str()).collect();
        let mut sorted = expected.to_vec();
        found.sort_unstable();
        sorted.sort_unstable();
        if found != sorted {
            let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
            findings.push(Finding::ReservedArguments {
                invocation: task.name.clone(),
                symbol: symbol.to_owned(),
                expected: owned(expected),
                found: task.arguments.iter().map(|argument| argument.parameter.clone()).collect(),
            });
        }
    }
    for argument in &task.arguments {
        let mut own = task.accesses.iter().filter(|access| access.binding == argument.resource).peekable();
        if own.peek().is_none() {
            let (invocation, resource) = (task.name.clone(), argument.resource.clone());
            findings.push(Finding::SilentArgument { invocation, resource });
            continue;
        }
        let Some((expected, mode)) = effect(symbol, &argument.parameter) else { continue };
        if !own.all(|access| access.mode == mode && access.partition.is_none()) {
            findings.push(Finding::ReservedAccess {
                invocation: task.name.clone(),
                symbol: symbol.to_owned(),
                resource: argument.resource.clone(),
                expected,
            });
        }
    }
}

/// What a reserved symbol of the format does with an argument.
fn effect(symbol: &str, parameter: &str) -> Option<(&'static str, Mode)> {
    match (symbol, parameter) {
        ("__gf_transfer", "source") => Some(("read", Mode::Read)),
        ("__gf_transfer", "destination") => Some(("write", Mode::Write)),
        ("__gf_release", "instance") => Some(("read_write", Mode::ReadWrite)),
        _ => None,
    }
}

fn check_aliases(task: &Invocation, findings: &mut Vec<Finding>) {
    // A transfer to itself has its own finding.
    if task.executable_symbol == "__gf_transfer" {
        return;
    }
    let mut first: BTreeMap<&str, &str> = BTreeMap::new();
    for argument in &task.arguments {
        let resource = argument.resource.as_str();
        let Some(earlier) = first.get(resource) else {
            first.insert(resource, &argument.parameter);
            continue;
        };
        if task.accesses.iter().any(|access| access.binding == resource && access.mode.writes()) {
            findings.push(Finding::AliasParameters {
                invocation: task.name.clone(),
                resource: resource.to_owned(),
                first: (*earlier).to_owned(),
                second: argument.parameter.clone(),
            });
        }
    }
}

fn check_transfer(task: &Invocation, listed: &IndexMap<&str, &Requirement>, findings: &mut Vec<Finding>) {
    let (Some(from), Some(to)) = (argument(task, "source"), argument(task, "destination")) else { return };
    let (invocation, origin, destination) = (task.name.clone(), from.to_owned(), to.to_owned());
    if from == to {
        return findings.push(Finding::TransferToItself { invocation, resource: origin });
    }
    let logical = |name: &str| name.split('@').next().map(str::to_owned);
    if logical(from) != logical(to) {
        return findings.push(Finding::TransferNames { invocation, origin, destination });
    }
    if let (Some(from), Some(to)) = (listed.get(from), listed.get(to)) {
        let (found, room) = (from.capacity_bytes, to.capacity_bytes);
        if found != room {
            findings.push(Finding::TransferCapacity { invocation, origin, found, destination, room });
        }
    }
}
