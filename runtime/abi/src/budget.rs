//! Bytes that may be used in memory tiers, as users write them: `ram=64MiB,nvme=1GiB`.

use crate::{Tier, TierError};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

/// A number of bytes: an integer ≥ 0 with `B`, `KiB`, `MiB`, `GiB` or `TiB` behind it, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes(pub u64);

/// The units, the largest first.
const UNITS: [(&str, u32); 5] = [("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0)];

/// A text is no number of bytes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BytesError {
    /// Another form.
    #[error("`{0}` is no number of bytes: an integer, with B, KiB, MiB, GiB or TiB behind it or nothing")]
    Form(String),
    /// More than 64 bits count.
    #[error("`{0}` is more bytes than 64 bits count")]
    Large(String),
}

impl FromStr for Bytes {
    type Err = BytesError;

    fn from_str(text: &str) -> Result<Self, BytesError> {
        let unit = UNITS.into_iter().find_map(|(unit, shift)| Some((text.strip_suffix(unit)?, shift)));
        let (digits, shift) = unit.unwrap_or((text, 0));
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(BytesError::Form(text.into()));
        }
        let number = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(1 << shift));
        number.map(Bytes).ok_or_else(|| BytesError::Large(text.into()))
    }
}

impl fmt::Display for Bytes {
    /// Exactly, in the largest unit of which it is a whole number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = |(_, shift): &(&str, u32)| self.0 != 0 && self.0.trailing_zeros() >= *shift;
        let (unit, shift) = UNITS.into_iter().find(whole).unwrap_or(("B", 0));
        write!(f, "{} {unit}", self.0 >> shift)
    }
}

/// A limit for each of some tiers; a tier without one has none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Budget(BTreeMap<Tier, Bytes>);

/// A text is no budget.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetError {
    /// No `=` in an item.
    #[error("`{0}` is no budget: TIER=BYTES, as in ram=64MiB")]
    Item(String),
    /// No such tier.
    #[error(transparent)]
    Tier(#[from] TierError),
    /// A tier whose memory nobody allocates.
    #[error("{0} memory has no budget: it is managed by kernels or transports")]
    Managed(Tier),
    /// No number of bytes.
    #[error(transparent)]
    Bytes(#[from] BytesError),
    /// One tier twice, perhaps by another name.
    #[error("{0} memory has two budgets")]
    Twice(Tier),
}

impl Budget {
    /// The limit of a tier.
    pub fn of(&self, tier: Tier) -> Option<u64> {
        self.0.get(&tier).map(|bytes| bytes.0)
    }

    /// All limits, by tier.
    pub fn limits(&self) -> impl Iterator<Item = (Tier, u64)> {
        self.0.iter().map(|(tier, bytes)| (*tier, bytes.0))
    }
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Self, BudgetError> {
        let mut budget = Budget::default();
        for item in text.split(',') {
            let (tier, bytes) = item.split_once('=').ok_or_else(|| BudgetError::Item(item.into()))?;
            let tier: Tier = tier.parse()?;
            if !tier.is_allocatable() {
                return Err(BudgetError::Managed(tier));
            }
            if budget.0.insert(tier, bytes.parse()?).is_some() {
                return Err(BudgetError::Twice(tier));
            }
        }
        Ok(budget)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_integers_with_units() {
        let read = |text: &str| text.parse::<Bytes>().map(|bytes| bytes.0);
        assert_eq!(read("2MiB"), Ok(2_097_152));
        assert_eq!((read("0"), read("17B"), read("3KiB")), (Ok(0), Ok(17), Ok(3072)));
        for wrong in ["1GB", "-1MiB", "1.5GiB", "true", "", "KiB", "+1", "1 KiB", "0x10"] {
            assert_eq!(read(wrong), Err(BytesError::Form(wrong.into())), "{wrong}");
        }
        assert_eq!(read("16777216TiB"), Err(BytesError::Large("16777216TiB".into())));
        let shown = [0, 1023, 1024, 1536, 3 << 30].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(shown, ["0 B", "1023 B", "1 KiB", "1536 B", "3 GiB"]);
    }

    #[test]
    fn a_budget_names_each_tier_once() {
        let read = |text: &str| text.parse::<Budget>();
        let budget = read("ram=1KiB,ssd=5").unwrap();
        assert_eq!((budget.of(Tier::Ram), budget.of(Tier::Nvme), budget.of(Tier::Device)), (Some(1024), Some(5), None));
        assert_eq!(read("ram=1,host=2"), Err(BudgetError::Twice(Tier::Ram)));
        assert_eq!(read("shared=1"), Err(BudgetError::Managed(Tier::Shared)));
        assert_eq!(read("ram"), Err(BudgetError::Item("ram".into())));
        assert!(matches!(read("disk=1"), Err(BudgetError::Tier(_))));
        assert!(matches!(read("ram=1GB"), Err(BudgetError::Bytes(_))));
    }
}
