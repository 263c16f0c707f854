//! A plan as a picture: tasks in lanes of memory above, the bytes that live below.

use super::chart::{self, Chart};
use super::layout::{self, BOX, CHARACTER, Layout, MARGIN, columns_of, cut, layout};
use crate::show::visible;
use std::collections::BTreeMap;
use svg::node::element::Element;
use svg::node::{Node as _, Text};
use tiga_plan::Phase;
use tiga_plan::bind::Bound;
use tiga_plan::document::{Document, Invocation};
use tiga_plan::live::{TideError, tides};

/// Tasks that a picture shows; more are read by nobody.
pub const MOST_TASKS: usize = 2_000;
/// Places where edges pass columns.
const MOST_PASSES: usize = 50_000;
/// Height of the lines above the lanes.
const HEAD: f64 = 78.0;

/// A plan is not drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DrawError {
    /// Too many tasks.
    #[error("a picture of {found} invocations is too large to be read: at most {MOST_TASKS} are drawn")]
    Tasks {
        /// How many there are.
        found: usize,
    },
    /// Too many long edges.
    #[error(
        "a picture whose dependencies pass {found} columns is too large to be read: at most {MOST_PASSES} are drawn"
    )]
    Passes {
        /// How many there are.
        found: usize,
    },
    /// The bytes cannot be counted.
    #[error(transparent)]
    Tide(#[from] TideError),
}

/// Kinds of tasks, each with its colour.
const KINDS: [(&str, &str); 6] = [
    ("kernel", "#cfe3ff"),
    ("transfer", "#ffdfb0"),
    ("release", "#e3e3e3"),
    ("join", "#ffffff"),
    ("loop or branch", "#e6d5ff"),
    ("derived structure", "#d3f0d0"),
];

/// The kind of a task, as an index into [`KINDS`].
fn kind(task: &Invocation) -> usize {
    match (task.executable_symbol.as_str(), task.task_kind.as_str()) {
        ("__gf_transfer" | "tiga.copy", _) | (_, "prefetch" | "writeback") => 1,
        (symbol, _) if symbol.starts_with("__gf_halo") => 1,
        ("__gf_release", _) => 2,
        ("__gf_join", _) => 3,
        ("tiga.loop" | "tiga.if", _) => 4,
        (symbol, _) if symbol.starts_with("tiga.build") || symbol.starts_with("__gf_") => 5,
        _ => 0,
    }
}

/// An element with attributes.
pub(super) fn element(name: &str, attributes: &[(&str, String)]) -> Element {
    let mut element = Element::new(name);
    for (key, value) in attributes {
        element.assign(*key, value.as_str());
    }
    element
}

/// A length of a picture: a tenth of a pixel is enough, and the same everywhere.
pub(super) fn length(value: f64) -> String {
    format!("{value:.1}")
}

/// A line of text whose left end, middle or right end (`start`, `middle`, `end`) is at a place.
pub(super) fn text(x: f64, y: f64, size: u32, anchor: &str, content: &str) -> Element {
    let mut line = element(
        "text",
        &[("x", length(x)), ("y", length(y)), ("font-size", size.to_string()), ("text-anchor", anchor.to_owned())],
    );
    line.append(Text::new(content));
    line
}

/// The SVG text of a plan: the same plan gives the same bytes. `name` is the headline; `budgets` are bytes by tier.
///
/// # Errors
/// The plan is too large to be read as a picture, or to be counted.
pub fn draw<E>(
    name: &str,
    document: &Document,
    bound: &Bound<'_, E>,
    budgets: &BTreeMap<String, u64>,
) -> Result<String, DrawError> {
    let (found, passes) = (bound.dag().len(), if bound.dag().len() > MOST_TASKS { 0 } else { layout::passes(bound) });
    if found > MOST_TASKS {
        return Err(DrawError::Tasks { found });
    }
    if passes > MOST_PASSES {
        return Err(DrawError::Passes { found: passes });
    }
    let tides = tides(document, bound)?;
    let layout = layout(document, bound, HEAD);
    let order: Vec<String> = bound.execution_order().into_iter().map(|name| cut(&visible(name), 28)).collect();
    let mut tiers: Vec<_> = tides.iter().collect();
    tiers.sort_by_key(|(space, _)| layout::rank(space));
    let charts: Vec<Chart<'_>> = tiers
        .into_iter()
        .map(|(space, tide)| Chart { space, tide, budget: budgets.get(space).copied(), order: &order })
        .collect();
    let legend = legend();
    let width = layout.width.max(legend.1).max(640.0);
    let charts_top = HEAD + layout.height + 34.0;
    let height = charts_top + charts.len() as f64 * chart::HEIGHT + 34.0;
    let mut page = element(
        "svg",
        &[
            ("xmlns", "http://www.w3.org/2000/svg".into()),
            ("width", length(width)),
            ("height", length(height)),
            ("viewBox", format!("0 0 {width:.1} {height:.1}")),
            ("font-family", "DejaVu Sans Mono, Menlo, Consolas, monospace".into()),
        ],
    );
    page.append(arrow());
    page.append(element("rect", &[("width", "100%".into()), ("height", "100%".into()), ("fill", "#ffffff".into())]));
    page.append(text(12.0, 24.0, 15, "start", &headline(name, bound)));
    legend.0.into_iter().for_each(|item| page.append(item));
    tasks(&mut page, &layout, bound, width);
    let title = "bytes that the plan owns while each invocation runs, by its number in the order of execution";
    page.append(text(12.0, charts_top - 12.0, 12, "start", title));
    for (index, chart) in charts.iter().enumerate() {
        let last = index + 1 == charts.len();
        chart.draw(&mut page, charts_top + index as f64 * chart::HEIGHT, width, last);
    }
    Ok(format!("{page}\n"))
}

fn headline<E>(name: &str, bound: &Bound<'_, E>) -> String {
    let hash = bound.structure_hash();
    let (name, count) = (cut(&visible(name), 40), bound.dag().len());
    format!("{name}: {count} invocations, snapshot {}, structure {}", bound.snapshot_version(), &hash[..16])
}

/// The head of an edge.
fn arrow() -> Element {
    let mut marker = element(
        "marker",
        &[
            ("id", "arrow".into()),
            ("viewBox", "0 0 8 8".into()),
            ("refX", "7".into()),
            ("refY", "4".into()),
            ("markerWidth", "7".into()),
            ("markerHeight", "7".into()),
            ("orient", "auto".into()),
        ],
    );
    marker.append(element("path", &[("d", "M0,0 L8,4 L0,8 z".into()), ("fill", "#777777".into())]));
    let mut definitions = Element::new("defs");
    definitions.append(marker);
    definitions
}

/// What the colours and lines mean, in one row, and its right end.
fn legend() -> (Vec<Element>, f64) {
    let (mut items, mut x, y) = (Vec::new(), 12.0, 50.0);
    let say = |items: &mut Vec<Element>, x: &mut f64, words: &str| {
        items.push(text(*x + 30.0, y, 11, "start", words));
        *x += 30.0 + columns_of(words) as f64 * CHARACTER + 14.0;
    };
    for (words, fill) in KINDS {
        items.push(swatch(x, y, fill, None));
        say(&mut items, &mut x, words);
    }
    items.push(swatch(x, y, "#ffffff", Some("4 3")));
    say(&mut items, &mut x, "materialize");
    for (words, colour, dash) in [("peak", "#1f5fae", "6 3"), ("budget", "#c02020", "2 2")] {
        items.push(chart::line((x, y - 4.0), (x + 24.0, y - 4.0), colour, dash));
        say(&mut items, &mut x, words);
    }
    (items, x)
}

fn swatch(x: f64, y: f64, fill: &str, dash: Option<&str>) -> Element {
    let mut swatch = element(
        "rect",
        &[
            ("x", length(x)),
            ("y", length(y - 10.0)),
            ("width", "24".into()),
            ("height", "12".into()),
            ("fill", fill.into()),
            ("stroke", "#555555".into()),
        ],
    );
    if let Some(dash) = dash {
        swatch.assign("stroke-dasharray", dash);
    }
    swatch
}

/// Lanes below, edges on them, tasks on top: a line never crosses a word.
fn tasks<E>(page: &mut Element, layout: &Layout, bound: &Bound<'_, E>, width: f64) {
    for (index, lane) in layout.lanes.iter().enumerate() {
        let fill = if index % 2 == 0 { "#f6f7f9" } else { "#eceff3" };
        page.append(element(
            "rect",
            &[
                ("x", "0".into()),
                ("y", length(lane.y)),
                ("width", length(width)),
                ("height", length(lane.height)),
                ("fill", fill.into()),
            ],
        ));
        page.append(text(12.0, lane.y + lane.height / 2.0 + 4.0, 13, "start", &lane.name));
    }
    for edge in &layout.edges {
        page.append(element(
            "path",
            &[
                ("d", curve(edge)),
                ("fill", "none".into()),
                ("stroke", "#777777".into()),
                ("marker-end", "url(#arrow)".into()),
            ],
        ));
    }
    for (task, placed) in bound.invocations().iter().zip(&layout.tasks) {
        let mut group = Element::new("g");
        let mut title = Element::new("title");
        let whole = visible(&task.name);
        title.append(Text::new(format!("{} ({})", cut(&whole, 1000), cut(&visible(&task.executable_symbol), 200))));
        group.append(title);
        let mut outline = element(
            "rect",
            &[
                ("x", length(placed.x)),
                ("y", length(placed.y)),
                ("width", length(placed.width)),
                ("height", length(BOX)),
                ("rx", "5".into()),
                ("fill", KINDS[kind(task)].1.into()),
                ("stroke", "#555555".into()),
            ],
        );
        if task.phase == Phase::Materialize {
            outline.assign("stroke-dasharray", "4 3");
        }
        group.append(outline);
        group.append(text(placed.x + 10.0, placed.y + 15.0, 12, "start", &placed.label));
        let mut kind = text(placed.x + 10.0, placed.y + 29.0, 10, "start", &placed.kind);
        kind.assign("fill", "#555555");
        group.append(kind);
        page.append(group);
    }
}

/// A line that leaves and enters columns horizontally.
fn curve(points: &[(f64, f64)]) -> String {
    let mut out = String::new();
    for (index, pair) in points.windows(2).enumerate() {
        let [(x, y), (to_x, to_y)] = pair else { continue };
        if index == 0 {
            out = format!("M{x:.1},{y:.1}");
        }
        let middle = (x + to_x) / 2.0;
        out += &match index % 2 {
            0 => format!(" C{middle:.1},{y:.1} {middle:.1},{to_y:.1} {to_x:.1},{to_y:.1}"),
            _ => format!(" L{to_x:.1},{to_y:.1}"),
        };
    }
    out
}

/// The left end of what is drawn over the order of execution.
pub(super) const LEFT: f64 = MARGIN;
