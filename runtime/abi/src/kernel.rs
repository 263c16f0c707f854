//! The C interface of a CPU kernel.

use std::ffi::c_void;

/// What every kernel is given; the same fields in the same order as
/// `struct { const int64_t *sym; void *const *ptr; const uint64_t *scalar; void *scratch; }`.
///
/// `sym` holds the values of the kernel's symbols (sizes of sets, edges and features), `ptr` the
/// arrays its manifest lists (element alignment is all that is assumed), `scalar` the bits of its
/// scalar arguments (zero-extended), `scratch` private memory of the calling worker.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct KernelArgs {
    /// Values of the kernel's symbols.
    pub sym: *const i64,
    /// Base addresses of the kernel's arrays.
    pub ptr: *const *mut c_void,
    /// Bits of the kernel's scalar arguments.
    pub scalar: *const u64,
    /// Memory of this worker alone.
    pub scratch: *mut c_void,
}

/// A kernel works on the units `unit_begin..unit_end` of its sequence.
pub type KernelFn = unsafe extern "C" fn(args: *const KernelArgs, unit_begin: i64, unit_end: i64);
