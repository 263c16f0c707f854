//! Names that mean a local: the innermost of a name counts.

use super::super::hir::LocalId;
use std::collections::BTreeMap;

/// The names in scope.
#[derive(Debug, Default)]
pub(super) struct Scope {
    /// What each name means, innermost last.
    meanings: BTreeMap<String, Vec<LocalId>>,
    /// Names in the order of their binding.
    order: Vec<String>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: &str, id: LocalId) {
        self.meanings.entry(name.to_owned()).or_default().push(id);
        self.order.push(name.to_owned());
    }

    pub(super) fn lookup(&self, name: &str) -> Option<LocalId> {
        self.meanings.get(name)?.last().copied()
    }

    /// How many names are bound, for [`Scope::leave`].
    pub(super) fn depth(&self) -> usize {
        self.order.len()
    }

    /// Forgets what was bound since.
    pub(super) fn leave(&mut self, depth: usize) {
        for name in self.order.drain(depth..) {
            if let Some(ids) = self.meanings.get_mut(&name) {
                ids.pop();
            }
        }
    }

    /// Makes a name mean nothing from here on.
    pub(super) fn hide(&mut self, name: &str) {
        self.meanings.remove(name);
    }

    /// All names, the innermost first.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let visible = |name: &&String| self.lookup(name).is_some();
        self.order.iter().rev().filter(visible).map(String::as_str)
    }
}
