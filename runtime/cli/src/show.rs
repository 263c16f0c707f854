//! Prints results, rankings and timings.

use anyhow::{Result, bail};
use std::time::Duration;
use tiga_formats::{Array, Names, Scalar};

/// Elements of a result that are shown.
const SHOWN: usize = 8;

/// `rank: f64[4] = 0.3, 0.2, …`
pub(crate) fn result(name: &str, array: &Array) {
    let mut values: Vec<String> = (0..array.len().min(SHOWN)).map(|i| array.get(i).to_string()).collect();
    if array.len() > SHOWN {
        values.push("…".into());
    }
    let shape: Vec<String> = array.shape().iter().map(usize::to_string).collect();
    let shape = if shape.is_empty() { String::new() } else { format!("[{}]", shape.join(", ")) };
    println!("{name}: {}{shape} = {}", array.array_type(), values.join(", "));
}

fn number(value: Scalar) -> f64 {
    value.to_string().parse().unwrap_or(f64::NAN)
}

/// The largest entries of a vector, with names if there are any.
pub(crate) fn top(name: &str, array: &Array, count: usize, names: Option<&Names>) -> Result<()> {
    if array.shape().len() != 1 {
        bail!("--top {name}: the result has {} axes, a ranking needs one", array.shape().len());
    }
    let mut order: Vec<usize> = (0..array.len()).collect();
    // Ties keep the order of the nodes.
    order.sort_by(|a, b| number(array.get(*b)).total_cmp(&number(array.get(*a))).then(a.cmp(b)));
    for (place, node) in order.into_iter().take(count).enumerate() {
        let label = names.and_then(|n| n.get(node)).map_or_else(|| node.to_string(), str::to_owned);
        println!("{:>3}  {:<28} {:.6}", place + 1, label, number(array.get(node)));
    }
    Ok(())
}

/// Least and median time, and edges a second at the median.
pub(crate) fn timing(times: &mut [Duration], edges: usize, rounds: Option<i64>) {
    times.sort_unstable();
    let (least, median) = (times[0], times[times.len() / 2]);
    let rounds = rounds.filter(|r| *r > 0).unwrap_or(1);
    let rate = edges as f64 * rounds as f64 / median.as_secs_f64();
    let runs = times.len();
    print!("time: {:.3} ms median, {:.3} ms least of {runs}", median.as_secs_f64() * 1e3, least.as_secs_f64() * 1e3);
    if edges > 0 { println!("; {:.1} M edges/s", rate / 1e6) } else { println!() }
}
