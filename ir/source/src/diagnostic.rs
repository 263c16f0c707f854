//! A user's mistake, as data; rendered in rustc's manner.

use crate::{Sources, Span};
use annotate_snippets::{AnnotationKind, Group, Level, Patch, Renderer, Snippet};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Compilation fails.
    Error,
    /// Compilation goes on.
    Warning,
}

/// A marked range with its sentence (which may be empty).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The range.
    pub span: Span,
    /// What is said of it.
    pub text: String,
}

/// What to type instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// What is replaced (empty range: inserted).
    pub span: Span,
    /// The new text.
    pub replacement: String,
    /// The sentence before it.
    pub message: String,
}

/// One finding: a code, one sentence, the guilty range, and help.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// `TG0101`…; every code has a page in `docs/errors/`.
    pub code: &'static str,
    /// Error or warning.
    pub severity: Severity,
    /// One sentence, lower case, no full stop.
    pub message: String,
    /// The guilty range.
    pub primary: Label,
    /// Ranges that explain it.
    pub secondary: Vec<Label>,
    /// Facts, each a line.
    pub notes: Vec<String>,
    /// Advice, each a line.
    pub help: Vec<String>,
    /// Replacements.
    pub suggestions: Vec<Suggestion>,
}

impl Diagnostic {
    /// An error at `span`; the label under the caret starts empty.
    pub fn error(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self {
            code,
            severity: Severity::Error,
            message: message.into(),
            primary: Label { span, text: String::new() },
            secondary: Vec::new(),
            notes: Vec::new(),
            help: Vec::new(),
            suggestions: Vec::new(),
        }
    }

    /// A warning at `span`.
    pub fn warning(code: &'static str, message: impl Into<String>, span: Span) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, message, span) }
    }

    /// Says something under the caret.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        self.primary.text = text.into();
        self
    }

    /// Marks another range.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.secondary.push(Label { span, text: text.into() });
        self
    }

    /// Adds a fact.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.notes.push(text.into());
        self
    }

    /// Adds advice.
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }

    /// Adds a replacement.
    pub fn suggest(mut self, span: Span, message: impl Into<String>, replacement: impl Into<String>) -> Self {
        self.suggestions.push(Suggestion { span, replacement: replacement.into(), message: message.into() });
        self
    }

    /// The text a terminal shows, without a trailing newline.
    pub fn render(&self, sources: &Sources, color: bool) -> String {
        let level = match self.severity {
            Severity::Error => Level::ERROR,
            Severity::Warning => Level::WARNING,
        };
        let range = |span: Span| span.start as usize..span.end as usize;
        let snippet = |span: Span| {
            let file = sources.file(span.file);
            Snippet::source(file.text()).path(file.name().as_ref())
        };
        let mut main = snippet(self.primary.span)
            .annotation(AnnotationKind::Primary.span(range(self.primary.span)).label(&self.primary.text));
        let mut elsewhere = Vec::new();
        for label in &self.secondary {
            let mark = AnnotationKind::Context.span(range(label.span)).label(&label.text);
            if label.span.file == self.primary.span.file {
                main = main.annotation(mark);
            } else {
                elsewhere.push(snippet(label.span).annotation(mark));
            }
        }
        let mut group = Group::with_title(level.primary_title(&self.message).id(self.code)).element(main);
        for other in elsewhere {
            group = group.element(other);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note));
        }
        for help in &self.help {
            group = group.element(Level::HELP.message(help));
        }
        let mut report = vec![group];
        for suggestion in &self.suggestions {
            let file = sources.file(suggestion.span.file);
            let patch = Patch::new(range(suggestion.span), &suggestion.replacement);
            report.push(
                Group::with_title(Level::HELP.secondary_title(&suggestion.message))
                    .element(Snippet::source(file.text()).path(file.name().as_ref()).patch(patch)),
            );
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&report).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renders_code_caret_help_and_suggestion() {
        let mut sources = Sources::new();
        let id = sources.add("a.tg", "program p() -> (y: f32) { dampng }\n".into()).unwrap();
        let span = Span::new(id, 26, 32);
        let text = Diagnostic::error("TG0201", "cannot find value `dampng`", span)
            .label("not found")
            .help("names are declared by parameters and `let`")
            .suggest(span, "a parameter with a similar name exists", "damping")
            .render(&sources, false);
        for part in
            ["error[TG0201]: cannot find value `dampng`", "a.tg:1:27", "^^^^^^ not found", "help: names are", "damping"]
        {
            assert!(text.contains(part), "{part} is missing from\n{text}");
        }
    }
}
