//! Every seed and every find of the fuzzers, run again: what once broke a target breaks it no more.

#![allow(clippy::unwrap_used, reason = "this whole file is a test")]

use fuzzed::{Repository, TARGETS, Target, Verdict};
use std::fs;
use std::path::PathBuf;

/// Counts what a target holds of memory.
#[global_allocator]
static METER: fuzzed::meter::Meter = fuzzed::meter::Meter;

/// The stack that the commands give themselves.
const STACK: usize = 256 << 20;

/// Runs in a thread with the stack of the commands.
fn in_command(work: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
}

/// The finds of a target, by path.
fn finds(target: &Target) -> Vec<PathBuf> {
    let Ok(folder) = fs::read_dir(Repository::here().finds(target.name)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = folder.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

#[test]
fn finds_break_nothing_any_more() {
    in_command(|| {
        for target in TARGETS {
            for file in finds(target) {
                println!("{} {}", target.name, file.display());
                target.judge(&fs::read(file).unwrap());
            }
        }
    });
}

/// Each folder of finds is that of a target: what no test runs is no regression.
#[test]
fn finds_lie_by_targets() {
    // There is none until the first find.
    let Ok(folder) = fs::read_dir(Repository::here().finds("")) else { return };
    for entry in folder {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(Target::named(&name).is_some(), "no target is called `{name}`");
    }
}

/// A target whose seeds are all refused, or all accepted, looks at half of its reader.
#[test]
fn seeds_are_read_and_some_are_accepted() {
    in_command(|| {
        for target in TARGETS {
            let seeds = (target.seeds)(&Repository::here());
            let accepted = seeds.iter().filter(|seed| target.judge(seed) == Verdict::Accepted).count();
            println!("{:<14} {} seeds, {accepted} accepted", target.name, seeds.len());
            assert!(accepted > 0, "{}: none of {} seeds is accepted", target.name, seeds.len());
            assert!(seeds.iter().all(|seed| seed.len() <= target.longest), "{}: a seed is too long", target.name);
        }
    });
}
