//! Pieces of text with the places where lines may break, and how they become lines.

/// A piece of what is printed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// Text within a line.
    Text(String),
    /// A space, unless a line ends here.
    Space,
    /// Where a line may end.
    Line(Break),
    /// A comma, where the lines of the innermost group are broken.
    Comma,
    /// An empty line, where a line begins here anyway.
    Blank,
    /// A comment, which ends its line.
    Comment {
        /// Its text, slashes included.
        text: String,
        /// Whether it stands behind what comes before it, on the same line.
        trailing: bool,
        /// Whether an empty line goes before it.
        blank: bool,
    },
    /// Begins a group: its lines are broken all or none, none if it fits.
    Open,
    /// Ends a group.
    Close,
    /// Lines from here on begin further right.
    Indent,
    /// Undoes an [`Piece::Indent`].
    Dedent,
}

/// What a [`Piece::Line`] is in a group whose lines are not broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    /// Nothing.
    Soft,
    /// A space.
    Space,
    /// There is none: the group is always broken.
    Hard,
}

/// How wide lines may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// So many characters, as far as there are places to break.
    Most(usize),
    /// Any: only comments end lines.
    OneLine,
}

/// The text of pieces whose groups and indents pair.
pub(super) fn lines(pieces: &[Piece], width: Width) -> String {
    let measures = Measures::of(pieces, width);
    let mut lines = Lines::default();
    // Whether each group around the piece is broken; outside of all groups lines are.
    let mut broken = vec![width != Width::OneLine];
    for (at, piece) in pieces.iter().enumerate() {
        let breaks = broken.last().copied().unwrap_or(true);
        match piece {
            Piece::Text(text) => lines.text(text),
            Piece::Space => lines.ask(Gap::Space),
            Piece::Line(_) if breaks => lines.ask(Gap::Line),
            Piece::Line(Break::Soft) => {}
            Piece::Line(_) => lines.ask(Gap::Space),
            Piece::Comma if breaks => lines.text(","),
            Piece::Comma => {}
            Piece::Blank if lines.gap == Gap::Line => lines.ask(Gap::Blank),
            Piece::Blank => {}
            Piece::Comment { text, trailing: true, .. } => lines.trailing(text),
            Piece::Comment { text, blank, .. } => lines.comment(text, *blank),
            Piece::Open => broken.push(breaks && !measures.fits(at, lines.column()) || measures.is_forced(at)),
            Piece::Close => drop(broken.pop()),
            Piece::Indent => lines.indent += 1,
            Piece::Dedent => lines.indent -= 1,
        }
    }
    lines.out
}

/// What stands between two texts; the greatest that is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    #[default]
    None,
    Space,
    Line,
    Blank,
}

/// Spaces a level.
const STEP: usize = 4;

/// Lines under construction.
#[derive(Default)]
struct Lines {
    out: String,
    indent: usize,
    /// What goes before the next text.
    gap: Gap,
    /// Characters of the last line.
    written: usize,
}

impl Lines {
    fn ask(&mut self, gap: Gap) {
        self.gap = self.gap.max(gap);
    }

    /// Where the next text begins.
    fn column(&self) -> usize {
        match self.gap {
            _ if self.out.is_empty() => 0,
            Gap::None => self.written,
            Gap::Space => self.written + 1,
            Gap::Line | Gap::Blank => self.indent * STEP,
        }
    }

    fn text(&mut self, text: &str) {
        self.written = self.column() + text.chars().count();
        match std::mem::take(&mut self.gap) {
            _ if self.out.is_empty() => {}
            Gap::None => {}
            Gap::Space => self.out.push(' '),
            gap => {
                self.out.push_str(if gap == Gap::Blank { "\n\n" } else { "\n" });
                self.out.extend(std::iter::repeat_n(' ', self.indent * STEP));
            }
        }
        self.out.push_str(text);
    }

    /// A comment behind the last text, whatever was asked for after that.
    fn trailing(&mut self, text: &str) {
        self.out.push(' ');
        self.out.push_str(text);
        self.ask(Gap::Line);
    }

    fn comment(&mut self, text: &str, blank: bool) {
        self.ask(if blank { Gap::Blank } else { Gap::Line });
        self.text(text);
        self.ask(Gap::Line);
    }
}

/// Sums that say in one step whether a group fits.
struct Measures {
    width: Width,
    /// Width of all pieces before each, on one line.
    flat: Vec<usize>,
    /// Breaks that cannot be left out before each piece.
    forced: Vec<usize>,
    /// Width from each piece to the next place where a line may end.
    tail: Vec<usize>,
    /// The end of each group, by its beginning.
    close: Vec<usize>,
}

impl Measures {
    fn of(pieces: &[Piece], width: Width) -> Self {
        let (mut flat, mut forced) = (vec![0], vec![0]);
        let mut close = vec![0; pieces.len()];
        let mut open = Vec::new();
        for (at, piece) in pieces.iter().enumerate() {
            let breaks = match piece {
                Piece::Comment { .. } => true,
                Piece::Line(Break::Hard) => width != Width::OneLine,
                _ => false,
            };
            forced.push(forced[at] + usize::from(breaks));
            flat.push(flat[at] + flat_width(piece));
            match piece {
                Piece::Open => open.push(at),
                Piece::Close => {
                    let begin = open.pop().expect("groups pair");
                    close[begin] = at;
                }
                _ => {}
            }
        }
        let mut tail = vec![0; pieces.len() + 1];
        for (at, piece) in pieces.iter().enumerate().rev() {
            tail[at] = match piece {
                Piece::Line(_) | Piece::Comment { .. } => 0,
                // Where what comes before it is measured, the group of the comma is broken.
                Piece::Comma => tail[at + 1] + 1,
                piece => tail[at + 1] + flat_width(piece),
            };
        }
        Self { width, flat, forced, tail, close }
    }

    /// Whether a group has a break that cannot be left out.
    fn is_forced(&self, open: usize) -> bool {
        self.forced[self.close[open]] > self.forced[open]
    }

    /// Whether a group that begins in a column fits on one line, with what follows it there.
    fn fits(&self, open: usize, column: usize) -> bool {
        let close = self.close[open];
        match self.width {
            Width::OneLine => true,
            Width::Most(width) => column + self.flat[close] - self.flat[open] + self.tail[close] <= width,
        }
    }
}

fn flat_width(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) => text.chars().count(),
        Piece::Space | Piece::Line(Break::Space | Break::Hard) => 1,
        _ => 0,
    }
}
