//! Kernels: a shared object loaded from memory, or what the program itself was linked with.
#![allow(unsafe_code)]

use crate::RuntimeError;
use std::collections::BTreeMap;
use std::ffi::CString;
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use tiga_abi::KernelFn;

/// Where kernels are found.
#[derive(Debug)]
pub(crate) enum Library {
    /// A loaded shared object; unloaded when dropped.
    Loaded {
        inner: libloading::Library,
        /// Kept open: the loader takes two objects of one path for the same, and a closed descriptor's number is reused.
        _file: std::fs::File,
    },
    /// A part of the program.
    Linked(BTreeMap<String, KernelFn>),
}

impl Library {
    /// Loads an object through an anonymous file.
    pub(crate) fn load(target: &str, object: &[u8]) -> Result<Self, RuntimeError> {
        let error = |reason: String| RuntimeError::Load { target: target.to_owned(), reason };
        let name = CString::new("tiga-kernels").expect("the name has no NUL");
        // SAFETY: the name is a valid C string; the result is checked.
        let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
        if fd < 0 {
            return Err(error(std::io::Error::last_os_error().to_string()));
        }
        // SAFETY: `fd` was just opened and nobody else owns it.
        let mut file = unsafe { std::fs::File::from_raw_fd(fd) };
        file.write_all(object).map_err(|e| error(e.to_string()))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        // SAFETY: running a bundle runs its code; the objects that the compiler makes have no initialisers.
        let inner = unsafe { libloading::Library::new(path) }.map_err(|e| error(e.to_string()))?;
        Ok(Self::Loaded { inner, _file: file })
    }

    /// The kernel of a name.
    pub(crate) fn kernel(&self, entry: &str) -> Option<KernelFn> {
        match self {
            Library::Loaded { inner, .. } => {
                let name = CString::new(entry).ok()?;
                // SAFETY: kernels have the type `KernelFn` by the bundle's format.
                let symbol = unsafe { inner.get::<KernelFn>(name.as_bytes_with_nul()) };
                symbol.ok().map(|s| *s)
            }
            Library::Linked(kernels) => kernels.get(entry).copied(),
        }
    }
}

/// Whether this machine has a CPU feature, by its name in `is_x86_feature_detected!`.
pub(crate) fn has_feature(name: &str) -> bool {
    macro_rules! detect {
        ($($feature:tt),*) => {
            match name {
                $($feature => std::arch::is_x86_feature_detected!($feature),)*
                // A feature this runtime cannot look for is one it cannot promise.
                _ => false,
            }
        };
    }
    detect!(
        "sse3",
        "ssse3",
        "sse4.1",
        "sse4.2",
        "popcnt",
        "avx",
        "avx2",
        "fma",
        "f16c",
        "bmi1",
        "bmi2",
        "lzcnt",
        "movbe",
        "xsave",
        "xsavec",
        "xsaveopt",
        "xsaves",
        "avx512f",
        "avx512bw",
        "avx512cd",
        "avx512dq",
        "avx512vl",
        "avx512ifma",
        "avx512vbmi",
        "avx512vbmi2",
        "avx512vnni",
        "avx512bitalg",
        "avx512vpopcntdq",
        "avx512bf16",
        "avx512fp16",
        "avxvnni",
        "gfni",
        "vaes",
        "vpclmulqdq",
        "aes",
        "pclmulqdq",
        "sha",
        "adx",
        "rdrand",
        "rdseed",
        "fxsr",
        "sse",
        "sse2",
        "cmpxchg16b"
    )
}
