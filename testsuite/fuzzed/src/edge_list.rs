//! Edge lists, and so tables with commas, semicolons or tabs: nodes numbered, counted or named.

use crate::values::{LIMITS, graph_is_sound};
use crate::{Memory, Repository, Target, Verdict};
use tiga_formats::NodeCounts;
use tiga_formats::edge_list::{EdgeListOptions, read};

pub(crate) const TARGET: Target = Target {
    name: "edge-list",
    run,
    seeds,
    words: &[
        "source,target\n",
        "src\tdst\tweight\n",
        "from to\n",
        "dst,src\n",
        "# ",
        "% ",
        "\"a b\"",
        ",,",
        ";",
        "\t",
        "\r\n",
        "1000000",
        "2147483646",
        "-1",
        "1e-300",
        "inf",
        "nan",
        "\u{feff}",
    ],
    longest: 4096,
    memory: Memory { free: 64 << 20, by_byte: 512 },
};

/// The first byte says how the rest is read.
fn seeds(repository: &Repository) -> Vec<Vec<u8>> {
    let mut texts: Vec<Vec<u8>> = ["el", "txt", "tsv", "csv", "edges"]
        .iter()
        .flat_map(|ending| repository.files(ending, TARGET.longest))
        .collect();
    texts.extend(
        [
            "0 1\n1 2\n2 0\n",
            "# c\n0,1,0.5\n1,2,-1e3\n",
            "source;target\n0;3\n",
            "new york\trome\t1\nrome\toslo\t2\n",
            "a b\nb c\n",
        ]
        .map(|text| text.as_bytes().to_vec()),
    );
    texts.iter().flat_map(|text| (0..3).map(move |kind| [&[kind], text.as_slice()].concat())).collect()
}

fn run(bytes: &[u8]) -> Verdict {
    let Some((kind, text)) = bytes.split_first() else { return Verdict::Refused };
    let options = match kind % 3 {
        0 => EdgeListOptions::default(),
        1 => EdgeListOptions { nodes: Some(NodeCounts { sources: 9, destinations: 17 }), named: false },
        _ => EdgeListOptions { nodes: None, named: true },
    };
    match read(text, text.len() as u64, &options, &LIMITS) {
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
