//! A writer that a signal ends in the middle of a file leaves nothing behind, and ends by that signal.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use std::io::{BufRead, BufReader};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};
use tiga_formats::{remove_unfinished_on_signals, write_file};

/// Set for the process that writes: the file.
const TARGET: &str = "TIGA_TEST_TARGET";

/// Writes a part of the file, says so, and waits for its end. Does nothing as a test of its own.
#[test]
fn writer() {
    let Ok(target) = env::var(TARGET) else { return };
    remove_unfinished_on_signals().unwrap();
    write_file(Path::new(&target), |file| {
        file.write_all(&[7; 1 << 20])?;
        println!("half");
        thread::sleep(Duration::from_secs(60));
        Ok(())
    })
    .unwrap();
}

/// The exit code or signal of a writer that `name` was sent to, and the files there were before and after.
fn end_by(name: &str) -> (Option<i32>, Vec<String>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let names = || -> Vec<String> {
        fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned()).collect()
    };
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "writer", "--nocapture"]).env(TARGET, folder.path().join("y.npy"));
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("half")), "the writer ends before its signal");
    let before = names();
    // The shell's own `kill`: the program of that name is in a package that need not be there.
    let kill = format!("kill -s {name} {}", child.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let status = child.wait().unwrap();
    (status.signal(), before, names())
}

#[test]
fn no_temporary_is_left() {
    for (name, number) in [("INT", 2), ("TERM", 15), ("HUP", 1)] {
        let (signal, before, after) = end_by(name);
        assert!(before.len() == 1 && before[0].ends_with(".partial"), "{before:?}");
        assert_eq!((signal, after.len()), (Some(number), 0), "{name}: {after:?}");
    }
}
