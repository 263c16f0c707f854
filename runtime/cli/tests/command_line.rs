//! Exit codes of the command: 2 for a command line that makes no sense, 1 for a bundle that cannot be opened.

use std::process::{Command, Output};

fn tiga(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tiga")).args(arguments).output().expect("the command starts")
}

#[test]
fn a_command_line_that_makes_no_sense_ends_with_2() {
    for arguments in [&["walk"][..], &["run"], &["run", "a.tgb", "--threads", "0"], &["run", "a.tgb", "--rtol", "1"]] {
        let output = tiga(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn a_bundle_that_is_not_there_ends_with_1_and_is_named() {
    for command in ["run", "inspect"] {
        let output = tiga(&[command, "no-such.tgb"]);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.starts_with("error: ") && error.contains("no-such.tgb"), "{error}");
    }
}
