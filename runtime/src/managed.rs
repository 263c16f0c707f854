//! The memory of a run in a hierarchy: instances for the plan's own values, transfers between them, what was used.

use crate::memory::{Hierarchy, Instance, MemoryError, Request, Reservation, is_worker};
use crate::{CancelToken, RuntimeError};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;
use tiga_abi::Tier;

/// What a run used of a tier, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TierUse {
    /// What the plan says is enough in the order that was asked for.
    pub predicted: u64,
    /// The most that was live at once.
    pub peak: u64,
    /// What may be used, if there is a limit.
    pub budget: Option<u64>,
}

/// What a run within a hierarchy used, see [`crate::Call::memory_use`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryUse {
    /// By tier.
    pub tiers: BTreeMap<Tier, TierUse>,
    /// Bytes that transfers moved from main memory to storage.
    pub written: u64,
    /// Bytes that transfers moved back.
    pub read: u64,
    /// Bytes of what graphs hold for the plan; they are part of what is live in main memory.
    pub derived: u64,
    /// Bytes of the caller's arrays and graphs; they are part of nothing.
    pub borrowed: u64,
}

/// The instances and transfers of one run.
#[derive(Debug)]
pub(crate) struct Managed<'c> {
    hierarchy: &'c Hierarchy,
    /// All that is not closed yet, by number.
    live: BTreeMap<u64, Instance>,
    live_bytes: BTreeMap<Tier, u64>,
    pub(crate) used: MemoryUse,
    /// All that the run may use, so that nobody takes it away in the middle.
    reserved: Vec<Reservation<'c>>,
    sender: Sender<Arrival>,
    arrivals: Receiver<Arrival>,
    /// Transfers that have not ended.
    in_flight: usize,
    /// Ended transfers of bodies around the one that runs.
    early: Vec<Arrival>,
    bodies: u64,
}

/// A transfer has ended.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The run of a body that it belongs to.
    pub(crate) body: u64,
    pub(crate) task: usize,
    outcome: Result<(), MemoryError>,
}

/// How often a run that waits looks at its token.
const LOOK: Duration = Duration::from_millis(10);

impl<'c> Managed<'c> {
    /// Reserves what the run is expected to use, of which graphs hold some bytes from the beginning.
    pub(crate) fn new(hierarchy: &'c Hierarchy, used: MemoryUse) -> Result<Self, RuntimeError> {
        if is_worker() {
            // It would wait for transfers that only this thread can do.
            return Err(MemoryError::InsideCallback.into());
        }
        let reserve = |(tier, used): (&Tier, &TierUse)| hierarchy.reserve(*tier, used.predicted);
        let reserved = used.tiers.iter().map(reserve).collect::<Result<_, _>>()?;
        let (sender, arrivals) = channel();
        let (live, live_bytes, early) = Default::default();
        let derived = used.derived;
        let mut managed =
            Self { hierarchy, live, live_bytes, used, reserved, sender, arrivals, in_flight: 0, early, bodies: 0 };
        managed.count(Tier::Ram, derived)?;
        Ok(managed)
    }

    pub(crate) fn allocate(&mut self, name: &str, tier: Tier, bytes: u64) -> Result<Instance, RuntimeError> {
        self.count(tier, bytes)?;
        let capacity = i64::try_from(bytes).unwrap_or(i64::MAX);
        let instance = self.hierarchy.allocate_reserved(&Request::new(name, 0, tier, capacity))?;
        self.live.insert(instance.number(), instance.clone());
        Ok(instance)
    }

    pub(crate) fn release(&mut self, instance: &Instance) -> Result<(), RuntimeError> {
        let closed = instance.close();
        if self.live.remove(&instance.number()).is_some() {
            *self.live_bytes.entry(instance.tier()).or_default() -= instance.capacity();
        }
        Ok(closed?)
    }

    /// Counts bytes that a kernel has for itself, until it is told that they are gone.
    pub(crate) fn begin_scratch(&mut self, bytes: u64) -> Result<(), RuntimeError> {
        self.count(Tier::Ram, bytes)
    }

    /// A kernel's own bytes are gone.
    pub(crate) fn end_scratch(&mut self, bytes: u64) {
        *self.live_bytes.entry(Tier::Ram).or_default() -= bytes;
    }

    /// Counts bytes, before they are allocated: more than were planned would be more than were reserved.
    fn count(&mut self, tier: Tier, bytes: u64) -> Result<(), RuntimeError> {
        let live = self.live_bytes.entry(tier).or_default();
        let used = self.used.tiers.entry(tier).or_default();
        let now = live.checked_add(bytes).filter(|now| *now <= used.predicted);
        let Some(now) = now else {
            let wanted = u128::from(*live) + u128::from(bytes);
            return Err(MemoryError::Budget { tier, wanted, budget: used.predicted }.into());
        };
        *live = now;
        used.peak = used.peak.max(now);
        Ok(())
    }

    /// A number for one run of a body.
    pub(crate) fn begin_body(&mut self) -> u64 {
        self.bodies += 1;
        self.bodies
    }

    /// Begins a transfer, whose end arrives later.
    pub(crate) fn transfer(
        &mut self,
        (body, task): (u64, usize),
        source: &Instance,
        destination: &Instance,
    ) -> Result<(), RuntimeError> {
        let completion = self.hierarchy.transfer(source, destination)?;
        match (source.tier(), destination.tier()) {
            (Tier::Nvme, _) => self.used.read += source.capacity(),
            (_, Tier::Nvme) => self.used.written += source.capacity(),
            _ => {}
        }
        self.in_flight += 1;
        let sender = self.sender.clone();
        // Who waits for it is there until all have arrived.
        completion.then(move |outcome| drop(sender.send(Arrival { body, task, outcome: outcome.clone() })));
        Ok(())
    }

    /// The next task of this body whose transfer has ended; waits for one if `wait` and some are in flight.
    pub(crate) fn arrived(
        &mut self,
        body: u64,
        wait: bool,
        cancel: Option<&CancelToken>,
    ) -> Result<Option<usize>, RuntimeError> {
        if let Some(place) = self.early.iter().position(|arrival| arrival.body == body) {
            return self.early.swap_remove(place).task().map(Some);
        }
        while self.in_flight > 0 {
            let arrival = match (wait, cancel) {
                (false, _) => self.arrivals.try_recv().ok(),
                (true, None) => self.arrivals.recv().ok(),
                (true, Some(token)) => {
                    token.check()?;
                    match self.arrivals.recv_timeout(LOOK) {
                        Err(RecvTimeoutError::Timeout) => continue,
                        arrival => arrival.ok(),
                    }
                }
            };
            let Some(arrival) = arrival else { return Ok(None) };
            self.in_flight -= 1;
            // A failure ends all bodies.
            if arrival.body == body || arrival.outcome.is_err() {
                return arrival.task().map(Some);
            }
            self.early.push(arrival);
        }
        Ok(None)
    }

    /// Waits for all transfers and closes all instances; the first failure.
    pub(crate) fn end(&mut self) -> Result<(), RuntimeError> {
        while self.in_flight > 0 && self.arrivals.recv().is_ok() {
            self.in_flight -= 1;
        }
        let mut first = Ok(());
        for instance in std::mem::take(&mut self.live).into_values() {
            first = first.and(instance.close());
        }
        self.live_bytes.clear();
        self.reserved.clear();
        Ok(first?)
    }
}

impl Drop for Managed<'_> {
    /// A run that a host's callback has ended by a panic gives everything back, too.
    fn drop(&mut self) {
        // Who ends a run in another way has heard what failed.
        let _ = self.end();
    }
}

impl Arrival {
    fn task(self) -> Result<usize, RuntimeError> {
        self.outcome?;
        Ok(self.task)
    }
}
