//! Whatever a text says, analysis ends without a panic, and what it accepts is IR that prints and parses back and that
//! has kernels and plans, or is refused with its place.

#![allow(clippy::unwrap_used, reason = "a failure here is a failed test")]

use fastrand::Rng;
use std::path::Path;
use tiga_abi::FpMode;
use tiga_ir::{Level, parse_module, print_module};
use tigac::driver::Front;
use tigac::lower::plan::PlanError;
use tigac::lower::{LowerError, plan};
use tigac::passes::{PassError, PassOptions, PipelineError, Watch};
use tigac::pipeline;
use tigac::sema::SemaOptions;

/// Words, numbers and single signs.
fn tokens(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for c in text.chars() {
        let word = |c: char| c.is_alphanumeric() || c == '_';
        match out.last_mut() {
            Some(last) if word(c) && last.chars().all(word) => last.push(c),
            _ => out.push(c.to_string()),
        }
    }
    out
}

/// A few tokens dropped, doubled, exchanged, or replaced by others of any text.
fn mutated(tokens: &[String], others: &[String], random: &mut Rng) -> String {
    let mut out = tokens.to_vec();
    for _ in 0..=random.usize(0..2) {
        let i = random.usize(0..out.len());
        match random.usize(0..4) {
            0 => drop(out.remove(i)),
            1 => out.insert(i, out[i].clone()),
            2 => {
                let j = random.usize(0..out.len());
                out.swap(i, j);
            }
            _ => {
                // A word of the same text more often means something there.
                let from = if random.usize(0..2) == 0 { tokens } else { others };
                out[i] = from[random.usize(0..from.len())].clone();
            }
        }
    }
    out.concat()
}

fn texts() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut out: Vec<String> = Vec::new();
    for folder in ["../examples", "syntax/tests/programs"] {
        for entry in std::fs::read_dir(root.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|e| e == "tg") {
                out.push(std::fs::read_to_string(path).unwrap());
            }
        }
    }
    let cases = ["names", "types", "messages", "control"];
    for name in cases {
        let text = std::fs::read_to_string(root.join(format!("tests/cases/{name}.txt"))).unwrap();
        let program = |chunk: &str| chunk.lines().skip_while(|l| l.starts_with("TG")).collect::<Vec<_>>().join("\n");
        out.extend(text.split("----\n").map(program));
    }
    out.sort();
    out
}

/// Why a text has no kernels and plans.
enum Stop {
    Limit(LowerError),
    Bug(String),
}

/// Kernels of all programs, and their plans.
fn lowered(front: &Front, fp: FpMode) -> Result<(), Stop> {
    let (ir, options) = (front.analysis.ir.clone(), PassOptions::new(fp));
    let limit = |error| match error {
        LowerError::Unsupported { .. } => Stop::Limit(error),
        LowerError::Type(_) | LowerError::Taken { .. } => Stop::Bug(error.to_string()),
    };
    let lowered = match pipeline::lower(ir, &options, &Watch::default(), &mut std::io::sink()) {
        Ok(lowered) => lowered,
        Err(PipelineError::Pass { error: PassError::Lower(error), .. }) => return Err(limit(error)),
        Err(error) => return Err(Stop::Bug(error.to_string())),
    };
    for host in lowered.loops.funcs.values().filter(|f| f.level == Level::Host) {
        match plan::lower(&lowered.loops, host, &lowered.kernels) {
            Ok(_) => {}
            Err(PlanError::Lower(error)) => return Err(limit(error)),
            Err(error) => return Err(Stop::Bug(error.to_string())),
        }
    }
    Ok(())
}

/// Whether an error is shown where something stands that it could mean.
fn place(front: &Front, error: &LowerError) -> bool {
    error.loc().is_some_and(|loc| front.analysis.places.contains_key(loc))
}

#[test]
fn changed_texts_are_refused_or_accepted_whole() {
    let texts: Vec<Vec<String>> = texts().iter().map(|t| tokens(t)).collect();
    let all: Vec<String> = texts.concat().into_iter().filter(|t| !t.trim().is_empty()).collect();
    let mut random = Rng::with_seed(0x9E37_79B9_7F4A_7C15);
    let (mut accepted, mut refused, mut compiled) = (0, 0, 0);
    for text in &texts {
        // Most changes of a text that is refused are refused.
        let whole = Front::of_text("model.tg", text.concat(), &SemaOptions::default()).unwrap();
        for _ in 0..if whole.errors() == 0 { 200 } else { 20 } {
            let text = mutated(text, &all, &mut random);
            let front = Front::of_text("model.tg", text.clone(), &SemaOptions::default()).unwrap();
            let internal = front.diagnostics.iter().find(|d| d.code == "TG0999");
            assert!(internal.is_none(), "{internal:?}\n{text}");
            for diagnostic in &front.diagnostics {
                diagnostic.render(&front.sources, false);
            }
            if front.errors() > 0 {
                refused += 1;
                continue;
            }
            accepted += 1;
            let printed = print_module(&front.analysis.ir);
            let again = parse_module("model.tir", &printed).unwrap_or_else(|e| panic!("{e}\n{text}\n{printed}"));
            assert_eq!(print_module(&again), printed, "{text}");
            for fp in [FpMode::Default, FpMode::Strict] {
                match lowered(&front, fp) {
                    Ok(()) => compiled += 1,
                    Err(Stop::Limit(error)) => assert!(place(&front, &error), "{error}\n{text}"),
                    Err(Stop::Bug(error)) => panic!("{error}\n{text}"),
                }
            }
        }
    }
    assert!(accepted > 300 && refused > 1000, "{accepted} accepted, {refused} refused");
    assert!(compiled > accepted, "{compiled} of twice {accepted} compiled");
}
