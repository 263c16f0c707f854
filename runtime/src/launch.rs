//! Kernels on their units.
#![allow(unsafe_code)]

use crate::context::{Context, UnitOrder};
use crate::float_env::FloatEnv;
use crate::memory::Memory;
use rayon::prelude::*;
use std::ffi::c_void;
use std::ops::Range;
use tiga_abi::{KernelArgs, KernelFn};

/// A kernel with its arguments, ready to run.
pub(crate) struct Launch {
    pub(crate) kernel: KernelFn,
    pub(crate) sym: Vec<i64>,
    pub(crate) ptr: Vec<*mut c_void>,
    pub(crate) scratch: usize,
}

/// Addresses that workers share; the plan's hazard law and the disjointness of units order their accesses.
struct Shared<'a>(&'a Launch);
// SAFETY: see above; the vectors themselves are only read.
unsafe impl Sync for Shared<'_> {}

impl Shared<'_> {
    /// Runs some units. `None` if scratch memory is short.
    fn run(&self, units: Range<i64>) -> Option<()> {
        let launch = self.0;
        let scratch = Memory::new(launch.scratch)?;
        let args = KernelArgs {
            sym: launch.sym.as_ptr(),
            ptr: launch.ptr.as_ptr(),
            scalar: std::ptr::null(),
            scratch: scratch.address().cast(),
        };
        let _env = FloatEnv::set();
        // SAFETY: the arrays have the capacities that the plan computed from the sizes passed, graphs were validated,
        // and scratch is this worker's own.
        unsafe { (launch.kernel)(&args, units.start, units.end) };
        Some(())
    }
}

impl Launch {
    /// Runs the units `0..count`. `None` if scratch memory is short.
    pub(crate) fn run(&self, count: i64, context: &Context) -> Option<()> {
        let shared = Shared(self);
        if count <= 0 {
            return Some(());
        }
        let runs = cut(count, context);
        if let [only] = runs.as_slice() {
            return shared.run(only.clone());
        }
        context.pool.install(|| runs.into_par_iter().map(|units| shared.run(units)).collect())
    }
}

/// Units below which cutting costs more than it gains.
const SMALL: i64 = 1024;

/// Runs of units.
fn cut(count: i64, context: &Context) -> Vec<Range<i64>> {
    match context.order {
        UnitOrder::Ascending => {
            let pieces =
                if context.threads() == 1 { 1 } else { (context.threads() as i64 * 8).min(count / SMALL).max(1) };
            let at = |i: i64| (i128::from(count) * i128::from(i) / i128::from(pieces)) as i64;
            (0..pieces).map(|i| at(i)..at(i + 1)).collect()
        }
        UnitOrder::Shuffled(seed) => shuffled(count, seed),
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
            for count in [1, 1023, 2048, 100_003] {
                let units: Vec<i64> = cut(count, &context).into_iter().flatten().collect();
                assert_eq!(units, (0..count).collect::<Vec<_>>(), "{threads} threads");
            }
        }
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
