//! Runs every test file of the testsuite; `cargo test -p testsuite --test lit -- PART` runs those whose path has PART.

use libtest_mimic::{Arguments, Failed, Trial};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use testsuite::lit::{DataNeed, Tools, find, run};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let cases = find(root).expect("the testsuite can be read");
    if cases.is_empty() {
        eprintln!("no test file found below {}", root.display());
        return ExitCode::FAILURE;
    }
    if arguments.list {
        let trials = cases.into_iter().map(|case| Trial::test(case.name, || Ok(()))).collect();
        return libtest_mimic::run(&arguments, trials).exit_code();
    }
    let tools = match Tools::new(root, Path::new(env!("CARGO_TARGET_TMPDIR"))) {
        Ok(tools) => Arc::new(tools),
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let trial = |case: testsuite::lit::Case| {
        let (tools, skip) = (tools.clone(), tools.data_need(&case) == DataNeed::Skip);
        Trial::test(case.name.clone(), move || run(&case, &tools).map_err(Failed::from)).with_ignored_flag(skip)
    };
    libtest_mimic::run(&arguments, cases.into_iter().map(trial).collect()).exit_code()
}
