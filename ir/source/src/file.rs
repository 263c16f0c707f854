//! The files of one compilation, and byte ranges in them.

use crate::Loc;
use std::sync::Arc;

/// A file of a [`Sources`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The file the range lies in.
    pub file: FileId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range `start..end` of `file`.
    pub fn new(file: FileId, start: usize, end: usize) -> Self {
        // Files are limited to 4 GiB by `Sources::add`.
        Self { file, start: start as u32, end: end as u32 }
    }

    /// The smallest range that covers both; both must lie in one file.
    pub fn to(self, other: Span) -> Span {
        Span { file: self.file, start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Its first `bytes` bytes: the keyword or sign that something begins with.
    pub fn first(self, bytes: usize) -> Span {
        Span { end: self.start.saturating_add(bytes as u32).min(self.end), ..self }
    }

    /// The place before it, for insertions.
    pub fn before(self) -> Span {
        Span { end: self.start, ..self }
    }

    /// The place after it, for insertions.
    pub fn after(self) -> Span {
        Span { start: self.end, ..self }
    }

    /// The place before its last byte: where another element goes between delimiters.
    pub fn inside_end(self) -> Span {
        let place = self.end.saturating_sub(1).max(self.start);
        Span { start: place, end: place, ..self }
    }
}

/// One file: its name as the user gave it, its text, and where its lines start.
#[derive(Debug)]
pub struct Source {
    name: Arc<str>,
    text: String,
    lines: Vec<u32>,
}

impl Source {
    /// The name as given by the user.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The whole text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One-based line and column (in characters) of a byte offset.
    pub fn line_col(&self, offset: u32) -> (u32, u32) {
        let line = self.lines.partition_point(|&start| start <= offset) - 1;
        let start = self.lines[line] as usize;
        let column = self.text[start..].char_indices().take_while(|(i, _)| start + i < offset as usize).count();
        (line as u32 + 1, column as u32 + 1)
    }
}

/// All files of one compilation.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
}

impl Sources {
    /// An empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file; `None` if it is larger than 4 GiB − 1, which a [`Span`] cannot address.
    pub fn add(&mut self, name: &str, text: String) -> Option<FileId> {
        u32::try_from(text.len()).ok()?;
        let id = FileId(u32::try_from(self.files.len()).ok()?);
        let lines = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i as u32 + 1)).collect();
        self.files.push(Source { name: name.into(), text, lines });
        Some(id)
    }

    /// The file of an id that [`Sources::add`] returned.
    pub fn file(&self, id: FileId) -> &Source {
        &self.files[id.0 as usize]
    }

    /// The text of a range.
    pub fn text(&self, span: Span) -> &str {
        &self.file(span.file).text[span.start as usize..span.end as usize]
    }

    /// Where a range begins, as file, line and column. The file's folder is left out: what the compiler writes names
    /// no place of the machine that it ran on.
    pub fn loc(&self, span: Span) -> Loc {
        let file = self.file(span.file);
        let (line, column) = file.line_col(span.start);
        let name = file.name.rsplit('/').next().unwrap_or_default();
        Loc::new(name.into(), line, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_characters_from_one() {
        let mut sources = Sources::new();
        let id = sources.add("models/a.tg", "ab\nµc\n".into()).unwrap();
        let at = |offset| sources.file(id).line_col(offset);
        assert_eq!([at(0), at(2), at(3), at(5), at(7)], [(1, 1), (1, 3), (2, 1), (2, 2), (3, 1)]);
        assert_eq!(sources.loc(Span::new(id, 5, 6)).to_string(), "a.tg:2:2");
        assert_eq!(sources.text(Span::new(id, 3, 5)), "µ");
    }

    #[test]
    fn covering_span_is_symmetric() {
        let span = |a, b| Span::new(FileId(0), a, b);
        assert_eq!(span(4, 6).to(span(1, 2)), span(1, 6));
        assert_eq!(span(1, 2).to(span(4, 6)), span(1, 6));
    }
}
