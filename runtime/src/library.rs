//! Kernels: a shared object loaded from memory or a file that is kept, or what the program itself was linked with.
#![allow(unsafe_code)]

use crate::RuntimeError;
use libloading::os::unix;
use std::collections::BTreeMap;
use std::ffi::{CString, c_int};
use std::io::Write;
use std::os::fd::{AsRawFd, FromRawFd};
use std::path::Path;
use tiga_abi::KernelFn;

/// Where kernels are found.
#[derive(Debug)]
pub(crate) enum Library {
    /// A loaded shared object; unloaded when dropped.
    Loaded {
        inner: unix::Library,
        /// Kept open, if it has no name: the loader takes two objects of one path for the same, and a closed descriptor's
        /// number is reused.
        _file: Option<std::fs::File>,
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
        Ok(Self::Loaded { inner: open(target, path.as_ref(), 0)?, _file: Some(file) })
    }

    /// Loads an object from a file that stays, as does what is loaded: a profiler that looks up addresses when the process
    /// ends, as callgrind does, would find nothing there.
    pub(crate) fn load_file(target: &str, path: &Path) -> Result<Self, RuntimeError> {
        Ok(Self::Loaded { inner: open(target, path, libc::RTLD_NODELETE)?, _file: None })
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

fn open(target: &str, path: &Path, flags: c_int) -> Result<unix::Library, RuntimeError> {
    // SAFETY: running a bundle runs its code; the objects that the compiler makes have no initialisers.
    let opened = unsafe { unix::Library::open(Some(path), flags | libc::RTLD_NOW | libc::RTLD_LOCAL) };
    opened.map_err(|e| RuntimeError::Load { target: target.to_owned(), reason: e.to_string() })
}

/// Whether the process may do more than whoever started it (set-user-ID): then variables of theirs name no code to run.
pub(crate) fn has_more_rights() -> bool {
    // SAFETY: it reads a number that the kernel gave the process at its start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
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
