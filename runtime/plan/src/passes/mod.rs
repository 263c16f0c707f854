//! Passes over a [`Template`]: one row each, run in this order by [`complete`].

mod assign_spaces;
mod close_bodies;
mod derive_dependencies;
mod insert_joins;
mod insert_releases;
mod insert_transfers;
mod reduce_dependencies;
mod schedule_spills;

pub use assign_spaces::assign_spaces;
pub use close_bodies::close_bodies;
pub use derive_dependencies::derive_dependencies;
pub use insert_joins::insert_joins;
pub use insert_releases::insert_releases;
pub use insert_transfers::insert_transfers;
pub use reduce_dependencies::reduce_dependencies;
pub use schedule_spills::{Budgets, Room, SpillError, TooSmall, peaks, schedule_spills};

use crate::template::{Body, Template};
use crate::verify::Violation;
use cranelift_entity::EntityRef;
use std::collections::{BTreeSet, BinaryHeap};

/// A rewrite of a template.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name on the command line.
    pub name: &'static str,
    /// The rewrite.
    pub run: fn(&mut Template),
    /// What holds after it.
    pub laws: Laws,
}

/// How many of a template's laws hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Laws {
    /// Handles are inside their lists.
    Handles,
    /// All but the hazard law.
    Form,
    /// All.
    All,
}

impl Laws {
    fn check(self, template: &Template) -> Result<(), Violation> {
        match self {
            Laws::Handles => template.verify_handles(),
            Laws::Form => template.verify_form(),
            Laws::All => template.verify(),
        }
    }
}

/// All passes, in the order in which a compiler's bare list of kernels needs them.
pub const PASSES: [Pass; 7] = [
    Pass { name: "assign-spaces", run: assign_spaces, laws: Laws::Handles },
    Pass { name: "close-bodies", run: close_bodies, laws: Laws::Form },
    Pass { name: "insert-transfers", run: insert_transfers, laws: Laws::Form },
    Pass { name: "derive-dependencies", run: derive_dependencies, laws: Laws::All },
    Pass { name: "insert-releases", run: insert_releases, laws: Laws::All },
    Pass { name: "insert-joins", run: insert_joins, laws: Laws::All },
    Pass { name: "reduce-dependencies", run: reduce_dependencies, laws: Laws::All },
];

/// A pass left a template that breaks a law.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("after {pass}: {violation}")]
pub struct PassError {
    /// The pass; `the compiler` if the template was broken before the first.
    pub pass: &'static str,
    /// The law.
    pub violation: Violation,
}

/// Runs all passes over tasks in program order, checking the laws after each.
///
/// # Errors
/// The first broken law, and the pass that broke it.
pub fn complete(template: &mut Template) -> Result<(), PassError> {
    let blame = |pass| move |violation| PassError { pass, violation };
    Laws::Handles.check(template).map_err(blame("the compiler"))?;
    for pass in PASSES {
        (pass.run)(template);
        pass.laws.check(template).map_err(blame(pass.name))?;
    }
    Ok(())
}

/// What each task of a body waits for, by index.
pub(crate) fn waits(body: &Body) -> Vec<Vec<usize>> {
    body.tasks.values().map(|task| task.waits_for().into_iter().map(|id| id.index()).collect()).collect()
}

/// The tasks among `candidates` that no other candidate waits for, directly or not, ascending.
/// Every task waits for earlier ones only.
fn latest(candidates: BTreeSet<usize>, waits: &[Vec<usize>]) -> Vec<usize> {
    let mut kept = Vec::new();
    let mut heap: BinaryHeap<(usize, bool)> = candidates.iter().map(|task| (*task, false)).collect();
    let mut open = candidates;
    // Of the copies of one task, that which an other one waits for leaves the heap first.
    while let Some((task, waited_for)) = heap.pop() {
        while heap.peek().is_some_and(|(copy, _)| *copy == task) {
            heap.pop();
        }
        if open.remove(&task) && !waited_for {
            kept.push(task);
        }
        if open.is_empty() {
            break;
        }
        heap.extend(waits[task].iter().map(|earlier| (*earlier, true)));
    }
    kept.reverse();
    kept
}

/// `<kind>:<ordinal>` with the first ordinals that are not taken.
fn fresh_names(taken: BTreeSet<String>, kind: &str) -> impl Iterator<Item = String> + use<> {
    let kind = kind.to_owned();
    (0..).map(move |ordinal: usize| format!("{kind}:{ordinal}")).filter(move |name| !taken.contains(name))
}

/// The names of a body's tasks.
fn task_names(body: &Body) -> BTreeSet<String> {
    body.tasks.values().map(|task| task.name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instantiate::{check_instance, instantiate};
    use crate::sample;
    use crate::template::*;
    use crate::verify::Rule;
    use proptest::prelude::*;
    use tiga_abi::Tier;

    fn names(template: &Template, body: &Body) -> Vec<String> {
        let name = |id: &TaskId| body.tasks[*id].name.clone();
        let line =
            |task: &Task| format!("{} <- {}", task.name, task.after.iter().map(name).collect::<Vec<_>>().join(" "));
        let released = |task: &Task| match task.kind {
            TaskKind::Release => format!(" {}", template.resources[task.args[0].resource].name),
            _ => String::new(),
        };
        body.tasks.values().map(|task| line(task) + &released(task)).collect()
    }

    #[test]
    fn a_bare_list_of_tasks_becomes_a_plan() {
        let mut template = sample::looped();
        complete(&mut template).unwrap();
        let expected = [
            "build-units:0 <- ",
            "init:0 <- ",
            "loop:0 <- build-units:0 init:0",
            "release:0 <- loop:0 r.b",
            "release:1 <- loop:0 go",
            "branch:0 <- loop:0",
            "release:2 <- branch:0 r.a",
            "join:0 <- release:0 release:1 release:2",
        ];
        assert_eq!(names(&template, &template.root), expected);
        let round = ["f <- ", "s <- f", "release:0 <- s t", "g <- s", "join:0 <- release:0 g"];
        assert_eq!(names(&template, &template.bodies[BodyId::from_u32(0)]), round);
        let again = template.clone();
        complete(&mut template).unwrap();
        assert_eq!(template, again, "a complete plan stays as it is");
    }

    #[test]
    fn a_resource_of_two_bodies_belongs_to_the_body_around_them() {
        let mut template = sample::looped();
        let shared = template.resources.push(sample::resource("u", Owner::Owned, tiga_abi::DType::F64, &["N"]));
        for body in [1, 2].map(BodyId::from_u32) {
            let task = sample::kernel("u", &[("u", shared, Mode::Write)]);
            template.bodies[body].tasks.push(task);
        }
        complete(&mut template).unwrap();
        assert!(template.bodies.values().skip(1).all(|body| body.externals.contains(&shared)));
        assert!(!template.root.externals.contains(&shared));
        let released = |task: &Task| task.kind == TaskKind::Release && task.args[0].resource == shared;
        assert_eq!(template.root.tasks.values().filter(|task| released(task)).count(), 1);
    }

    #[test]
    fn an_early_release_is_caught() {
        let mut template = sample::looped();
        complete(&mut template).unwrap();
        let release = template.root.tasks.values_mut().find(|task| task.kind == TaskKind::Release).unwrap();
        release.after.clear();
        assert!(matches!(template.verify().unwrap_err().rule, Rule::Hazard { .. }));
    }

    /// Tasks over four owned arrays, whole or in parts, in program order.
    fn program() -> impl Strategy<Value = Template> {
        let part = prop_oneof![2 => Just(None), 1 => (0..2_usize, 0..3_usize).prop_map(Some)];
        let mode = prop_oneof![Just(Mode::Read), Just(Mode::Write), Just(Mode::ReadWrite)];
        let uses = prop::collection::btree_map(0..4_u32, (mode, part), 0..3);
        prop::collection::vec(uses, 1..12).prop_map(|tasks| {
            let mut template = sample::looped();
            template.bodies.clear();
            template.root.tasks.clear();
            template.resources.clear();
            for name in ["w", "x", "y", "z"] {
                template.resources.push(sample::resource(name, Owner::Owned, tiga_abi::DType::F64, &["N"]));
            }
            for (index, uses) in tasks.into_iter().enumerate() {
                let names = ["w", "x", "y", "z"];
                let whole: Vec<_> = uses
                    .iter()
                    .map(|(id, (mode, _))| (names[*id as usize], ResourceId::from_u32(*id), *mode))
                    .collect();
                let mut task = sample::kernel(&format!("k:{index}"), &whole);
                for (access, (_, part)) in task.accesses.iter_mut().zip(uses.values()) {
                    let part = part.map(|(scheme, part)| (format!("s{scheme}"), format!("p{part}")));
                    access.partition = part.map(|(scheme, part)| Partition { scheme, part });
                }
                template.root.tasks.push(task);
            }
            template
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        #[test]
        fn any_program_becomes_a_plan_that_may_run(mut template in program()) {
            complete(&mut template).unwrap();
            let waits = waits(&template.root);
            for own in &waits {
                let all: BTreeSet<usize> = own.iter().copied().collect();
                prop_assert_eq!(&latest(all, &waits), own, "a dependency follows from others");
            }
            let again = Template::from_json(template.to_json().as_bytes()).unwrap();
            prop_assert_eq!(&again, &template);
            let instances = instantiate(&template, &|_| Some(10)).unwrap();
            let dag = check_instance(&instances[0].document).unwrap();
            prop_assert_eq!(dag.terminals().len(), 1);
            // Every task's accesses are on live arrays: the release comes last for each.
            let used: BTreeSet<_> = template.root.tasks.values().flat_map(|t| t.args.iter().map(|a| a.resource)).collect();
            let releases = template.root.tasks.values().filter(|task| task.kind == TaskKind::Release).count();
            prop_assert_eq!(releases, used.len());
            prop_assert!(instances[0].peak[&Tier::Ram] <= 80 * used.len() as u64);
        }
    }

    #[test]
    fn only_the_latest_are_kept() {
        let waits = [vec![], vec![0], vec![0], vec![1, 2], vec![]];
        assert_eq!(latest(BTreeSet::from([0, 1, 3, 4]), &waits), [3, 4]);
        assert_eq!(latest(BTreeSet::from([1, 2]), &waits), [1, 2]);
        assert_eq!(latest(BTreeSet::new(), &waits), [0; 0]);
    }
}
