//! Bytes that count against a budget and are held by something that is no instance.

use super::{Hierarchy, Instance, MemoryError, Request};
use std::sync::Arc;
use tiga_abi::Tier;

/// Bytes of a budget, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation<'h> {
    hierarchy: &'h Hierarchy,
    tier: Tier,
    bytes: u64,
}

impl Hierarchy {
    /// Counts bytes that the caller holds in a tier, as if they were an instance.
    ///
    /// # Errors
    /// [`MemoryError::Budget`].
    pub(crate) fn reserve(&self, tier: Tier, bytes: u64) -> Result<Reservation<'_>, MemoryError> {
        self.shared.ledger.reserve(tier, bytes)?;
        Ok(Reservation { hierarchy: self, tier, bytes })
    }

    /// An instance of bytes that the caller has reserved. Nobody else finds it, so nobody else closes it.
    ///
    /// # Errors
    /// As [`Hierarchy::allocate`], but for budgets and closing.
    pub(crate) fn allocate_reserved(&self, request: &Request) -> Result<Instance, MemoryError> {
        let body = self.shared.make(request, request.check()?, false)?;
        Ok(Instance { body: Arc::new(body), shared: self.shared.clone() })
    }

    /// Bytes that may be live in a tier at once; `None` without limit.
    pub fn budget(&self, tier: Tier) -> Option<u64> {
        self.shared.ledger.budget(tier)
    }
}

impl Drop for Reservation<'_> {
    fn drop(&mut self) {
        self.hierarchy.shared.ledger.release(self.tier, self.bytes);
    }
}
