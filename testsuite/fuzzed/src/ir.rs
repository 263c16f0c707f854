//! The text form of the IR: it reads back as printed, and a module that keeps the laws is lowered to one that does.

use crate::{Memory, Repository, Target, Verdict};
use tiga_abi::FpMode;
use tiga_ir::verify::{Machine, verify};
use tiga_ir::{Level, Module, parse_module, print_module};
use tigac::lower::LowerError;
use tigac::passes::{PassError, PassOptions, PipelineError, Watch, run as run_passes};
use tigac::pipeline::{self, PASSES};

pub(crate) const TARGET: Target = Target {
    name: "ir",
    run,
    seeds,
    words: WORDS,
    longest: 8192,
    memory: Memory { free: 64 << 20, by_byte: 64 << 10 },
};

const WORDS: &[&str] = &[
    "domain @",
    "host @",
    "loops @",
    "kernel @",
    "reducer @",
    "return ",
    "yield ",
    "%0 = ",
    "^1(",
    "br ",
    "cond_br ",
    "loc(\"",
    "set ",
    "edges ",
    "dim ",
    "bound ",
    "graph<",
    "buf<",
    "ptr<",
    "f32[",
    "i64",
    "v8f32",
    "value(",
    "with(",
    "shape(leaf ",
    "acc ",
    "over(",
    "axis(",
    "to(",
    "space(",
    "roles(",
    "targets(",
    "pattern(",
    "laws(associative, commutative)",
    "state (",
    "lift(",
    "step(",
    "combine(",
    "finalize(",
    "guard(",
    "scratch(",
    "of(",
    "-> (",
    "inf",
    "-inf",
    "nan",
    "csr",
    "transpose",
];

/// Modules, and what the golden bundles carry.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let mut seeds = repository.files("tir", TARGET.longest);
    for bundle in repository.files("tgb", usize::MAX) {
        let bundle = tiga_bundle::Bundle::from_bytes(bundle).expect("a golden bundle is whole");
        let entries = bundle.entries().filter(|(name, size)| name.ends_with(".tir") && *size <= TARGET.longest);
        seeds.extend(entries.filter_map(|(name, _)| bundle.entry(name)).map(<[u8]>::to_vec));
    }
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    let text = String::from_utf8_lossy(bytes);
    let Ok(module) = parse_module("fuzzed.tir", &text) else { return Verdict::Refused };
    let printed = print_module(&module);
    match parse_module("printed.tir", &printed) {
        Ok(again) => assert_eq!(print_module(&again), printed, "printing is not stable"),
        Err(error) => panic!("what was printed is no module: {error}\n{printed}"),
    }
    if verify(&module, Machine::FULL).is_err() {
        return Verdict::Refused;
    }
    match lowered(module) {
        Ok(_) => Verdict::Accepted,
        Err(error) if is_bug(&error) => panic!("{error}"),
        Err(_) => Verdict::Refused,
    }
}

/// The longest module of loops functions, as text, that becomes kernels: those of a large one take seconds.
const KERNELS: usize = 6_000;

/// Runs what of the pipeline is for a module: to the loops level, and to kernels if there are few of them.
pub(crate) fn lowered(module: Module) -> Result<(), PipelineError> {
    let options = PassOptions::new(FpMode::Default);
    let out = &mut std::io::sink();
    if !module.funcs.values().any(|func| func.level == Level::Domain) {
        return match print_module(&module).len() {
            ..=KERNELS => pipeline::lower_loops(module, &options, &Watch::default(), out).map(drop),
            _ => Ok(()),
        };
    }
    let loops = Watch { stop_after: Some(Level::Loops), ..Watch::default() };
    let above = run_passes(module.clone(), PASSES, &options, &loops, out)?;
    if print_module(&above).len() > KERNELS {
        return Ok(());
    }
    pipeline::lower(module, &options, &Watch::default(), out).map(drop)
}

/// Whether a verified module may not end so.
pub(crate) fn is_bug(error: &PipelineError) -> bool {
    match error {
        PipelineError::Pass { error: PassError::Type(_) | PassError::Lower(LowerError::Type(_)), .. } => true,
        PipelineError::Input(_) | PipelineError::Broken { .. } | PipelineError::Print(_) => true,
        PipelineError::Pass { .. } | PipelineError::Level { .. } => false,
    }
}
