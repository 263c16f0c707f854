//! Findings as JSON, in the shape that rustc gives them, which editors read (docs/diagnostics.schema.json).

use super::explain;
use serde_json::{Value, json};
use tiga_source::{Diagnostic, Label, Severity, Sources, Span, Suggestion};

/// The level of what is said after errors.
pub(super) const FAILURE_NOTE: &str = "failure-note";

/// What a severity is called.
pub(super) fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// A finding, on one line.
pub(super) fn finding(diagnostic: &Diagnostic, sources: &Sources) -> Value {
    let mut spans = vec![span(&diagnostic.primary, true, sources)];
    spans.extend(diagnostic.secondary.iter().map(|label| span(label, false, sources)));
    let remarks = diagnostic.notes.iter().map(|text| child("note", text, Vec::new()));
    let advice = diagnostic.help.iter().map(|text| child("help", text, Vec::new()));
    let suggestions = diagnostic
        .suggestions
        .iter()
        .map(|suggestion| child("help", &suggestion.message, vec![replacement(suggestion, sources)]));
    let children: Vec<Value> = remarks.chain(advice).chain(suggestions).collect();
    json!({
        "$message_type": "diagnostic",
        "message": diagnostic.message,
        "code": { "code": diagnostic.code, "explanation": explain::page(diagnostic.code).ok() },
        "level": level(diagnostic.severity),
        "spans": spans,
        "children": children,
        "rendered": diagnostic.render(sources, false) + "\n",
    })
}

/// What is said of no place and has no code.
pub(super) fn message(level: &str, text: &str, rendered: &str) -> Value {
    placeless(level, text, rendered, Value::Null)
}

/// An error of no place that has a code.
pub(super) fn coded(code: &str, text: &str, rendered: &str) -> Value {
    placeless("error", text, rendered, json!({ "code": code, "explanation": explain::page(code).ok() }))
}

fn placeless(level: &str, text: &str, rendered: &str, code: Value) -> Value {
    json!({
        "$message_type": "diagnostic",
        "message": text,
        "code": code,
        "level": level,
        "spans": [],
        "children": [],
        "rendered": rendered,
    })
}

fn child(level: &str, text: &str, spans: Vec<Value>) -> Value {
    json!({ "message": text, "code": null, "level": level, "spans": spans, "children": [], "rendered": null })
}

fn replacement(suggestion: &Suggestion, sources: &Sources) -> Value {
    let mut span = span(&Label { span: suggestion.span, text: String::new() }, true, sources);
    span["suggested_replacement"] = json!(suggestion.replacement);
    span["suggestion_applicability"] = json!("MaybeIncorrect");
    span
}

/// A range: bytes from 0; lines, and columns in characters, from 1; the end is the place after it.
fn span(label: &Label, is_primary: bool, sources: &Sources) -> Value {
    let file = sources.file(label.span.file);
    let (line_start, column_start) = file.line_col(label.span.start);
    let (line_end, column_end) = file.line_col(label.span.end);
    json!({
        "file_name": &**file.name(),
        "byte_start": label.span.start,
        "byte_end": label.span.end,
        "line_start": line_start,
        "line_end": line_end,
        "column_start": column_start,
        "column_end": column_end,
        "is_primary": is_primary,
        "text": lines(label.span, sources),
        "label": Some(&label.text).filter(|text| !text.is_empty()),
        "suggested_replacement": null,
        "suggestion_applicability": null,
        "expansion": null,
    })
}

/// The lines of a range, and which columns of each lie in it.
fn lines(span: Span, sources: &Sources) -> Vec<Value> {
    let file = sources.file(span.file);
    let ((first, start), (last, end)) = (file.line_col(span.start), file.line_col(span.end));
    let lines = file.text().lines().enumerate().skip(first as usize - 1).take((last - first) as usize + 1);
    lines
        .map(|(at, text)| {
            let line = at as u32 + 1;
            let after = text.chars().count() as u32 + 1;
            json!({
                "text": text,
                "highlight_start": if line == first { start } else { 1 },
                "highlight_end": if line == last { end } else { after },
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_each_line_the_columns_are_those_in_the_range() {
        let mut sources = Sources::new();
        let file = sources.add("m.tg", "let é = f(\n    longer,\n) + 1\n".to_owned()).unwrap();
        let of =
            |text: &str, start: u32, end: u32| json!({"text": text, "highlight_start": start, "highlight_end": end});
        // From `f` to `)`: `é` is one column of two bytes.
        let range = lines(Span::new(file, 9, 25), &sources);
        assert_eq!(range, [of("let é = f(", 9, 11), of("    longer,", 1, 12), of(") + 1", 1, 2)]);
        assert_eq!(lines(Span::new(file, 4, 6), &sources), [of("let é = f(", 5, 6)]);
    }

    #[test]
    fn a_bug_is_an_error_with_a_code_and_no_place() {
        let bug = coded("TG0999", "internal error: no", "error[TG0999]: internal error: no\n");
        let plain = message("error", "no", "error: no\n");
        assert!(bug.as_object().unwrap().keys().eq(plain.as_object().unwrap().keys()), "the same shape");
        assert_eq!(
            (&bug["code"]["code"], &bug["level"], &bug["spans"]),
            (&json!("TG0999"), &json!("error"), &json!([]))
        );
        let page = bug["code"]["explanation"].as_str().unwrap();
        assert!(page.starts_with("# TG0999: "), "{page}");
    }
}
