//! Where the tasks of a drawn plan stand: columns by depth, lanes by the tier that a task writes.

use crate::show::visible;
use std::collections::BTreeMap;
use tiga_abi::Tier;
use tiga_plan::bind::Bound;
use tiga_plan::document::{Document, Invocation, Requirement};

/// Height of a task.
pub(super) const BOX: f64 = 36.0;
/// Room between two tasks of a column, and around a lane.
const GAP: f64 = 12.0;
/// Height of the place where an edge passes a column.
const PASS: f64 = 8.0;
/// Room between columns, where edges turn.
const TURN: f64 = 56.0;
/// Width of one character at 12 px, at least as wide as in any usual monospaced font.
pub(super) const CHARACTER: f64 = 7.4;
/// The same at 10 px.
const SMALL: f64 = 6.2;
/// Columns of text in a task, at most.
const LONGEST: usize = 28;
/// Width for the names of lanes and of axes.
pub(super) const MARGIN: f64 = 132.0;
/// The lane of tasks that touch no memory.
const NOWHERE: &str = "no memory";

/// A task on the page.
pub(super) struct Placed {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    /// Its place in the execution order, from 1, and its name, cut to fit.
    pub(super) label: String,
    /// Its kind, cut to fit.
    pub(super) kind: String,
}

/// A lane of tasks.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) y: f64,
    pub(super) height: f64,
}

/// All tasks on the page, by declaration order, with the edges between them.
pub(super) struct Layout {
    pub(super) tasks: Vec<Placed>,
    pub(super) lanes: Vec<Lane>,
    /// From the right side of a task to the left side of another, by way of both sides of columns between.
    pub(super) edges: Vec<Vec<(f64, f64)>>,
    pub(super) width: f64,
    pub(super) height: f64,
}

/// Something that takes room in a column: a task, or an edge of a task that passes on its way to a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Task(usize),
    Pass { source: usize, column: usize, lane: usize },
}

/// How many places edges pass columns at; a page with more is read by nobody.
pub(super) fn passes<E>(bound: &Bound<'_, E>) -> usize {
    let depths = depths(bound);
    let spans = (0..depths.len()).flat_map(|task| {
        let depths = &depths;
        bound.dag().dependencies(task).iter().map(move |earlier| depths[task] - depths[*earlier] - 1)
    });
    spans.sum()
}

/// The longest way to each task.
fn depths<E>(bound: &Bound<'_, E>) -> Vec<usize> {
    let mut depths = vec![0; bound.dag().len()];
    for &task in bound.dag().order() {
        let before = bound.dag().dependencies(task).iter().map(|earlier| depths[*earlier] + 1);
        depths[task] = before.max().unwrap_or(0);
    }
    depths
}

/// Places everything, from `top` down.
pub(super) fn layout<E>(document: &Document, bound: &Bound<'_, E>, top: f64) -> Layout {
    let depths = depths(bound);
    let (names, lanes) = lanes(document, bound);
    let items = items(bound, &depths, &lanes);
    let labels: Vec<String> = bound.invocations().iter().enumerate().map(|(i, task)| label(bound, i, task)).collect();
    let (offsets, heights) = stack(bound, &items, &lanes, names.len());
    let mut lane_tops = Vec::with_capacity(names.len());
    let mut y = top;
    for height in &heights {
        lane_tops.push(y);
        y += height;
    }
    let kinds: Vec<String> = bound.invocations().iter().map(|task| cut(&visible(&task.task_kind), LONGEST)).collect();
    let columns = columns(&depths, &labels, &kinds);
    let place = |item: &Item| {
        let lane = match item {
            Item::Task(task) => lanes[*task],
            Item::Pass { lane, .. } => *lane,
        };
        lane_tops[lane] + offsets[item]
    };
    let tasks = labels.into_iter().enumerate().map(|(task, label)| {
        let ((x, width), kind) = (columns[depths[task]], kinds[task].clone());
        Placed { x, y: place(&Item::Task(task)), width, label, kind }
    });
    let tasks: Vec<Placed> = tasks.collect();
    let way = |from: usize, to: usize| {
        let middle = |task: usize| tasks[task].y + BOX / 2.0;
        let mut points = vec![(tasks[from].x + tasks[from].width, middle(from))];
        for (column, (x, width)) in columns.iter().enumerate().take(depths[to]).skip(depths[from] + 1) {
            let y = place(&Item::Pass { source: from, column, lane: lanes[to] }) + PASS / 2.0;
            points.extend([(*x, y), (x + width, y)]);
        }
        points.push((tasks[to].x, middle(to)));
        points
    };
    let all = (0..tasks.len()).flat_map(|to| bound.dag().dependencies(to).iter().map(move |from| (*from, to)));
    let edges = all.map(|(from, to)| way(from, to)).collect();
    let width = columns.last().map_or(MARGIN, |(x, width)| x + width + GAP);
    let rows = names.into_iter().zip(lane_tops.iter().zip(&heights));
    let lanes = rows.map(|(name, (y, height))| Lane { name, y: *y, height: *height }).collect();
    Layout { tasks, lanes, edges, width, height: y - top }
}

/// The left side and the width of each column.
fn columns(depths: &[usize], labels: &[String], kinds: &[String]) -> Vec<(f64, f64)> {
    let mut widths = vec![0.0_f64; depths.iter().max().map_or(0, |depth| depth + 1)];
    for ((depth, label), kind) in depths.iter().zip(labels).zip(kinds) {
        let needed = (columns_of(label) as f64 * CHARACTER).max(columns_of(kind) as f64 * SMALL) + 20.0;
        widths[*depth] = widths[*depth].max(needed).max(110.0);
    }
    let mut x = MARGIN;
    let mut columns = Vec::with_capacity(widths.len());
    for width in widths {
        columns.push((x, width));
        x += width + TURN;
    }
    columns
}

/// Names of the lanes that are used, the nearest tier first, and the lane of each task.
fn lanes<E>(document: &Document, bound: &Bound<'_, E>) -> (Vec<String>, Vec<usize>) {
    let listed: BTreeMap<&str, &Requirement> =
        document.resources.iter().map(|resource| (resource.name.as_str(), resource)).collect();
    let spaces: Vec<String> = bound.invocations().iter().map(|task| space(task, &listed)).collect();
    let mut names = spaces.clone();
    names.sort_by_key(|name| (rank(name), name == NOWHERE, name.clone()));
    names.dedup();
    let lanes = spaces.iter().map(|space| names.iter().position(|name| name == space).unwrap_or(0)).collect();
    (names.iter().map(|name| cut(&visible(name), 14)).collect(), lanes)
}

/// Where a memory space stands: the nearest tier first, what is no tier last.
pub(super) fn rank(space: &str) -> usize {
    Tier::ALL.iter().position(|tier| tier.name() == space).unwrap_or(Tier::ALL.len())
}

/// The tier of what a task writes first, else of what it reads first.
fn space(task: &Invocation, listed: &BTreeMap<&str, &Requirement>) -> String {
    let written = task.accesses.iter().find(|access| access.mode.writes()).or(task.accesses.first());
    let Some(name) = written.map(|access| access.binding.as_str()) else { return NOWHERE.into() };
    let spelled = || {
        let (_, place) = name.split_once('@')?;
        place.split(':').next()?.parse::<Tier>().ok().map(|tier| tier.name().to_owned())
    };
    listed.get(name).map(|resource| resource.space()).or_else(spelled).unwrap_or_else(|| "not listed".into())
}

/// What stands in each column.
fn items<E>(bound: &Bound<'_, E>, depths: &[usize], lanes: &[usize]) -> Vec<Vec<Item>> {
    let mut columns = vec![Vec::new(); depths.iter().max().map_or(0, |depth| depth + 1)];
    for &task in bound.dag().order() {
        columns[depths[task]].push(Item::Task(task));
        for &source in bound.dag().dependencies(task) {
            let between = columns.iter_mut().enumerate().take(depths[task]).skip(depths[source] + 1);
            between.for_each(|(column, items)| items.push(Item::Pass { source, column, lane: lanes[task] }));
        }
    }
    for column in &mut columns {
        column.sort_unstable();
        column.dedup();
    }
    columns
}

/// How far each item is below the top of its lane, and how high the lanes are. Column by column: items stand in the
/// order of what leads to them, so that few edges cross.
fn stack<E>(
    bound: &Bound<'_, E>,
    columns: &[Vec<Item>],
    lanes: &[usize],
    count: usize,
) -> (BTreeMap<Item, f64>, Vec<f64>) {
    let mut offsets: BTreeMap<Item, f64> = BTreeMap::new();
    let mut heights = vec![BOX + 2.0 * GAP; count];
    // A lane is higher than any stack: positions in two lanes never mix.
    let far = |lane: usize, offset: f64| lane as f64 * 1e7 + offset;
    for (column, items) in columns.iter().enumerate() {
        let mut keyed: Vec<(f64, usize, Item)> = Vec::with_capacity(items.len());
        for &item in items {
            let (sources, place, lane) = match item {
                Item::Task(task) => (bound.dag().dependencies(task), bound.dag().position(task), lanes[task]),
                Item::Pass { ref source, lane, .. } => {
                    (std::slice::from_ref(source), bound.dag().position(*source), lane)
                }
            };
            let height = |&source: &usize| {
                let pass = Item::Pass { source, column: column.wrapping_sub(1), lane };
                match offsets.get(&pass) {
                    Some(offset) => far(lane, *offset),
                    None => far(lanes[source], offsets[&Item::Task(source)]),
                }
            };
            let sum: f64 = sources.iter().map(height).sum();
            keyed.push((sum / sources.len().max(1) as f64, place, item));
        }
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
        let mut next = vec![GAP; count];
        for (_, _, item) in keyed {
            let (lane, height) = match item {
                Item::Task(task) => (lanes[task], BOX),
                Item::Pass { lane, .. } => (lane, PASS),
            };
            offsets.insert(item, next[lane]);
            next[lane] += height + GAP;
        }
        for (height, next) in heights.iter_mut().zip(next) {
            *height = height.max(next);
        }
    }
    (offsets, heights)
}

fn label<E>(bound: &Bound<'_, E>, index: usize, task: &Invocation) -> String {
    format!("{} {}", bound.dag().position(index) + 1, cut(&visible(&task.name), LONGEST))
}

/// The first characters of a text that fit into so many columns of text.
pub(super) fn cut(text: &str, longest: usize) -> String {
    if columns_of(text) <= longest {
        return text.to_owned();
    }
    let mut width = 0;
    let fits = |c: &char| {
        width += wide(*c);
        width < longest
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// Columns of text that a text takes.
pub(super) fn columns_of(text: &str) -> usize {
    // A text is cut long before its length matters.
    text.chars().take(10_000).map(wide).sum()
}

/// What is not Latin may be twice as wide.
fn wide(c: char) -> usize {
    if c < '\u{1100}' || c == '…' { 1 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use tiga_plan::bind::bind;

    /// Tasks of several lanes, each waiting for some of the eight before it.
    fn plan(seed: u64) -> Document {
        let mut state = seed;
        let mut random = |most: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % most
        };
        let task = |index: u64| -> Value {
            let waits = (index.saturating_sub(8)..index).filter(|_| random(4) == 0);
            let waits: Vec<String> = waits.map(|earlier| format!("task:{earlier}")).collect();
            let tier = ["ram", "nvme", "device", ""][random(4) as usize];
            let resource = format!("r{index}@{tier}:host:0");
            let uses = if tier.is_empty() { json!([]) } else { json!([{"parameter": "x", "resource": resource}]) };
            let access = json!({"binding": resource, "mode": "write", "snapshot_version": 0});
            json!({"name": format!("task:{index}"), "task_kind": "local", "phase": "execute", "executable_symbol": "k",
                "depends_on": waits, "arguments": uses, "snapshot_version": 0,
                "accesses": if tier.is_empty() { json!([]) } else { json!([access]) }})
        };
        let tasks: Vec<Value> = (0..60).map(task).collect();
        let waited: Vec<&Value> = tasks.iter().flat_map(|task| task["depends_on"].as_array().unwrap()).collect();
        let last: Vec<&Value> = tasks.iter().map(|task| &task["name"]).filter(|name| !waited.contains(name)).collect();
        let tree = json!({"schema": "tiga.executable-bundle-plan.v1", "terminals": last, "invocations": tasks});
        Document::parse(tree.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn nothing_stands_on_anything_else() {
        for seed in 0..50 {
            let document = plan(seed);
            let bound = bind(&document, &mut |_| Ok(Some(()))).unwrap();
            let page = layout(&document, &bound, 0.0);
            for (index, a) in page.tasks.iter().enumerate() {
                assert!(a.x + a.width <= page.width && a.y + BOX <= page.height);
                assert!(columns_of(&a.label) as f64 * CHARACTER + 20.0 <= a.width, "{}", a.label);
                assert!(page.lanes.iter().any(|lane| a.y >= lane.y && a.y + BOX <= lane.y + lane.height));
                for b in &page.tasks[index + 1..] {
                    let apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + BOX <= b.y || b.y + BOX <= a.y;
                    assert!(apart, "seed {seed}: {} and {}", a.label, b.label);
                }
                // Where an edge passes a column it meets no task.
                for edge in &page.edges {
                    for pass in edge[1..edge.len() - 1].chunks(2) {
                        let ([(left, y), (right, _)], beside) =
                            ([pass[0], pass[1]], a.y > pass[0].1 || a.y + BOX < pass[0].1);
                        assert!(beside || right <= a.x || left >= a.x + a.width, "seed {seed}: {} at {y}", a.label);
                    }
                }
            }
        }
    }

    #[test]
    fn long_names_are_cut_to_their_room() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdefg", 6), "abcde…");
        assert_eq!(columns_of(&cut("日本語日本語日本語", 6)), 5);
    }
}
