//! `cargo xtask test`: everything CI runs, in the order in which failures are cheapest to see.

use crate::{setup, shell};
use anyhow::{Result, bail};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs all steps even after a failure, then says which failed; cargo's own test counts stand above the summary.
pub fn run() -> Result<()> {
    setup::run(setup::Need::Everything)?;
    let mut steps: [(&str, Command); 3] = [
        ("format", shell::cargo(["fmt", "--all", "--check"])),
        ("clippy", shell::cargo(["clippy", "--workspace", "--all-targets", "--quiet", "--", "-D", "warnings"])),
        ("tests", shell::cargo(["test", "--workspace", "--no-fail-fast"])),
    ];
    // The commands are built with their own tests; without this, the testsuite would build them once more.
    steps[2].1.env("TIGA_COMMANDS_BUILT", "1");
    let mut report = Vec::new();
    for (name, mut command) in steps {
        let start = Instant::now();
        let outcome = shell::run(&mut command);
        if let Err(error) = &outcome {
            eprintln!("error: {error:#}");
        }
        report.push((name, outcome.is_ok(), start.elapsed()));
    }
    print!("{}", summary(&report));
    let failed: Vec<_> = report.iter().filter(|(_, ok, _)| !ok).map(|(name, ..)| *name).collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// One line a step.
fn summary(report: &[(&str, bool, Duration)]) -> String {
    let line = |(name, ok, time): &(&str, bool, Duration)| {
        format!("{name:<8} {:<6} {:>6.1} s\n", if *ok { "ok" } else { "FAILED" }, time.as_secs_f64())
    };
    report.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_names_each_step() {
        let report = [("format", true, Duration::from_millis(1500)), ("tests", false, Duration::from_secs(60))];
        assert_eq!(summary(&report), "format   ok        1.5 s\ntests    FAILED   60.0 s\n");
    }
}
