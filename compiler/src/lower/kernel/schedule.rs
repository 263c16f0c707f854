//! How a kernel was arranged, for people: `tigac explain-schedule`. What is decided is written down where it is
//! decided, so that the page cannot say anything else.

use std::fmt;

/// The arrangement of a kernel: what is done at once, part by part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    parts: Vec<Part>,
    /// The part that is being generated; outside all tiles there is none.
    current: Option<usize>,
}

/// Elements of the features that are computed at once, and how their entities are gone through.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Part {
    lanes: u32,
    masked: bool,
    /// Accumulators of the fold that has most of them.
    accumulators: u32,
    /// Edges that a vector of accumulators takes at once.
    across: Option<u32>,
    /// Edges between one that is folded and the one whose source is asked for.
    ahead: Option<i64>,
    /// Rows of a dense product that are folded together.
    rows: u32,
    /// Whether the matrix under the tile may be copied together.
    packed: bool,
}

impl Part {
    fn new(lanes: u32, masked: bool) -> Self {
        Self { lanes, masked, accumulators: 0, across: None, ahead: None, rows: 1, packed: false }
    }
}

impl Schedule {
    /// Begins a tile; gives what [`Schedule::leave`] is told at its end.
    pub(super) fn enter(&mut self, lanes: u32, masked: bool) -> Option<usize> {
        self.parts.push(Part::new(lanes, masked));
        self.current.replace(self.parts.len() - 1)
    }

    /// Ends a tile.
    pub(super) fn leave(&mut self, outside: Option<usize>) {
        self.current = outside;
    }

    /// A fold has so many accumulators, which may be the lanes of a vector.
    pub(super) fn folds(&mut self, accumulators: u32, across: bool) {
        let part = self.part();
        part.accumulators = part.accumulators.max(accumulators);
        part.across = part.across.or(across.then_some(accumulators));
    }

    /// Sources are asked for so many edges before they are folded.
    pub(super) fn asks_ahead(&mut self, edges: i64) {
        let ahead = &mut self.part().ahead;
        *ahead = Some(ahead.map_or(edges, |known| known.min(edges)));
    }

    /// So many rows are folded together.
    pub(super) fn folds_together(&mut self, rows: u32) {
        let part = self.part();
        part.rows = part.rows.max(rows);
    }

    /// The matrix under the tile may be copied.
    pub(super) fn packs(&mut self) {
        self.part().packed = true;
    }

    /// The part that is being generated: a tile, or what has no features.
    fn part(&mut self) -> &mut Part {
        let at = match self.current {
            Some(at) => at,
            None => match self.parts.iter().position(|part| part.lanes == 0) {
                Some(at) => at,
                None => {
                    self.parts.push(Part::new(0, false));
                    self.parts.len() - 1
                }
            },
        };
        &mut self.parts[at]
    }

    /// A line for each part, each once, in the order in which they run.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for part in &self.parts {
            let line = part.to_string();
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        if lines.is_empty() {
            lines.push("an element at a time".to_owned());
        }
        lines
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.lanes {
            0 => f.write_str("no features")?,
            1 => f.write_str("1 feature at a time")?,
            lanes if self.masked => write!(f, "what is left of the features, up to {lanes} under a mask")?,
            lanes => write!(f, "{lanes} features at a time")?,
        }
        if self.rows > 1 {
            write!(f, ", {} rows together", self.rows)?;
        }
        if self.packed {
            f.write_str(", the matrix under them packed where that pays")?;
        }
        match (self.across, self.accumulators) {
            (Some(edges), _) => write!(f, ", {edges} edges at once in the lanes of a vector")?,
            (None, 0) => {}
            (None, 1) => f.write_str(", 1 accumulator")?,
            (None, accumulators) => write!(f, ", {accumulators} accumulators")?,
        }
        match self.ahead {
            Some(edges) => write!(f, ", sources asked for {edges} edges ahead"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_a_tile_stands_in_its_line() {
        let mut schedule = Schedule::default();
        assert_eq!(schedule.lines(), ["an element at a time"]);
        schedule.folds(16, true);
        let outside = schedule.enter(64, false);
        schedule.folds(4, false);
        schedule.folds(1, false);
        schedule.asks_ahead(16);
        schedule.leave(outside);
        for masked in [true, true] {
            let outside = schedule.enter(16, masked);
            schedule.folds_together(8);
            schedule.packs();
            schedule.leave(outside);
        }
        let expected = [
            "no features, 16 edges at once in the lanes of a vector",
            "64 features at a time, 4 accumulators, sources asked for 16 edges ahead",
            "what is left of the features, up to 16 under a mask, 8 rows together, the matrix under them packed where \
             that pays",
        ];
        assert_eq!(schedule.lines(), expected);
    }
}
