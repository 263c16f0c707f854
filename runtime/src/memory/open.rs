//! What a hierarchy is opened with.

use super::MemoryError;
use super::backing::Driver;
use super::hierarchy::{Hierarchy, Shared};
use super::io_workers::IoWorkers;
use super::ledger::Ledger;
use super::nvme::Nvme;
use super::ram::Ram;
use super::spill::{Cleaned, Directory};
use super::storage::{Disk, Files, WantedStorage};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tiga_abi::Tier;

/// Threads that move bytes unless another number is asked for.
const IO_WORKERS: usize = 2;

/// Settings of a [`Hierarchy`], by default: no budgets, a private directory for files, two threads.
#[derive(Clone, Debug)]
pub struct HierarchyOptions {
    budgets: Vec<(Tier, i64)>,
    directory: Option<PathBuf>,
    parent: Option<PathBuf>,
    io_workers: usize,
    storage: WantedStorage,
}

impl Default for HierarchyOptions {
    fn default() -> Self {
        let (budgets, storage) = Default::default();
        Self { budgets, directory: None, parent: None, io_workers: IO_WORKERS, storage }
    }
}

impl HierarchyOptions {
    /// The same with a budget: bytes that may be live in a tier at once. A tier without one is unlimited.
    pub fn budget(mut self, tier: Tier, bytes: i64) -> Self {
        self.budgets.push((tier, bytes));
        self
    }

    /// The same with files in a directory, which is made if it is missing, and kept. Without one, a private directory
    /// `tiga-spill-…` is made, and removed when the hierarchy is closed.
    pub fn nvme_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// The same with the private directory below this one instead of the system's for temporary files.
    pub fn private_below(mut self, parent: impl Into<PathBuf>) -> Self {
        self.parent = Some(parent.into());
        self
    }

    /// The same with so many threads that move bytes. Each may hold 4 MiB of staging memory, which is not counted.
    pub fn io_workers(mut self, count: usize) -> Self {
        self.io_workers = count;
        self
    }

    /// The same with a choice of how files are read and written.
    pub fn storage(mut self, wanted: WantedStorage) -> Self {
        self.storage = wanted;
        self
    }

    /// Opens the hierarchy: removes what dead processes left beside its private directory, tries how files can be read
    /// and written, starts the threads.
    ///
    /// # Errors
    /// [`MemoryError::NegativeBudget`], [`MemoryError::BudgetTwice`], [`MemoryError::NoWorkers`]; the directory cannot be
    /// made or locked; the threads cannot be started; [`MemoryError::NoDirectStorage`] if it is demanded.
    pub fn open(self) -> Result<Hierarchy, MemoryError> {
        let wanted = self.storage;
        self.open_with(|directory| Ok(Arc::new(Disk::probe(wanted, directory)?)))
    }

    /// The same with other calls on files.
    pub(crate) fn open_with(
        self,
        files: impl FnOnce(&Path) -> Result<Arc<dyn Files>, MemoryError>,
    ) -> Result<Hierarchy, MemoryError> {
        let budgets = self.checked_budgets()?;
        if self.io_workers == 0 {
            return Err(MemoryError::NoWorkers);
        }
        let (directory, cleaned) = match (self.directory, self.parent) {
            (Some(given), _) => (Directory::given(&given)?, Cleaned::default()),
            (None, parent) => Directory::private(&parent.unwrap_or_else(std::env::temp_dir))?,
        };
        let started = files(directory.path()).and_then(|files| {
            let workers = IoWorkers::start(self.io_workers, &*files, directory.path())?;
            Ok((files, workers))
        });
        let (files, workers) = match started {
            Ok(started) => started,
            Err(error) => {
                // The first failure is the one to tell.
                let _ = directory.remove();
                return Err(error);
            }
        };
        let storage = files.storage();
        let nvme = Nvme { directory: directory.path().to_owned(), files };
        // One row for each tier that gives memory here; the others are refused as unsupported.
        let drivers: [(Tier, Box<dyn Driver>); 2] = [(Tier::Ram, Box::new(Ram)), (Tier::Nvme, Box::new(nvme))];
        let ledger = Ledger::new(budgets);
        Ok(Hierarchy::new(Shared::new(ledger, drivers.into(), directory, workers), storage, cleaned))
    }

    fn checked_budgets(&self) -> Result<BTreeMap<Tier, u64>, MemoryError> {
        let mut budgets = BTreeMap::new();
        for &(tier, bytes) in &self.budgets {
            let checked = u64::try_from(bytes).map_err(|_| MemoryError::NegativeBudget { tier, bytes })?;
            if budgets.insert(tier, checked).is_some() {
                return Err(MemoryError::BudgetTwice(tier));
            }
        }
        Ok(budgets)
    }
}
