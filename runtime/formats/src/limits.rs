//! What reading may cost: memory refused before it is used, not after.

use std::fs;

/// Isolated nodes a text file may imply for free, and per line: see [`check_nodes`].
const FREE_NODES: u64 = 1_000_000;
const NODES_PER_EDGE: u64 = 16;

/// The most memory one opened file may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes.
    pub memory: u64,
}

/// A file asks for more memory than the limit; nothing of its body was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("needs about {} MB of memory, {} MB may be used", .needed.div_ceil(1_000_000), .limit / 1_000_000)]
pub struct WouldNotFit {
    /// The estimate in bytes.
    pub needed: u64,
    /// The limit in bytes.
    pub limit: u64,
}

/// A file names far more nodes than it has edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{nodes} nodes for {edges} edges: at most {NODES_PER_EDGE} nodes an edge and {FREE_NODES} more are accepted, \
     number the nodes densely"
)]
pub struct TooSparse {
    /// Nodes the file implies.
    pub nodes: u64,
    /// Edges, or lines, it has.
    pub edges: u64,
}

impl Limits {
    /// What the machine (and the control group of this process) says is available now; no limit where it says nothing.
    pub fn of_this_machine() -> Self {
        let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
        let group = number("/sys/fs/cgroup/memory.max")
            .map(|max| max.saturating_sub(number("/sys/fs/cgroup/memory.current").unwrap_or(0)));
        let machine = fs::read_to_string("/proc/meminfo").ok().and_then(|text| mem_available(&text));
        Self { memory: [group, machine].into_iter().flatten().min().unwrap_or(u64::MAX) }
    }

    /// # Errors
    /// [`WouldNotFit`] if an estimate is above the limit.
    pub(crate) fn check(&self, needed: u64) -> Result<(), WouldNotFit> {
        if needed > self.memory { Err(WouldNotFit { needed, limit: self.memory }) } else { Ok(()) }
    }
}

fn mem_available(meminfo: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Memory follows the number of nodes, which a file of a few bytes may claim; it may claim 16 an edge and a million
/// more.
///
/// # Errors
/// [`TooSparse`].
pub(crate) fn check_nodes(nodes: u64, edges: u64) -> Result<(), TooSparse> {
    if nodes > edges.saturating_mul(NODES_PER_EDGE).saturating_add(FREE_NODES) {
        return Err(TooSparse { nodes, edges });
    }
    Ok(())
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
    fn sparse_numbering_is_refused() {
        assert_eq!(check_nodes(1_000_016, 1), Ok(()));
        assert_eq!(check_nodes(1_000_017, 1), Err(TooSparse { nodes: 1_000_017, edges: 1 }));
        assert_eq!(Limits { memory: 10 }.check(11), Err(WouldNotFit { needed: 11, limit: 10 }));
    }
}
