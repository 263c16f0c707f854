//! `cargo xtask spec-coverage`: each row of the definitions has a test, or a reason why it has none.

use crate::shell;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// The committed list of rows.
const TABLE: &str = "testsuite/spec/coverage.txt";

/// Why a row may have no test.
const REASONS: [&str; 3] = ["needs-gpu", "needs-python", "not-yet"];

/// What the names of tests of rows begin with: one that claims a row which is not listed is of a row that was forgotten.
const PREFIXES: [&str; 2] = ["bundle_plan_", "memory_hierarchy_"];

/// Folders that hold no tests of ours.
const SKIPPED: [&str; 3] = ["target", "out", ".git"];

/// A section of a definition.
#[derive(Debug, PartialEq, Eq)]
struct Section {
    name: String,
    /// How many rows the definition has.
    count: usize,
    rows: Vec<Row>,
}

/// A row of a section.
#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: String,
    /// `tested`, `tested:TEST`, or a reason.
    state: String,
    words: String,
}

impl Row {
    /// The tests that show it.
    fn tests<'t>(&'t self, tests: &'t BTreeSet<String>) -> impl Iterator<Item = &'t String> {
        let named = self.state.strip_prefix("tested:");
        let of_row = |test: &str| test.strip_prefix(&self.name).is_some_and(|rest| rest.starts_with('_'));
        tests.iter().filter(move |test| named.map_or_else(|| of_row(test), |named| *test == named))
    }

    fn wants_test(&self) -> bool {
        self.state == "tested" || self.state.starts_with("tested:")
    }
}

/// Prints what is covered; fails where a row has neither a test nor a reason.
pub fn run() -> Result<()> {
    let table = fs::read_to_string(shell::root().join(TABLE)).with_context(|| format!("cannot read {TABLE}"))?;
    let sections = parse(&table)?;
    let mut tests = BTreeSet::new();
    collect(shell::root(), &mut tests)?;
    print!("{}", report(&sections, &tests));
    let faults = faults(&sections, &tests);
    if !faults.is_empty() {
        bail!("{TABLE}:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

fn parse(text: &str) -> Result<Vec<Section>> {
    let mut sections: Vec<Section> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        let place = || format!("{TABLE}:{}: `{line}`", index + 1);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(head) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            let (name, count) = head.split_once(": ").with_context(place)?;
            let count = count.parse().with_context(place)?;
            sections.push(Section { name: name.to_owned(), count, rows: Vec::new() });
            continue;
        }
        let mut words = line.split_whitespace();
        let (name, state) = words.next().zip(words.next()).with_context(place)?;
        let words = words.collect::<Vec<_>>().join(" ");
        let section = sections.last_mut().with_context(|| format!("{}: a row before any section", place()))?;
        section.rows.push(Row { name: name.to_owned(), state: state.to_owned(), words });
    }
    Ok(sections)
}

/// The names of all `#[test]` functions below a folder.
fn collect(folder: &Path, tests: &mut BTreeSet<String>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let (entry, kind) = entry.and_then(|entry| entry.file_type().map(|kind| (entry, kind)))?;
        let (path, name) = (entry.path(), entry.file_name());
        if kind.is_dir() && !SKIPPED.iter().any(|skipped| name == *skipped) {
            collect(&path, tests)?;
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
            tests.extend(test_names(&text));
        }
    }
    Ok(())
}

/// The functions behind `#[test]`, with other attributes and comments between; one that is ignored shows nothing.
fn test_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut test = false;
    for line in text.lines().map(str::trim) {
        if line == "#[test]" {
            test = true;
        } else if line.starts_with("#[ignore") {
            test = false;
        } else if let Some(rest) = line.strip_prefix("fn ").filter(|_| test) {
            names.extend(rest.split('(').next().map(str::to_owned));
            test = false;
        } else if !line.starts_with("#[") && !line.starts_with("//") {
            test = false;
        }
    }
    names
}

/// A line a section, and one for each row that is left out.
fn report(sections: &[Section], tests: &BTreeSet<String>) -> String {
    let mut out = String::new();
    for section in sections {
        let (covered, left): (Vec<&Row>, Vec<&Row>) =
            section.rows.iter().partition(|row| row.tests(tests).next().is_some());
        let (covered, all) = (covered.len(), section.rows.len());
        out.push_str(&format!("{:<22} {covered:>3} of {all:>2} covered\n", section.name));
        for Row { name, state, words } in left {
            out.push_str(&format!("    left out: {name:<28} {state:<13} {words}\n"));
        }
        for row in section.rows.iter().filter(|row| !row.wants_test() && row.tests(tests).next().is_some()) {
            out.push_str(&format!("    tested now, listed as {}: {}\n", row.state, row.name));
        }
    }
    out
}

fn faults(sections: &[Section], tests: &BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let mut names = BTreeSet::new();
    for Section { name, count, rows } in sections {
        if rows.len() != *count {
            faults.push(format!("[{name}] has {} rows, the definition {count}", rows.len()));
        }
        for row in rows {
            if !names.insert(&row.name) {
                faults.push(format!("`{}` stands twice", row.name));
            }
            if row.wants_test() && row.tests(tests).next().is_none() {
                faults.push(format!("`{}` ({}) is {}, and there is no such test", row.name, row.words, row.state));
            }
            if !row.wants_test() && !REASONS.contains(&row.state.as_str()) {
                faults.push(format!("`{}`: `{}` is neither `tested` nor one of {REASONS:?}", row.name, row.state));
            }
        }
    }
    let known: BTreeSet<&String> =
        sections.iter().flat_map(|section| &section.rows).flat_map(|row| row.tests(tests)).collect();
    let odd = tests.iter().filter(|test| PREFIXES.iter().any(|prefix| claims_row(test, prefix)));
    faults.extend(odd.filter(|test| !known.contains(test)).map(|test| format!("the test `{test}` is of no row")));
    faults
}

/// Whether the name of a test has the number of a row behind that of its section: `…_9_row_01_x`, `…_5_b01_x`, `…_7_1_x`.
/// Others are about a section.
fn claims_row(test: &str, prefix: &str) -> bool {
    let words = test.strip_prefix(prefix).into_iter().flat_map(|rest| rest.split('_').skip(1).take(2));
    let digits = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    words.into_iter().any(|word| digits(word.strip_prefix('b').unwrap_or(word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = "# words\n[bundle-plan 9: 2]\nbundle_plan_9_row_01 tested two writers\n\
                         bundle_plan_9_row_02 needs-gpu a stream\n";

    fn found(table: &str, tests: &[&str]) -> Vec<String> {
        faults(&parse(table).unwrap(), &tests.iter().map(|test| (*test).to_owned()).collect())
    }

    #[test]
    fn the_repository_covers_its_table() {
        run().unwrap();
    }

    #[test]
    fn a_row_without_test_and_without_reason_fails() {
        assert_eq!(found(SMALL, &["bundle_plan_9_row_01_two_writers"]), [""; 0]);
        // Another row's test is not its own, and neither is a name that only begins alike.
        for tests in [&[][..], &["bundle_plan_9_row_02_x"], &["bundle_plan_9_row_011"]] {
            let faults = found(SMALL, tests);
            assert!(faults[0].starts_with("`bundle_plan_9_row_01` (two writers) is tested"), "{faults:?}");
        }
        let unknown = SMALL.replace("needs-gpu", "boring");
        assert!(found(&unknown, &["bundle_plan_9_row_01_x"])[0].contains("`boring` is neither"));
    }

    #[test]
    fn a_row_that_is_not_listed_fails() {
        let all = ["bundle_plan_9_row_01_x", "bundle_plan_9_row_03_x"];
        assert_eq!(found(SMALL, &all), ["the test `bundle_plan_9_row_03_x` is of no row"]);
        let planted = SMALL.replace("bundle_plan_9_row_02 needs-gpu a stream\n", "");
        assert_eq!(found(&planted, &all[..1]), ["[bundle-plan 9] has 1 rows, the definition 2"]);
        let twice = format!("{SMALL}bundle_plan_9_row_02 not-yet\n").replace(": 2", ": 3");
        assert_eq!(found(&twice, &all[..1]), ["`bundle_plan_9_row_02` stands twice"]);
    }

    #[test]
    fn a_test_of_a_section_needs_no_row() {
        let tests = ["bundle_plan_9_row_01_x", "bundle_plan_9_many_of_3_rows"];
        assert_eq!(found(SMALL, &tests), [""; 0]);
        for odd in ["bundle_plan_9_7_x", "bundle_plan_5_b02_x"] {
            assert_eq!(found(SMALL, &[tests[0], odd]), [format!("the test `{odd}` is of no row")]);
        }
    }

    #[test]
    fn a_named_test_must_be_there() {
        let named = SMALL.replace(" tested ", " tested:an_old_name ");
        assert_eq!(found(&named, &["an_old_name"]), [""; 0]);
        assert!(found(&named, &["another"])[0].contains("is tested:an_old_name, and there is no such test"));
    }

    #[test]
    fn tests_are_found_by_their_attribute() {
        let text = "#[test]\nfn a() {}\nfn b() {}\n/// c\n#[test]\n#[allow(x)]\n// why\nfn c(x in 0..3) {}\n\
                    #[test]\n#[ignore = \"long\"]\nfn d() {}\n";
        assert_eq!(test_names(text), ["a", "c"]);
    }

    #[test]
    fn what_is_left_out_is_printed() {
        let text = report(&parse(SMALL).unwrap(), &BTreeSet::from(["bundle_plan_9_row_01_x".to_owned()]));
        assert!(
            text.starts_with("bundle-plan 9            1 of  2 covered\n    left out: bundle_plan_9_row_02"),
            "{text}"
        );
    }
}
