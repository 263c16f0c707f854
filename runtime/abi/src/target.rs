//! Descriptions of machines: what a kernel was made for, and where bytes may live.

use std::fmt;
use std::str::FromStr;

/// A CPU that kernels are compiled for, from the least to the most demanding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CpuTarget {
    /// SSE4.2: the x86-64 psABI level 2. It has neither a fused multiply-add nor conversions of `f16`.
    X86_64V2,
    /// AVX2, FMA, F16C: level 3.
    X86_64V3,
    /// AVX-512 (F, BW, CD, DQ, VL): level 4.
    X86_64V4,
    /// The machine that compiles; its bundle runs only on the same kind of CPU.
    Native,
}

impl CpuTarget {
    /// All targets, in declaration order.
    pub const ALL: [CpuTarget; 4] = [CpuTarget::X86_64V2, CpuTarget::X86_64V3, CpuTarget::X86_64V4, CpuTarget::Native];

    /// The name on the command line and in manifests.
    pub const fn name(self) -> &'static str {
        match self {
            CpuTarget::X86_64V2 => "x86-64-v2",
            CpuTarget::X86_64V3 => "x86-64-v3",
            CpuTarget::X86_64V4 => "x86-64-v4",
            CpuTarget::Native => "native",
        }
    }

    /// The width of its widest vector registers in bytes: 16, 32, or 64 with AVX-512.
    pub fn simd_bytes(self) -> u32 {
        match self {
            CpuTarget::X86_64V2 => 16,
            CpuTarget::X86_64V3 => 32,
            CpuTarget::X86_64V4 => 64,
            CpuTarget::Native if wide_here() => 64,
            CpuTarget::Native => 32,
        }
    }
}

/// Whether the machine this runs on has AVX-512.
#[cfg(target_arch = "x86_64")]
fn wide_here() -> bool {
    std::arch::is_x86_feature_detected!("avx512f")
}

/// Whether the machine this runs on has AVX-512: no other kind of CPU has.
#[cfg(not(target_arch = "x86_64"))]
fn wide_here() -> bool {
    false
}

impl fmt::Display for CpuTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name is not that of a known target.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown target `{0}` (known: {names})", names = CpuTarget::ALL.map(CpuTarget::name).join(", "))]
pub struct TargetError(pub String);

impl FromStr for CpuTarget {
    type Err = TargetError;

    fn from_str(s: &str) -> Result<Self, Self::Err> {
        CpuTarget::ALL.into_iter().find(|t| t.name() == s).ok_or_else(|| TargetError(s.into()))
    }
}

/// How floating-point arithmetic may be arranged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FpMode {
    /// The plain left fold without contraction: bit-equal to the domain interpreter.
    Strict,
    /// Fixed leaves and accumulators, fused multiply-add: bit-equal to the loops interpreter.
    Default,
}

impl FpMode {
    /// The spelling in manifests and on command lines.
    pub const fn name(self) -> &'static str {
        match self {
            FpMode::Strict => "strict",
            FpMode::Default => "default",
        }
    }
}

/// A place where bytes live, from the nearest to an arithmetic unit to the farthest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Registers of a thread. Managed by generated kernels.
    Register,
    /// Memory that the threads of a block share. Managed by generated kernels.
    Shared,
    /// The memory of a device.
    Device,
    /// Main memory that a device may reach: page-locked.
    HostPinned,
    /// Main memory.
    Ram,
    /// Files in a directory. The medium under them is not looked at.
    Nvme,
    /// Another rank's memory. Managed by a transport.
    Remote,
}

impl Tier {
    /// All tiers, in declaration order.
    pub const ALL: [Tier; 7] =
        [Tier::Register, Tier::Shared, Tier::Device, Tier::HostPinned, Tier::Ram, Tier::Nvme, Tier::Remote];

    /// The spelling in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Register => "register",
            Tier::Shared => "shared",
            Tier::Device => "device",
            Tier::HostPinned => "host-pinned",
            Tier::Ram => "ram",
            Tier::Nvme => "nvme",
            Tier::Remote => "remote",
        }
    }

    /// What it may also be called when it is read.
    pub const fn aliases(self) -> &'static [&'static str] {
        match self {
            Tier::Register => &["rmem"],
            Tier::Shared => &["smem"],
            Tier::Device => &["hbm", "gmem"],
            Tier::HostPinned => &["host_pinned", "pinned_ram"],
            Tier::Ram => &["host"],
            Tier::Nvme => &["ssd"],
            Tier::Remote => &["distributed"],
        }
    }

    /// Whether a runtime gives memory there: registers and shared memory are a kernel's, remote memory a transport's.
    pub const fn is_allocatable(self) -> bool {
        matches!(self, Tier::Device | Tier::HostPinned | Tier::Ram | Tier::Nvme)
    }

    /// Whether a kernel on the CPU may read and write it where it lies.
    pub const fn is_addressable(self) -> bool {
        matches!(self, Tier::HostPinned | Tier::Ram)
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The word is neither the name of a tier nor an alias.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown memory tier `{0}` (known: {names})", names = Tier::ALL.map(Tier::name).join(", "))]
pub struct TierError(pub String);

impl FromStr for Tier {
    type Err = TierError;

    /// Reads a name or an alias, in letters of either case.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let is = |name: &str| name.eq_ignore_ascii_case(s);
        let found = Tier::ALL.into_iter().find(|tier| is(tier.name()) || tier.aliases().iter().any(|name| is(name)));
        found.ok_or_else(|| TierError(s.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tier_is_read_by_every_one_of_its_names() {
        for tier in Tier::ALL {
            for name in tier.aliases().iter().copied().chain([tier.name()]) {
                assert_eq!(name.parse(), Ok(tier));
                assert_eq!(name.to_uppercase().parse(), Ok(tier));
            }
        }
        assert_eq!("lds".parse::<Tier>(), Err(TierError("lds".into())));
    }
}
