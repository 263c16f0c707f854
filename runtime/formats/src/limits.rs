//! What reading may cost: memory refused before it is used, not after.

use std::fs;

/// Nodes that any file may name; see [`check_nodes`].
const FREE_NODES: u64 = 1_000_000;

/// What a compressed file may hold unpacked: this much, and [`RATIO`] times its own size.
const FREE_UNPACKED: u64 = 16 << 20;
const RATIO: u64 = 16;

/// Bytes that are given without asking the system first whether it has them.
const FREE: u64 = 16 << 20;

/// The most memory one opened file may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub memory: u64,
}

/// More memory than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs about {} MB of memory, {} MB may be used", .needed.div_ceil(1_000_000), .limit / 1_000_000)]
pub struct OverLimit {
    /// The estimate in bytes.
    pub needed: u64,
    /// The limit in bytes.
    pub limit: u64,
}

/// There is not the memory that a file asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WouldNotFit {
    /// It asks for more than the limit; nothing of its body was read.
    #[error(transparent)]
    Limit(#[from] OverLimit),
    /// It is within the limit, and the system has not so much.
    #[error("the system has no memory for an array of {bytes} bytes")]
    Refused {
        /// The size of the array that was refused.
        bytes: u64,
    },
}

/// A file names far more nodes than its size accounts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{nodes} nodes, a file of {size} bytes may have {}; number the nodes densely", FREE_NODES.saturating_add(*.size))]
pub struct TooSparse {
    /// Nodes the file implies.
    pub nodes: u64,
    /// Its size in bytes.
    pub size: u64,
}

impl Limits {
    /// What the machine (and the control group of this process) says is available now; no limit where it says nothing.
    pub fn of_this_machine() -> Self {
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let group = number("/sys/fs/cgroup/memory.max").map(|max| {
            let used = number("/sys/fs/cgroup/memory.current").unwrap_or(0);
            let cached = fs::read_to_string("/sys/fs/cgroup/memory.stat").map_or(0, |text| reclaimable(&text));
            max.saturating_sub(used.saturating_sub(cached))
        });
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
        Self { memory: [group, machine].into_iter().flatten().min().unwrap_or(u64::MAX) }
    }

    /// Refuses what this machine has no memory for now: systems that overcommit give it, and end the process when it is
    /// used.
    ///
    /// # Errors
    /// [`OverLimit`]; never for a few megabytes.
    pub fn room_for(bytes: u64) -> Result<(), OverLimit> {
        if bytes <= FREE { Ok(()) } else { Limits::of_this_machine().hold(bytes) }
    }

    /// Holds an estimate against the limit.
    ///
    /// # Errors
    /// [`WouldNotFit`] if the estimate is above it.
    pub(crate) fn check(&self, needed: u64) -> Result<(), WouldNotFit> {
        Ok(self.hold(needed)?)
    }

    fn hold(self, needed: u64) -> Result<(), OverLimit> {
        if needed > self.memory { Err(OverLimit { needed, limit: self.memory }) } else { Ok(()) }
    }
}

/// How many bytes are unpacked from a compressed file of `size` bytes; the rest is a bomb.
pub(crate) fn most_unpacked(size: u64) -> u64 {
    FREE_UNPACKED.saturating_add(size.saturating_mul(RATIO))
}

fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What a control group counts as used and gives up when it is needed: pages of files, and what the kernel keeps for
/// speed. A machine's `MemAvailable` has it already.
fn reclaimable(stat: &str) -> u64 {
    let value = |line: &str| {
        let (name, bytes) = line.split_once(' ')?;
        ["inactive_file", "active_file", "slab_reclaimable"]
            .contains(&name)
            .then(|| bytes.trim().parse::<u64>().ok())?
    };
    stat.lines().filter_map(value).fold(0, u64::saturating_add)
}

/// Memory follows the number of nodes, isolated ones included, which a file of a few bytes may claim. It may claim a
/// million, and one more a byte.
///
/// # Errors
/// [`TooSparse`].
pub(crate) fn check_nodes(nodes: u64, size: u64) -> Result<(), TooSparse> {
    if nodes > FREE_NODES.saturating_add(size) { Err(TooSparse { nodes, size }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_read_in_bytes() {
        assert_eq!(mem_available("MemTotal: 8 kB\nMemAvailable:    1234 kB\n"), Some(1234 * 1024));
        assert_eq!(mem_available("MemTotal: 8 kB\n"), None);
        assert!(Limits::of_this_machine().memory > 0);
    }

    #[test]
    fn pages_of_files_are_available() {
        let stat = "anon 1\nfile 70\ninactive_file 40\nactive_file 30\nslab_reclaimable 5\nslab 9\nsock\n";
        assert_eq!((reclaimable(stat), reclaimable("")), (75, 0));
    }

    #[test]
    fn sparse_numbering_is_refused() {
        assert_eq!(check_nodes(1_000_016, 16), Ok(()));
        let error = check_nodes(1_000_017, 16).unwrap_err();
        assert_eq!(error.to_string(), "1000017 nodes, a file of 16 bytes may have 1000016; number the nodes densely");
        assert_eq!(Limits { memory: 10 }.check(11), Err(OverLimit { needed: 11, limit: 10 }.into()));
    }
}
