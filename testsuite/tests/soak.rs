//! `cargo xtask soak`: campaigns of random programs with successive seeds until the time is over.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::time::{Duration, Instant};
use testsuite::differential::{Report, campaign};

/// Programs of one campaign: about half a minute.
const PROGRAMS: usize = 192;

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |value| value.parse().unwrap())
}

#[test]
#[ignore = "runs for TIGA_SOAK_MINUTES from the seed TIGA_SOAK_SEED on"]
fn soak() {
    let minutes = setting("TIGA_SOAK_MINUTES", 30);
    let mut seed = setting("TIGA_SOAK_SEED", 1);
    let (start, mut last) = (Instant::now(), Instant::now());
    let mut report = Report::default();
    println!("soak: {minutes} minutes from seed {seed} on");
    while start.elapsed() < Duration::from_secs(60 * minutes) {
        let found = campaign(seed, PROGRAMS);
        for failed in found.failures.keys() {
            println!(
                "{}",
                testsuite::differential::written(*failed, &found.failures[failed], env!("CARGO_TARGET_TMPDIR"))
            );
        }
        seed += PROGRAMS as u64;
        report = report.merge(found);
        if last.elapsed() >= Duration::from_secs(60) {
            last = Instant::now();
            println!("{:3} min, next seed {seed}: {report}", start.elapsed().as_secs() / 60);
        }
    }
    println!("{}\n{report}\nnext seed {seed}", report.coverage);
    assert!(report.failures.is_empty(), "failed: seeds {:?}", report.failures.keys().collect::<Vec<_>>());
}
