//! Kernels on their units.
#![allow(unsafe_code)]

use crate::cancel::CancelToken;
use crate::context::{Context, UnitOrder};
use crate::float_env::FloatEnv;
use crate::memory::Memory;
use crate::trace::Work;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiga_abi::{KernelArgs, KernelFn};

/// A kernel with its arguments, ready to run.
pub(crate) struct Launch<'t> {
    /// As the plan names it.
    pub(crate) symbol: &'t str,
    pub(crate) kernel: KernelFn,
    pub(crate) sym: &'t [i64],
    pub(crate) ptr: &'t [*mut c_void],
    /// Bytes of all arrays that it is given.
    pub(crate) bytes: usize,
    pub(crate) scratch: Scratch,
}

/// Where the private memory of a worker comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Scratch {
    /// So many bytes are asked for, and given back.
    Fresh(usize),
    /// It is there: that of the first worker, and bytes from one to the next.
    Held { first: *mut u8, stride: usize },
}

/// Why a kernel did not run to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Halt {
    /// Scratch memory is short.
    Memory,
    /// The token asked for it.
    Cancelled,
}

/// Addresses that workers share; the plan's hazard law and the disjointness of units order their accesses.
struct Shared<'a> {
    launch: &'a Launch<'a>,
    context: &'a Context,
    cancel: Option<&'a CancelToken>,
    /// Whether memory was short for a worker.
    short: AtomicBool,
    /// Whether a worker has seen that the token asks.
    cancelled: AtomicBool,
}
// SAFETY: see above; the tables themselves are only read.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    /// Runs some units, unless others have halted, and says so.
    fn run(&self, worker: usize, units: Range<i64>) {
        if self.short.load(Ordering::Relaxed) || self.cancelled.load(Ordering::Relaxed) {
            return;
        }
        let begun = self.context.begin();
        let outcome = self.run_units(worker, units.clone());
        self.context.end(begun, || Work::Chunk { kernel: self.launch.symbol, units });
        match outcome {
            Ok(()) => {}
            Err(Halt::Memory) => self.short.store(true, Ordering::Relaxed),
            Err(Halt::Cancelled) => self.cancelled.store(true, Ordering::Relaxed),
        }
    }

    /// Runs some units.
    fn run_units(&self, worker: usize, units: Range<i64>) -> Result<(), Halt> {
        let launch = self.launch;
        let (fresh, scratch) = match launch.scratch {
            Scratch::Held { first, stride } => (None, first.wrapping_add(stride * worker)),
            Scratch::Fresh(bytes) => {
                let memory = Memory::new(bytes, self.context.allocator.as_ref()).ok_or(Halt::Memory)?;
                let address = memory.address();
                (Some(memory), address)
            }
        };
        let args = KernelArgs {
            sym: launch.sym.as_ptr(),
            ptr: launch.ptr.as_ptr(),
            scalar: std::ptr::null(),
            scratch: scratch.cast(),
        };
        let env = FloatEnv::set();
        let run = |units: Range<i64>| {
            // SAFETY: the arrays have the capacities that the plan computed from the sizes passed, graphs were
            // validated, and scratch is this worker's own.
            unsafe { (launch.kernel)(&args, units.start, units.end) };
        };
        let outcome = match self.cancel {
            Some(cancel) => in_slices(units, cancel, run),
            None => {
                run(units);
                Ok(())
            }
        };
        drop((env, fresh));
        outcome
    }
}

/// The time between two looks at a token, unless one unit takes longer.
const SLICE: Duration = Duration::from_millis(1);

/// Runs units in slices of growing size, so that a look at the token costs nothing. Cuts cannot show in results.
fn in_slices(mut units: Range<i64>, cancel: &CancelToken, run: impl Fn(Range<i64>)) -> Result<(), Halt> {
    let mut step = 1;
    while !units.is_empty() {
        if cancel.is_cancelled() {
            return Err(Halt::Cancelled);
        }
        let (begin, end) = (units.start, units.end.min(units.start.saturating_add(step)));
        let start = Instant::now();
        run(begin..end);
        step = if start.elapsed() < SLICE { step.saturating_mul(2) } else { (step / 2).max(1) };
        units.start = end;
    }
    Ok(())
}

impl Launch<'_> {
    /// Runs the units `0..count`.
    pub(crate) fn run(&self, count: i64, context: &Context, cancel: Option<&CancelToken>) -> Result<(), Halt> {
        let (short, cancelled) = Default::default();
        let shared = Shared { launch: self, context, cancel, short, cancelled };
        if count <= 0 {
            return Ok(());
        }
        let cut = Cut::new(count, self.bytes, context);
        context.workers.run(cut.pieces(), &|worker, piece| shared.run(worker, cut.piece(piece)));
        if shared.short.into_inner() {
            return Err(Halt::Memory);
        }
        if shared.cancelled.into_inner() { Err(Halt::Cancelled) } else { Ok(()) }
    }
}

/// Bytes of arrays below which cutting costs more than it gains: a thread that sleeps takes some microseconds to wake,
/// in which another has gone through so much. Units say nothing: one may be an element, or a row times a matrix. What
/// computes long on few bytes is cut too rarely.
const SMALL: usize = 64 << 10;

/// Units cut into runs.
enum Cut {
    /// So many units in so many runs of nearly the same length.
    Equal(i64, usize),
    /// As they are.
    Given(Vec<Range<i64>>),
}

impl Cut {
    fn new(count: i64, bytes: usize, context: &Context) -> Self {
        match context.order {
            UnitOrder::Ascending => {
                let threads = context.threads();
                let most = usize::try_from(count).unwrap_or(usize::MAX).min(threads * 8);
                Cut::Equal(count, if threads == 1 { 1 } else { (bytes / SMALL).clamp(1, most) })
            }
            UnitOrder::Shuffled(seed) => Cut::Given(shuffled(count, seed)),
        }
    }

    fn pieces(&self) -> usize {
        match self {
            Cut::Equal(_, pieces) => *pieces,
            Cut::Given(runs) => runs.len(),
        }
    }

    fn piece(&self, piece: usize) -> Range<i64> {
        match self {
            Cut::Equal(count, pieces) => {
                let at = |i: usize| (i128::from(*count) * i as i128 / *pieces as i128) as i64;
                at(piece)..at(piece + 1)
            }
            Cut::Given(runs) => runs[piece].clone(),
        }
    }
}

/// Runs of 1 to 7 units, in random order (xorshift; Marsaglia 2003).
fn shuffled(count: i64, seed: u64) -> Vec<Range<i64>> {
    let mut state = seed | 1;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut runs = Vec::new();
    let mut begin = 0;
    while begin < count {
        let end = (begin + 1 + (random() % 7) as i64).min(count);
        runs.push(begin..end);
        begin = end;
    }
    for i in (1..runs.len()).rev() {
        runs.swap(i, (random() % (i as u64 + 1)) as usize);
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_runs_cover_every_unit_in_order() {
        for threads in [1, 3, 7] {
            let context = Context::new(threads).unwrap();
            for (count, bytes) in [(1, 0), (1, usize::MAX), (1023, 1 << 20), (2048, SMALL), (100_003, 1 << 30)] {
                let cut = Cut::new(count, bytes, &context);
                let units: Vec<i64> = (0..cut.pieces()).flat_map(|piece| cut.piece(piece)).collect();
                assert_eq!(units, (0..count).collect::<Vec<_>>(), "{threads} threads");
            }
        }
    }

    #[test]
    fn slices_cover_every_unit_until_the_token_asks() {
        let (token, seen) = (CancelToken::new(), std::cell::RefCell::new(Vec::new()));
        in_slices(3..1000, &token, |units| seen.borrow_mut().extend(units)).unwrap();
        assert_eq!(seen.take(), (3..1000).collect::<Vec<_>>());
        let halted = in_slices(0..i64::MAX, &token, |units| {
            seen.borrow_mut().push(units.end);
            if units.end > 100 {
                token.cancel();
            }
        });
        assert_eq!(halted, Err(Halt::Cancelled));
        assert_eq!(seen.take().last().map(|end| (101..300).contains(end)), Some(true));
    }

    #[test]
    fn shuffled_runs_cover_every_unit_once() {
        for count in [1, 2, 17, 1000] {
            let mut units: Vec<i64> = shuffled(count, 7).into_iter().flatten().collect();
            units.sort_unstable();
            assert_eq!(units, (0..count).collect::<Vec<_>>());
        }
    }
}
