//! A memory hierarchy: who lives in it, what it moves, how it ends.

use super::backing::{Access, Driver};
use super::instance::{Body, Instance, Request};
use super::io_workers::{IoWorkers, is_worker};
use super::ledger::Ledger;
use super::open::HierarchyOptions;
use super::order::{Admitted, Promise, admit, promise, when_all};
use super::spill::{Cleaned, Directory};
use super::storage::Storage;
use super::{Completion, MemoryError};
use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tiga_abi::Tier;

/// Named, versioned memory in several tiers, with a budget for each, and transfers between them that run beside the
/// caller. Dropped, it is closed, and what fails then is not told: [`Hierarchy::close`] tells.
///
/// # Examples
/// Eight bytes go to a file and come back, within 16 bytes of main memory and 8 bytes of files:
/// ```
/// use tiga_runtime::{Hierarchy, MemoryError, Request, Tier};
///
/// let hierarchy = Hierarchy::options().budget(Tier::Ram, 16).budget(Tier::Nvme, 8).open()?;
/// let hot = hierarchy.allocate(&Request::new("state", 7, Tier::Ram, 8))?;
/// hot.write(0, b"tiga1234")?;
/// let cold = hierarchy.allocate(&Request::new("state", 7, Tier::Nvme, 8))?;
/// hierarchy.transfer(&hot, &cold)?.wait()?;
/// hot.close()?;
/// assert_eq!(hierarchy.latest("state", None)?.tier(), Tier::Nvme);
/// assert_eq!((hierarchy.live_bytes(Tier::Ram), hierarchy.live_bytes(Tier::Nvme)), (0, 8));
///
/// let back = hierarchy.allocate(&Request::new("state", 7, Tier::Ram, 8))?;
/// hierarchy.transfer(&cold, &back)?.wait()?;
/// let mut bytes = [0; 8];
/// back.read(0, &mut bytes)?;
/// assert_eq!(&bytes, b"tiga1234");
///
/// let refused = hierarchy.allocate(&Request::new("more", 0, Tier::Nvme, 1)).unwrap_err();
/// assert_eq!(refused.to_string(), "nvme capacity exceeded: 9 > 8 bytes");
/// hierarchy.close()?;
/// assert_eq!((hierarchy.live_bytes(Tier::Ram), hierarchy.peak_bytes(Tier::Ram)), (0, 8));
/// # Ok::<(), MemoryError>(())
/// ```
#[derive(Debug)]
pub struct Hierarchy {
    pub(super) shared: Arc<Shared>,
    storage: Storage,
    cleaned: Cleaned,
}

/// What a hierarchy and its instances share.
pub(crate) struct Shared {
    pub(crate) ledger: Ledger,
    drivers: BTreeMap<Tier, Box<dyn Driver>>,
    directory: Directory,
    pub(crate) workers: IoWorkers,
    registry: Mutex<Registry>,
    next_id: AtomicU64,
}

#[derive(Default)]
struct Registry {
    /// By number: the oldest first.
    live: BTreeMap<u64, Arc<Body>>,
    closed: bool,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let live = self.registry().live.len();
        f.debug_struct("Shared").field("ledger", &self.ledger).field("live", &live).finish_non_exhaustive()
    }
}

impl Hierarchy {
    /// Settings to open one with.
    pub fn options() -> HierarchyOptions {
        HierarchyOptions::default()
    }

    pub(crate) fn new(shared: Shared, storage: Storage, cleaned: Cleaned) -> Self {
        Self { shared: Arc::new(shared), storage, cleaned }
    }

    /// Bytes of the live instances of a tier.
    pub fn live_bytes(&self, tier: Tier) -> u64 {
        self.shared.ledger.live(tier)
    }

    /// The most bytes that were live in a tier at once, those of an allocation that then failed included.
    pub fn peak_bytes(&self, tier: Tier) -> u64 {
        self.shared.ledger.peak(tier)
    }

    /// How files are read and written.
    pub fn storage(&self) -> Storage {
        self.storage
    }

    /// What was removed of dead processes when this was opened.
    pub fn cleaned(&self) -> Cleaned {
        self.cleaned
    }

    /// Where the files lie.
    pub fn nvme_directory(&self) -> &Path {
        self.shared.directory.path()
    }

    /// A new instance, which reads as zeros. It lives until it is closed, whether or not a handle to it is kept.
    ///
    /// # Errors
    /// In this order: [`MemoryError::HierarchyClosed`]; [`MemoryError::Managed`]; [`MemoryError::EmptyName`],
    /// [`MemoryError::NegativeVersion`], [`MemoryError::NegativeCapacity`]; [`MemoryError::Budget`], before anything is
    /// allocated; then what the tier says. What fails leaves neither bytes nor files behind.
    pub fn allocate(&self, request: &Request) -> Result<Instance, MemoryError> {
        if self.shared.registry().closed {
            return Err(MemoryError::HierarchyClosed);
        }
        let identity = request.check()?;
        let (tier, bytes) = (identity.tier, request.bytes());
        self.shared.ledger.reserve(tier, bytes)?;
        let body =
            self.shared.make(request, identity, true).inspect_err(|_| self.shared.ledger.release(tier, bytes))?;
        let instance = Instance { body: Arc::new(body), shared: self.shared.clone() };
        let mut registry = self.shared.registry();
        if registry.closed {
            drop(registry);
            // It was closed meanwhile; why the memory cannot be given back is not what the caller asked.
            let _ = instance.body.release(&self.shared);
            return Err(MemoryError::HierarchyClosed);
        }
        registry.live.insert(instance.body.id, instance.body.clone());
        drop(registry);
        Ok(instance)
    }

    /// Begins to copy all bytes of one instance into another one, and comes back at once. The copy starts when the last
    /// write of the source, the last write of the destination and all readers of the destination have ended.
    ///
    /// # Errors
    /// In this order: [`MemoryError::Closed`] or [`MemoryError::Foreign`]; [`MemoryError::NotDistinct`];
    /// [`MemoryError::OtherIdentity`]; [`MemoryError::UnequalCapacity`]. All that fails later, the completion tells, and
    /// closing either instance.
    pub fn transfer(&self, source: &Instance, destination: &Instance) -> Result<Completion, MemoryError> {
        self.check_ends(source, destination)?;
        let (promise, completion) = promise();
        let (from, to) = (&source.body, &destination.body);
        let closed = |_| if from.order.is_closed() { from.closed() } else { to.closed() };
        let Admitted { source: filled, destination: mut before } =
            admit(&from.order, &to.order, &completion).map_err(closed)?;
        before.push(filled.clone());
        let (shared, from, to) = (self.shared.clone(), from.clone(), to.clone());
        when_all(before, move || match filled.outcome() {
            Some(Err(cause)) => {
                let (instance, cause) = (from.identity.clone(), Box::new(cause));
                promise.finish(Err(MemoryError::NotFilled { instance, cause }));
            }
            _ => shared.start(from, to, promise),
        });
        Ok(Completion(completion))
    }

    fn check_ends(&self, source: &Instance, destination: &Instance) -> Result<(), MemoryError> {
        for end in [source, destination] {
            if end.body.order.is_closed() {
                return Err(end.body.closed());
            }
            if !Arc::ptr_eq(&end.shared, &self.shared) {
                return Err(MemoryError::Foreign(end.body.identity.clone()));
            }
        }
        let (from, to) = (&source.body, &destination.body);
        if Arc::ptr_eq(from, to) {
            return Err(MemoryError::NotDistinct(from.identity.clone()));
        }
        if (&from.identity.name, from.identity.version) != (&to.identity.name, to.identity.version) {
            return Err(MemoryError::OtherIdentity { from: from.identity.clone(), to: to.identity.clone() });
        }
        if from.capacity != to.capacity {
            let (source_bytes, destination_bytes) = (from.capacity, to.capacity);
            return Err(MemoryError::UnequalCapacity { source_bytes, destination_bytes });
        }
        Ok(())
    }

    /// The live instance of a name with the highest version, perhaps of one tier only; the oldest of equals.
    ///
    /// # Errors
    /// [`MemoryError::NotFound`].
    pub fn latest(&self, name: &str, tier: Option<Tier>) -> Result<Instance, MemoryError> {
        let registry = self.shared.registry();
        let found = registry.live.values().filter(|body| {
            let fits = body.identity.name == name && tier.is_none_or(|tier| body.identity.tier == tier);
            fits && !body.order.is_closed()
        });
        // Of equal keys `max_by_key` takes the last.
        match found.rev().max_by_key(|body| body.identity.version) {
            Some(body) => Ok(Instance { body: body.clone(), shared: self.shared.clone() }),
            None => Err(MemoryError::NotFound { name: name.to_owned(), tier }),
        }
    }

    /// Closes all live instances, whatever fails; ends the threads; removes the directory if it is private. Nothing
    /// happens the second time.
    ///
    /// # Errors
    /// The first failure, once all is released. [`MemoryError::InsideCallback`] from a callback: nothing is closed then.
    pub fn close(&self) -> Result<(), MemoryError> {
        if is_worker() {
            return Err(MemoryError::InsideCallback);
        }
        self.end()
    }

    fn end(&self) -> Result<(), MemoryError> {
        let live: Vec<Arc<Body>> = {
            let mut registry = self.shared.registry();
            registry.closed = true;
            registry.live.values().cloned().collect()
        };
        let mut first = Ok(());
        for body in live {
            let instance = Instance { body, shared: self.shared.clone() };
            if is_worker() {
                instance.close_behind();
            } else {
                first = first.and(instance.close());
            }
        }
        self.shared.workers.stop();
        first.and(self.shared.directory.remove())
    }
}

impl Drop for Hierarchy {
    /// A callback may be the last to have it: then other threads finish what they are at.
    fn drop(&mut self) {
        // What is dropped has no way to say that something went wrong.
        let _ = self.end();
    }
}

impl Shared {
    pub(crate) fn new(
        ledger: Ledger,
        drivers: BTreeMap<Tier, Box<dyn Driver>>,
        directory: Directory,
        workers: IoWorkers,
    ) -> Self {
        Self { ledger, drivers, directory, workers, registry: Mutex::default(), next_id: AtomicU64::new(0) }
    }

    fn registry(&self) -> MutexGuard<'_, Registry> {
        // Nothing under the lock panics.
        self.registry.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An instance is gone.
    pub(crate) fn forget(&self, id: u64) {
        self.registry().live.remove(&id);
    }

    pub(super) fn make(
        &self,
        request: &Request,
        identity: super::Identity,
        counted: bool,
    ) -> Result<Body, MemoryError> {
        let tier = identity.tier;
        let driver = self.drivers.get(&tier).ok_or(MemoryError::Unsupported { tier, device: request.device })?;
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        Body::make(id, request, identity, &**driver, counted)
    }

    /// Hands a transfer to the threads: nothing stands before it any more.
    fn start(&self, from: Arc<Body>, to: Arc<Body>, promise: Promise<MemoryError>) {
        self.workers.submit(Box::new(move |desk| {
            let copied = match (from.backing.access(), to.backing.access()) {
                (Some(source), Some(destination)) => {
                    // SAFETY: both have so many bytes; it is this transfer's turn, in the orders of both.
                    #[allow(unsafe_code)]
                    let copied = unsafe { desk.copy(&source, &destination, from.capacity) };
                    copied
                }
                // Who closes waits for transfers first.
                (None, _) => Err(from.closed()),
                (_, None) => Err(to.closed()),
            };
            promise.finish(copied);
        }));
    }
}

/// The bytes of an instance as workers reach them.
pub(crate) fn access(body: &Body) -> Result<Access, MemoryError> {
    body.backing.access().ok_or_else(|| body.closed())
}
