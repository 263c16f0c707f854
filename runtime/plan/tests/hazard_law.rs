//! The hazard law on 100,000 random plans, against all pairs of tasks and the closure of their dependencies.

#![allow(clippy::unwrap_used, reason = "every function here is part of a test")]

use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use tiga_plan::bind::{BindError, bind};
use tiga_plan::document::{Argument, Document, DocumentAccess, Invocation};
use tiga_plan::{Mode, Partition, Phase};

/// Plans that are tried.
const PLANS: u64 = 100_000;

/// Tasks of a plan, at most: a set of them is a word.
const TASKS: usize = 14;

/// A conflict that nothing orders: both tasks, and the bindings, sorted.
type Pair = (String, String, Vec<String>);

fn access(rng: &mut Rng) -> DocumentAccess {
    let partition =
        (rng.u8(..3) > 0).then(|| Partition { scheme: format!("s{}", rng.u8(..3)), part: format!("p{}", rng.u8(..4)) });
    DocumentAccess {
        binding: format!("r{}", rng.u8(..4)),
        mode: [Mode::Read, Mode::Write, Mode::ReadWrite][rng.usize(..3)],
        snapshot_version: 0,
        partition,
    }
}

fn invocation(name: usize, accesses: Vec<DocumentAccess>) -> Invocation {
    let bindings: BTreeSet<&String> = accesses.iter().map(|access| &access.binding).collect();
    let argument = |name: &&String| Argument { parameter: (*name).clone(), resource: (*name).clone() };
    Invocation {
        name: format!("t{name}"),
        task_kind: "local".into(),
        phase: Phase::Execute,
        executable_symbol: "k".into(),
        depends_on: Vec::new(),
        arguments: bindings.iter().map(argument).collect(),
        accesses,
        snapshot_version: 0,
        metadata: serde_json::Map::new(),
    }
}

/// The definition's words: same binding, one of them writes, not two parts of one scheme.
fn conflict(a: &DocumentAccess, b: &DocumentAccess) -> bool {
    let disjoint = match (&a.partition, &b.partition) {
        (Some(a), Some(b)) => a.scheme == b.scheme && a.part != b.part,
        _ => false,
    };
    a.binding == b.binding && (a.mode != Mode::Read || b.mode != Mode::Read) && !disjoint
}

fn conflicts(a: &Invocation, b: &Invocation) -> Vec<String> {
    let all = a.accesses.iter().filter(|one| b.accesses.iter().any(|other| conflict(one, other)));
    all.map(|access| access.binding.clone()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// A plan whose dependencies follow a random order: any of them; or one for each conflict but a few, so that about as
/// many plans are sound.
fn plan(rng: &mut Rng) -> Document {
    let count = rng.usize(1..=TASKS);
    let most = rng.usize(..4);
    let tasks: Vec<Vec<DocumentAccess>> =
        (0..count).map(|_| (0..rng.usize(..=most)).map(|_| access(rng)).collect()).collect();
    let mut invocations: Vec<Invocation> =
        tasks.into_iter().enumerate().map(|(name, accesses)| invocation(name, accesses)).collect();
    let mut order: Vec<usize> = (0..count).collect();
    rng.shuffle(&mut order);
    let (by_conflict, density, forgotten) = (rng.bool(), rng.u32(..=100), rng.u32(..8));
    for later in 1..count {
        for earlier in 0..later {
            let (from, to) = (order[earlier], order[later]);
            let ordered = by_conflict && !conflicts(&invocations[from], &invocations[to]).is_empty();
            if if ordered { rng.u32(..100) >= forgotten } else { rng.u32(..400) < density } {
                let name = invocations[from].name.clone();
                invocations[to].depends_on.push(name);
            }
        }
    }
    let waited: BTreeSet<&String> = invocations.iter().flat_map(|task| &task.depends_on).collect();
    let terminals = invocations.iter().map(|task| &task.name).filter(|name| !waited.contains(name)).cloned().collect();
    Document { resources: Vec::new(), invocations, terminals }
}

/// All pairs in declaration order, against the transitive closure.
fn brute_force(document: &Document) -> Option<Pair> {
    let tasks = &document.invocations;
    let place = |name: &String| tasks.iter().position(|task| task.name == *name).unwrap();
    let mut before: Vec<u16> =
        tasks.iter().map(|task| task.depends_on.iter().fold(0, |set, name| set | 1 << place(name))).collect();
    for via in 0..tasks.len() {
        for task in 0..tasks.len() {
            if before[task] & 1 << via != 0 {
                before[task] |= before[via];
            }
        }
    }
    let pairs = (0..tasks.len()).flat_map(|left| (left + 1..tasks.len()).map(move |right| (left, right)));
    pairs.filter(|(l, r)| before[*l] & 1 << r == 0 && before[*r] & 1 << l == 0).find_map(|(left, right)| {
        let bindings = conflicts(&tasks[left], &tasks[right]);
        (!bindings.is_empty()).then(|| (tasks[left].name.clone(), tasks[right].name.clone(), bindings))
    })
}

/// What a pair of accesses is, for the count of what was seen.
fn kind(a: &DocumentAccess, b: &DocumentAccess) -> String {
    let side = |access: &DocumentAccess| access.mode.name();
    let (a_side, b_side) = (side(a).min(side(b)), side(a).max(side(b)));
    let parts = match (&a.partition, &b.partition) {
        (None, None) => "both whole",
        (Some(a), Some(b)) if a.scheme != b.scheme => "two schemes",
        (Some(a), Some(b)) if a.part == b.part => "one part",
        (Some(_), Some(_)) => "two parts",
        _ => "part and whole",
    };
    format!("{a_side:<10} {b_side:<10} {parts}")
}

/// Plans with a pair of accesses of each kind to one binding: refused for it, accepted.
#[derive(Default)]
struct Seen(BTreeMap<String, (u64, u64)>);

impl Seen {
    fn count(&mut self, document: &Document, first: &Option<Pair>) {
        let mut kinds = BTreeSet::new();
        for (index, left) in document.invocations.iter().enumerate() {
            for right in &document.invocations[index + 1..] {
                let guilty = |(l, r, _): &Pair| *l == left.name && *r == right.name;
                if first.is_none() || first.as_ref().is_some_and(guilty) {
                    let pairs = left.accesses.iter().flat_map(|a| right.accesses.iter().map(move |b| (a, b)));
                    kinds.extend(pairs.filter(|(a, b)| a.binding == b.binding).map(|(a, b)| kind(a, b)));
                }
            }
        }
        for kind in kinds {
            let (refused, accepted) = self.0.entry(kind).or_default();
            *if first.is_some() { refused } else { accepted } += 1;
        }
    }
}

#[test]
fn verdict_and_first_pair_are_those_of_brute_force() {
    let (mut seen, mut refused) = (Seen::default(), 0);
    for seed in 0..PLANS {
        let document = plan(&mut Rng::with_seed(seed));
        let expected = brute_force(&document);
        let found = match bind(&document, &mut |_| Ok(Some(()))) {
            Ok(_) => None,
            Err(BindError::Hazard { left, right, bindings }) => Some((left, right, bindings)),
            Err(other) => panic!("seed {seed}: {other}"),
        };
        assert_eq!(found, expected, "seed {seed}: {}", document.to_json());
        refused += u64::from(found.is_some());
        seen.count(&document, &expected);
    }
    println!("{PLANS} plans: {refused} refused, {} accepted", PLANS - refused);
    println!("{:<10} {:<10} {:<14} {:>8} {:>8}", "mode", "mode", "parts", "refused", "accepted");
    for (kind, (refused, accepted)) in &seen.0 {
        println!("{kind:<36} {refused:>8} {accepted:>8}");
    }
    // Six pairs of modes, each with five relations of parts: all were accepted somewhere, and refused where they conflict.
    assert_eq!(seen.0.len(), 30);
    assert!(seen.0.values().all(|(_, accepted)| *accepted > 100), "{:?}", seen.0);
    assert!(refused > PLANS / 5 && refused < PLANS / 5 * 4, "{refused}");
}
