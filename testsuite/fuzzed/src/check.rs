//! The front end and the passes behind it: a model without mistakes becomes a module that keeps all laws, down to kernels.

use crate::ir::{is_bug, lowered};
use crate::syntax::WORDS;
use crate::{Memory, Repository, Target, Verdict};
use tiga_ir::verify::{Machine, verify};
use tigac::driver::Front;
use tigac::sema::SemaOptions;

pub(crate) const TARGET: Target = Target {
    name: "check",
    run,
    seeds,
    words: WORDS,
    longest: 2048,
    memory: Memory { free: 64 << 20, by_byte: 64 << 10 },
};

/// The shorter models of the repository: they compile in a moment.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    repository.files("tg", TARGET.longest)
}

fn run(bytes: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let front = Front::of_text("fuzzed.tg", text, &SemaOptions::default()).expect("inputs are short");
    for finding in &front.diagnostics {
        finding.render(&front.sources, false);
    }
    if front.errors() > 0 {
        return Verdict::Refused;
    }
    if let Err(broken) = verify(&front.analysis.ir, Machine::FULL) {
        panic!("analysis wrote a module that breaks laws:\n{broken}");
    }
    match lowered(front.analysis.ir) {
        Ok(_) => Verdict::Accepted,
        Err(error) if is_bug(&error) => panic!("{error}"),
        Err(_) => Verdict::Refused,
    }
}
