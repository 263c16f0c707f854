//! Plans made to fit, held against everything that their dependencies allow and against the least that can be moved.

use super::*;
use crate::passes::complete as complete_plan;
use crate::passes::waits;
use crate::sample;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::collections::{BTreeSet, BinaryHeap};
use tiga_abi::DType;

const UNBOUND: &dyn Fn(&str) -> Option<i64> = &|_| None;

fn fit(template: &Template, ram: u64, nvme: Option<u64>) -> Result<Template, SpillError> {
    let mut budgets = Budgets::from([(Tier::Ram, ram)]);
    budgets.extend(nvme.map(|bytes| (Tier::Nvme, bytes)));
    schedule_spills(template, Room { sizes: UNBOUND, scratch: &|_| 0, derived: None, budgets: &budgets })
}

fn smallest(template: &Template) -> u64 {
    match fit(template, 0, None) {
        Ok(_) => 0,
        Err(SpillError::Small(small)) => small.smallest.unwrap(),
        Err(other) => panic!("{other}"),
    }
}

/// What a random task does: the values that it reads and writes, by number.
type Uses = (Vec<prop::sample::Index>, Vec<(prop::sample::Index, bool)>);

/// Tasks over owned values of different sizes; what they read was written before, and the last one writes a result.
fn program(tasks: std::ops::Range<usize>) -> impl Strategy<Value = Template> {
    let index = any::<prop::sample::Index>;
    let uses = (prop::collection::vec(index(), 0..3), prop::collection::vec((index(), any::<bool>()), 1..3));
    (prop::collection::vec(1..40i64, 3..7), prop::collection::vec(uses, tasks)).prop_map(|(sizes, tasks)| {
        let mut template = sample::looped();
        template.bodies.clear();
        template.root.tasks.clear();
        template.resources.clear();
        let result = template.resources.push(sample::resource("out", Owner::Borrowed, DType::Bool, &["1"]));
        let value = |(number, bytes): (usize, &i64)| {
            sample::resource(&format!("v{number}"), Owner::Owned, DType::Bool, &[&bytes.to_string()])
        };
        let values: Vec<ResourceId> =
            sizes.iter().enumerate().map(value).map(|value| template.resources.push(value)).collect();
        build(&mut template, &values, result, &tasks);
        complete_plan(&mut template).unwrap();
        template
    })
}

fn build(template: &mut Template, values: &[ResourceId], result: ResourceId, tasks: &[Uses]) {
    let mut written: Vec<ResourceId> = Vec::new();
    for (number, (reads, writes)) in tasks.iter().enumerate() {
        let mut uses: BTreeMap<ResourceId, Mode> = BTreeMap::new();
        for read in reads.iter().filter(|_| !written.is_empty()) {
            uses.insert(written[read.index(written.len())], Mode::Read);
        }
        for (write, both) in writes {
            let id = values[write.index(values.len())];
            let again = written.contains(&id) && (*both || uses.contains_key(&id));
            uses.insert(id, if again { Mode::ReadWrite } else { Mode::Write });
        }
        if number + 1 == tasks.len() {
            uses.insert(result, Mode::Write);
        }
        written.extend(uses.iter().filter(|(id, mode)| mode.writes() && **id != result).map(|(id, _)| *id));
        written.sort_unstable();
        written.dedup();
        let name = |id: ResourceId| template.resources[id].name.clone();
        let named: Vec<(String, ResourceId, Mode)> = uses.iter().map(|(id, mode)| (name(*id), *id, *mode)).collect();
        let uses: Vec<(&str, ResourceId, Mode)> = named.iter().map(|(n, id, mode)| (n.as_str(), *id, *mode)).collect();
        template.root.tasks.push(sample::kernel(&format!("k{number}"), &uses));
    }
}

/// Goes through every set of tasks that can be complete or running at some moment, of any order: no budget is
/// exceeded, and what a task uses is there.
fn walk(template: &Template, budgets: &Budgets) -> Result<usize, String> {
    let body = &template.root;
    let waits = waits(body);
    let count = waits.len();
    assert!(count <= 60, "{count} tasks");
    let mut seen = BTreeSet::from([(0u64, 0u64)]);
    let mut open = vec![(0u64, 0u64)];
    while let Some((started, complete)) = open.pop() {
        check_moment(template, budgets, started, complete)?;
        for (task, waits) in waits.iter().enumerate() {
            let bit = 1u64 << task;
            let mut next = None;
            if started & bit == 0 && waits.iter().all(|earlier| complete >> earlier & 1 == 1) {
                next = Some((started | bit, complete));
            } else if started & bit != 0 && complete & bit == 0 {
                next = Some((started, complete | bit));
            }
            if let Some(next) = next.filter(|next| seen.insert(*next)) {
                open.push(next);
            }
        }
        if seen.len() > 400_000 {
            return Ok(0);
        }
    }
    Ok(seen.len())
}

fn check_moment(template: &Template, budgets: &Budgets, started: u64, complete: u64) -> Result<(), String> {
    let body = &template.root;
    let mut live: BTreeMap<Tier, u64> = BTreeMap::new();
    let done = |id: TaskId, set: u64| set >> id.as_u32() & 1 == 1;
    for (resource, value) in template.resources.iter().filter(|(_, value)| value.owner == Owner::Owned) {
        let users = || body.tasks.iter().filter(|(_, task)| task.accesses.iter().any(|a| a.resource == resource));
        let writes = |task: &Task| task.accesses.iter().any(|a| a.resource == resource && a.mode == Mode::Write);
        let release = users().find(|(_, task)| task.kind == TaskKind::Release);
        let kernels = || users().filter(|(_, task)| task.kind != TaskKind::Release);
        let begun = kernels().any(|(id, task)| writes(task) && done(id, started));
        let over = release.is_some_and(|(id, _)| done(id, complete));
        for (id, task) in kernels().filter(|(id, _)| done(*id, started) && !done(*id, complete)) {
            let released = release.is_some_and(|(release, _)| done(release, started));
            let written =
                writes(task) || kernels().any(|(other, task)| other < id && writes(task) && done(other, complete));
            if released || !written {
                return Err(format!("{} uses {} too early or too late", task.name, value.binding()));
            }
        }
        if begun && !over {
            *live.entry(value.tier).or_default() += value.bytes(UNBOUND).unwrap();
        }
    }
    for (tier, budget) in budgets {
        let live = live.get(tier).copied().unwrap_or(0);
        if live > *budget {
            return Err(format!("{live} bytes of {tier}, {budget} are allowed"));
        }
    }
    Ok(())
}

/// What stands in the results if every task writes a hash of its name and of what it reads.
fn results(template: &Template, order: &[usize]) -> BTreeMap<String, String> {
    let mut content: BTreeMap<ResourceId, String> = BTreeMap::new();
    for &task in order {
        let task = &template.root.tasks[TaskId::from_u32(task as u32)];
        if task.kind == TaskKind::Transfer {
            let [from, to] = [task.args[0].resource, task.args[1].resource];
            content.insert(to, content[&from].clone());
            continue;
        }
        if task.kind == TaskKind::Release {
            content.remove(&task.args[0].resource);
            continue;
        }
        let mut text = task.name.clone();
        for access in task.accesses.iter().filter(|access| access.mode.reads()) {
            text += &format!("({})", content[&access.resource]);
        }
        use sha2::{Digest, Sha256};
        let hash = format!(
            "{:x}",
            Sha256::digest(text.as_bytes()).iter().fold(0u64, |h, b| h.wrapping_mul(257) + u64::from(*b))
        );
        for access in task.accesses.iter().filter(|access| access.mode.writes()) {
            content.insert(access.resource, hash.clone());
        }
    }
    let borrowed = template.resources.iter().filter(|(_, r)| r.owner == Owner::Borrowed);
    borrowed.map(|(id, r)| (r.name.clone(), content.get(&id).cloned().unwrap_or_default())).collect()
}

/// A random order that the dependencies allow.
fn any_order(waits: &[Vec<usize>], random: &mut dyn FnMut(usize) -> usize) -> Vec<usize> {
    let mut order = Vec::new();
    while order.len() < waits.len() {
        let ready: Vec<usize> = (0..waits.len())
            .filter(|task| !order.contains(task) && waits[*task].iter().all(|earlier| order.contains(earlier)))
            .collect();
        order.push(ready[random(ready.len())]);
    }
    order
}

fn random(seed: u64) -> impl FnMut(usize) -> usize {
    let mut state = seed | 1;
    move |below| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % below
    }
}

fn moved(template: &Template) -> u64 {
    let transfers = template.root.tasks.values().filter(|task| task.kind == TaskKind::Transfer);
    transfers.map(|task| template.resources[task.args[0].resource].bytes(UNBOUND).unwrap()).sum()
}

/// The fewest bytes that any order with any evictions moves: Dijkstra's search over all placements.
fn fewest(template: &Template, ram: u64) -> Option<u64> {
    let kernel = |task: &&Task| !matches!(task.kind, TaskKind::Release | TaskKind::Join);
    let tasks: Vec<&Task> = template.root.tasks.values().filter(kernel).collect();
    let owned: Vec<ResourceId> =
        template.resources.iter().filter(|(_, r)| r.owner == Owner::Owned).map(|(id, _)| id).collect();
    let bytes: Vec<u64> = owned.iter().map(|id| template.resources[*id].bytes(UNBOUND).unwrap()).collect();
    let set = |task: &Task, write: bool| {
        let own = task.accesses.iter().filter(|a| !write || a.mode.writes());
        own.filter_map(|a| owned.iter().position(|id| *id == a.resource)).fold(0u32, |set, v| set | 1 << v)
    };
    let uses: Vec<u32> = tasks.iter().map(|task| set(task, false)).collect();
    let writes: Vec<u32> = tasks.iter().map(|task| set(task, true)).collect();
    let all_bytes = |set: u32| (0..owned.len()).filter(|v| set >> v & 1 == 1).map(|v| bytes[v]).sum::<u64>();
    // A task waits for every earlier one with which it shares a value that one of them writes.
    let waits =
        |t: usize, done: u32| (0..t).all(|e| done >> e & 1 == 1 || (uses[t] & writes[e] | writes[t] & uses[e]) == 0);
    let mut heap = BinaryHeap::from([std::cmp::Reverse((0u64, 0u32, 0u32, 0u32))]);
    let mut settled = BTreeSet::new();
    while let Some(std::cmp::Reverse((cost, done, resident, stored))) = heap.pop() {
        if done.count_ones() as usize == tasks.len() {
            return Some(cost);
        }
        if !settled.insert((done, resident, stored)) {
            continue;
        }
        let mut reach = |cost: u64, done: u32, resident: u32, stored: u32| {
            let dead = |v: &usize| (0..tasks.len()).all(|t| done >> t & 1 == 1 || uses[t] >> v & 1 == 0);
            let dead = (0..owned.len()).filter(dead).fold(0u32, |set, v| set | 1 << v);
            heap.push(std::cmp::Reverse((cost, done, resident & !dead, stored & !dead)));
        };
        for (v, bytes) in bytes.iter().enumerate() {
            let bit = 1u32 << v;
            if resident & bit != 0 {
                let write = if stored & bit == 0 { *bytes } else { 0 };
                reach(cost + write, done, resident & !bit, stored | bit);
            } else if stored & bit != 0 && all_bytes(resident | bit) <= ram {
                reach(cost + bytes, done, resident | bit, stored);
            }
        }
        for t in (0..tasks.len()).filter(|t| done >> t & 1 == 0 && waits(*t, done)) {
            let fresh = uses[t] & !resident;
            if fresh & stored == 0 && all_bytes(resident | uses[t]) <= ram {
                reach(cost, done | 1 << t, resident | uses[t], stored & !writes[t]);
            }
        }
    }
    None
}

/// Between the smallest budget and the one that needs nothing moved.
fn budgets_of(template: &Template) -> Vec<u64> {
    let (least, all) = (smallest(template), worst(template));
    let mut budgets = vec![least, least + (all - least) / 4, least + (all - least) / 2, all];
    budgets.dedup();
    budgets
}

fn worst(template: &Template) -> u64 {
    let budgets = Budgets::new();
    let room = Room { sizes: UNBOUND, scratch: &|_| 0, derived: None, budgets: &budgets };
    peaks(template, room).unwrap().1.get(&Tier::Ram).copied().unwrap_or(0)
}

fn check(template: &Template, fitted: &Template, ram: u64) -> usize {
    let again = Template::from_json(fitted.to_json().as_bytes()).unwrap();
    assert_eq!(again, *fitted);
    let instances = crate::instantiate::instantiate(fitted, UNBOUND).unwrap();
    crate::instantiate::check_instance(&instances[0].document).unwrap();
    assert!(worst(fitted) <= ram, "{ram}\n{fitted}");
    let waits = waits(&fitted.root);
    let plain: Vec<usize> = (0..template.root.tasks.len()).collect();
    let expected = results(template, &plain);
    let mut random = random(ram);
    for _ in 0..4 {
        assert_eq!(results(fitted, &any_order(&waits, &mut random)), expected, "{fitted}");
    }
    let moments = walk(fitted, &Budgets::from([(Tier::Ram, ram)])).unwrap_or_else(|e| panic!("{e}\n{fitted}"));
    assert!(moments > 0, "too many moments");
    moments
}

#[test]
fn no_order_exceeds_the_budget_or_uses_what_is_not_there() {
    let mut runner = TestRunner::deterministic();
    let (mut programs, mut spilled, mut ordered, mut moments) = (0, 0, 0, 0);
    while spilled < 2000 {
        let template = program(2..9).new_tree(&mut runner).unwrap().current();
        programs += 1;
        for ram in budgets_of(&template) {
            let fitted = fit(&template, ram, None).unwrap();
            spilled += usize::from(moved(&fitted) > 0);
            ordered += usize::from(moved(&fitted) == 0 && fitted != template);
            moments += check(&template, &fitted, ram);
        }
        let least = smallest(&template);
        assert!(least == 0 || fit(&template, least - 1, None).is_err(), "{template}");
    }
    println!(
        "{programs} programs: {spilled} plans with transfers, {ordered} with memory edges only; {moments} moments"
    );
}

#[test]
fn little_storage_needs_more_memory() {
    let mut runner = TestRunner::deterministic();
    let (mut refused, mut more) = (0, 0);
    while refused < 100 {
        let template = program(4..9).new_tree(&mut runner).unwrap().current();
        let least = smallest(&template);
        for nvme in [0, 5, 20] {
            let Err(error) = fit(&template, least, Some(nvme)) else { continue };
            let SpillError::Small(small) = error else { panic!("{error}") };
            let smallest = small.smallest.unwrap();
            refused += 1;
            more += usize::from(smallest > least);
            let fitted = fit(&template, smallest, Some(nvme)).unwrap();
            assert!(fit(&template, smallest - 1, Some(nvme)).is_err(), "{template}");
            let budgets = Budgets::from([(Tier::Ram, smallest), (Tier::Nvme, nvme)]);
            walk(&fitted, &budgets).unwrap_or_else(|error| panic!("{error}\n{fitted}"));
        }
    }
    assert_eq!(more, refused);
}

#[test]
fn few_bytes_are_moved() {
    let mut runner = TestRunner::deterministic();
    let mut ratios: Vec<f64> = Vec::new();
    let (mut ours, mut best) = (0, 0);
    while ratios.len() < 500 {
        let template = program(4..9).new_tree(&mut runner).unwrap().current();
        let ram = smallest(&template);
        let (found, fewest) = (moved(&fit(&template, ram, None).unwrap()), fewest(&template, ram).unwrap());
        if fewest == 0 {
            assert_eq!(found, 0, "{template}");
            continue;
        }
        assert!(found >= fewest, "less than the least is moved:\n{template}");
        (ours, best) = (ours + found, best + fewest);
        ratios.push(found as f64 / fewest as f64);
    }
    ratios.sort_by(f64::total_cmp);
    let at = |part: usize| ratios[(ratios.len() - 1) * part / 100];
    println!("bytes moved / fewest: median {}, 90 % {}, 99 % {}, most {}", at(50), at(90), at(99), at(100));
    println!("{ours} bytes of {best}");
    assert!(at(100) <= 1.25);
}
