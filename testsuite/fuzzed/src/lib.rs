//! What a fuzzer feeds bytes to: a target for each reader of untrusted bytes, each with its law of memory.
//!
//! A target reads what it is given and looks at what it has read in every way that does not run it. It may refuse the
//! bytes; it may not panic, break a law that the value promises, take more memory than [`Target::memory`] says, or think
//! for longer than a few seconds. `fuzz/` runs the targets in libFuzzer; `tests/replay.rs` runs them over the seeds and
//! over `finds/`, the inputs that once broke one.

mod bundle;
mod check;
mod compressed;
mod edge_list;
mod format;
mod ir;
mod matrix_market;
pub mod meter;
mod npy;
mod npz;
mod pieces;
mod plan;
mod safetensors;
mod seeds;
mod syntax;
mod values;
mod zip_sums;

pub use seeds::Repository;

/// What became of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was read to its end.
    Accepted,
    /// A typed error said what is wrong with it.
    Refused,
}

impl Verdict {
    fn of<T, E>(result: &Result<T, E>) -> Self {
        if result.is_ok() { Verdict::Accepted } else { Verdict::Refused }
    }
}

/// Bytes that any input may cost, and bytes for each of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Whatever the input is.
    pub free: usize,
    /// For each byte of it.
    pub by_byte: usize,
}

/// One reader under test.
pub struct Target {
    /// Its name, also that of its folder in `finds/`.
    pub name: &'static str,
    /// Reads the bytes and looks at what was read.
    pub run: fn(&[u8]) -> Verdict,
    /// Inputs to begin with.
    pub seeds: fn(&Repository) -> Vec<Vec<u8>>,
    /// Words that the fuzzer puts into inputs.
    pub words: &'static [&'static str],
    /// The longest input, in bytes.
    pub longest: usize,
    /// The most memory that an input may hold at one time.
    pub memory: Memory,
}

impl Target {
    /// The target of a name.
    pub fn named(name: &str) -> Option<&'static Target> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs one input, and holds what it took of memory against the law.
    ///
    /// # Panics
    /// Where the target does, or takes more: that is a find.
    pub fn judge(&self, bytes: &[u8]) -> Verdict {
        meter::begin();
        let verdict = (self.run)(bytes);
        let (peak, allowed) = (meter::end(), self.memory.free + self.memory.by_byte * bytes.len());
        assert!(
            peak <= allowed,
            "{}: {peak} bytes of memory for {} of input, {allowed} are allowed",
            self.name,
            bytes.len()
        );
        verdict
    }
}

/// All targets.
pub const TARGETS: &[Target] = &[
    syntax::TARGET,
    format::TARGET,
    check::TARGET,
    ir::TARGET,
    bundle::TARGET,
    plan::TARGET,
    matrix_market::TARGET,
    edge_list::TARGET,
    npy::TARGET,
    npz::TARGET,
    safetensors::TARGET,
    compressed::TARGET,
];
