//! 2,000 random programs on three graphs each: strict equals the domain interpreter, the default the loops interpreter,
//! bit for bit, and the modes each other within a bound. `TIGA_PROGRAMS` and `TIGA_SEED` choose another number and first seed.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use testsuite::differential::{campaign, written};
use testsuite::generator::Case;

/// Programs that failed once, as the shrinker left them.
const CASES: &[(&str, &str)] = &[("product-minus-operand.tir", include_str!("../cases/product-minus-operand.tir"))];

#[test]
fn what_failed_once_agrees() {
    for (name, text) in CASES {
        let case: Case = text.parse().unwrap_or_else(|e| panic!("{name}: {e}"));
        let tally = case.judge().unwrap_or_else(|fault| panic!("{name}: {fault}"));
        assert_eq!(tally.runs, 2, "{name}");
        assert!(tally.checked.equal + tally.checked.within > 0, "{name} compares nothing");
    }
}

#[test]
fn compiled_programs_equal_their_interpreters() {
    let setting = |name: &str, default: u64| std::env::var(name).ok().map_or(default, |v| v.parse().unwrap());
    let (count, seed) = (setting("TIGA_PROGRAMS", 2000), setting("TIGA_SEED", 1));
    let report = campaign(seed, count as usize);
    println!("{}\n{report}", report.coverage);
    // Before they are made small, which may take longer than the campaign.
    for (seed, fault) in &report.failures {
        tiga_source::say(format_args!("seed {seed}: {fault}"));
    }
    for (seed, fault) in report.failures.iter().take(3) {
        println!("{}", written(*seed, fault, env!("CARGO_TARGET_TMPDIR")));
    }
    let failed = report.failures.keys().collect::<Vec<_>>();
    assert!(failed.is_empty(), "{} of {} programs differ: seeds {failed:?}", failed.len(), report.programs);
    assert!(report.tally.lively * 10 >= report.tally.results * 3, "too few lively results");
    let checked = report.tally.checked;
    assert!(checked.excluded * 10 <= checked.all() * 4, "too many elements without a bound: {checked:?}");
    if count >= 2000 {
        assert!(report.coverage.empty().is_empty(), "empty cells: {:?}", report.coverage.empty());
    }
}
