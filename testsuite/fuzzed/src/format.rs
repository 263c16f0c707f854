//! The formatter: what it lays out says the same, and stays as it is when it is laid out again.

use crate::syntax::{WORDS, seeds};
use crate::{Memory, Target, Verdict};
use tiga_source::Sources;
use tiga_syntax::{FormatError, format};

pub(crate) const TARGET: Target = Target {
    name: "format",
    run,
    seeds,
    words: WORDS,
    longest: 4096,
    memory: Memory { free: 16 << 20, by_byte: 8 << 10 },
};

fn run(bytes: &[u8]) -> Verdict {
    let once = match formatted(&String::from_utf8_lossy(bytes)) {
        Ok(text) => text,
        Err(FormatError::Syntax(_)) => return Verdict::Refused,
        Err(error @ FormatError::Changed) => panic!("{error}"),
    };
    let twice = formatted(&once).unwrap_or_else(|error| panic!("{error}:\n{once}"));
    assert_eq!(once, twice, "the layout is not stable");
    Verdict::Accepted
}

fn formatted(text: &str) -> Result<String, FormatError> {
    let mut sources = Sources::new();
    let file = sources.add("fuzzed.tg", text.to_owned()).expect("inputs are short");
    format(file, text)
}
