//! Where the arrays of a run are: borrowed ones, those of graphs, the plan's own.
#![allow(unsafe_code)]

use crate::bindings::Bindings;
use crate::error::PlanProblem;
use crate::graph::{Derived, Stored, Units as RowUnits};
use crate::memory::{Instance, Memory};
use crate::relations::{self, Key};
use crate::steps::{Part, Source, Steps};
use crate::{CancelToken, Graph, RuntimeError};
use std::ffi::c_void;
use std::sync::Arc;
use tiga_plan::Template;

/// Where a resource is at the moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) address: *mut u8,
    pub(crate) bytes: usize,
}

/// The tables of a run. Those of a prepared program are made once.
#[derive(Debug)]
pub(crate) struct Frame {
    /// By resource.
    pub(crate) slots: Vec<Option<Slot>>,
    /// By resource, memory that the run has asked for.
    pub(crate) owned: Vec<Option<Memory>>,
    /// By resource, the instance that it is, where memory has tiers.
    pub(crate) instances: Vec<Option<Instance>>,
    /// Keeps derived structures alive while their addresses are in slots.
    rows: Vec<Arc<Stored>>,
    units: Vec<Arc<RowUnits>>,
    /// The arguments of the kernel that runs.
    pub(crate) syms: Vec<i64>,
    pub(crate) ptrs: Vec<*mut c_void>,
}
// SAFETY: its addresses are those of one run, and gone before it goes elsewhere; kernels use them in their plan's order.
unsafe impl Send for Frame {}
// SAFETY: as above; nobody who shares it looks behind an address.
unsafe impl Sync for Frame {}

/// What happens to a structure of a graph that is not there.
#[derive(Clone, Copy)]
pub(crate) enum Deriving<'c> {
    /// It is made, unless the token asks to stop.
    Make(Option<&'c CancelToken>),
    /// It is refused: nothing may be allocated.
    Find,
}

impl Frame {
    /// Room for all that a run of the plan needs.
    pub(crate) fn new(plan: &Template, steps: &Steps) -> Self {
        let (resources, parts) = (plan.resources.len(), steps.sources.len());
        Self {
            slots: vec![None; resources],
            owned: (0..resources).map(|_| None).collect(),
            instances: vec![None; resources],
            rows: Vec::with_capacity(parts),
            units: Vec::with_capacity(parts),
            syms: Vec::with_capacity(steps.most_syms),
            ptrs: Vec::with_capacity(steps.most_ptrs),
        }
    }

    /// Forgets what was where.
    pub(crate) fn clear(&mut self) {
        self.slots.fill(None);
        self.owned.fill_with(|| None);
        self.instances.fill(None);
        self.rows.clear();
        self.units.clear();
    }

    /// Whether a resource has memory.
    pub(crate) fn holds(&self, number: usize) -> bool {
        self.slots[number].is_some() || self.instances[number].is_some()
    }

    /// Two resources exchange their memory.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        self.slots.swap(a, b);
        self.owned.swap(a, b);
        self.instances.swap(a, b);
    }

    /// A handle stands for the memory of another resource.
    pub(crate) fn alias(&mut self, handle: usize, of: usize) {
        self.slots[handle] = self.slots[of];
        self.instances[handle] = self.instances[of].clone();
    }

    /// Says where a borrowed array is, and whether it was made for that.
    pub(crate) fn borrow(
        &mut self,
        steps: &Steps,
        bindings: &Bindings,
        (number, name): (usize, &str),
        deriving: Deriving<'_>,
    ) -> Result<bool, Refused> {
        let bound = |array: Option<crate::bindings::Bound>| array.map(|b| Slot { address: b.address, bytes: b.bytes });
        match steps.sources[number] {
            None => {}
            Some(Source::Param(param)) => self.slots[number] = bound(bindings.inputs[param]),
            Some(Source::Result(result)) => self.slots[number] = bound(bindings.outputs[result]),
            Some(Source::Part(relation, part)) => {
                return self.part(number, &steps.relations[relation], (part, name), &bindings.graphs, deriving);
            }
        }
        Ok(false)
    }

    /// Says where an array of a relation is.
    fn part(
        &mut self,
        number: usize,
        relation: &Key,
        (part, name): (Part, &str),
        graphs: &[Option<Graph>],
        deriving: Deriving<'_>,
    ) -> Result<bool, Refused> {
        let Some(Derived { parts: stored, mut made }) = rows(relation, name, graphs, deriving)? else {
            return Ok(false);
        };
        let plain = match (part, &stored.rows.perm) {
            (Part::RowPtr, _) => Some(slot_of(&stored.rows.row_ptr)),
            (Part::Col, _) => Some(slot_of(&stored.rows.col)),
            (Part::Perm, Some(perm)) => Some(slot_of(perm)),
            (Part::Perm, None) => return Err(Refused::Plan(PlanProblem::Part(name.to_owned()))),
            (Part::LongRows(_) | Part::LeafBase(_) | Part::LeafRow(_), _) => None,
        };
        if let (Part::LongRows(leaf) | Part::LeafBase(leaf) | Part::LeafRow(leaf), None) = (part, plain) {
            let Derived { parts: units, made: divided } = division(&stored, leaf, name, deriving)?;
            made |= divided;
            self.slots[number] = Some(match part {
                Part::LongRows(_) => slot_of(&units.long_rows),
                Part::LeafBase(_) => slot_of(&units.leaf_base),
                _ => slot_of(&units.leaf_row),
            });
            self.units.push(units);
        } else {
            self.slots[number] = plain;
        }
        self.rows.push(stored);
        Ok(made)
    }
}

/// Why there is no array.
pub(crate) enum Refused {
    /// The plan names what is none.
    Plan(PlanProblem),
    /// It could not be made, or may not be.
    Runtime(RuntimeError),
}

impl From<RuntimeError> for Refused {
    fn from(error: RuntimeError) -> Self {
        Refused::Runtime(error)
    }
}

/// The arrays of a relation; `None` if a graph is not bound.
pub(crate) fn rows(
    relation: &Key,
    name: &str,
    graphs: &[Option<Graph>],
    deriving: Deriving<'_>,
) -> Result<Option<Derived<Stored>>, RuntimeError> {
    match deriving {
        Deriving::Make(cancel) => relations::stored(relation, graphs, cancel),
        Deriving::Find => match relation.found(graphs) {
            Some(parts) => Ok(Some(Derived { parts, made: false })),
            None => Err(RuntimeError::NotDerived { part: name.to_owned() }),
        },
    }
}

/// The long rows of a relation.
pub(crate) fn division(
    stored: &Stored,
    leaf: i64,
    name: &str,
    deriving: Deriving<'_>,
) -> Result<Derived<RowUnits>, RuntimeError> {
    match deriving {
        Deriving::Make(cancel) => stored.units(leaf, cancel),
        Deriving::Find => match stored.found_units(leaf) {
            Some(parts) => Ok(Derived { parts, made: false }),
            None => Err(RuntimeError::NotDerived { part: name.to_owned() }),
        },
    }
}

fn slot_of<T>(values: &[T]) -> Slot {
    Slot { address: values.as_ptr().cast_mut().cast(), bytes: size_of_val(values) }
}
