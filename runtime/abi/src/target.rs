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

/// A place where bytes live.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Main memory.
    Ram,
}

impl Tier {
    /// The spelling in plans.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Ram => "ram",
        }
    }
}
