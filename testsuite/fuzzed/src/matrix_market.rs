//! Matrix Market files.

use crate::values::{LIMITS, graph_is_sound};
use crate::{Memory, Repository, Target, Verdict};
use tiga_formats::matrix_market::read;

pub(crate) const TARGET: Target = Target {
    name: "matrix-market",
    run,
    seeds,
    words: &[
        "%%MatrixMarket matrix coordinate real general\n",
        "%%MatrixMarket matrix coordinate pattern symmetric\n",
        "%%MatrixMarket matrix coordinate integer skew-symmetric\n",
        "%\n",
        "1 1 1\n",
        "2147483647",
        "1e308",
        "-inf",
        "nan",
        "9223372036854775807",
        "-9223372036854775808",
    ],
    longest: 4096,
    memory: Memory { free: 64 << 20, by_byte: 256 },
};

fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let mut seeds = repository.files("mtx", TARGET.longest);
    let of = |field: &str, symmetry: &str, rest: &str| {
        format!("%%MatrixMarket matrix coordinate {field} {symmetry}\n{rest}").into_bytes()
    };
    seeds.push(of("real", "general", "% a comment\n3 4 4\n1 1 0.5\n1 4 -1e-3\n3 2 inf\n3 2 7\n"));
    seeds.push(of("pattern", "symmetric", "3 3 3\n1 1\n2 1\n3 2\n"));
    seeds.push(of("integer", "skew-symmetric", "3 3 2\n2 1 -5\n3 1 9223372036854775807\n"));
    seeds
}

fn run(bytes: &[u8]) -> Verdict {
    match read(bytes, bytes.len() as u64, &LIMITS) {
        Ok(graph) => {
            graph_is_sound(&graph);
            Verdict::Accepted
        }
        Err(error) => {
            let _ = error.to_string();
            Verdict::Refused
        }
    }
}
