//! The floating-point environment of kernels: IEEE defaults, whatever the host has set.
#![allow(unsafe_code)]

use std::arch::asm;

/// All exceptions masked, round to nearest even, denormals kept.
const DEFAULT: u32 = 0x1f80;

/// Sets the environment; the host's comes back when this is dropped.
pub(crate) struct FloatEnv {
    host: u32,
}

impl FloatEnv {
    pub(crate) fn set() -> Self {
        let host = read();
        write(DEFAULT);
        Self { host }
    }
}

impl Drop for FloatEnv {
    fn drop(&mut self) {
        write(self.host);
    }
}

fn read() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores the register to a valid local.
    unsafe { asm!("stmxcsr [{}]", in(reg) &mut value, options(nostack)) };
    value
}

fn write(value: u32) {
    // SAFETY: loads the register from a valid local; the value was read from it or is the architecture's default.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &value, options(nostack, readonly)) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flush_to_zero_is_off_inside_and_back_outside() {
        let before = read();
        write(DEFAULT | 0x8040);
        {
            let _env = FloatEnv::set();
            assert_eq!(read() & 0x8040, 0);
        }
        assert_eq!(read() & 0x8040, 0x8040);
        write(before);
    }
}
