//! Every program of the corpus reads without a finding, and printing it loses nothing.

use crate::clean;
use std::path::PathBuf;
use tiga_syntax::{dump, print};

pub fn corpus() -> Vec<(PathBuf, String)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/programs");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files.into_iter().map(|path| (path.clone(), std::fs::read_to_string(path).unwrap())).collect()
}

#[test]
fn every_program_reads_and_prints_back_to_itself() {
    let corpus = corpus();
    assert_eq!(corpus.len(), 10);
    for (path, text) in corpus {
        let name = path.display().to_string();
        let first = clean(&name, &text);
        let printed = print(&first.module);
        let second = clean(&name, &printed);
        assert!(first.module.same(&second.module), "{name} changes when printed:\n{printed}");
        assert_eq!(printed, print(&second.module), "{name}: printing is not a fixed point");
        assert_eq!(dump(&first.module), dump(&second.module));
    }
}

#[test]
fn heat_as_a_tree() {
    let (_, text) = corpus().into_iter().find(|(path, _)| path.ends_with("heat.tg")).unwrap();
    let shown = dump(&clean("heat.tg", &text).module);
    let expected = "\
module
  doc Heat conduction on any graph.
  message conduct
    doc Weighted sum of the sources, plus a local source term.
    param src: {T: f32}
    param dst: {b: f32}
    param edge: {c: f32}
    result f32
    edge
      binary *
        field c
          name edge
        field T
          name src
    reduce sum
    node (total)
      binary +
        name total
        field b
          name dst
  program heat
";
    assert!(shown.starts_with(expected), "{shown}");
}
