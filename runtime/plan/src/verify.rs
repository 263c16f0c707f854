//! The laws of a [`Template`]; a broken one is a [`Violation`] that names the task.
//!
//! - names are unique: resource instances, bodies, tasks of a body, parameters of a task
//! - a task waits for earlier tasks only, each once, ascending; `materialize` never waits for `execute`
//! - a body is run by exactly one task, which stands in a later body or in the root
//! - what a body uses without listing it in `externals` is owned, and owned by that body alone
//! - the accesses of a loop or branch contain those of its bodies, rotating handles excepted
//! - a rotation joins four arrays of one type and tier; a condition is a boolean scalar that the body rewrites
//! - arguments and accesses name the same resources; reserved kinds have their fixed parameters,
//!   and no kernel has their symbols
//! - a release names a resource that this body owns, once, and is no loop's or branch's business
//! - capacities mention declared symbols; leaves, blocks are at least 1
//! - a transfer joins two instances of one value; what a task computes with or decides by is in memory that it reaches
//! - the hazard law holds in every body

use crate::Relation;
use crate::hazard::{Touch, first_hazard};
use crate::instantiate::parameters_of;
use crate::template::*;
use cranelift_entity::{EntityRef, EntitySet, PrimaryMap, SecondaryMap};
use std::collections::{BTreeMap, BTreeSet};
use tiga_abi::{DType, SizeExpr};

/// A template breaks a law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("plan {place}: {rule}")]
pub struct Violation {
    /// The resource, or the body and task.
    pub place: String,
    /// The law.
    pub rule: Rule,
}

/// The law that is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// A handle that is in no list.
    #[error("{0} does not exist")]
    Handle(String),
    /// A task that makes a relation of others, of none.
    #[error("`{0}` is no relation made of others")]
    Joined(String),
    /// A name that is already taken.
    #[error("the name `{0}` is already taken")]
    Name(String),
    /// A dependency that is not an earlier task, or stands out of order.
    #[error("waits for {0}, which is not an earlier task, or not in ascending order")]
    After(TaskId),
    /// A task of `materialize` that waits for one of `execute`.
    #[error("is of phase materialize and waits for `{0}` of phase execute")]
    Phase(String),
    /// A body that no task runs, or more than one, or one that stands before it.
    #[error("`{0}` must be run by exactly one task of a later body")]
    Nesting(String),
    /// A resource that is used by a body which neither owns it nor lists it.
    #[error("`{0}` is neither listed as external nor owned by this body alone")]
    Ownership(String),
    /// The list of externals is not ascending.
    #[error("the externals are not in ascending order")]
    Externals,
    /// A loop or branch that hides an access of its body.
    #[error("its accesses do not contain those of its body to `{0}`")]
    Hidden(String),
    /// Four arrays that cannot rotate.
    #[error("`{0}` cannot rotate here: types or tiers differ, or a handle is not a borrowed external of the body")]
    Rotation(String),
    /// A condition or count that is not a scalar of the right type, or that the body never rewrites.
    #[error("`{0}` cannot decide how often this runs")]
    Decision(String),
    /// Arguments of a reserved kind.
    #[error("must have the arguments {0:?} and touch them accordingly")]
    Contract(&'static [&'static str]),
    /// A kernel that is called like something the runtime does itself.
    #[error("a kernel cannot be called `{0}`")]
    Reserved(String),
    /// A resource that is an argument but not accessed, or the reverse.
    #[error("`{0}` must be both an argument and accessed")]
    Binding(String),
    /// A release of something that the body does not own, or that is released already.
    #[error("`{0}` is not this body's to release, or released already")]
    Release(String),
    /// A size that is not declared.
    #[error("the symbol `{0}` is not declared")]
    Symbol(String),
    /// A transfer between what is not the same value.
    #[error("`{0}` and `{1}` are not two instances of one value")]
    Transfer(String, String),
    /// A task that computes with something it cannot reach, or decides by it.
    #[error("`{0}` is not in memory that it reaches")]
    Elsewhere(String),
    /// A leaf or block without elements.
    #[error("{0} is not a number of elements")]
    Count(i64),
    /// Two unordered tasks.
    #[error("is not ordered against `{other}`; both touch {resources:?}")]
    Hazard {
        /// The later one.
        other: String,
        /// The resources.
        resources: Vec<String>,
    },
}

impl Template {
    /// Checks every law.
    ///
    /// # Errors
    /// The first broken one.
    pub fn verify(&self) -> Result<(), Violation> {
        self.verify_form()?;
        self.verify_tiers()?;
        self.verify_hazards()
    }

    /// Checks where things are, once all laws of form hold.
    fn verify_tiers(&self) -> Result<(), Violation> {
        for body in self.bodies.values().chain([&self.root]) {
            for task in body.tasks.values() {
                let place = || format!("`{}` task `{}`", body.name, task.name);
                tiers(&self.resources, task).map_err(|rule| violation(place(), rule))?;
            }
        }
        Ok(())
    }

    /// Checks every law but that of hazards.
    ///
    /// # Errors
    /// The first broken one.
    pub fn verify_form(&self) -> Result<(), Violation> {
        self.verify_handles()?;
        verify_resources(self)?;
        let mut bodies = Bodies::default();
        for (id, body) in &self.bodies {
            let effects = Check { template: self, body, id: Some(id) }.run(&mut bodies)?;
            bodies.effects.push(effects);
        }
        Check { template: self, body: &self.root, id: None }.run(&mut bodies)?;
        match self.bodies.keys().find(|id| !bodies.run.contains(*id)) {
            Some(id) => Err(violation(format!("`{}`", self.program), Rule::Nesting(self.bodies[id].name.clone()))),
            None => Ok(()),
        }
    }

    /// Checks that all handles are inside their lists: nothing else may be done with a template before.
    ///
    /// # Errors
    /// [`Rule::Handle`].
    pub fn verify_handles(&self) -> Result<(), Violation> {
        for body in self.bodies.values().chain([&self.root]) {
            handles(self, body).map_err(|rule| violation(format!("`{}`", body.name), rule))?;
        }
        Ok(())
    }

    /// Checks the hazard law in all bodies, once all other laws hold.
    ///
    /// # Errors
    /// [`Rule::Hazard`], naming the first pair.
    pub fn verify_hazards(&self) -> Result<(), Violation> {
        for body in self.bodies.values().chain([&self.root]) {
            let dag = body.dag();
            let Some(hazard) = first_hazard(&dag, &touches(body)) else { continue };
            let task = |index: usize| body.tasks[TaskId::new(index)].name.clone();
            let names = hazard.resources.iter().map(|index| self.resources[ResourceId::new(*index)].binding());
            let rule = Rule::Hazard { other: task(hazard.right), resources: names.collect() };
            return Err(violation(format!("`{}` task `{}`", body.name, task(hazard.left)), rule));
        }
        Ok(())
    }
}

/// The accesses of a body's tasks, with schemes and parts numbered.
pub(crate) fn touches(body: &Body) -> Vec<Vec<Touch>> {
    let mut numbers: BTreeMap<String, usize> = BTreeMap::new();
    let mut number = |name: String| {
        let next = numbers.len();
        *numbers.entry(name).or_insert(next)
    };
    let mut touch = |access: &Access| {
        let partition = access.partition.clone();
        let part = partition.map(|Partition { scheme, part }| (number(scheme), number(part)));
        Touch { resource: access.resource.index(), writes: access.mode.writes(), part }
    };
    body.tasks.values().map(|task| task.accesses.iter().map(&mut touch).collect()).collect()
}

fn tiers(resources: &PrimaryMap<ResourceId, Resource>, task: &Task) -> Result<(), Rule> {
    if task.kind == TaskKind::Transfer {
        let [from, to] = [0, 1].map(|argument| &resources[task.args[argument].resource]);
        let one = from.name == to.name && from.capacity == to.capacity && from.binding() != to.binding();
        return if one { Ok(()) } else { Err(Rule::Transfer(from.binding(), to.binding())) };
    }
    let reached: Vec<ResourceId> = match &task.kind {
        TaskKind::Loop { trip, .. } => trip.resources(),
        TaskKind::Branch { condition, .. } => vec![*condition],
        kind if kind.runs_in_memory() => task.args.iter().map(|arg| arg.resource).collect(),
        _ => Vec::new(),
    };
    match reached.into_iter().find(|id| !resources[*id].tier.is_addressable()) {
        Some(id) => Err(Rule::Elsewhere(resources[id].binding())),
        None => Ok(()),
    }
}

fn violation(place: String, rule: Rule) -> Violation {
    Violation { place, rule }
}

/// Handles of resources, bodies and tasks that a body mentions.
fn handles(template: &Template, body: &Body) -> Result<(), Rule> {
    let inside = |known: bool, name: String| if known { Ok(()) } else { Err(Rule::Handle(name)) };
    let resource = |id: ResourceId| inside(template.resources.is_valid(id), id.to_string());
    let nested = |id: BodyId| inside(template.bodies.is_valid(id), id.to_string());
    body.externals.iter().copied().try_for_each(resource)?;
    for task in body.tasks.values() {
        task.after
            .iter()
            .chain(&task.room_after)
            .try_for_each(|id| inside(body.tasks.is_valid(*id), id.to_string()))?;
        let args = task.args.iter().map(|arg| arg.resource);
        args.chain(task.accesses.iter().map(|access| access.resource)).try_for_each(resource)?;
        match &task.kind {
            TaskKind::Loop { body, rotate, trip } => {
                nested(*body)?;
                rotate.iter().flat_map(|r| [r.read, r.write, r.a, r.b]).try_for_each(resource)?;
                trip.resources().into_iter().try_for_each(resource)?;
            }
            TaskKind::Branch { condition, then_body, else_body } => {
                resource(*condition)?;
                [*then_body, *else_body].into_iter().try_for_each(nested)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn verify_resources(template: &Template) -> Result<(), Violation> {
    let mut names = BTreeSet::new();
    for resource in template.resources.values() {
        let name = resource.binding();
        let fail = |rule| Err(violation(format!("resource `{name}`"), rule));
        if let Err(rule) = declared(template, resource.shape.iter().chain([&resource.capacity])) {
            return fail(rule);
        }
        if !names.insert(name.clone()) {
            return fail(Rule::Name(name.clone()));
        }
    }
    let mut names = BTreeSet::new();
    for body in template.bodies.values().chain([&template.root]) {
        if !names.insert(&body.name) {
            return Err(violation(format!("`{}`", body.name), Rule::Name(body.name.clone())));
        }
    }
    Ok(())
}

fn declared<'e>(template: &Template, sizes: impl IntoIterator<Item = &'e SizeExpr>) -> Result<(), Rule> {
    let mut symbols = sizes.into_iter().flat_map(SizeExpr::symbols);
    match symbols.find(|symbol| !template.symbols.contains(symbol)) {
        Some(symbol) => Err(Rule::Symbol(symbol.to_string())),
        None => Ok(()),
    }
}

/// What the bodies checked so far do to their externals, and which of them a task runs.
#[derive(Default)]
struct Bodies {
    effects: PrimaryMap<BodyId, BTreeMap<ResourceId, Effect>>,
    run: EntitySet<BodyId>,
    owners: SecondaryMap<ResourceId, Option<String>>,
}

/// What a body does to one external.
#[derive(Clone, Copy, Default)]
struct Effect {
    reads: bool,
    writes: bool,
}

struct Check<'a> {
    template: &'a Template,
    body: &'a Body,
    id: Option<BodyId>,
}

impl Check<'_> {
    fn run(&self, bodies: &mut Bodies) -> Result<BTreeMap<ResourceId, Effect>, Violation> {
        let mut names = BTreeSet::new();
        let mut released = BTreeSet::new();
        for (id, task) in &self.body.tasks {
            let checked = self.task(id, task, bodies).and_then(|()| match task.kind {
                TaskKind::Release if !released.insert(task.args[0].resource) => {
                    Err(Rule::Release(self.name(task.args[0].resource)))
                }
                _ if names.insert(&task.name) => Ok(()),
                _ => Err(Rule::Name(task.name.clone())),
            });
            checked.map_err(|rule| self.at(Some(task), rule))?;
        }
        self.effects(bodies).map_err(|rule| self.at(None, rule))
    }

    fn at(&self, task: Option<&Task>, rule: Rule) -> Violation {
        let body = &self.body.name;
        violation(task.map_or_else(|| format!("`{body}`"), |task| format!("`{body}` task `{}`", task.name)), rule)
    }

    fn name(&self, id: ResourceId) -> String {
        self.template.resources[id].binding()
    }

    fn task(&self, id: TaskId, task: &Task, bodies: &mut Bodies) -> Result<(), Rule> {
        self.order(id, task)?;
        self.bindings(task)?;
        match &task.kind {
            TaskKind::Kernel { symbol, .. } if symbol.starts_with("__gf_") || symbol.starts_with("tiga.") => {
                Err(Rule::Reserved(symbol.clone()))
            }
            TaskKind::Kernel { units, .. } => self.units(units),
            TaskKind::Loop { body, rotate, trip } => self.looped(task, *body, rotate, trip, bodies),
            TaskKind::Branch { condition, then_body, else_body } => {
                self.decision(task, *condition, DType::Bool)?;
                self.nested(task, *then_body, &[], bodies)?;
                self.nested(task, *else_body, &[], bodies)
            }
            TaskKind::Join => contract(task, &[]),
            TaskKind::Release => {
                contract(task, &[Mode::ReadWrite])?;
                let id = task.args[0].resource;
                let owned = self.template.resources[id].owner == Owner::Owned && !self.lists(id);
                if owned { Ok(()) } else { Err(Rule::Release(self.name(id))) }
            }
            TaskKind::Transfer | TaskKind::Copy => contract(task, &[Mode::Read, Mode::Write]),
            TaskKind::BuildTranspose { .. } => {
                contract(task, &[Mode::Read, Mode::Read, Mode::Write, Mode::Write, Mode::Write])
            }
            TaskKind::BuildJoined { relation } => joined(task, relation),
            TaskKind::BuildUnits { leaf, .. } => {
                positive(*leaf)?;
                contract(task, &[Mode::Read, Mode::Write, Mode::Write, Mode::Write])
            }
        }
    }

    fn order(&self, id: TaskId, task: &Task) -> Result<(), Rule> {
        let all = task.waits_for();
        for list in [&task.after, &task.room_after, &all] {
            if let Some(pair) = list.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(Rule::After(pair[1]));
            }
        }
        for earlier in all {
            if earlier >= id {
                return Err(Rule::After(earlier));
            }
            let other = &self.body.tasks[earlier];
            if task.phase == Phase::Materialize && other.phase == Phase::Execute {
                return Err(Rule::Phase(other.name.clone()));
            }
        }
        Ok(())
    }

    /// Arguments and accesses name the same resources; each parameter once.
    fn bindings(&self, task: &Task) -> Result<(), Rule> {
        let args: BTreeSet<_> = task.args.iter().map(|arg| arg.resource).collect();
        let accesses: BTreeSet<_> = task.accesses.iter().map(|access| access.resource).collect();
        if let Some(id) = args.symmetric_difference(&accesses).next() {
            return Err(Rule::Binding(self.name(*id)));
        }
        let mut parameters = BTreeSet::new();
        match task.args.iter().find(|arg| !parameters.insert(&arg.parameter)) {
            Some(arg) => Err(Rule::Name(arg.parameter.clone())),
            None => Ok(()),
        }
    }

    fn units(&self, units: &Units) -> Result<(), Rule> {
        match units {
            Units::Once => Ok(()),
            Units::Rows(count) => declared(self.template, [count]),
            Units::Blocks { extent, size } => declared(self.template, [extent]).and_then(|()| positive(*size)),
            Units::Leaves { leaf, .. } | Units::LongRows { leaf, .. } => positive(*leaf),
        }
    }

    fn looped(
        &self,
        task: &Task,
        body: BodyId,
        rotate: &[Rotation],
        trip: &Trip,
        bodies: &mut Bodies,
    ) -> Result<(), Rule> {
        self.nested(task, body, rotate, bodies)?;
        let externals = &self.template.bodies[body].externals;
        let resources = &self.template.resources;
        let mut handles = BTreeSet::new();
        for rotation in rotate {
            let Rotation { read, write, a, b } = *rotation;
            let alike = |x: ResourceId| {
                let (x, a) = (&resources[x], &resources[a]);
                x.dtype == a.dtype && x.shape == a.shape && x.capacity == a.capacity && x.tier == a.tier
            };
            let handle = |x: ResourceId| resources[x].owner == Owner::Borrowed && externals.binary_search(&x).is_ok();
            if !([read, write, b].into_iter().all(alike) && handle(read) && handle(write)) {
                return Err(Rule::Rotation(self.name(a)));
            }
            for id in [read, write, a, b] {
                if !handles.insert(id) {
                    return Err(Rule::Rotation(self.name(id)));
                }
            }
            let whole = |id| covers(task, id, Effect { reads: true, writes: true });
            if let Some(id) = [a, b].into_iter().find(|id| !whole(*id)) {
                return Err(Rule::Hidden(self.name(id)));
            }
        }
        match trip {
            Trip::Counted(count) => self.count(task, *count),
            Trip::While { condition, at_most } => {
                self.decision(task, *condition, DType::Bool)?;
                match bodies.effects[body].get(condition) {
                    Some(effect) if effect.writes => self.count(task, *at_most),
                    _ => Err(Rule::Decision(self.name(*condition))),
                }
            }
        }
    }

    fn count(&self, task: &Task, count: Count) -> Result<(), Rule> {
        match count {
            Count::Const(_) => Ok(()),
            Count::Resource(id) => self.decision(task, id, DType::I64),
        }
    }

    /// A scalar that decides something is read by the task itself.
    fn decision(&self, task: &Task, id: ResourceId, dtype: DType) -> Result<(), Rule> {
        let resource = &self.template.resources[id];
        if resource.dtype != dtype || !resource.shape.is_empty() {
            return Err(Rule::Decision(self.name(id)));
        }
        if covers(task, id, Effect { reads: true, writes: false }) { Ok(()) } else { Err(Rule::Hidden(self.name(id))) }
    }

    /// The task runs an earlier body, is the only one to do so, and its accesses contain the body's.
    fn nested(&self, task: &Task, id: BodyId, rotate: &[Rotation], bodies: &mut Bodies) -> Result<(), Rule> {
        let earlier = self.id.is_none_or(|own| id < own);
        if !earlier || !bodies.run.insert(id) {
            return Err(Rule::Nesting(self.template.bodies[id].name.clone()));
        }
        let handle = |id: ResourceId| rotate.iter().any(|r| r.read == id || r.write == id);
        let mut seen = bodies.effects[id].iter().filter(|(resource, _)| !handle(**resource));
        match seen.find(|(resource, effect)| !covers(task, **resource, **effect)) {
            Some((resource, _)) => Err(Rule::Hidden(self.name(*resource))),
            None => Ok(()),
        }
    }

    fn lists(&self, id: ResourceId) -> bool {
        self.body.externals.binary_search(&id).is_ok()
    }

    /// What the body does to its externals; checks that it owns everything else.
    fn effects(&self, bodies: &mut Bodies) -> Result<BTreeMap<ResourceId, Effect>, Rule> {
        if !self.body.externals.is_sorted_by(|a, b| a < b) {
            return Err(Rule::Externals);
        }
        let mut effects: BTreeMap<ResourceId, Effect> =
            self.body.externals.iter().map(|id| (*id, Effect::default())).collect();
        for access in self.body.tasks.values().flat_map(|task| &task.accesses) {
            if let Some(effect) = effects.get_mut(&access.resource) {
                effect.reads |= access.mode.reads();
                effect.writes |= access.mode.writes();
                continue;
            }
            let owner = &mut bodies.owners[access.resource];
            let owned = self.template.resources[access.resource].owner == Owner::Owned;
            if !owned || owner.as_ref().is_some_and(|owner| *owner != self.body.name) {
                return Err(Rule::Ownership(self.name(access.resource)));
            }
            *owner = Some(self.body.name.clone());
        }
        let owned = |id: &&ResourceId| self.template.resources[**id].owner == Owner::Owned;
        match self.body.externals.iter().find(owned) {
            Some(id) if self.id.is_none() => Err(Rule::Ownership(self.name(*id))),
            _ => Ok(effects),
        }
    }
}

impl Trip {
    /// The scalars that it reads.
    pub fn resources(&self) -> Vec<ResourceId> {
        let (condition, count) = match self {
            Trip::Counted(count) => (None, count),
            Trip::While { condition, at_most } => (Some(*condition), at_most),
        };
        let count = match count {
            Count::Const(_) => None,
            Count::Resource(id) => Some(*id),
        };
        condition.into_iter().chain(count).collect()
    }
}

/// Whether some access of the task to the whole resource allows the effect.
fn covers(task: &Task, id: ResourceId, effect: Effect) -> bool {
    let whole = |access: &&Access| access.resource == id && access.partition.is_none();
    let of = task.accesses.iter().filter(whole);
    let (reads, writes) = of.fold((false, false), |(r, w), a| (r || a.mode.reads(), w || a.mode.writes()));
    (reads || !effect.reads) && (writes || !effect.writes)
}

/// The task has the parameters of its symbol, and touches them in these ways.
fn contract(task: &Task, modes: &[Mode]) -> Result<(), Rule> {
    let parameters = parameters_of(task.kind.spelling().1).unwrap_or_default();
    let named = task.args.iter().map(|arg| arg.parameter.as_str()).eq(parameters.iter().copied());
    let touched = named
        && task.accesses.len() == modes.len()
        && task.args.iter().zip(modes).all(|(arg, mode)| {
            let mut own = task.accesses.iter().filter(|access| access.resource == arg.resource);
            own.next().is_some_and(|access| access.mode == *mode && access.partition.is_none())
        });
    if touched { Ok(()) } else { Err(Rule::Contract(parameters)) }
}

/// A relation made of others reads all of theirs and writes all of its own.
fn joined(task: &Task, text: &str) -> Result<(), Rule> {
    let relation = Relation::parse(text).filter(|relation| !relation.made_of().is_empty());
    let relation = relation.ok_or_else(|| Rule::Joined(text.to_owned()))?;
    let arrays = |relation: &Relation| if relation.numbered() { &JOINED[..] } else { &JOINED[..2] };
    let read = |(made_of, of): (&Relation, &str)| arrays(made_of).iter().map(|a| format!("{of}.{a}")).collect();
    let reads: Vec<Vec<String>> = relation.made_of().into_iter().zip(["a", "b"]).map(read).collect();
    let reads = reads.concat();
    let parameters: Vec<&str> = reads.iter().map(String::as_str).chain(arrays(&relation).iter().copied()).collect();
    let modes: Vec<Mode> =
        (0..parameters.len()).map(|i| if i < reads.len() { Mode::Read } else { Mode::Write }).collect();
    // Where a graph stands twice, its arrays are arguments twice and accesses once.
    let touched = |(arg, mode): (&Arg, &Mode)| {
        let mut own = task.accesses.iter().filter(|access| access.resource == arg.resource);
        own.next().is_some_and(|access| access.mode == *mode && access.partition.is_none()) && own.next().is_none()
    };
    let named = task.args.iter().map(|arg| arg.parameter.as_str()).eq(parameters);
    if named && task.args.iter().zip(&modes).all(touched) { Ok(()) } else { Err(Rule::Contract(&JOINED)) }
}

/// The arrays of a relation whose edges have numbers.
const JOINED: [&str; 3] = ["row_ptr", "col", "perm"];

fn positive(count: i64) -> Result<(), Rule> {
    if count >= 1 { Ok(()) } else { Err(Rule::Count(count)) }
}

#[cfg(test)]
mod tests;
