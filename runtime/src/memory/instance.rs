//! An instance: memory with a name and a version, in one tier.
#![allow(unsafe_code)]

use super::backing::{Access, Backing, Driver, Wanted};
use super::hierarchy::{Shared, access};
use super::io_workers::is_worker;
use super::order::{self, Closing, Order, Promise, promise, when_all};
use super::transfer::{Desk, Part};
use super::{Completion, Identity, MemoryError};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tiga_abi::{Device, Tier};

/// What is asked of [`crate::Hierarchy::allocate`].
#[derive(Clone, Debug)]
pub struct Request {
    /// What the value is called, whatever tier it is in.
    pub logical_name: String,
    /// Which value of that name; at least 0.
    pub version: i64,
    /// Where it is to lie.
    pub tier: Tier,
    /// Bytes; at least 0.
    pub capacity: i64,
    /// On which device; main memory and files do not care.
    pub device: Device,
    /// How the bytes are arranged: a label.
    pub layout: String,
}

impl Request {
    /// So many contiguous bytes, for the processor.
    pub fn new(logical_name: &str, version: i64, tier: Tier, capacity: i64) -> Self {
        let (logical_name, layout) = (logical_name.to_owned(), "contiguous".to_owned());
        Self { logical_name, version, tier, capacity, device: Device::CPU, layout }
    }

    /// The same on a device.
    pub fn on(mut self, device: Device) -> Self {
        self.device = device;
        self
    }

    /// The same with another layout.
    pub fn with_layout(mut self, layout: &str) -> Self {
        self.layout = layout.to_owned();
        self
    }

    pub(crate) fn check(&self) -> Result<Identity, MemoryError> {
        if !self.tier.is_allocatable() {
            return Err(MemoryError::Managed(self.tier));
        }
        if self.logical_name.is_empty() {
            return Err(MemoryError::EmptyName);
        }
        let version = u64::try_from(self.version).map_err(|_| MemoryError::NegativeVersion(self.version))?;
        if self.capacity < 0 {
            return Err(MemoryError::NegativeCapacity(self.capacity));
        }
        Ok(Identity { name: self.logical_name.clone(), version, tier: self.tier })
    }

    /// The capacity of a request that was checked.
    pub(crate) fn bytes(&self) -> u64 {
        self.capacity.unsigned_abs()
    }
}

/// Memory with a name and a version. Copies of the handle are the same instance; it lives until it is closed.
#[derive(Clone, Debug)]
pub struct Instance {
    pub(crate) body: Arc<Body>,
    pub(crate) shared: Arc<Shared>,
}

/// What the handles of an instance share.
pub(crate) struct Body {
    pub(crate) id: u64,
    pub(crate) identity: Identity,
    pub(crate) capacity: u64,
    /// Whether its bytes count of their own; otherwise somebody has reserved them.
    counted: bool,
    device: Device,
    layout: String,
    pub(crate) backing: Box<dyn Backing>,
    pub(crate) order: Order<MemoryError>,
    /// Done when everything is given back.
    released: order::Completion<MemoryError>,
    releases: Mutex<Option<Promise<MemoryError>>>,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}, {} bytes, number {}", self.identity, self.capacity, self.id)
    }
}

impl Instance {
    /// Its number in its hierarchy.
    pub(crate) fn number(&self) -> u64 {
        self.body.id
    }

    /// What the value is called.
    pub fn logical_name(&self) -> &str {
        &self.body.identity.name
    }

    /// Which value of that name.
    pub fn version(&self) -> u64 {
        self.body.identity.version
    }

    /// Where it lies.
    pub fn tier(&self) -> Tier {
        self.body.identity.tier
    }

    /// Its bytes.
    pub fn capacity(&self) -> u64 {
        self.body.capacity
    }

    /// The device that it was asked for.
    pub fn device(&self) -> Device {
        self.body.device
    }

    /// The label of its layout.
    pub fn layout(&self) -> &str {
        &self.body.layout
    }

    /// Where its bytes lie in main memory, on a multiple of 4096 unless there are none; `None` for files, and once it is
    /// closed. Who reads or writes there sees to it that no transfer does at the same time.
    pub fn address(&self) -> Option<*mut u8> {
        match self.body.backing.access()? {
            Access::Host(host) => Some(host.address.as_ptr()),
            Access::File(_) => None,
        }
    }

    /// The file that it is, if it is one.
    pub fn path(&self) -> Option<&Path> {
        self.body.backing.path()
    }

    /// The end of the last write.
    pub fn completion(&self) -> Completion {
        Completion(self.body.order.last_write())
    }

    /// Whether the last write has ended; so it has if there was none.
    pub fn ready(&self) -> bool {
        self.completion().ready()
    }

    /// Waits for the last write.
    ///
    /// # Errors
    /// Why it failed; as [`Completion::wait`].
    pub fn wait(&self) -> Result<(), MemoryError> {
        self.completion().wait()
    }

    /// Writes bytes at an offset, in its turn: after the transfers that were begun before, before those begun after.
    ///
    /// # Errors
    /// [`MemoryError::Closed`], [`MemoryError::OutOfBounds`], [`MemoryError::InsideCallback`];
    /// [`MemoryError::NotFilled`] if the last write failed and this is not one of all bytes; what the system says.
    pub fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        let part = self.part(offset, bytes.len())?;
        let (promise, completion) = promise();
        let (last, whole) = (self.body.order.last_write(), bytes.len() as u64 == self.body.capacity);
        let before = self.body.order.write(&completion).map_err(|_| self.body.closed())?;
        let body = self.body.clone();
        self.in_turn(before, promise, move |desk, access| {
            if let (Some(Err(cause)), false) = (last.outcome(), whole) {
                // A part does not mend what a failed transfer has left of the rest.
                return Err(MemoryError::NotFilled { instance: body.identity.clone(), cause: Box::new(cause) });
            }
            match access {
                Access::Host(host) => {
                    let address = host.address.as_ptr().wrapping_add(part.offset as usize);
                    // SAFETY: within the instance, which nobody else uses in its turn; the caller's bytes are not part
                    // of it.
                    unsafe { address.copy_from(bytes.as_ptr(), bytes.len()) };
                    Ok(())
                }
                Access::File(file) => desk.patch(file, part, bytes),
            }
        })
    }

    /// Reads bytes at an offset, in its turn: after the last write that was begun before.
    ///
    /// # Errors
    /// As [`Instance::write`]; [`MemoryError::NotFilled`] if that write failed.
    pub fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<(), MemoryError> {
        let part = self.part(offset, bytes.len())?;
        let (promise, completion) = promise();
        let filled = self.body.order.read(&completion).map_err(|_| self.body.closed())?;
        let body = self.body.clone();
        self.in_turn(vec![filled.clone()], promise, move |desk, access| {
            if let Some(Err(cause)) = filled.outcome() {
                return Err(MemoryError::NotFilled { instance: body.identity.clone(), cause: Box::new(cause) });
            }
            match access {
                Access::Host(host) => {
                    let address = host.address.as_ptr().wrapping_add(part.offset as usize);
                    // SAFETY: within the instance, which nobody changes in its turn.
                    unsafe { bytes.as_mut_ptr().copy_from(address, bytes.len()) };
                    Ok(())
                }
                Access::File(file) => desk.fetch(file, part, bytes),
            }
        })
    }

    /// Checks what can be checked before its turn: a refusal is no failed write.
    fn part(&self, offset: u64, bytes: usize) -> Result<Part, MemoryError> {
        if is_worker() {
            return Err(MemoryError::InsideCallback);
        }
        let (capacity, bytes) = (self.body.capacity, bytes as u64);
        match offset.checked_add(bytes).filter(|end| *end <= capacity) {
            Some(_) => Ok(Part { offset, capacity }),
            None => {
                let instance = self.body.identity.clone();
                Err(MemoryError::OutOfBounds { instance, offset, bytes, capacity })
            }
        }
    }

    /// Has a worker do what the caller waits for, once what stands before it is done.
    fn in_turn<'a>(
        &self,
        before: Vec<order::Completion<MemoryError>>,
        promise: Promise<MemoryError>,
        work: impl FnOnce(&mut Desk, &Access) -> Result<(), MemoryError> + Send + 'a,
    ) -> Result<(), MemoryError> {
        let (ended, end) = order::promise();
        let body = self.body.clone();
        let job = move |desk: &mut Desk| {
            let result = access(&body).and_then(|access| work(desk, &access));
            promise.finish(result.clone());
            ended.finish(result);
        };
        let job: Box<dyn FnOnce(&mut Desk) + Send + 'a> = Box::new(job);
        // SAFETY: this function returns when `ended` is settled, which is the last thing that the job does, run or
        // dropped: what it borrows from the caller is used no more.
        let job: Box<dyn FnOnce(&mut Desk) + Send + 'static> = unsafe { std::mem::transmute(job) };
        let shared = self.shared.clone();
        when_all(before, move || shared.workers.submit(job));
        end.wait()
    }

    /// Ends the instance: lets nothing more begin, waits for its last write and its readers, gives back its memory and
    /// its bytes. Nothing happens the second time, but that it waits for the first.
    ///
    /// # Errors
    /// The first failure of what was waited for, or of giving back, once everything is released.
    /// [`MemoryError::InsideCallback`] where a callback would have to wait: nothing is closed then.
    pub fn close(&self) -> Result<(), MemoryError> {
        let body = &self.body;
        match body.order.close(!is_worker()) {
            Closing::First { pending, failed } => {
                let waited = pending.iter().map(order::Completion::wait).fold(failed.map_or(Ok(()), Err), Result::and);
                let released = body.release(&self.shared);
                self.shared.forget(body.id);
                body.settle();
                waited.and(released)
            }
            Closing::Again if is_worker() && !body.released.ready() => Err(MemoryError::InsideCallback),
            Closing::Again => body.released.wait(),
            Closing::Busy => Err(MemoryError::InsideCallback),
        }
    }

    /// The same for who may not wait: what is still used is given back by the thread that uses it last.
    pub(crate) fn close_behind(&self) {
        let Closing::First { pending, .. } = self.body.order.close(true) else { return };
        let (body, shared) = (self.body.clone(), self.shared.clone());
        when_all(pending, move || {
            // Nobody is left to be told.
            let _ = body.release(&shared);
            shared.forget(body.id);
            body.settle();
        });
    }
}

impl Body {
    pub(crate) fn make(
        id: u64,
        request: &Request,
        identity: Identity,
        driver: &dyn Driver,
        counted: bool,
    ) -> Result<Self, MemoryError> {
        let (bytes, device) = (request.bytes(), request.device);
        let backing = driver.allocate(&Wanted { id, version: identity.version, bytes })?;
        let (releases, released) = promise();
        let (order, releases) = (Order::new(id), Mutex::new(Some(releases)));
        let layout = request.layout.clone();
        Ok(Self { id, identity, capacity: bytes, counted, device, layout, backing, order, released, releases })
    }

    /// Gives back memory and bytes.
    pub(crate) fn release(&self, shared: &Shared) -> Result<(), MemoryError> {
        let released = self.backing.release();
        if self.counted {
            shared.ledger.release(self.identity.tier, self.capacity);
        }
        released
    }

    fn settle(&self) {
        if let Some(promise) = self.releases.lock().unwrap_or_else(PoisonError::into_inner).take() {
            promise.finish(Ok(()));
        }
    }

    pub(crate) fn closed(&self) -> MemoryError {
        MemoryError::Closed(self.identity.clone())
    }
}
