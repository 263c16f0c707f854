//! `tiga bench`: how long a program takes, and how long its bytes would.

use crate::bound::{Bound, result};
use crate::given::Given;
use crate::inspect::refuse_model;
use crate::trace::Trace;
use anyhow::Result;
use clap::Args;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tiga_abi::DType;
use tiga_formats::{Array, INPUTS_HELP, Limits};
use tiga_runtime::{ArrayMut, Call, Context, Footprint, Prepared, RuntimeError, Span, Work};

/// What the options alone do not say.
const DETAILS: &str = "\
The program is prepared, so that no run allocates, and run once before the clock. Rounds are runs by
turns with copies of as many bytes as the program cannot do without (inputs, results, arrays of
graphs, each once), half of them read and half written, on the same threads. Kernels are timed in as
many rounds more. `tiga run --repeat` times whole runs as `tiga run` makes them.

Exit codes: 0 done, 1 error, 2 usage, 101 internal error, 130 interrupted.";

#[derive(Args)]
#[command(after_help = format!("{INPUTS_HELP}\n\n{DETAILS}"))]
#[command(override_usage = "tiga bench [OPTIONS] <BUNDLE.tgb> [PROGRAM]")]
pub(crate) struct Bench {
    #[command(flatten)]
    given: Given,
    /// Runs and copies that are timed.
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
}

/// Times of rounds.
struct Times(Vec<Duration>);

/// By kernel, the time of all its launches and how many there were.
type Kernels = Arc<Mutex<BTreeMap<String, (Duration, u64)>>>;

/// A program that is timed.
struct Timed<'a> {
    bound: Bound<'a>,
    prepared: Prepared,
    /// Names, types, shapes and arrays.
    results: Vec<(String, DType, Vec<usize>, Array)>,
    rounds: u32,
}

impl Bench {
    pub(crate) fn run(&self, out: &mut dyn Write) -> Result<()> {
        refuse_model(&self.given.bundle)?;
        let trace = Trace::begin(None)?;
        let bundle = self.given.open(&trace)?;
        let program = self.given.program(&bundle)?;
        let inputs = self.given.read(program, &trace)?;
        let bound = Bound { bundle: &bundle, program, inputs: &inputs, dims: &self.given.dims };
        let mut results = Vec::new();
        for (name, dtype, shape) in bound.shapes(&[])? {
            let array = result(&name, dtype, &shape)?;
            results.push((name, dtype, shape, array));
        }
        let context = self.given.context()?;
        let call = bound.call()?;
        let sizes: Vec<(&str, i64)> = call.sizes().collect();
        let prepared = bundle.prepare(&program.name, &sizes, &context).map_err(|error| bound.by_options(error))?;
        let mut timed = Timed { bound, prepared, results, rounds: self.rounds };
        let threads = context.threads();
        writeln!(out, "{}: {threads} threads, {}", program.name, bundle.target())?;
        let (footprint, runs, copies) = timed.rounds(&context)?;
        report(out, footprint, timed.prepared.bytes(), &runs, &copies)?;
        let kernels = timed.kernels(context)?;
        let mut kernels: Vec<_> = kernels.into_iter().collect();
        kernels.sort_by(|a, b| b.1.0.cmp(&a.1.0).then(a.0.cmp(&b.0)));
        let width = kernels.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let all: Duration = kernels.iter().map(|(_, (time, _))| *time).sum();
        for (name, (time, launches)) in kernels {
            let share = 100.0 * time.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
            let (each, launches) = (millis(time / self.rounds), launches / u64::from(self.rounds));
            writeln!(
                out,
                "  kernel {name:<width$}  {share:>5.1} %  {each:>9} ms a run, {launches} launch{}",
                if launches == 1 { "" } else { "es" }
            )?;
        }
        Ok(())
    }
}

impl Timed<'_> {
    /// Binds everything to a call of the prepared program, and does something with it.
    fn with<T>(&mut self, work: impl FnOnce(&mut Call<'_>) -> Result<T, RuntimeError>) -> Result<T> {
        let Self { bound, prepared, results, .. } = self;
        let called = || {
            let mut call = prepared.call();
            bound.bind(&mut call)?;
            for (name, dtype, shape, array) in results.iter_mut() {
                call.output(name, ArrayMut::new(*dtype, shape, array.as_bytes_mut()))?;
            }
            call.derive()?;
            work(&mut call)
        };
        called().map_err(|error| bound.by_options(error))
    }

    /// Runs and copies by turns.
    fn rounds(&mut self, context: &Context) -> Result<(Footprint, Times, Times)> {
        let rounds = self.rounds;
        let footprint = self.with(|call| call.footprint())?;
        let half = footprint.all() / 2;
        Limits::room_for(footprint.all())?;
        // Written once: what nobody has written yet is one page of zeros.
        let (from, mut to) = (vec![1u8; half as usize], vec![2u8; half as usize]);
        let timed = self.with(|call| {
            let (mut runs, mut copies) = (Vec::new(), Vec::new());
            call.run(context)?;
            for _ in 0..rounds {
                let start = Instant::now();
                call.run(context)?;
                runs.push(start.elapsed());
                let start = Instant::now();
                context.copy(&from, &mut to);
                copies.push(start.elapsed());
            }
            Ok((runs, copies))
        });
        let (runs, copies) = timed?;
        Ok((footprint, Times::of(runs), Times::of(copies)))
    }

    /// Times each kernel, in rounds of their own: a look at the clock takes time, too.
    fn kernels(&mut self, context: Context) -> Result<BTreeMap<String, (Duration, u64)>> {
        let (rounds, kernels) = (self.rounds, Kernels::default());
        let seen = kernels.clone();
        let context = context.with_trace(move |span: &Span<'_>| {
            if let Work::Task { kernel: Some(kernel), .. } = &span.work {
                let mut kernels = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if !kernels.contains_key(kernel.symbol) {
                    kernels.insert(kernel.symbol.to_owned(), Default::default());
                }
                if let Some((time, launches)) = kernels.get_mut(kernel.symbol) {
                    *time += span.end.saturating_duration_since(span.start);
                    *launches += 1;
                }
            }
        });
        self.with(|call| (0..rounds).try_for_each(|_| call.run(&context)))?;
        Ok(std::mem::take(&mut *kernels.lock().unwrap_or_else(PoisonError::into_inner)))
    }
}

impl Times {
    fn of(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        Self(times)
    }

    /// The time that such a share of rounds does not exceed.
    fn at(&self, share: f64) -> Duration {
        self.0[((self.0.len() - 1) as f64 * share).round() as usize]
    }
}

/// Time, bytes, rate, bound.
fn report(out: &mut dyn Write, footprint: Footprint, held: u64, runs: &Times, copies: &Times) -> io::Result<()> {
    let [low, median, high] = [0.25, 0.5, 0.75].map(|share| runs.at(share));
    let rounds = runs.0.len();
    let (low, middle, high) = (millis(low), millis(median), millis(high));
    writeln!(out, "  time   {middle} ms median of {rounds} rounds, the middle half {low} to {high} ms")?;
    let Footprint { inputs, results, graphs } = footprint;
    let [all, inputs, results, graphs, held] = [footprint.all(), inputs, results, graphs, held].map(size);
    writeln!(out, "  bytes  {all} at least: inputs {inputs}, results {results}, graphs {graphs}; {held} of its own")?;
    let copy = copies.at(0.5);
    if footprint.all() < 2 || median.is_zero() || copy.is_zero() {
        return Ok(());
    }
    let rate = |time: Duration| footprint.all() as f64 / time.as_secs_f64() / 1e9;
    writeln!(out, "  rate   {:.2} GB/s", rate(median))?;
    let times = median.as_secs_f64() / copy.as_secs_f64();
    let (bound, rate) = (millis(copy), rate(copy));
    writeln!(
        out,
        "  bound  {bound} ms, a copy of as many bytes at {rate:.2} GB/s; the program takes {times:.2} times that"
    )
}

fn millis(time: Duration) -> String {
    format!("{:.4}", time.as_secs_f64() * 1e3)
}

/// Bytes with a unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} B"),
        10_000..10_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_half_and_the_bound_are_of_the_rounds() {
        let millis = |times: &[u64]| Times::of(times.iter().map(|n| Duration::from_millis(*n)).collect());
        let footprint = Footprint { inputs: 6_000_000, results: 3_000_000, graphs: 1_000_000 };
        let mut out = Vec::new();
        report(&mut out, footprint, 12_345, &millis(&[9, 2, 4, 1, 100]), &millis(&[1, 2, 1])).unwrap();
        let expected = "  time   4.0000 ms median of 5 rounds, the middle half 2.0000 to 9.0000 ms
  bytes  10.0 MB at least: inputs 6000.0 kB, results 3000.0 kB, graphs 1000.0 kB; 12.3 kB of its own
  rate   2.50 GB/s
  bound  1.0000 ms, a copy of as many bytes at 10.00 GB/s; the program takes 4.00 times that
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
        let mut out = Vec::new();
        report(&mut out, Footprint::default(), 0, &millis(&[1]), &millis(&[0])).unwrap();
        assert_eq!(String::from_utf8(out).unwrap().lines().count(), 2, "without bytes there is no rate");
    }
}
