//! Random programs on three graphs each (100, until a run of 2,000 has been shown): strict equals the domain interpreter, the default equals the loops
//! interpreter, bit for bit. `TIGA_PROGRAMS` and `TIGA_SEED` choose another number and seed.

use testsuite::differential::campaign;
use testsuite::generator::{Coverage, program};

#[test]
fn compiled_programs_equal_their_interpreters() {
    let setting = |name: &str, default: u64| std::env::var(name).ok().map_or(default, |v| v.parse().unwrap());
    let (count, seed) = (setting("TIGA_PROGRAMS", 100), setting("TIGA_SEED", 1));
    let report = campaign(seed, count as usize);
    println!("{}", report.coverage);
    println!(
        "{} programs, {} runs, {} of {} results finite and not constant",
        report.programs, report.runs, report.lively, report.results
    );
    for failure in report.failures.iter().take(20) {
        println!("{failure}");
    }
    assert!(report.failures.is_empty(), "{} of {} programs differ", report.failures.len(), report.programs);
    assert!(report.lively * 10 >= report.results * 3, "too few lively results");
}

#[test]
fn the_generator_leaves_no_cell_empty() {
    let mut coverage = Coverage::default();
    for seed in 1..=2000 {
        coverage.merge(&program(&mut fastrand::Rng::with_seed(seed), 6).coverage);
    }
    assert!(coverage.empty().is_empty(), "{coverage}\nempty cells: {:?}", coverage.empty());
}
