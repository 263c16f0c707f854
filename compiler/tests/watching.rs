//! What `tigac` shows of its passes, with LLVM and without: no pass needs a back end.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use std::path::PathBuf;
use std::process::{Command, Output};

fn tigac(options: &[&str]) -> Output {
    let model = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples/pagerank.tg");
    let mut command = Command::new(env!("CARGO_BIN_EXE_tigac"));
    command.arg(model).args(options).current_dir(env!("CARGO_TARGET_TMPDIR")).output().unwrap()
}

#[track_caller]
fn done(options: &[&str]) -> (String, String) {
    let output = tigac(options);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{options:?}: {error}");
    (String::from_utf8(output.stdout).unwrap(), error)
}

#[test]
fn passes_stop_at_any_level() {
    for (level, holds) in [("domain", "domain @"), ("host", "host @"), ("loops", "loops @"), ("kernel", "kernel @")] {
        let (module, _) = done(&["--stop-after", level, "--target=x86-64-v3"]);
        assert!(module.contains(holds), "{level}: {module}");
    }
}

#[test]
fn passes_are_watched_when_none_of_their_results_is_asked_for() {
    let (module, shown) = done(&["--emit=ir", "--print-after=lower-to-kernels", "--time-passes"]);
    assert!(module.contains("domain @") && !module.contains("kernel @"), "{module}");
    assert!(shown.contains("// after lower-to-kernels") && shown.contains("kernel @"), "{shown}");
    assert!(shown.contains(" ms  cse"), "{shown}");
}

#[test]
fn a_dimension_that_no_program_has_is_refused_whatever_is_asked_for() {
    for options in [&["--emit=ir"][..], &["--stop-after=loops"]] {
        let output = tigac(&[options, &["--specialize=Q=4"]].concat());
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.contains("no program has a dimension `Q`"), "{error}");
    }
}

#[cfg(not(feature = "llvm"))]
#[test]
fn without_a_back_end_passes_are_shown_and_a_bundle_is_refused() {
    let output = tigac(&["--time-passes"]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains(" ms  cse") && error.contains("built without LLVM"), "{error}");
}
