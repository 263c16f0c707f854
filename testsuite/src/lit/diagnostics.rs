//! Marks on guilty lines (`//~ ERROR TG0101 text`) against what `tigac check` prints.

use super::shell::Output;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A marked finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    line: usize,
    /// `error` or `warning`.
    severity: &'static str,
    code: String,
    /// A part of the message; may be empty.
    text: String,
}

/// A printed finding.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Found {
    line: usize,
    severity: String,
    code: String,
    message: String,
}

impl Expected {
    /// The mark on a line, if it has one: `//~ ERROR CODE text`; each `^` behind `~` means one line up.
    pub fn parse(line: &str, number: usize) -> Result<Option<Self>, String> {
        let Some((_, mark)) = line.split_once("//~") else { return Ok(None) };
        let rest = mark.trim_start_matches('^');
        let up = mark.len() - rest.len();
        let mut words = rest.trim().splitn(3, ' ');
        let severity = match words.next() {
            Some("ERROR") => "error",
            Some("WARNING") => "warning",
            _ => return Err("`//~` is followed by ERROR or WARNING, a code, and a part of the message".to_owned()),
        };
        let code = words.next().unwrap_or_default().to_owned();
        if !code.starts_with("TG") {
            return Err("the mark lacks the code (TG and four digits)".to_owned());
        }
        let text = words.next().unwrap_or_default().trim().to_owned();
        let line = number.checked_sub(up).filter(|line| *line > 0).ok_or("the mark points above the file")?;
        Ok(Some(Self { line, severity, code, text }))
    }

    fn matches(&self, found: &Found) -> bool {
        (self.line, self.severity, &self.code) == (found.line, found.severity.as_str(), &found.code)
            && found.message.contains(&self.text)
    }
}

/// Demands that every mark is met by one printed finding, and every finding by a mark.
pub fn compare(expected: &[Expected], output: &Output) -> Result<(), String> {
    let found = found(&output.text);
    let mut unmet = BTreeSet::from_iter(0..found.len());
    let mut report = String::new();
    for mark in expected {
        match unmet.iter().copied().find(|index| mark.matches(&found[*index])) {
            Some(index) => {
                unmet.remove(&index);
            }
            None => {
                let _ = writeln!(report, "missing: line {}: {}[{}] {}", mark.line, mark.severity, mark.code, mark.text);
            }
        }
    }
    for index in unmet {
        let Found { line, severity, code, message } = &found[index];
        let _ = writeln!(report, "not marked: line {line}: {severity}[{code}] {message}");
    }
    let code = i32::from(expected.iter().any(|mark| mark.severity == "error"));
    if output.code != code {
        let _ = writeln!(report, "exit code {}, expected {code}", output.code);
    }
    if report.is_empty() { Ok(()) } else { Err(format!("{report}output:\n{}", output.text)) }
}

/// Reads findings as rustc prints them: `error[CODE]: message`, then ` --> file:line:column`.
fn found(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut open: Option<Found> = None;
    for line in text.lines() {
        if let Some(head) = head(line) {
            open = Some(head);
        } else if let (Some((_, place)), Some(head)) = (line.split_once("--> "), open.as_mut()) {
            let number = place.rsplit(':').nth(1).and_then(|number| number.parse().ok());
            head.line = number.unwrap_or_default();
            found.extend(open.take());
        }
    }
    found.extend(open);
    found
}

fn head(line: &str) -> Option<Found> {
    let (severity, rest) = line.split_once('[')?;
    let (code, message) = rest.split_once("]: ")?;
    matches!(severity, "error" | "warning").then(|| Found {
        line: 0,
        severity: severity.to_owned(),
        code: code.to_owned(),
        message: message.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = "\
error[TG0201]: cannot find value `dampng`\n  --> a.tg:3:27\n   |\n 3 | x\n   | ^\n\n\
warning[TG0900]: unused\n  --> a.tg:7:1\n   |\n";

    fn marks(source: &str) -> Vec<Expected> {
        let lines = source.lines().enumerate();
        lines.filter_map(|(number, line)| Expected::parse(line, number + 1).unwrap()).collect()
    }

    #[test]
    fn marks_meet_what_is_printed() {
        let output = Output { code: 1, text: PRINTED.to_owned() };
        let all = "\n\nx //~ ERROR TG0201 cannot find\n\n\n\n\n//~^ WARNING TG0900\n";
        assert_eq!(compare(&marks(all), &output), Ok(()));
        let one = "\n\nx //~ ERROR TG0201\n";
        assert!(compare(&marks(one), &output).unwrap_err().starts_with("not marked: line 7: warning[TG0900] unused"));
        let other = all.replace("cannot find", "no such");
        assert!(compare(&marks(&other), &output).unwrap_err().starts_with("missing: line 3: error[TG0201] no such"));
        let line = all.replace("x //~ ERROR", "\nx //~ ERROR");
        assert!(compare(&marks(&line), &output).unwrap_err().contains("missing: line 4"));
    }

    #[test]
    fn a_panic_is_no_refusal() {
        let output = Output { code: 101, text: PRINTED.to_owned() };
        let all = "\n\nx //~ ERROR TG0201\n\n\n\n\n//~^ WARNING TG0900\n";
        assert!(compare(&marks(all), &output).unwrap_err().starts_with("exit code 101, expected 1"));
    }
}
