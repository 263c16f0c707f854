//! Bytes by tier: what is live, what was at most, what may be.

use super::MemoryError;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tiga_abi::Tier;

/// The account of one hierarchy.
#[derive(Debug)]
pub(crate) struct Ledger {
    budgets: BTreeMap<Tier, u64>,
    counts: Mutex<BTreeMap<Tier, Count>>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    live: u64,
    peak: u64,
}

impl Ledger {
    /// Nothing is live; a tier without a budget is unlimited.
    pub(crate) fn new(budgets: BTreeMap<Tier, u64>) -> Self {
        Self { budgets, counts: Mutex::default() }
    }

    /// Counts bytes if the budget has room for them: one step, so that two who ask at once cannot both have the last.
    pub(crate) fn reserve(&self, tier: Tier, bytes: u64) -> Result<(), MemoryError> {
        let mut counts = self.lock();
        let count = counts.entry(tier).or_default();
        let budget = self.budgets.get(&tier).copied().unwrap_or(u64::MAX);
        match count.live.checked_add(bytes).filter(|live| *live <= budget) {
            Some(live) => {
                count.live = live;
                count.peak = count.peak.max(live);
                Ok(())
            }
            None => Err(MemoryError::Budget { tier, wanted: u128::from(count.live) + u128::from(bytes), budget }),
        }
    }

    /// Takes back what was reserved.
    pub(crate) fn release(&self, tier: Tier, bytes: u64) {
        let mut counts = self.lock();
        let count = counts.entry(tier).or_default();
        count.live = count.live.saturating_sub(bytes);
    }

    /// Bytes that may be live at once; `None` without limit.
    pub(crate) fn budget(&self, tier: Tier) -> Option<u64> {
        self.budgets.get(&tier).copied()
    }

    /// Bytes of live instances.
    pub(crate) fn live(&self, tier: Tier) -> u64 {
        self.lock().get(&tier).map_or(0, |count| count.live)
    }

    /// The most that was ever reserved.
    pub(crate) fn peak(&self, tier: Tier) -> u64 {
        self.lock().get(&tier).map_or(0, |count| count.peak)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Tier, Count>> {
        // Nothing under the lock panics.
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
