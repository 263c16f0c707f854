//! Names of devices: a kind, and which one of it.

use std::fmt;
use std::str::FromStr;

/// What a device is driven by. The numbers are those of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// The processor that runs the host.
    Cpu = 0,
    /// CUDA.
    Cuda = 1,
    /// HIP.
    Hip = 2,
    /// Metal.
    Metal = 3,
    /// PPU.
    Ppu = 4,
}

impl DeviceKind {
    /// All kinds, in declaration order.
    pub const ALL: [DeviceKind; 5] =
        [DeviceKind::Cpu, DeviceKind::Cuda, DeviceKind::Hip, DeviceKind::Metal, DeviceKind::Ppu];

    /// The spelling.
    pub const fn name(self) -> &'static str {
        match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Cuda => "cuda",
            DeviceKind::Hip => "hip",
            DeviceKind::Metal => "metal",
            DeviceKind::Ppu => "ppu",
        }
    }
}

/// A device, as in `cuda:1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Device {
    /// What drives it.
    pub kind: DeviceKind,
    /// Which one of its kind, from 0.
    pub ordinal: u32,
}

impl Device {
    /// The processor that runs the host.
    pub const CPU: Device = Device { kind: DeviceKind::Cpu, ordinal: 0 };
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.name(), self.ordinal)
    }
}

/// The word names no device.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown device `{0}`, expected KIND or KIND:ORDINAL (known kinds: {names})",
        names = DeviceKind::ALL.map(DeviceKind::name).join(", "))]
pub struct DeviceError(pub String);

impl FromStr for Device {
    type Err = DeviceError;

    /// Reads `kind:ordinal`; the ordinal is 0 where it is left out, and `mps` is `metal`.
    fn from_str(s: &str) -> Result<Self, Self::Err> {
        let (kind, ordinal) = s.split_once(':').unwrap_or((s, "0"));
        let kind = if kind == "mps" { "metal" } else { kind };
        let kind = DeviceKind::ALL.into_iter().find(|known| known.name() == kind);
        let digits = ordinal.bytes().all(|byte| byte.is_ascii_digit());
        match (kind, ordinal.parse()) {
            (Some(kind), Ok(ordinal)) if digits => Ok(Device { kind, ordinal }),
            _ => Err(DeviceError(s.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_a_kind_and_an_ordinal_which_is_zero_if_it_is_left_out() {
        for (text, shown) in [("cpu", "cpu:0"), ("cuda:3", "cuda:3"), ("mps", "metal:0"), ("ppu:0", "ppu:0")] {
            assert_eq!(text.parse::<Device>().unwrap().to_string(), shown);
        }
        for text in ["", "gpu", "cuda:", "cuda:-1", "cuda:+1", "cuda:1:2", "cuda:99999999999"] {
            assert_eq!(text.parse::<Device>(), Err(DeviceError(text.into())));
        }
        assert_eq!(Device::CPU.to_string().parse(), Ok(Device::CPU));
    }
}
