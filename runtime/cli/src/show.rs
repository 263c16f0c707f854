//! Prints results, rankings and timings.

use std::cmp::Ordering;
use std::io::{self, Write};
use std::time::Duration;
use tiga_formats::{Array, RowIds, Scalar};
use tiga_source::steers;

/// Elements of a result that are shown; the help of `tiga run` says how many.
const SHOWN: usize = 8;

/// `rank: f64[4] = 0.3, 0.2, …`
pub fn result(out: &mut dyn Write, name: &str, array: &Array) -> io::Result<()> {
    let mut values: Vec<String> = (0..array.len().min(SHOWN)).map(|i| array.get(i).to_string()).collect();
    if array.len() > SHOWN {
        values.push("…".into());
    }
    let shape: Vec<String> = array.shape().iter().map(usize::to_string).collect();
    let shape = if shape.is_empty() { String::new() } else { format!("[{}]", shape.join(", ")) };
    writeln!(out, "{name}: {}{shape} = {}", array.array_type(), values.join(", "))
}

/// The largest entries of a vector, and what they are called.
pub fn top(out: &mut dyn Write, array: &Array, count: usize, ids: RowIds<'_>) -> io::Result<()> {
    for (place, row) in ranking(array).into_iter().take(count).enumerate() {
        let label = visible(&ids.of(row, array.len()).join(" → "));
        let value = match array.get(row) {
            whole @ (Scalar::Int(_) | Scalar::Bool(_)) => whole.to_string(),
            float => match float.to_f64() {
                // Six decimals would show little of it.
                small if small != 0.0 && small.abs() < 1e-3 => format!("{small:.5e}"),
                number => format!("{number:.6}"),
            },
        };
        writeln!(out, "{:>3}  {label:<28} {value}", place + 1)?;
    }
    Ok(())
}

/// A text of a file without what a terminal would obey.
pub fn visible(text: &str) -> String {
    text.chars().map(|c| if steers(c) { c.escape_default().to_string() } else { c.to_string() }).collect()
}

/// Positions by value, the largest first; equal values keep the order of the nodes.
fn ranking(array: &Array) -> Vec<usize> {
    let mut order: Vec<usize> = (0..array.len()).collect();
    order.sort_by(|a, b| larger_first(array.get(*a), array.get(*b)));
    order
}

/// The order of a ranking, in the type of the elements: integers are not rounded, and NaN comes last.
fn larger_first(a: Scalar, b: Scalar) -> Ordering {
    if let (Scalar::Int(a), Scalar::Int(b)) = (a, b) {
        return b.cmp(&a);
    }
    // Elements of one array have one type: what is left are floats and bools, which binary64 holds.
    let (a, b) = (a.to_f64(), b.to_f64());
    a.is_nan().cmp(&b.is_nan()).then(b.partial_cmp(&a).unwrap_or(Ordering::Equal))
}

/// Least and median time, and edges a second at the median.
pub fn timing(out: &mut dyn Write, times: &mut [Duration], edges: usize, rounds: Option<i64>) -> io::Result<()> {
    times.sort_unstable();
    let (least, median) = (times[0], times[times.len() / 2]);
    let rounds = rounds.filter(|r| *r > 0).unwrap_or(1);
    let rate = edges as f64 * rounds as f64 / median.as_secs_f64();
    let runs = times.len();
    write!(
        out,
        "time: {:.3} ms median, {:.3} ms least of {runs}",
        median.as_secs_f64() * 1e3,
        least.as_secs_f64() * 1e3
    )?;
    match edges {
        0 => writeln!(out),
        _ if rate < 1e5 => writeln!(out, "; {:.1} k edges/s", rate / 1e3),
        _ => writeln!(out, "; {:.1} M edges/s", rate / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiga_formats::Elements;

    #[test]
    fn few_edges_are_counted_in_thousands() {
        let line = |edges| {
            let mut out = Vec::new();
            timing(&mut out, &mut [Duration::from_millis(1)], edges, None).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert!(line(0).ends_with("least of 1\n"));
        assert!(line(7).ends_with("; 7.0 k edges/s\n"));
        assert!(line(2000).ends_with("; 2.0 M edges/s\n"));
    }

    #[test]
    fn small_numbers_of_a_ranking_keep_their_digits() {
        let mut out = Vec::new();
        top(&mut out, &Array::vector(Elements::F64(vec![0.25, 1.25e-8, 0.0])), 3, RowIds::Positions).unwrap();
        let shown = String::from_utf8(out).unwrap();
        let values: Vec<&str> = shown.lines().filter_map(|line| line.split_whitespace().last()).collect();
        assert_eq!(values, ["0.250000", "1.25000e-8", "0.000000"]);
    }

    #[test]
    fn integers_are_ranked_as_integers() {
        let big = 1i64 << 53;
        // As binary64 the last two would be equal, and the smaller one come first.
        let values = Elements::I64(vec![i64::MIN, -1, big, big + 1]);
        assert_eq!(ranking(&Array::vector(values)), [3, 2, 1, 0]);
        assert_eq!(ranking(&Array::vector(Elements::I64(vec![i64::MAX - 1, i64::MAX]))), [1, 0]);
    }

    #[test]
    fn no_number_is_the_last_and_equal_ones_keep_their_order() {
        let values = vec![f32::NAN, f32::NEG_INFINITY, 0.0, -f32::NAN, -0.0, 1.0, 0.0];
        assert_eq!(ranking(&Array::vector(Elements::F32(values))), [5, 2, 4, 6, 1, 0, 3]);
        let values = vec![f64::NAN, 1.0, 1.0 + f64::EPSILON];
        assert_eq!(ranking(&Array::vector(Elements::F64(values))), [2, 1, 0]);
    }
}
