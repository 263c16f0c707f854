//! The bytes of one tier over the order of execution, with their peak and a budget.

use super::layout::CHARACTER;
use super::picture::{LEFT, element, length, text};
use crate::show::visible;
use svg::node::Node as _;
use svg::node::element::Element;
use tiga_plan::live::Tide;

/// Height of one chart with its headline and the room below.
pub(super) const HEIGHT: f64 = 136.0;
/// Height of what is drawn in it.
const PLOT: f64 = 84.0;
/// Room at the right, for the word of the budget.
const RIGHT: f64 = 16.0;

/// One tier.
pub(super) struct Chart<'a> {
    pub(super) space: &'a str,
    pub(super) tide: &'a Tide,
    pub(super) budget: Option<u64>,
    /// Names in execution order, cut to fit.
    pub(super) order: &'a [String],
}

impl Chart<'_> {
    /// Draws it below `top`; the last one names the numbers.
    pub(super) fn draw(&self, page: &mut Element, top: f64, width: f64, last: bool) {
        let (bottom, right) = (top + 24.0 + PLOT, width - RIGHT);
        page.append(text(12.0, top + 12.0, 12, "start", &self.headline()));
        // Some room is left above the highest line.
        let most = self.tide.peak.max(self.budget.unwrap_or(0)).max(1) as f64 * 1.08;
        let y = |bytes: u64| bottom - PLOT * (bytes as f64 / most);
        let count = self.tide.bytes.len().max(1);
        let step = (right - LEFT) / count as f64;
        let x = |place: usize| LEFT + step * place as f64;
        let mut area = format!("M{:.1},{bottom:.1}", x(0));
        for (place, bytes) in self.tide.bytes.iter().enumerate() {
            let level = y(*bytes);
            area += &format!(" L{:.1},{level:.1} L{:.1},{level:.1}", x(place), x(place + 1));
        }
        area += &format!(" L{right:.1},{bottom:.1} z");
        page.append(element("path", &[("d", area), ("fill", "#9fc3f0".into()), ("stroke", "#1f5fae".into())]));
        page.append(line((LEFT, bottom), (right, bottom), "#333333", ""));
        page.append(line((LEFT, top + 24.0), (LEFT, bottom), "#333333", ""));
        page.append(text(LEFT - 6.0, bottom + 4.0, 10, "end", "0"));
        if self.tide.peak > 0 {
            let peak = y(self.tide.peak);
            page.append(line((LEFT, peak), (right, peak), "#1f5fae", "6 3"));
            // The lowest word of this axis is the zero.
            page.append(text(LEFT - 6.0, (peak + 4.0).min(bottom - 8.0), 10, "end", &short(self.tide.peak)));
            let at = x(self.tide.peak_at) + step / 2.0;
            let spot = [("cx", length(at)), ("cy", length(peak)), ("r", "3.5".into()), ("fill", "#1f5fae".into())];
            page.append(element("circle", &spot));
        }
        if let Some(budget) = self.budget {
            page.append(line((LEFT, y(budget)), (right, y(budget)), "#c02020", "2 2"));
        }
        self.numbers(page, bottom, step, last);
    }

    /// `ram: peak 521 B at 11 loop:0, budget 600 B; 12 external of 768 B are not counted`.
    fn headline(&self) -> String {
        let Tide { peak, peak_at, external, external_bytes, .. } = self.tide;
        let at = match self.order.get(*peak_at) {
            Some(name) if *peak > 0 => format!(" at {} {name}", peak_at + 1),
            _ => String::new(),
        };
        let over = |budget: u64| if *peak > budget { ", EXCEEDED" } else { "" };
        let budget = self.budget.map(|budget| format!("; budget {}{}", bytes(budget), over(budget)));
        let outside = match external {
            0 => String::new(),
            _ => format!("; {external} external of {} not counted", bytes(*external_bytes)),
        };
        let space: String = visible(self.space).chars().take(40).collect();
        format!("{space}: peak {}{at}{}{outside}", bytes(*peak), budget.unwrap_or_default())
    }

    /// Numbers below the middle of steps, as many as stand apart.
    fn numbers(&self, page: &mut Element, bottom: f64, step: f64, last: bool) {
        let count = self.tide.bytes.len();
        let widest = count.to_string().len() as f64 * CHARACTER + 8.0;
        let every = nice((widest / step).ceil().max(1.0));
        for place in (0..count).filter(|place| (place + 1) % every == 0 || *place == 0 && every < count) {
            let x = LEFT + step * (place as f64 + 0.5);
            // The first one may stand too near to the second.
            if place == 0 && every > 1 && step * (every as f64 - 1.0) < widest {
                continue;
            }
            page.append(line((x, bottom), (x, bottom + 3.0), "#333333", ""));
            page.append(text(x, bottom + 14.0, 10, "middle", &(place + 1).to_string()));
        }
        if last {
            page.append(text(LEFT, bottom + 30.0, 10, "start", "number of the invocation in the order of execution"));
        }
    }
}

/// The least of 1, 2, 5, 10, 20, 50, … that is not below a number.
fn nice(least: f64) -> usize {
    let mut scale = 1;
    loop {
        if let Some(nice) = [scale, 2 * scale, 5 * scale].into_iter().find(|nice| *nice as f64 >= least) {
            return nice;
        }
        scale *= 10;
    }
}

/// A straight line, whole or in dashes.
pub(super) fn line(from: (f64, f64), to: (f64, f64), colour: &str, dash: &str) -> Element {
    let mut line = element(
        "line",
        &[
            ("x1", length(from.0)),
            ("y1", length(from.1)),
            ("x2", length(to.0)),
            ("y2", length(to.1)),
            ("stroke", colour.into()),
        ],
    );
    if !dash.is_empty() {
        line.assign("stroke-dasharray", dash);
    }
    line
}

/// `1536 B (1.5 KiB)`.
fn bytes(count: u64) -> String {
    if count < 1024 { format!("{count} B") } else { format!("{count} B ({})", short(count)) }
}

/// In the largest unit that it has one of.
fn short(count: u64) -> String {
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let power = (u64::BITS - 1 - count.max(1).leading_zeros()) / 10;
    match power {
        0 => format!("{count} B"),
        _ => format!("{:.1} {}", count as f64 / (1_u64 << (10 * power)) as f64, units[power as usize]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_have_a_unit() {
        let all = [0, 1023, 1024, 1536, 1 << 40, u64::MAX].map(short);
        assert_eq!(all, ["0 B", "1023 B", "1.0 KiB", "1.5 KiB", "1.0 TiB", "16.0 EiB"]);
        assert_eq!(bytes(1 << 20), "1048576 B (1.0 MiB)");
    }

    #[test]
    fn numbers_are_round() {
        assert_eq!([1.0, 1.5, 3.0, 6.0, 11.0, 300.0].map(nice), [1, 2, 5, 10, 20, 500]);
    }
}
