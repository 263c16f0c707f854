//! `NAME=VALUE` as command lines bind inputs.

use crate::input::STANDARD_INPUT;
use crate::{GraphSource, split_member};
use std::num::IntErrorKind;
use std::path::Path;
use std::str::FromStr;

/// What may be bound, for the help of a command: graphs after `--graph`, arrays and numbers after `--in`.
pub const INPUTS_HELP: &str = "\
Graphs (--graph):
  .mtx       Matrix Market: entry (i, j) is the edge j → i, numbered from 1; a symmetric line is two
             edges
  .txt .tsv .csv .edges .el
             edge list: `src dst [weight]` a line, numbered from 0, with commas, semicolons, tabs or
             spaces between them; comments begin with # or %; a first line of words is a header if
             other signs than spaces stand between them, or if they are known, such as `src dst`
  FILE.csv:names
             an edge list whose nodes have names, numbered in the order in which they come
  .gz .zst   behind .mtx and the endings of edge lists: compressed
  .npy .npz:NAME .safetensors:NAME
             edge_index: integers [2, E], row 0 the sources, row 1 the destinations, numbered from 0
  FILE:nodes=N
             an edge list or edge_index with N nodes; without it the largest number says how many;
             :nodes=N,M for N sources and M destinations
  -          the standard input: Matrix Market if it begins so, else an edge list
  .npz       arrays row_ptr, col_idx, num_src: for each destination its sources; or src and dst; or
             what SciPy saves

Arrays and numbers (--in):
  0.85       a number; true or false for a bool
  FILE.npy, FILE.npz:NAME, FILE.safetensors:NAME
             an array, for a number one of shape []; an edge field has its rows in the order of CSR:
             by destination, then as in the graph's file
  -          the standard input: an .npy file; only one input can be read from there
  FILE.npy:input-order
             an edge field that has one row for each line of the graph's file; both edges of a
             symmetric line get it
  G.values   the edge values in the file of graph G";

/// A name and what is bound to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T = String> {
    /// What stands before the first `=`; not empty.
    pub name: String,
    /// What stands behind it.
    pub value: T,
}

/// The argument binds nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNamed<E> {
    /// It has no `=`, or no name before it.
    #[error("expected NAME=VALUE")]
    Name,
    /// What stands behind cannot be read.
    #[error(transparent)]
    Value(E),
}

/// Behind the name of a file: its rows stand in the order of the lines of the graph's file.
pub const INPUT_ORDER: &str = ":input-order";

/// Whether a text can only mean an array in a file.
pub fn is_array_file(text: &str) -> bool {
    let text = array_file(text).to_ascii_lowercase();
    let archives = [".npz", ".safetensors"];
    text == STANDARD_INPUT
        || text.ends_with(".npy")
        || archives.iter().any(|end| text.ends_with(end) || text.contains(&format!("{end}:")))
}

/// The file that `--in` names, or the standard input, without what is said of it.
fn array_file(text: &str) -> &str {
    text.strip_suffix(INPUT_ORDER).unwrap_or(text)
}

/// The file that `--in` names, should it name one; nothing for the standard input.
pub fn array_path(text: &str) -> Option<&Path> {
    let file = array_file(text);
    if file == STANDARD_INPUT { None } else { Some(split_member(file).0) }
}

/// Two inputs that would both be read from the standard input.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the standard input can be read once: {0} and {1} ask for it")]
pub struct StandardInputTwice(String, String);

/// Of all the files named, each with the option that names it, at most one is the standard input.
///
/// # Errors
/// [`StandardInputTwice`], which names the first two options.
pub fn check_standard_input(graphs: &[Named<GraphSource>], arrays: &[Named]) -> Result<(), StandardInputTwice> {
    let graphs = graphs.iter().filter(|g| g.value.path().is_none()).map(|g| format!("--graph {}={}", g.name, g.value));
    let arrays = arrays.iter().filter(|a| array_path(&a.value).is_none());
    let mut all = graphs.chain(arrays.map(|a| format!("--in {}={}", a.name, a.value)));
    match (all.next(), all.next()) {
        (Some(first), Some(second)) => Err(StandardInputTwice(first, second)),
        _ => Ok(()),
    }
}

impl<T: FromStr> FromStr for Named<T> {
    type Err = NotNamed<T::Err>;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=') {
            Some((name, value)) if !name.is_empty() => {
                Ok(Named { name: name.into(), value: value.parse().map_err(NotNamed::Value)? })
            }
            _ => Err(NotNamed::Name),
        }
    }
}

/// `NAME=N`: a name and a whole number from 0 on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counted {
    /// What stands before the first `=`; not empty.
    pub name: String,
    /// What stands behind it.
    pub value: i64,
}

/// The argument is no `NAME=N`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotCounted {
    /// It has no `=`, or no name before it.
    #[error("expected NAME=N")]
    Name,
    /// What stands behind is something else.
    #[error("`{0}` is not a whole number ≥ 0")]
    Number(String),
    /// The number has more than 63 bits.
    #[error("`{0}` is too large: at most {max} is possible", max = i64::MAX)]
    TooLarge(String),
}

impl FromStr for Counted {
    type Err = NotCounted;

    fn from_str(text: &str) -> Result<Self, NotCounted> {
        let Named { name, value }: Named = text.parse().map_err(|_| NotCounted::Name)?;
        Ok(Counted { name, value: whole_number(&value)? })
    }
}

/// A whole number from 0 on.
///
/// # Errors
/// [`NotCounted`], which is not [`NotCounted::Name`].
pub fn whole_number(text: &str) -> Result<i64, NotCounted> {
    match text.parse::<i64>() {
        Ok(number) if number >= 0 => Ok(number),
        Err(error) if *error.kind() == IntErrorKind::PosOverflow => Err(NotCounted::TooLarge(text.into())),
        _ => Err(NotCounted::Number(text.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_a_whole_number() {
        assert_eq!("F=16".parse(), Ok(Counted { name: "F".into(), value: 16 }));
        assert_eq!("F".parse::<Counted>(), Err(NotCounted::Name));
        for text in ["-1", "x", "1.5", "", "2+2"] {
            assert_eq!(format!("F={text}").parse::<Counted>(), Err(NotCounted::Number(text.into())));
        }
        let above = "9223372036854775808";
        assert_eq!(format!("F={above}").parse::<Counted>(), Err(NotCounted::TooLarge(above.into())));
    }

    #[test]
    fn a_value_may_be_empty_or_hold_signs_of_equality() {
        let named = |name: &str, value: &str| Ok(Named::<String> { name: name.into(), value: value.into() });
        assert_eq!("x=a=b".parse(), named("x", "a=b"));
        assert_eq!("x=".parse(), named("x", ""));
        assert_eq!("=b".parse::<Named>(), Err(NotNamed::Name));
        assert_eq!("x".parse::<Named>(), Err(NotNamed::Name));
    }
}
