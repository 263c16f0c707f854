//! A hierarchy of two tiers for tests: bytes in memory and bytes in files, with budgets.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use tiga_abi::Tier;
use tiga_plan::allocate::{Allocator, Placement};
use tiga_plan::document::Requirement;
use tiga_plan::reserved::Instance;

/// Why a tier refuses.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TierFault {
    #[error("{tier} capacity exceeded: {need} > {budget} bytes")]
    Budget { tier: Tier, need: u64, budget: u64 },
    #[error("instances must share a hierarchy runtime")]
    Foreign,
    #[error("closed physical instance")]
    Closed,
    #[error("source and destination must be distinct")]
    Same,
    #[error("a transfer must preserve logical identity and version")]
    Identity,
    #[error("a transfer needs equal capacity")]
    Capacity,
    #[error("{0}")]
    File(String),
}

struct State {
    folder: tempfile::TempDir,
    budgets: BTreeMap<Tier, u64>,
    live: BTreeMap<Tier, u64>,
    made: usize,
}

/// The hierarchy.
#[derive(Clone)]
pub(crate) struct Tiers(Rc<RefCell<State>>);

/// One instance in it.
pub(crate) struct Physical {
    owner: Tiers,
    logical_name: String,
    version: u64,
    tier: Tier,
    capacity: u64,
    file: PathBuf,
    closed: RefCell<bool>,
}

impl Tiers {
    pub(crate) fn new(budgets: &[(Tier, u64)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        Tiers(Rc::new(RefCell::new(State {
            folder,
            budgets: budgets.iter().copied().collect(),
            live: BTreeMap::new(),
            made: 0,
        })))
    }

    pub(crate) fn live(&self, tier: Tier) -> u64 {
        self.0.borrow().live.get(&tier).copied().unwrap_or(0)
    }

    pub(crate) fn make(&self, name: &str, version: u64, tier: Tier, capacity: u64) -> Result<Physical, TierFault> {
        let mut state = self.0.borrow_mut();
        let need = state.live.get(&tier).copied().unwrap_or(0) + capacity;
        if let Some(budget) = state.budgets.get(&tier).filter(|budget| need > **budget) {
            return Err(TierFault::Budget { tier, need, budget: *budget });
        }
        state.live.insert(tier, need);
        state.made += 1;
        let file = state.folder.path().join(format!("{}.bin", state.made));
        std::fs::write(&file, vec![0; usize::try_from(capacity).unwrap()]).map_err(fault)?;
        let logical_name = name.to_owned();
        Ok(Physical { owner: self.clone(), logical_name, version, tier, capacity, file, closed: RefCell::new(false) })
    }
}

fn fault(error: std::io::Error) -> TierFault {
    TierFault::File(error.to_string())
}

impl Physical {
    pub(crate) fn write(&self, bytes: &[u8]) {
        std::fs::write(&self.file, bytes).unwrap();
    }

    pub(crate) fn read(&self) -> Vec<u8> {
        std::fs::read(&self.file).unwrap()
    }

    pub(crate) fn closed(&self) -> bool {
        *self.closed.borrow()
    }

    pub(crate) fn logical_name(&self) -> &str {
        &self.logical_name
    }
}

impl Instance for Physical {
    type Error = TierFault;

    fn transfer_to(&self, destination: &Self) -> Result<(), TierFault> {
        if !Rc::ptr_eq(&self.owner.0, &destination.owner.0) {
            return Err(TierFault::Foreign);
        }
        if self.closed() || destination.closed() {
            return Err(TierFault::Closed);
        }
        if std::ptr::eq(self, destination) {
            return Err(TierFault::Same);
        }
        if (&self.logical_name, self.version) != (&destination.logical_name, destination.version) {
            return Err(TierFault::Identity);
        }
        if self.capacity != destination.capacity {
            return Err(TierFault::Capacity);
        }
        std::fs::copy(&self.file, &destination.file).map(drop).map_err(fault)
    }

    fn close(&self) -> Result<(), TierFault> {
        if self.closed.replace(true) {
            return Ok(());
        }
        *self.owner.0.borrow_mut().live.get_mut(&self.tier).unwrap() -= self.capacity;
        std::fs::remove_file(&self.file).map_err(fault)
    }
}

impl Allocator for Tiers {
    type Resource = Physical;
    type Error = TierFault;

    fn allocate(&mut self, requirement: &Requirement) -> Result<Physical, TierFault> {
        let Placement { logical_name, tier, .. } = Placement::of::<TierFault>(requirement).unwrap();
        self.make(logical_name, requirement.snapshot_version, tier, requirement.capacity_bytes)
    }

    fn release(&mut self, resource: Physical) {
        resource.close().unwrap();
    }
}
